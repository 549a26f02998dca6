//! The way in: opens a project, keeps it fresh, and says what a request may reach and how an answer refers to it.

pub(in crate::engine) mod commits;
pub(in crate::engine) mod filters;
pub(in crate::engine) mod freshness;
pub(in crate::engine) mod gram_filters;
pub(in crate::engine) mod graph_rows;
pub(in crate::engine) mod graph_upkeep;
pub(in crate::engine) mod near;
pub(in crate::engine) mod operation;
pub(in crate::engine) mod paths;
pub(in crate::engine) mod pool;
pub(in crate::engine) mod project;
pub(in crate::engine) mod reverts;
pub(in crate::engine) mod rows;
pub(in crate::engine) mod serving;
pub(in crate::engine) mod status;

pub use filters::{Filters, Kinds, Tests, single_globs};
pub use freshness::{AnswerState, Freshness, PublishedState, Wait};
pub use operation::{Advised, FrontEnd};
pub use pool::{Changes, Pool, PoolLimits, Pooled};
pub use project::{LONG_WAIT, Project, ProjectError, SHORT_WAIT};
pub use reverts::RevertNote;
pub use rows::{ChunkRow, ExcerptRow, ResultRow, ScorePart, Window};
pub use serving::{AnswerFrom, Engine, OpenProject, Step, Tell};
pub use status::{Indexing, Reloads, ResidentMemory, Secrets, StatusAnswer, StatusRequest};
