//! Tests of robustness with broken text: the samples of all languages, cut and mixed.
//! `tests/it/languages.rs` tests what is found in them.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::{Outline, outline, outline_and_relations, relations};
use crate::languages::{Grammar, detect, grammars};

/// File name and text of the sample of each language.
static SAMPLES: LazyLock<Vec<(String, String)>> =
    LazyLock::new(|| grammars().iter().map(|grammar| sample(grammar.spec.name)).collect());

/// Reads the sample in the folder of a language.
fn sample(language: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(language);
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files
        .into_iter()
        .find(|file| {
            file.extension().is_some_and(|e| e == "txt") && !file.ends_with("expected.txt")
        })
        .expect("a language has a sample");
    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
    (name, std::fs::read_to_string(file).unwrap())
}

fn grammar_of(file: &str, text: &str) -> &'static Grammar {
    crate::languages::grammar(detect(file, text).name).expect("the language of a sample is parsed")
}

/// Asserts what other modules rely on for any text.
fn check(outline: &Outline, text: &str) {
    let lines = u32::try_from(text.lines().count().max(1)).expect("a short text");
    for (i, s) in outline.symbols.iter().enumerate() {
        assert!(
            s.start_line >= 1
                && s.start_line <= s.definition_line
                && s.definition_line <= s.end_line,
            "{s:?}"
        );
        assert!(s.end_line <= lines, "{s:?} of {lines} lines");
        assert!(s.parent.is_none_or(|p| p < i && outline.symbols[p].depth + 1 == s.depth), "{s:?}");
        assert!(
            s.comment.is_none_or(|(a, b)| s.start_line <= a && a <= b && b <= s.end_line),
            "{s:?}"
        );
        assert!(!s.name.is_empty(), "{s:?}");
    }
}

#[test]
fn broken_text_is_no_panic() {
    for (file, sample) in SAMPLES.iter() {
        let source = sample;
        let grammar = grammar_of(file, source);
        for (at, _) in source.char_indices().step_by(7) {
            for text in [&source[..at], &source[at..]] {
                if let Some(outline) = outline(grammar, text) {
                    check(&outline, text);
                }
            }
        }
    }
}

#[test]
fn one_parse_finds_what_two_find() {
    let opened = "cfg_rt! {\n    pub fn run() {\n        walk();\n    }\n}\n".to_string();
    let more = [("m.rs".to_string(), opened)];
    let texts = SAMPLES.iter().chain(&more);
    for (file, text) in texts {
        let grammar = grammar_of(file, text);
        let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        for text in [text, &text[..half], &text[half..], ""] {
            let (outlined, related) = outline_and_relations(grammar, text);
            assert_eq!(format!("{outlined:?}"), format!("{:?}", outline(grammar, text)), "{file}");
            assert_eq!(format!("{related:?}"), format!("{:?}", relations(grammar, text)), "{file}");
        }
    }
}

#[test]
fn text_of_another_language_is_no_panic() {
    let odd = [
        "",
        "\n",
        "\r\n\r\n",
        "\u{feff}fn a() {}\r\n",
        "\0\0",
        "é\u{1f600}\n// ü\n",
        "((((((",
        "}}}}}}",
        "\"",
        "'''",
        "/*",
        "=begin",
    ];
    for (file, sample) in SAMPLES.iter() {
        let grammar = grammar_of(file, sample);
        for text in odd.iter().copied().chain(SAMPLES.iter().map(|(_, s)| s.as_str())) {
            if let Some(outline) = outline(grammar, text) {
                check(&outline, text);
            }
        }
    }
}

/// Many symbols or deep nesting do not lose symbols or overflow the stack. (Quadratic time would
/// show as a test that does not end.)
#[test]
fn large_and_deep_files() {
    let many: [(&str, String); 6] = [
        (
            "a.py",
            (0..10_000)
                .fold(String::new(), |s, i| s + &format!("def f{i}():\n    \"\"\"Doc.\"\"\"\n")),
        ),
        (
            "a.rs",
            (0..10_000).fold(String::new(), |s, i| s + &format!("/// Doc.\npub fn f{i}() {{}}\n")),
        ),
        (
            "a.go",
            "const (\n".to_owned()
                + &(0..10_000).fold(String::new(), |s, i| s + &format!("\tA{i} = {i}\n"))
                + ")\n",
        ),
        ("a.js", (0..10_000).fold(String::new(), |s, i| s + &format!("function f{i}(){{}}"))),
        (
            "a.c",
            (0..10_000)
                .fold(String::new(), |s, i| s + &format!("int f{i}(int a) {{ return a; }}\n")),
        ),
        ("a.ex", (0..10_000).fold(String::new(), |s, i| s + &format!("def f({i}), do: {i}\n"))),
    ];
    for (file, text) in &many {
        let symbols = outline(grammar_of(file, text), text).expect("it parses").symbols.len();
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
        if let Some(outline) = outline(grammar_of(file, text), text) {
            check(&outline, text);
        }
    }
}

#[test]
fn files_that_are_wrong_as_a_whole() {
    // The `#if` splits a statement, so the file as a whole does not parse, but its parts do.
    let text = "static int helper(void) { return 1; }\n\nint run(int a) {\n  int local = 2;\n#ifdef X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    a = 1;\n  }\n  return a;\n}\n\nvoid last(void) {}\n";
    let outline = outline(grammar_of("a.c", text), text).expect("parts of it parse");
    let names: Vec<&str> = outline.symbols.iter().map(|s| s.name.as_str()).collect();
    assert!(
        names.contains(&"helper") && names.contains(&"last") && !names.contains(&"local"),
        "{names:?}"
    );
}

/// What begins a text that an external scanner reads to its end, or ends one.
const OPENINGS: [&str; 64] = [
    "<<A", "<<A;", "<<'A'", "<<\"A B\"", "<<~A", "<<-A", "<<`A`", "<<<A", "<<<'A'", "<<\\A", "<<{A",
    "\"\"\"", "'''", "\"", "'", "`", "``", "@\"", "@'", "$\"", "$\"\"\"{", "#\"", "##\"\"\"", "r\"", "r#\"",
    "r\"---(", "R\"x(", "q{", "qq<", "qw(", "m/", "s{a}", "s/a/", "tr/a/", "y/a", "%q(", "%w[", "%{", "%(", "#{",
    "${", "$(", "$((", "\\(", "{|", "{a|", "/*", "/**", "(*", "{-", "#=", "#|", "<!--", "<![CDATA[", "<%", "<script>",
    "--[[", "--[==[", "[=[", "=begin", "=pod", "__END__", "/", "@",
];
/// What follows one.
const REST: [&str; 18] = [
    "", "a", "A", "\n", "\nA", "\nA\n", "\n  ", "\\", "\\\n", "\0", "\r", "{", "${", "#{", "\u{e9}", "=", "'", "\"",
];
/// The variables of the process that parses the texts of one language.
const LANGUAGE: &str = "CORTEX_TEST_LANGUAGE";
/// A text that takes longer is taken for endless. A parser that asks for the time needs four.
const ENDLESS: Duration = Duration::from_secs(3);

/// The texts: the openings and what follows them, alone and after a line of the sample, and the sample
/// cut everywhere, with and without a last newline.
fn unfinished(sample: &str, take: usize) -> impl Iterator<Item = String> {
    let start = &sample[..sample.floor_char_boundary(60)];
    let opened = OPENINGS.iter().flat_map(move |opening| {
        REST.iter().flat_map(move |rest| {
            let alone = format!("{opening}{rest}");
            ["print ", "x = ", "f(", start].map(|before| format!("{before}{alone}")).into_iter().chain([alone])
        })
    });
    let cut = sample.char_indices().flat_map(move |(at, _)| {
        let head = &sample[..at];
        [head.to_string(), format!("{head}\n")]
    });
    let both = sample.char_indices().step_by(11).flat_map(move |(at, _)| {
        OPENINGS.iter().map(move |opening| format!("{}{opening}", &sample[..at]))
    });
    opened.chain(cut).chain(both).step_by(take)
}

/// An external scanner can loop for ever, and no callback is asked there. So each language is parsed
/// in a process of its own.
#[test]
fn no_text_is_parsed_for_ever() {
    let parse = |name: &'static str| {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args(["--exact", "syntax::samples::parse_unfinished_texts", "--ignored"]);
        let out = command.env(LANGUAGE, name).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        (!out.status.success()).then(|| format!("{name}: {text}"))
    };
    use rayon::prelude::*;
    let failed: Vec<String> =
        grammars().par_iter().filter_map(|grammar| parse(grammar.spec.name)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
#[ignore = "no_text_is_parsed_for_ever runs it for each language"]
fn parse_unfinished_texts() {
    let Ok(language) = std::env::var(LANGUAGE) else { return };
    let grammar = crate::languages::grammar(&language).unwrap();
    let (_, sample) = sample(&language);
    let take = if std::env::var_os("STRESS").is_some() { 1 } else { 29 };
    let (tell, told) = channel::<String>();
    std::thread::spawn(move || {
        let mut last = String::new();
        loop {
            match told.recv_timeout(ENDLESS) {
                Ok(text) => last = text,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("endless: {last:?}");
                    std::process::exit(1);
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    let mut seed: u64 = 88172645463325252;
    let mut random = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % n
    };
    let chars: Vec<char> = sample.chars().collect();
    let n: usize = std::env::var("N").map_or(0, |n| n.parse().unwrap());
    let extra = (0..n).map(|_| {
        let mut out = String::new();
        for _ in 0..1 + random(7) {
            match random(6) {
                0 | 1 => out += OPENINGS[random(OPENINGS.len())],
                2 | 3 => out += REST[random(REST.len())],
                4 => {
                    let at = random(chars.len());
                    let len = random(40);
                    out.extend(chars[at..].iter().take(len));
                }
                _ => out += [" ", "\n", "\nab", "\n ", ";\n", "a ", "\t"][random(7)],
            }
        }
        out
    });
    for text in extra.chain(unfinished(&sample, take)) {
        tell.send(text.clone()).unwrap();
        if std::env::var_os("RAW").is_some() {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&grammar.language()).unwrap();
            let start = std::time::Instant::now();
            let mut go_on = |_: &tree_sitter::ParseState| {
                if start.elapsed().as_secs() >= 1 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
            };
            let options = tree_sitter::ParseOptions::new().progress_callback(&mut go_on);
            parser.parse_with_options(&mut |i, _| text.as_bytes().get(i..).unwrap_or_default(), None, Some(options));
            continue;
        }
        if let Some(outline) = outline(grammar, &text) {
            check(&outline, &text);
        }
    }
}
