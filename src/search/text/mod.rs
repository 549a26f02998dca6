//! The full-text index of chunks, in tantivy. No other module names tantivy.
//! tantivy stores the postings but does not score: its statistics count deleted documents until a
//! merge, and its sums depend on the segment layout, so equal chunks could rank differently after
//! an update than after a restart. A reader returns the postings of a term
//! ([`TextReader::postings`]) without deleted documents, and `bm25` computes the scores.

mod directory;
mod few;
mod reader;

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::collector::DocSetCollector;
use tantivy::directory::{Directory as _, OwnedBytes};
use tantivy::fastfield::AliveBitSet;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{QueryParser, QueryParserError};
use tantivy::schema::{FAST, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{
    DocSet, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher,
    TantivyDocument, TantivyError, Term,
};

use self::directory::Overlay;
pub(super) use self::few::{ChunkTerms, FewTexts};
pub(super) use self::reader::TextReader;
use super::Slot;
use super::damage::Health;
use super::tokens::{Analyzed, Analyzer, Kind};
use crate::chunk::{Chunk, SaveWriter, SavedFiles};

const TOKENIZER: &str = "identifiers";
/// tantivy's list of segments.
const META: &str = "meta.json";
/// How often a commit is looked at until no merge ends meanwhile.
const MAX_LOOKS: usize = 100;
/// The files of a commit, with the content of those that are not saved yet.
type NewFiles = Vec<(PathBuf, Option<OwnedBytes>)>;
/// Memory of each indexing thread.
const ARENA_BYTES: usize = 48 << 20;
/// More threads would only make more segments.
const MAX_THREADS: usize = 4;
/// Up to this many chunks are indexed by one thread in the smallest arena, because allocating more
/// would take longer than indexing them.
const FEW: usize = 1_000;
const SMALL_ARENA_BYTES: usize = 15 << 20;
/// From this many segments on, even a process that may soon end merges them.
const MANY_SEGMENTS: usize = 16;

/// The searchable parts of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Title and names of definitions.
    Name,
    /// File path.
    Path,
    /// Declarations.
    Signature,
    /// Leading comments and documentation strings.
    Comment,
    /// Name of the enclosing symbol.
    Parent,
    /// The whole text.
    Body,
}

impl Field {
    pub(super) const ALL: [Self; 6] =
        [Self::Name, Self::Path, Self::Signature, Self::Comment, Self::Parent, Self::Body];

    /// Returns the name used in `field:term`.
    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Path => "path",
            Self::Signature => "signature",
            Self::Comment => "comment",
            Self::Parent => "parent",
            Self::Body => "body",
        }
    }

    /// Signatures, comments and parents repeat words of the body, so phrases are searched only
    /// there.
    fn recorded(self) -> IndexRecordOption {
        match self {
            Self::Name | Self::Path | Self::Body => IndexRecordOption::WithFreqsAndPositions,
            Self::Signature | Self::Comment | Self::Parent => IndexRecordOption::WithFreqs,
        }
    }

    /// Returns the text of a chunk for this field.
    fn text(self, chunk: &Chunk) -> String {
        let m = &chunk.metadata;
        match self {
            Self::Name => {
                // A title that equals the symbol path adds nothing to names and parent.
                let title = Some(&*chunk.title)
                    .filter(|t| m.names.is_empty() || m.symbol.as_deref() != Some(t));
                title
                    .into_iter()
                    .chain(m.names.iter().map(|n| n.name.as_str()))
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Self::Path => m.file_path.clone().unwrap_or_default(),
            Self::Signature => m.signature.clone().unwrap_or_default(),
            Self::Comment => comment(chunk),
            Self::Parent => m.parent.clone().unwrap_or_default(),
            Self::Body => String::new(),
        }
    }
}

/// Returns the comment lines of a chunk's text.
fn comment(chunk: &Chunk) -> String {
    let first = chunk.metadata.start_line.unwrap_or(1);
    let in_comment =
        |l: u32| chunk.metadata.comment_lines.iter().any(|(a, b)| (*a..=*b).contains(&l));
    if chunk.metadata.comment_lines.is_empty() {
        return String::new();
    }
    (first..)
        .zip(chunk.text.lines())
        .filter(|(l, _)| in_comment(*l))
        .map(|(_, t)| t)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Why an exact query is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}. {HELP}")]
pub struct ExactError {
    message: String,
}

impl ExactError {
    /// Returns the message without the advice.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// The index could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the text index failed: {0}")]
pub struct TextError(#[from] TantivyError);

const HELP: &str = "Exact queries take words (all must occur), \"a phrase\", OR, +word, -word, (groups) and field:word with one of the fields \
name, path, signature, comment, parent, body; put quotes around text with other punctuation";

/// The text index that updates change. It has one owner; readers use [`TextReader`]s.
pub(super) struct TextIndex {
    index: Index,
    directory: Overlay,
    /// Created at the first change, because its threads and memory are only for changes.
    writer: Option<IndexWriter>,
    reader: IndexReader,
    fields: Fields,
    /// Data of the segments that still exist.
    segments: HashMap<tantivy::index::SegmentId, Arc<Segment>>,
    /// Whether the next commit is the first change of a saved index: the process may then serve
    /// only one query.
    is_first: bool,
    health: Arc<Health>,
}

/// The fields of the index.
fn schema() -> Schema {
    let mut schema = Schema::builder();
    for f in Field::ALL {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(f.recorded())
            .set_fieldnorms(f == Field::Body);
        schema.add_text_field(f.as_str(), TextOptions::default().set_indexing_options(indexing));
    }
    schema.add_u64_field("slot", INDEXED | FAST);
    schema.build()
}

#[derive(Clone)]
struct Fields {
    text: [tantivy::schema::Field; Field::ALL.len()],
    slot: tantivy::schema::Field,
}

/// Per document of a segment: its chunk, and the length of its body.
struct Segment {
    slots: Vec<Slot>,
    /// In tantivy's encoding; see [`Lengths`].
    lengths: Vec<u8>,
}

impl Segment {
    fn of(&self, doc: tantivy::DocId) -> (Slot, u8) {
        (self.slots[doc as usize], self.lengths[doc as usize])
    }
}

impl TextIndex {
    /// Creates an empty index in memory.
    pub(super) fn in_memory() -> Result<Self, TextError> {
        let directory = Overlay::default();
        let index = Index::create(directory.clone(), schema(), IndexSettings::default())?;
        Self::over(index, directory)
    }

    /// Opens a saved index with a reader. Later changes stay in memory.
    pub(super) fn open(
        saved: Arc<dyn SavedFiles>,
        keep: bool,
    ) -> Result<(Self, IndexedText), TextError> {
        let directory = Overlay::over(saved, keep);
        let index = Index::open(directory.clone())?;
        if index.schema() != schema() {
            return Err(TantivyError::SchemaError("it has other fields".into()).into());
        }
        let mut this = Self {
            is_first: true,
            health: Arc::new(Health::of_saved()),
            ..Self::over(index, directory)?
        };
        let reader = this.snapshot()?;
        Ok((this, reader))
    }

    fn over(index: Index, directory: Overlay) -> Result<Self, TextError> {
        index.tokenizers().register(TOKENIZER, IndexTokenizer::default());
        let schema = index.schema();
        let field = |name: &str| schema.get_field(name);
        let mut text = [field("slot")?; Field::ALL.len()];
        for (field, id) in Field::ALL.into_iter().zip(&mut text) {
            *id = schema.get_field(field.as_str())?;
        }
        let fields = Fields { text, slot: field("slot")? };
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            index,
            directory,
            writer: None,
            reader,
            fields,
            segments: HashMap::new(),
            is_first: false,
            health: Arc::default(),
        })
    }

    /// Prepares for a change that adds `n_added` chunks.
    pub(super) fn begin(&mut self, n_added: usize) -> Result<(), TextError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None if self.is_first && n_added <= FEW => {
                self.index.writer_with_num_threads(1, SMALL_ARENA_BYTES)?
            }
            None => {
                let threads =
                    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
                self.index.writer_with_num_threads(threads, threads * ARENA_BYTES)?
            }
        };
        // A merge is not started if the end of the process would interrupt it.
        let merges = !self.is_first || self.segments.len() >= MANY_SEGMENTS;
        writer.set_merge_policy(if merges {
            Box::new(LogMergePolicy::default())
        } else {
            Box::new(NoMergePolicy)
        });
        self.writer = Some(writer);
        Ok(())
    }

    /// Available after [`TextIndex::begin`].
    fn writer(&self) -> Result<&IndexWriter, TextError> {
        self.writer
            .as_ref()
            .ok_or_else(|| TantivyError::SystemError("a change was not begun".into()).into())
    }

    /// Saves the last commit.
    pub(super) fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()> {
        let (meta, files) = self.last_commit()?;
        for (path, bytes) in files {
            let name = path.to_str().unwrap_or_default();
            match (bytes, self.directory.saved()) {
                (Some(bytes), _) => saving.put(name, &bytes)?,
                // The list names files that a segment may lack.
                (None, Some(saved)) if saved.open(name).is_ok() => saving.keep(name, &**saved)?,
                _ => {}
            }
        }
        saving.put(META, &meta)
    }

    /// Returns the description of the last commit and its files, with the content of the new ones.
    /// Segments are merged meanwhile, and the files of the old ones removed, so the description must be
    /// the same after all files were opened.
    fn last_commit(&self) -> io::Result<(Vec<u8>, NewFiles)> {
        let describe = || self.directory.atomic_read(Path::new(META)).map_err(io::Error::other);
        for _ in 0..MAX_LOOKS {
            let meta = describe()?;
            let names = self.index.load_metas().map_err(io::Error::other)?.list_segment_files();
            let open = |path: PathBuf| match self.directory.new_file(&path) {
                Some(bytes) => Ok((path, Some(bytes?))),
                None => Ok((path, None)),
            };
            let files = names.into_iter().map(open).collect::<io::Result<_>>()?;
            if describe()? == meta {
                return Ok((meta, files));
            }
        }
        Err(io::Error::other("segments are merged all the time"))
    }

    /// Removes chunks at the next [`TextIndex::commit`].
    pub(super) fn remove(&mut self, slots: &[Slot]) -> Result<(), TextError> {
        let field = self.fields.slot;
        for slot in slots {
            self.writer()?.delete_term(Term::from_field_u64(field, u64::from(*slot)));
        }
        Ok(())
    }

    /// Adds a chunk at the next [`TextIndex::commit`]. After an error the index must not be used
    /// again.
    pub(super) fn add(&mut self, slot: Slot, chunk: &Chunk) -> Result<(), TextError> {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.slot, u64::from(slot));
        for (field, id) in Field::ALL.into_iter().zip(self.fields.text) {
            if field == Field::Body {
                document.add_text(id, &chunk.text);
            } else {
                let text = field.text(chunk);
                if !text.is_empty() {
                    document.add_text(id, text);
                }
            }
        }
        self.writer()?.add_document(document)?;
        Ok(())
    }

    /// Commits additions and removals and returns a reader. After an error the index must not be
    /// used again.
    pub(super) fn commit(&mut self) -> Result<IndexedText, TextError> {
        if let Some(writer) = &mut self.writer {
            writer.commit()?;
        }
        if std::mem::take(&mut self.is_first)
            && self.segments.len() >= MANY_SEGMENTS
            && let Some(writer) = self.writer.take()
        {
            writer.wait_merging_threads()?;
        }
        self.reader.reload()?;
        self.snapshot()
    }

    fn snapshot(&mut self) -> Result<IndexedText, TextError> {
        let searcher = self.reader.searcher();
        let body = self.fields.text[Field::Body as usize];
        let mut segments = HashMap::new();
        let mut in_order = Vec::new();
        for reader in searcher.segment_readers() {
            let segment = match self.segments.get(&reader.segment_id()) {
                Some(known) => known.clone(),
                None => {
                    let slots = reader.fast_fields().u64("slot")?;
                    let norms = reader.get_fieldnorms_reader(body)?;
                    let slot_of = |d| {
                        slots.first(d).and_then(|s| Slot::try_from(s).ok()).unwrap_or(Slot::MAX)
                    };
                    Arc::new(Segment {
                        slots: (0..reader.max_doc()).map(slot_of).collect(),
                        lengths: (0..reader.max_doc()).map(|d| norms.fieldnorm_id(d)).collect(),
                    })
                }
            };
            segments.insert(reader.segment_id(), segment.clone());
            in_order.push(segment);
        }
        self.segments = segments;
        let (mut n_chunks, mut total_length) = (0u64, 0u64);
        for (reader, segment) in searcher.segment_readers().iter().zip(&in_order) {
            for doc in reader.doc_ids_alive() {
                n_chunks += 1;
                total_length +=
                    u64::from(FieldNormReader::id_to_fieldnorm(segment.lengths[doc as usize]));
            }
        }
        Ok(IndexedText {
            searcher,
            segments: in_order,
            fields: self.fields.clone(),
            n_chunks,
            total_length,
            health: self.health.clone(),
        })
    }
}

/// A posting: a chunk and the frequency of the term in the field.
pub(super) struct Posting {
    pub(super) slot: Slot,
    pub(super) frequency: u32,
    /// Number of terms in the chunk's body in tantivy's encoding, an index into [`Lengths`].
    pub(super) length: u8,
}

/// Frequencies of terms in each field of a chunk, in the order of [`Field::ALL`].
pub(super) type Frequencies = [u32; Field::ALL.len()];

/// Frequencies in all fields of a chunk.
pub(super) struct Occurrences {
    pub(super) slot: Slot,
    pub(super) place: DocAddress,
    pub(super) length: u8,
    pub(super) frequencies: Frequencies,
}

/// The address of a chunk in the index: its segment, and its document there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocAddress(u32, u32);

impl DocAddress {
    fn new(segment: usize, doc: tantivy::DocId) -> Self {
        Self(u32::try_from(segment).unwrap_or(u32::MAX), doc)
    }
}

/// A value for each encoded length of a body.
pub(super) struct Lengths([f32; 256]);

impl Lengths {
    /// `of` computes the value for a length in terms.
    pub(super) fn new(of: impl Fn(f32) -> f32) -> Self {
        let mut id = 0u8;
        Self([(); 256].map(|()| {
            let number = of(FieldNormReader::id_to_fieldnorm(id) as f32);
            id = id.wrapping_add(1);
            number
        }))
    }

    pub(super) fn get(&self, length: u8) -> f32 {
        self.0[usize::from(length)]
    }
}

/// An open postings list.
struct Opened<'a> {
    segment: &'a Segment,
    alive: Option<&'a AliveBitSet>,
    postings: SegmentPostings,
}

/// An immutable view of an index in tantivy.
#[derive(Clone)]
pub(super) struct IndexedText {
    searcher: Searcher,
    segments: Vec<Arc<Segment>>,
    fields: Fields,
    n_chunks: u64,
    total_length: u64,
    health: Arc<Health>,
}

impl IndexedText {
    /// The state of the files that this reads.
    pub(super) fn health(&self) -> &Health {
        &self.health
    }

    /// Number of live chunks, and the sum of the lengths of their bodies, in terms.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.n_chunks, self.total_length)
    }

    /// Visits every live chunk that holds `term` in `field`.
    pub(super) fn postings(
        &self,
        field: Field,
        term: &str,
        mut visit: impl FnMut(Posting),
    ) -> Result<(), TextError> {
        for at in 0..self.segments.len() {
            let Some(Opened { segment, alive, mut postings }) =
                self.open(at, field, term, IndexRecordOption::WithFreqs)?
            else {
                continue;
            };
            let mut doc = postings.doc();
            while doc != tantivy::TERMINATED {
                if alive.is_none_or(|a| a.is_alive(doc)) {
                    let (slot, length) = segment.of(doc);
                    visit(Posting { slot, frequency: postings.term_freq(), length });
                }
                doc = postings.advance();
            }
        }
        Ok(())
    }

    /// Visits, once, every live chunk that holds any of some terms in any field; the frequencies of
    /// equal terms are added.
    pub(super) fn occurrences(
        &self,
        terms: &[String],
        mut visit: impl FnMut(Occurrences),
    ) -> Result<(), TextError> {
        // By document of a segment, which is small enough for the processor's cache. Cleared
        // between segments.
        let mut counted: Vec<Frequencies> = Vec::new();
        let mut holding = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let alive = self.searcher.segment_readers()[at].alive_bitset();
            let mut visit = |doc: tantivy::DocId, frequencies: Frequencies| {
                if alive.is_none_or(|a| a.is_alive(doc)) {
                    let (slot, length) = segment.of(doc);
                    visit(Occurrences {
                        slot,
                        place: DocAddress::new(at, doc),
                        length,
                        frequencies,
                    });
                }
            };
            let mut bodies = Vec::new();
            for (f, field) in Field::ALL.into_iter().enumerate() {
                for term in terms {
                    let Some(Opened { mut postings, .. }) =
                        self.open(at, field, term, IndexRecordOption::WithFreqs)?
                    else {
                        continue;
                    };
                    // Most terms occur in few segments.
                    if counted.len() < segment.slots.len() {
                        counted.resize(segment.slots.len(), Frequencies::default());
                    }
                    if field == Field::Body {
                        bodies.push(postings);
                        continue;
                    }
                    while postings.doc() != tantivy::TERMINATED {
                        let frequencies = &mut counted[postings.doc() as usize];
                        if *frequencies == Frequencies::default() {
                            holding.push(postings.doc());
                        }
                        frequencies[f] += postings.term_freq();
                        postings.advance();
                    }
                }
            }
            // Bodies hold nearly all occurrences, so these are not collected first.
            while let Some(doc) = bodies
                .iter()
                .map(SegmentPostings::doc)
                .min()
                .filter(|doc| *doc != tantivy::TERMINATED)
            {
                let mut frequencies = std::mem::take(&mut counted[doc as usize]);
                for postings in bodies.iter_mut().filter(|p| p.doc() == doc) {
                    frequencies[Field::Body as usize] += postings.term_freq();
                    postings.advance();
                }
                visit(doc, frequencies);
            }
            for doc in holding.drain(..) {
                let frequencies = std::mem::take(&mut counted[doc as usize]);
                if frequencies != Frequencies::default() {
                    visit(doc, frequencies);
                }
            }
        }
        Ok(())
    }

    /// Returns whether any live chunk holds `term` in `field`.
    pub(super) fn contains(&self, field: Field, term: &str) -> Result<bool, TextError> {
        for at in 0..self.segments.len() {
            let Some(Opened { alive, mut postings, .. }) =
                self.open(at, field, term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            while postings.doc() != tantivy::TERMINATED {
                if alive.is_none_or(|a| a.is_alive(postings.doc())) {
                    return Ok(true);
                }
                postings.advance();
            }
        }
        Ok(false)
    }

    /// Visits every term of a field, with the number of chunks that have it. A term may be visited
    /// several times, and chunks that were deleted may count.
    pub(super) fn terms(
        &self,
        field: Field,
        mut visit: impl FnMut(&str, u32),
    ) -> Result<(), TextError> {
        for reader in self.searcher.segment_readers() {
            let index = reader.inverted_index(self.fields.text[field as usize])?;
            let mut terms = index.terms().stream().map_err(TantivyError::from)?;
            while terms.advance() {
                if let Ok(term) = std::str::from_utf8(terms.key()) {
                    visit(term, terms.value().doc_freq);
                }
            }
        }
        Ok(())
    }

    /// Visits the positions of `term` in the bodies of given chunks. `places` are their addresses,
    /// in order; `visit` receives the index of the chunk in it.
    pub(super) fn positions(
        &self,
        term: &str,
        places: &[DocAddress],
        mut visit: impl FnMut(usize, &[u32]),
    ) -> Result<(), TextError> {
        let mut found = Vec::new();
        let mut first = 0;
        for of_segment in places.chunk_by(|a, b| a.0 == b.0) {
            let numbered = (first..).zip(of_segment);
            first += of_segment.len();
            let open = self.open(
                of_segment[0].0 as usize,
                Field::Body,
                term,
                IndexRecordOption::WithFreqsAndPositions,
            )?;
            let Some(Opened { mut postings, .. }) = open else { continue };
            for (i, place) in numbered {
                if postings.doc() < place.1 {
                    postings.seek(place.1);
                }
                if postings.doc() == place.1 {
                    postings.positions(&mut found);
                    visit(i, &found);
                }
            }
        }
        Ok(())
    }

    /// Opens the postings list of a term in segment number `n`, if the segment has the term.
    fn open(
        &self,
        at: usize,
        field: Field,
        term: &str,
        option: IndexRecordOption,
    ) -> Result<Option<Opened<'_>>, TextError> {
        let (reader, field) =
            (&self.searcher.segment_readers()[at], self.fields.text[field as usize]);
        let postings = reader
            .inverted_index(field)?
            .read_postings(&Term::from_field_text(field, term), option);
        let opened = |postings| Opened {
            segment: &self.segments[at],
            alive: reader.alive_bitset(),
            postings,
        };
        Ok(postings.map_err(TantivyError::from)?.map(opened))
    }

    /// Returns every chunk that matches an exact query, in no particular order.
    pub(super) fn matching(&self, query: &str) -> Result<Vec<Slot>, ExactError> {
        check_size(query)?;
        let tokenizers = TokenizerManager::new();
        tokenizers.register(TOKENIZER, ExactTokenizer::default());
        let default =
            [Field::Body, Field::Name, Field::Path].map(|f| self.fields.text[f as usize]).to_vec();
        let mut parser = QueryParser::new(self.searcher.schema().clone(), default, tokenizers);
        parser.set_conjunction_by_default();
        let parsed =
            parser.parse_query(query).map_err(|e| ExactError { message: explain(&e, query) })?;
        let failed = |e: TantivyError| {
            self.health.note(&e);
            ExactError { message: format!("the query could not be run: {e}") }
        };
        let found = self.searcher.search(&parsed, &DocSetCollector).map_err(failed)?;
        Ok(found
            .into_iter()
            .map(|a| self.segments[a.segment_ord as usize].slots[a.doc_id as usize])
            .collect())
    }
}

/// tantivy's query parser recurses for each bracket.
const MAX_NESTING: usize = 32;
const MAX_QUERY_BYTES: usize = 16_384;

fn check_size(query: &str) -> Result<(), ExactError> {
    let error = |message: &str| Err(ExactError { message: message.into() });
    if query.len() > MAX_QUERY_BYTES {
        return error("the query is longer than 16 384 bytes");
    }
    let nesting = query.bytes().scan(0usize, |depth, b| {
        match b {
            b'(' | b'[' | b'{' => *depth += 1,
            b')' | b']' | b'}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    if nesting.max().unwrap_or(0) > MAX_NESTING {
        error("the query has more than 32 brackets within each other")
    } else {
        Ok(())
    }
}

fn explain(e: &QueryParserError, query: &str) -> String {
    let query: String = query.chars().take(80).collect();
    match e {
        QueryParserError::SyntaxError(_) => format!("the query `{query}` is not well-formed"),
        QueryParserError::FieldDoesNotExist(field) => format!("there is no field `{field}`"),
        QueryParserError::FieldDoesNotHavePositionsIndexed(field) => {
            format!("`{field}` takes single words; phrases are for body, name and path")
        }
        QueryParserError::AllButQueryForbidden => {
            "a query must also say what to find, not only what to leave out".into()
        }
        other => format!("the query `{query}` is not understood: {other}"),
    }
}

/// Tokenizer for indexing: wholes, parts and marked stems.
#[derive(Clone, Default)]
struct IndexTokenizer {
    terms: Terms,
}

/// Tokenizer for exact queries: parts only, so that `loadChunks` is the phrase "load chunks".
#[derive(Clone, Default)]
struct ExactTokenizer {
    terms: Terms,
}

#[derive(Clone, Default)]
struct Terms {
    analyzer: Analyzer,
    /// The terms of the current text, one after the other.
    buffer: String,
    /// End in the buffer, position, range in the text.
    ends: Vec<(usize, usize, Range<usize>)>,
}

impl Terms {
    fn fill(&mut self, text: &str, keep: impl Fn(&Analyzed) -> bool) {
        self.buffer.clear();
        self.ends.clear();
        let (buffer, ends) = (&mut self.buffer, &mut self.ends);
        self.analyzer.terms(text, |term| {
            if keep(&term) {
                buffer.push_str(term.text);
                ends.push((buffer.len(), term.position, term.range));
            }
        });
    }

    fn stream(&self) -> Stream<'_> {
        Stream { terms: self, next: 0, start: 0, token: Token::default() }
    }
}

impl Tokenizer for IndexTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.terms.fill(text, |_| true);
        self.terms.stream()
    }
}

impl Tokenizer for ExactTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.terms.fill(text, |term| term.kind == Kind::Word);
        self.terms.stream()
    }
}

struct Stream<'a> {
    terms: &'a Terms,
    next: usize,
    start: usize,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((end, position, range)) = self.terms.ends.get(self.next) else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.terms.buffer[self.start..*end]);
        self.token.position = *position;
        self.token.offset_from = range.start;
        self.token.offset_to = range.end;
        self.start = *end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
