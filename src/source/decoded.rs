//! Turns the bytes of a file into text, in one way for all that index, search or show it.

use std::borrow::Cow;

/// Returns the text of a file, without a byte order mark. UTF-16 is decoded, and invalid UTF-8 (such
/// as a comment in Latin-1) is replaced.
#[must_use]
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let lossy = || match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Cow::Owned(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => Cow::Owned(rest.to_string()),
            None => Cow::Owned(text),
        },
    };
    utf16(bytes).map_or_else(lossy, Cow::Owned)
}

/// Returns the bytes of a file as UTF-8, as far as they are text: UTF-16 is decoded, and anything else
/// is returned as it is.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    utf16(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
}

/// Decodes UTF-16. Returns `None` for anything else: bytes without its byte order mark, and bytes that
/// only begin like it.
fn utf16(bytes: &[u8]) -> Option<String> {
    let to_unit: fn([u8; 2]) -> u16 = match bytes.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let units = pairs.iter().map(|pair| to_unit(*pair));
    if rest.is_empty() { char::decode_utf16(units).collect::<Result<_, _>>().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_of_both_orders_is_text_and_what_only_begins_like_it_is_not() {
        let text = "class Größe { 🦀 }\r\n";
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for bytes in
            [little.as_slice(), &big, text.as_bytes(), format!("\u{feff}{text}").as_bytes()]
        {
            assert_eq!(text_of(bytes), text);
        }
        assert_eq!(*utf8(&little), *text.as_bytes());
        for other in [&little[..little.len() - 1], b"\xff\xfe\x00\xdc", b"\xff", b""] {
            assert!(matches!(utf8(other), Cow::Borrowed(_)), "{other:?}");
        }
        assert_eq!(text_of(b"\xef\xbb\xbfcaf\xe9"), "caf\u{fffd}");
    }
}
