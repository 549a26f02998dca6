//! One chunk and its JSON.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::metadata::{Metadata, hash_str};

/// A name of a chunk that is unique within its set; cheap to clone.
pub type ChunkId = Arc<str>;

/// 128-bit XXH3 of some content. Equal content has an equal fingerprint in every process and
/// version.
pub type Fingerprint = u128;

/// The types of chunks. Each has a chunk file of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Encode, Decode,
)]
#[serde(rename_all = "lowercase")]
pub enum ChunkType {
    /// The outline of one source file.
    Symbols,
    /// Source of functions, types and the code between them.
    Definitions,
    /// Constants, statics, values of enums, configuration.
    Data,
    /// Sections of documents.
    Documentation,
    /// Messages of commits. They are no results; they tell what the files are about that they
    /// changed.
    History,
}

/// The types by the order of their files: the name in the JSON, and whether the chunks are parts of
/// files and can be found. Chunks of the others are only evidence. Those that can be found come first.
const TYPES: [(ChunkType, &str, bool); 5] = [
    (ChunkType::Symbols, "symbols", true),
    (ChunkType::Definitions, "definitions", true),
    (ChunkType::Data, "data", true),
    (ChunkType::Documentation, "documentation", true),
    (ChunkType::History, "history", false),
];

/// A number for each type of chunks that can be found, in the order of [`ChunkType::SEARCHED`].
pub type CountByType = [u32; N_SEARCHED];

const N_SEARCHED: usize = {
    let (mut n, mut i) = (0, 0);
    while i < TYPES.len() {
        n += TYPES[i].2 as usize;
        i += 1;
    }
    n
};

const fn first_types<const N: usize>() -> [ChunkType; N] {
    let (mut types, mut i) = ([ChunkType::Symbols; N], 0);
    while i < N {
        types[i] = TYPES[i].0;
        i += 1;
    }
    types
}

impl ChunkType {
    /// All types, in the order of their files.
    pub const ALL: [Self; TYPES.len()] = first_types();
    /// The types whose chunks are parts of files and can be found.
    pub const SEARCHED: [Self; N_SEARCHED] = first_types();

    /// Returns the name of the type in the JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        TYPES[self as usize].1
    }

    /// Whether the chunks can be found.
    #[must_use]
    pub fn is_searched(self) -> bool {
        TYPES[self as usize].2
    }

    /// Returns the type with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == name)
    }
}

/// A searchable piece of a source file, a document or a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub id: ChunkId,
    pub title: String,
    pub text: String,
    pub chunk_type: ChunkType,
    /// Inline vector of any norm. Only files of other programs have one.
    pub embedding: Option<Box<[f32]>>,
    pub tags: Vec<String>,
    pub metadata: Metadata,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// Why a chunk in a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    #[error("it has no `id` (a non-empty string is needed)")]
    NoId,
    #[error("it has no `text` (a string is needed)")]
    NoText,
}

/// A chunk as it is in a file: every field may be missing.
#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    chunk_type: Option<String>,
    #[serde(default)]
    embedding: Option<Vec<f32>>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default, deserialize_with = "created_at")]
    created_at: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "updated_at")]
    updated_at: Option<DateTime<Utc>>,
}

fn created_at<'d, D: Deserializer<'d>>(d: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    time(d, "created_at")
}

fn updated_at<'d, D: Deserializer<'d>>(d: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    time(d, "updated_at")
}

/// Reads a time of RFC 3339, with any offset. The error names the field.
fn time<'d, D: Deserializer<'d>>(d: D, field: &str) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(written) = Option::<Cow<'d, str>>::deserialize(d)? else { return Ok(None) };
    let time = DateTime::parse_from_rfc3339(&written).map_err(|_| {
        let shown: String = written.chars().take(40).collect();
        serde::de::Error::custom(format!(
            "`{field}` is `{shown}`, but must be a time with an offset, such as 2026-01-31T12:00:00Z"
        ))
    })?;
    Ok(Some(time.to_utc()))
}

#[derive(Serialize)]
struct Written<'a> {
    id: &'a str,
    title: &'a str,
    text: &'a str,
    chunk_type: ChunkType,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding: Option<&'a [f32]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    metadata: &'a Metadata,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl Chunk {
    /// Returns a chunk of which no more is known: all times are the beginning of 1970.
    #[must_use]
    pub fn new(id: impl Into<ChunkId>, chunk_type: ChunkType, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: String::new(),
            text: text.into(),
            chunk_type,
            embedding: None,
            tags: Vec::new(),
            metadata: Metadata::default(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    /// Whether it repeats the values of an enum, which are in chunks of definitions, too.
    #[must_use]
    pub fn repeats_values(&self) -> bool {
        let m = &self.metadata;
        self.chunk_type == ChunkType::Data && m.symbol.is_some() && m.symbol == m.parent
    }

    /// Reads one chunk object. `file_type` is the type of its file. It is used if the chunk states
    /// no type or an unknown one.
    ///
    /// # Errors
    /// The JSON error, or what the chunk lacks. The first part is the chunk's id if it has one.
    pub fn from_json(
        json: &str,
        file_type: ChunkType,
    ) -> Result<Self, (Option<String>, ParseError)> {
        // serde would read the items of an array as the values of the fields.
        if json.trim_ascii_start().starts_with('[') {
            return Err((None, ParseError::Json(serde::de::Error::custom("a chunk is an object"))));
        }
        let raw: Raw = serde_json::from_str(json).map_err(|e| (None, ParseError::Json(e)))?;
        let Some(id) = raw.id.filter(|id| !id.is_empty()) else {
            return Err((None, ParseError::Chunk(ChunkError::NoId)));
        };
        let Some(text) = raw.text else {
            return Err((Some(id), ParseError::Chunk(ChunkError::NoText)));
        };
        Ok(Self {
            id: id.into(),
            title: raw.title.unwrap_or_default(),
            text,
            chunk_type: raw.chunk_type.as_deref().and_then(ChunkType::parse).unwrap_or(file_type),
            embedding: raw.embedding.filter(|v| !v.is_empty()).map(Vec::into_boxed_slice),
            tags: raw.tags.unwrap_or_default(),
            metadata: raw.metadata.unwrap_or_default(),
            created_at: raw.created_at.unwrap_or_default(),
            updated_at: raw.updated_at.unwrap_or_default(),
        })
    }

    /// Returns the chunk as one line of JSON, without a newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        let written = Written {
            id: &self.id,
            title: &self.title,
            text: &self.text,
            chunk_type: self.chunk_type,
            embedding: self.embedding.as_deref(),
            tags: &self.tags,
            metadata: &self.metadata,
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        // Cannot fail: every map key is a string and no Serialize here returns an error.
        serde_json::to_string(&written).expect("a chunk is always representable as JSON")
    }

    /// Returns the fingerprint of every field except the time stamps.
    #[must_use]
    pub fn content(&self) -> Fingerprint {
        let mut h = Xxh3::new();
        self.hash_indexed(&mut h);
        for number in self.embedding.as_deref().unwrap_or_default() {
            h.update(&number.to_le_bytes());
        }
        self.metadata.hash_position(&mut h);
        h.digest128()
    }

    /// Returns the fingerprint of what the text index and the vectors are made from: everything
    /// except the time stamps, the inline vector and the position in the file.
    #[must_use]
    pub fn indexed(&self) -> Fingerprint {
        let mut h = Xxh3::new();
        self.hash_indexed(&mut h);
        h.digest128()
    }

    fn hash_indexed(&self, h: &mut Xxh3) {
        for part in [&*self.id, &self.title, &self.text, self.chunk_type.as_str()] {
            hash_str(h, part);
        }
        for tag in &self.tags {
            hash_str(h, tag);
        }
        self.metadata.hash_meaning(h);
    }
}

/// Why [`Chunk::from_json`] failed.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    #[error(transparent)]
    Json(serde_json::Error),
    #[error(transparent)]
    Chunk(ChunkError),
}
