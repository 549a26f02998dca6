//! Tests of robustness with broken text: the samples of all languages, cut and mixed.
//! `tests/it/languages.rs` tests what is found in them.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rayon::prelude::*;

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
        "", "\n", "\r\n\r\n", "\u{feff}fn a() {}\r\n", "\0\0", "é\u{1f600}\n// ü\n", "((((((",
        "}}}}}}", "\"", "'''", "/*", "=begin",
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

/// Pieces that begin or continue what an external scanner reads.
const PIECES: [&str; 89] = [
    "<<A", "<<A;\n", "<<'A'\n", "<<\"A B\"\n", "<<~A\n", "<<-A\n", "<<`A`\n", "<<<A\n", "<<<'A'\n",
    "<<{A", "\nA", "\nA\n", "\"\"\"", "'''", "\"", "'", "`", "``", "@\"", "@'", "$\"", "$\"\"\"{",
    "#\"", "##\"\"\"", "r\"", "r#\"", "r\"---(", "R\"x(", "q{", "qq<", "qw(", "m/", "s{a}", "s/a/",
    "tr/a/", "y/a", "%q(", "%w[", "%{", "%(", "#{", "${", "$(", "$((", "\\(", "{|", "{a|", "/*",
    "/**", "(*", "{-", "#=", "#|", "<!--", "<![CDATA[", "<%", "<script>", "--[[", "--[==[", "[=[",
    "=begin", "=pod", "__END__", "/", "@", "$a ", "@a ", "a", "A", "\n", "\nab", "\n  ", ";\n",
    "\\", "\\\n", "\0", "\r", "{", "}", ")", "]", "\u{e9}", "=", " ", "\t", "print ", "x = ", "f(",
    "\r\n",
];
/// Number of texts of each language, and with `STRESS=1`.
const N_TEXTS: (usize, usize) = (2_000, 150_000);
/// Names the language to the process that parses texts.
const LANGUAGE: &str = "CORTEX_TEST_LANGUAGE";
/// A text that takes longer is endless. A parser that is asked whether to go on ends after four
/// seconds.
const ENDLESS: Duration = Duration::from_secs(20);

/// An external scanner can loop for ever, and no callback is asked there. So each language is parsed
/// in a process of its own. Before the texts of Perl were made whole lines, this found
/// `<<A;` and a line that does not end.
#[test]
fn no_text_is_parsed_for_ever() {
    let failure = |language: &'static str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "syntax::samples::texts_of_one_language_end", "--ignored"]);
        let out = command.args(["--nocapture"]).env(LANGUAGE, language).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        (!out.status.success()).then(|| format!("{language}: {text}"))
    };
    let failed: Vec<String> =
        grammars().par_iter().filter_map(|grammar| failure(grammar.spec.name)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
#[ignore = "no_text_is_parsed_for_ever runs it for each language"]
fn texts_of_one_language_end() {
    let Ok(language) = std::env::var(LANGUAGE) else { return };
    let grammar = crate::languages::grammar(&language).unwrap();
    let sample: Vec<char> = sample(&language).1.chars().collect();
    let (tell, told) = channel::<String>();
    std::thread::spawn(move || {
        let mut last = String::new();
        loop {
            match told.recv_timeout(ENDLESS) {
                Ok(text) => last = text,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("this text is parsed for ever: {last:?}");
                    std::process::exit(1);
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % n
    };
    let n = if std::env::var_os("STRESS").is_some() { N_TEXTS.1 } else { N_TEXTS.0 };
    for _ in 0..n {
        let mut text = String::new();
        for _ in 0..=random(7) {
            if random(5) == 0 {
                let start = random(sample.len());
                text.extend(sample[start..].iter().take(random(40)));
            } else {
                text += PIECES[random(PIECES.len())];
            }
        }
        tell.send(text.clone()).unwrap();
        if let Some(outline) = outline(grammar, &text) {
            check(&outline, &text);
        }
    }
}
