//! The laws of a depot, over each implementation.

mod laws;
#[cfg(feature = "postgres")]
mod postgres;
mod server;
mod shelf;
