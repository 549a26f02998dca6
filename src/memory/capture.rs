//! From something that was said or done to a memory: redacted, embedded, stored; all of it or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use super::code;
use super::events::quoted;
use super::feed::chunk_of;
use super::hook::{is_summary, summary_of};
use super::sql::Stored;
use super::{
    ChunkerError, EpisodeSource, HookType, MAX_CONTENT_CHARS, Memory, MemorySource, MemoryStore, ResponseType, StorageError, TextChunk,
    TextChunker, Vector,
};
use crate::chunk::Quantized;
use crate::embed::{EmbedError, Embedder, passage};
use crate::secrets::redact;
use crate::source::sha256;

/// Stores memories.
#[derive(Clone)]
pub struct MemoryCaptureService {
    store: Arc<MemoryStore>,
    embedder: Arc<dyn Embedder>,
    chunker: TextChunker,
    /// The project whose code memories speak of, and the database of its code graph.
    code: Option<(PathBuf, PathBuf)>,
}

/// Why something is not remembered. Nothing of it is stored then.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("there is nothing to remember: the content is empty")]
    EmptyContent,
    #[error("it has no vector: {0}")]
    EmbeddingFailed(#[from] EmbedError),
    #[error(transparent)]
    StorageFailed(#[from] StorageError),
    #[error("there is no session {session_id}")]
    SessionNotFound { session_id: String },
    #[error(transparent)]
    Chunker(#[from] ChunkerError),
}

impl MemoryCaptureService {
    #[must_use]
    pub fn new(store: Arc<MemoryStore>, embedder: Arc<dyn Embedder>) -> Self {
        Self { store, embedder, chunker: TextChunker::default(), code: None }
    }

    /// Memories that name code below `root` note what it is now. `graph`: the database of its code graph, which need not be there.
    #[must_use]
    pub fn tied_to(self, root: &Path, graph: &Path) -> Self {
        Self { code: Some((root.to_path_buf(), graph.to_path_buf())), ..self }
    }

    /// The same for another database.
    pub(super) fn of(&self, store: Arc<MemoryStore>) -> Self {
        Self { store, ..self.clone() }
    }

    /// Where it stores.
    #[must_use]
    pub fn store(&self) -> &Arc<MemoryStore> {
        &self.store
    }

    /// Remembers what a hook tells.
    ///
    /// # Errors
    /// When it is empty or too long, the session is unknown, or it cannot be embedded or stored.
    pub fn capture_hook_description(
        &self,
        content: &str,
        hook_type: HookType,
        session_id: &str,
        tool_name: Option<String>,
    ) -> Result<Uuid, CaptureError> {
        self.capture_in(Memory::new(content, MemorySource::HookDescription { hook_type, tool_name }, session_id))
    }

    /// Remembers what an agent answered.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture_hook_description`].
    pub fn capture_claude_response(&self, content: &str, response_type: ResponseType, session_id: &str) -> Result<Uuid, CaptureError> {
        self.capture_in(Memory::new(content, MemorySource::ClaudeResponse { response_type }, session_id))
    }

    /// Remembers a piece of a file.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture_hook_description`].
    pub fn capture_md_chunk(&self, chunk: TextChunk, session_id: &str) -> Result<Uuid, CaptureError> {
        self.capture_in(of_piece(chunk, session_id))
    }

    fn capture_in(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        if self.store.session(&memory.session_id)?.is_none() {
            return Err(CaptureError::SessionNotFound { session_id: memory.session_id });
        }
        self.capture(memory)
    }

    /// Remembers it as it is, but for secrets.
    ///
    /// # Errors
    /// When it is empty or too long, or cannot be embedded or stored.
    pub fn capture(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        let ((memory, vectors), n_secrets) = self.complete(memory)?;
        self.store.store(&memory, &vectors)?;
        self.store.count_redacted(n_secrets)?;
        Ok(memory.id)
    }

    /// As it is stored, and how many secrets were taken out.
    fn complete(&self, memory: Memory) -> Result<(Stored, usize), CaptureError> {
        if memory.content.trim().is_empty() {
            return Err(CaptureError::EmptyContent);
        }
        let (mut memory, n_secrets) = without_secrets(memory);
        if let Some((root, graph)) = self.code.as_ref().filter(|_| memory.code.is_empty() && is_statement(&memory.source)) {
            memory.code = code::references(&memory.content, root, graph);
        }
        let vectors = self.vectors(std::slice::from_ref(&memory))?.pop().unwrap_or_default();
        Ok(((memory, vectors), n_secrets))
    }

    /// Forgets a memory and what was derived from it: the summary of its session is made anew, what git was told to because of it goes.
    /// False when there is no such memory.
    ///
    /// # Errors
    /// When the database cannot be read or written: then nothing is forgotten.
    pub fn forget(&self, id: Uuid) -> Result<bool, CaptureError> {
        let Some(memory) = self.store.get(id)? else { return Ok(false) };
        let (mut gone, new) = self.derived(&memory, None)?;
        gone.push(id);
        self.store.exchange(&gone, &new)?;
        Ok(true)
    }

    /// Gives a memory another content; what was derived from the former one is made anew or goes.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture`].
    pub fn change(&self, memory: Memory) -> Result<(), CaptureError> {
        let before = self.store.get(memory.id)?;
        let (stored, n_secrets) = self.complete(memory)?;
        let (gone, mut new) = match &before {
            Some(before) => self.derived(before, Some(&stored.0))?,
            None => (Vec::new(), Vec::new()),
        };
        new.push(stored);
        self.store.exchange(&gone, &new)?;
        Ok(self.store.count_redacted(n_secrets)?)
    }

    /// What of the derived memories goes, and what is put in their place, when a memory goes or becomes another.
    fn derived(&self, memory: &Memory, becomes: Option<&Memory>) -> Result<(Vec<Uuid>, Vec<Stored>), CaptureError> {
        let is_origin = matches!(&memory.source, MemorySource::HookDescription { .. } | MemorySource::ClaudeResponse { .. });
        if !is_origin || is_summary(memory) || memory.session_id.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut session = self.store.get_by_session(&memory.session_id)?;
        session.reverse();
        let text = quoted(memory);
        // What an older version derived does not say from what.
        let is_context = |m: &Memory| matches!(&m.source, MemorySource::Episode(e) if e.source == EpisodeSource::GitContext);
        let is_derived = |m: &&Memory| {
            m.derived_from.contains(&memory.id) || is_summary(m) || is_context(m) && m.derived_from.is_empty() && m.content.contains(&text)
        };
        let mut gone: Vec<Uuid> = session.iter().filter(is_derived).map(|m| m.id).collect();
        let mut new = Vec::new();
        if session.iter().any(is_summary) {
            let at = session.iter().position(|m| m.id == memory.id);
            match (at, becomes) {
                (Some(at), Some(becomes)) => session[at] = becomes.clone(),
                (Some(at), None) => drop(session.remove(at)),
                (None, _) => {}
            }
            // Without a vector it goes rather than tell what is to be forgotten.
            let summary = summary_of(&session, &memory.session_id).and_then(|s| self.complete(s).ok());
            if let Some((stored, _)) = summary {
                gone.retain(|id| *id != stored.0.id);
                new.push(stored);
            }
        }
        Ok((gone, new))
    }

    /// Puts the pieces of a file in the place of those that were made of it before, if its content is another. Returns the new ones;
    /// `None` when it is the same.
    ///
    /// # Errors
    /// When it is no text, or as [`MemoryCaptureService::capture`]: then what was there stays.
    pub fn capture_file(&self, path: &str, bytes: &[u8], session_id: &str) -> Result<Option<Vec<Uuid>>, CaptureError> {
        let hash = sha256(bytes);
        if self.store.file_hash(path)?.as_ref() == Some(&hash) {
            return Ok(None);
        }
        let pieces = match self.chunker.chunk_bytes(bytes, path) {
            Err(ChunkerError::EmptyContent) => Vec::new(),
            pieces => pieces?,
        };
        // Masses of blanks are pieces, too.
        let pieces = pieces.into_iter().filter(|piece| piece.word_count > 0);
        let (new, n_secrets) = self.prepared(pieces.map(|piece| of_piece(piece, session_id)))?;
        let ids = new.iter().map(|(memory, _)| memory.id).collect();
        self.store.replace_file(path, Some(&hash), &new)?;
        self.store.count_redacted(n_secrets)?;
        Ok(Some(ids))
    }

    /// Forgets the pieces of a file. Returns how many there were.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn delete_by_file_path(&self, path: &str) -> Result<usize, CaptureError> {
        Ok(self.store.delete_by_file_path(path)?)
    }

    /// As they are stored: without secrets, of which it says how many there were, and with vectors.
    pub(super) fn prepared(&self, memories: impl Iterator<Item = Memory>) -> Result<(Vec<Stored>, usize), CaptureError> {
        let (memories, n_secrets): (Vec<Memory>, Vec<usize>) = memories.map(without_secrets).unzip();
        let vectors = self.vectors(&memories)?;
        Ok((memories.into_iter().zip(vectors).collect(), n_secrets.iter().sum()))
    }

    /// Makes vectors that an embedder which takes its time was not waited for, at most so many. Returns how many.
    ///
    /// # Errors
    /// When the embedder or the database fails.
    pub fn embed_rest(&self, most: usize) -> Result<usize, CaptureError> {
        if self.embedder.is_immediate() {
            return Ok(0);
        }
        let memories = self.store.without_vector(self.embedder.id(), most)?;
        for (memory, vectors) in memories.iter().zip(self.make_vectors(&memories)?) {
            self.store.put_vectors(memory, &vectors)?;
        }
        Ok(memories.len())
    }

    /// The vectors of each. An embedder that takes its time is not waited for.
    fn vectors(&self, memories: &[Memory]) -> Result<Vec<Vec<Vector>>, EmbedError> {
        if self.embedder.is_immediate() { self.make_vectors(memories) } else { Ok(vec![Vec::new(); memories.len()]) }
    }

    fn make_vectors(&self, memories: &[Memory]) -> Result<Vec<Vec<Vector>>, EmbedError> {
        let chunks: Vec<_> = memories.iter().map(chunk_of).collect();
        let passages: Vec<_> = chunks.iter().map(passage).collect();
        let made = self.embedder.embed_passages(&passages)?;
        let vector = |(made, passage): (Vec<f32>, &crate::embed::Passage)| {
            vec![Vector { embedder: self.embedder.id().into(), passage: passage.key(), vector: Quantized::new(&made) }]
        };
        Ok(made.into_iter().zip(&passages).map(vector).collect())
    }
}

/// What may be true of code, and later no more. What happened stays true.
fn is_statement(source: &MemorySource) -> bool {
    match source {
        MemorySource::Episode(e) => !e.source.is_event(),
        MemorySource::ClaudeResponse { response_type } => *response_type != ResponseType::SessionSummary,
        MemorySource::HookDescription { .. } | MemorySource::MDFileChunk { .. } => false,
    }
}

fn of_piece(chunk: TextChunk, session_id: &str) -> Memory {
    let TextChunk { content, metadata, .. } = chunk;
    let (file_path, chunk_index, total_chunks) = (metadata.file_path.clone(), metadata.chunk_index, metadata.total_chunks);
    let source = MemorySource::MDFileChunk { file_path, chunk_index, total_chunks };
    Memory { chunk_metadata: Some(metadata), ..Memory::new(content, source, session_id) }
}

/// The memory without its secrets, and how many there were. What a hook, an agent's answer or a file holds beyond the longest content
/// is cut off, and so is what redaction added to any other: nobody is there who could shorten it.
pub(super) fn without_secrets(memory: Memory) -> (Memory, usize) {
    let (content, name) = (redact(&memory.content), redact(&memory.name));
    let is_statement = matches!(&memory.source, MemorySource::Episode(_));
    let may_be_cut = !is_statement || memory.content.chars().count() <= MAX_CONTENT_CHARS;
    let text = if may_be_cut { shortened(content.text) } else { content.text };
    (Memory { content: text, name: name.text, ..memory }, content.n_secrets + name.n_secrets)
}

/// What is put at the end of a content that was cut.
const CUT: &str = "\n[the rest is not kept]";

fn shortened(text: String) -> String {
    if text.chars().count() <= MAX_CONTENT_CHARS {
        return text;
    }
    let kept = text.char_indices().nth(MAX_CONTENT_CHARS - CUT.len()).map_or(text.len(), |(at, _)| at);
    format!("{}{CUT}", &text[..kept])
}
