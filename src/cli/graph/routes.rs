//! `cortex graph routes`: shows HTTP routes, their handlers and what requests them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use console::style;

use super::{Args, LIMIT, Rows, request};
use crate::cli::args::{OfProject, end};
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::{count, fitted, json, line, printable, warnings};
use crate::engine::{AnswerFrom, Call, Client, GraphAnswer, GraphRow};

#[derive(clap::Args)]
pub(super) struct Routes {
    /// A path such as `GET /users/{id}`, a handler, or a file; `.` lists all routes
    target: String,
    /// Look for requests in another project, too (repeat)
    #[arg(long, value_name = "DIR")]
    clients: Vec<PathBuf>,
    #[command(flatten)]
    rows: Rows,
}

pub(super) fn run(of: &Routes, args: &Args) -> Result<Outcome> {
    let mut request = request(&of.target, &of.rows, Some(LIMIT));
    let engine = args.engine([&mut request.target])?;
    let open = |dir: &PathBuf| -> Result<Client> {
        let name = dir.display().to_string();
        let project = OfProject::at(dir);
        let engine = project
            .engine(AnswerFrom::Tree)
            .with_context(|| format!("cannot open the client {}", printable(&name)))?;
        Ok(Client { name, engine })
    };
    let clients = of.clients.iter().map(open).collect::<Result<Vec<Client>>>()?;
    let answer = engine.routes(&request, &clients, &Call::default())?;
    if args.json {
        json(&answer)?;
    } else {
        warnings(&answer.state);
        print(&answer, &Paths::of(&engine.project))?;
    }
    for client in clients {
        end(client.engine, Outcome::Done);
    }
    Ok(end(engine, Outcome::Done))
}

fn print(answer: &GraphAnswer, paths: &Paths) -> Result<()> {
    answer.results.iter().try_for_each(|row| print_row(row, paths))?;
    if answer.truncated {
        tell!(
            "{} of {} are shown: -n shows more",
            answer.results.len(),
            count(answer.total, "result")
        );
    }
    if !answer.candidates.is_empty() {
        line(&style("less certain:").dim().to_string())?;
        answer.candidates.iter().try_for_each(|row| print_row(row, paths))?;
    }
    Ok(())
}

fn print_row(row: &GraphRow, paths: &Paths) -> Result<()> {
    let reason = printable(row.reason.as_deref().unwrap_or_default());
    let at = paths.place(Some((row.node.line, row.node.line)).filter(|l| l.0 > 0), &row.node.path);
    let at = paths.linked(&row.node.path, Some(row.node.line.into()), style(at).cyan());
    let symbol = match &*row.node.symbol {
        "" => String::new(),
        symbol => format!("  {}", style(printable(symbol)).green()),
    };
    let sure =
        if row.confidence < 0.9 { format!("  {:.2}", row.confidence) } else { String::new() };
    let text = if row.depth == 0 {
        // The registration, if it is somewhere else.
        let is_here = row.via == row.node.path && row.sites.first() == Some(&row.node.line);
        let site = match row.sites.first() {
            Some(site) if !is_here && row.via == row.node.path => format!("  at {site}"),
            Some(site) if !is_here => {
                format!("  at {}", paths.place(Some((*site, *site)), &row.via))
            }
            _ => String::new(),
        };
        format!("{reason}  {at}{symbol}{}", style(format!("{sure}{site}")).dim())
    } else {
        let sites: Vec<String> = row.sites.iter().skip(1).take(12).map(u32::to_string).collect();
        let sites =
            if sites.is_empty() { String::new() } else { format!("  and at {}", sites.join(", ")) };
        format!("  {at}{symbol}  {}", style(format!("{reason}{sure}{sites}")).dim())
    };
    line(&fitted(&text))?;
    let first = row.context_start_line.unwrap_or(1);
    for (number, text) in (first..).zip(row.context.as_deref().unwrap_or_default().lines()) {
        line(&format!("{number:>6} {}", printable(text)))?;
    }
    Ok(())
}
