//! `cortex graph import`: reads SCIP indexes.

#![expect(clippy::disallowed_methods, reason = "the user's file, and programs in PATH")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};

use super::super::args::end;
use super::super::outcome::Outcome;
use super::super::render::{count, json, line, printable};
use super::super::temporary::PrivateFolder;
use super::shared::Shared;
use crate::engine::{Call, Engine};
use crate::graph::{Imported, PreciseSource};

/// A program that writes SCIP indexes.
struct Indexer {
    program: &'static str,
    /// Files at the root of a project that it indexes.
    manifests: &'static [&'static str],
    /// Its arguments; `OUT` stands for the path of the index.
    arguments: &'static [&'static str],
}

const INDEXERS: [Indexer; 9] = [
    Indexer {
        program: "rust-analyzer",
        manifests: &["Cargo.toml"],
        arguments: &["scip", ".", "--output", "OUT"],
    },
    Indexer {
        program: "scip-typescript",
        manifests: &["tsconfig.json"],
        arguments: &["index", "--output", "OUT"],
    },
    Indexer {
        program: "scip-typescript",
        manifests: &["package.json"],
        arguments: &["index", "--infer-tsconfig", "--output", "OUT"],
    },
    Indexer {
        program: "scip-python",
        manifests: &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
        arguments: &["index", ".", "--output", "OUT"],
    },
    Indexer { program: "scip-go", manifests: &["go.mod"], arguments: &["--output", "OUT"] },
    Indexer {
        program: "scip-java",
        manifests: &["pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"],
        arguments: &["index", "--output", "OUT"],
    },
    Indexer {
        program: "scip-clang",
        manifests: &["compile_commands.json"],
        arguments: &["--compdb-path=compile_commands.json", "--index-output-path", "OUT"],
    },
    Indexer {
        program: "scip-ruby",
        manifests: &["Gemfile"],
        arguments: &["--index-file", "OUT", "."],
    },
    Indexer { program: "scip-php", manifests: &["composer.json"], arguments: &["--output", "OUT"] },
];

#[derive(clap::Args)]
pub(super) struct Import {
    /// The index [default: list the imported ones]
    file: Option<PathBuf>,
    /// Run the indexer of this project that is installed, and import what it writes
    #[arg(long, conflicts_with = "file")]
    run: bool,
    /// Delete an imported index
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "run"])]
    forget: Option<String>,
}

pub(super) fn run(of: &Import, shared: &Shared) -> Result<Outcome> {
    let engine = shared.engine(None)?;
    let found = match &of.forget {
        _ if of.run || of.file.is_some() => return import(engine, of.file.as_deref(), shared.json),
        Some(name) => vec![engine.forget_scip(name, &Call::default())?],
        None => engine.scip_indexes(&Call::default())?,
    };
    if shared.json {
        json(&found)?;
    } else if found.is_empty() {
        tell!("no index is imported: cortex graph import FILE, or --run");
    } else {
        let verb = if of.forget.is_some() { "forgotten: " } else { "" };
        for PreciseSource { name, tool, n_files, n_current, .. } in &found {
            let by = if tool.is_empty() { String::new() } else { format!(", by {tool}") };
            let changed = match n_files - n_current {
                0 => String::new(),
                n => format!(", {n} of them changed since and resolved without it"),
            };
            let text = format!("{verb}{name}{by}: {}{changed}", count(*n_files, "file"));
            line(&printable(&text))?;
        }
    }
    Ok(end(engine, Outcome::of(!found.is_empty())))
}

/// Imports an index or, without a file, those that installed indexers write.
fn import(engine: Arc<Engine>, file: Option<&Path>, as_json: bool) -> Result<Outcome> {
    let root = engine.project.layout.root().to_path_buf();
    let import = |path: &Path, name: &str| -> Result<Imported> {
        let mut index =
            File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(engine.import_scip(name, &mut index, &Call::default())?)
    };
    let mut all = Vec::new();
    if let Some(file) = file {
        let path = std::path::absolute(file)?;
        let name = path.strip_prefix(&root).map_or_else(
            |_| path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            |below| below.to_string_lossy().into_owned(),
        );
        all.push(import(&path, &name)?);
    } else {
        let out = PrivateFolder::new()?;
        for indexer in installed(&root)? {
            let path = out.dir.path().join(format!("{}.scip", indexer.program));
            tell!("running {}: a large project takes minutes", indexer.program);
            index_with(indexer, &root, &path)?;
            all.push(import(&path, &format!("{}.scip", indexer.program))?);
        }
    }
    if as_json {
        json(&all)?;
    } else {
        all.iter().try_for_each(print)?;
    }
    Ok(end(engine, Outcome::of(all.iter().any(|imported| imported.n_files > 0))))
}

fn print(imported: &Imported) -> Result<()> {
    const SHOWN: usize = 5;
    let Imported { name, tool, n_files, outdated, n_others } = imported;
    let by = if tool.is_empty() { String::new() } else { format!(", by {}", printable(tool)) };
    line(&format!("{}: {}{by}", printable(name), count(*n_files, "file")))?;
    if !outdated.is_empty() {
        let first = outdated.iter().take(SHOWN).map(|path| printable(path)).collect::<Vec<_>>();
        let more = if outdated.len() > SHOWN { " …" } else { "" };
        line(&format!(
            "{} changed since it was made, and resolved without it: {}{more}",
            count(outdated.len(), "file"),
            first.join(", ")
        ))?;
    }
    if *n_others > 0 {
        line(&format!("{} of it are not indexed here", count(*n_others, "file")))?;
    }
    Ok(())
}

/// Returns the installed programs that index this project, one for each manifest at its root.
fn installed(root: &Path) -> Result<Vec<&'static Indexer>> {
    let fits = |indexer: &&Indexer| indexer.manifests.iter().any(|name| root.join(name).exists());
    let mut wanted: Vec<&Indexer> = INDEXERS.iter().filter(fits).collect();
    wanted.dedup_by_key(|indexer| indexer.program);
    let names: Vec<&str> = wanted.iter().map(|indexer| indexer.program).collect();
    ensure!(
        !wanted.is_empty(),
        "nothing at {} says which language this is: run an indexer, and give its file: cortex graph import index.scip",
        root.display()
    );
    wanted.retain(|indexer| is_installed(indexer.program));
    if wanted.is_empty() {
        bail!("install {} first, and see that it is in PATH", names.join(" or "));
    }
    Ok(wanted)
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

fn index_with(indexer: &Indexer, root: &Path, out: &Path) -> Result<()> {
    let mut command = Command::new(indexer.program);
    for argument in indexer.arguments {
        match *argument {
            "OUT" => command.arg(out),
            other => command.arg(other),
        };
    }
    let output = command
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", indexer.program))?;
    ensure!(output.success(), "{} failed ({output}); what it wrote is above", indexer.program);
    Ok(())
}
