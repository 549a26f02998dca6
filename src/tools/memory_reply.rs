//! A memory as a row of a reply.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::reply::printable;
use crate::memory::{MemorySource, RecalledMemory, quoted};
use crate::text::cut;

/// Maximum length of a memory's content in a result, in characters.
const SHOWN: usize = 1_000;
/// Maximum length of its content in [`Remembrance::in_short`], in characters.
const SHORT: usize = 300;

/// One memory that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Remembrance {
    /// Id of the memory, for `delete_memory`.
    #[serde(rename = "fingerprintId")]
    fingerprint_id: String,
    /// Title.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("default" = ""))]
    name: String,
    /// The text; only its beginning if it is long.
    content: String,
    /// Cosine similarity of query and memory, 0 to 1.
    similarity: f64,
    /// The retriever with the largest contribution: semantic, keyword, symbol or recency.
    #[serde(rename = "dominantEmbedder")]
    dominant_embedder: &'static str,
    /// Contribution of each retriever to the score.
    retrievers: BTreeMap<&'static str, f64>,
    source: Source,
    /// When the memory was stored.
    created_at: String,
    /// Code that it names and that changed since: it may no longer be true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    stale: Vec<String>,
    /// Why it may no longer be true, in the text form.
    #[serde(skip)]
    doubt: Option<String>,
}

/// Where a memory comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Source {
    /// `HookDescription`, `ClaudeResponse`, `MDFileChunk`, or the source of an episode.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The hook, of a `HookDescription`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_type: Option<&'static str>,
    /// The tool that the agent used.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// The kind of answer, of a `ClaudeResponse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_type: Option<&'static str>,
    /// The file that the memory is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    /// Position among the pieces of the file or of a long text, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_index: Option<u32>,
    /// Number of these pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_chunks: Option<u32>,
    /// First and last line of the piece, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(u32, u32)>,
    /// The change of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
}

impl Remembrance {
    pub(super) fn new(found: &RecalledMemory) -> Self {
        let memory = &found.memory;
        let (mut piece, mut hook, mut response_type) = (memory.piece(), None, None);
        match &memory.source {
            MemorySource::HookDescription { hook_type, tool_name, .. } => {
                hook = Some((hook_type.as_str(), tool_name.clone()));
            }
            MemorySource::ClaudeResponse { response_type: of } => response_type = Some(of.as_str()),
            MemorySource::MDFileChunk { chunk_index, total_chunks, .. } => {
                piece = Some((*chunk_index, *total_chunks));
            }
            MemorySource::Episode(_) => {}
        }
        let rounded = |x: f64| (x * 1000.0).round() / 1000.0;
        Self {
            fingerprint_id: memory.id.to_string(),
            name: memory.name.clone(),
            content: cut(memory.content.trim(), SHOWN),
            similarity: rounded(f64::from(found.similarity)),
            dominant_embedder: found.dominant,
            retrievers: found
                .retrievers
                .iter()
                .map(|(name, adds)| (*name, rounded(*adds)))
                .collect(),
            source: Source {
                kind: memory.source.type_name(),
                hook_type: hook.as_ref().map(|h| h.0),
                tool_name: hook.and_then(|h| h.1),
                response_type,
                file_path: memory.source.file_path().map(String::from),
                chunk_index: piece.map(|p| p.0),
                total_chunks: piece.map(|p| p.1),
                lines: memory.chunk_metadata.as_ref().map(|m| (m.start_line, m.end_line)),
                operation: memory.source.operation().map(crate::memory::Operation::as_str),
            },
            created_at: memory.created_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
            stale: found.stale.clone(),
            doubt: found.doubt(),
        }
    }

    /// Returns the memory as one line of text.
    pub(super) fn in_short(&self) -> String {
        let content = self.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let stale = if self.doubt.is_none() { "" } else { ", may be out of date" };
        format!(
            "{} ({}, {}{stale})",
            printable(&cut(&content, SHORT)),
            self.source.kind,
            &self.created_at[..10]
        )
    }

    /// Returns the text form.
    pub(super) fn lines(&self) -> Vec<String> {
        let Source {
            kind,
            hook_type,
            tool_name,
            response_type,
            file_path,
            chunk_index,
            total_chunks,
            operation,
            ..
        } = &self.source;
        let piece = chunk_index
            .zip(*total_chunks)
            .map(|(i, n)| format!(" ({}/{n})", i + 1))
            .unwrap_or_default();
        let of = [
            Some(*kind),
            *hook_type,
            tool_name.as_deref(),
            *response_type,
            *operation,
            file_path.as_deref(),
        ];
        let of: Vec<&str> = of.into_iter().flatten().collect();
        let head = format!(
            "{} {}{piece}, {}, similarity {:.2}, via {}",
            self.fingerprint_id,
            of.join(" "),
            self.created_at,
            self.similarity,
            self.dominant_embedder
        );
        let name = (!self.name.is_empty()).then(|| format!("> {}", printable(&self.name)));
        let stale =
            self.doubt.as_ref().map(|doubt| printable(&format!("  may be out of date: {doubt}")));
        std::iter::once(printable(&head))
            .chain(name)
            .chain(stale)
            .chain(quoted(&self.content).lines().map(String::from))
            .collect()
    }
}
