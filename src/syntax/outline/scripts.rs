//! The scripts of a component, brought into the open.

/// The text with blanks in the place of everything but what stands between `<script …>` and `</script>`. Lines and columns stay.
pub(super) fn alone(text: &str) -> String {
    let mut bytes = blank(text);
    let mut at = 0;
    while let Some((start, end)) = next_script(text, at) {
        bytes[start..end].copy_from_slice(&text.as_bytes()[start..end]);
        at = end;
    }
    // Whole lines of the text and blanks: valid wherever the text was.
    String::from_utf8(bytes).unwrap_or_default()
}

/// As many blanks as bytes; line ends stay.
fn blank(text: &str) -> Vec<u8> {
    text.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b } else { b' ' }).collect()
}

/// Where the content of the next script begins and ends.
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
        let text = "<p>é</p>\n<script lang=\"ts\">\nlet a = 'ü'\n</script>\n<script>b()</script><style>";
        let got = alone(text);
        assert_eq!(got.len(), text.len());
        assert_eq!(got.split_whitespace().collect::<Vec<_>>().join(" "), "let a = 'ü' b()");
        assert_eq!(got.find("let"), text.find("let"));
        assert_eq!(alone("<script>unclosed("), "        unclosed(");
        assert_eq!(alone("<script"), "       ");
    }
}
