//! The servers: the tools over MCP (standard input and output, HTTP) and as a JSON API.
//!
//! All transports use [`Calls`], which runs each tool on its own thread, a
//! limited number at a time.

mod access;
mod activity;
mod asked;
mod call_log;
mod calls;
mod clients;
mod counters;
mod events;
mod http;
mod life;
mod lines;
mod listen;
mod machine;
mod mcp;
mod metrics;
mod openapi;
mod page;
mod refusal;
mod rpc;
mod running;
mod stdio;
#[cfg(test)]
mod tests;
mod token;

pub use access::Access;
pub use calls::Calls;
pub use clients::of_clients;
pub use http::{App, router};
pub use life::{Signals, let_go, run};
pub use listen::{Front, serve};
pub use machine::{Bridge, Host, ProjectStatus, ServerPlace, ServerStatus, Want, alone};
pub use running::{Given, InTheWay, RequestedServer, Running, RunningNote, page_address};
pub use token::Token;
