//! `cortex graph routes`: shows HTTP routes, their handlers and what requests them.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Args, LIMIT, Rows, request, told};
use crate::cli::args::{OfProject, end};
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::{json, printable};
use crate::engine::{AnswerFrom, Call, Client};

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
        told(&answer.state, &answer.shown(&Paths::of(&engine.project)), true)?;
    }
    for client in clients {
        end(client.engine, Outcome::Done);
    }
    Ok(end(engine, Outcome::Done))
}
