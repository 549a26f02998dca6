//! The `cortex` program: parse the command line, run it, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    cortex::cli::run()
}
