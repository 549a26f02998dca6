//! `cortex init`: writes Cortex into the configuration of coding agents, and takes it back.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use console::style;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::args::{OfProject, confirmed};
use super::found::{home_of, program, record_dir};
use super::outcome::Outcome;
use super::render::{self, count, line, printable, printable_code};
use crate::agents::{
    self, Agent, Change, Entry, Home, Kind, Plan, Program, Record, Request, Scope,
};
use crate::engine::ProjectError;
use crate::secrets;

/// Connect coding agents: write the MCP server, instructions, a skill and memory hooks into their
/// configuration.
///
/// Says first, in one line for each agent, which files are made or changed, and asks once; `--dry-run`
/// shows the difference. Comments, order and unknown keys of your files stay; `--remove` restores the
/// bytes of a file that nobody changed since.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cortex init                                  # all agents that are found, for you in every project
  cortex init --agents claude,codex --yes      # these, without a question
  cortex init --scope project --parts server   # only the server, for everybody who works on this project
  cortex init --dry-run                        # show each line that changes
  cortex init --remove                         # take everything back")]
pub(super) struct Args {
    #[command(flatten)]
    project: OfProject,
    /// Agents to connect: names (repeat, or separate with commas), or all [default: those that are
    /// found on this machine]
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    agents: Vec<String>,
    /// Whose files are written: user (you, in every project) or project (everybody who works on
    /// this one)
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = ["user", "project"])]
    scope: String,
    /// What to write: server, permission, instructions, skill, subagent, command, hooks (repeat, or
    /// separate with commas) [default: all that the agent supports]
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = ["server", "permission", "instructions", "skill", "subagent", "command", "hooks"])]
    parts: Vec<String>,
    /// Command that the agents start, for example "npx -y cortex-codesearch" [default: the absolute
    /// path of this program]
    #[arg(long, value_name = "COMMAND")]
    program: Option<String>,
    /// Take back what was written
    #[arg(long)]
    remove: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
    /// Show every line that would change, and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Print what each agent's files would hold on a new machine, to copy by hand
    #[arg(long, conflicts_with_all = ["yes", "remove"])]
    print: bool,
    /// Print what was done, or the files of --print, as JSON (format: specs/cli-json.md)
    #[arg(long)]
    json: bool,
}

/// What was done, as JSON.
#[derive(Serialize)]
struct Report {
    scope: &'static str,
    agents: Vec<String>,
    written: Vec<PathBuf>,
    in_place: Vec<PathBuf>,
    refused: Vec<agents::Refused>,
    verified: Vec<ReportVerified>,
}

#[derive(Serialize)]
struct ReportVerified {
    command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The files of `--print`, as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    files: Vec<PrintedFile<'a>>,
}

#[derive(Serialize)]
struct PrintedFile<'a> {
    agent: &'a str,
    path: String,
    text: String,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let scope = if args.scope == "project" { Scope::Project } else { Scope::User };
    let home = home_for(args, scope)?;
    let known = agents::all();
    let chosen = choose(args, &known, &home)?;
    let program = program(args.program.as_deref(), scope, &home)?;
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|k| args.parts.is_empty() || args.parts.iter().any(|p| p == k.name()))
        .collect();
    if args.print {
        return print(args, &chosen, &kinds, scope, &program, &home);
    }
    let mut record = Record::load(&record_dir()?);
    let request = Request { agents: chosen.clone(), scope, kinds, program, remove: args.remove };
    let plan = Plan::new(&request, &known, &home, &record);
    if !args.json {
        show_plan(&plan, args, &request, &home)?;
    }
    let in_place = plan.in_place.clone();
    let noted = noted(&plan, &request);
    let is_idle = plan.changes.is_empty();
    let shown = Shown(&home);
    if !is_idle && !args.dry_run && !args.yes && !agreed(args.remove)? {
        line("nothing was changed")?;
        return Ok(Outcome::NothingFound);
    }
    let outcome = if args.dry_run {
        agents::Outcome { refused: plan.refused, ..agents::Outcome::default() }
    } else {
        plan.apply(&home, &mut record)?
    };
    let verified = if args.remove || args.dry_run || chosen.is_empty() {
        Vec::new()
    } else {
        verify_all(&request, &home)
    };
    let is_good = outcome.refused.is_empty() && verified.iter().all(|(_, v)| v.is_ok());
    if args.json {
        report(args, &chosen, outcome, in_place, verified)?;
    } else {
        for refused in &outcome.refused {
            let why = printable(&refused.why);
            tell!("error: {} is unchanged: {why}", shown.path(&refused.path));
        }
        if args.dry_run {
            line("nothing was written (--dry-run)")?;
        } else if !is_idle {
            let n = count(outcome.written.len(), "file");
            line(&if args.remove { format!("restored {n}") } else { format!("wrote {n}") })?;
        } else if outcome.refused.is_empty() {
            line("nothing to do")?;
        }
        show_end(&verified, &noted, &home)?;
    }
    if is_good { Ok(Outcome::Done) } else { bail!("not everything is connected (see above)") }
}

/// Returns the places of the files to write. The files of a user need no project.
fn home_for(args: &Args, scope: Scope) -> Result<Home> {
    match args.project.open_anyway() {
        Ok(project) => home_of(Some(&project)),
        Err(e) => match e.downcast_ref::<ProjectError>() {
            Some(why) if why.is_no_project() && scope == Scope::User => home_of(None),
            _ => Err(e),
        },
    }
}

/// Returns the agents that the user names, or those that are found.
fn choose<'a>(args: &Args, known: &'a [Agent], home: &Home) -> Result<Vec<&'a Agent>> {
    if args.agents.iter().any(|name| name == "all") {
        return Ok(known.iter().collect());
    }
    if args.agents.is_empty() {
        let chosen: Vec<&Agent> = if args.print {
            known.iter().collect()
        } else {
            known.iter().filter(|agent| home.found(agent).is_some()).collect()
        };
        if chosen.is_empty() {
            bail!(
                "no coding agent is found on this machine: neither its program nor its folder is there; name yours, for example --agents claude (known: {})",
                ids(known)
            );
        }
        return Ok(chosen);
    }
    let find = |name: &String| {
        known
            .iter()
            .find(|agent| agent.id == *name)
            .with_context(|| format!("unknown agent {name}: use one of {}, all", ids(known)))
    };
    args.agents.iter().map(find).collect()
}

fn ids(known: &[Agent]) -> String {
    known.iter().map(|agent| &*agent.id).collect::<Vec<_>>().join(", ")
}

/// Prints a path with `~` for the home directory.
pub(super) struct Shown<'a>(pub(super) &'a Home);

impl Shown<'_> {
    pub(super) fn path(&self, path: &Path) -> String {
        let text = match path.strip_prefix(&self.0.project) {
            Ok(below) if self.0.project != self.0.home => below.display().to_string(),
            _ => render::below_home(path, Some(&self.0.home)),
        };
        printable(&text)
    }
}

/// Says in one line for each agent which of its files change. With `--dry-run`, shows how.
fn show_plan(plan: &Plan, args: &Args, request: &Request, home: &Home) -> Result<()> {
    let shown = Shown(home);
    for agent in &request.agents {
        let text = deeds(plan, agent, request, home);
        line(&format!("{} {text}", style(format!("{:<16}", agent.name)).bold()))?;
    }
    if args.dry_run {
        for change in &plan.changes {
            show_change(change, &shown)?;
        }
    }
    Ok(())
}

/// Says what happens to the files of an agent.
fn deeds(plan: &Plan, agent: &Agent, request: &Request, home: &Home) -> String {
    if plan.without_scope.contains(&agent.name) {
        let (this, other) = match request.scope {
            Scope::User => ("user", "project"),
            Scope::Project => ("project", "user"),
        };
        return format!("reads no servers of a {this}: use --scope {other}");
    }
    let deed = |change: &Change| match (&change.before, &change.after) {
        (None, _) => "new",
        (_, None) => "removed",
        _ if request.remove => "restored",
        _ => "changed",
    };
    let changes = plan.changes.iter().filter(|change| is_of(change, agent));
    let mut files: Vec<(&Path, &str)> =
        changes.map(|change| (&*change.path, deed(change))).collect();
    let wanted = agent.parts.iter().filter(|part| request.kinds.contains(&part.kind));
    let own: Vec<PathBuf> = wanted.filter_map(|part| home.file(part, request.scope)).collect();
    let refused = plan.refused.iter().filter(|refused| own.contains(&refused.path));
    files.extend(refused.map(|refused| (&*refused.path, "cannot be changed")));
    if !files.is_empty() {
        return by_folder(&files, home);
    }
    if request.remove { "nothing of Cortex is there" } else { "already there" }.into()
}

/// Whether a change writes a part of an agent.
fn is_of(change: &Change, agent: &Agent) -> bool {
    change.parts.iter().any(|(name, _)| *name == agent.name)
}

/// Says in a few words what happens to files: by folder, and by path where there is only one.
fn by_folder(files: &[(&Path, &str)], home: &Home) -> String {
    let shown = Shown(home);
    let mut folders: BTreeMap<PathBuf, Vec<(&Path, &str)>> = BTreeMap::new();
    for &(path, deed) in files {
        folders.entry(folder_of(path, home)).or_default().push((path, deed));
    }
    let said = folders.iter().map(|(folder, files)| match files[..] {
        [(path, deed)] if path == folder || path.parent() == Some(folder.as_path()) => {
            format!("{}: {deed}", shown.path(path))
        }
        _ => {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for &(_, deed) in files {
                *counts.entry(deed).or_default() += 1;
            }
            let counts: Vec<String> =
                counts.into_iter().map(|(deed, n)| format!("{n} {deed}")).collect();
            format!("{}: {}", shown.path(folder), counts.join(", "))
        }
    });
    said.collect::<Vec<_>>().join("; ")
}

/// Returns the folder by which people know a file of an agent, such as `~/.claude`, or the file itself
/// if it has none.
fn folder_of(path: &Path, home: &Home) -> PathBuf {
    for base in [&home.config, &home.project, &home.home] {
        if let Some(first) = path.strip_prefix(base).ok().and_then(|p| p.components().next()) {
            return base.join(first);
        }
    }
    path.parent().unwrap_or(path).to_path_buf()
}

/// Returns what the user should know about the agents that are being connected.
fn noted(plan: &Plan, request: &Request) -> Vec<String> {
    let is_new =
        |agent: &&&Agent| !request.remove && plan.changes.iter().any(|change| is_of(change, agent));
    let note = |agent: &&Agent| Some(format!("{}: {}", agent.name, agent.note.as_ref()?));
    request.agents.iter().filter(is_new).filter_map(note).collect()
}

/// Prints the lines of a file that change. Values that look like secrets are hidden.
fn show_change(change: &Change, shown: &Shown) -> Result<()> {
    let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (agent, kind) in &change.parts {
        parts.entry(agent).or_default().push(kind.name());
    }
    let parts: Vec<String> =
        parts.into_iter().map(|(agent, kinds)| format!("{agent}: {}", kinds.join(", "))).collect();
    let n_lines = change.before.as_ref().or(change.after.as_ref()).map_or(0, |t| t.lines().count());
    let hidden =
        |text: &Option<String>| secrets::redact(text.as_deref().unwrap_or_default()).text.clone();
    let (before, after) = (hidden(&change.before), hidden(&change.after));
    let diff = TextDiff::from_lines(&before, &after);
    let n_of = |tag| diff.iter_all_changes().filter(|row| row.tag() == tag).count();
    let what = match (&change.before, &change.after) {
        (None, _) => format!("new file, {}; ", count(n_lines, "line")),
        (_, None) => "removed; ".to_string(),
        _ => format!("+{} −{} lines; ", n_of(ChangeTag::Insert), n_of(ChangeTag::Delete)),
    };
    let path = style(shown.path(&change.path)).bold();
    line(&format!("{path} ({what}{})", parts.join("; ")))?;
    for row in diff.iter_all_changes() {
        let text = printable_code(row.value().trim_end_matches(['\n', '\r']));
        match row.tag() {
            ChangeTag::Equal => {}
            ChangeTag::Delete => line(&style(format!("  - {text}")).red().to_string())?,
            ChangeTag::Insert => line(&style(format!("  + {text}")).green().to_string())?,
        }
    }
    Ok(())
}

/// Asks whether the changes may be written.
fn agreed(is_removal: bool) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("nobody can be asked, because the input is no terminal: add --yes, or --dry-run");
    }
    line("`--dry-run` shows every line that would change")?;
    let question = if is_removal { "Remove this? [y/N] " } else { "Write this? [y/N] " };
    confirmed(question, io::stdout())
}

type VerifiedCommand = (Vec<String>, Result<agents::Verified, String>);

/// Starts the command that the files of the agents hold now, and calls a tool. A command that this
/// call did not write is not run.
fn verify_all(request: &Request, home: &Home) -> Vec<VerifiedCommand> {
    let Request { agents, scope, program, .. } = request;
    let entries = agents.iter().flat_map(|agent| agents::entries(agent, home, *scope, program));
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_by(|a, b| a.command.cmp(&b.command).then(a.is_as_written.cmp(&b.is_as_written)));
    entries.dedup_by(|a, b| (&a.command, a.is_as_written) == (&b.command, b.is_as_written));
    let ours = program.server();
    entries
        .into_iter()
        .map(|entry| {
            let verified = if entry.command == ours {
                entry.verify(home)
            } else {
                Err("another command, which was not started".into())
            };
            (entry.command, verified)
        })
        .collect()
}

/// Prints what the new configurations start, what the user should know, and the next step.
fn show_end(verified: &[VerifiedCommand], noted: &[String], home: &Home) -> Result<()> {
    for (command, result) in verified {
        let command = printable(&command.join(" "));
        match result {
            Ok(v) => line(&format!(
                "verified: `{command}` answers in {} with {}",
                render::duration(u64::try_from(v.took.as_millis()).unwrap_or(u64::MAX)),
                count(v.n_tools, "tool")
            ))?,
            Err(why) => tell!("error: `{command}`: {}", printable(why)),
        }
    }
    for note in noted {
        line(&format!("note: {note}"))?;
    }
    if verified.is_empty() {
        return Ok(());
    }
    if let Ok(own) = std::env::current_exe() {
        for other in agents::others_on_path(home, &own).foreign {
            line(&format!(
                "note: {} is another program called cortex, so agents get an absolute path",
                printable(&other.display().to_string())
            ))?;
        }
    }
    if verified.iter().all(|(_, result)| result.is_ok()) {
        line("next: start a new session of your agent, and ask it about the code")?;
    }
    Ok(())
}

fn report(
    args: &Args,
    chosen: &[&Agent],
    outcome: agents::Outcome,
    in_place: Vec<PathBuf>,
    verified: Vec<VerifiedCommand>,
) -> Result<()> {
    render::json(&Report {
        scope: if args.scope == "project" { "project" } else { "user" },
        agents: chosen.iter().map(|agent| agent.id.clone()).collect(),
        written: outcome.written,
        in_place,
        refused: outcome.refused,
        verified: verified
            .into_iter()
            .map(|(command, result)| {
                let ms = result.as_ref().ok().map(|v| v.took.as_millis());
                let ms = ms.and_then(|ms| u64::try_from(ms).ok());
                ReportVerified { command, ms, error: result.err() }
            })
            .collect(),
    })
}

/// Prints each file of the agents as it would be on a machine without any.
fn print(
    args: &Args,
    chosen: &[&Agent],
    kinds: &[Kind],
    scope: Scope,
    program: &Program,
    home: &Home,
) -> Result<Outcome> {
    let mut files = Vec::new();
    for agent in chosen {
        if !args.json {
            line(&format!("# {}", agent.name))?;
        }
        for (path, text) in agents::texts(agent, kinds, scope, program, home)? {
            let path = Shown(home).path(&path);
            if args.json {
                files.push(PrintedFile { agent: &agent.id, path, text });
            } else {
                line(&format!("\n## {path}\n\n{}", text.trim_end()))?;
            }
        }
        if !args.json {
            line("")?;
        }
    }
    if args.json {
        render::json(&Printed { files })?;
    }
    Ok(Outcome::Done)
}
