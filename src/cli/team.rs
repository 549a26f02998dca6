//! `cortex team`: what is published to the depot of a team.

use anyhow::{Result, bail};
use chrono::Utc;
use serde::Serialize;

use super::args::Form;
use super::depot::OfDepot;
use super::outcome::Outcome;
use super::render::{self, count, line, printable};
use crate::team;

/// List, measure, clean and remove what is published to the database of your team
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex team repos --from postgres://me@db.example.com/cortex
  cortex team remove shop/api")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(clap::Subcommand)]
enum Sub {
    Repos(Repos),
    Gc(Gc),
    Remove(Remove),
}

/// List the published repositories
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex team repos
  cortex team repos --sizes --json")]
struct Repos {
    #[command(flatten)]
    depot: OfDepot,
    /// Also ask how much is stored of each; this reads all of it
    #[arg(long)]
    sizes: bool,
    #[command(flatten)]
    form: Form,
}

/// Remove what no question can see any more
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex team gc

Publishing does this, too. It matters after a publication was interrupted that is not tried again.")]
struct Gc {
    #[command(flatten)]
    depot: OfDepot,
}

/// Remove a repository from the depot
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex team remove shop/api")]
struct Remove {
    /// The name under which it was published
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    depot: OfDepot,
}

/// The published repositories.
#[derive(Serialize)]
struct Listed {
    repositories: Vec<team::Repository>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Sub::Repos(args) => repos(args),
        Sub::Gc(args) => {
            let n = team::collect(&*args.depot.open()?, Utc::now().timestamp())?;
            line(&format!("removed {}", count(usize::try_from(n).unwrap_or(usize::MAX), "row")))?;
            Ok(Outcome::Done)
        }
        Sub::Remove(args) => {
            if !team::remove(&*args.depot.open()?, &args.name)? {
                bail!("no repository `{}` is published there", printable(&args.name));
            }
            line(&format!("{} is removed", printable(&args.name)))?;
            Ok(Outcome::Done)
        }
    }
}

fn repos(args: &Repos) -> Result<Outcome> {
    let repositories = team::repositories(&*args.depot.open()?, args.sizes)?;
    let is_found = !repositories.is_empty();
    if args.form.json {
        render::json(&Listed { repositories })?;
    } else {
        for repository in &repositories {
            line(&row(repository))?;
        }
        if !is_found {
            tell!("nothing is published there: run `cortex publish` in a repository");
        }
    }
    Ok(Outcome::of(is_found))
}

fn row(of: &team::Repository) -> String {
    let mut parts = vec![format!(
        "{:<30} generation {}, {}",
        printable(&of.name),
        of.generation,
        count(usize::try_from(of.chunks).unwrap_or(usize::MAX), "chunk"),
    )];
    if !of.commit.is_empty() {
        parts.push(format!("commit {}", printable(of.commit.get(..7).unwrap_or(&of.commit))));
    }
    if let Some(at) = &of.published_at {
        parts.push(at.clone());
    }
    if let Some(size) = of.size {
        parts.push(format!("{} rows, {}", size.rows, render::megabytes(size.bytes)));
    }
    if let Some(who) = &of.publishing {
        parts.push(format!("{} publishes", printable(who)));
    }
    parts.join(", ")
}
