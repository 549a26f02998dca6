//! Turns text of hooks, answers and files into memories: redacted, embedded, and stored completely
//! or not at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::{Builder, Uuid};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::authority;
use super::chunk::chunk_of;
use super::code;
use super::events::quoted;
use super::redacted::RedactedMemory;
use super::sql::Stored;
use super::statements::{self, is_recognised};
use super::summary::{is_summary, summary_of};
use super::{
    ChunkerError, EpisodeSource, MAX_CONTENT_CHARS, Memory, MemorySource, MemoryStore, Select,
    Speaker, StorageError, TextChunk, TextChunker, Vector,
};
use crate::chunk::Quantized;
use crate::embed::{EmbedError, Embedder, passage};
use crate::graph::Database;
use crate::source::sha256;

/// Number of the newest statements, notes and answers with which new ones are compared.
const COMPARED: usize = 300;

/// Most memories of another embedder that get vectors at once.
const AT_ONCE: usize = 2_000;

/// Stores memories.
#[derive(Clone)]
pub struct MemoryCaptureService {
    store: Arc<MemoryStore>,
    embedder: Arc<dyn Embedder>,
    chunker: TextChunker,
    /// Root of the project, and the database of its code graph.
    code: Option<(PathBuf, Database)>,
}

/// Why a text was not stored. Nothing of it is stored then.
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

    /// Lets memories that name code below `root` record the present state of that code. `graph` is
    /// the database of the code graph, which need not exist.
    pub(super) fn tied_to(self, root: &Path, graph: &Database) -> Self {
        Self { code: Some((root.to_path_buf(), graph.clone())), ..self }
    }

    /// Returns the same service for another database.
    pub(super) fn of(&self, store: Arc<MemoryStore>) -> Self {
        Self { store, ..self.clone() }
    }

    /// The database that this service writes to.
    #[must_use]
    pub fn store(&self) -> &Arc<MemoryStore> {
        &self.store
    }

    /// Stores the memory of a hook under its own id, so that storing it again changes nothing: a
    /// hook that is interrupted leaves the same memory in the spool. The lasting statements of a
    /// prompt or an answer are stored with it. A text that is too long for one memory is stored in
    /// pieces, all of them or none. Returns the id of the first piece.
    ///
    /// # Errors
    /// When the text is empty, the session is unknown, or embedding or storing fails.
    pub fn capture_of_hook(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        if is_text(&memory) { self.capture_text(memory) } else { self.capture(memory) }
    }

    fn capture_text(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        if !memory.session_id.is_empty() && self.store.session(&memory.session_id)?.is_none() {
            return Err(CaptureError::SessionNotFound { session_id: memory.session_id });
        }
        if memory.content.trim().is_empty() {
            return Err(CaptureError::EmptyContent);
        }
        let (memory, n_secrets) = RedactedMemory::of(memory);
        let mut all = self.pieces(&memory)?;
        let mut superseded = Vec::new();
        if gives_statements(&memory) {
            let made = self.without_echoes(&memory, &mut all)?;
            all.extend(self.merged(made)?);
            superseded = self.judged(&mut all)?;
        }
        let (stored, _) = self.completed(all, Some(&memory))?;
        self.store.exchange(&[], &stored, &superseded)?;
        self.count_redacted(n_secrets);
        // The session's context holds this text until it is compacted.
        if !memory.session_id.is_empty() {
            let ids: Vec<Uuid> = stored.iter().map(|(memory, _)| memory.id).collect();
            // The text is stored. Without this record, the session may only receive it once more.
            if let Err(e) = self.store.give(&memory.session_id, &ids) {
                tracing::debug!("a stored text is not recorded as received: {e}");
            }
        }
        Ok(memory.id)
    }

    /// Stores a note that a person or an agent wrote down on purpose, and returns its id. A note that
    /// says what another one says is not stored again: the other one's id is returned, and whether
    /// there was one.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture`].
    pub fn remember(&self, note: Memory) -> Result<(Uuid, bool), CaptureError> {
        let (note, n_secrets) = RedactedMemory::of(note);
        let is_equal = |m: &&Memory| {
            authority::is_equal(&m.content, &note.content)
                && m.source == note.source
                && m.group_id == note.group_id
                && m.derived_from.is_empty()
                && m.superseded_by.is_none()
                && m.speaker() >= note.speaker()
        };
        let known = self.known()?;
        if let Some(before) = known.iter().find(is_equal) {
            if note.pinned && !before.pinned {
                self.capture(Memory { pinned: true, ..before.clone() })?;
            }
            return Ok((before.id, true));
        }
        let mut new = vec![Memory::clone(&note)];
        let superseded = authority::judge(&mut new, &known);
        let (stored, _) = self.completed(new, Some(&note))?;
        self.store.exchange(&[], &stored, &superseded)?;
        self.count_redacted(n_secrets);
        Ok((stored[0].0.id, false))
    }

    /// Returns the newest statements, notes and answers.
    fn known(&self) -> Result<Vec<Memory>, CaptureError> {
        let sources = [EpisodeSource::Text, EpisodeSource::Message, EpisodeSource::Json]
            .map(EpisodeSource::as_str)
            .into_iter()
            .chain(["claude_response"]);
        let sources = sources.map(String::from).collect();
        Ok(self.store.select(&Select { sources, limit: COMPARED, ..Select::default() })?)
    }

    /// Compares new memories with what is stored ([`authority::judge`]).
    fn judged(&self, new: &mut [Memory]) -> Result<Vec<(Uuid, Uuid)>, CaptureError> {
        if !new.iter().any(authority::makes_claims) {
            return Ok(Vec::new());
        }
        Ok(authority::judge(new, &self.known()?))
    }

    /// Returns the statements of a text without those in which an agent repeats what this session
    /// received. An answer that says nothing else is superseded by what it repeats.
    fn without_echoes(
        &self,
        origin: &Memory,
        pieces: &mut [Memory],
    ) -> Result<Vec<Memory>, CaptureError> {
        let mut made = statements::memories(origin);
        if origin.speaker() == Speaker::Person || origin.session_id.is_empty() {
            return Ok(made);
        }
        let mut received = Vec::new();
        for id in self.store.given(&origin.session_id)? {
            received.extend(self.store.get(id)?.filter(|m| m.source.operation().is_none()));
        }
        made.retain(|m| {
            received.iter().all(|r| r.id != m.id)
                && authority::repeated(&m.content, &received).is_none()
        });
        let is_told = |m: &Memory| {
            !matches!(m.source, MemorySource::HookDescription { .. }) && m.id != origin.id
        };
        received.retain(is_told);
        for piece in pieces {
            piece.superseded_by = authority::repeated(&piece.content, &received).map(|m| m.id);
        }
        Ok(made)
    }

    /// Returns the text as one memory, or as several pieces if it is too long for one. The first
    /// piece has the id of the text; the others are derived from it.
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

    /// Returns the statements as they are stored: a statement that was stored before keeps its
    /// history. A statement that the user edited is left alone.
    fn merged(&self, made: Vec<Memory>) -> Result<Vec<Memory>, CaptureError> {
        let mut all = Vec::new();
        for new in made {
            let Some(before) = self.store.get(new.id)? else {
                all.push(new);
                continue;
            };
            if statements::id_of(&before.content) == new.id {
                // A person can renew what did not hold by saying it again. An agent cannot, because it
                // does not outrank a person.
                let superseded_by =
                    before.superseded_by.filter(|_| new.speaker() == Speaker::Agent);
                let said_by = before.speaker().max(new.speaker());
                let mut derived_from = before.derived_from;
                derived_from.retain(|id| !new.derived_from.contains(id));
                derived_from.extend(&new.derived_from);
                all.push(Memory {
                    derived_from,
                    name: before.name,
                    pinned: before.pinned,
                    group_id: before.group_id,
                    said_by: Some(said_by),
                    superseded_by,
                    ..new
                });
            }
        }
        Ok(all)
    }

    /// Stores a memory unchanged except for its secrets.
    ///
    /// # Errors
    /// When it is empty or too long, or embedding or storing fails.
    pub fn capture(&self, memory: Memory) -> Result<Uuid, CaptureError> {
        let ((memory, vectors), n_secrets) = self.complete(memory)?;
        self.store.store(&memory, &vectors)?;
        self.count_redacted(n_secrets);
        Ok(memory.id)
    }

    /// A failure to count does not undo what was stored.
    fn count_redacted(&self, n_secrets: usize) {
        if let Err(e) = self.store.count_redacted(n_secrets) {
            tracing::debug!("{n_secrets} secrets were taken out, and that is not counted: {e}");
        }
    }

    /// Returns the memory as it is stored, and how many secrets were removed.
    fn complete(&self, memory: Memory) -> Result<(Stored, usize), CaptureError> {
        let (mut stored, n_secrets) = self.completed(vec![memory], None)?;
        Ok((stored.pop().ok_or(CaptureError::EmptyContent)?, n_secrets))
    }

    /// Returns several memories, which may be made of one `text`, as they are stored, and how many
    /// secrets were removed.
    fn completed(
        &self,
        memories: Vec<Memory>,
        text: Option<&RedactedMemory>,
    ) -> Result<(Vec<Stored>, usize), CaptureError> {
        if memories.iter().any(|m| m.content.trim().is_empty()) {
            return Err(CaptureError::EmptyContent);
        }
        let (mut memories, n_secrets) = redacted(memories.into_iter(), text);
        if let Some((root, graph)) = &self.code {
            for memory in memories.iter_mut().filter(|m| m.code.is_empty() && is_statement(m)) {
                memory.tie_to(code::references(&memory.content, root, graph));
            }
        }
        Ok((self.with_vectors(memories)?, n_secrets))
    }

    /// Deletes a memory and everything derived from it: the summary of its session is made anew;
    /// statements that no other text contains, and git episodes that rest on it, are deleted. All
    /// pieces of a text are deleted together. Returns false if there is no such memory.
    ///
    /// # Errors
    /// When the database cannot be read or written. Nothing is deleted then.
    pub fn forget(&self, id: Uuid) -> Result<bool, CaptureError> {
        let Some(memory) = self.store.get(id)? else { return Ok(false) };
        let memory = match self.store.get(head_of(&memory))? {
            Some(first) => first,
            None => memory,
        };
        let (mut gone, new) = self.derived(&memory, None)?;
        gone.extend([id, memory.id]);
        self.store.exchange(&gone, &new, &[])?;
        Ok(true)
    }

    /// Changes the content of a memory. What was derived from the former content is made anew or
    /// deleted.
    ///
    /// # Errors
    /// As [`MemoryCaptureService::capture`].
    pub fn change(&self, mut memory: Memory) -> Result<(), CaptureError> {
        if let MemorySource::HookDescription { file_path, .. } = &mut memory.source {
            // The memory is about the file that it names.
            *file_path = file_path.take().filter(|path| memory.content.contains(path));
        }
        let before = self.store.get(memory.id)?;
        let (stored, n_secrets) = self.complete(memory)?;
        let (gone, mut new) = match &before {
            Some(before) => self.derived(before, Some(&stored.0))?,
            None => (Vec::new(), Vec::new()),
        };
        new.push(stored);
        self.store.exchange(&gone, &new, &[])?;
        self.count_redacted(n_secrets);
        Ok(())
    }

    /// Returns which derived memories to delete and which to store when a memory is deleted or
    /// changed.
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
        // Memories derived by an older version do not name their origin.
        let is_context = |m: &Memory| matches!(&m.source, MemorySource::Episode(e) if e.source == EpisodeSource::GitContext);
        let is_of = |m: &Memory| {
            m.derived_from.contains(&memory.id)
                || m.derived_from.contains(&head)
                || is_context(m) && m.derived_from.is_empty() && m.content.contains(&text)
        };
        // The statements of the new content, of all pieces if there are several.
        let mut made = Vec::new();
        if let Some(becomes) = becomes.filter(|b| gives_statements(b)) {
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
                    // Another prompt or answer may contain the same statement.
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
        let new = self.completed(new, None).map_or_else(
            |_| {
                // A summary that cannot be embedded is deleted, so that it does not show deleted
                // content.
                gone.extend(ids);
                Vec::new()
            },
            |(new, _)| new,
        );
        Ok((gone, new))
    }

    /// Returns the memories that may derive from this one: all of its session (oldest first), its
    /// other pieces, and its statements.
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

    /// Returns a statement without one of its origins; it then belongs to the session of the last
    /// origin left. `None`: no origin is left.
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

    /// Replaces the pieces stored for a file, if its content changed. Returns the new ones, or
    /// `None` if the content is the same. If the file is not text, the stored pieces stay.
    pub(super) fn capture_file(
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
        // A piece can consist of blanks only.
        let pieces = pieces.into_iter().filter(|piece| piece.word_count > 0);
        let (new, n_secrets) = self.prepared(pieces.map(|piece| of_piece(piece, session_id)))?;
        let ids = new.iter().map(|(memory, _)| memory.id).collect();
        self.store.replace_file(path, Some(&hash), &new)?;
        self.count_redacted(n_secrets);
        Ok(Some(ids))
    }

    /// Returns the memories as they are stored, with vectors and without secrets, and how many
    /// secrets were removed.
    pub(super) fn prepared(
        &self,
        memories: impl Iterator<Item = Memory>,
    ) -> Result<(Vec<Stored>, usize), CaptureError> {
        let (memories, n_secrets) = redacted(memories, None);
        Ok((self.with_vectors(memories)?, n_secrets))
    }

    /// Makes at most `most` of the vectors that are still missing because the embedder is slow.
    /// Returns how many it made.
    ///
    /// # Errors
    /// When the embedder or the database fails.
    pub fn embed_rest(&self, most: usize) -> Result<usize, CaptureError> {
        if self.embedder.is_immediate() { Ok(0) } else { self.embed_lacking(most) }
    }

    /// Makes the vectors of memories that were stored under another embedder, the newest first,
    /// if the present embedder is immediate. A later call makes what is left of many.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn embed_stored(&self) -> Result<(), CaptureError> {
        let mark = mark_of(&*self.embedder);
        if !self.embedder.is_immediate() || self.store.complete_embedder()? == mark {
            return Ok(());
        }
        if self.embed_lacking(AT_ONCE)? < AT_ONCE {
            self.store.set_complete_embedder(mark)?;
        }
        Ok(())
    }

    /// Notes that memories may be stored from now on that have no vector of the former embedder. In a
    /// new database, all of them have vectors of the present one.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn note_embedder(&self) -> Result<(), CaptureError> {
        let (mark, before) = (mark_of(&*self.embedder), self.store.complete_embedder()?);
        let is_complete = self.embedder.is_immediate() && self.store.generation()? == 0;
        let now = if is_complete || before == mark { mark } else { 0 };
        if now != before {
            self.store.set_complete_embedder(now)?;
        }
        Ok(())
    }

    fn embed_lacking(&self, most: usize) -> Result<usize, CaptureError> {
        let memories = self.store.without_vector(self.embedder.id(), most)?;
        let n = memories.len();
        let vectors = self.make_vectors(memories.iter())?;
        let made: Vec<(Memory, Vec<Vector>)> = memories.into_iter().zip(vectors).collect();
        if n > 0 {
            self.store.put_vectors(&made)?;
        }
        Ok(n)
    }

    /// Returns memories with their vectors; without any if the embedder is not immediate.
    fn with_vectors(&self, memories: Vec<RedactedMemory>) -> Result<Vec<Stored>, EmbedError> {
        let vectors = if self.embedder.is_immediate() {
            self.make_vectors(memories.iter().map(|memory| &**memory))?
        } else {
            vec![Vec::new(); memories.len()]
        };
        Ok(memories.into_iter().zip(vectors).collect())
    }

    fn make_vectors<'a>(
        &self,
        memories: impl Iterator<Item = &'a Memory>,
    ) -> Result<Vec<Vec<Vector>>, EmbedError> {
        let chunks: Vec<_> = memories.map(chunk_of).collect();
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

/// Returns memories as they are stored, which may be made of one `text`, and how many secrets were
/// removed.
fn redacted(
    memories: impl Iterator<Item = Memory>,
    text: Option<&RedactedMemory>,
) -> (Vec<RedactedMemory>, usize) {
    let redacted = memories.map(|memory| RedactedMemory::for_store(memory, text));
    let (memories, n_secrets): (Vec<RedactedMemory>, Vec<usize>) = redacted.unzip();
    (memories, n_secrets.iter().sum())
}

/// Returns what the database notes of an embedder; never 0.
fn mark_of(embedder: &dyn Embedder) -> i64 {
    (xxh3_64(embedder.id().as_bytes()) | 1).cast_signed()
}

/// Returns whether the memory is a statement about code, which later changes can make false. Events
/// stay true.
fn is_statement(memory: &Memory) -> bool {
    authority::is_said(memory) || memory.is_answer()
}

/// Returns whether the memory is the text of a hook or an agent's answer, and not a summary made of
/// them.
fn is_text(memory: &Memory) -> bool {
    memory.is_answer() || matches!(memory.source, MemorySource::HookDescription { .. })
}

/// Returns whether the text comes from a person or agent who may decide something.
fn gives_statements(memory: &Memory) -> bool {
    memory.is_prompt() || memory.is_answer()
}

/// The id of a piece follows from the id of its text, so that storing the text again gives the same
/// ids.
fn piece_id(head: Uuid, index: u32) -> Uuid {
    let of_piece = [head.as_bytes().as_slice(), &index.to_le_bytes()].concat();
    if index == 0 {
        head
    } else {
        Builder::from_custom_bytes(xxh3_128(&of_piece).to_be_bytes()).into_uuid()
    }
}

/// Returns the id of the first piece of a text, or the memory's own id.
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
