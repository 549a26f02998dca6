//! Cortex: a search engine that coding agents and the people who work with them keep
//! open beside a repository.
//!
//! `specs/architecture.md` has a map of the modules, and the table of allowed
//! dependencies, which a test checks.
//!
//! ```
//! let chunks = cortex::index::chunk_file("src/add.rs", "/// Adds.\nfn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n");
//! assert!(chunks.iter().any(|chunk| &*chunk.id == "src/add.rs#add"));
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests make files and locks of their own"
    )
)]

pub mod address;
pub mod agents;
pub mod archives;
#[expect(clippy::disallowed_methods, reason = "it makes projects of its own")]
pub mod bench;
pub mod chunk;
pub mod cli;
pub mod config;
pub mod deps;
#[expect(clippy::disallowed_methods, reason = "everything else is opened below what it opens")]
pub mod dir;
pub mod drawing;
pub mod edit;
pub mod embed;
pub mod engine;
pub mod eval;
pub mod excerpt;
#[doc(hidden)]
pub mod fuzz;
pub mod grams;
pub mod graph;
pub mod index;
pub mod known;
pub mod languages;
pub mod live;
pub mod memory;
pub mod overview;
#[expect(clippy::disallowed_methods, reason = "it reads what the system says of itself")]
pub mod platform;
pub mod projects;
pub mod routes;
pub mod scan;
pub mod search;
pub mod secrets;
pub mod serve;
pub mod source;
pub mod sqlite;
pub mod store;
pub mod syntax;
pub mod team;
pub mod text;
pub mod tools;
pub mod user_secret;
pub mod work;
pub mod worker;
