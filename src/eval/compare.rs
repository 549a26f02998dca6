//! Compares two ways to answer the same questions: how much better one is, and where.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::measure::Scored;
use super::question::{LineError, read_lines};

/// Number of bootstrap samples, and the ranks of the interval's ends among them.
const RESAMPLES: usize = 1000;
const LOW: usize = 24;
const HIGH: usize = 974;
/// Most questions that are listed in each direction.
const NAMED: usize = 10;
/// Smaller differences are rounding errors.
const EQUAL: f64 = 1e-9;

/// The score of a question in another evaluation. It also accepts the names that
/// `score.py --rows` writes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Other {
    #[serde(default)]
    pub repo: String,
    pub query: String,
    #[serde(alias = "file")]
    pub ndcg: f64,
    #[serde(default, alias = "file_ranks")]
    pub ranks: Vec<usize>,
}

impl Other {
    /// Reads saved answers, one a line. `file` is the name of the file in errors.
    ///
    /// # Errors
    /// When a line is not an answer.
    pub fn parse(file: &str, text: &str) -> Result<Vec<Self>, LineError> {
        let lines =
            read_lines(file, text, "this file should be one that `cortex eval --save` wrote");
        lines.map(|line| line.map(|(_, other)| other)).collect()
    }
}

impl From<&Scored> for Other {
    fn from(s: &Scored) -> Self {
        Self { repo: s.repo.clone(), query: s.query.clone(), ndcg: s.ndcg, ranks: s.ranks.clone() }
    }
}

/// A paired comparison of NDCG over the questions that both evaluations answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub n: usize,
    /// Means over these questions.
    pub ndcg: f64,
    pub other_ndcg: f64,
    pub difference: f64,
    /// The 95 % bootstrap interval of the mean difference.
    pub interval: (f64, f64),
    pub n_rose: usize,
    pub n_fell: usize,
    /// The largest differences, largest first.
    pub rose: Vec<Move>,
    pub fell: Vec<Move>,
}

/// A question that is answered better or worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    pub repo: String,
    pub query: String,
    pub difference: f64,
    /// Best rank of a relevant file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_rank: Option<usize>,
}

/// Compares answers with those of another evaluation; `None` if they have no question in common.
#[must_use]
pub fn compare(scored: &[Scored], others: &[Other]) -> Option<Comparison> {
    let others: HashMap<(&str, &str), &Other> =
        others.iter().map(|o| ((&*o.repo, &*o.query), o)).collect();
    let pairs: Vec<(&Scored, &Other)> =
        scored.iter().filter_map(|s| Some((s, *others.get(&(&*s.repo, &*s.query))?))).collect();
    let differences: Vec<f64> = pairs.iter().map(|(s, o)| s.ndcg - o.ndcg).collect();
    let mut moves: Vec<Move> = pairs
        .iter()
        .map(|(s, o)| Move {
            repo: s.repo.clone(),
            query: s.query.clone(),
            difference: s.ndcg - o.ndcg,
            rank: s.ranks.iter().min().copied(),
            other_rank: o.ranks.iter().min().copied(),
        })
        .filter(|m| m.difference.abs() > EQUAL)
        .collect();
    // The sort is stable: questions with equal differences stay in their order.
    moves.sort_by(|a, b| b.difference.total_cmp(&a.difference));
    let n_rose = moves.iter().filter(|m| m.difference > 0.0).count();
    let (rose, fell) = moves.split_at(n_rose);
    (!pairs.is_empty()).then(|| Comparison {
        n: pairs.len(),
        ndcg: mean(pairs.iter().map(|(s, _)| s.ndcg)),
        other_ndcg: mean(pairs.iter().map(|(_, o)| o.ndcg)),
        difference: mean(differences.iter().copied()),
        interval: interval(&differences),
        n_rose,
        n_fell: fell.len(),
        rose: rose.iter().take(NAMED).cloned().collect(),
        fell: fell.iter().rev().take(NAMED).cloned().collect(),
    })
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len().max(1) as f64;
    values.sum::<f64>() / n
}

/// Returns the bootstrap interval of a mean; equal values give equal intervals.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut random = SplitMix(0);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| mean((0..values.len()).map(|_| values[random.below(values.len())])))
        .collect();
    means.sort_by(f64::total_cmp);
    (means[LOW], means[HIGH])
}

/// The random number generator `SplitMix64`.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((u128::from(z ^ (z >> 31)) * n as u128) >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::question::{EvalQuestion, Target};
    use crate::eval::{FoundFile, score};

    fn scored(query: &str, found: &[&str]) -> Scored {
        let target = Target { path: "a".to_string(), file: None, start_line: None, end_line: None };
        let empty = String::new;
        let q = EvalQuestion {
            id: empty(),
            repo: "r".to_string(),
            language: empty(),
            category: empty(),
            query: query.to_string(),
            targets: vec![target],
            commit: None,
        };
        let rows: Vec<FoundFile> =
            found.iter().map(|p| FoundFile { path: (*p).to_string(), lines: None }).collect();
        score(&q, &rows, 0.0)
    }

    #[test]
    fn pairs_are_compared_and_named() {
        let now = [
            scored("one", &["a"]),
            scored("two", &["b"]),
            scored("three", &["b", "a"]),
            scored("new", &["a"]),
        ];
        let others = r#"{"repo": "r", "query": "one", "file": 0.0, "file_ranks": []}
{"repo": "r", "query": "two", "ndcg": 0.5, "ranks": [3]}
{"repo": "r", "query": "three", "ndcg": 0.6309297535714575, "ranks": [2]}"#;
        let c = compare(&now, &Other::parse("f", others).unwrap()).unwrap();
        assert_eq!((c.n, c.n_rose, c.n_fell), (3, 1, 1));
        assert!((c.difference - 0.5 / 3.0).abs() < 1e-9);
        assert_eq!(
            (&*c.rose[0].query, c.rose[0].other_rank, c.rose[0].rank),
            ("one", None, Some(1))
        );
        assert_eq!(
            (&*c.fell[0].query, c.fell[0].other_rank, c.fell[0].rank),
            ("two", Some(3), None)
        );
        assert!(c.interval.0 <= c.difference && c.difference <= c.interval.1);
        assert_eq!(compare(&now, &[]), None);
    }

    #[test]
    fn the_interval_is_that_of_the_mean() {
        // Mean 0.1, deviation 0.3: 1.96 × 0.3 / √400 is about 0.03.
        let values: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 0.4 } else { -0.2 }).collect();
        let (low, high) = interval(&values);
        assert!((0.06..0.08).contains(&low) && (0.12..0.14).contains(&high), "{low} {high}");
        assert_eq!(interval(&values), (low, high));
        assert_eq!(interval(&[0.5; 9]), (0.5, 0.5));
    }

    #[test]
    fn an_error_names_the_line() {
        let e = Other::parse("old.jsonl", "\n{\"query\": \"x\"}").unwrap_err().to_string();
        assert!(e.starts_with("old.jsonl:2: missing field `ndcg`") && e.contains("--save"), "{e}");
    }
}
