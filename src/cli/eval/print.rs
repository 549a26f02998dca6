//! Prints the measures of a set: tables of 80 columns, or JSON.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Serialize;

use crate::cli::render::{line, width};
use crate::eval::{Comparison, Latency, Move, Other, QuestionGroup, Scored, Summary, compare};

/// The whole report. It is the JSON of `--json`; documented in specs/cli-json.md.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    n_questions: usize,
    #[serde(flatten)]
    summary: Summary,
    latency_ms: Latency,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Plain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Comparison>,
    questions: &'a [Scored],
}

/// The same questions, answered by the baseline.
#[derive(Serialize)]
struct Plain {
    #[serde(flatten)]
    summary: Summary,
    compared: Option<Comparison>,
}

impl<'a> Report<'a> {
    /// `plain`: the scores of the baseline, if it was measured.
    pub(super) fn new(
        scored: &'a [Scored],
        plain: &[Scored],
        compared: Option<Comparison>,
    ) -> Self {
        let baseline = (!plain.is_empty()).then(|| {
            let others: Vec<Other> = plain.iter().map(Other::from).collect();
            Plain { summary: Summary::new(plain), compared: compare(scored, &others) }
        });
        Self {
            n_questions: scored.len(),
            summary: Summary::new(scored),
            latency_ms: Latency::new(scored),
            baseline,
            compared,
            questions: scored,
        }
    }
}

pub(super) fn report(report: &Report) -> Result<()> {
    let plain = report.baseline.as_ref().map(|b| &b.summary);
    let columns = format!(
        "{:<20} {:>6} {:>8} {:>6} {:>6} {:>6} {:>6} {:>7}",
        "", "n", "NDCG@10", "R@1", "R@5", "R@10", "MRR", "span@5"
    );
    line(&if plain.is_some() { format!("{columns} {:>6}", "BM25") } else { columns })?;
    group("overall", &report.summary.overall, plain.map(|p| &p.overall))?;
    let of =
        |s: fn(&Summary) -> &BTreeMap<String, QuestionGroup>| (s(&report.summary), plain.map(s));
    for (groups, plain) in [of(|s| &s.by_category), of(|s| &s.by_language), of(|s| &s.by_repo)] {
        // A single group would repeat the total.
        if groups.len() > 1 {
            line("")?;
            groups
                .iter()
                .try_for_each(|(name, g)| group(name, g, plain.and_then(|p| p.get(name))))?;
        }
    }
    line("")?;
    if let Some(c) = report.baseline.as_ref().and_then(|b| b.compared.as_ref()) {
        line(&format!("against BM25: {}", difference(c)))?;
    }
    if let Some(c) = &report.compared {
        line(&format!("compared: {}", difference(c)))?;
        let missing = report.n_questions - c.n;
        if missing > 0 {
            line(&format!("{missing} questions are not in the file that was compared"))?;
        }
        moves("rose most, old rank → new rank:", &c.rose)?;
        moves("fell most, old rank → new rank:", &c.fell)?;
    }
    line(&format!(
        "one query: {:.1} ms (median), {:.1} ms (95 of 100)",
        report.latency_ms.p50, report.latency_ms.p95
    ))
}

fn group(name: &str, g: &QuestionGroup, plain: Option<&QuestionGroup>) -> Result<()> {
    let span = g.span_recall_5.map_or_else(String::new, |s| format!("{s:.3}"));
    let plain = plain.map_or_else(String::new, |p| format!("{:.3}", p.ndcg));
    let name = console::truncate_str(name, 20, "…");
    let text = format!(
        "{name:<20} {:>6} {:>8.3} {:>6.3} {:>6.3} {:>6.3} {:>6.3} {span:>7} {plain:>6}",
        g.n, g.ndcg, g.recall_1, g.recall_5, g.recall_10, g.mrr
    );
    line(text.trim_end())
}

/// `NDCG@10 +0.012 (95 %: -0.003 to +0.027), 31 rose, 20 fell`
fn difference(c: &Comparison) -> String {
    let (low, high) = c.interval;
    format!(
        "NDCG@10 {:+.3} (95 %: {low:+.3} to {high:+.3}), {} rose, {} fell",
        c.difference, c.n_rose, c.n_fell
    )
}

fn moves(title: &str, moves: &[Move]) -> Result<()> {
    if moves.is_empty() {
        return Ok(());
    }
    line(title)?;
    let rank = |r: Option<usize>| r.map_or_else(|| "-".to_string(), |r| r.to_string());
    let repos: BTreeSet<&str> = moves.iter().map(|m| &*m.repo).collect();
    for m in moves {
        let repo = if repos.len() > 1 { format!("{}: ", m.repo) } else { String::new() };
        let text = format!("{:>4} → {:<3} {repo}{}", rank(m.other_rank), rank(m.rank), m.query);
        line(&console::truncate_str(&text, width(), "…"))?;
    }
    Ok(())
}
