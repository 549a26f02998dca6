//! `cortex memory`: adds, finds and manages memories of the project.

mod shared;
mod timeline;
mod transfer;

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::builder::PossibleValuesParser;
use console::style;
use serde_json::json;
use uuid::Uuid;

use self::shared::title;
use super::args::{self, OfProject};
use super::elsewhere;
use super::outcome::Outcome;
use super::render::{count, faint, json, line, printable, width};
use super::temporary::PrivateFolder;
use crate::dir::{OpenMode, PRIVATE_FILE};
use crate::engine::{AnswerFrom, Call, Engine, LONG_WAIT, Project, RecallRequest, RememberRequest};
use crate::memory::{self, Memories, Memory, MemorySource, RecalledMemory, Select};

/// Add, find and manage memories: decisions, notes and events of the project.
#[derive(clap::Args)]
#[command(
    after_help = "Example: cortex memory add \"We keep the cache in one file: rename is atomic\""
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
    #[command(flatten)]
    project: OfProject,
    /// Print the answer as JSON (format: specs/cli-json.md)
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Sub {
    /// Add a memory
    #[command(after_help = "Example: cortex memory add --pin \"Releases are cut from main\"")]
    Add(Add),
    /// Find memories by words and meaning
    #[command(after_help = "Example: cortex memory search \"why is the cache one file\"")]
    Search(Search),
    /// List memories, newest first
    #[command(after_help = "Example: cortex memory list --sources text -n 5")]
    List(List),
    /// Show one memory
    #[command(after_help = "Example: cortex memory show 0199f1c2")]
    Show { id: String },
    /// Change the text of a memory, in your editor if none is given
    #[command(
        after_help = "Example: cortex memory edit 0199f1c2 \"The cache is two files since 2.0\""
    )]
    Edit { id: String, text: Vec<String> },
    /// Delete memories and everything derived from them; session summaries are made again
    #[command(after_help = "Example: cortex memory forget 0199f1c2")]
    Forget {
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Pin a memory: every session starts with it
    #[command(after_help = "Example: cortex memory pin 0199f1c2")]
    Pin {
        id: String,
        /// Unpin the memory
        #[arg(long)]
        off: bool,
    },
    /// Write all memories to stdout as JSON lines
    #[command(after_help = "Example: cortex memory export > memories.jsonl")]
    Export,
    /// Import exported memories; existing ones with the same id are replaced
    #[command(after_help = "Example: cortex memory import memories.jsonl")]
    Import {
        /// A file, or `-` for standard input
        file: PathBuf,
    },
    /// Replace a damaged or missing database by a backup; the damaged file is kept
    #[command(after_help = "Examples: cortex memory restore
          cortex memory restore --from .cortex/memory.backup.1.db

A backup is made once a day, when a session ends or a server runs. The last two are .cortex/memory.backup.db and .cortex/memory.backup.1.db.")]
    Restore {
        /// Restore this file even if the database is not damaged [default: the newest intact
        /// backup]
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// Show statistics and check the database for damage
    #[command(after_help = "Example: cortex memory stats")]
    Stats,
    /// Show what happened in this project, by session
    #[command(after_help = "Example: cortex memory timeline -n 3")]
    Timeline {
        /// Show at most this many sessions
        #[arg(short = 'n', default_value_t = 5, value_name = "N", value_parser = args::at_least_one)]
        limit: usize,
    },
}

#[derive(clap::Args)]
struct Add {
    /// The text of the memory; read from standard input if missing or `-`
    text: Vec<String>,
    /// A short name
    #[arg(long, default_value = "")]
    name: String,
    /// Start every session with this memory
    #[arg(long)]
    pin: bool,
    /// The kind of text
    #[arg(long, default_value = "text", value_parser = ["text", "json", "message"])]
    source: String,
    /// The group that it belongs to, in a project with several parts
    #[arg(long, value_name = "ID", default_value = "")]
    group: String,
}

#[derive(clap::Args)]
struct Search {
    /// A question or words [default: show the newest memories]
    query: Vec<String>,
    /// Show at most this many
    #[arg(short = 'n', default_value_t = 10, value_name = "N", value_parser = args::at_least_one)]
    limit: usize,
    #[command(flatten)]
    of: Of,
}

#[derive(clap::Args)]
struct List {
    /// Show at most this many
    #[arg(short = 'n', default_value_t = 20, value_name = "N", value_parser = args::at_least_one)]
    limit: usize,
    #[command(flatten)]
    of: Of,
    /// Show only pinned memories
    #[arg(long)]
    pinned: bool,
    /// Show only memories of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show only memories about this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
}

/// Selects memories.
#[derive(clap::Args)]
struct Of {
    /// Show only memories from this source (repeat)
    #[arg(long, value_name = "SOURCE", value_parser = PossibleValuesParser::new(MemorySource::names()))]
    sources: Vec<String>,
    /// Leave out memories from this source (repeat)
    #[arg(long, value_name = "SOURCE", value_parser = PossibleValuesParser::new(MemorySource::names()))]
    exclude_sources: Vec<String>,
    /// Leave out memories of this operation (repeat)
    #[arg(long, value_name = "OPERATION", value_parser = ["create", "update", "delete", "move", "rename"])]
    exclude_operations: Vec<String>,
    /// Show only memories of this group (repeat)
    #[arg(long, value_name = "ID")]
    group_ids: Vec<String>,
    /// Show only memories made since this time: 2026-01-31, 2026-01-31T12:00:00Z, or 3d or 12h for
    /// that long ago
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Show only memories made before this time; a date includes that day
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Of {
    fn request(&self, query: String, limit: usize) -> RecallRequest {
        RecallRequest {
            query,
            sources: self.sources.clone(),
            exclude_sources: self.exclude_sources.clone(),
            exclude_operations: self.exclude_operations.clone(),
            group_ids: self.group_ids.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            limit,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    // Memories can be exported whatever else is wrong.
    let is_rescue = matches!(args.command, Sub::Export | Sub::Restore { .. });
    let project =
        if is_rescue { args.project.open_anyway()? } else { args.project.open_or_ask()? };
    if let Some(notice) =
        project.memory_home().notice().filter(|_| !matches!(args.command, Sub::Import { .. }))
    {
        tell!("{notice}");
    }
    if let Sub::Restore { from } = &args.command {
        return transfer::restore(&project, from.as_deref(), args.json);
    }
    if !project.memory_home().is_in_use()
        && !matches!(args.command, Sub::Add(_) | Sub::Import { .. })
    {
        // A command that only reads creates no database.
        if args.json {
            match &args.command {
                Sub::Search(_) => json(&json!({ "results": [] }))?,
                Sub::List(_) => json(&json!({ "memories": [] }))?,
                Sub::Timeline { .. } => json(&json!({ "sessions": [] }))?,
                _ => {}
            }
        }
        tell!("nothing is remembered here yet: `cortex memory add`, or `cortex init`");
        return Ok(Outcome::NothingFound);
    }
    args.carry_out(project)
}

impl Args {
    fn carry_out(&self, project: Project) -> Result<Outcome> {
        let engine = elsewhere::engine(project, AnswerFrom::Index)?;
        let memories = &engine.memories(LONG_WAIT)?;
        engine.project.record_past_in(memories, None);
        let outcome = match &self.command {
            Sub::Add(add) => self.add(&engine, add)?,
            Sub::Search(search) => self.search(&engine, memories, search)?,
            Sub::List(list) => self.list(memories, list)?,
            Sub::Show { id } => self.show(&engine.memory(id)?)?,
            Sub::Edit { id, text } => self.edit(&engine, id, text)?,
            Sub::Forget { ids } => self.forget(&engine, ids)?,
            Sub::Pin { id, off } => {
                self.told(&engine.pin(id, !off)?, if *off { "unpinned" } else { "pinned" })?
            }
            Sub::Export => transfer::export(memories)?,
            Sub::Import { file } => transfer::import(memories, file)?,
            Sub::Restore { .. } => Outcome::Done,
            Sub::Stats => self.stats(memories)?,
            Sub::Timeline { limit } => timeline::print(memories, *limit, self.json)?,
        };
        if let Err(e) = memory::back_up_if_due(&memories.store) {
            tracing::warn!("there is no new backup: {e}");
        }
        Ok(args::end(engine, outcome))
    }

    fn add(&self, engine: &Engine, add: &Add) -> Result<Outcome> {
        let given = add.text.join(" ");
        let content = if given.is_empty() || given == "-" {
            ensure!(
                !std::io::stdin().is_terminal() || given == "-",
                "give a text to remember, or pipe one in"
            );
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input is no text")?;
            text
        } else {
            given
        };
        let Add { name, source, group: group_id, pin: pinned, .. } = add;
        let request = RememberRequest {
            name: name.clone(),
            content,
            source: source.clone(),
            group_id: group_id.clone(),
            pinned: *pinned,
            ..RememberRequest::default()
        };
        let stored = engine.remember(&request, &Call::default())?;
        let what = if stored.was_known { "already remembered as" } else { "remembered" };
        self.told(&stored.memory, what)
    }

    fn told(&self, memory: &Memory, what: &str) -> Result<Outcome> {
        if self.json {
            json(memory)?;
        } else {
            line(&format!("{what} {}", short(memory.id)))?;
        }
        Ok(Outcome::Done)
    }

    fn search(&self, engine: &Engine, memories: &Memories, search: &Search) -> Result<Outcome> {
        let request = search.of.request(search.query.join(" "), search.limit);
        let found = engine.recall(&request, &Call::default())?;
        if self.json {
            json(&found)?;
        } else {
            found.results.iter().try_for_each(print_found)?;
            if found.results.is_empty() {
                tell!(
                    "nothing found in {}",
                    count(memories.store.count(&Select::default())?, "memory")
                );
            }
        }
        Ok(Outcome::of(!found.results.is_empty()))
    }

    fn list(&self, memories: &Memories, list: &List) -> Result<Outcome> {
        let select = Select {
            session_id: list.session.clone(),
            file_path: list.file.clone(),
            pinned: list.pinned.then_some(true),
            limit: list.limit,
            ..Select::from(&list.of.request(String::new(), list.limit).filter()?)
        };
        let all = memories.store.select(&select)?;
        if self.json {
            json(&json!({ "memories": all }))?;
        } else {
            all.iter().try_for_each(|m| line(&row(m)))?;
            let n = memories.store.count(&Select { limit: 0, ..select })?;
            if n > all.len() {
                faint(format!("{} more: -n {n}", n - all.len()))?;
            }
        }
        Ok(Outcome::of(!all.is_empty()))
    }

    fn show(&self, memory: &Memory) -> Result<Outcome> {
        if self.json {
            json(memory)?;
            return Ok(Outcome::Done);
        }
        line(&head(memory))?;
        let of = if memory.session_id.is_empty() {
            String::new()
        } else {
            format!(", session {}", printable(&memory.session_id))
        };
        faint(format!("{}{of}", memory.id))?;
        for code in &memory.code {
            let symbol = code.symbol.as_ref().map(|s| format!(" {s}")).unwrap_or_default();
            let commit = code
                .commit
                .as_ref()
                .map(|c| format!(" at {}", c.get(..12).unwrap_or(c)))
                .unwrap_or_default();
            faint(printable(&format!("about {}{symbol}{commit}", code.path)))?;
        }
        memory.content.lines().try_for_each(|l| line(&printable(l)))?;
        Ok(Outcome::Done)
    }

    fn edit(&self, engine: &Engine, id: &str, text: &[String]) -> Result<Outcome> {
        let memory = engine.memory(id)?;
        let content = if text.is_empty() { in_editor(&memory.content)? } else { text.join(" ") };
        let content = content.trim();
        ensure!(
            !content.is_empty(),
            "a memory needs a text: `cortex memory forget` deletes a memory"
        );
        if content == memory.content {
            return self.told(&memory, "unchanged");
        }
        self.told(&engine.reword(memory, content)?, "changed")
    }

    fn forget(&self, engine: &Engine, ids: &[String]) -> Result<Outcome> {
        // Either all exist, or the command changes none.
        let all = ids.iter().map(|id| Ok(engine.memory(id)?.id)).collect::<Result<Vec<_>>>()?;
        engine.forget(&all, &Call::default())?;
        if self.json {
            json(&json!({ "ids": all }))?;
        } else {
            all.iter().try_for_each(|id| line(&format!("forgot {}", short(*id))))?;
        }
        Ok(Outcome::Done)
    }

    fn stats(&self, memories: &Memories) -> Result<Outcome> {
        memories.store.check_integrity()?;
        let stats = memories.store.stats()?;
        if self.json {
            json(&stats)?;
            return Ok(Outcome::Done);
        }
        line(&format!(
            "{} in {}, {} pinned",
            count(stats.memories, "memory"),
            count(stats.sessions, "session"),
            stats.pinned
        ))?;
        for (source, n) in &stats.sources {
            line(&format!("{n:>8} {source}"))?;
        }
        line(&format!("{} taken out before storing", count(stats.redacted, "secret")))?;
        line(&format!(
            "{} KB in {}, checked and whole",
            stats.bytes.div_ceil(1024),
            memories.store.path().display()
        ))?;
        Ok(Outcome::Done)
    }
}

/// Returns the end of an id; the start is equal for memories of one moment.
fn short(id: Uuid) -> String {
    id.to_string()[24..].to_string()
}

/// `0199f1c2-…  2026-01-31 12:00  text  name or first words`
fn row(memory: &Memory) -> String {
    let at = memory.created_at.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M");
    let pin = if memory.pinned { "📌 " } else { "" };
    let piece =
        memory.piece().map(|(index, n)| format!("({}/{n}) ", index + 1)).unwrap_or_default();
    let text = format!(
        "{}  {at}  {}  {pin}{piece}{}",
        short(memory.id),
        memory.source.name(),
        printable(title(memory))
    );
    console::truncate_str(&text, width(), "…").into_owned()
}

fn head(memory: &Memory) -> String {
    let name = if memory.name.is_empty() {
        String::new()
    } else {
        format!("  {}", printable(&memory.name))
    };
    let file = memory.source.file_path().map(|p| format!(" {}", printable(p))).unwrap_or_default();
    let operation =
        memory.source.operation().map(|o| format!(" {}", o.as_str())).unwrap_or_default();
    let pinned = if memory.pinned { " pinned" } else { "" };
    let at = memory.created_at.with_timezone(&chrono::Local).format("%Y-%m-%d %H:%M");
    format!(
        "{}  {}{operation}{file}  {at}{pinned}{}",
        style(short(memory.id)).cyan().bold(),
        memory.source.name(),
        style(name).green()
    )
}

/// Number of lines of a memory that a search shows.
const SHOWN: usize = 3;

pub(super) fn print_found(found: &RecalledMemory) -> Result<()> {
    line(&head(&found.memory))?;
    for text in found.memory.content.lines().filter(|l| !l.trim().is_empty()).take(SHOWN) {
        line(&format!(
            "   {}",
            console::truncate_str(&printable(text), width().saturating_sub(3), "…")
        ))?;
    }
    faint(format!("   similarity {:.2}, via {}", found.similarity, found.dominant))?;
    match found.doubt() {
        Some(doubt) => line(
            &style(format!("   may be out of date: {}", printable(&doubt))).yellow().to_string(),
        ),
        None => Ok(()),
    }
}

/// Returns the text after the user edited it. The file is in a folder that only this user can read.
fn in_editor(text: &str) -> Result<String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|e| !e.trim().is_empty());
    let editor = editor.context("give the new text, or set EDITOR")?;
    let folder = PrivateFolder::new()?;
    folder.dir.file(EDITED, OpenMode::New, PRIVATE_FILE)?.write_all(text.as_bytes())?;
    // The editor may have arguments, as for git.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(folder.dir.full(EDITED))
        .status();
    ensure!(
        status.with_context(|| format!("{editor} cannot be started"))?.success(),
        "{editor} failed: nothing was changed"
    );
    Ok(folder.dir.read_text(EDITED, MAX_EDITED)?)
}

/// The file for the editor, and the most bytes that are read of it afterwards.
const EDITED: &str = "memory.md";
const MAX_EDITED: u64 = 1 << 20;
