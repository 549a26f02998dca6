//! `cortex completions`: prints completion scripts for shells.

use anyhow::Result;
use clap_complete::Shell;

use super::outcome::Outcome;

/// Print a completion script for a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Example: cortex completions bash > ~/.local/share/bash-completion/completions/cortex"
)]
pub(super) struct Args {
    shell: Shell,
}

pub(super) fn run(args: &Args, command: &mut clap::Command) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "cortex", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Outcome::Done)
}
