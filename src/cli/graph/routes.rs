//! `cortex graph routes`: shows HTTP routes, their handlers and what requests them.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::shared::{LIMIT, Rows, Shared};
use crate::cli::args::{OfProject, end};
use crate::cli::outcome::Outcome;
use crate::cli::render::printable;
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

pub(super) fn run(routes: &Routes, shared: &Shared) -> Result<Outcome> {
    let mut of = routes.rows.of(&routes.target, Some(LIMIT));
    let engine = shared.engine([&mut of.target])?;
    let open = |dir: &PathBuf| -> Result<Client> {
        let name = dir.display().to_string();
        let engine = OfProject::at(dir)
            .engine(AnswerFrom::Tree)
            .with_context(|| format!("cannot open the client {}", printable(&name)))?;
        Ok(Client { name, engine })
    };
    let clients = routes.clients.iter().map(open).collect::<Result<Vec<Client>>>()?;
    let answer = engine.routes(&of, &clients, &Call::default())?;
    for client in clients {
        end(client.engine, Outcome::Done);
    }
    shared.answered(engine, &of.target, &answer)
}
