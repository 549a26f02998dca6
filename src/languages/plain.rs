//! Languages that are not parsed: documents, settings, and program text that is cut by lines.

use super::{Language, LanguageKind, Markup};

/// Returns these languages in the order in which they are tried.
pub(super) fn languages() -> Vec<Language> {
    let mut table = Vec::new();
    let mut add = |name, extensions, filenames, kind| {
        table.push(Language { name, extensions, filenames, interpreters: &[], kind })
    };
    add(
        "markdown",
        &["md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd"],
        &[],
        LanguageKind::Document(Markup::Markdown),
    );
    add("rst", &["rst", "rest"], &[], LanguageKind::Document(Markup::ReStructuredText));
    add("asciidoc", &["adoc", "asciidoc", "asc"], &[], LanguageKind::Document(Markup::AsciiDoc));
    add(
        "text",
        &["txt", "text", "org", "tex", "rdoc", "textile", "pod"],
        &[
            "readme*",
            "license*",
            "licence*",
            "copying*",
            "authors*",
            "contributors*",
            "changelog*",
            "changes*",
            "news*",
            "todo*",
            "notice*",
            "install",
            "thanks*",
        ],
        LanguageKind::Document(Markup::Plain),
    );
    add("notebook", &["ipynb"], &[], LanguageKind::Notebook);

    add("toml", &["toml"], &[], LanguageKind::Config);
    add("yaml", &["yaml", "yml"], &[], LanguageKind::Config);
    add(
        "json",
        &["json", "jsonc", "json5", "jsonl", "ndjson", "geojson", "webmanifest"],
        &[],
        LanguageKind::Config,
    );
    add(
        "ini",
        &["ini", "cfg", "conf", "properties", "editorconfig", "desktop", "service"],
        &[],
        LanguageKind::Config,
    );
    add(
        "xml",
        &[
            "xml",
            "xsd",
            "xsl",
            "xslt",
            "plist",
            "csproj",
            "fsproj",
            "vbproj",
            "props",
            "targets",
            "pom",
            "svg",
            "storyboard",
            "xib",
        ],
        &[],
        LanguageKind::Config,
    );
    add("csv", &["csv", "tsv", "psv"], &[], LanguageKind::Config);
    add("gomod", &["mod", "sum", "work"], &["go.mod", "go.work"], LanguageKind::Config);

    let lines: &[(&str, &[&str], &[&str])] = &[
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
    for (name, extensions, filenames) in lines {
        add(name, extensions, filenames, LanguageKind::Text);
    }
    table
}
