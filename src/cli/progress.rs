//! Progress bars on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::index::Progress;

/// How often a bar without a number moves.
const TICK: Duration = Duration::from_millis(100);

/// A bar on stderr. It shows nothing if stderr is not a terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn indexing(quiet: bool) -> Self {
        Self::new("indexing {wide_bar} {pos}/{len} files {elapsed}", quiet)
    }

    pub(super) fn embedding(quiet: bool) -> Self {
        Self::new("vectors {wide_bar} {pos}/{len} chunks {elapsed}", quiet)
    }

    /// A bar for phases of which only the name and the time are known.
    pub(super) fn preparing(quiet: bool) -> Self {
        let bar = Self::new("{msg} {spinner} {elapsed}", quiet);
        bar.0.enable_steady_tick(TICK);
        bar
    }

    /// Shows the name of the phase that begins.
    pub(super) fn say(&self, phase: &'static str) {
        self.0.set_message(phase);
    }

    pub(super) fn graph(quiet: bool) -> Self {
        Self::new("code graph {wide_bar} {pos}/{len} files {elapsed}", quiet)
    }

    fn new(template: &str, quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template(template);
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(super) fn show(&self, p: Progress) {
        self.0.set_length(p.total as u64);
        self.0.set_position(p.done as u64);
        if p.done == p.total {
            self.end();
        }
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.end();
    }
}
