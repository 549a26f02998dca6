//! From something that was said or done to a memory: redacted, embedded, stored; all of it or
//! nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::{Builder, Uuid};
use xxhash_rust::xxh3::xxh3_128;

use super::chunk::chunk_of;
use super::code;
use super::events::quoted;
use super::sql::Stored;
use super::statements::{self, is_recognised};
use super::summary::{is_summary, summary_of};
use super::{
    ChunkerError, EpisodeSource, HookType, MAX_CONTENT_CHARS, Memory, MemorySource, MemoryStore,
    ResponseType, StorageError, TextChunk, TextChunker, Vector,
};
use crate::chunk::Quantized;
use crate::embed::{EmbedError, Embedder, passage};
use crate::secrets::redact;
use crate::source::sha256;

/// Longest text that is kept, in characters; what is longer than a memory may be is kept in pieces.
pub(super) const MAX_TEXT_CHARS: usize = 200_000;

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

    /// Memories that name code below `root` note what it is now. `graph`: the database of its code
    /// graph, which need not be there.
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

    /// Remembers what a hook tells, and of a prompt each statement that should last. A text that is
    /// too long for a memory is kept in pieces, all of them or none. Returns the id of the first
    /// one.
    ///
    /// # Errors
    /// When it is empty, the session is unknown, or it cannot be embedded or stored.
    pub fn capture_hook_description(
        &self,
        content: &str,
        hook_type: HookType,
        session_id: &str,
        tool_name: Option<String>,
        file_path: Option<String>,
    ) -> Result<Uuid, CaptureError> {
        self.capture_text(Memory::new(
            content,
            MemorySource::HookDescription { hook_type, tool_name, file_path },
            session_id,
        ))
    }

    /// Remembers what an agent answered, as [`MemoryCaptureService::capture_hook_description`]
    /// does.
    ///
    /// # Errors
    /// The same.
    pub fn capture_claude_response(
        &self,
        content: &str,
        response_type: ResponseType,
        session_id: &str,
    ) -> Result<Uuid, CaptureError> {
        self.capture_text(Memory::new(
            content,
            MemorySource::ClaudeResponse { response_type },
            session_id,
        ))
    }

    /// Remembers what a hook kept for later.
    pub(super) fn capture_kept(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        if is_text(&memory) { self.capture_text(memory) } else { self.capture(memory) }
    }

    fn capture_text(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        if !memory.session_id.is_empty() && self.store.session(&memory.session_id)?.is_none() {
            return Err(CaptureError::SessionNotFound { session_id: memory.session_id });
        }
        if memory.content.trim().is_empty() {
            return Err(CaptureError::EmptyContent);
        }
        let (memory, n_secrets) = redacted(memory);
        let mut all = self.pieces(&memory)?;
        if gives_statements(&memory.source) {
            all.extend(self.merged(statements::memories(&memory))?);
        }
        let (stored, _) = self.completed(all)?;
        self.store.exchange(&[], &stored)?;
        self.count_redacted(n_secrets);
        // A session knows what was said in it, until it forgets.
        if !memory.session_id.is_empty() {
            let ids: Vec<Uuid> = stored.iter().map(|(memory, _)| memory.id).collect();
            self.store.give(&memory.session_id, &ids)?;
        }
        Ok(memory.id)
    }

    /// The text as one memory, or as several where it is too long for one: the first has its id,
    /// the others are derived from that.
    fn pieces(&self, memory: &Memory) -> Result<Vec<Memory>, CaptureError> {
        if memory.content.chars().count() <= MAX_CONTENT_CHARS {
            return Ok(vec![memory.clone()]);
        }
        let piece = |TextChunk { content, word_count, metadata }: TextChunk| {
            let is_first = metadata.chunk_index == 0;
            Memory {
                id: piece_id(memory.id, metadata.chunk_index),
                content,
                word_count,
                chunk_metadata: Some(metadata),
                derived_from: if is_first { Vec::new() } else { vec![memory.id] },
                ..memory.clone()
            }
        };
        let chunks = self.chunker.chunk_text(&memory.content, "")?.into_iter();
        Ok(chunks.filter(|chunk| chunk.word_count > 0).map(piece).collect())
    }

    /// Statements as they are stored: what is known of one that was made before stays. One whose
    /// words somebody changed is left alone.
    fn merged(&self, made: Vec<Memory>) -> Result<Vec<Memory>, CaptureError> {
        let mut all = Vec::new();
        for new in made {
            let Some(before) = self.store.get(new.id)? else {
                all.push(new);
                continue;
            };
            if statements::id_of(&before.content) == new.id {
                let mut derived_from = before.derived_from;
                derived_from.retain(|id| !new.derived_from.contains(id));
                derived_from.extend(&new.derived_from);
                all.push(Memory {
                    derived_from,
                    name: before.name,
                    pinned: before.pinned,
                    group_id: before.group_id,
                    ..new
                });
            }
        }
        Ok(all)
    }

    /// Remembers it as it is, but for secrets.
    ///
    /// # Errors
    /// When it is empty or too long, or cannot be embedded or stored.
    pub fn capture(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        let ((memory, vectors), n_secrets) = self.complete(memory)?;
        self.store.store(&memory, &vectors)?;
        self.count_redacted(n_secrets);
        Ok(memory.id)
    }

    /// What is stored is stored, whether or not that could be counted.
    fn count_redacted(&self, n_secrets: usize) {
        if let Err(e) = self.store.count_redacted(n_secrets) {
            tracing::debug!("{n_secrets} secrets were taken out, and that is not counted: {e}");
        }
    }

    /// As it is stored, and how many secrets were taken out.
    fn complete(&self, memory: Memory) -> Result<(Stored, usize), CaptureError> {
        let (mut stored, n_secrets) = self.completed(vec![memory])?;
        Ok((stored.pop().ok_or(CaptureError::EmptyContent)?, n_secrets))
    }

    /// The same of several.
    fn completed(&self, memories: Vec<Memory>) -> Result<(Vec<Stored>, usize), CaptureError> {
        if memories.iter().any(|m| m.content.trim().is_empty()) {
            return Err(CaptureError::EmptyContent);
        }
        let (mut memories, n_secrets): (Vec<Memory>, Vec<usize>) =
            memories.into_iter().map(without_secrets).unzip();
        if let Some((root, graph)) = &self.code {
            for memory in
                memories.iter_mut().filter(|m| m.code.is_empty() && is_statement(&m.source))
            {
                memory.code = code::references(&memory.content, root, graph);
            }
        }
        let vectors = self.vectors(&memories)?;
        Ok((memories.into_iter().zip(vectors).collect(), n_secrets.iter().sum()))
    }

    /// Forgets a memory and what was derived from it: the summary of its session is made anew, what
    /// git was told to because of it goes, and so do its statements that nothing else says. Of a
    /// text in pieces all go. False when there is no such memory.
    ///
    /// # Errors
    /// When the database cannot be read or written: then nothing is forgotten.
    pub fn forget(&self, id: Uuid) -> Result<bool, CaptureError> {
        let Some(memory) = self.store.get(id)? else { return Ok(false) };
        let memory = match self.store.get(head_of(&memory))? {
            Some(first) => first,
            None => memory,
        };
        let (mut gone, new) = self.derived(&memory, None)?;
        gone.extend([id, memory.id]);
        self.store.exchange(&gone, &new)?;
        Ok(true)
    }

    /// Gives a memory another content; what was derived from the former one is made anew or goes.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture`].
    pub fn change(&self, mut memory: Memory) -> Result<(), CaptureError> {
        if let MemorySource::HookDescription { file_path, .. } = &mut memory.source {
            // It is about the file that it names.
            *file_path = file_path.take().filter(|path| memory.content.contains(path));
        }
        let before = self.store.get(memory.id)?;
        let (stored, n_secrets) = self.complete(memory)?;
        let (gone, mut new) = match &before {
            Some(before) => self.derived(before, Some(&stored.0))?,
            None => (Vec::new(), Vec::new()),
        };
        new.push(stored);
        self.store.exchange(&gone, &new)?;
        self.count_redacted(n_secrets);
        Ok(())
    }

    /// What of the derived memories goes, and what is put in their place, when a memory goes or
    /// becomes another.
    fn derived(
        &self,
        memory: &Memory,
        becomes: Option<&Memory>,
    ) -> Result<(Vec<Uuid>, Vec<Stored>), CaptureError> {
        if !is_text(memory) {
            return Ok((Vec::new(), Vec::new()));
        }
        let head = head_of(memory);
        let mut related = self.related(memory, head)?;
        let had_summary = related.iter().any(is_summary);
        let text = quoted(memory);
        // What an older version derived does not say from what.
        let is_context = |m: &Memory| matches!(&m.source, MemorySource::Episode(e) if e.source == EpisodeSource::GitContext);
        let is_of = |m: &Memory| {
            m.derived_from.contains(&memory.id)
                || m.derived_from.contains(&head)
                || is_context(m) && m.derived_from.is_empty() && m.content.contains(&text)
        };
        // The statements of what it becomes, of all pieces if it is one of several.
        let mut made = Vec::new();
        if let Some(becomes) = becomes.filter(|b| gives_statements(&b.source)) {
            let is_piece = |m: &&Memory| {
                m.id != becomes.id && m.chunk_metadata.is_some() && head_of(m) == head
            };
            for piece in related.iter().filter(is_piece).chain([becomes]) {
                made.extend(statements::memories(&Memory { id: head, ..piece.clone() }));
            }
        }
        let mut new = self.merged(made)?;
        let mut gone = Vec::new();
        for derived in related.iter().filter(|m| m.id != memory.id && is_of(m)) {
            if is_recognised(derived) {
                if new.iter().all(|n| n.id != derived.id) {
                    // Another prompt or answer may say the same.
                    match self.without_origin(derived, head)? {
                        Some(left) => new.push(left),
                        None => gone.push(derived.id),
                    }
                }
            } else if becomes.is_none() || is_context(derived) {
                gone.push(derived.id);
            }
        }
        if had_summary {
            related.retain(|m| {
                m.session_id == memory.session_id
                    && !gone.contains(&m.id)
                    && new.iter().all(|n| n.id != m.id)
            });
            match becomes {
                Some(becomes) => related
                    .iter_mut()
                    .filter(|m| m.id == becomes.id)
                    .for_each(|m| *m = becomes.clone()),
                None => related.retain(|m| m.id != memory.id),
            }
            related.extend(new.iter().filter(|m| m.session_id == memory.session_id).cloned());
            let before = related.iter().filter(|m| is_summary(m)).map(|m| m.id);
            gone.extend(before.collect::<Vec<_>>());
            new.extend(summary_of(&related, &memory.session_id));
        }
        let ids: Vec<Uuid> = new.iter().map(|m| m.id).collect();
        gone.retain(|id| !ids.contains(id));
        let new = self.completed(new).map_or_else(
            |_| {
                // Without a vector it goes rather than tell what is to be forgotten.
                gone.extend(ids);
                Vec::new()
            },
            |(new, _)| new,
        );
        Ok((gone, new))
    }

    /// What may be derived from a memory: all of its session, oldest first, its other pieces, and
    /// its statements.
    fn related(&self, memory: &Memory, head: Uuid) -> Result<Vec<Memory>, CaptureError> {
        let mut all = Vec::new();
        if !memory.session_id.is_empty() {
            all = self.store.get_by_session(&memory.session_id)?;
            all.reverse();
        }
        let n_pieces = memory.chunk_metadata.as_ref().map_or(1, |m| m.total_chunks);
        let made = statements::memories(memory).into_iter().map(|m| m.id);
        for id in (0..n_pieces).map(|index| piece_id(head, index)).chain(made) {
            if all.iter().all(|m| m.id != id) {
                all.extend(self.store.get(id)?);
            }
        }
        Ok(all)
    }

    /// A statement as it is without one of the texts that say it: of the session of the last one
    /// that is left. `None`: there is none.
    fn without_origin(
        &self,
        statement: &Memory,
        origin: Uuid,
    ) -> Result<Option<Memory>, CaptureError> {
        let mut left = Vec::new();
        for id in statement.derived_from.iter().filter(|id| **id != origin) {
            left.extend(self.store.get(*id)?);
        }
        Ok(left.last().map(|last| Memory {
            session_id: last.session_id.clone(),
            created_at: last.created_at,
            derived_from: left.iter().map(|m| m.id).collect(),
            ..statement.clone()
        }))
    }

    /// Puts the pieces of a file in the place of those that were made of it before, if its content
    /// is another. Returns the new ones; `None` when it is the same.
    ///
    /// # Errors
    /// When it is no text, or as [`MemoryCaptureService::capture`]: then what was there stays.
    pub fn capture_file(
        &self,
        path: &str,
        bytes: &[u8],
        session_id: &str,
    ) -> Result<Option<Vec<Uuid>>, CaptureError> {
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
        self.count_redacted(n_secrets);
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
    pub(super) fn prepared(
        &self,
        memories: impl Iterator<Item = Memory>,
    ) -> Result<(Vec<Stored>, usize), CaptureError> {
        let (memories, n_secrets): (Vec<Memory>, Vec<usize>) =
            memories.map(without_secrets).unzip();
        let vectors = self.vectors(&memories)?;
        Ok((memories.into_iter().zip(vectors).collect(), n_secrets.iter().sum()))
    }

    /// Makes vectors that an embedder which takes its time was not waited for, at most so many.
    /// Returns how many.
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
        if self.embedder.is_immediate() {
            self.make_vectors(memories)
        } else {
            Ok(vec![Vec::new(); memories.len()])
        }
    }

    fn make_vectors(&self, memories: &[Memory]) -> Result<Vec<Vec<Vector>>, EmbedError> {
        let chunks: Vec<_> = memories.iter().map(chunk_of).collect();
        let passages: Vec<_> = chunks.iter().map(passage).collect();
        let made = self.embedder.embed_passages(&passages)?;
        let vector = |(made, passage): (Vec<f32>, &crate::embed::Passage)| {
            vec![Vector {
                embedder: self.embedder.id().into(),
                passage: passage.key(),
                vector: Quantized::new(&made),
            }]
        };
        Ok(made.into_iter().zip(&passages).map(vector).collect())
    }
}

/// What may be true of code, and later no more. What happened stays true.
fn is_statement(source: &MemorySource) -> bool {
    match source {
        MemorySource::Episode(e) => !e.source.is_event(),
        MemorySource::ClaudeResponse { response_type } => {
            *response_type != ResponseType::SessionSummary
        }
        MemorySource::HookDescription { .. } | MemorySource::MDFileChunk { .. } => false,
    }
}

/// What a hook told or an agent answered, but for summaries: those are made of it.
fn is_text(memory: &Memory) -> bool {
    matches!(
        &memory.source,
        MemorySource::HookDescription { .. } | MemorySource::ClaudeResponse { .. }
    ) && !is_summary(memory)
}

/// Whether somebody speaks there who may decide something.
fn gives_statements(source: &MemorySource) -> bool {
    match source {
        MemorySource::HookDescription { hook_type, .. } => *hook_type == HookType::UserPromptSubmit,
        MemorySource::ClaudeResponse { response_type } => {
            *response_type != ResponseType::SessionSummary
        }
        _ => false,
    }
}

/// The id of a piece follows from the one of the text, so that a text which is stored again is the
/// same.
fn piece_id(head: Uuid, index: u32) -> Uuid {
    let of_piece = [head.as_bytes().as_slice(), &index.to_le_bytes()].concat();
    if index == 0 {
        head
    } else {
        Builder::from_custom_bytes(xxh3_128(&of_piece).to_be_bytes()).into_uuid()
    }
}

/// The id of the first piece of a text; of any other memory its own.
fn head_of(memory: &Memory) -> Uuid {
    let first =
        memory.derived_from.first().filter(|_| memory.chunk_metadata.is_some() && is_text(memory));
    first.copied().unwrap_or(memory.id)
}

fn of_piece(chunk: TextChunk, session_id: &str) -> Memory {
    let TextChunk { content, metadata, .. } = chunk;
    let (file_path, chunk_index, total_chunks) =
        (metadata.file_path.clone(), metadata.chunk_index, metadata.total_chunks);
    let source = MemorySource::MDFileChunk { file_path, chunk_index, total_chunks };
    Memory { chunk_metadata: Some(metadata), ..Memory::new(content, source, session_id) }
}

/// The memory without its secrets, and how many there were. A text that is longer than any that is
/// kept is cut.
pub(super) fn redacted(memory: Memory) -> (Memory, usize) {
    let (content, name) = (redact(&memory.content), redact(&memory.name));
    (
        Memory { content: shortened(content.text, MAX_TEXT_CHARS), name: name.text, ..memory },
        content.n_secrets + name.n_secrets,
    )
}

/// The same, and no longer than a memory may be. What a hook, an agent's answer or a file holds
/// beyond is cut off, and so is what redaction added to any other: nobody is there who could
/// shorten it.
fn without_secrets(memory: Memory) -> (Memory, usize) {
    let may_be_cut = !matches!(&memory.source, MemorySource::Episode(_))
        || memory.content.chars().count() <= MAX_CONTENT_CHARS;
    let (memory, n_secrets) = redacted(memory);
    let content =
        if may_be_cut { shortened(memory.content, MAX_CONTENT_CHARS) } else { memory.content };
    (Memory { content, ..memory }, n_secrets)
}

/// What is put at the end of a content that was cut.
const CUT: &str = "\n[the rest is not kept]";

fn shortened(text: String, n_chars: usize) -> String {
    if text.chars().count() <= n_chars {
        return text;
    }
    let kept = text.char_indices().nth(n_chars - CUT.len()).map_or(text.len(), |(at, _)| at);
    format!("{}{CUT}", &text[..kept])
}
