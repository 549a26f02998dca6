//! Records damage of the saved files that an index reads.

use std::sync::OnceLock;

type Tell = Box<dyn Fn() + Send + Sync>;

/// The first failure of an index that reads saved files. All corpora that read the same files share
/// it.
#[derive(Default)]
pub(super) struct Health {
    /// Whether the index reads saved files. An index in memory cannot be damaged: its failures are
    /// bugs, which a rebuild would not mend.
    reads_saved: bool,
    damage: OnceLock<String>,
    tell: OnceLock<Tell>,
}

impl Health {
    pub(super) fn of_saved() -> Self {
        Self { reads_saved: true, ..Self::default() }
    }

    /// Returns why the index could not be read.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.get().map(String::as_str)
    }

    /// Sets the function that is called once, at the first failure. Later functions are ignored.
    pub(super) fn on_damage(&self, tell: Tell) {
        let _ = self.tell.set(tell);
    }

    /// Records that the index could not be read.
    pub(super) fn note(&self, why: &dyn ToString) {
        if self.reads_saved
            && self.damage.set(why.to_string()).is_ok()
            && let Some(tell) = self.tell.get()
        {
            tell();
        }
    }
}
