//! Saves a corpus to a cache and restores it.

use std::io;
use std::sync::{Arc, OnceLock};

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::corpus::{Corpus, CorpusBuilder};
use super::files::IndexedFile;
use super::history::History;
use super::references::{AllMentions, AllReferences, References};
use super::text::{TextIndex, TextReader};
use super::vector::VectorTable;
use crate::chunk::{ChunkSet, Entry, SaveWriter, SavedFiles};

const TABLE: &str = "corpus.bin";
const VECTORS: &str = "vectors.bin";
const HISTORY: &str = "history.bin";

/// The data of a corpus apart from its text index, vectors and entries.
#[derive(Encode, Decode)]
struct Table {
    dimensions: usize,
    /// By slot: the position of its entry in the set.
    rows: Vec<Option<u32>>,
    file_of: Vec<u32>,
    files: Vec<Arc<IndexedFile>>,
    references: AllReferences,
}

impl CorpusBuilder {
    /// Saves the corpus that this builder returned last.
    ///
    /// # Errors
    /// When a file cannot be written, or while the text index is being merged: saving can be tried
    /// again then.
    pub fn save(&self, corpus: &Corpus, saving: &mut dyn SaveWriter) -> io::Result<()> {
        let entries = corpus.set.all();
        let at: FxHashMap<*const Entry, u32> = entries.iter().map(Arc::as_ptr).zip(0..).collect();
        let row = |entry: &Option<Arc<Entry>>| match entry {
            None => Ok(None),
            Some(entry) => at.get(&Arc::as_ptr(entry)).map(|at| Some(*at)).ok_or_else(|| {
                io::Error::other("an entry is not in its set (this is a bug of cortex)")
            }),
        };
        let table = Table {
            dimensions: corpus.vectors.dimensions(),
            rows: corpus.rows.iter().map(row).collect::<io::Result<_>>()?,
            file_of: corpus.file_of.clone(),
            files: corpus.files.clone(),
            references: corpus.all_references(),
        };
        saving.put(TABLE, &bitcode::encode(&table))?;
        self.mentions.save(saving)?;
        saving.put(VECTORS, &corpus.vectors.to_bytes())?;
        saving.put(HISTORY, &bitcode::encode(&*corpus.history))?;
        self.text.save(saving)
    }

    /// Restores a corpus with the set that it was saved with; `None` if they do not match. `keep`:
    /// whether files that are read often stay in memory.
    #[must_use]
    pub fn open(
        saved: &Arc<dyn SavedFiles>,
        set: &Arc<ChunkSet>,
        dimensions: usize,
        keep: bool,
    ) -> Option<(Self, Corpus)> {
        let (table, (vectors, text, history)) = rayon::join(
            || bitcode::decode::<Table>(&saved.read(TABLE).ok()?).ok(),
            || {
                (
                    saved.open(VECTORS).ok().and_then(|file| VectorTable::read(dimensions, &*file)),
                    TextIndex::open(saved.clone(), keep),
                    saved.read(HISTORY).ok().and_then(|b| bitcode::decode::<History>(&b).ok()),
                )
            },
        );
        let (Table { dimensions: saved_dimensions, rows, file_of, files, references }, vectors) =
            table.zip(vectors)?;
        let (text, reader) = text.ok()?;
        let reader = TextReader::Indexed(reader);
        let history = history.filter(|h| h.fits(set.commits().len()))?;
        let n_live = rows.iter().flatten().count();
        let fits = saved_dimensions == dimensions
            && n_live == set.len()
            && reader.n_chunks() == n_live as u64
            && file_of.len() == rows.len()
            && references.covers(files.len())
            && file_of.iter().all(|f| (*f as usize) < files.len().max(1))
            && files.iter().flat_map(|f| &f.parts).all(|p| (p.slot as usize) < rows.len());
        if !fits {
            return None;
        }
        let entries = set.all();
        let rows = rows
            .into_iter()
            .map(|at| at.map(|at| entries.get(at as usize).cloned().ok_or(())).transpose());
        let rows: Vec<Option<Arc<Entry>>> = rows.collect::<Result<_, _>>().ok()?;
        let (mentions, history) = (AllMentions::Saved(saved.clone()), Arc::new(history));
        let builder = Self { text, places: None, rows, vectors, files, mentions, file_of, history };
        let corpus =
            builder.corpus(set.clone(), reader, OnceLock::from(References::from(references)));
        Some((builder, corpus))
    }
}
