//! The metadata of a chunk: known keys have types, and all others are kept as they are.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use super::Origin;

/// Everything that ranking and display need besides title and text. All keys are optional. A known
/// key whose value has an undocumented shape is not an error but kept in `extra`, since other
/// programs may write these files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// Relative to the project root, `/` as separator.
    pub file_path: Option<String>,
    /// Lower-case language name.
    pub language: Option<String>,
    /// First line, 1-based.
    pub start_line: Option<u32>,
    /// Last line, inclusive.
    pub end_line: Option<u32>,
    /// Path of the first symbol (`ChunkManager::load`), or of the headings (`Install > Linux`).
    pub symbol: Option<String>,
    /// Path of the enclosing symbol.
    pub parent: Option<String>,
    /// Everything defined in the chunk.
    pub names: Vec<Name>,
    /// Declarations without bodies, one a line.
    pub signature: Option<String>,
    /// Line ranges of leading comments and documentation strings, inclusive, in file lines.
    pub comment_lines: Vec<(u32, u32)>,
    /// Imports of the file (in chunks of type symbols).
    pub imports: Vec<String>,
    /// The files that a commit changed (in chunks of type history).
    pub files: Vec<String>,
    /// Keys not listed above.
    pub extra: Map<String, Value>,
}

/// A definition within a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    pub name: String,
    /// `function`, `method`, `class`, `struct`, `enum`, `interface`, `trait`, `impl`, `type`,
    /// `module`, `macro`, `constant`, `field` or `enum_member`.
    #[serde(default)]
    pub kind: String,
    /// 0 at the top level of the file.
    #[serde(default)]
    pub depth: u16,
    /// Whether it is visible outside its module.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exported: bool,
    /// Whether it is declared without a body.
    #[serde(default, skip_serializing_if = "is_false")]
    pub prototype: bool,
    /// Lines of the definition with its leading comment; 0 when unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_line: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub end_line: u32,
}

impl Name {
    /// Whether it is a function, a method or a macro.
    #[must_use]
    pub fn is_function(&self) -> bool {
        is_callable(&self.kind)
    }
}

/// Whether a kind of symbol is that of functions, methods or macros.
#[must_use]
pub fn is_callable(kind: &str) -> bool {
    matches!(kind, "function" | "method" | "macro")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(b: &bool) -> bool {
    !b
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The key that marks chunks whose file was deleted.
const DELETED: &str = "deleted";
/// The key of the reason why the file is cut by lines, without its symbols.
const CUT: &str = "cut_by";
/// The key of the origin of the chunk's file.
const ORIGIN: &str = "origin";
/// The key of the line ranges of a file that could not be parsed.
const UNPARSED: &str = "unparsed_lines";

impl Metadata {
    /// Whether the file was deleted and the chunk was kept.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.extra.get(DELETED) == Some(&Value::Bool(true))
    }

    /// Marks the chunk as one whose file was deleted.
    pub fn mark_deleted(&mut self) {
        self.extra.insert(DELETED.into(), Value::Bool(true));
    }

    /// Returns which limit of its parser the file met, so that it is cut by lines: `steps` or `time`.
    #[must_use]
    pub fn cut_by(&self) -> Option<&str> {
        self.extra.get(CUT).and_then(Value::as_str)
    }

    /// Marks the chunk as one of a file that is cut by lines because its parser met a limit.
    pub fn mark_cut(&mut self, limit: &str) {
        self.extra.insert(CUT.into(), limit.into());
    }

    /// Returns who wrote the file, as the chunk or else the path says.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let stored = self.extra.get(ORIGIN).and_then(Value::as_str).and_then(Origin::parse);
        stored.unwrap_or_else(|| Origin::of_path(self.file_path.as_deref().unwrap_or_default()))
    }

    /// Stores who wrote the file.
    pub fn set_origin(&mut self, origin: Origin) {
        self.extra.insert(ORIGIN.into(), origin.as_str().into());
    }

    /// Returns the line ranges of the file that could not be parsed (in chunks of type symbols).
    #[must_use]
    pub fn unparsed(&self) -> Vec<(u32, u32)> {
        let stored = self.extra.get(UNPARSED);
        stored.and_then(|lines| serde_json::from_value(lines.clone()).ok()).unwrap_or_default()
    }

    /// Stores the line ranges of the file that could not be parsed.
    pub fn set_unparsed(&mut self, lines: &[(u32, u32)]) {
        if !lines.is_empty() {
            self.extra.insert(UNPARSED.into(), serde_json::json!(lines));
        }
    }

    /// Hashes the part of the metadata that locates the chunk. If a chunk only moves, nothing else
    /// changes.
    pub(super) fn hash_position(&self, h: &mut Xxh3) {
        let name_lines = self.names.iter().flat_map(|n| [n.start_line, n.end_line]);
        let comments = self.comment_lines.iter().flat_map(|(a, b)| [*a, *b]);
        for n in [self.start_line, self.end_line]
            .into_iter()
            .map(Option::unwrap_or_default)
            .chain(name_lines)
            .chain(comments)
        {
            h.update(&n.to_le_bytes());
        }
    }

    /// Hashes the part of the metadata that the indexes are built from.
    pub(super) fn hash_meaning(&self, h: &mut Xxh3) {
        for s in [&self.file_path, &self.language, &self.symbol, &self.parent, &self.signature] {
            hash_str(h, s.as_deref().unwrap_or("\0"));
        }
        for n in &self.names {
            hash_str(h, &n.name);
            hash_str(h, &n.kind);
            h.update(&[u8::from(n.exported), u8::from(n.prototype)]);
            h.update(&n.depth.to_le_bytes());
        }
        let first = self.start_line.unwrap_or_default();
        for (a, b) in &self.comment_lines {
            h.update(&a.wrapping_sub(first).to_le_bytes());
            h.update(&b.wrapping_sub(first).to_le_bytes());
        }
        for text in self.imports.iter().chain(&self.files) {
            hash_str(h, text);
        }
        if !self.extra.is_empty() {
            // The map of serde_json is sorted, so equal content prints the same text.
            hash_str(h, &Value::Object(self.extra.clone()).to_string());
        }
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        macro_rules! entries {
            ($($field:ident: $present:expr),*) => {
                $(if $present(&self.$field) { map.serialize_entry(stringify!($field), &self.$field)?; })*
            };
        }
        entries!(file_path: Option::is_some, language: Option::is_some, start_line: Option::is_some, end_line: Option::is_some, symbol: Option::is_some, parent: Option::is_some);
        entries!(names: |v: &Vec<Name>| !v.is_empty(), signature: Option::is_some, comment_lines: |v: &Vec<(u32, u32)>| !v.is_empty(), imports: |v: &Vec<String>| !v.is_empty(), files: |v: &Vec<String>| !v.is_empty());
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetadataVisitor)
    }
}

struct MetadataVisitor;

impl<'de> Visitor<'de> for MetadataVisitor {
    type Value = Metadata;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map of metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
        let mut m = Metadata::default();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let raw: &'de RawValue = map.next_value()?;
            let json = raw.get();
            let fits = match &*key {
                "file_path" => read(json, &mut m.file_path),
                "language" => read(json, &mut m.language),
                "start_line" => read(json, &mut m.start_line),
                "end_line" => read(json, &mut m.end_line),
                "symbol" => read(json, &mut m.symbol),
                "parent" => read(json, &mut m.parent),
                "names" => read(json, &mut m.names),
                "signature" => read(json, &mut m.signature),
                "comment_lines" => read(json, &mut m.comment_lines),
                "imports" => read(json, &mut m.imports),
                "files" => read(json, &mut m.files),
                _ => false,
            };
            if !fits {
                m.extra.insert(
                    key.into_owned(),
                    serde_json::from_str(json).map_err(serde::de::Error::custom)?,
                );
            }
        }
        Ok(m)
    }
}

/// Reads `json` into `field` if it has that shape.
fn read<T: DeserializeOwned>(json: &str, field: &mut T) -> bool {
    match serde_json::from_str(json) {
        Ok(value) => {
            *field = value;
            true
        }
        Err(_) => false,
    }
}

/// Hashes a string after its length, so that moving characters between neighbouring strings changes
/// the hash.
pub(super) fn hash_str(h: &mut Xxh3, s: &str) {
    h.update(&(s.len() as u64).to_le_bytes());
    h.update(s.as_bytes());
}
