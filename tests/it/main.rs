//! End-to-end tests: the real program in temporary projects. A test asserts what a user would notice.
//!
//! `STRESS=1` makes the crash tests longer.

mod bad_input;
mod crash;
mod foreign;
mod incremental;
mod index;
mod project;
mod search;
mod search_output;
mod skip;
