//! Puts the places that a question names before the ranked files: the lines of a stack trace, the
//! definitions of a name, and the lines with a pasted text.

use std::sync::Arc;

use super::files::LineRange;
use super::hit::{Hit, NAMED_PLACE, Term};
use crate::chunk::{Chunk, Entry};

/// A place that a question names.
#[derive(Debug, Clone)]
pub struct NamedPlace {
    /// Which of the corpora that are searched together holds it; see [`Hit::part`].
    pub part: usize,
    pub path: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// First and last line of the definition that begins at the line, if the question names it.
    pub definition: Option<LineRange>,
    /// What differs from what the question says of it.
    pub note: Option<String>,
    /// The chunk at the line.
    pub chunk: Arc<Chunk>,
    /// The entries of the chunk, and of the others with lines of the definition.
    pub entries: Vec<Arc<Entry>>,
}

/// Returns the named places, in their order, before the hits. What ranking knows of the file of a
/// definition stays with it, and the file is not listed again.
#[must_use]
pub fn places_first(places: Vec<NamedPlace>, mut hits: Vec<Hit>) -> Vec<Hit> {
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let n = places.len();
    let mut named: Vec<Hit> = Vec::with_capacity(n + hits.len());
    for (i, place) in places.into_iter().enumerate() {
        let NamedPlace { part, path, line, definition, note, chunk, entries } = place;
        let value = best + (n - i) as f64 * NAMED_PLACE;
        let is_file = |hit: &Hit| definition.is_some() && hit.part == part && hit.path == path;
        let known = hits.iter().position(is_file).map(|at| hits.remove(at));
        let mut parts: Vec<(Arc<Entry>, f64)> = entries.into_iter().map(|e| (e, 0.0)).collect();
        let (mut others, mut changed_by) = (Vec::new(), None);
        let (mut terms, mut before) = (Vec::new(), 0.0);
        if let Some(known) = known {
            let is_new = |of: &(Arc<Entry>, f64)| parts.iter().all(|part| part.0.id != of.0.id);
            let more: Vec<_> = known.parts.into_iter().filter(is_new).collect();
            parts.extend(more);
            (others, changed_by) = (known.others, known.changed_by);
            (terms, before) = (known.terms, known.score);
        }
        terms.push(Term { feature: "named_place", value: value - before, weight: 1.0 });
        named.push(Hit {
            part,
            path,
            lines: definition.or(chunk.metadata.start_line.zip(chunk.metadata.end_line)),
            chunk,
            line: Some(line),
            definition,
            note,
            nth: 0,
            parts,
            others,
            score: value,
            terms,
            changed_by,
            coverage: 1.0,
        });
    }
    named.extend(hits);
    named
}
