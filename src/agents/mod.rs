//! Coding agents: what each one reads, as data, and how Cortex writes itself into it.
//!
//! An agent is a file in `known/`. It lists *parts*: changes of files, each with a path for the user
//! and one for a project. [`Plan`] computes all changes before anything is written, [`Record`]
//! remembers what the files held before, and `event.rs` translates the hooks of every agent into one
//! form.

mod detect;
mod event;
mod fence;
mod json;
mod known;
mod ours;
mod part;
mod plan;
mod record;
mod toml;
mod verify;

pub use detect::{Home, Others, others_on_path};
pub use event::{Deed, Event, EventError, Speech, last_answer};
pub use known::{Agent, all, speech_of};
pub(crate) use ours::PROGRAMS;
pub use part::{AgentPart, Kind, Program, Scope};
pub use plan::{
    Change, Entry, Outcome, Plan, PlanError, Refused, Request, entries, texts, unreadable, wired,
};
pub use record::Record;
pub use verify::Verified;
