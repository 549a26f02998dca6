//! What may be found, as arguments.

use globset::GlobSet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::ToolError;
use crate::chunk::{ChunkSet, ChunkType};
use crate::config::globs;
use crate::search::Filter;

/// Globs that are compiled for one question; nested ones cost stack.
const MAX_GLOBS: usize = 64;
const MAX_GLOB_BYTES: usize = 1024;

/// Kinds of chunks. Part of the arguments of the tools that find chunks.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Kinds {
    /// Only chunks of these types.
    #[serde(default)]
    #[schemars(schema_with = "types")]
    types: Vec<ChunkType>,
    /// Only these languages: rust, python, markdown …
    #[serde(default)]
    languages: Vec<String>,
}

/// Where and what. Part of the arguments of the tools that search.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Filters {
    #[serde(flatten)]
    kinds: Kinds,
    /// Only files that match one of these globs: src/**, *.rs, docs
    #[serde(default)]
    path: Vec<String>,
    /// Only chunks with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
}

fn types(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "enum": ChunkType::ALL.map(ChunkType::as_str)}})
}

impl Kinds {
    pub(super) fn filter(&self) -> Filter {
        Filter { types: self.types.clone(), languages: self.languages.iter().map(|l| l.to_lowercase()).collect(), ..Filter::default() }
    }
}

impl Filters {
    pub(super) fn filter(&self) -> Result<Filter, ToolError> {
        Ok(Filter { paths: of_paths(&self.path)?, tags: self.tags.clone(), ..self.kinds.filter() })
    }
}

/// Files that match one of these globs; an empty set when none is given.
pub(super) fn of_paths(patterns: &[String]) -> Result<GlobSet, ToolError> {
    if patterns.len() > MAX_GLOBS || patterns.iter().any(|g| g.len() > MAX_GLOB_BYTES) {
        return Err(ToolError::Arguments(format!("path: give at most {MAX_GLOBS} globs of at most {MAX_GLOB_BYTES} bytes")));
    }
    globs(patterns).map_err(|e| ToolError::Arguments(format!("path: {e}")))
}

/// A warning of languages that nothing here is written in.
pub(super) fn unknown_languages(chunks: &ChunkSet, filter: &Filter) -> Option<String> {
    let (unknown, there) = filter.unknown_languages(chunks)?;
    Some(format!("nothing here is written in {}; there are {}", unknown.join(", "), there.join(", ")))
}
