//! Makes items in the arguments of macros visible to the parser.

/// Beginnings of the first line of an item.
const ITEMS: [&str; 14] = [
    "pub ", "pub(", "fn ", "async fn ", "unsafe ", "impl ", "impl<", "struct ", "enum ", "trait ",
    "mod ", "use ", "#[", "type ",
];

/// Replaces `name! {` and its `}` by blanks if there are items between them. Lines and columns stay
/// the same. Returns `None` if there are none. It recognises the indentation of rustfmt.
pub(super) fn open(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut blank: Vec<usize> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let head = line.trim();
        let name = head.strip_suffix('{').map(str::trim_end).and_then(|h| h.strip_suffix('!'));
        let is_macro = name.is_some_and(|n| {
            !n.is_empty() && n.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
        });
        if !is_macro || !holds_items(&lines[i + 1..]) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let is_end = |l: &&str| l.trim_end().len() == indent + 1 && l.trim() == "}";
        if let Some(n) = lines[i + 1..].iter().position(is_end) {
            blank.extend([i, i + 1 + n]);
        }
    }
    if blank.is_empty() {
        return None;
    }
    blank.sort_unstable();
    let spaces = |l: &str| l.chars().map(|c| if c == '\r' { c } else { ' ' }).collect::<String>();
    let lines: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(i, l)| if blank.binary_search(&i).is_ok() { spaces(l) } else { (*l).to_string() })
        .collect();
    Some(lines.join("\n"))
}

/// Whether the first line that is not a comment begins an item.
fn holds_items(lines: &[&str]) -> bool {
    let first = lines.iter().map(|l| l.trim()).find(|l| !l.is_empty() && !l.starts_with("//"));
    first.is_some_and(|l| ITEMS.iter().any(|item| l.starts_with(item)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_in_macros_are_opened_and_expressions_are_not() {
        let text = "cfg_rt! {\n    /// Doc.\n    pub fn run() {\n        select! {\n            _ = a() => {}\n        }\n    }\n}\nmacro_rules! x {\n    () => {}\n}\n";
        let opened = open(text).unwrap();
        assert_eq!(opened.len(), text.len());
        assert!(
            !opened.contains("cfg_rt")
                && opened.contains("select! {")
                && opened.contains("macro_rules! x {"),
            "{opened}"
        );
        assert_eq!(opened.lines().nth(7).map(str::trim), Some(""));
        assert_eq!(open("fn a() { vec![1] }\n"), None);
    }
}
