//! `cortex deps`: lists what the project depends on, and where the sources lie on this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use console::{Alignment, Term, measure_text_width, pad_str, style, truncate_str};

use super::args::{self, Form, OfProject};
use super::outcome::Outcome;
use super::progress::Bar;
use super::render::{self, count, line, megabytes, printable};
use crate::config;
use crate::engine::{Call, DependenciesRequest, Dependency, Ecosystem, UNUSED, remove_packages};

/// List dependencies, and where their sources lie on this machine
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  cortex deps --direct 'tree-sitter-*'
  cortex deps index serde_json

It reads the lock files of Cargo, npm, pnpm, yarn, uv, Poetry, Go, Gradle,
Composer, Bundler, Hex and SwiftPM, pom.xml, and Python's virtual environment.
It downloads nothing and runs no program."
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    list: List,
}

#[derive(clap::Subcommand)]
enum Sub {
    Index(Index),
    Clean(Clean),
}

/// Index the sources of dependencies, so that they can be searched and read
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex deps index --direct
  cortex deps index 'serde*'

Each version of a package is indexed once for all of your projects, in your
cache directory. Tests and benchmarks of packages are left out. A package is
indexed again when it was installed again.")]
struct Index {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

/// Remove the indexes of dependencies that no question used for 90 days
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex deps clean
  cortex deps clean --unused 0     remove all of them

This also happens whenever a dependency is indexed. What is needed again is
indexed again.")]
struct Clean {
    /// Remove those that no question used for this many days
    #[arg(long, value_name = "DAYS")]
    unused: Option<u64>,
}

/// Selects dependencies.
#[derive(clap::Args)]
struct Which {
    /// Only dependencies with one of these names, or that match one of these globs
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only these ecosystems (repeat, or separate with commas)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = args::one_of::<Ecosystem>(Ecosystem::NAMES))]
    ecosystem: Vec<Ecosystem>,
    /// Only dependencies that a manifest of the project names
    #[arg(long)]
    direct: bool,
}

#[derive(clap::Args)]
struct List {
    #[command(flatten)]
    which: Which,
    /// Only dependencies whose sources are not on this machine
    #[arg(long)]
    missing: bool,
    #[command(flatten)]
    project: OfProject,
    #[command(flatten)]
    form: Form,
}

/// Most columns of a name and of a version.
const NAME: usize = 32;
const VERSION: usize = 14;

pub(super) fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Some(Sub::Index(args)) => index(args),
        Some(Sub::Clean(args)) => clean(args),
        None => list(&args.list),
    }
}

impl Which {
    fn request(&self, missing: bool) -> DependenciesRequest {
        DependenciesRequest {
            names: self.names.clone(),
            ecosystems: self.ecosystem.clone(),
            direct: self.direct,
            missing,
        }
    }
}

fn index(args: &Index) -> Result<Outcome> {
    let bar = Bar::packages(args.form.json);
    let project = args.project.open()?;
    let answer =
        project.index_packages(&args.which.request(false), &Call::default(), &|progress| {
            bar.show(progress);
        })?;
    bar.end();
    if args.form.json {
        render::json(&answer)?;
    } else {
        render::warnings(&answer.warnings);
        let missing = || answer.packages.iter().filter_map(|p| Some((p, p.missing.as_ref()?)));
        for (package, why) in missing() {
            tell!("not indexed: {}: {}", printable(&package.package), printable(why));
        }
        if answer.packages.is_empty() {
            tell!("no dependency of this project matches");
        } else {
            let new = format!("{} of them new", answer.n_new);
            let n_missing = match missing().count() {
                0 => String::new(),
                n => format!(", {n} without sources here"),
            };
            line(&format!(
                "{} indexed, {new}, {}{n_missing}, {}",
                count(answer.n_indexed, "package"),
                megabytes(answer.bytes),
                render::duration(answer.ms)
            ))?;
        }
    }
    Ok(Outcome::of(answer.n_indexed > 0))
}

fn clean(args: &Clean) -> Result<Outcome> {
    let days = args.unused.map_or(UNUSED, |days| Duration::from_hours(days.saturating_mul(24)));
    let (n, bytes) = remove_packages(days)?;
    line(&format!("{} removed, {}", count(n, "package"), megabytes(bytes)))?;
    Ok(Outcome::Done)
}

fn list(args: &List) -> Result<Outcome> {
    let request = args.which.request(args.missing);
    let found = args.project.open()?.dependencies(&request, &Call::default())?;
    if args.form.json {
        render::json(&found)?;
    } else {
        render::warnings(&found.warnings);
        for of_ecosystem in found.dependencies.chunk_by(|a, b| a.ecosystem == b.ecosystem) {
            show(of_ecosystem)?;
        }
        if found.dependencies.is_empty() {
            let what = if found.total > 0 {
                "no dependency of this project matches"
            } else {
                "no lock file or manifest of this project names a dependency"
            };
            tell!("{what}");
        }
    }
    Ok(Outcome::of(!found.dependencies.is_empty()))
}

/// Prints the dependencies of one ecosystem.
fn show(dependencies: &[Dependency]) -> Result<()> {
    let number = |is: fn(&Dependency) -> bool| dependencies.iter().filter(|d| is(d)).count();
    let heading = format!(
        "{}: {}, {} direct, {} without sources here",
        dependencies[0].ecosystem.name(),
        count(dependencies.len(), "package"),
        number(|d| d.is_direct),
        number(|d| d.missing.is_some()),
    );
    line(&style(heading).bold().to_string())?;
    let widest = |of: fn(&Dependency) -> &str, most: usize| {
        let widths = dependencies.iter().map(|d| measure_text_width(&printable(of(d))));
        widths.max().unwrap_or_default().min(most)
    };
    let (name, version) = (widest(|d| &d.name, NAME), widest(|d| &d.version, VERSION));
    let base = if Term::stdout().is_term() { base(dependencies) } else { None };
    if let Some(base) = base {
        let text = format!("  in {}", shown(base));
        render::faint(from_start(&text, render::width()))?;
    }
    for dependency in dependencies {
        let cell = |text: &str, width: usize| {
            pad_str(&from_start(&printable(text), width), width, Alignment::Left, None).into_owned()
        };
        let mark = if dependency.is_direct { "*" } else { " " };
        let (name, version) = (cell(&dependency.name, name), cell(&dependency.version, version));
        let head = format!("{mark} {name}  {version}  ");
        let room = render::width().saturating_sub(measure_text_width(&head));
        let place = match place(dependency, base) {
            Ok(place) => from_end(&place, room),
            Err(missing) => style(from_start(&missing, room)).dim().to_string(),
        };
        line(&format!("{head}{place}"))?;
    }
    Ok(())
}

fn path_of(dependency: &Dependency) -> Option<&Path> {
    dependency.root.as_deref().or(dependency.archive.as_deref())
}

/// Returns the folder that shortens the paths most, if each is shown relative to it.
fn base(dependencies: &[Dependency]) -> Option<&Path> {
    let mut numbers: BTreeMap<&Path, usize> = BTreeMap::new();
    for folder in dependencies.iter().filter_map(path_of).flat_map(|path| path.ancestors().skip(1))
    {
        *numbers.entry(folder).or_default() += 1;
    }
    let saved = |(folder, number): &(&Path, usize)| folder.as_os_str().len() * number;
    numbers
        .into_iter()
        .filter(|(_, number)| *number > 1)
        .max_by_key(saved)
        .map(|(folder, _)| folder)
}

/// Returns a path for people.
fn shown(path: &Path) -> String {
    printable(&render::below_home(path, config::home().as_deref()))
}

/// Returns where the sources are, or why they were not found. A terminal has little room, so that a
/// path is relative to `base`; other programs need the whole path.
fn place(dependency: &Dependency, base: Option<&Path>) -> Result<String, String> {
    if let Some(missing) = &dependency.missing {
        return Err(printable(missing));
    }
    let Some(path) = path_of(dependency) else { return Ok(String::new()) };
    let parts = match &*dependency.parts {
        [] => String::new(),
        parts => format!(": {}", parts.join(", ")),
    };
    let path = match base.and_then(|base| path.strip_prefix(base).ok()) {
        Some(below) => printable(&below.display().to_string()),
        None if Term::stdout().is_term() => shown(path),
        None => printable(&path.display().to_string()),
    };
    Ok(format!("{path}{}", printable(&parts)))
}

/// Cuts a text to the room on a terminal, and keeps its start.
fn from_start(text: &str, room: usize) -> String {
    if Term::stdout().is_term() {
        truncate_str(text, room, "…").into_owned()
    } else {
        text.into()
    }
}

/// Cuts a text to the room on a terminal, and keeps its end, which says most of a path.
fn from_end(text: &str, room: usize) -> String {
    if !Term::stdout().is_term() || measure_text_width(text) <= room {
        return text.to_string();
    }
    let backwards: String = text.chars().rev().collect();
    let cut: String = truncate_str(&backwards, room.max(1), "…").chars().rev().collect();
    cut
}
