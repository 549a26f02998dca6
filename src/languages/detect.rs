//! Detects the language of a file.

use super::{Language, LanguageKind, languages};

/// Returns the row named `name`.
fn named(name: &str) -> &'static Language {
    languages().iter().find(|l| l.name == name).unwrap_or_else(|| plain())
}

/// Returns the row for text of an unknown language.
fn plain() -> &'static Language {
    static PLAIN: Language = Language {
        name: "other",
        extensions: &[],
        filenames: &[],
        interpreters: &[],
        kind: LanguageKind::Text,
    };
    &PLAIN
}

/// Returns the language of a file, by its name, then by its text (C or C++ headers, `#!` lines). If
/// no row matches, this is `other`, which is cut by lines.
#[must_use]
pub fn detect(path: &str, text: &str) -> &'static Language {
    let file = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    if let Some(l) = languages().iter().find(|l| {
        l.filenames.iter().any(|f| match f.strip_suffix('*') {
            // `readme`, `readme.txt`, but not `readme.rs`: a known extension decides first.
            Some(prefix) => file.starts_with(prefix) && !file.contains('.'),
            None => file == *f,
        })
    }) {
        return l;
    }
    let Some((stem, extension)) = file.rsplit_once('.') else {
        return by_shebang(text).unwrap_or_else(plain);
    };
    match extension {
        "h" => return named(if looks_like_cpp(text) { "cpp" } else { "c" }),
        // Kernels of OpenCL share the extension of Common Lisp, queries of tree-sitter that of Scheme.
        "cl" if !is_lisp(text) => return named("opencl"),
        "scm" if is_query(text) => return named("tree-sitter-query"),
        // Parts of C++, PHP and makefiles have this extension.
        "inc" if stem.starts_with("makefile") => return named("makefile"),
        "inc" if text.trim_start().starts_with("<?") => return named("php"),
        _ => {}
    }
    languages()
        .iter()
        .find(|l| l.extensions.contains(&extension))
        .or_else(|| {
            languages().iter().find(|l| {
                l.filenames.iter().any(|f| f.strip_suffix('*').is_some_and(|p| stem.starts_with(p)))
            })
        })
        .or_else(|| by_shebang(text))
        .unwrap_or_else(plain)
}

/// Whether the first line of code is a list.
fn is_lisp(text: &str) -> bool {
    let code = |line: &&str| !line.is_empty() && !line.starts_with([';', '#']);
    let first = text.lines().map(str::trim).find(code);
    first.is_none_or(|line| line.starts_with(['(', '`', '\'']))
}

/// Whether a text captures nodes of a syntax tree, and defines nothing.
fn is_query(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let is_capture = |word: &str| {
        let name = word.trim_end_matches([')', ']']).strip_prefix('@');
        name.is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic()))
    };
    let has_capture = lines.by_ref().any(|line| line.split_whitespace().any(is_capture));
    has_capture && !text.contains("(define") && !text.contains("(lambda")
}

fn looks_like_cpp(text: &str) -> bool {
    text.lines().any(|l| {
        let l = l.trim_start();
        ["namespace ", "template", "class ", "public:", "private:", "protected:", "using "]
            .iter()
            .any(|p| l.starts_with(p))
            || l.contains("std::")
    })
}

fn by_shebang(text: &str) -> Option<&'static Language> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let interpreter = line.split_whitespace().find_map(|w| {
        let w = w.rsplit('/').next().unwrap_or(w);
        (w != "env" && !w.starts_with('-')).then_some(w)
    })?;
    let interpreter = interpreter.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_named = |l: &&Language| {
        l.interpreters.contains(&interpreter)
            || INTERPRETED.contains(&interpreter) && l.name == interpreter
    };
    languages().iter().find(is_named)
}

/// Languages that are not parsed, and whose interpreter has the same name.
const INTERPRETED: &[&str] = &["awk", "fish", "tcl"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_by_name_extension_and_content() {
        for (path, text, want) in [
            ("src/a.rs", "", "rust"),
            ("Makefile", "", "makefile"),
            ("docker/Dockerfile.dev", "", "dockerfile"),
            ("include/x.h", "int f(void);", "c"),
            ("include/x.h", "namespace a {\n}", "cpp"),
            ("bin/tool", "#!/usr/bin/env python3\n", "python"),
            ("bin/tool", "#!/bin/sh\n", "bash"),
            ("README", "", "text"),
            ("readme.rs", "", "rust"),
            ("CHANGES.unknown", "", "text"),
            ("CMakeLists.txt", "", "cmake"),
            ("x.unknown", "hello", "other"),
            ("App.TSX", "", "tsx"),
            ("a.cl", "// Adds.\n__kernel void add() {}\n", "opencl"),
            ("a.cl", ";; Adds.\n(defun add (a b) (+ a b))\n", "lisp"),
            ("highlights.scm", "; names\n(identifier) @variable\n", "tree-sitter-query"),
            ("a.scm", "(define (add a b) (+ a b))\n", "lisp"),
        ] {
            assert_eq!(detect(path, text).name, want, "{path}");
        }
    }
}
