//! Selects the code that a reply shows. A reply has few lines, so each must earn its place: regions
//! of the found files (functions, types, sections) are compared with the question by their words,
//! their names and their meaning, and their windows are ordered by worth for each byte. All front
//! ends show these lines below the place that they are of.

mod regions;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use self::regions::Label;
use self::regions::{Line, Region, around, regions};
pub use self::regions::{NamesAround, says, symbols_named};
use crate::embed::StaticModel;
use crate::search::{Hit, QueryWords, search_words};

/// Number of best files of which code may be shown.
pub const MAX_FILES: usize = 15;
/// Temperature of the probability that a file is the right one, by its score.
const FILE_TEMPERATURE: f64 = 0.5;
/// Worth of the row of a file, compared with all its wanted lines.
const ROW: f64 = 1.0;
/// Estimated bytes of a row or heading.
const HEADING: usize = 90;

/// Weights of a region's features: the logarithm of how much more probable it is as the right one
/// of its file (specs/ranking.md).
const MEANING: f64 = 2.5;
const NAME_MEANING: f64 = 2.0;
const WORDS: f64 = 4.5;
const NAMES: f64 = 2.0;
const CHUNK: f64 = 0.2;
const DEFINES: f64 = 2.0;
const CONSTANT: f64 = -1.0;
/// Code between definitions, such as imports and the comment of a file.
const BETWEEN: f64 = -2.0;
/// Worth of a comment line, compared with a line of code.
const COMMENT: f64 = 0.3;
/// A row is worth at least this, so that a sure file does not hide the others.
const LEAST_ROW: f64 = 0.02;
/// Each further region of a file is worth this share of what its probability says, because a
/// reader who has seen the others can guess it.
const LATER: f64 = 0.75;
/// Part of a region's worth that its head has.
const HEAD: f64 = 0.15;
/// Regions of at most this many lines are shown whole, if they fit.
const WHOLE: usize = 40;
/// Number of adjacent lines that a longer region shows at a time.
const WINDOW: usize = 20;
/// A mark for this many missing lines costs about as much as the lines.
const GAP: usize = 3;

/// The code that a reply may show of some results.
#[derive(Debug, Default)]
pub struct Excerpts {
    /// By result, the best one first.
    regions: Vec<Vec<Shown>>,
    /// What a reply shows, in this order, until it is full.
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Shown {
    region: Region,
    pieces: Vec<Range<usize>>,
    /// The pieces in the order in which they are added.
    order: Vec<usize>,
}

/// One addition to a reply.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The row of the next result.
    Row,
    /// A piece of a region of a result.
    Piece(usize, usize, usize),
}

/// Lines of one region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub label: Label,
    /// First and last line of the symbol, or of the region if it has none.
    pub lines: (u32, u32),
    /// The lines to show, in order: number and text.
    pub shown: Vec<(u32, String)>,
}

impl Excerpts {
    /// Compares the code of `hits` with a question. `wanted` are its words.
    #[must_use]
    pub fn new<'h>(
        hits: impl Iterator<Item = &'h Hit>,
        question: &str,
        wanted: &mut QueryWords,
    ) -> Self {
        let hits: Vec<&Hit> = hits.collect();
        let model = StaticModel::bundled();
        let of_question = model.encode(question);
        let mut excerpts = Self::default();
        let mut units: Vec<(f64, Step)> = Vec::new();
        let mut lowest = f64::MAX;
        let mut of_rows = by_row(&hits[..hits.len().min(MAX_FILES)], |region| {
            region_score(region, &model, &of_question, wanted)
        });
        of_rows.resize_with(hits.len(), Vec::new);
        let of_row = probabilities(&hits);
        let of_file = |path: &str| -> f64 {
            hits.iter().zip(&of_row).filter(|(hit, _)| *hit.path == *path).map(|(_, p)| p).sum()
        };
        for (i, (scored, p)) in of_rows.into_iter().zip(&of_row).enumerate() {
            lowest = lowest.min(ROW * p.max(LEAST_ROW) / HEADING as f64);
            units.push((lowest, Step::Row));
            let mut all = Vec::new();
            let p = of_file(&hits[i].path);
            for (n, Scored { region, share, rank }) in scored.into_iter().enumerate() {
                let pieces = region.pieces();
                let worth = p * share * LATER.powi(rank);
                let ratios = ratios(&region, &pieces, worth, lowest, wanted);
                units.extend(ratios.iter().map(|(ratio, k)| (*ratio, Step::Piece(i, n, *k))));
                let order = ratios.into_iter().map(|(_, k)| k).collect();
                all.push(Shown { region, pieces, order });
            }
            excerpts.regions.push(all);
        }
        // The sort is stable, so that a row comes before its pieces and a head before its body.
        units.sort_by(|a, b| b.0.total_cmp(&a.0));
        excerpts.steps = units.into_iter().map(|(_, step)| step).collect();
        excerpts
    }

    /// Returns the best lines of a result, all of its best region. Lines that say nothing do not
    /// count for `n_lines`, and without any other line only the place is returned.
    #[must_use]
    pub fn best(&self, row: usize, n_lines: usize) -> Option<Excerpt> {
        let shown = self.regions.get(row)?.first()?;
        let pieces = shown.order.iter().flat_map(|i| shown.pieces[*i].clone());
        let lines: Vec<usize> = pieces.filter(|i| says(&shown.region.lines[*i].1)).collect();
        let fits = |n: usize| {
            let excerpt = shown.excerpt(lines[..n].to_vec());
            excerpt.shown.iter().filter(|(_, line)| says(line)).count() <= n_lines
        };
        let (mut n, mut too_many) = (0, n_lines.min(lines.len()) + 1);
        while too_many - n > 1 {
            let middle = usize::midpoint(n, too_many);
            if fits(middle) { n = middle } else { too_many = middle }
        }
        Some(shown.excerpt(lines[..n].to_vec()))
    }

    /// Number of additions after the first row.
    #[must_use]
    pub fn top(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Returns the excerpts of each row after `level` additions to the first row.
    #[must_use]
    pub fn at(&self, level: usize) -> Vec<Vec<Excerpt>> {
        let steps = &self.steps[..self.steps.len().min(level + 1)];
        let n_rows = steps.iter().filter(|s| matches!(s, Step::Row)).count();
        let mut pieces: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for step in steps {
            if let Step::Piece(hit, region, piece) = step {
                pieces.entry((*hit, *region)).or_default().push(*piece);
            }
        }
        let mut rows: Vec<Vec<Excerpt>> = vec![Vec::new(); n_rows];
        for ((hit, region), pieces) in pieces {
            let shown = &self.regions[hit][region];
            let lines = pieces.iter().flat_map(|i| shown.pieces[*i].clone()).collect();
            rows[hit].push(shown.excerpt(lines));
        }
        rows
    }
}

impl Shown {
    /// Returns lines of the region, by their indexes, as windows that begin and end with lines that
    /// say something. Windows that are close to each other become one.
    fn excerpt(&self, mut wanted: Vec<usize>) -> Excerpt {
        let lines = &self.region.lines;
        let says = |i: &usize| says(&lines[*i].1);
        wanted.retain(says);
        wanted.sort_unstable();
        let n_says = |range: Range<usize>| range.filter(says).count();
        let mut shown: Vec<usize> = Vec::new();
        for i in wanted {
            match shown.last() {
                Some(last) if i - last <= 1 || n_says(last + 1..i) <= GAP => {
                    shown.extend(last + 1..=i);
                }
                _ => shown.push(i),
            }
        }
        if shown.iter().filter(|i| says(i)).count() == n_says(0..lines.len()) {
            shown = (0..lines.len()).collect();
        }
        let shown: Vec<Line> = shown.into_iter().map(|i| lines[i].clone()).collect();
        // Lines between them may be those of another symbol.
        let windows: Vec<&[Line]> = shown.chunk_by(|a, b| a.0 + 1 == b.0).collect();
        let shown = match &*windows {
            [_] => shown,
            _ => windows.into_iter().flat_map(without_idle_ends).cloned().collect(),
        };
        Excerpt { label: self.region.label.clone(), lines: self.region.place(), shown }
    }
}

/// Returns lines without those at both ends that say nothing.
fn without_idle_ends(lines: &[Line]) -> &[Line] {
    let first = lines.iter().position(|(_, line)| says(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|(_, line)| says(line)).map_or(first, |i| i + 1);
    &lines[first..last]
}

/// A region of a row.
struct Scored {
    region: Region,
    /// The probability that it is the right one of its file.
    share: f64,
    /// Number of better regions of its file.
    rank: i32,
}

/// Returns the regions of each row, best first. A file with several rows shows its best region in
/// the first of them, the second best in the second, and all that are left in the first.
fn by_row(hits: &[&Hit], mut score: impl FnMut(&Region) -> f64) -> Vec<Vec<Scored>> {
    let mut rows: Vec<Vec<Scored>> = Vec::new();
    rows.resize_with(hits.len(), Vec::new);
    let mut of_file: BTreeMap<(&str, Option<u32>), Vec<usize>> = BTreeMap::new();
    for (i, hit) in hits.iter().enumerate() {
        of_file.entry((&*hit.path, hit.line)).or_default().push(i);
    }
    for ((_, line), of_file) in of_file {
        let Some(first) = of_file.first() else { continue };
        let mut seen = BTreeSet::new();
        let parts: Vec<_> = of_file
            .iter()
            .flat_map(|row| &hits[*row].parts)
            .filter(|(entry, _)| seen.insert(&*entry.id))
            .filter_map(|(entry, score)| Some((entry.chunk()?, *score)))
            .collect();
        let found = match line {
            Some(line) => around(&parts, line).into_iter().collect(),
            None => regions(&parts),
        };
        let scores: Vec<f64> = found.iter().map(&mut score).collect();
        let mut scored: Vec<Scored> = found
            .into_iter()
            .zip(softmax(&scores))
            .map(|(region, share)| Scored { region, share, rank: 0 })
            .collect();
        // The sort is stable: of equals the first in the file comes first.
        scored.sort_by(|a, b| b.share.total_cmp(&a.share));
        let mut free = of_file.iter();
        for (rank, scored) in (0..).zip(scored) {
            // Parts of one symbol stay in one row.
            let same = |row: &&usize| {
                rows[**row].iter().any(|other| other.region.label == scored.region.label)
            };
            let row = of_file.iter().find(same).or_else(|| free.next()).unwrap_or(first);
            rows[*row].push(Scored { rank, ..scored });
        }
    }
    rows
}

/// Returns the probability of each file that it is the right one.
fn probabilities(hits: &[&Hit]) -> Vec<f64> {
    softmax(&hits.iter().map(|hit| hit.score / FILE_TEMPERATURE).collect::<Vec<_>>())
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    let all: Vec<f64> = scores.iter().map(|s| (s - best).exp()).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|x| x / sum).collect()
}

/// Scores a region by its code. Its comments do not count: a region with many comments holds more
/// words of any question, and it was chosen in place of the right one more often than not.
fn region_score(
    region: &Region,
    model: &StaticModel,
    of_question: &[f32],
    wanted: &mut QueryWords,
) -> f64 {
    let cosine = |text: &str| -> f64 {
        let vector = model.encode(text);
        f64::from(vector.iter().zip(of_question).map(|(a, b)| a * b).sum::<f32>())
    };
    let name = &region.label.name;
    let code = region.code();
    MEANING * cosine(&code)
        + NAME_MEANING * cosine(&search_words(name).join(" "))
        + WORDS * wanted.share_in(&code)
        + NAMES * wanted.share_in(name)
        + CHUNK * region.score
        + if wanted.names(name) { DEFINES } else { 0.0 }
        + if region.label.kind == "constant" { CONSTANT } else { 0.0 }
        + if region.is_between { BETWEEN } else { 0.0 }
}

/// Returns the pieces of a region in the order in which they are added, each with its worth for a
/// byte: windows of adjacent pieces around the best ones, the first of them with the head.
fn ratios(
    region: &Region,
    pieces: &[Range<usize>],
    worth: f64,
    limit: f64,
    wanted: &mut QueryWords,
) -> Vec<(f64, usize)> {
    let bytes = |i: &usize| {
        region.lines[pieces[*i].clone()].iter().map(|l| l.1.len() + 1).sum::<usize>() as f64
    };
    let weight = |r: &Range<usize>, wanted: &mut QueryWords| {
        let text: Vec<&str> = region.lines[r.clone()].iter().map(|l| l.1.as_str()).collect();
        let comments = region.comments[r.clone()].iter().filter(|c| **c).count() as f64;
        let n = r.len() as f64 - (1.0 - COMMENT) * comments;
        n * (0.15 + wanted.share_in(&text.join("\n")))
    };
    let weights: Vec<f64> = pieces.iter().map(|r| weight(r, wanted)).collect();
    let sum: f64 = weights.iter().sum::<f64>().max(1e-9);
    let share = |i: &usize| (1.0 - HEAD) * weights[*i] / sum + if *i == 0 { HEAD } else { 0.0 };
    let ratio = |i: &usize| share(i) / bytes(i);
    let mut best: Vec<usize> = (1..pieces.len()).collect();
    best.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)).then(a.cmp(b)));
    let n_lines = region.lines.len() - region.signature;
    let most = if n_lines <= WHOLE { WHOLE } else { WINDOW };
    let mut is_free = vec![true; pieces.len()];
    let (mut window, mut cost) = (vec![0], HEADING as f64);
    let (mut lowest, mut out) = (limit, Vec::new());
    let mut best = best.into_iter();
    loop {
        if let Some(seed) = best.find(|i| is_free[*i]) {
            window.extend(grown(seed, pieces, &mut is_free, most, ratio));
        }
        if window.is_empty() {
            return out;
        }
        cost += window.iter().map(bytes).sum::<f64>();
        lowest = lowest.min(worth * window.iter().map(share).sum::<f64>() / cost);
        out.extend(window.drain(..).map(|i| (lowest, i)));
        cost = 0.0;
    }
}

/// Returns a piece and the free ones next to it, the better neighbour first, up to `most` lines.
/// They are free no more. The head, the first piece, is next to none.
fn grown(
    seed: usize,
    pieces: &[Range<usize>],
    is_free: &mut [bool],
    most: usize,
    ratio: impl Fn(&usize) -> f64,
) -> Vec<usize> {
    let (mut first, mut last, mut n) = (seed, seed, pieces[seed].len());
    let mut window = vec![seed];
    is_free[seed] = false;
    loop {
        let fits =
            |i: &usize| *i > 0 && is_free.get(*i) == Some(&true) && n + pieces[*i].len() <= most;
        let sides = [first - 1, last + 1];
        let next = sides.into_iter().filter(fits).max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let Some(next) = next else { return window };
        (first, last, n) = (first.min(next), last.max(next), n + pieces[next].len());
        is_free[next] = false;
        window.push(next);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chunk::{Chunk, ChunkType, Metadata, Name};

    fn chunk(first: u32, names: &[(&str, u32, u32)], comments: &[(u32, u32)], text: &str) -> Chunk {
        let name = |(name, start_line, end_line): &(&str, u32, u32)| Name {
            name: (*name).into(),
            kind: "function".into(),
            start_line: *start_line,
            end_line: *end_line,
            ..Name::default()
        };
        Chunk {
            id: format!("src/tank.rs#{first}").into(),
            title: String::new(),
            text: text.into(),
            chunk_type: ChunkType::Definitions,
            embedding: None,
            tags: Vec::new(),
            metadata: Metadata {
                file_path: Some("src/tank.rs".into()),
                start_line: Some(first),
                names: names.iter().map(name).collect(),
                comment_lines: comments.to_vec(),
                ..Metadata::default()
            },
            created_at: chrono::DateTime::UNIX_EPOCH,
            updated_at: chrono::DateTime::UNIX_EPOCH,
        }
    }

    fn hit(parts: &[Arc<Chunk>]) -> Hit {
        Hit {
            path: "src/tank.rs".into(),
            chunk: parts[0].clone(),
            lines: None,
            line: None,
            parts: parts.iter().map(|c| (Arc::new(c.clone().into()), 1.0)).collect(),
            others: Vec::new(),
            score: 1.0,
            terms: Vec::new(),
            changed_by: None,
            coverage: 1.0,
        }
    }

    fn labels(hits: &[Hit], question: &str) -> Vec<Option<String>> {
        let excerpts = Excerpts::new(hits.iter(), question, &mut QueryWords::of_words(question));
        (0..hits.len()).map(|i| excerpts.best(i, 0).map(|best| best.label.name)).collect()
    }

    #[test]
    fn a_second_row_of_a_file_shows_another_function() {
        let text = "fn drain() {\n    open_valve();\n}\nfn fill() {\n    close_valve();\n}";
        let both = Arc::new(chunk(1, &[("drain", 1, 3), ("fill", 4, 6)], &[], text));
        let rows = [hit(std::slice::from_ref(&both)), hit(&[both])];
        assert_eq!(labels(&rows, "drain"), [Some("drain".into()), Some("fill".into())]);
    }

    #[test]
    fn a_comment_does_not_make_a_function_the_answer() {
        let text = "/// Not for the case that the level of the water rises.\nfn other() {\n    stop();\n}\nfn pump() {\n    watch(water.level);\n}";
        let chunk = chunk(1, &[("other", 1, 4), ("pump", 5, 7)], &[(1, 1)], text);
        let rows = [hit(&[Arc::new(chunk)])];
        assert_eq!(labels(&rows, "the level of the water rises"), [Some("pump".into())]);
    }
}
