//! Converts a memory into a chunk for the search engine.

use super::{Memory, Operation};
use crate::chunk::{Chunk, ChunkType, Metadata};

/// Longest title taken from a first line, in characters.
const MAX_TITLE: usize = 80;

/// Returns the chunk of a memory.
pub(super) fn chunk_of(memory: &Memory) -> Chunk {
    // A piece of a prompt or answer has no file.
    let piece = memory.chunk_metadata.as_ref().filter(|p| !p.file_path.is_empty());
    let first_line = || {
        memory
            .content
            .trim_start()
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(MAX_TITLE)
            .collect()
    };
    let title = match (&memory.name, piece) {
        (name, _) if !name.is_empty() => name.clone(),
        (_, Some(piece)) => piece.file_path.clone(),
        _ => first_line(),
    };
    let operation = memory.source.operation().map(Operation::as_str);
    Chunk {
        id: memory.id.to_string().into(),
        title,
        text: memory.content.clone(),
        chunk_type: ChunkType::Documentation,
        embedding: None,
        tags: [Some(memory.source.name()), operation]
            .into_iter()
            .flatten()
            .map(String::from)
            .collect(),
        metadata: Metadata {
            file_path: piece.map(|p| p.file_path.clone()),
            start_line: piece.map(|p| p.start_line),
            end_line: piece.map(|p| p.end_line),
            ..Metadata::default()
        },
        created_at: memory.created_at,
        updated_at: memory.updated_at,
    }
}
