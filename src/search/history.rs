//! What people said when they changed a file: the messages of commits as evidence for the files
//! that the commits changed. `specs/ranking.md` has the formula, `specs/retrieval.md` the
//! measurements.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::query::{HiddenCommits, Query};
use super::stop_words::is_stop_word;
use super::tokens::{Analyzer, lower, lower_parts, runs};
use crate::chunk::{Chunk, Entry};

/// Saturation constant and length normalisation of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Weight of a word in a message; the title repeats the first line of the message, so a word of
/// the subject counts twice as much as one of the rest.
const WEIGHT: f32 = 0.5;
/// The more files a commit changed, the less it says about each of them: its score is divided by 1
/// plus this times the natural logarithm of their number.
const SHARED: f64 = 0.2;
/// A commit quotes a query that has this many successive words in common with it.
const QUOTE: usize = 5;

/// The words of all commits, and the commits of each file. Commits are numbered in the order of the
/// set.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct History {
    /// By stem: the commits with their weighted frequencies.
    postings: BTreeMap<Box<str>, Vec<(u32, f32)>>,
    /// Weighted number of words, by commit.
    lengths: Vec<f32>,
    /// Number of changed files, by commit.
    n_files: Vec<u32>,
    /// By path.
    commits: BTreeMap<Arc<str>, Vec<u32>>,
}

/// How many commits hold each term of a query, if not those of one history alone.
#[derive(Clone, Copy)]
pub(super) struct CommitCounts<'a> {
    pub(super) commits: u64,
    /// Sum of the weighted lengths of all messages, in words.
    pub(super) length: f64,
    /// By term.
    pub(super) holding: &'a [usize],
}

/// The commit that speaks most for a file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct BestCommit {
    /// The share of the query that it holds, 0–1.
    pub(super) score: f64,
    /// Its number.
    pub(super) commit: u32,
}

/// A file that commits changed together with another one.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedTogether {
    pub path: String,
    /// The changed file.
    pub with: String,
    /// Number of commits that changed both.
    pub support: usize,
    /// Share of the commits of the changed file that changed both, 0–1.
    pub confidence: f64,
    /// The same share, where newer and smaller commits count more.
    pub likelihood: f64,
}

/// Number of commits of a file after which one counts half as much as the newest one.
const HALF_AFTER: f64 = 4.0;

/// One commit as it enters the index.
#[derive(Default)]
struct Message {
    words: BTreeMap<String, f32>,
    files: Vec<String>,
}

impl History {
    /// Indexes the commits of a set. One that cannot be read counts as empty.
    pub(super) fn new(commits: &[Arc<Entry>]) -> Self {
        let read = |analyzer: &mut Analyzer, entry: &Arc<Entry>| {
            let Some(chunk) = entry.chunk() else { return Message::default() };
            Message { words: message(&chunk, analyzer), files: chunk.metadata.files.clone() }
        };
        let messages: Vec<Message> =
            commits.par_iter().with_min_len(64).map_init(Analyzer::default, read).collect();
        let mut out = Self::default();
        for (commit, message) in (0..).zip(messages) {
            out.lengths.push(message.words.values().sum());
            out.n_files.push(u32::try_from(message.files.len()).unwrap_or(u32::MAX));
            for (word, n) in message.words {
                out.postings.entry(word.into()).or_default().push((commit, n));
            }
            for file in message.files {
                out.commits.entry(file.into()).or_default().push(commit);
            }
        }
        out
    }

    /// Whether it could be the history of this many commits.
    pub(super) fn fits(&self, n_commits: usize) -> bool {
        let numbers = self.postings.values().flatten().map(|p| p.0);
        let numbers = numbers.chain(self.commits.values().flatten().copied());
        self.lengths.len() == n_commits
            && self.n_files.len() == n_commits
            && numbers.max().is_none_or(|most| (most as usize) < n_commits)
    }

    /// Scores every commit: its share of the largest possible BM25 score, 0–1, less if it changed
    /// many files.
    pub(super) fn scores(
        &self,
        query: &Query,
        commits: &[Arc<Entry>],
        pooled: Option<CommitCounts>,
    ) -> Vec<f64> {
        let (n, length) = pooled.map_or_else(|| self.size(), |all| (all.commits, all.length));
        let n = n as f64;
        let mut scores = vec![0.0; self.lengths.len()];
        let average = length.max(1.0) / n.max(1.0);
        let mut total = 0.0;
        for (at, term) in query.terms.iter().enumerate().filter(|(_, term)| !term.is_whole) {
            let found = self.postings.get(&*term.canonical).map_or(&[][..], Vec::as_slice);
            let df = pooled.map_or(found.len(), |all| all.holding[at]) as f64;
            let idf = f64::from(term.weight) * (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            total += idf;
            for (commit, frequency) in found {
                let length = f64::from(self.lengths[*commit as usize]) / average;
                scores[*commit as usize] += idf * saturated(*frequency, length);
            }
        }
        for (score, n_files) in scores.iter_mut().zip(&self.n_files) {
            *score /= total.max(1e-9) * shared(*n_files);
        }
        if let Some(hidden) = &query.hidden_commits {
            hide(hidden, query, commits, &mut scores);
        }
        scores
    }

    /// Returns the number of commits, and the sum of their weighted lengths, in words.
    pub(super) fn size(&self) -> (u64, f64) {
        (self.lengths.len() as u64, f64::from(self.lengths.iter().sum::<f32>()))
    }

    /// Returns the number of commits whose messages hold a word, given by its stem.
    pub(super) fn n_holding(&self, stem: &str) -> usize {
        self.postings.get(stem).map_or(0, Vec::len)
    }

    /// Returns the number of commits that changed a file.
    pub(super) fn n_changes(&self, path: &str) -> usize {
        self.commits.get(path).map_or(0, Vec::len)
    }

    /// Returns the files that commits changed together with one of `changed`, likeliest first.
    pub(super) fn together(&self, changed: &[&str]) -> Vec<ChangedTogether> {
        let mut best: BTreeMap<&str, ChangedTogether> = BTreeMap::new();
        for with in changed {
            let Some(own) = self.commits.get(*with) else { continue };
            // A commit speaks for one file; several others share that.
            let weight = |(age, commit): (usize, &u32)| {
                let n_others = f64::from(self.n_files[*commit as usize]) - 1.0;
                (*commit, 1.0 / ((1.0 + age as f64 / HALF_AFTER) * n_others.max(1.0)))
            };
            let weights: FxHashMap<u32, f64> = own.iter().enumerate().map(weight).collect();
            let all: f64 = weights.values().sum();
            for (path, commits) in &self.commits {
                let both = commits.iter().filter_map(|commit| weights.get(commit));
                let (support, sum) = both.fold((0, 0.0), |(n, sum), weight| (n + 1, sum + weight));
                if support == 0 || changed.contains(&&**path) {
                    continue;
                }
                let found = ChangedTogether {
                    path: path.to_string(),
                    with: (*with).to_string(),
                    support,
                    confidence: support as f64 / own.len() as f64,
                    likelihood: sum / all,
                };
                let known = best.entry(path).or_insert_with(|| found.clone());
                if found.likelihood > known.likelihood {
                    *known = found;
                }
            }
        }
        let mut found: Vec<ChangedTogether> = best.into_values().collect();
        found.sort_by(|a, b| {
            b.likelihood.total_cmp(&a.likelihood).then_with(|| a.path.cmp(&b.path))
        });
        found
    }

    /// Returns the commit of a file with the best of these scores, the newest of equals.
    pub(super) fn best(&self, path: &str, scores: &[f64]) -> BestCommit {
        let mut best = BestCommit::default();
        for commit in self.commits.get(path).into_iter().flatten() {
            if scores[*commit as usize] > best.score {
                best = BestCommit { score: scores[*commit as usize], commit: *commit };
            }
        }
        best
    }
}

/// Returns the stems of a commit's message with their weighted frequencies.
pub(super) fn message(commit: &Chunk, analyzer: &mut Analyzer) -> BTreeMap<String, f32> {
    let mut words = BTreeMap::new();
    for text in [&commit.title, &commit.text] {
        for run in runs(text).filter(|r| !is_stop_word(&lower(&text[r.range.clone()]))) {
            for part in run.parts {
                let stem = analyzer.canonical(&lower(&text[part]));
                *words.entry(stem).or_default() += WEIGHT;
            }
        }
    }
    words
}

/// Returns what each word of a commit adds to its score, for an idf of 1. `length`: the sum of the
/// lengths of `n` commits.
pub(super) fn weights(
    commit: &Chunk,
    analyzer: &mut Analyzer,
    n: u64,
    length: f64,
) -> BTreeMap<String, f32> {
    let words = message(commit, analyzer);
    let own = f64::from(words.values().sum::<f32>());
    let average = length.max(1.0) / (n as f64).max(1.0);
    let shared = shared(u32::try_from(commit.metadata.files.len()).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "a share of 1")]
    let weight = |(word, n): (String, f32)| (word, (saturated(n, own / average) / shared) as f32);
    words.into_iter().map(weight).collect()
}

/// BM25 of a word without its idf. `length`: relative to the mean.
fn saturated(frequency: f32, length: f64) -> f64 {
    let frequency = f64::from(frequency);
    frequency / (frequency + K1 * (1.0 - B + B * length))
}

/// By how much the score of a commit is divided that changed this many files.
fn shared(n_files: u32) -> f64 {
    1.0 + SHARED * f64::from(n_files.max(1)).ln()
}

/// Sets the scores of hidden commits to 0.
fn hide(hidden: &HiddenCommits, query: &Query, commits: &[Arc<Entry>], scores: &mut [f64]) {
    // Newest first. If the commit itself is not in the index, all may be newer.
    if let Some(since) = &hidden.since {
        let own = commits.iter().position(|c| c.id.strip_prefix("commit:") == Some(since));
        scores[..own.map_or(commits.len(), |own| own + 1)].fill(0.0);
    }
    if !hidden.quotes {
        return;
    }
    let phrases = |text: &str| -> FxHashSet<Vec<String>> {
        let words: Vec<String> = lower_parts(text).collect();
        words.windows(QUOTE).map(<[String]>::to_vec).collect()
    };
    let asked = phrases(&query.text);
    let quotes = |entry: &Arc<Entry>| {
        entry.chunk().is_some_and(|chunk| !asked.is_disjoint(&phrases(&chunk.text)))
    };
    for (score, entry) in scores.iter_mut().zip(commits).filter(|(s, _)| **s > 0.0) {
        if !asked.is_empty() && quotes(entry) {
            *score = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history of commits, the newest first.
    fn history(commits: &[&[&str]]) -> History {
        let mut out = History::default();
        for (n, files) in (0..).zip(commits) {
            out.n_files.push(u32::try_from(files.len()).unwrap());
            for file in *files {
                out.commits.entry((*file).into()).or_default().push(n);
            }
        }
        out
    }

    fn told(history: &History, changed: &[&str]) -> Vec<(String, String, usize, f64)> {
        let found = history.together(changed).into_iter();
        found.map(|f| (f.path, f.with, f.support, f.confidence)).collect()
    }

    #[test]
    fn new_and_small_commits_say_most_about_what_changes_together() {
        let row = |path: &str, with: &str, support, confidence| {
            (path.to_string(), with.to_string(), support, confidence)
        };
        let large: Vec<&str> = ["a", "d", "e", "f", "g", "h"].to_vec();
        let of_a = history(&[&["a", "b"], &large, &["x"], &["a", "c"], &["a"]]);
        let found = told(&of_a, &["a"]);
        assert_eq!(found[0], row("b", "a", 1, 0.25), "the newest: {found:?}");
        assert_eq!(found[1], row("c", "a", 1, 0.25), "a small one: {found:?}");
        assert_eq!(found[2], row("d", "a", 1, 0.25), "of equals, the first by name: {found:?}");
        assert!(found.iter().all(|f| f.0 != "x" && f.0 != "a"), "{found:?}");
        // The changed file that says most about another one is named with it.
        let of_two = history(&[&["a", "b"], &["a", "c", "d"], &["e", "c"], &["e", "c"]]);
        let found = told(&of_two, &["a", "e", "unknown"]);
        assert_eq!(found[0], row("c", "e", 2, 1.0), "{found:?}");
        assert!(found.contains(&row("b", "a", 1, 0.5)), "{found:?}");
        assert_eq!(told(&of_two, &[]), []);
    }
}
