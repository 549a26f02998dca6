//! What tests of several topics share.

pub mod clients;
pub mod hooks;
pub mod model;
pub mod project;
pub mod rust_code;
pub mod server;
pub mod tree;

use std::env;
use std::io::{Write, stderr};
use std::process::Command;
use std::time::{Duration, Instant};

/// Waits until a condition holds, and fails the test if that takes too long.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Says that a test is skipped, because it needs what this machine does not have. Where `CI` is set,
/// nothing may be skipped, and the test fails.
#[track_caller]
pub fn missing(what: &str) {
    assert!(env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{what}");
    // Written directly, because the test harness hides the output of tests that pass.
    stderr().write_all(format!("SKIPPED: {what}\n").as_bytes()).unwrap();
}

/// Returns whether `script` is installed, which runs a command on a terminal of its own. If not, the
/// test is skipped.
#[track_caller]
pub fn has_script() -> bool {
    let is_there =
        Command::new("script").arg("--version").output().is_ok_and(|out| out.status.success());
    if !is_there {
        missing("there is no `script` (bsdutils), which opens a terminal");
    }
    is_there
}
