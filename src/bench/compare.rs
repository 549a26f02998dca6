//! Compares the reports of two runs.

use serde::Serialize;

use super::report::{BenchReport, Figure, Unit};

/// Whether a figure changed by more than its noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Better,
    Worse,
    /// The intervals overlap.
    Same,
}

/// One figure in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The name in the report; with `_p99` for a 99th percentile.
    pub name: String,
    pub unit: Unit,
    pub then: f64,
    pub now: f64,
    /// `now / then`.
    pub ratio: f64,
    /// The least and the largest ratio of values within both intervals.
    pub ratio_interval: [f64; 2],
    pub verdict: Verdict,
}

impl Change {
    fn new(then: &Figure, now: &Figure) -> Self {
        let ratio_interval =
            [ratio(now.interval[0], then.interval[1]), ratio(now.interval[1], then.interval[0])];
        Self {
            name: now.name.clone(),
            unit: now.unit,
            then: then.median,
            now: now.median,
            ratio: ratio(now.median, then.median),
            ratio_interval,
            verdict: Verdict::new(now.unit, ratio_interval),
        }
    }
}

impl Verdict {
    /// Judges the interval of a ratio: a change is larger than the noise if 1 is outside.
    #[must_use]
    pub fn new(unit: Unit, ratio_interval: [f64; 2]) -> Self {
        let [low, high] = ratio_interval;
        match (low > 1.0, high < 1.0) {
            (true, _) if unit.more_is_better() => Self::Better,
            (_, true) if !unit.more_is_better() => Self::Better,
            (true, _) | (_, true) => Self::Worse,
            _ => Self::Same,
        }
    }
}

fn ratio(now: f64, then: f64) -> f64 {
    if then > 0.0 { now / then } else { 1.0 }
}

/// Returns the changes of all figures that both reports have, in the order of `now`.
#[must_use]
pub fn compare(then: &BenchReport, now: &BenchReport) -> Vec<Change> {
    let before = then.all_figures();
    let same = |now: &Figure| before.iter().find(|f| (&f.name, f.unit) == (&now.name, now.unit));
    now.all_figures().iter().filter_map(|now| Some(Change::new(same(now)?, now))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_beyond_the_noise_is_a_change() {
        let figure = |unit, median: f64, noise: f64| Figure {
            name: "x".into(),
            unit,
            n: 5,
            median,
            interval: [median - noise, median + noise],
        };
        let verdict = |unit, now: f64, noise: f64| {
            Change::new(&figure(unit, 10.0, 1.0), &figure(unit, now, noise)).verdict
        };
        assert_eq!(verdict(Unit::Ms, 13.0, 1.0), Verdict::Worse);
        assert_eq!(verdict(Unit::Ms, 13.0, 2.5), Verdict::Same);
        assert_eq!(verdict(Unit::Ms, 7.0, 1.0), Verdict::Better);
        assert_eq!(verdict(Unit::QueriesPerSecond, 13.0, 1.0), Verdict::Better);
        assert_eq!(verdict(Unit::Share, 7.0, 1.0), Verdict::Worse);
        let change = Change::new(&figure(Unit::Ms, 10.0, 2.0), &figure(Unit::Ms, 20.0, 4.0));
        assert_eq!((change.ratio, change.ratio_interval), (2.0, [16.0 / 12.0, 3.0]));
    }
}
