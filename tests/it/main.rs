//! End-to-end tests: the real program in temporary projects. A test asserts what a user would
//! notice.
//!
//! `STRESS=1` makes the crash and load tests longer.

#![allow(
    clippy::unwrap_used,
    reason = "a test that panics has failed; clippy.toml allows it only in the test functions themselves"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and locks of their own"
)]

mod agents;
mod architecture;
mod archives;
mod asking;
mod authority;
mod bad_input;
mod bench;
mod changes;
mod clients;
mod commits;
mod conformance;
mod consent;
mod crash;
mod damage;
mod deleted;
mod dependencies;
mod docs;
mod early;
mod edit;
mod eval;
mod explore;
mod first_minutes;
mod following;
mod foreign;
mod fuzz;
mod generated;
mod git_commands;
mod grams;
mod graph;
mod help;
mod history;
mod hostile;
mod incremental;
mod index;
mod json_output;
mod keeping;
mod known;
mod languages;
mod limits;
mod machine;
mod many;
mod memory;
mod messages;
mod notes;
mod one_engine;
mod output;
mod packages;
mod packed;
mod page;
mod past;
mod places;
mod quoted;
mod reading;
mod remote_model;
mod rename;
mod renamed;
mod routes;
mod samples;
mod scip;
mod search;
mod search_output;
mod secrets;
mod serve;
mod serving;
mod settings;
mod shipped;
mod shown;
mod skip;
mod support;
#[cfg(feature = "team")]
mod team;
mod tied;
mod told;
mod tools_snapshot;
mod warm;
mod why;
mod written;

use support::{project, server};
