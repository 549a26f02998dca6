//! `cortex publish`: publishes the project to the depot of a team.

use anyhow::{Context as _, Result};
use chrono::Utc;

use super::args::{Form, OfProject};
use super::depot::OfDepot;
use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{self, count, line};
use crate::engine::{AnswerFrom, Call, Engine, LONG_WAIT, Project};
use crate::index::Mode;
use crate::team::{Publication, Publisher};

/// Publish the project to the database of your team, where `cortex serve --from` finds it
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex publish --to postgres://ci@db.example.com/cortex --repo shop/api
  cortex publish --project ../api --json

Run it in CI after each merge. Only the files that changed since the last time are sent. Until all of it is stored, everyone sees the last generation; if it is interrupted, the next run cleans up.")]
pub(super) struct Args {
    #[command(flatten)]
    depot: OfDepot,
    /// Publish under this name [default: the name of the project's directory]
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let depot = args.depot.open()?;
    let project = args.project.open()?;
    let name = match &args.repo {
        Some(name) => name.clone(),
        None => name_of(&project)?,
    };
    check_name(&name)?;
    let bar = Bar::indexing(args.form.json);
    if project.is_stale() {
        project.index(None, Mode::Incremental, LONG_WAIT, &|progress| bar.show(progress))?;
    }
    bar.end();
    project.embed(&|_| ())?;
    let engine = Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?;
    let published = engine.to_publish(&Call::default())?;
    let bar = Bar::publishing(args.form.json);
    let clock = || Utc::now().timestamp();
    let progress = |done: usize, all: usize| bar.at(done, all);
    let done = Publisher::new(&*depot, &clock, &progress).publish(&Publication {
        name: &name,
        commit: published.commit.as_deref().unwrap_or_default(),
        embedder: engine.embedder().id(),
        corpus: &published.corpus,
        who: &who(),
    })?;
    bar.end();
    if args.form.json {
        render::json(&done)?;
    } else if done.stored + done.retired == 0 {
        line(&format!("{name} is unchanged: generation {}", done.generation))?;
    } else {
        line(&format!(
            "{name}: generation {}, {} stored of {}, {} replaced or gone, {} of text",
            done.generation,
            count(done.stored, "file"),
            done.all,
            done.retired,
            render::megabytes(done.bytes),
        ))?;
    }
    Ok(Outcome::Done)
}

fn name_of(project: &Project) -> Result<String> {
    let name = project.layout.root().file_name().and_then(|name| name.to_str());
    Ok(name.context("the directory has no name: name the repository by --repo")?.to_string())
}

/// Names are parts of addresses (`name:path:line`) and of globs.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    anyhow::ensure!(
        !name.is_empty() && name.len() <= 200 && name.chars().all(is_plain),
        "`{name}` cannot be the name of a repository: it has letters, digits, `.`, `_`, `-` and `/` only"
    );
    Ok(())
}

/// Says who publishes, for those who wait.
fn who() -> String {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = of("USER").or_else(|| of("LOGNAME")).unwrap_or_else(|| "somebody".into());
    let host = of("HOSTNAME").map(|host| format!("@{host}")).unwrap_or_default();
    format!("{user}{host} (process {})", std::process::id())
}
