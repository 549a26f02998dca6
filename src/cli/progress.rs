//! Progress bars on a terminal.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use parking_lot::Mutex;

use crate::index::Progress;
use crate::platform;

/// How often a bar without a number moves.
const TICK: Duration = Duration::from_millis(100);

/// The bar that is on the terminal. Ctrl-C removes it before the process ends.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A bar on stderr. It shows nothing if stderr is not a terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn indexing(quiet: bool) -> Self {
        Self::new("indexing {wide_bar} {pos}/{len} files, {rate}, {eta} left", quiet)
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

    /// A bar for one such phase.
    pub(super) fn phase(name: &'static str) -> Self {
        let bar = Self::preparing(false);
        bar.say(name);
        bar
    }

    /// Shows the name of the phase that begins.
    pub(super) fn say(&self, phase: impl Into<Cow<'static, str>>) {
        self.0.set_message(phase);
    }

    /// A bar for a number of questions.
    pub(super) fn questions(n: usize) -> Self {
        let bar = Self::new("{msg} {wide_bar} {pos}/{len} questions {elapsed}", false);
        bar.0.set_length(n as u64);
        bar
    }

    pub(super) fn advance(&self) {
        self.0.inc(1);
    }

    pub(super) fn packages(quiet: bool) -> Self {
        Self::new("packages {wide_bar} {pos}/{len} {elapsed}, {eta} left", quiet)
    }

    pub(super) fn publishing(quiet: bool) -> Self {
        Self::new("publishing {wide_bar} {pos}/{len} files {elapsed}", quiet)
    }

    /// Shows that so many of all are done.
    pub(super) fn at(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }

    pub(super) fn graph(quiet: bool) -> Self {
        Self::new("code graph {wide_bar} {pos}/{len} files {elapsed}", quiet)
    }

    fn new(template: &str, quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar =
            bar.with_style(style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
                // A bar that cannot be drawn is not missed.
                let _ = write!(out, "{:.0}/s", state.per_sec());
            }));
        if !bar.is_hidden() && SHOWN.lock().replace(bar.clone()).is_none() {
            // Without it the interrupted bar stays on the terminal, and nothing else is wrong.
            let _ = platform::before_interrupt(|| {
                if let Some(bar) = &*SHOWN.lock() {
                    bar.finish_and_clear();
                }
            });
        }
        Self(bar)
    }

    pub(super) fn show(&self, p: Progress) {
        self.at(p.done, p.total);
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
