//! What is shown of a file: its best places.
//!
//! A place is a whole function or section where that is not too long, else one chunk. Who describes what some code does
//! ([`Form::Statement`]) is shown a second place of the best files, since he looks for one function and not for a file.

use std::sync::Arc;

use super::Slot;
use super::evidence::{Evidence, MIN_COSINE};
use super::files::File;
use super::rank::{Hit, Term};
use crate::chunk::{Chunk, ChunkType};

/// A longer function or section is shown in parts, in lines.
const MAX_LINES: u32 = 120;
/// Files that may show a second place.
const MAX_SECOND: usize = 5;
/// A second place stands so much behind the first place of its file, and more by how much less well it answers.
const SECOND: f64 = -0.5;
const SECOND_LESS: f64 = -0.5;
/// Further chunks of a file that a result names.
pub(super) const MAX_OTHERS: usize = 4;

/// A place in a file.
#[derive(Debug, Clone)]
struct Place {
    /// First and last line; `None` when its chunk has none.
    lines: Option<(u32, u32)>,
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
            let places = self.places(file);
            let Some(first) = places.first() else { continue };
            let second = places.get(1).filter(|_| self.wants_places() && rank < MAX_SECOND);
            let second = second.map(|second| {
                let less = first.score - second.score;
                let behind = [("second_place", 1.0, SECOND), ("second_place_less", less, SECOND_LESS)];
                let behind = behind.map(|(feature, value, weight)| Term { feature, value, weight });
                let terms: Vec<Term> = terms.iter().copied().chain(behind).collect();
                (second, terms.iter().map(Term::contribution).sum::<f64>(), terms)
            });
            let second = second.filter(|(_, score, _)| *score >= lowest);
            let shown: Vec<Slot> =
                [Some(first), second.as_ref().map(|s| s.0)].into_iter().flatten().flat_map(|p| p.slots.clone()).collect();
            rows.extend(self.hit(file, first, score, terms, &shown));
            if let Some((place, score, terms)) = second {
                rows.extend(self.hit(file, place, score, terms, &shown).map(|hit| Hit { others: Vec::new(), ..hit }));
            }
        }
        // Stable: of equal scores the file that stands first.
        rows.sort_by(|a, b| b.score.total_cmp(&a.score));
        rows
    }

    fn hit(&self, file: &File, place: &Place, score: f64, terms: Vec<Term>, shown: &[Slot]) -> Option<Hit> {
        let mut others: Vec<Slot> = self.slots(file).filter(|s| !shown.contains(s)).collect();
        others.retain(|s| self.lexical.fields[*s as usize] > 0.0 || self.cosine(*s) >= MIN_COSINE);
        self.sort(&mut others);
        Some(Hit {
            path: file.path.clone(),
            chunk: self.corpus.chunk(place.best)?.clone(),
            lines: place.lines,
            others: others.into_iter().take(MAX_OTHERS).filter_map(|s| self.corpus.chunk(s).cloned()).collect(),
            score,
            terms,
        })
    }

    /// Best first.
    fn sort(&self, slots: &mut [Slot]) {
        slots.sort_by(|a, b| self.chunk_score(*b).total_cmp(&self.chunk_score(*a)).then_with(|| self.id(*a).cmp(self.id(*b))));
    }

    /// The places of a file, best first; the one that defines what the query names before all.
    fn places(&self, file: &File) -> Vec<Place> {
        let mut slots: Vec<Slot> = self.slots(file).collect();
        if slots.is_empty() {
            slots.extend(file.slots.iter().copied().filter(|s| self.allowed(*s)));
        }
        self.sort(&mut slots);
        let (_, defined) = self.definition(file);
        let chunks: Vec<&Arc<Chunk>> = file.slots.iter().filter_map(|s| self.corpus.chunk(*s)).collect();
        let mut places: Vec<Place> = Vec::new();
        for slot in slots {
            let Some(chunk) = self.corpus.chunk(slot) else { continue };
            let lines = whole(chunk, &chunks);
            let score = self.place_score(slot, chunk);
            match places.iter_mut().find(|p| lines.is_some() && p.lines == lines) {
                Some(place) => {
                    place.slots.push(slot);
                    place.score = place.score.max(score);
                }
                None => places.push(Place { lines, slots: vec![slot], best: slot, score }),
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
fn whole(chunk: &Chunk, of_file: &[&Arc<Chunk>]) -> Option<(u32, u32)> {
    let own = lines(chunk)?;
    let fits = |(first, last): &(u32, u32)| *first <= own.0 && own.1 <= *last && last - first < MAX_LINES;
    let longest = |around: &mut dyn Iterator<Item = (u32, u32)>| around.filter(fits).max_by_key(|(first, last)| last - first);
    let found = if chunk.chunk_type == ChunkType::Documentation {
        section(chunk, of_file)
    } else {
        let names = of_file.iter().flat_map(|c| &c.metadata.names);
        longest(&mut names.filter(|n| matches!(n.kind.as_str(), "function" | "method" | "macro")).map(|n| (n.start_line, n.end_line)))
    };
    found.filter(fits).or(Some(own))
}

/// The lines of neighbouring chunks under one heading.
fn section(chunk: &Chunk, of_file: &[&Arc<Chunk>]) -> Option<(u32, u32)> {
    let same: Vec<(u32, u32)> = of_file.iter().filter(|c| c.metadata.symbol == chunk.metadata.symbol).filter_map(|c| lines(c)).collect();
    Some((same.iter().map(|l| l.0).min()?, same.iter().map(|l| l.1).max()?))
}

/// First and last line of a chunk.
pub(super) fn lines(chunk: &Chunk) -> Option<(u32, u32)> {
    chunk.metadata.start_line.zip(chunk.metadata.end_line)
}
