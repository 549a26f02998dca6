//! Scores the answer to a question.

use std::collections::BTreeSet;

use serde::Serialize;

use super::question::{EvalQuestion, Target};

/// Number of files that NDCG counts.
const K: usize = 10;
/// Number of rows that a reader looks at.
const ROWS: usize = 5;
/// Number of files of an answer that are kept for inspection.
const KEPT_FILES: usize = 10;

/// One row of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    pub path: String,
    /// First and last line, 1-based and inclusive.
    pub lines: Option<(u32, u32)>,
}

/// A question with the scores of its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    pub id: String,
    pub repo: String,
    pub language: String,
    pub category: String,
    pub query: String,
    /// NDCG over the first ten files.
    pub ndcg: f64,
    pub recall_1: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    /// Reciprocal rank of the first relevant file; 0 if there is none.
    pub mrr: f64,
    /// Among the targets with lines, the share of which one of the first five rows
    /// covers at least half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_recall_5: Option<f64>,
    /// The same of the first row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_recall_1: Option<f64>,
    /// Share of the targets whose file has one of the first five rows.
    pub row_recall_5: f64,
    /// Rank, among the files, of each target that was found.
    pub ranks: Vec<usize>,
    pub files: Vec<String>,
    pub ms: f64,
}

/// Whether two paths name the same file, where one may be relative to a parent folder.
#[must_use]
pub fn matches(a: &str, b: &str) -> bool {
    let ends =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    a == b || ends(a, b) || ends(b, a)
}

/// Scores the rows that answered a question, best first. `ms` is the time of the answer.
#[must_use]
pub fn score(question: &EvalQuestion, rows: &[FoundFile], ms: f64) -> Scored {
    let mut files: Vec<&str> = Vec::new();
    for row in rows {
        if !files.contains(&&*row.path) {
            files.push(&row.path);
        }
    }
    let rank = |t: &Target| files.iter().position(|f| matches(f, &t.path)).map(|i| i + 1);
    let ranks: Vec<usize> = question.targets.iter().filter_map(rank).collect();
    let n = question.targets.len();
    let recall = |k: usize| ranks.iter().filter(|r| **r <= k).count() as f64 / n.max(1) as f64;
    Scored {
        id: question.id.clone(),
        repo: question.repo.clone(),
        language: question.language.clone(),
        category: question.category.clone(),
        query: question.query.clone(),
        ndcg: ndcg(&ranks, n),
        recall_1: recall(1),
        recall_5: recall(5),
        recall_10: recall(10),
        mrr: ranks.iter().min().map_or(0.0, |r| 1.0 / *r as f64),
        span_recall_1: span_recall(&question.targets, rows, 1),
        span_recall_5: span_recall(&question.targets, rows, ROWS),
        row_recall_5: row_recall(&question.targets, rows),
        files: files.iter().take(KEPT_FILES).map(ToString::to_string).collect(),
        ranks,
        ms,
    }
}

/// Returns NDCG with binary grades. Two targets in the same file count once.
fn ndcg(ranks: &[usize], n_targets: usize) -> f64 {
    let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let found: BTreeSet<usize> = ranks.iter().copied().filter(|r| *r <= K).collect();
    let ideal: f64 = (1..=n_targets.min(K)).map(gain).sum();
    // Without results this returns 0; an empty sum would be −0.
    if ideal > 0.0 && !found.is_empty() {
        found.into_iter().map(gain).sum::<f64>() / ideal
    } else {
        0.0
    }
}

/// Returns the share of the targets whose file has one of the first rows.
fn row_recall(targets: &[Target], rows: &[FoundFile]) -> f64 {
    let is_there = |t: &&Target| rows.iter().take(ROWS).any(|row| matches(&row.path, &t.path));
    targets.iter().filter(is_there).count() as f64 / targets.len().max(1) as f64
}

fn span_recall(targets: &[Target], rows: &[FoundFile], n_rows: usize) -> Option<f64> {
    let spans: Vec<(&str, u32, u32)> =
        targets.iter().filter_map(|t| Some((&*t.path, t.start_line?, t.end_line?))).collect();
    let covers = |row: &FoundFile, (path, first, last): (&str, u32, u32)| {
        row.lines.filter(|_| matches(&row.path, path)).is_some_and(|(a, b)| {
            let common = (last.min(b) + 1).saturating_sub(first.max(a));
            2 * common > last - first.min(last)
        })
    };
    let found =
        spans.iter().filter(|span| rows.iter().take(n_rows).any(|row| covers(row, **span))).count();
    (!spans.is_empty()).then(|| found as f64 / spans.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str, lines: Option<(u32, u32)>) -> Target {
        Target {
            path: path.to_string(),
            file: None,
            start_line: lines.map(|l| l.0),
            end_line: lines.map(|l| l.1),
        }
    }

    fn question(targets: Vec<Target>) -> EvalQuestion {
        let empty = String::new;
        EvalQuestion {
            id: empty(),
            repo: empty(),
            language: empty(),
            category: empty(),
            query: empty(),
            targets,
            commit: None,
        }
    }

    fn rows(paths: &[&str]) -> Vec<FoundFile> {
        paths.iter().map(|p| FoundFile { path: (*p).to_string(), lines: None }).collect()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn rows_of_one_file_are_one_rank() {
        let q = question(vec![target("b", None), target("c", None)]);
        let s = score(&q, &rows(&["a", "a", "b", "a", "x", "c"]), 0.0);
        assert_eq!(s.ranks, [2, 4]);
        // (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))
        near(s.ndcg, (0.63093 + 0.43068) / 1.63093);
        assert_eq!((s.recall_1, s.recall_5, s.mrr), (0.0, 1.0, 0.5));
    }

    #[test]
    fn two_targets_at_one_rank_count_once() {
        let q = question(vec![target("src/a.rs", None), target("a.rs", None)]);
        let s = score(&q, &rows(&["src/a.rs", "b.rs"]), 0.0);
        assert_eq!(s.ranks, [1, 1]);
        near(s.ndcg, 1.0 / 1.63093);
    }

    #[test]
    fn paths_match_by_whole_components_at_the_end() {
        assert!(
            matches("lib/x/a.py", "a.py")
                && matches("a.py", "lib/x/a.py")
                && matches("a.py", "a.py")
        );
        assert!(!matches("lib/data.py", "a.py") && !matches("x/a.py", "y/a.py"));
    }

    #[test]
    fn the_eleventh_file_is_worth_nothing_to_ndcg() {
        let paths: Vec<String> = (0..12).map(|i| format!("f{i}")).collect();
        let paths: Vec<&str> = paths.iter().map(|p| &**p).collect();
        let s = score(&question(vec![target("f10", None)]), &rows(&paths), 0.0);
        assert_eq!((s.ndcg, s.ranks, s.recall_10), (0.0, vec![11], 0.0));
        near(s.mrr, 1.0 / 11.0);
    }

    #[test]
    fn a_file_counts_for_five_rows_and_a_place_for_the_first() {
        let row = |path: &str, lines| FoundFile { path: path.to_string(), lines: Some(lines) };
        let q = question(vec![target("a", Some((1, 9))), target("b", Some((1, 9)))]);
        let mut rows = vec![row("a", (1, 9)), row("a", (20, 29))];
        rows.extend((0..3).map(|i| row(&format!("x{i}"), (1, 9))));
        rows.push(row("b", (1, 9)));
        let s = score(&q, &rows, 0.0);
        assert_eq!((s.row_recall_5, s.recall_5), (0.5, 1.0));
        assert_eq!((s.span_recall_1, s.span_recall_5), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn a_row_must_cover_half_of_the_lines() {
        let span = |lines| {
            let row = FoundFile { path: "a".to_string(), lines: Some(lines) };
            score(&question(vec![target("a", Some((11, 20)))]), &[row], 0.0).span_recall_5
        };
        assert_eq!(span((1, 15)), Some(1.0));
        assert_eq!(span((1, 14)), Some(0.0));
        assert_eq!(span((16, 99)), Some(1.0));
        assert_eq!(span((21, 99)), Some(0.0));
        assert_eq!(span((1, 5)), Some(0.0));
        assert_eq!(
            score(&question(vec![target("a", None)]), &rows(&["a"]), 0.0).span_recall_5,
            None
        );
    }
}
