//! Counts the calls of each tool.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;

/// Upper bounds of the latency histogram, in seconds.
pub(super) const BUCKETS: [f64; 11] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 60.0];

/// Statistics of the calls so far, by tool.
#[derive(Debug, Default)]
pub(super) struct ToolCounters(pub(super) Mutex<BTreeMap<&'static str, Series>>);

/// Statistics of the calls of one tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    pub(super) by_result: BTreeMap<&'static str, u64>,
    /// Number of calls that took at most each bound of [`BUCKETS`].
    pub(super) at_most: [u64; BUCKETS.len()],
    pub(super) seconds: f64,
}

impl ToolCounters {
    pub(super) fn record(&self, tool: &'static str, result: &'static str, took: Duration) {
        let mut tools = self.0.lock();
        let series = tools.entry(tool).or_default();
        *series.by_result.entry(result).or_default() += 1;
        series.seconds += took.as_secs_f64();
        for (n, bound) in series.at_most.iter_mut().zip(BUCKETS) {
            *n += u64::from(took.as_secs_f64() <= bound);
        }
    }
}
