//! Compares what is found in each language's sample with `expected.txt` in its folder: definitions,
//! references, chunks.
//! A folder that lacks a part fails here.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cortex::index::chunk_file;
use cortex::languages::{Grammar, detect, grammars};
use cortex::syntax::{Outline, outline, relations};

fn folder(grammar: &Grammar) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(grammar.spec.name)
}

/// Returns the sample's name and text.
fn sample(grammar: &Grammar) -> (String, String) {
    let files = std::fs::read_dir(folder(grammar)).unwrap().map(|entry| entry.unwrap().path());
    let is_sample = |file: &PathBuf| {
        file.extension().is_some_and(|e| e == "txt") && !file.ends_with("expected.txt")
    };
    let file = files
        .into_iter()
        .find(is_sample)
        .unwrap_or_else(|| panic!("{} has no sample", grammar.spec.name));
    (
        file.file_stem().unwrap().to_string_lossy().into_owned(),
        std::fs::read_to_string(&file).unwrap(),
    )
}

/// Formats definitions and imports. A line: indentation by depth, kind, receiver and name, lines
/// (`start>definition-end` if comments or attributes precede the definition), then `pub`, `proto`
/// and `#` with the comment's lines.
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

/// Returns the rows of the code graph for a text, one a line, in order.
fn graph_rows(grammar: &Grammar, text: &str) -> BTreeSet<String> {
    let found = relations(grammar, text).expect("a sample parses");
    let name = |i: Option<usize>| i.map_or("<module>", |i| &found.symbols[i].name).to_string();
    let mut rows = BTreeSet::new();
    for r in &found.references {
        let receiver =
            if r.receiver.is_empty() { String::new() } else { format!("{} . ", r.receiver) };
        let arguments = r.arguments.map_or(String::new(), |n| format!("/{n}"));
        rows.insert(format!(
            "{} {receiver}{}{arguments} in {}",
            r.kind.as_str(),
            r.name,
            name(r.symbol)
        ));
    }
    let imports = found.imports.iter().map(|i| {
        format!("import {} | {} | {}", i.module, i.name, i.alias)
            .trim_end_matches([' ', '|'])
            .to_string()
    });
    rows.extend(imports);
    rows.extend(
        found.bindings.iter().map(|b| format!("binding {}: {} in {}", b.name, b.is, name(b.scope))),
    );
    rows.extend(found.bases.iter().map(|b| format!("base {} < {}", name(Some(b.symbol)), b.name)));
    rows.extend(found.package.iter().map(|package| format!("package {package}")));
    rows
}

fn golden(grammar: &Grammar) -> String {
    let (file, text) = sample(grammar);
    let mut out = format!(
        "~~~~ outline\n{}~~~~ graph\n",
        compact(&outline(grammar, &text).expect("a sample parses"))
    );
    for row in graph_rows(grammar, &text) {
        let _ = writeln!(out, "{row}");
    }
    out += "~~~~ chunks\n";
    for chunk in chunk_file(&file, &text) {
        let m = &chunk.metadata;
        let lines = format!("{}-{}", m.start_line.unwrap_or(0), m.end_line.unwrap_or(0));
        let _ =
            writeln!(out, "{} {} {lines} {}", chunk.chunk_type.as_str(), chunk.id, m.names.len());
    }
    out
}

#[test]
fn each_language_gives_what_its_folder_expects() {
    for grammar in grammars() {
        let name = grammar.spec.name;
        let (now, path) = (golden(grammar), folder(grammar).join("expected.txt"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let then = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = now.lines().zip(then.lines()).find(|(a, b)| a != b);
        assert!(
            now == then,
            "what is found in the sample of {name} changed ({differs:?}). If that is meant, run UPDATE_SNAPSHOTS=1 cargo test --test it languages, \
             look at the difference in {}",
            path.display()
        );
    }
}

/// Languages whose files refer to nothing, or define nothing that is called, with the reason.
const WITHOUT_CALLS: &[&str] = &["protobuf"];

#[test]
fn no_part_of_a_language_is_missing() {
    for grammar in grammars() {
        let spec = &grammar.spec;
        let (file, text) = sample(grammar);
        let rows = graph_rows(grammar, &text);
        let has = |kind: &str| rows.iter().any(|row| row.starts_with(kind));
        assert_eq!(detect(&file, &text).name, spec.name, "{file} is of another language");
        assert!(
            !spec.extensions.is_empty()
                && !spec.separator.is_empty()
                && !spec.names.family.is_empty(),
            "{}",
            spec.name
        );
        assert!(
            has("call ") || WITHOUT_CALLS.contains(&spec.name),
            "nothing is called in the sample of {}",
            spec.name
        );
        let chunks = chunk_file(&file, &text);
        assert!(
            chunks.iter().any(|chunk| chunk.metadata.symbol.is_some()),
            "no chunk of {} has a symbol",
            spec.name
        );
        for file in ["mod.rs", "expected.txt"] {
            assert!(folder(grammar).join(file).is_file(), "{} has no {file}", spec.name);
        }
    }
}
