//! Whether the saved files that an index reads are still what was saved.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use super::corpus::SearchError;

type Tell = Box<dyn Fn() + Send + Sync>;

/// Remembers the first failure of an index that reads saved files. All corpora that read the same files share one.
#[derive(Default)]
pub(super) struct Health {
    /// An index in memory cannot be damaged: its failures are bugs, and building it anew would not help.
    reads_saved: bool,
    damage: OnceLock<String>,
    tell: OnceLock<Tell>,
}

impl Health {
    pub(super) fn of_saved() -> Self {
        Self { reads_saved: true, ..Self::default() }
    }

    /// What was wrong when the index was read.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.get().map(String::as_str)
    }

    /// Calls `tell` once, when the first failure is noted. A second `tell` is ignored.
    pub(super) fn on_damage(&self, tell: Tell) {
        let _ = self.tell.set(tell);
    }

    /// Notes that the index could not be read.
    pub(super) fn note(&self, why: &dyn ToString) {
        if self.reads_saved
            && self.damage.set(why.to_string()).is_ok()
            && let Some(tell) = self.tell.get()
        {
            tell();
        }
    }

    /// Asks the index. An error or a panic of an index that reads saved files is noted; from then on every question fails with it,
    /// also one whose own part of the files is whole.
    pub(super) fn guard<T>(&self, ask: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
        let result = match catch_unwind(AssertUnwindSafe(ask)) {
            Ok(result) => result,
            Err(panic) => {
                self.note(&message(&*panic));
                if self.damage().is_none() {
                    resume_unwind(panic);
                }
                return Err(self.error());
            }
        };
        if let Err(e @ (SearchError::Text(_) | SearchError::Saved(_))) = &result {
            self.note(e);
        }
        if self.damage().is_some() { Err(self.error()) } else { result }
    }

    fn error(&self) -> SearchError {
        SearchError::Damaged(self.damage().unwrap_or_default().into())
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
