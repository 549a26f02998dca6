//! What is shown of a file: its best places.
//!
//! A place is a whole function or section where that is not too long, else one chunk; a short one is shown with what stands
//! around it. Who describes what some code does (`Form::Statement`) is shown a second place of the best files, since he looks
//! for one function and not for a file.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Slot;
use super::evidence::{Evidence, MIN_COSINE};
use super::files::File;
use super::rank::{Hit, Term};
use crate::chunk::{Chunk, ChunkType};

/// A longer function or section is shown in parts, in lines.
const MAX_LINES: u32 = 120;
/// A shorter one is shown with its neighbours, in lines.
const MIN_LINES: u32 = 40;
/// Files that may show a second place.
const MAX_SECOND: usize = 5;
/// A second place stands so much behind the first place of its file, and more by how much less well it answers.
const SECOND: f64 = -0.5;
const SECOND_LESS: f64 = -0.8;
/// Further chunks of a file that a result names.
pub(super) const MAX_OTHERS: usize = 4;

/// First and last.
type Lines = (u32, u32);

/// A place in a file.
#[derive(Debug, Clone)]
struct Place {
    /// First and last line; `None` when its chunk has none.
    lines: Option<Lines>,
    /// Its chunks.
    slots: Vec<Slot>,
    /// The one that answers best.
    best: Slot,
    score: f64,
}

/// A file and what it scored.
pub(super) struct Ranked<'f> {
    pub(super) file: &'f File,
    pub(super) score: f64,
    pub(super) terms: Vec<Term>,
}

impl Evidence<'_> {
    /// The places to show of the `limit` best of some files, which stand in their order; best first. With another limit they
    /// are the same as far as they go.
    pub(super) fn rows(&self, files: Vec<Ranked>, limit: usize) -> Vec<Hit> {
        let lowest = files.get(limit.saturating_sub(1)).map_or(f64::MIN, |f| f.score);
        let mut rows = Vec::new();
        for (rank, Ranked { file, score, terms }) in files.into_iter().take(limit).enumerate() {
            let chunks: Vec<&Arc<Chunk>> = file.slots.iter().filter_map(|s| self.corpus.chunk(*s)).collect();
            let shown = |place: Place| Place { lines: place.lines.map(|lines| with_neighbours(lines, &chunks)), ..place };
            let mut places = self.places(file, &chunks).into_iter();
            let Some(first) = places.next().map(shown) else { continue };
            let second = places.find(|p| !overlap(p.lines, first.lines)).filter(|_| self.wants_places() && rank < MAX_SECOND).map(shown);
            let second = second.map(|place| {
                let less = (first.score - place.score).max(0.0);
                let behind = [("second_place", 1.0, SECOND), ("second_place_less", less, SECOND_LESS)];
                let behind = behind.map(|(feature, value, weight)| Term { feature, value, weight });
                let terms: Vec<Term> = terms.iter().copied().chain(behind).collect();
                (place, terms.iter().map(Term::contribution).sum::<f64>(), terms)
            });
            let second = second.filter(|(_, score, _)| *score >= lowest);
            let places: Vec<Option<Lines>> = std::iter::once(&first).chain(second.as_ref().map(|s| &s.0)).map(|p| p.lines).collect();
            let others = self.others(file, first.best, &places);
            rows.extend(self.hit(file, &first, score, terms, others));
            if let Some((place, score, terms)) = second {
                rows.extend(self.hit(file, &place, score, terms, Vec::new()));
            }
        }
        // Stable: of equal scores the file that stands first.
        rows.sort_by(|a, b| b.score.total_cmp(&a.score));
        rows
    }

    fn hit(&self, file: &File, place: &Place, score: f64, terms: Vec<Term>, others: Vec<Arc<Chunk>>) -> Option<Hit> {
        let chunk = self.corpus.chunk(place.best)?.clone();
        Some(Hit { path: file.path.clone(), chunk, lines: place.lines, others, score, terms })
    }

    /// Further chunks of the file that match, outside the places that are shown.
    fn others(&self, file: &File, shown: Slot, places: &[Option<Lines>]) -> Vec<Arc<Chunk>> {
        let matches = |s: &Slot| self.lexical.fields[*s as usize] > 0.0 || self.cosine(*s) >= MIN_COSINE;
        let slots = self.slots(file).filter(|s| *s != shown && matches(s));
        let chunks = self.best_first(slots).filter_map(|s| self.corpus.chunk(s));
        chunks.filter(|c| !places.iter().any(|p| overlap(*p, lines(c)))).take(MAX_OTHERS).cloned().collect()
    }

    /// By how well they answer, ties by chunk id.
    fn best_first(&self, slots: impl Iterator<Item = Slot>) -> impl Iterator<Item = Slot> {
        let mut scored: Vec<(f64, Slot)> = slots.map(|slot| (self.chunk_score(slot), slot)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.id(a.1).cmp(self.id(b.1))));
        scored.into_iter().map(|(_, slot)| slot)
    }

    /// The places of a file, best first; the one that defines what the query names before all.
    fn places(&self, file: &File, chunks: &[&Arc<Chunk>]) -> Vec<Place> {
        let mut slots: Vec<Slot> = self.slots(file).collect();
        if slots.is_empty() {
            slots.extend(file.slots.iter().copied().filter(|s| self.allowed(*s)));
        }
        let (_, defined) = self.definition(file);
        let functions = functions(chunks);
        let mut places: Vec<Place> = Vec::new();
        let mut at: FxHashMap<Lines, usize> = FxHashMap::default();
        for slot in self.best_first(slots.into_iter()) {
            let Some(chunk) = self.corpus.chunk(slot) else { continue };
            let lines = whole(chunk, chunks, &functions);
            let score = self.place_score(slot, chunk);
            if let Some(place) = lines.and_then(|lines| at.get(&lines)).map(|at| &mut places[*at]) {
                place.slots.push(slot);
                place.score = place.score.max(score);
            } else {
                at.extend(lines.map(|lines| (lines, places.len())));
                places.push(Place { lines, slots: vec![slot], best: slot, score });
            }
        }
        places.sort_by(|a, b| {
            let defines = |p: &Place| defined.is_some_and(|d| p.slots.contains(&d));
            defines(b).cmp(&defines(a)).then_with(|| b.score.total_cmp(&a.score)).then_with(|| self.id(a.best).cmp(self.id(b.best)))
        });
        places
    }
}

/// The lines of the function or section that a chunk is a part of; its own when it is none, or that is too long.
fn whole(chunk: &Chunk, of_file: &[&Arc<Chunk>], functions: &[Lines]) -> Option<Lines> {
    let own = lines(chunk)?;
    let fits = |(first, last): &Lines| *first <= own.0 && own.1 <= *last && last - first < MAX_LINES;
    let found = if chunk.chunk_type == ChunkType::Documentation {
        section(chunk, of_file)
    } else {
        let near = functions.partition_point(|f| f.0 + MAX_LINES <= own.1)..functions.partition_point(|f| f.0 <= own.0);
        functions.get(near).unwrap_or_default().iter().copied().filter(fits).max_by_key(|(first, last)| last - first)
    };
    found.filter(fits).or(Some(own))
}

/// The lines of every function that a file defines, in order.
fn functions(of_file: &[&Arc<Chunk>]) -> Vec<Lines> {
    let names = of_file.iter().flat_map(|c| &c.metadata.names);
    let mut functions: Vec<Lines> = names
        .filter(|n| matches!(n.kind.as_str(), "function" | "method" | "macro"))
        .map(|n| (n.start_line, n.end_line))
        .filter(|(first, last)| first <= last)
        .collect();
    functions.sort_unstable();
    functions
}

/// A short place with the chunks after and before it, as far as they go with it.
fn with_neighbours((mut first, mut last): Lines, of_file: &[&Arc<Chunk>]) -> Lines {
    let mut around: Vec<Lines> = of_file.iter().filter(|c| c.chunk_type != ChunkType::Symbols).filter_map(|c| lines(c)).collect();
    around.sort_unstable();
    while last - first + 1 < MIN_LINES {
        let fits = |l: &&Lines| last.max(l.1) - first.min(l.0) < MIN_LINES + MIN_LINES / 2;
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

fn overlap(a: Option<Lines>, b: Option<Lines>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
}

/// The lines of neighbouring chunks under one heading.
fn section(chunk: &Chunk, of_file: &[&Arc<Chunk>]) -> Option<Lines> {
    let same: Vec<Lines> = of_file.iter().filter(|c| c.metadata.symbol == chunk.metadata.symbol).filter_map(|c| lines(c)).collect();
    Some((same.iter().map(|l| l.0).min()?, same.iter().map(|l| l.1).max()?))
}

/// First and last line of a chunk.
pub(super) fn lines(chunk: &Chunk) -> Option<Lines> {
    // Other programs may write anything.
    chunk.metadata.start_line.zip(chunk.metadata.end_line).filter(|(first, last)| first <= last)
}
