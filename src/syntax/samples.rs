//! One realistic sample a language with the outline it must give (`samples/*.txt`), and robustness on broken text.
//!
//! A line of an expected outline: indentation by depth, kind, receiver and name, lines (`start>definition-end` when
//! comments or attributes stand before the definition), then `pub`, `proto` and `#` with the comment's lines.

use std::fmt::Write;

use super::{Kind, Language, Outline, detect, languages, outline};

/// File name, and source and expected outline in one text.
const SAMPLES: [(&str, &str); 20] = [
    ("deploy.sh", include_str!("samples/bash.txt")),
    ("list.c", include_str!("samples/c.txt")),
    ("shape.cpp", include_str!("samples/cpp.txt")),
    ("Store.cs", include_str!("samples/csharp.txt")),
    ("repo.ex", include_str!("samples/elixir.txt")),
    ("server.go", include_str!("samples/go.txt")),
    ("Shape.hs", include_str!("samples/haskell.txt")),
    ("Cache.java", include_str!("samples/java.txt")),
    ("store.js", include_str!("samples/javascript.txt")),
    ("User.kt", include_str!("samples/kotlin.txt")),
    ("tools.lua", include_str!("samples/lua.txt")),
    ("Client.php", include_str!("samples/php.txt")),
    ("point.py", include_str!("samples/python.txt")),
    ("tools.rb", include_str!("samples/ruby.txt")),
    ("set.rs", include_str!("samples/rust.txt")),
    ("Functor.scala", include_str!("samples/scala.txt")),
    ("Session.swift", include_str!("samples/swift.txt")),
    ("client.ts", include_str!("samples/typescript.txt")),
    ("Card.tsx", include_str!("samples/tsx.txt")),
    ("param.zig", include_str!("samples/zig.txt")),
];

/// Source and expected outline.
fn parts(sample: &str) -> (&str, &str) {
    let (source, expected) = sample.split_once("~~~~ outline\n").expect("a sample has an outline");
    (source, expected)
}

fn outline_of(language: &Language, text: &str) -> Option<Outline> {
    let Kind::Code(grammar) = &language.kind else { panic!("{} has no grammar", language.name) };
    outline(grammar, text)
}

fn compact(outline: &Outline) -> String {
    let mut out = String::new();
    for s in &outline.symbols {
        let _ = write!(out, "{}{} ", "  ".repeat(usize::from(s.depth)), s.kind.as_str());
        if let Some(receiver) = &s.receiver {
            let _ = write!(out, "{receiver} . ");
        }
        let _ = write!(out, "{} {}", s.name, s.start_line);
        if s.definition_line != s.start_line {
            let _ = write!(out, ">{}", s.definition_line);
        }
        let _ = write!(out, "-{}", s.end_line);
        out.push_str(if s.exported { " pub" } else { "" });
        out.push_str(if s.prototype { " proto" } else { "" });
        if let Some((from, to)) = s.comment {
            let _ = write!(out, " #{from}-{to}");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "~~~~ imports");
    for import in &outline.imports {
        let _ = writeln!(out, "{import}");
    }
    out
}

#[test]
fn outlines_of_samples() {
    for (file, sample) in SAMPLES {
        let (source, expected) = parts(sample);
        let language = detect(file, source);
        let got = compact(&outline_of(language, source).expect("a sample parses"));
        assert_eq!(got, expected, "outline of {file}, got:\n{got}");
    }
}

#[test]
fn every_grammar_has_a_sample() {
    let with_grammar = languages().iter().filter(|l| matches!(l.kind, Kind::Code(_))).map(|l| l.name);
    let sampled: Vec<&str> = SAMPLES.iter().map(|(file, sample)| detect(file, parts(sample).0).name).collect();
    for name in with_grammar {
        assert!(sampled.contains(&name), "{name} has no sample");
    }
}

/// What other modules rely on, whatever the text.
fn check(outline: &Outline, text: &str) {
    let lines = u32::try_from(text.lines().count().max(1)).expect("a short text");
    for (i, s) in outline.symbols.iter().enumerate() {
        assert!(s.start_line >= 1 && s.start_line <= s.definition_line && s.definition_line <= s.end_line, "{s:?}");
        assert!(s.end_line <= lines, "{s:?} of {lines} lines");
        assert!(s.parent.is_none_or(|p| p < i && outline.symbols[p].depth + 1 == s.depth), "{s:?}");
        assert!(s.comment.is_none_or(|(a, b)| s.start_line <= a && a <= b && b <= s.end_line), "{s:?}");
        assert!(!s.name.is_empty(), "{s:?}");
    }
}

#[test]
fn broken_text_is_no_panic() {
    for (file, sample) in SAMPLES {
        let (source, _) = parts(sample);
        let language = detect(file, source);
        for (at, _) in source.char_indices().step_by(7) {
            for text in [&source[..at], &source[at..]] {
                if let Some(outline) = outline_of(language, text) {
                    check(&outline, text);
                }
            }
        }
    }
}

#[test]
fn text_of_another_language_is_no_panic() {
    let odd =
        ["", "\n", "\r\n\r\n", "\u{feff}fn a() {}\r\n", "\0\0", "é\u{1f600}\n// ü\n", "((((((", "}}}}}}", "\"", "'''", "/*", "=begin"];
    for (file, sample) in SAMPLES {
        let language = detect(file, parts(sample).0);
        for text in odd.iter().copied().chain(SAMPLES.iter().map(|(_, s)| parts(s).0)) {
            if let Some(outline) = outline_of(language, text) {
                check(&outline, text);
            }
        }
    }
}

/// Neither many symbols nor deep nesting lose symbols or overflow the stack. (Time that grew with the square of the size
/// would be felt as a test that does not end.)
#[test]
fn large_and_deep_files() {
    let many: [(&str, String); 6] = [
        ("a.py", (0..10_000).fold(String::new(), |s, i| s + &format!("def f{i}():\n    \"\"\"Doc.\"\"\"\n"))),
        ("a.rs", (0..10_000).fold(String::new(), |s, i| s + &format!("/// Doc.\npub fn f{i}() {{}}\n"))),
        ("a.go", "const (\n".to_owned() + &(0..10_000).fold(String::new(), |s, i| s + &format!("\tA{i} = {i}\n")) + ")\n"),
        ("a.js", (0..10_000).fold(String::new(), |s, i| s + &format!("function f{i}(){{}}"))),
        ("a.c", (0..10_000).fold(String::new(), |s, i| s + &format!("int f{i}(int a) {{ return a; }}\n"))),
        ("a.ex", (0..10_000).fold(String::new(), |s, i| s + &format!("def f({i}), do: {i}\n"))),
    ];
    for (file, text) in &many {
        let symbols = outline_of(detect(file, text), text).expect("it parses").symbols.len();
        assert_eq!(symbols, if *file == "a.ex" { 1 } else { 10_000 }, "{file}");
    }
    let deep = [
        ("a.js", "function f(){".repeat(3_000) + &"}".repeat(3_000)),
        ("a.rs", "mod a {".repeat(3_000) + &"}".repeat(3_000)),
        ("a.c", "(".repeat(50_000)),
        ("a.py", "[".repeat(20_000)),
        ("a.ts", "a<".repeat(3_000)),
    ];
    for (file, text) in &deep {
        if let Some(outline) = outline_of(detect(file, text), text) {
            check(&outline, text);
        }
    }
}

#[test]
fn files_that_are_wrong_as_a_whole() {
    // The `#if` splits a statement: the parser gives up on the file, not on its parts.
    let text = "static int helper(void) { return 1; }\n\nint run(int a) {\n  int local = 2;\n#ifdef X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    a = 1;\n  }\n  return a;\n}\n\nvoid last(void) {}\n";
    let outline = outline_of(detect("a.c", text), text).expect("parts of it parse");
    let names: Vec<&str> = outline.symbols.iter().map(|s| s.name.as_str()).collect();
    assert!(names.contains(&"helper") && names.contains(&"last") && !names.contains(&"local"), "{names:?}");
}
