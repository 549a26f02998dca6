//! Extracts the scripts of a component.

/// Replaces everything except the contents of `<script …>` elements by blanks. Lines and
/// columns stay the same.
pub(super) fn alone(text: &str) -> String {
    let mut bytes = blank(text);
    let mut at = 0;
    while let Some((start, end)) = next_script(text, at) {
        bytes[start..end].copy_from_slice(&text.as_bytes()[start..end]);
        at = end;
    }
    // The result consists of blanks and whole pieces of the text, which end at ASCII
    // characters, so it is UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Replaces each byte by a blank, except line breaks.
fn blank(text: &str) -> Vec<u8> {
    text.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b } else { b' ' }).collect()
}

/// Returns the byte range of the content of the next script.
fn next_script(text: &str, from: usize) -> Option<(usize, usize)> {
    let tag = from + text.get(from..)?.find("<script")?;
    let start = tag + text[tag..].find('>')? + 1;
    let end = text[start..].find("</script").map_or(text.len(), |n| start + n);
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::alone;

    #[test]
    fn scripts_stay_where_they_are() {
        let text =
            "<p>é</p>\n<script lang=\"ts\">\nlet a = 'ü'\n</script>\n<script>b()</script><style>";
        let got = alone(text);
        assert_eq!(got.len(), text.len());
        assert_eq!(got.split_whitespace().collect::<Vec<_>>().join(" "), "let a = 'ü' b()");
        assert_eq!(got.find("let"), text.find("let"));
        assert_eq!(alone("<script>unclosed("), "        unclosed(");
        assert_eq!(alone("<script"), "       ");
    }
}
