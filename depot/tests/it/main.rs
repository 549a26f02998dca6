//! The laws of a depot, over each implementation.

mod laws;
mod server;
mod shelf;
