//! Questions from tests: what a test says that it checks asks for the file that it tests. Files of
//! tests are named after what they test.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::draft::{DraftQuestion, SourceText, is_aside, stem_parts, target};
use super::prose;
use crate::languages::{LanguageKind, detect};

/// Functions that take the description of a test as their first argument.
const CALLS: &str = " it test specify scenario should test_that TEST_CASE SECTION SCENARIO ";
/// Parts of the names of files and folders that say only that there are tests.
const AFFIXES: &str =
    " test tests spec specs testing it e2e unit integration src lib source main java kotlin ";

/// Collects drafts from files of tests.
pub(super) fn from_tests(files: &[SourceText], out: &mut Vec<DraftQuestion>) {
    let is_code = |f: &&SourceText| matches!(detect(&f.path, "").kind, LanguageKind::Code(_));
    let mut by_name: HashMap<String, Vec<&str>> = HashMap::new();
    for file in files.iter().filter(is_code).filter(|f| !is_aside(&f.path)) {
        by_name.entry(stem_parts(&file.path).concat()).or_default().push(&file.path);
    }
    let tests = files.iter().enumerate().filter(|(_, f)| is_code(f) && is_aside(&f.path));
    for (at, file) in tests {
        let mut parts = stem_parts(&file.path);
        parts.retain(|part| !prose::is_in(AFFIXES, part));
        let named = by_name.get(&parts.concat());
        let Some(tested) = named.and_then(|paths| nearest(&file.path, paths)) else { continue };
        let stem = stem_parts(tested);
        for range in descriptions(&file.text) {
            let raw = &file.text[range.clone()];
            let query = if raw.contains(' ') { prose::clean(raw) } else { Some(as_words(raw)) };
            let is_fair =
                |query: &String| prose::is_question(query, true) && !prose::echoes(query, &stem);
            if let Some(query) = query.filter(is_fair) {
                out.push(DraftQuestion {
                    kind: "test",
                    query,
                    language: detect(tested, "").name,
                    targets: vec![target(tested, None)],
                    position: range.start,
                    hidden: Some((at, range)),
                    commit: None,
                });
            }
        }
    }
}

/// Returns the path that has the most folders in common with that of a test; `None` if several have,
/// or if both are in folders of their own.
fn nearest<'p>(test: &str, paths: &[&'p str]) -> Option<&'p str> {
    let folders = |path: &str| -> HashSet<String> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        folders.split('/').filter(|f| !prose::is_in(AFFIXES, f)).map(String::from).collect()
    };
    let own = folders(test);
    let shared = |path: &str| folders(path).intersection(&own).count();
    let most = paths.iter().map(|path| shared(path)).max()?;
    let mut best = paths.iter().filter(|path| shared(path) == most);
    let nearest = best.next().copied().filter(|_| best.next().is_none())?;
    let there = folders(nearest);
    (there.is_subset(&own) || own.is_subset(&there)).then_some(nearest)
}

/// Returns the descriptions and names of tests in a text, as byte ranges.
fn descriptions(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut is_marked) = (0, false);
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let found = described(body).or_else(|| named(body, is_marked));
        let first = start + line.len() - body.len();
        out.extend(found.map(|range| first + range.start..first + range.end));
        // `#[test]`, `@Test`, `[Fact]`; other attributes may follow it.
        let is_attribute = body.starts_with(['#', '@', '[']);
        let lower = body.to_lowercase();
        is_marked = is_attribute
            && (is_marked || ["test", "fact", "theory"].iter().any(|mark| lower.contains(mark)));
        start += line.len();
    }
    out
}

/// Finds the description in `it("waits longer", …`.
fn described(line: &str) -> Option<Range<usize>> {
    let n = line.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    if !prose::is_in(CALLS, &line[..n]) {
        return None;
    }
    let start = line.len() - line[n..].trim_start_matches([' ', '(']).len();
    let quote = line[start..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let length = line[start + 1..].find(quote)?;
    Some(start + 1..start + 1 + length)
}

/// Finds the name in `def test_waits_longer(`, or in the definition after a mark such as `@Test`.
fn named(line: &str, is_marked: bool) -> Option<Range<usize>> {
    let end = line.find('(')?;
    let head = &line[..end];
    // Kotlin: fun `waits longer`()
    if let Some(start) = head.find('`') {
        let length = head[start + 1..].find('`')?;
        return (head.contains("fun ")).then_some(start + 1..start + 1 + length);
    }
    let name = head.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    let start = end - name.len();
    let is_definition = ["def ", "fn ", "fun ", "func ", "function ", "void ", "Task "]
        .iter()
        .any(|word| head[..start].contains(word));
    let is_test = is_marked || name.to_lowercase().starts_with("test");
    (is_definition && is_test && !name.is_empty()).then_some(start..end)
}

/// Turns the name of a test into words: `test_waits_longer` becomes `waits longer`.
fn as_words(name: &str) -> String {
    let mut parts = prose::name_parts(name);
    if parts.first().is_some_and(|part| part == "test") {
        parts.remove(0);
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_any_script_have_names_or_none() {
        for (line, name) in [
            ("def ｄｏ＿ｔｈｉｎｇ(", None),
            ("// outer: 3×(union)", None),
            ("def test_größe(x):", Some("test_größe")),
            ("fun `größer als ×`() {", Some("größer als ×")),
        ] {
            assert_eq!(named(line, false).map(|range| &line[range]), name, "{line}");
        }
        let line = "it(“does”, ";
        assert_eq!(described(line), None);
        let line = "it(\"grüßt\", ";
        assert_eq!(described(line).map(|range| &line[range]), Some("grüßt"));
    }
}
