//! `cortex open`: shows the page of the project in a browser.

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::browser;
use super::outcome::Outcome;
use super::render::line;
use super::serve;
use crate::serve::InTheWay;

/// The views that can be opened.
const VIEWS: [&str; 5] = ["search", "change", "memory", "map", "state"];
/// Show the page of the project in a browser: search, code, changes, memory, map and state.
// A group of arguments is named after its type, and the server's is called the same.
#[derive(clap::Args)]
#[group(skip)]
#[command(after_help = "Examples:
  cortex open
  cortex open where are retries counted
  cortex open --view map

The page of a running server is shown. If none serves the project, the server of this machine begins to (`cortex server`); if it cannot, this command serves until Ctrl-C ends it.")]
pub(super) struct Args {
    /// Search for this
    query: Vec<String>,
    /// Show this view
    #[arg(long, value_name = "VIEW", default_value = "search", conflicts_with = "query", value_parser = PossibleValuesParser::new(VIEWS))]
    view: String,
    /// Print the address and open no browser
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    server: serve::Args,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let view = if args.query.is_empty() {
        format!("/{}", args.view)
    } else {
        let query = args.query.join(" ");
        format!("/search?q={}", utf8_percent_encode(&query, NON_ALPHANUMERIC))
    };
    let project = args.server.project.open_or_ask()?;
    let running = if project.config.shared && args.server.is_for_all() {
        match serve::in_background(&args.server, &project) {
            Err(e) if e.is::<InTheWay>() => return Err(e),
            served => served.inspect_err(|e| tell!("serving here, because {e:#}")).ok(),
        }
    } else {
        serve::running(&args.server, &project)?
    };
    match running {
        Some(running) => {
            let address = running.page(&view)?;
            line(&address)?;
            if !args.print {
                browser::show(&address);
            }
            Ok(Outcome::Done)
        }
        None => {
            let shown = serve::Shown { view: &view, in_browser: !args.print };
            serve::serve_and_show(&args.server, Some(shown))
        }
    }
}
