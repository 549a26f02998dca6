//! `/metrics`: statistics in the text format of Prometheus.

use std::fmt::{Display, Write};

use super::calls::Calls;
use super::counters::BUCKETS;
use crate::engine::{Engine, Meter, Team};
use crate::live::resident_bytes;

/// Renders the page. All labels are names of this program, so nothing needs escaping. A client who may
/// see some published repositories only sees its own calls: anything else tells of the others.
pub(super) fn page(engine: &Engine, calls: &Calls) -> String {
    let mut page = Page::default();
    let team = calls.team.as_ref();
    if team.is_none_or(Team::sees_all) {
        of_server(engine, &mut page);
        of_depot(&team.map_or_else(Vec::new, Team::meters), &mut page);
    }
    of_calls(calls, &mut page);
    page.text
}

/// Adds the calls to the depot.
fn of_depot(meters: &[Meter], page: &mut Page) {
    if meters.is_empty() {
        return;
    }
    page.family("cortex_depot_calls_total", "counter", "Calls to the team's depot, by result.");
    for meter in meters {
        for (result, n) in [("ok", meter.n - meter.failed), ("failed", meter.failed)] {
            page.row(&format!("{{call=\"{}\",result=\"{result}\"}}", meter.call), n);
        }
    }
    page.family("cortex_depot_seconds_total", "counter", "Duration of the calls to the depot.");
    for meter in meters {
        page.row(&format!("{{call=\"{}\"}}", meter.call), meter.seconds);
    }
}

/// Adds the state of the server.
fn of_server(engine: &Engine, page: &mut Page) {
    let (snapshot, reloads, index) =
        (engine.manager.current(), engine.manager.metrics(), engine.freshness());
    let (leads, n_runs) = engine.indexing().map_or((false, 0), |indexing| {
        let status = indexing.status();
        (status.leads, status.n_runs)
    });
    page.family("cortex_info", "gauge", "The version of this server.");
    page.row(concat!("{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1);
    page.one("cortex_generation", "gauge", "The generation that is served.", index.generation);
    page.one(
        "cortex_generation_is_local",
        "gauge",
        "Whether only this process counts the generation.",
        u8::from(index.local),
    );
    page.family("cortex_chunks", "gauge", "Chunks that are served.");
    for corpus in &snapshot.corpora {
        page.row(&format!("{{corpus=\"{}\"}}", corpus.name), corpus.corpus.chunks().len());
    }
    page.one(
        "cortex_pending_files",
        "gauge",
        "Changed files that are not indexed yet.",
        index.pending,
    );
    page.one(
        "cortex_leader",
        "gauge",
        "Whether this process watches the source tree.",
        u8::from(leads),
    );
    page.one(
        "cortex_index_runs_total",
        "counter",
        "Index runs of this process that wrote a new generation.",
        n_runs,
    );
    page.family("cortex_reloads_total", "counter", "Reloads of the chunk files, by result.");
    let unchanged = reloads.n_successful.saturating_sub(reloads.n_published);
    for (result, n) in
        [("published", reloads.n_published), ("unchanged", unchanged), ("failed", reloads.n_failed)]
    {
        page.row(&format!("{{result=\"{result}\"}}"), n);
    }
    page.one(
        "cortex_chunk_files_parsed_total",
        "counter",
        "Chunk files that reloads parsed, each once for all indexes.",
        reloads.n_files_parsed,
    );
    page.one(
        "cortex_last_reload_seconds",
        "gauge",
        "Duration of the last reload.",
        reloads.last_duration.as_secs_f64(),
    );
    if let Some(at) = reloads.last_reload_at {
        page.one(
            "cortex_last_reload_timestamp_seconds",
            "gauge",
            "Time at which the last reload ended.",
            at.timestamp(),
        );
    }
    if let Some(bytes) = resident_bytes() {
        page.one(
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory of this process.",
            bytes,
        );
    }
}

/// Adds the calls of tools.
fn of_calls(calls: &Calls, page: &mut Page) {
    let tools = calls.metrics.0.lock().clone();
    page.family("cortex_tool_calls_total", "counter", "Tool calls, by result.");
    for (tool, series) in &tools {
        for (result, n) in &series.by_result {
            page.row(&format!("{{tool=\"{tool}\",result=\"{result}\"}}"), n);
        }
    }
    page.family(
        "cortex_tool_seconds",
        "histogram",
        "Duration of tool calls, including the time that they waited.",
    );
    for (tool, series) in &tools {
        let n: u64 = series.by_result.values().sum();
        for (bound, n) in
            BUCKETS.iter().map(ToString::to_string).zip(series.at_most).chain([("+Inf".into(), n)])
        {
            page.row(&format!("_bucket{{tool=\"{tool}\",le=\"{bound}\"}}"), n);
        }
        page.row(&format!("_sum{{tool=\"{tool}\"}}"), series.seconds);
        page.row(&format!("_count{{tool=\"{tool}\"}}"), n);
    }
}

#[derive(Default)]
struct Page {
    text: String,
    name: &'static str,
}

impl Page {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Writes a row. `rest` follows the name of the family.
    fn row(&mut self, rest: &str, value: impl Display) {
        let _ = writeln!(self.text, "{}{rest} {value}", self.name);
    }

    fn one(&mut self, name: &'static str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.row("", value);
    }
}
