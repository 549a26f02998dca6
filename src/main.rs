//! The `cortex` program: parses the command line, runs the command and exits.

use std::process::ExitCode;

/// A server builds and drops whole indexes on many short-lived threads. The system's allocator
/// keeps the memory that each thread freed: a process takes a third more memory after 300 reloads
/// than after 30. jemalloc returns it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    cortex::cli::run()
}
