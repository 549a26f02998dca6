//! The machine's server: one process that serves all projects of a user, to agents and commands on
//! the same machine. They reach it by a socket in a directory that only this user can enter.
//!
//! A server answers as the program that started it would: the name of its socket is made of the
//! program's file and version and of the settings in its environment. So another version, or other
//! settings, have a server of their own, and nothing is negotiated.

mod bridge;
mod host;
mod place;
mod wire;

pub use bridge::Bridge;
pub use host::{Host, alone};
pub use place::ServerPlace;
pub use wire::{ProjectStatus, ServerStatus, Want};
