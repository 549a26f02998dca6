//! Arguments that questions of `cortex graph` share, and how their answers are printed.

use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;

use crate::cli::args::{OfAnyProject, at_least_one, end};
use crate::cli::outcome::Outcome;
use crate::cli::paths::Paths;
use crate::cli::render::{json, printable};
use crate::drawing::DrawingFormat;
use crate::engine::{AnswerFrom, Call, Engine, GraphAnswer, TargetRows};

/// Selects the project, and the form of the answer.
#[derive(clap::Args)]
pub(super) struct Shared {
    #[command(flatten)]
    project: OfAnyProject,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// Selects how far to go from the target, and the form of the answer.
#[derive(clap::Args)]
pub(super) struct Around {
    #[command(flatten)]
    pub(super) steps: Steps,
    #[command(flatten)]
    pub(super) rows: Rows,
    /// List up to -n uses of the name whose meaning is unknown [default: the first five or ten]
    #[arg(long)]
    pub(super) unresolved: bool,
    /// Draw the answer: print a Graphviz graph (dot), a Mermaid diagram or a picture (svg)
    #[arg(long, alias = "format", value_name = "FORMAT", conflicts_with = "json")]
    pub(super) draw: Option<Draw>,
}

/// Selects how far to go from the target.
#[derive(clap::Args)]
pub(super) struct Steps {
    /// Follow at most this many steps (1 to 10) [default: 1; of callers and tests 3; with --diff and
    /// --files 2]
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<usize>,
}

/// Selects how much of the answer is shown.
#[derive(clap::Args)]
pub(super) struct Rows {
    /// Show at most this many results [default: 50; of users 30 and all direct ones; of tests 20; with
    /// --diff and --files 30]
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(super) limit: Option<usize>,
    /// Show this many lines around the first use in each result
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    pub(super) context: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Draw {
    /// Graphviz
    Dot,
    Mermaid,
    /// A picture that is its own file, for light and dark pages
    Svg,
}

impl From<Draw> for DrawingFormat {
    fn from(draw: Draw) -> Self {
        match draw {
            Draw::Dot => Self::Dot,
            Draw::Mermaid => Self::Mermaid,
            Draw::Svg => Self::Svg,
        }
    }
}

/// Default of `--limit`, except of questions whose default depends on the answer.
pub(super) const LIMIT: usize = 50;

impl Rows {
    /// Returns the target with this much of the answer, or with a default of the number of results.
    pub(super) fn of(&self, target: &str, limit: Option<usize>) -> TargetRows {
        TargetRows {
            target: target.to_string(),
            limit: self.limit.or(limit),
            context: self.context,
        }
    }
}

impl Shared {
    /// Opens the project that is asked, and takes its name off the places of the question.
    pub(super) fn engine<'a>(
        &self,
        places: impl IntoIterator<Item = &'a mut String>,
    ) -> Result<Arc<Engine>> {
        self.project.engine(AnswerFrom::Tree, places)
    }

    /// Prints the answer to a question about a target.
    pub(super) fn answered(
        &self,
        engine: Arc<Engine>,
        target: &str,
        answer: &GraphAnswer,
    ) -> Result<Outcome> {
        // Lines of tests with the name are no tests of it.
        let is_empty = answer.results.is_empty()
            && answer.candidates.is_empty()
            && answer.outside.is_empty()
            && (answer.unresolved.is_empty() || answer.test_files.is_some());
        if self.json {
            json(answer)?;
        } else if answer.targets.is_empty() && !answer.is_routes() {
            tell!("{}", printable(&engine.unknown_symbol(target, &Call::default())?));
        } else {
            let is_found = !is_empty || !answer.unresolved.is_empty() || !answer.unknown.is_empty();
            Paths::of(&engine.project).print(answer, is_found)?;
        }
        Ok(end(engine, Outcome::of(!is_empty)))
    }
}
