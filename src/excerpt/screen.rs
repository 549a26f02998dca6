//! Selects the lines of a first screen. A reader sees some forty rows, so lines of all results compete:
//! the windows of a few lines are taken that answer most for each row. How much a line answers was
//! fitted on a hundred questions with the lines that answer them (specs/ranking.md).

use std::collections::BTreeSet;

use super::regions::Region;
use crate::embed::{StaticModel, normalise};
use crate::search::QueryWords;

/// Lines of the first result at least, and of a definition.
const FIRST: usize = 10;
const DEFINITION: usize = 16;
/// Lines of comment above a definition that are shown with it.
const COMMENT_ABOVE: usize = 4;
/// Lines of a window.
const WINDOW: usize = 5;
/// A window that is worth a smaller part of the best one for its rows is left out.
const LEAST_PART: f64 = 0.02;
/// Rows that the heading of a place takes, and the mark between two windows of it.
const HEADING: usize = 1;
/// Number of best regions of a result, and of their first lines, that are compared.
const MAX_REGIONS: usize = 10;
const MAX_LINES: usize = 600;
/// From this many places on that a question names, each shows the line and its neighbours, and those after
/// the first ones the line alone.
const MANY_PLACES: usize = 4;
const WIDE_PLACES: usize = 6;
/// Lines above and below that say what a line is about.
const NEAR: usize = 4;
/// A less probable result counts as this one.
const LEAST_PROBABILITY: f64 = 1e-4;
/// Lines with fewer signs say nothing.
const TINY: usize = 4;

/// What a line is worth: weights of the logarithm of its odds.
const RESULT: f64 = 0.39;
const LATER_REGION: f64 = -0.65;
const WORDS_NEAR: f64 = 3.1;
const MEANING: f64 = 5.8;
const MEANING_NEAR: f64 = 5.7;
const COMMENT: f64 = -1.5;
const ENDS: f64 = 2.2;
const DECIDES: f64 = 3.4;
const ASSIGNS: f64 = 0.9;
const SAYS_LITTLE: f64 = -0.9;
const SIGNATURE: f64 = -1.6;

/// What the question asks, to compare lines with it.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) words: QueryWords,
    pub(super) vector: Vec<f32>,
}

/// The lines of a region, by their indexes, with what each is worth.
struct Lines<'e> {
    row: usize,
    nth: usize,
    region: &'e Region,
    worth: Vec<f64>,
    taken: BTreeSet<usize>,
}

/// A line that the question names, and whether a definition begins there.
pub(super) type NamedLine = (Option<u32>, bool);

/// Chooses what a screen of about `n_lines` lines shows of each result: at least one line of each, and
/// more of those that answer. `rows` has the regions of each, best first, with its probability and the
/// line that the question names. Returns for each the regions, by their numbers, with their lines.
pub(super) fn screen(
    rows: &[(Vec<&Region>, f64, NamedLine)],
    asked: &Asked,
    n_lines: usize,
) -> Vec<Vec<(usize, Vec<usize>)>> {
    let n = rows.len();
    let mut lines = lines_of(rows, asked);
    let n_named = rows.iter().filter(|(_, _, named)| named.0.is_some()).count();
    for of in &mut lines {
        let (line, is_definition) = rows[of.row].2;
        match line {
            Some(_) if of.nth > 0 => {}
            Some(line) if is_definition && of.row == 0 => of.take_head(line),
            Some(line) if is_definition => of.take_range(of.place_of(line), 1),
            Some(line) if of.row == 0 && n_named < MANY_PLACES => of.take_around(line, u32::MAX),
            Some(line) => of.take_around(line, u32::from(of.row < WIDE_PLACES)),
            None => {}
        }
    }
    if n_named == 0 {
        fill(&mut lines, n_lines.saturating_sub(n));
    }
    for row in 0..n {
        let mut of_row: Vec<&mut Lines> = lines.iter_mut().filter(|of| of.row == row).collect();
        if of_row.iter().all(|of| of.taken.is_empty())
            && let Some(of) = of_row
                .iter_mut()
                .max_by(|a, b| a.most().1.total_cmp(&b.most().1).then(b.nth.cmp(&a.nth)))
        {
            of.take_range(of.most().0, 1);
        }
    }
    let mut chosen: Vec<Vec<(usize, Vec<usize>)>> = vec![Vec::new(); n];
    for of in lines.into_iter().filter(|of| !of.taken.is_empty()) {
        chosen[of.row].push((of.nth, of.taken.into_iter().collect()));
    }
    chosen
}

/// Returns the lines of the best regions of each result with their worth.
fn lines_of<'e>(rows: &[(Vec<&'e Region>, f64, NamedLine)], asked: &Asked) -> Vec<Lines<'e>> {
    let model = StaticModel::bundled();
    let mut words = asked.words.clone();
    let mut all = Vec::new();
    for (row, (regions, probability, _)) in rows.iter().enumerate() {
        let of_row = RESULT * probability.max(LEAST_PROBABILITY).ln();
        for (nth, &region) in regions.iter().enumerate().take(MAX_REGIONS) {
            let base = of_row + LATER_REGION * (nth as f64).ln_1p();
            let of_lines = worth_of(region, &asked.vector, &model, &mut words);
            let worth = of_lines.into_iter().map(|worth| (base + worth).exp()).collect();
            all.push(Lines { row, nth, region, worth, taken: BTreeSet::new() });
        }
    }
    all
}

/// Takes windows until `n_lines` rows are full: first of the first result, then always the one that is
/// worth most for each row that it takes.
fn fill(lines: &mut [Lines], n_lines: usize) {
    let first = lines.iter().enumerate().filter(|(_, of)| of.row == 0);
    let first = first.map(|(at, of)| (of.best_window(FIRST), at));
    let first = first.max_by(|a, b| a.0.1.total_cmp(&b.0.1).then(b.1.cmp(&a.1)));
    let (mut used, mut most) = (0, 0.0_f64);
    if let Some(((start, _), at)) = first {
        lines[at].take_range(start, FIRST);
        used = HEADING + lines[at].taken.len();
    }
    loop {
        let left = n_lines.saturating_sub(used);
        let best = lines.iter().enumerate().filter_map(|(at, of)| {
            let (start, cost, worth) = of.next_window(left)?;
            Some((worth / cost as f64, at, start, cost))
        });
        let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((ratio, at, start, cost)) = best else { return };
        most = most.max(ratio);
        if ratio < LEAST_PART * most {
            return;
        }
        lines[at].take_range(start, WINDOW);
        used += cost;
    }
}

impl Lines<'_> {
    fn len(&self) -> usize {
        self.worth.len()
    }

    fn take_range(&mut self, start: usize, n: usize) {
        let end = (start + n).min(self.region.lines.len());
        self.taken.extend(start.min(end.saturating_sub(1))..end);
    }

    /// Takes the beginning of a definition from the line with its name on, with a short comment above.
    fn take_head(&mut self, line: u32) {
        let named = self.place_of(line);
        let start = if named <= COMMENT_ABOVE { 0 } else { named };
        self.take_range(start, DEFINITION);
    }

    /// Returns the index of a line of the file, or of the first line after the leading comment.
    fn place_of(&self, line: u32) -> usize {
        let mut lines = self.region.lines.iter();
        lines.position(|(number, _)| *number == line).unwrap_or(self.region.signature)
    }

    /// Takes a line with those that are at most `reach` lines away.
    fn take_around(&mut self, line: u32, reach: u32) {
        let near = self.region.lines.iter().enumerate();
        let near = near.filter(|(_, (number, _))| number.abs_diff(line) <= reach);
        self.taken = near.map(|(at, _)| at).collect();
    }

    /// Returns the line that is worth most.
    fn most(&self) -> (usize, f64) {
        let of_lines = self.worth.iter().copied().enumerate();
        of_lines.fold((0, f64::MIN), |best, of| if of.1 > best.1 { of } else { best })
    }

    /// Returns the start of the best window of `n` lines, and its worth.
    fn best_window(&self, n: usize) -> (usize, f64) {
        let worth = |start: usize| self.worth.iter().skip(start).take(n).sum::<f64>();
        let starts = 0..=self.len().saturating_sub(n);
        starts
            .map(|start| (start, worth(start)))
            .fold((0, f64::MIN), |best, of| if of.1 > best.1 { of } else { best })
    }

    /// Returns the window with the most worth for its rows, of those that take at most `most` rows: its
    /// start, its rows, and its worth.
    fn next_window(&self, most: usize) -> Option<(usize, usize, f64)> {
        let heading = if self.taken.is_empty() { HEADING } else { 0 };
        let window = |start: usize| {
            let new = (start..(start + WINDOW).min(self.len())).filter(|i| !self.taken.contains(i));
            let (n, worth) = new.fold((0, 0.0), |sum, i| (sum.0 + 1, sum.1 + self.worth[i]));
            (n > 0).then_some((start, n + heading, worth))
        };
        let starts = 0..=self.len().saturating_sub(WINDOW);
        let fits = starts.filter_map(window).filter(|(_, cost, _)| *cost <= most);
        fits.max_by(|a, b| {
            let ratio = |of: &(usize, usize, f64)| of.2 / of.1 as f64;
            ratio(a).total_cmp(&ratio(b)).then(b.0.cmp(&a.0))
        })
    }
}

/// Returns what the lines of a region are worth, as logarithms.
fn worth_of(
    region: &Region,
    question: &[f32],
    model: &StaticModel,
    words: &mut QueryWords,
) -> Vec<f64> {
    let lines: Vec<&str> = region.lines.iter().take(MAX_LINES).map(|l| l.1.as_str()).collect();
    let vectors: Vec<Vec<f32>> = lines.iter().map(|line| model.sum(line)).collect();
    let held: Vec<Vec<(usize, f64)>> = lines.iter().map(|line| words.shares_in(line)).collect();
    let cosine = |mut vector: Vec<f32>| {
        normalise(&mut vector);
        f64::from(vector.iter().zip(question).map(|(a, b)| a * b).sum::<f32>())
    };
    let of_line = |at: usize| {
        let near = at.saturating_sub(NEAR)..(at + NEAR + 1).min(lines.len());
        let mut around = vec![0.0; question.len()];
        let mut known: Vec<(usize, f64)> = Vec::new();
        for i in near {
            around.iter_mut().zip(&vectors[i]).for_each(|(sum, x)| *sum += x);
            for word in &held[i] {
                if known.iter().all(|of| of.0 != word.0) {
                    known.push(*word);
                }
            }
        }
        let text = lines[at].trim();
        if text.is_empty() {
            return f64::MIN;
        }
        let flag = |is: bool, weight: f64| if is { weight } else { 0.0 };
        WORDS_NEAR * known.iter().map(|word| word.1).sum::<f64>()
            + MEANING * cosine(vectors[at].clone())
            + MEANING_NEAR * cosine(around)
            + flag(region.comments.get(at).copied().unwrap_or(false), COMMENT)
            + flag(begins_with(text, &["return", "raise", "throw"]), ENDS)
            + flag(decides(text), DECIDES)
            + flag(assigns(text), ASSIGNS)
            + flag(text.len() < TINY, SAYS_LITTLE)
            + flag(at <= region.signature, SIGNATURE)
    };
    (0..lines.len()).map(of_line).collect()
}

fn begins_with(line: &str, words: &[&str]) -> bool {
    let word = line.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    words.contains(&word)
}

/// Whether a line begins a branch or a loop.
fn decides(line: &str) -> bool {
    let line = line.trim_start_matches(['}', ' ']);
    begins_with(
        line,
        &[
            "if", "else", "elsif", "elif", "unless", "case", "when", "guard", "while", "for",
            "match", "switch", "cond", "with",
        ],
    )
}

/// Whether a line gives something a value.
fn assigns(line: &str) -> bool {
    let bytes = line.as_bytes();
    let compares = |b: u8| b"=!<>".contains(&b);
    bytes.windows(3).any(|w| w[1] == b'=' && !compares(w[0]) && w[2] != b'=' && w[2] != b'>')
}
