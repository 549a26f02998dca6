//! The laws of a depot, over each implementation.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "tests, over small numbers of their own"
)]

mod laws;
#[cfg(feature = "postgres")]
mod measure;
#[cfg(feature = "milvus")]
mod milvus;
#[cfg(feature = "postgres")]
mod postgres;
#[allow(dead_code, reason = "each engine's tests use a part of it")]
mod server;
mod shelf;
#[cfg(any(feature = "milvus", feature = "postgres"))]
mod tls;
