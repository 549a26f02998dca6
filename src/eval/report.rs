//! Summarizes many answers: overall, and by category, language and repository.

use std::collections::BTreeMap;

use serde::Serialize;

use super::measure::Scored;

/// Mean scores of a group of questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QuestionGroup {
    pub n: usize,
    pub ndcg: f64,
    pub recall_1: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    pub mrr: f64,
    pub row_recall_5: f64,
    /// Mean over the questions that ask for lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_recall_1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_recall_5: Option<f64>,
}

/// Percentiles of the time from the query to its results, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
}

/// The mean scores of all questions, and of each group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    pub overall: QuestionGroup,
    pub by_category: BTreeMap<String, QuestionGroup>,
    pub by_language: BTreeMap<String, QuestionGroup>,
    pub by_repo: BTreeMap<String, QuestionGroup>,
}

impl QuestionGroup {
    fn new(scored: &[&Scored]) -> Self {
        let mean = |of: &dyn Fn(&Scored) -> Option<f64>| {
            let values: Vec<f64> = scored.iter().filter_map(|s| of(s)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        Self {
            n: scored.len(),
            ndcg: mean(&|s| Some(s.ndcg)).unwrap_or_default(),
            recall_1: mean(&|s| Some(s.recall_1)).unwrap_or_default(),
            recall_5: mean(&|s| Some(s.recall_5)).unwrap_or_default(),
            recall_10: mean(&|s| Some(s.recall_10)).unwrap_or_default(),
            mrr: mean(&|s| Some(s.mrr)).unwrap_or_default(),
            row_recall_5: mean(&|s| Some(s.row_recall_5)).unwrap_or_default(),
            span_recall_1: mean(&|s| s.span_recall_1),
            span_recall_5: mean(&|s| s.span_recall_5),
        }
    }
}

impl Summary {
    #[must_use]
    pub fn new(scored: &[Scored]) -> Self {
        let by = |key: fn(&Scored) -> &str| {
            let mut groups: BTreeMap<&str, Vec<&Scored>> = BTreeMap::new();
            for s in scored.iter().filter(|s| !key(s).is_empty()) {
                groups.entry(key(s)).or_default().push(s);
            }
            groups
                .into_iter()
                .map(|(name, scored)| (name.to_string(), QuestionGroup::new(&scored)))
                .collect()
        };
        Self {
            overall: QuestionGroup::new(&scored.iter().collect::<Vec<_>>()),
            by_category: by(|s| &s.category),
            by_language: by(|s| &s.language),
            by_repo: by(|s| &s.repo),
        }
    }
}

impl Latency {
    #[must_use]
    pub fn new(scored: &[Scored]) -> Self {
        let mut times: Vec<f64> = scored.iter().map(|s| s.ms).collect();
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
        };
        Self { p50: at(50), p95: at(95) }
    }
}
