//! Finds the files and chunks that requests name by path, line or id.

use std::path::Path;
use std::sync::Arc;

use super::AskError;
use crate::chunk::{Chunk, ChunkSet, ChunkType};

/// Number of similar paths that an error proposes for an unknown one.
const MAX_PROPOSALS: usize = 3;
const MIN_SIMILARITY: f64 = 0.4;
/// Longest accepted path; `PATH_MAX` on Linux.
const MAX_PATH_BYTES: usize = 4096;

/// Returns a path in the form that the index uses: relative to the root, without `.`. It is empty
/// for the root.
pub(super) fn normal(root: &Path, path: &str) -> Result<String, AskError> {
    if path.len() > MAX_PATH_BYTES {
        return Err(AskError::Arguments(format!("path is longer than {MAX_PATH_BYTES} bytes")));
    }
    let refused = |why: String| Err(AskError::Arguments(format!("path is `{path}`: {why}")));
    if Path::new(path).is_absolute() {
        return match Path::new(path).strip_prefix(root) {
            Ok(inside) => refused(format!(
                "give it relative to the root of the project: `{}`",
                inside.display()
            )),
            Err(_) => refused("it is outside the project; give a path relative to its root".into()),
        };
    }
    let parts: Vec<&str> = path.split('/').filter(|p| !matches!(*p, "" | ".")).collect();
    if parts.contains(&"..") {
        return refused(
            "`..` is not followed; give a path relative to the root of the project".into(),
        );
    }
    Ok(parts.join("/"))
}

/// Returns the chunks of an indexed file.
pub(super) fn chunks_of(chunks: &ChunkSet, path: &str) -> Result<Vec<Arc<Chunk>>, AskError> {
    let found = chunks.read_file(path);
    if found.is_empty() { Err(AskError::NotFound(unknown(chunks, path))) } else { Ok(found) }
}

fn unknown(chunks: &ChunkSet, path: &str) -> String {
    let name = |p: &str| p.rsplit('/').next().unwrap_or_default().to_lowercase();
    let wanted = name(path);
    let similarity = |p: &str| {
        strsim::normalized_damerau_levenshtein(path, p)
            .max(strsim::normalized_damerau_levenshtein(&wanted, &name(p)))
    };
    let mut nearest: Vec<(f64, &str)> =
        chunks.files().map(|p| (similarity(p), p)).filter(|(s, _)| *s >= MIN_SIMILARITY).collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let nearest: Vec<&str> = nearest.into_iter().take(MAX_PROPOSALS).map(|(_, p)| p).collect();
    let advice = if nearest.is_empty() {
        "cortex_outline lists the indexed files".into()
    } else {
        format!("similar: {}", nearest.join(", "))
    };
    format!("`{path}` is not in the index (ignored, skipped or not there); {advice}")
}

/// Returns the chunk with this id.
pub(super) fn chunk(chunks: &ChunkSet, id: &str) -> Result<Arc<Chunk>, AskError> {
    chunks.by_id(id).and_then(|entry| entry.chunk()).ok_or_else(|| {
        AskError::NotFound(format!(
            "there is no chunk `{id}`: use a chunk_id from the results of cortex_search, such as `src/live/manager.rs#ChunkManager::reload`, or give path and lines instead"
        ))
    })
}

/// Returns the smallest chunk of a file that contains a line. Without a line, returns the chunk
/// with the file's outline or, if there is none, the first chunk.
pub(super) fn chunk_at(
    chunks: &ChunkSet,
    path: &str,
    line: Option<u32>,
) -> Result<Arc<Chunk>, AskError> {
    let of_file = chunks_of(chunks, path)?;
    let lines = |c: &Chunk| (c.metadata.start_line.unwrap_or(0), c.metadata.end_line.unwrap_or(0));
    let Some(line) = line else {
        return Ok(of_file
            .iter()
            .min_by_key(|c| (c.chunk_type != ChunkType::Symbols, lines(c).0))
            .unwrap_or(&of_file[0])
            .clone());
    };
    let holding = of_file.iter().filter(|c| (lines(c).0..=lines(c).1).contains(&line));
    holding
        .min_by_key(|c| (c.chunk_type == ChunkType::Symbols, lines(c).1 - lines(c).0))
        .cloned()
        .ok_or_else(|| {
            let last = of_file.iter().map(|c| lines(c).1).max().unwrap_or(0);
            AskError::NotFound(format!(
                "`{path}` has no line {line} in the index: give 1 to {last}"
            ))
        })
}
