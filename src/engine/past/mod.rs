//! Questions about the past: commits, why lines are as they are, and what happened since.

pub(in crate::engine) mod change_rows;
pub(in crate::engine) mod changes;
pub(in crate::engine) mod diffs;
pub(in crate::engine) mod earlier;
pub(in crate::engine) mod history;
pub(in crate::engine) mod patch;
pub(in crate::engine) mod question;
pub(in crate::engine) mod why;

pub use change_rows::{
    ChangeCount, ChangedArea, ChangedFileRow, ChangedRow, ChangesAnswer, CommitLine, DeadRow,
    NewCallers, SignatureRow, Since, TestChanges,
};
pub use changes::ChangesRequest;
pub use diffs::ChangedPlace;
pub use earlier::{CommitRow, PastAnswer, PastRequest};
pub use history::{HistoryAnswer, HistoryRequest, HistoryRow};
pub use patch::{PatchAnswer, PatchFile, PatchLine, PatchPart, PatchRequest};
pub use why::{WhyAnswer, WhyCommit, WhyDocument, WhyPassed, WhyRequest};
