use std::collections::BTreeSet;

use proptest::prelude::*;

use super::draft::{MAX_BYTES, MIN_BYTES};
use super::*;

fn of_type(chunks: &[Chunk], t: ChunkType) -> Vec<&Chunk> {
    chunks.iter().filter(|c| c.chunk_type == t).collect()
}

fn range(c: &Chunk) -> (u32, u32) {
    (c.metadata.start_line.unwrap(), c.metadata.end_line.unwrap())
}

/// Returns the lines with text that no chunk except the outline covers.
fn uncovered(text: &str, chunks: &[Chunk]) -> BTreeSet<u32> {
    let mut open: BTreeSet<u32> =
        (1..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty()).map(|(n, _)| n).collect();
    for c in chunks.iter().filter(|c| c.chunk_type != ChunkType::Symbols) {
        let (a, b) = range(c);
        open.retain(|l| !(a..=b).contains(l));
    }
    open
}

const SOURCE: &str = r"//! What this file is for.

use std::fmt;

/// The largest.
pub const LIMIT: usize = 10;
pub const OTHER: usize = 11;

/// A colour.
pub enum Colour {
    Red,
    Green,
}

/// Adds.
///
/// Twice.
#[inline]
pub fn add(a: u32, b: u32) -> u32 {
    a + b
}

pub struct Set {
    items: Vec<u32>,
}

impl Set {
    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }
}
";

#[test]
fn a_source_file_gives_outline_definitions_and_data() {
    let chunks = chunk_file("src/set.rs", SOURCE);
    assert_eq!(uncovered(SOURCE, &chunks), BTreeSet::new());

    let outline = of_type(&chunks, ChunkType::Symbols);
    assert_eq!(outline.len(), 1, "one symbols chunk a file");
    for part in [
        "src/set.rs",
        "What this file is for.",
        "imports: std::fmt",
        "pub fn add(a: u32, b: u32) -> u32",
        "[15-21]",
        "pub fn len",
    ] {
        assert!(outline[0].text.contains(part), "{part} is missing in:\n{}", outline[0].text);
    }
    assert_eq!(outline[0].metadata.imports, ["std::fmt"]);

    let data = of_type(&chunks, ChunkType::Data);
    assert!(
        data.iter().any(|c| c.text.contains("LIMIT") && c.text.contains("OTHER")),
        "constants stand together as data"
    );
    assert!(
        data.iter().any(|c| &*c.id == "src/set.rs#Colour@values"),
        "the values of an enum are data"
    );

    let with_add = of_type(&chunks, ChunkType::Definitions)
        .into_iter()
        .find(|c| c.text.contains("fn add"))
        .unwrap();
    assert!(
        with_add.text.contains("/// Adds.") && with_add.text.contains("a + b"),
        "leading comment and whole body"
    );
    let name = with_add.metadata.names.iter().find(|n| n.name == "add").unwrap();
    assert_eq!(
        (name.kind.as_str(), name.depth, name.exported, name.start_line, name.end_line),
        ("function", 0, true, 15, 21)
    );
    assert!(with_add.metadata.comment_lines.contains(&(15, 17)));
}

#[test]
fn a_long_function_is_cut_and_a_long_type_gives_its_members() {
    let body: String = (0..120)
        .map(|i| format!("    let value_{i} = compute({i}, \"some argument\");\n"))
        .collect();
    let methods: String = (0..12)
        .map(|i| {
            format!("    fn method_{i}(&self) {{\n{}    }}\n", "        self.call();\n".repeat(40))
        })
        .collect();
    let text = format!("fn long() {{\n{body}}}\n\nimpl Wide {{\n{methods}}}\n");
    let chunks = chunk_file("a.rs", &text);
    assert_eq!(uncovered(&text, &chunks), BTreeSet::new());
    let parts: Vec<_> =
        chunks.iter().filter(|c| c.metadata.symbol.as_deref() == Some("long")).collect();
    assert!(parts.len() >= 3, "a function of {} bytes in {} parts", body.len(), parts.len());
    for part in &parts {
        assert!(
            (MIN_BYTES / 2..=MAX_BYTES).contains(&part.text.len()),
            "a part of {} bytes",
            part.text.len()
        );
    }
    let method =
        chunks.iter().find(|c| c.metadata.symbol.as_deref() == Some("Wide::method_7")).unwrap();
    assert!(
        method.text.trim_start().starts_with("fn method_7")
            && method.text.trim_end().ends_with('}'),
        "a method is whole:\n{}",
        method.text
    );
    assert_eq!(method.metadata.parent.as_deref(), Some("Wide"));
}

#[test]
fn ids_survive_edits_elsewhere_in_the_file() {
    let before = chunk_file("src/set.rs", SOURCE);
    let after = chunk_file("src/set.rs", &format!("// A new line.\n// Another.\n{SOURCE}"));
    let ids = |chunks: &[Chunk]| chunks.iter().map(|c| c.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&before), ids(&after));
}

#[test]
fn a_document_gives_sections_under_their_headings() {
    let fence = format!("```\n{}```\n", "a line of code that stays with the others\n".repeat(60));
    let text = format!(
        "# Guide\n\nIntro {}.\n\n## Install\n\nRun it {}.\n\n{fence}\n## Use\n\nCall it {}.\n",
        "word ".repeat(60),
        "word ".repeat(60),
        "word ".repeat(60)
    );
    let chunks = chunk_file("docs/guide.md", &text);
    assert_eq!(uncovered(&text, &chunks), BTreeSet::new());
    assert!(chunks.iter().all(|c| c.chunk_type == ChunkType::Documentation));
    assert!(chunks.iter().any(|c| c.title == "Guide > Use" && c.text.contains("Call it")));
    let fenced: Vec<_> = chunks.iter().filter(|c| c.text.contains("a line of code")).collect();
    assert_eq!(fenced.len(), 1, "a fence is kept whole");
}

#[test]
fn a_notebook_gives_cells_without_outputs() {
    let text = r##"{
 "cells": [
  {"cell_type": "markdown", "source": ["# Fit\n", "Explains the fit."], "metadata": {}},
  {"cell_type": "code", "source": "model.fit(data)", "outputs": [{"text": "secret output"}], "metadata": {}}
 ],
 "nbformat": 4
}"##;
    let chunks = chunk_file("a.ipynb", text);
    assert_eq!(chunks.len(), 2);
    assert_eq!(
        (chunks[0].chunk_type, &*chunks[0].text, range(&chunks[0])),
        (ChunkType::Definitions, "model.fit(data)", (4, 4))
    );
    assert_eq!((&*chunks[0].title, chunks[1].chunk_type), ("Fit", ChunkType::Documentation));
    assert!(chunks.iter().all(|c| !c.text.contains("secret output")));
}

#[test]
fn odd_files_give_chunks_too() {
    assert!(chunk_file("a.rs", "").is_empty());
    assert!(chunk_file("a.rs", " \n\n").is_empty());
    let broken = "fn a( {{{ ]] struct\nlet x = ;;; \"unclosed\n";
    assert_eq!(uncovered(broken, &chunk_file("a.rs", broken)), BTreeSet::new());
    let one_line = format!("{}\n", "word ".repeat(4000));
    let chunks = chunk_file("a.txt", &one_line);
    assert!(
        chunks.len() > 5
            && chunks.iter().all(|c| range(c) == (1, 1) && c.text.len() <= 2 * MAX_BYTES)
    );
    assert_eq!(
        chunks.iter().map(|c| c.text.split_whitespace().count()).sum::<usize>(),
        4000,
        "no word is lost or cut"
    );
    let hash = chunk_file("a#b.rs", "fn c() {}");
    assert!(hash[0].id.starts_with("a%23b.rs#"));
}

fn snippets() -> impl Strategy<Value = String> {
    let rust = prop::sample::select(vec![
        "use a::b;\n".to_string(),
        "\n".into(),
        "// A comment.\n".into(),
        "/// Documented.\n".into(),
        "const N: u32 = 1;\n".into(),
        "fn short() { call(); }\n".into(),
        format!("fn long() {{\n{}}}\n", "    step_of_the_way(argument);\n".repeat(90)),
        format!("impl T {{\n{}}}\n", "    fn m(&self) {\n        work();\n    }\n\n".repeat(30)),
        "struct S { a: u32 }\n".into(),
        "enum E {\n    A,\n    B,\n}\n".into(),
        "mod inner {\n    fn f() {}\n    const C: u8 = 2;\n}\n".into(),
        "fn a() {} fn b() {}\n".into(),
        "} broken {\n".into(),
        "let s = \"unclosed\n".into(),
    ]);
    prop::collection::vec(rust, 0..25).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any source file: every line is in a chunk, texts are the file's
    /// own lines, ids are unique.
    #[test]
    fn chunks_cover_the_text(text in snippets(), path in prop::sample::select(vec!["a.rs", "a.py", "a.md", "a.sql", "a.toml", "a.go"])) {
        let chunks = chunk_file(path, &text);
        prop_assert_eq!(uncovered(&text, &chunks), BTreeSet::new());
        let ids: HashSet<_> = chunks.iter().map(|c| c.id.clone()).collect();
        prop_assert_eq!(ids.len(), chunks.len());
        let lines = LineIndex::new(&text);
        for c in chunks.iter().filter(|c| c.chunk_type != ChunkType::Symbols) {
            let (a, b) = range(c);
            prop_assert!(1 <= a && a <= b && b <= lines.len());
            prop_assert!(lines.slice(a, b).contains(c.text.trim_end()), "{}: not the text of lines {a}-{b}", c.id);
        }
    }
}
