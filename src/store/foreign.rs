//! Keeps the content of a chunk file in another layout than ours: its chunks as lines, and their
//! inline vectors as numbers.
//!
//! The other program may rewrite its file in place at any time. So its content is kept here: in
//! memory, or in the files that were saved for the next process.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use memchr::{memchr_iter, memchr2, memchr3};

use super::numbers::number;
use crate::chunk::{LineStore, SavedFile};

/// Lines of chunks, and the vectors of some of them.
#[derive(Debug, Default)]
pub(super) struct ForeignLines {
    /// The JSON of one chunk after another, without the numbers of their vectors.
    pub text: Bytes,
    /// Vectors as `[f32; dimensions]` in little-endian order, one after another.
    pub vectors: Bytes,
    /// The vectors of the lines that have one.
    pub rows: Vec<VectorRow>,
}

/// The vector of a line.
#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct VectorRow {
    /// Offset of the line in the text, in bytes. Rows are sorted by it.
    pub line: u32,
    /// Offset of its vector, in bytes.
    pub start: u64,
    pub dimensions: u32,
}

/// Bytes in memory, or in a saved file.
pub(super) enum Bytes {
    Here(Vec<u8>),
    Saved(Arc<dyn SavedFile>),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Saved(file) => write!(f, "{} saved bytes", file.n_bytes()),
        }
    }
}

impl Bytes {
    fn read(&self, at: Range<u64>) -> Option<Vec<u8>> {
        match self {
            Self::Here(bytes) => Some(
                bytes.get(usize::try_from(at.start).ok()?..usize::try_from(at.end).ok()?)?.to_vec(),
            ),
            Self::Saved(file) => file.read(at).ok(),
        }
    }
}

impl ForeignLines {
    /// Adds a line and returns its place. Returns `None` if there is no room left.
    pub(super) fn add(&mut self, parts: &[&str]) -> Option<Range<u32>> {
        let Bytes::Here(text) = &mut self.text else { return None };
        let line = u32::try_from(text.len()).ok()?;
        for part in parts {
            text.extend_from_slice(part.as_bytes());
        }
        Some(line..u32::try_from(text.len()).ok()?)
    }

    /// Adds the vector of the line that is added next, read from the text of its numbers.
    ///
    /// # Errors
    /// A message that says what is wrong with the numbers.
    pub(super) fn add_numbers(&mut self, numbers: &str) -> Result<(), String> {
        let (Bytes::Here(text), Bytes::Here(vectors)) = (&self.text, &mut self.vectors) else {
            return Ok(());
        };
        let (line, start) = (u32::try_from(text.len()).unwrap_or(u32::MAX), vectors.len());
        read_numbers(numbers, |value| vectors.extend_from_slice(&value.to_le_bytes()))?;
        let dimensions =
            u32::try_from((vectors.len() - start) / size_of::<f32>()).unwrap_or(u32::MAX);
        self.rows.push(VectorRow { line, start: start as u64, dimensions });
        Ok(())
    }

    /// Adds the vector of the line that is added next.
    pub(super) fn add_vector(&mut self, vector: &[f32]) -> Option<()> {
        let (Bytes::Here(text), Bytes::Here(vectors)) = (&self.text, &mut self.vectors) else {
            return None;
        };
        let row = VectorRow {
            line: u32::try_from(text.len()).ok()?,
            start: vectors.len() as u64,
            dimensions: u32::try_from(vector.len()).ok()?,
        };
        self.rows.push(row);
        vectors.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
        Some(())
    }
}

impl LineStore for ForeignLines {
    fn read(&self, at: Range<u32>) -> Option<Vec<u8>> {
        self.text.read(at.start.into()..at.end.into())
    }

    /// Always true: no other program writes the kept lines.
    fn is_unchanged(&self, _: &[u8], _: u128) -> bool {
        true
    }

    fn vector(&self, at: &Range<u32>) -> Option<Box<[f32]>> {
        let row = self.rows[self.rows.binary_search_by_key(&at.start, |row| row.line).ok()?];
        let bytes = self.vectors.read(row.start..row.start + 4 * u64::from(row.dimensions))?;
        Some(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

/// The parts of a chunk file, found without reading what is inside them. Each part is yet to be
/// parsed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChunkFileScanner<'a> {
    pub metadata: Option<&'a str>,
    pub chunks: Vec<ChunkJson<'a>>,
    /// Values of unknown keys.
    pub others: Vec<&'a str>,
}

/// The JSON of a chunk, and the range in it that holds the numbers of its vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkJson<'a> {
    pub json: &'a str,
    pub vector: Option<(usize, usize)>,
}

impl<'a> ChunkJson<'a> {
    /// Returns the JSON before and after the numbers.
    pub(super) fn around(&self) -> [&'a str; 2] {
        match self.vector {
            Some((start, end)) => [&self.json[..start], &self.json[end..]],
            None => [self.json, ""],
        }
    }

    /// Returns the text between the brackets of the vector, unless it is blank.
    pub(super) fn numbers(&self) -> Option<&'a str> {
        self.vector
            .map(|(start, end)| &self.json[start..end])
            .filter(|numbers| !numbers.trim().is_empty())
    }

    /// Returns how many numbers the vector has; 0 without a vector.
    pub(super) fn n_numbers(&self) -> usize {
        self.numbers().map_or(0, |numbers| memchr_iter(b',', numbers.as_bytes()).count() + 1)
    }
}

/// Reads comma-separated numbers, or returns what is wrong with one of them.
fn read_numbers(text: &str, mut each: impl FnMut(f32)) -> Result<(), String> {
    let bytes = text.as_bytes();
    let after_space = |at: usize| {
        at + bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count()
    };
    let mut at = 0;
    loop {
        let start = after_space(at);
        let read = number(&bytes[start..]).map(|(value, n)| (value, after_space(start + n)));
        match read.filter(|(_, end)| matches!(bytes.get(*end), None | Some(b','))) {
            Some((value, _)) if !value.is_finite() => {
                return Err("its embedding holds a number that is not finite".into());
            }
            Some((value, end)) if end == bytes.len() => {
                each(value);
                return Ok(());
            }
            Some((value, end)) => {
                each(value);
                at = end + 1;
            }
            None => {
                let wrong = text[at..].split(',').next().unwrap_or_default().trim();
                return Err(format!("its embedding holds `{wrong}`, which is not a number"));
            }
        }
    }
}

/// Splits a chunk file into its parts. Returns `None` if it is not JSON of that shape, or is
/// written in an unusual way: then the parser has to decide.
///
/// Valid JSON is always split at the right places. Whether it is valid is only known when all parts
/// are parsed.
pub(super) fn take_apart(text: &str) -> Option<ChunkFileScanner<'_>> {
    let mut scan = Scan { text, at: 0 };
    let mut parts = ChunkFileScanner::default();
    let mut has_chunks = false;
    scan.object(|scan, key| {
        if key.contains('\\') {
            return None;
        }
        match key {
            "chunks" if !has_chunks => {
                has_chunks = true;
                scan.array(|scan| {
                    let part = scan.chunk()?;
                    parts.chunks.push(part);
                    Some(())
                })
            }
            "_metadata" if parts.metadata.is_none() => {
                parts.metadata = Some(scan.value()?);
                Some(())
            }
            "chunks" | "_metadata" => None,
            _ => {
                parts.others.push(scan.value()?);
                Some(())
            }
        }
    })?;
    scan.next();
    (scan.at == text.len()).then_some(parts)
}

/// A position in a JSON text.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// Skips white space and returns the next byte without consuming it.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
            .unwrap_or(rest.len());
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Reads the items of a list, separated by commas, up to `close`.
    fn list(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        if self.next()? == close {
            return self.take(close);
        }
        loop {
            item(self)?;
            match self.next()? {
                b',' => self.at += 1,
                _ => return self.take(close),
            }
        }
    }

    fn object(&mut self, mut value: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.list(b'{', b'}', |scan| {
            scan.next();
            let key = scan.string()?;
            scan.take(b':')?;
            value(scan, key)
        })
    }

    fn array(&mut self, mut value: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.list(b'[', b']', |scan| value(scan))
    }

    /// Reads a string, escapes included, without its quotation marks.
    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            self.at += memchr2(b'"', b'\\', &self.text.as_bytes()[self.at..])?;
            if self.text.as_bytes()[self.at] == b'"' {
                self.at += 1;
                return Some(&self.text[start..self.at - 1]);
            }
            // A backslash may be followed by a quotation mark, or by the first byte of a longer
            // character.
            self.at += 2;
            self.text.as_bytes().get(self.at)?;
        }
    }

    /// Reads any value and returns its text.
    fn value(&mut self) -> Option<&'a str> {
        let first = self.next()?;
        let start = self.at;
        match first {
            b'"' => drop(self.string()?),
            b'{' => self.nested(b'{', b'}')?,
            b'[' => self.nested(b'[', b']')?,
            _ => {
                let is_end =
                    |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                self.at += self.text.as_bytes()[self.at..].iter().position(is_end)?;
            }
        }
        self.text.get(start..self.at)
    }

    /// Reads a value in brackets. In valid JSON it ends where brackets of its own kind are
    /// balanced.
    fn nested(&mut self, open: u8, close: u8) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.at += memchr3(open, close, b'"', &self.text.as_bytes()[self.at..])?;
            match self.text.as_bytes()[self.at] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                byte if byte == open => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn chunk(&mut self) -> Option<ChunkJson<'a>> {
        self.next();
        let (start, mut vector) = (self.at, None);
        self.object(|scan, key| {
            let value = scan.value()?;
            if key == "embedding" && value.starts_with('[') {
                vector = Some((scan.at - value.len() + 1 - start, scan.at - 1 - start));
            }
            Some(())
        })?;
        Some(ChunkJson { json: &self.text[start..self.at], vector })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Texts that JSON has to escape.
    fn any_text() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-c\"\\\\\\[\\]{},:\u{e9}\u{1f600}\n ]{0,12}").unwrap()
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f32>().prop_map(Value::from),
            any_text().prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![Just("embedding".to_string()), any_text()];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
            ]
        })
    }

    proptest! {
        /// A file that is split and parsed in parts has the same content as when it is parsed
        /// whole.
        #[test]
        fn the_parts_of_a_file_are_what_stands_in_it(chunks in prop::collection::vec(any_value(), 0..5), other in any_value(), pretty: bool) {
            let chunks: Vec<Value> = chunks.into_iter().filter(Value::is_object).collect();
            let file = serde_json::json!({ "a": other, "_metadata": other, "chunks": chunks });
            let text = if pretty { serde_json::to_string_pretty(&file).unwrap() } else { file.to_string() };
            let parts = take_apart(&text).unwrap();
            let read = |json: &str| serde_json::from_str::<Value>(json).unwrap();
            let file = read(&text);
            prop_assert_eq!(&Value::from(parts.chunks.iter().map(|p| read(p.json)).collect::<Vec<_>>()), &file["chunks"]);
            prop_assert_eq!(read(parts.metadata.unwrap()), file["_metadata"].clone());
            prop_assert_eq!(parts.others.iter().map(|p| read(p)).collect::<Vec<_>>(), [file["a"].clone()]);
            for part in &parts.chunks {
                let (whole, around) = (read(part.json), read(&part.around().concat()));
                let vector = part.vector.map(|(start, end)| &part.json[start..end]).map(|numbers| read(&format!("[{numbers}]")));
                prop_assert_eq!(vector.as_ref(), whole.get("embedding").filter(|v| v.is_array()));
                let mut without = whole.clone();
                if vector.is_some() {
                    without["embedding"] = serde_json::json!([]);
                }
                prop_assert_eq!(around, without);
            }
        }

        /// The file is cut anywhere, or has another byte anywhere. Either it is not split, or one
        /// of its parts is invalid, or the file is still valid.
        #[test]
        fn what_is_no_json_is_not_read_as_some(chunks in prop::collection::vec(any_value(), 0..4), at: prop::sample::Index, byte in "[\"\\\\\\[\\]{},: a1]") {
            let file = serde_json::json!({ "b": 1, "chunks": chunks }).to_string();
            let at = at.index(file.len());
            let ends = [Some(at), file.is_char_boundary(at).then_some(at)];
            for text in [file.get(..at).map(String::from), ends[1].and_then(|i| Some(format!("{}{byte}{}", &file[..i], file.get(i + 1..)?)))].into_iter().flatten() {
                let is_json = |json: &str| serde_json::from_str::<Value>(json).is_ok();
                if let Some(parts) = take_apart(&text) {
                    let all = parts.chunks.iter().map(|p| p.json).chain(parts.metadata).chain(parts.others).all(is_json);
                    prop_assert_eq!(all, is_json(&text), "{}", text);
                }
            }
        }
    }
}
