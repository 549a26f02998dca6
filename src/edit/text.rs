//! Edits of text as pure functions. A line ends with `\n` or `\r\n`; text that an edit adds gets
//! the line breaks of the lines around it.

use std::borrow::Cow;
use std::ops::Range;

use super::excerpt::excerpt;

/// Largest file that is read or written, in bytes.
pub const MAX_BYTES: u64 = 10 << 20;
const BOM: &str = "\u{feff}";
/// Most places that an error names.
const MAX_PLACES: usize = 10;
/// Most places that are compared with a text that was not found.
const MAX_STARTS: usize = 200;
const MAX_SHOWN: usize = 160;

/// Returns the bytes as text, or why they are not text.
pub(super) fn decoded(bytes: &[u8]) -> Result<&str, String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("it is UTF-16, which is read but not edited: convert it to UTF-8 first".into());
    }
    let line = |at: usize| bytes[..=at].split(|b| *b == b'\n').count();
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(format!(
            "it is not a text file (NUL byte in line {}): binary files are neither read nor edited",
            line(at)
        ));
    }
    std::str::from_utf8(bytes).map_err(|e| {
        format!("it is not UTF-8 (line {}): convert it to UTF-8 first", line(e.valid_up_to()))
    })
}

/// Splits a text into its byte order mark, if it has one, and the rest.
pub(super) fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len() } else { 0 })
}

/// Returns the line break at a position: that of its line, or else of the line before.
pub(super) fn line_break(text: &str, at: usize) -> &'static str {
    let next = text[at..].find('\n').map(|i| at + i);
    let is_crlf =
        next.or_else(|| text[..at].rfind('\n')).is_some_and(|i| text[..i].ends_with('\r'));
    if is_crlf { "\r\n" } else { "\n" }
}

/// Returns the number of the line that contains a position, 1-based.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// Replaces the whole text. If the old one had `\r\n` throughout, so has the new one.
pub(super) fn overwrite(before: &str, text: &str) -> String {
    let n_lf = before.matches('\n').count();
    if n_lf == 0 || before.matches("\r\n").count() < n_lf || text.contains("\r\n") {
        return text.to_string();
    }
    text.replace('\n', "\r\n")
}

/// Inserts lines after line `after`, 1-based; 0 inserts at the top.
pub(super) fn insert(text: &str, after: usize, lines: &str) -> Result<String, String> {
    if lines.is_empty() {
        return Err("there is nothing to insert: give the text of the new lines".into());
    }
    let n_lines = text.lines().count();
    if after > n_lines {
        return Err(format!(
            "there is no line {after}: it has {n_lines} lines; 0 inserts at the top"
        ));
    }
    let at: usize = text.split_inclusive('\n').take(after).map(str::len).sum();
    let (above, below) = text.split_at(at);
    let line_break = line_break(text, at);
    let lines = with_lf(lines);
    let lines = lines.strip_suffix('\n').unwrap_or(&lines);
    // If the last line has no line break, it gets one, and the new last
    // line has none, unless it is empty.
    let is_open = !above.is_empty() && !above.ends_with('\n');
    let start = if is_open { line_break } else { "" };
    let end = if is_open && !lines.is_empty() && !lines.ends_with('\n') { "" } else { line_break };
    Ok(format!("{above}{start}{}{end}{below}", lines.replace('\n', line_break)))
}

/// Replaces `old` by `new`. Only the part in which the two differ is changed.
pub(super) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
    let (old, new) = (with_lf(old), with_lf(new));
    if old.is_empty() {
        return Err(
            "the text to replace is empty: give text that the file contains, or insert at a line"
                .into(),
        );
    }
    if old == new {
        return Err("the new text equals the old one: nothing would change".into());
    }
    let folded = Folded::new(text);
    let first = folded.text.find(&*old).ok_or_else(|| not_found(text, &old))?;
    if !all && folded.text[next_char(&folded.text, first)..].contains(&*old) {
        return Err(ambiguous(&folded.text, &old));
    }
    let same_start = common(old.chars().zip(new.chars()));
    let same_end = common(old[same_start..].chars().rev().zip(new[same_start..].chars().rev()));
    let changed = &new[same_start..new.len() - same_end];
    let (mut out, mut done) = (String::with_capacity(text.len() + changed.len()), 0);
    // The line break is searched only once for each line, even if the line is changed many times.
    let (mut line_end, mut with) = (0, Cow::Borrowed(changed));
    for (at, _) in folded.text.match_indices(&*old) {
        let (start, end) = (folded.place(at + same_start), folded.place(at + old.len() - same_end));
        if start >= line_end && changed.contains('\n') {
            line_end = text[start..].find('\n').map_or(text.len(), |i| start + i + 1);
            with = changed.replace('\n', line_break(text, start)).into();
        }
        out.push_str(&text[done..start]);
        out.push_str(&with);
        done = end;
        if out.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// Replaces ranges of bytes, which must ascend and be those of characters.
pub(super) fn splice(text: &str, ranges: &[(Range<usize>, String)]) -> Result<String, String> {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (range, new) in ranges {
        let between = text.get(done..range.start).filter(|_| text.get(range.clone()).is_some());
        let between = between.ok_or("the places do not fit the file")?;
        out.push_str(between);
        out.push_str(new);
        done = range.end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

pub(super) fn too_large() -> String {
    format!("it would be larger than {} MiB: nothing was changed", MAX_BYTES >> 20)
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Returns the number of bytes of the leading pairs that are equal.
fn common(pairs: impl Iterator<Item = (char, char)>) -> usize {
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

/// A text with `\n` as its only line break, and a map of its positions to the original text.
struct Folded<'a> {
    text: Cow<'a, str>,
    /// For each `\r` that is left out, the position of its `\n` in `text`.
    left_out: Vec<usize>,
}

impl<'a> Folded<'a> {
    fn new(text: &'a str) -> Self {
        let left_out = text.match_indices("\r\n").enumerate().map(|(n, (at, _))| at - n).collect();
        Self { text: with_lf(text), left_out }
    }

    fn place(&self, at: usize) -> usize {
        at + self.left_out.partition_point(|n| *n < at)
    }
}

fn ambiguous(text: &str, old: &str) -> String {
    let mut lines = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old).map(|i| from + i) {
        if lines.len() == MAX_PLACES {
            lines.push("…".to_string());
            break;
        }
        lines.push(line_of(text, at).to_string());
        from = next_char(text, at);
    }
    format!(
        "the text to replace occurs more than once: lines {}. Give more of the text around it, or replace all",
        lines.join(", ")
    )
}

/// Describes the most similar text that the file contains.
fn not_found(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let shown = |n: usize| excerpt(lines.get(n - 1).unwrap_or(&""), MAX_SHOWN);
    if let Some((first, last)) = but_for_whitespace(text, old) {
        return format!(
            "the text to replace is at lines {first}-{last}, but with other whitespace. Line {first} is `{}`: view it, and give the exact text",
            shown(first)
        );
    }
    match furthest(&lines, old) {
        Some((first, n)) if first + n < lines.len() => format!(
            "the text to replace was not found. It begins like line {}, but line {} is `{}`: view it, and give the exact text",
            first + 1,
            first + n + 1,
            shown(first + n + 1)
        ),
        Some((first, _)) => {
            format!(
                "the text to replace was not found. It begins like line {}, but the file ends before it does: view the file",
                first + 1
            )
        }
        None => {
            "the text to replace was not found, nor anything like its first line: view the file"
                .into()
        }
    }
}

/// Returns the first and last line of text that differs from `old` only in whitespace.
fn but_for_whitespace(text: &str, old: &str) -> Option<(usize, usize)> {
    let bare = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let wanted = bare(old);
    let at = bare(text).find(&wanted).filter(|_| !wanted.is_empty())?;
    let (mut n_bytes, mut line, mut first) = (0, 1, None);
    for c in text.chars() {
        if c == '\n' {
            line += 1;
        }
        if c.is_whitespace() {
            continue;
        }
        if n_bytes >= at {
            first.get_or_insert(line);
        }
        n_bytes += c.len_utf8();
        if n_bytes >= at + wanted.len() {
            break;
        }
    }
    Some((first?, line))
}

/// Finds the longest match with the lines of `old`, from its first line on. Returns the index of
/// its first line and the number of matching lines.
fn furthest(lines: &[&str], old: &str) -> Option<(usize, usize)> {
    let mut wanted = old.lines().map(str::trim).skip_while(|l| l.is_empty());
    let first = wanted.next()?;
    let starts = lines.iter().enumerate().filter(|(_, line)| line.contains(first)).take(MAX_STARTS);
    let agreeing = |start: usize| {
        1 + lines[start + 1..]
            .iter()
            .zip(wanted.clone())
            .take_while(|(a, b)| a.trim() == *b)
            .count()
    };
    starts.map(|(i, _)| (i, agreeing(i))).max_by_key(|(i, n)| (*n, std::cmp::Reverse(*i)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_breaks_are_those_of_the_file() {
        for (text, old, new, want) in [
            ("a\nb\n", "a\nb", "a\nc\nb", "a\nc\nb\n"),
            ("a\r\nb\r\n", "a\nb", "a\nc\nb", "a\r\nc\r\nb\r\n"),
            ("a\r\nb\r\n", "a\r\nb", "c", "c\r\n"),
            ("a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n"),
            // With mixed line breaks, only the differing part is written.
            ("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nX\nd", "a\r\nb\nX\r\nd\n"),
            ("a\r\nb\nc\r\nd\n", "b\n", "b\nX\n", "a\r\nb\nX\r\nc\r\nd\n"),
            ("a\r\nb\nc", "c", "c\nd", "a\r\nb\nc\nd"),
            ("a\rb\r\n", "a\rb", "x", "x\r\n"),
            ("one", "one", "two\n", "two\n"),
            ("é\r\nü\r\n", "é\nü", "è\nü", "è\r\nü\r\n"),
        ] {
            assert_eq!(replace(text, old, new, false).unwrap(), want, "{text:?} {old:?} {new:?}");
        }
    }

    #[test]
    fn a_new_text_has_the_line_breaks_of_the_old_one_if_it_had_but_one_kind() {
        for (before, text, want) in [
            ("a\r\nb\r\n", "x\ny", "x\r\ny"),
            ("a\r\nb\n", "x\ny", "x\ny"),
            ("a\nb\n", "x\r\ny\n", "x\r\ny\n"),
            ("a\r\n", "x\r\ny\n", "x\r\ny\n"),
            ("a", "x\n", "x\n"),
        ] {
            assert_eq!(overwrite(before, text), want, "{before:?} {text:?}");
        }
    }

    #[test]
    fn all_places_are_replaced_when_asked_for() {
        assert_eq!(
            replace("a b a\r\nba", "a", "x\ny", true).unwrap(),
            "x\r\ny b x\r\ny\r\nbx\r\ny"
        );
        assert_eq!(replace("aaa", "aa", "b", true).unwrap(), "ba");
        assert!(
            replace(&"a".repeat(1 << 20), "a", &"b".repeat(1 << 20), true)
                .unwrap_err()
                .contains("larger than 10 MiB")
        );
        // The largest text that is allowed, all on one line.
        let long = format!("\r\n\n{}", "a".repeat(1 << 20));
        assert_eq!(replace(&long, "a", "b\n", true).unwrap().len(), 3 + (2 << 20));
    }

    #[test]
    fn a_replacement_without_one_place_says_where_to_look() {
        for (text, old, want) in [
            ("a\nb\na\n", "a", "occurs more than once: lines 1, 3"),
            ("aaa", "aa", "occurs more than once: lines 1, 1"),
            (&"x\n".repeat(50), "x", "9, 10, …"),
            (
                "fn a() {\n\tb();\n}\n",
                "fn a() {\n    b();\n}",
                "at lines 1-3, but with other whitespace. Line 1 is `fn a() {`",
            ),
            (
                "x\n    let é = 1;\n",
                "let é  = 1;",
                "at lines 2-2, but with other whitespace. Line 2 is `    let é = 1;`",
            ),
            (
                "one\ntwo\nthree\nfour\n",
                "two\nthree\nfive",
                "begins like line 2, but line 4 is `four`",
            ),
            ("one\ntwo", "two\nthree", "begins like line 2, but the file ends"),
            ("one\n", "seven", "nor anything like its first line"),
            ("", "seven", "was not found"),
            ("one", " \n", "was not found"),
            ("one", "", "is empty"),
        ] {
            let error = replace(text, old, "new", false).unwrap_err();
            assert!(error.contains(want), "{old:?}: {error}");
        }
        assert!(replace("one", "one", "one", false).unwrap_err().contains("nothing would change"));
        assert!(
            replace("one\r\n", "one\r\n", "one\n", false)
                .unwrap_err()
                .contains("nothing would change")
        );
        assert!(replace("one", "two", "new", true).unwrap_err().contains("was not found"));
    }

    #[test]
    fn lines_go_between_lines() {
        for (text, after, lines, want) in [
            ("", 0, "x", "x\n"),
            ("a\n", 0, "x", "x\na\n"),
            ("a\n", 1, "x\n", "a\nx\n"),
            ("a\nb", 2, "x\ny\n", "a\nb\nx\ny"),
            ("a", 1, "x", "a\nx"),
            ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
            ("a\r\nb", 2, "x", "a\r\nb\r\nx"),
            ("a\r\nb\n", 2, "x", "a\r\nb\nx\n"),
            ("a\nb\n", 1, "\n", "a\n\nb\n"),
            ("a\nb\n", 1, "x\r\n\r\n", "a\nx\n\nb\n"),
        ] {
            assert_eq!(insert(text, after, lines).unwrap(), want, "{text:?} {after} {lines:?}");
        }
        assert!(insert("a\nb", 3, "x").unwrap_err().contains("no line 3: it has 2"));
        assert!(insert("", 1, "x").unwrap_err().contains("it has 0"));
        assert!(insert("a", 0, "").is_err());
    }

    #[test]
    fn what_is_no_text_is_told_by_line() {
        assert!(decoded(b"a\nb\0").unwrap_err().contains("NUL byte in line 2"));
        assert!(decoded(b"a\n\nb\xff\n").unwrap_err().contains("not UTF-8 (line 3)"));
        assert!(decoded(b"\xe2\x82").unwrap_err().contains("not UTF-8 (line 1)"));
        assert!(decoded(b"\xff\xfea\0\n\0").unwrap_err().contains("it is UTF-16"));
        assert_eq!(decoded(b"").unwrap(), "");
    }

    proptest! {
        /// Replacing a text and then replacing it back restores every byte.
        #[test]
        fn replacing_back_restores(lines in prop::collection::vec("[ab é]{0,4}", 1..12), crlf: bool, cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
            let line_break = if crlf { "\r\n" } else { "\n" };
            let text = lines.join(line_break);
            let chars: Vec<char> = text.replace("\r\n", "\n").chars().collect();
            let (a, b) = (cut.0.index(chars.len() + 1), cut.1.index(chars.len() + 1));
            let old: String = chars[a.min(b)..a.max(b)].iter().collect();
            if let Ok(after) = replace(&text, &old, "<new\nand\nnew>", false) {
                prop_assert_eq!(after.matches("\r\n").count(), if text.contains('\r') { after.matches('\n').count() } else { 0 });
                prop_assert_eq!(replace(&after, "<new\nand\nnew>", &old, false).unwrap(), text);
            }
        }

        /// With any line breaks, nothing outside the replaced text changes.
        #[test]
        fn the_rest_stays(before in "[ab\r\n]{0,12}", old in "[cd\n]{0,6}", after in "[ab\r\n]{0,12}", new in "[cd\n]{0,6}") {
            let (old, new) = (format!("<{old}>"), format!("<{new}>"));
            prop_assume!(old != new);
            let text = format!("{before}{}{after}", old.replace('\n', "\r\n"));
            let out = replace(&text, &old, &new, false).unwrap();
            prop_assert!(out.starts_with(&before) && out.ends_with(&after));
            prop_assert_eq!(out[before.len()..out.len() - after.len()].replace("\r\n", "\n"), new);
        }

        #[test]
        fn inserting_keeps_every_line(text in "(a|b|a\rb|\n|\r\n){0,20}", new in "(c|d|\n|\r\n){1,9}", at: prop::sample::Index) {
            let lines: Vec<&str> = text.lines().collect();
            let after = at.index(lines.len() + 1);
            let out = insert(&text, after, &new).unwrap();
            let wanted: Vec<&str> = lines[..after].iter().copied().chain(new.lines()).chain(lines[after..].iter().copied()).collect();
            prop_assert_eq!(out.lines().collect::<Vec<_>>(), wanted);
            let ends_blank = out.lines().last() == Some("");
            prop_assert_eq!(out.ends_with('\n'), text.ends_with('\n') || text.is_empty() || ends_blank);
        }
    }
}
