//! Languages that are not parsed: documents, settings, and program text that is cut by lines.

use super::{Language, LanguageKind, Markup};

/// A name, the extensions and the file names of a language.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Returns these languages in the order in which they are tried.
pub(super) fn languages() -> Vec<Language> {
    let documents = DOCUMENTS.iter().map(|(row, markup)| (row, LanguageKind::Document(*markup)));
    let notebook = [(&NOTEBOOK, LanguageKind::Notebook)];
    let settings = SETTINGS.iter().map(|row| (row, LanguageKind::Config));
    let text = TEXT.iter().map(|row| (row, LanguageKind::Text));
    let rows = documents.chain(notebook).chain(settings).chain(text);
    rows.map(|(&(name, extensions, filenames), kind)| Language {
        name,
        extensions,
        filenames,
        interpreters: &[],
        kind,
    })
    .collect()
}

const DOCUMENTS: &[(Row, Markup)] = &[
    (("markdown", &["md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd"], &[]), Markup::Markdown),
    (("rst", &["rst", "rest"], &[]), Markup::ReStructuredText),
    (("asciidoc", &["adoc", "asciidoc", "asc"], &[]), Markup::AsciiDoc),
    (
        ("text", &["txt", "text", "org", "tex", "rdoc", "textile", "pod"], PLAIN_NAMES),
        Markup::Plain,
    ),
];

/// Documents without an extension. `*` stands for the rest of the name.
const PLAIN_NAMES: &[&str] = &[
    "readme*", "license*", "licence*", "copying*", "authors*", "contributors*", "changelog*",
    "changes*", "news*", "todo*", "notice*", "install", "thanks*",
];

/// Beginnings of the names of files that list changes or people.
const RECORD_NAMES: [&str; 9] = [
    "authors", "changelog", "changes", "contributors", "history", "news", "release-notes",
    "release_notes", "releases",
];
/// Folders of such files, and of translations.
const RECORD_FOLDERS: [&str; 13] = [
    "changelog", "changelogs", "changes", "i18n", "l10n", "locale", "locales", "newsfragments",
    "release-notes", "release_notes", "releases", "translations", "whatsnew",
];
/// Translations, drawings, exact versions and outputs that tests expect.
const RECORD_EXTENSIONS: [&str; 5] = ["lock", "po", "pot", "snap", "svg"];

/// Whether a file without code is a record: a list of changes, people, translations or versions. It
/// has the words of all that it lists, and explains none of it.
#[must_use]
pub fn is_record(path: &str) -> bool {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    RECORD_EXTENSIONS.contains(&extension)
        || RECORD_NAMES.iter().any(|record| name.starts_with(record))
        || folders.split('/').any(|folder| RECORD_FOLDERS.contains(&folder))
}

const NOTEBOOK: Row = ("notebook", &["ipynb"], &[]);

const SETTINGS: &[Row] = &[
    ("toml", &["toml"], &[]),
    ("yaml", &["yaml", "yml"], &[]),
    ("json", &["json", "jsonc", "json5", "jsonl", "ndjson", "geojson", "webmanifest"], &[]),
    ("ini", &["ini", "cfg", "conf", "properties", "editorconfig", "desktop", "service"], &[]),
    (
        "xml",
        &[
            "xml", "xsd", "xsl", "xslt", "plist", "csproj", "fsproj", "vbproj", "props", "targets",
            "pom", "svg", "storyboard", "xib",
        ],
        &[],
    ),
    ("csv", &["csv", "tsv", "psv"], &[]),
    ("gomod", &["mod", "sum", "work"], &["go.mod", "go.work"]),
];

/// Program text and templates without a grammar.
const TEXT: &[Row] = &[
    (
        "template",
        &[
            "jinja", "jinja2", "j2", "hbs", "mustache", "ejs", "erb", "eex", "heex", "leex",
            "haml", "pug", "twig", "tmpl", "tpl", "gotmpl",
        ],
        &[],
    ),
    ("scss", &["scss", "sass"], &[]),
    ("less", &["less", "styl"], &[]),
    // Interfaces of OCaml modules, which the OCaml grammar does not parse.
    ("ocaml-interface", &["mli"], &[]),
    ("astro", &["astro"], &[]),
    ("graphql", &["graphql", "gql"], &[]),
    ("thrift", &["thrift"], &[]),
    ("dockerfile", &["dockerfile", "containerfile"], &["dockerfile*", "containerfile*"]),
    ("makefile", &["mk", "mak", "make"], &["makefile*", "gnumakefile"]),
    ("cmake", &["cmake"], &["cmakelists.txt"]),
    ("bazel", &["bzl", "bazel", "star"], &["build", "workspace", "build.bazel"]),
    ("just", &["just"], &["justfile"]),
    ("groovy", &["groovy", "gradle"], &["jenkinsfile"]),
    ("nix", &["nix"], &[]),
    ("clojure", &["clj", "cljs", "cljc", "edn"], &[]),
    ("erlang", &["erl", "hrl"], &[]),
    ("fsharp", &["fs", "fsx", "fsi"], &[]),
    ("nim", &["nim"], &[]),
    ("crystal", &["cr"], &[]),
    ("d", &["d"], &[]),
    ("pascal", &["pas", "pp", "dpr"], &[]),
    ("fortran", &["f", "f90", "f95", "for"], &[]),
    ("assembly", &["s", "asm"], &[]),
    ("solidity", &["sol"], &[]),
    ("elm", &["elm"], &[]),
    ("purescript", &["purs"], &[]),
    ("opencl", &[], &[]),
    ("tree-sitter-query", &[], &[]),
    ("lisp", &["el", "lisp", "cl", "scm", "rkt", "fnl"], &[]),
    ("vim", &["vim"], &[".vimrc"]),
    ("batch", &["bat", "cmd"], &[]),
    ("fish", &["fish"], &[]),
    ("awk", &["awk"], &[]),
    ("tcl", &["tcl"], &[]),
    ("verilog", &["v", "sv", "svh", "vhd", "vhdl"], &[]),
    ("glsl", &["glsl", "vert", "frag", "wgsl", "hlsl", "metal"], &[]),
    ("diff", &["diff", "patch"], &[]),
];
