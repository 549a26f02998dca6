//! The command line, one file per subcommand. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 done or found, 1 nothing found, 2 an error.

/// Prints a line on stderr. Unlike `eprintln!`, it does not panic if nobody reads it.
macro_rules! tell {
    ($($argument:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($argument)*);
    }};
}

mod args;
mod bench;
mod browser;
mod changes;
mod clean;
mod completions;
mod depot;
mod deps;
mod doctor;
mod elsewhere;
#[expect(clippy::disallowed_methods, reason = "sets of questions and folders that the user names")]
mod eval;
mod explore;
mod files;
mod found;
mod graph;
mod grep;
mod here;
mod history;
mod hook;
mod index;
mod init;
mod map;
mod mcp;
#[expect(clippy::disallowed_methods, reason = "a file that the user names")]
mod memory;
mod open;
mod outcome;
mod outline;
mod paths;
mod pattern;
mod progress;
mod publish;
mod read;
mod related;
mod render;
mod search;
mod serve;
mod server;
mod status;
mod team;
mod temporary;
mod version;
mod why;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use self::outcome::Outcome;
use crate::config;
use crate::platform::survive_file_size_limit;
use crate::source;
use crate::store;
use crate::work::compute_threads;

/// Search the code, documents and configuration of a repository by words and by meaning, offline.
#[derive(Parser)]
#[command(
    name = "cortex",
    version,
    disable_version_flag = true,
    after_help = "Example: cortex search \"where are retries counted\"

Without a command, cortex says where the current project stands, and names the next step."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the version; with --verbose also the commit, the target and the model
    #[arg(long, short = 'V')]
    version: bool,
    #[arg(long, short, requires = "version", hide = true)]
    verbose: bool,
    /// Color the output [default: auto, on a terminal]
    #[arg(long, global = true, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    color: Option<String>,
    /// Link printed paths to their files, on terminals [default: auto, where links are known to work]
    #[arg(long, global = true, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    hyperlinks: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    Explore(explore::Args),
    Search(search::Args),
    Grep(grep::Args),
    Pattern(pattern::Args),
    Files(files::Args),
    Outline(outline::Args),
    Read(read::Args),
    Related(related::Args),
    History(history::Args),
    Why(why::Args),
    Graph(graph::Args),
    Map(map::Args),
    Changes(changes::Args),
    Deps(deps::Args),
    Index(index::Args),
    Init(init::Args),
    Status(status::Args),
    Memory(memory::Args),
    Hook(hook::Args),
    Mcp(mcp::Args),
    Serve(serve::Args),
    Server(server::Args),
    Open(open::Args),
    Publish(publish::Args),
    Team(team::Args),
    Doctor(doctor::Args),
    Clean(clean::Args),
    Eval(eval::Args),
    Bench(bench::Args),
    Completions(completions::Args),
}

/// The log on stderr. Messages quote names from the repository, so control characters are escaped,
/// except those that set colours.
struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().write_all(source::printable_but(&text, &['\n', '\t', '\x1b']).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// How similar to an option a text is that was meant to be the option.
const TYPING_ERROR: f64 = 0.6;

/// Reads the command line.
fn parsed() -> Cli {
    let args: Vec<OsString> = std::env::args_os().collect();
    let read = Cli::try_parse_from(&args).or_else(|e| {
        let meant = as_meant(&args, &e).ok_or(e)?;
        Cli::try_parse_from(meant)
    });
    read.unwrap_or_else(|e| with_owners(e, &args).exit())
}

/// Says which other subcommands of the command have an option that the given one has not.
fn with_owners(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let (option, root) = (given.clone(), command());
    let Some(command) = args.iter().find_map(|arg| root.find_subcommand(arg)) else {
        return error;
    };
    let is_given = |arg: &clap::Arg| arg.get_long().is_some_and(|l| option == format!("--{l}"));
    let owners: Vec<String> = command
        .get_subcommands()
        .filter(|sub| sub.get_arguments().any(is_given))
        .map(|sub| format!("`cortex {} {}`", command.get_name(), sub.get_name()))
        .collect();
    if error.kind() == ErrorKind::UnknownArgument && !owners.is_empty() {
        let said = format!("options such as {option} belong to {}", owners.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![said.into()]));
    }
    error
}

/// Returns a command line with the subcommand of its command before the options that came before it.
fn in_order(args: &[OsString]) -> Option<Vec<OsString>> {
    let root = command();
    let at = args.iter().position(|arg| root.find_subcommand(arg).is_some())? + 1;
    let command = root.find_subcommand(&args[at - 1])?;
    let n_before = args[at..].iter().position(|arg| command.find_subcommand(arg).is_some())?;
    let mut ordered = args.to_vec();
    ordered[at..=at + n_before].rotate_right(1);
    (n_before > 0).then_some(ordered)
}

/// Returns a command line as its writer means it: a question without a command is searched, a text that
/// begins like an option, but resembles none, is what `explore`, `search` or `grep` looks for, and the
/// options of a subcommand may come before it.
fn as_meant(args: &[OsString], error: &clap::Error) -> Option<Vec<OsString>> {
    let text = args.last()?.to_str()?;
    let with = |before: &[&str]| before.iter().map(OsString::from).chain([text.into()]).collect();
    let is_like_option = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(option)) => {
            strsim::normalized_damerau_levenshtein(option, text) >= TYPING_ERROR
        }
        _ => false,
    };
    match args.iter().map(|arg| arg.to_str()).collect::<Vec<_>>()[..] {
        [Some(program), _] if !text.starts_with('-') && text.trim().contains(' ') => {
            Some(with(&[program, "search"]))
        }
        [Some(program), Some(command @ ("explore" | "search" | "grep")), _]
            if error.kind() == ErrorKind::UnknownArgument && !is_like_option =>
        {
            Some(with(&[program, command, "--"]))
        }
        _ if error.kind() == ErrorKind::UnknownArgument => in_order(args),
        _ => None,
    }
}

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    let cli = parsed();
    match cli.color.as_deref() {
        Some("always") => console::set_colors_enabled(true),
        Some("never") => console::set_colors_enabled(false),
        _ => {}
    }
    paths::use_links(cli.hyperlinks.as_deref().unwrap_or("auto"));
    // CORTEX_LOG=cortex=debug shows more.
    let usual = match cli.command {
        Some(Command::Serve(_) | Command::Open(_) | Command::Server(_)) => "cortex=info",
        Some(Command::Mcp(_)) => "cortex=warn",
        // It reports what others warn of.
        Some(Command::Doctor(_)) => "error",
        _ => "warn",
    };
    let filter = EnvFilter::try_from_env("CORTEX_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Log)
        .with_ansi(console::colors_enabled_stderr())
        .without_time()
        .with_target(false)
        .init();
    survive_file_size_limit();
    if !matches!(cli.command, Some(Command::Bench(_))) {
        store::use_key_of(config::state_home());
    }
    // These carry lines or messages, and compute nothing.
    if !matches!(cli.command, Some(Command::Mcp(_) | Command::Server(_))) {
        compute_threads();
    }
    if cli.version {
        return code(version::run(cli.verbose));
    }
    let Some(command) = cli.command else { return code(here::run()) };
    code(match command {
        Command::Explore(args) => explore::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Grep(args) => grep::run(&args),
        Command::Pattern(args) => pattern::run(&args),
        Command::Files(args) => files::run(&args),
        Command::Outline(args) => outline::run(&args),
        Command::Read(args) => read::run(&args),
        Command::Related(args) => related::run(&args),
        Command::History(args) => history::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Map(args) => map::run(&args),
        Command::Changes(args) => changes::run(&args),
        Command::Deps(args) => deps::run(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Team(args) => team::run(&args),
        Command::Index(args) => index::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Memory(args) => memory::run(&args),
        Command::Hook(args) => Ok(hook::run(&args)),
        Command::Mcp(args) => mcp::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Server(args) => server::run(&args),
        Command::Open(args) => open::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Clean(args) => clean::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => completions::run(&args, &mut self::command()),
    })
}

/// Returns the exit code of a command, and prints its error.
fn code(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound) => ExitCode::from(1),
        // The reader of the pipe has closed it, as in `cortex search … | head`.
        Err(e)
            if e.downcast_ref::<std::io::Error>()
                .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(e) => {
            tell!("error: {}", source::printable_message(format!("{e:#}").trim_end()));
            ExitCode::from(2)
        }
    }
}

/// Returns the definition of the whole command line.
#[must_use]
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
