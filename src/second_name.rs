//! `cortex-codesearch` runs the `cortex` beside it. Package runners start a program with the name of
//! its package, and another product installs a command `cortex` too.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

#[expect(clippy::disallowed_methods, reason = "the program itself")]
fn main() -> ExitCode {
    let cortex = match env::current_exe().and_then(|own| own.canonicalize()) {
        Ok(own) => own.with_file_name("cortex"),
        Err(e) => {
            eprintln!("error: cannot determine where cortex-codesearch is installed: {e}");
            return ExitCode::from(2);
        }
    };
    // It returns only if it fails.
    let e = Command::new(&cortex).args(env::args_os().skip(1)).exec();
    eprintln!("error: cannot start {}: {e} (install cortex-codesearch again)", cortex.display());
    ExitCode::from(2)
}
