//! The repositories of a team in an existing engine: what is stored there, how it is published, and
//! how a question is answered from it.
//!
//! The engine proposes files, and `search` ranks them: [`Shared::extract`] makes a corpus of what the
//! engine proposes. `specs/team.md` has the reasons.

mod open;
mod publish;
mod repositories;
mod shared;
mod stored;

pub use open::open;
pub use publish::{Publication, Published, Publisher};
pub use repositories::{Repository, Size, collect, remove, repositories};
pub use shared::{Cache, Shared};
pub use stored::{Lease, RepositoryManifest};

use cortex_depot::DepotError;
pub use cortex_depot::{Depot, Meter, Record};

use crate::search::SearchError;

/// Why something could not be published or asked.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    #[error(transparent)]
    Depot(#[from] DepotError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error("no repository `{0}` is published there")]
    Unknown(String),
    #[error(
        "{who} publishes `{name}` at this moment; try again when it is done, at the latest in {seconds} s"
    )]
    Busy { name: String, who: String, seconds: i64 },
    #[error(
        "`{name}` was published with {found}, and this is {ours}: publish it under another name, or remove it first"
    )]
    Other { name: String, found: String, ours: String },
    #[error(
        "`{name}` was published by a newer cortex (schema {schema} of its record, {known} is known here): install that one"
    )]
    Newer { name: String, schema: u32, known: u32 },
    #[error(
        "`{name}` was published by an older cortex (schema {schema} of its record, {known} is known here): publish it again after `cortex team remove {name}`"
    )]
    Older { name: String, schema: u32, known: u32 },
    #[error("{0} of `{1}` cannot be read: publish it again after `cortex team remove {1}`")]
    Damaged(&'static str, String),
    #[error("the address of a depot begins with `postgres://` or `milvus://`")]
    NoDepot,
    #[error(
        "cannot open a depot of `{0}`: this program was built without the clients of a team's engines (install a package of Cortex, which has them, or build it in a clone with `cargo install --locked --path . --features team`)"
    )]
    NoClient(String),
    #[error("another publisher took over: nothing of this generation is visible")]
    Lost,
}

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, TeamError>;

#[cfg(test)]
mod tests;
