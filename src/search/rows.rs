//! Selects the places of a file that results show.
//! A place is a whole function or section if it is not too long, otherwise one chunk; a short place
//! is shown with its neighbours. Which of its functions a reply shows is decided by `src/excerpt`.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Slot;
use super::evidence::{Evidence, MIN_COSINE};
use super::files::{FileChunk, IndexedFile, LineRange};
use super::hit::{Hit, Term};
use crate::chunk::{ChunkType, Entry};

/// Functions and sections with more lines are shown in part.
const MAX_LINES: u32 = 120;
/// Places with fewer lines are shown with their neighbours.
const MIN_LINES: u32 = 40;
/// Number of further chunks of a file that a result lists.
pub(super) const MAX_OTHERS: usize = 4;

/// Number of best chunks of a file from which lines are chosen.
pub(super) const MAX_PARTS: usize = 8;
/// The other chunks of a function around a chosen one are added, if it has at most this many lines.
pub(super) const MAX_FUNCTION: u32 = 1_000;

/// A place in a file.
#[derive(Debug, Clone)]
struct RowPlace {
    /// First and last line; `None` if its chunk has none.
    lines: Option<LineRange>,
    /// Its chunks.
    slots: Vec<Slot>,
    /// The best of its chunks.
    best: Slot,
    score: f64,
}

/// A file with its score.
pub(super) struct Ranked<'f> {
    /// Its number in the corpus.
    pub(super) at: u32,
    pub(super) file: &'f IndexedFile,
    pub(super) score: f64,
    pub(super) terms: Vec<Term>,
}

impl Evidence<'_> {
    /// Returns the `limit` best of some ranked files, each with its best place.
    pub(super) fn rows(&self, files: Vec<Ranked>, limit: usize) -> Vec<Hit> {
        let row = |Ranked { file, score, terms, .. }| {
            let place = self.best_place(file)?;
            let lines = place.lines.map(|lines| with_neighbours(lines, file));
            let place = RowPlace { lines, ..place };
            let others = self.others(file, &place);
            self.hit(file, &place, score, terms, others)
        };
        files.into_iter().take(limit).filter_map(row).collect()
    }

    fn hit(
        &self,
        file: &IndexedFile,
        place: &RowPlace,
        score: f64,
        terms: Vec<Term>,
        others: Vec<Arc<Entry>>,
    ) -> Option<Hit> {
        let chunk = self.corpus.chunk(place.best)?;
        let coverage = self.lexical.coverage(place.best);
        Some(Hit {
            part: 0,
            path: file.path.clone(),
            chunk,
            lines: place.lines,
            line: None,
            definition: None,
            note: None,
            nth: 0,
            parts: self.best_parts(file, place),
            others,
            score,
            terms,
            changed_by: self.changed_by(self.corpus.file_of[place.best as usize]).cloned(),
            coverage,
        })
    }

    /// Returns the best chunks of a file with their scores, those of a place first, and after them
    /// the chunks without which a function would be shown in part.
    fn best_parts(&self, file: &IndexedFile, place: &RowPlace) -> Vec<(Arc<Entry>, f64)> {
        let mut parts: Vec<(bool, f64, &FileChunk)> = self
            .parts(file)
            .map(|p| (place.slots.contains(&p.slot), self.place_score(p), p))
            .collect();
        parts.sort_by(|a, b| {
            let by_id = || self.id(a.2.slot).cmp(self.id(b.2.slot));
            b.0.cmp(&a.0).then_with(|| b.1.total_cmp(&a.1)).then_with(by_id)
        });
        let rest = parts.split_off(parts.len().min(MAX_PARTS));
        let chosen: Vec<LineRange> = parts.iter().filter_map(|p| p.2.lines).collect();
        let is_begun = |f: &&LineRange| chosen.iter().any(|lines| meet(*lines, **f));
        let begun: Vec<LineRange> = file.functions.iter().filter(is_begun).copied().collect();
        let completes = |(_, _, part): &(bool, f64, &FileChunk)| {
            let lines = part.lines.filter(|_| part.chunk_type != ChunkType::Symbols);
            let needed = |f: &LineRange| if f.1 - f.0 < MAX_FUNCTION { *f } else { (f.0, f.0) };
            lines.is_some_and(|lines| begun.iter().any(|f| meet(lines, needed(f))))
        };
        parts.extend(rest.into_iter().filter(completes));
        let entry = |(_, score, part): (bool, f64, &FileChunk)| {
            Some((self.corpus.entry(part.slot)?.clone(), score))
        };
        parts.into_iter().filter_map(entry).collect()
    }

    /// Returns further matching chunks of the file, outside the shown place.
    fn others(&self, file: &IndexedFile, shown: &RowPlace) -> Vec<Arc<Entry>> {
        let matches = |s: &Slot| self.lexical.fields(*s) > 0.0 || self.cosine(*s) >= MIN_COSINE;
        let apart = |p: &&FileChunk| !overlap(shown.lines, p.lines);
        let parts =
            self.parts(file).filter(|p| p.slot != shown.best && matches(&p.slot)).filter(apart);
        self.best_first(parts)
            .into_iter()
            .filter_map(|p| self.corpus.entry(p.slot))
            .take(MAX_OTHERS)
            .cloned()
            .collect()
    }

    /// Sorts by score, ties by chunk id.
    fn best_first<'f>(&self, parts: impl Iterator<Item = &'f FileChunk>) -> Vec<&'f FileChunk> {
        let mut scored: Vec<(f64, &FileChunk)> =
            parts.map(|part| (self.chunk_score(part.slot), part)).collect();
        scored.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then_with(|| self.id(a.1.slot).cmp(self.id(b.1.slot)))
        });
        scored.into_iter().map(|(_, part)| part).collect()
    }

    /// Returns the best place of a file. One that defines a name of the query comes before all others.
    fn best_place(&self, file: &IndexedFile) -> Option<RowPlace> {
        let mut parts: Vec<&FileChunk> = self.parts(file).collect();
        if parts.is_empty() {
            parts.extend(file.parts.iter().filter(|p| self.allowed(p.slot)));
        }
        let (_, defined) = self.definition(file);
        let mut places: Vec<RowPlace> = Vec::new();
        let mut at: FxHashMap<LineRange, usize> = FxHashMap::default();
        for part in self.best_first(parts.into_iter()) {
            let (slot, lines, score) = (part.slot, whole(part, file), self.place_score(part));
            if let Some(place) = lines.and_then(|lines| at.get(&lines)).map(|at| &mut places[*at]) {
                place.slots.push(slot);
                place.score = place.score.max(score);
            } else {
                at.extend(lines.map(|lines| (lines, places.len())));
                places.push(RowPlace { lines, slots: vec![slot], best: slot, score });
            }
        }
        places.into_iter().min_by(|a, b| {
            let defines = |p: &RowPlace| defined.is_some_and(|d| p.slots.contains(&d));
            defines(b)
                .cmp(&defines(a))
                .then_with(|| b.score.total_cmp(&a.score))
                .then_with(|| self.id(a.best).cmp(self.id(b.best)))
        })
    }
}

/// Returns the lines of the function or section that contains a chunk, or the chunk's own if there
/// is none or it is too long.
fn whole(part: &FileChunk, file: &IndexedFile) -> Option<LineRange> {
    let own = part.lines?;
    let fits =
        |(first, last): &LineRange| *first <= own.0 && own.1 <= *last && last - first < MAX_LINES;
    let found = if part.chunk_type == ChunkType::Documentation {
        section(part, file)
    } else {
        let functions = &file.functions;
        let near = functions.partition_point(|f| f.0 + MAX_LINES <= own.1)
            ..functions.partition_point(|f| f.0 <= own.0);
        functions
            .get(near)
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(fits)
            .max_by_key(|(first, last)| last - first)
    };
    found.filter(fits).or(Some(own))
}

/// Extends a short place by the chunks after and before it.
fn with_neighbours((mut first, mut last): LineRange, file: &IndexedFile) -> LineRange {
    let parts = file.parts.iter().filter(|p| p.chunk_type != ChunkType::Symbols);
    let mut around: Vec<LineRange> = parts.filter_map(|p| p.lines).collect();
    around.sort_unstable();
    while last - first + 1 < MIN_LINES {
        let fits = |l: &&LineRange| last.max(l.1) - first.min(l.0) < MIN_LINES + MIN_LINES / 2;
        let after = around.iter().find(|l| l.0 > last).filter(fits);
        let before = around.iter().rfind(|l| l.1 < first).filter(fits);
        match (after, before) {
            (Some(after), _) => last = after.1,
            (None, Some(before)) => first = before.0,
            (None, None) => break,
        }
    }
    (first, last)
}

fn overlap(a: Option<LineRange>, b: Option<LineRange>) -> bool {
    a.zip(b).is_some_and(|(a, b)| meet(a, b))
}

/// Whether two ranges have a line in common.
pub(super) fn meet(a: LineRange, b: LineRange) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Returns the lines of a file's chunks under one heading.
fn section(part: &FileChunk, file: &IndexedFile) -> Option<LineRange> {
    let same = || file.parts.iter().filter(|p| p.section == part.section).filter_map(|p| p.lines);
    Some((same().map(|l| l.0).min()?, same().map(|l| l.1).max()?))
}
