//! Adds hooks to Claude Code's settings, and leaves everything else in them unchanged.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::super::args::OfProject;
use super::super::outcome::Outcome;
use super::super::render::line;

/// Selects the settings file of Claude Code.
#[derive(clap::Args)]
#[command(after_help = "Example: cortex hook install --dry-run")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    project: OfProject,
    /// Write the settings for everyone (.claude/settings.json) [default:
    /// .claude/settings.local.json, for you alone]
    #[arg(long)]
    shared: bool,
    /// Show the change, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Event, the tools that it applies to, and our command.
const HOOKS: &[(&str, Option<&str>, &str)] = &[
    ("SessionStart", None, "session-start"),
    ("UserPromptSubmit", None, "prompt-submit"),
    ("PreToolUse", Some("Edit|MultiEdit|Write|NotebookEdit"), "pre-tool"),
    ("PostToolUse", Some("Edit|MultiEdit|Write|NotebookEdit|Bash"), "post-tool"),
    ("Stop", None, "stop"),
    ("SessionEnd", None, "session-end"),
    ("PreCompact", None, "pre-compact"),
];
/// Seconds after which the client gives up a hook; far more than a hook takes.
pub(super) const TIMEOUT_S: u32 = 5;
const DIRECTORY: &str = ".claude";
/// Permissions of new files and directories, before the user's umask.
const DIRECTORY_MODE: u32 = 0o777;
const FILE_MODE: u32 = 0o666;
/// Larger files are not read.
const MAX_BYTES: u64 = 16 << 20;

pub(super) fn install(args: &Args) -> Result<Outcome> {
    change(args, "installed", |hooks| {
        let program = program();
        for (event, matcher, command) in HOOKS {
            let command = format!("{program} hook {command}");
            let of_event = hooks.array_value_or_set(event);
            if of_event.elements().iter().any(|group| is_group_of(group.to_serde_value(), &command))
            {
                continue;
            }
            remove_ours(&of_event);
            let hook = object(&[
                ("type", "command".into()),
                ("command", command.into()),
                ("timeout", TIMEOUT_S.into()),
            ]);
            let mut group: Vec<(&str, CstInputValue)> =
                matcher.iter().map(|m| ("matcher", (*m).into())).collect();
            group.push(("hooks", CstInputValue::Array(vec![hook])));
            of_event.append(object(&group));
        }
    })
}

pub(super) fn uninstall(args: &Args) -> Result<Outcome> {
    change(args, "uninstalled", |hooks| {
        for property in hooks.properties() {
            let Some(of_event) = property.array_value() else { continue };
            if remove_ours(&of_event) && of_event.elements().is_empty() {
                property.remove();
            }
        }
    })
}

fn object(properties: &[(&str, CstInputValue)]) -> CstInputValue {
    CstInputValue::Object(
        properties.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect(),
    )
}

/// Returns whether a group of hooks holds only this command.
fn is_group_of(group: Option<Value>, command: &str) -> bool {
    group.is_some_and(|g| {
        g["hooks"].as_array().is_some_and(|h| h.len() == 1 && h[0]["command"] == command)
    })
}

/// Returns whether a command is one of ours, with any path of the program.
fn is_ours(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    HOOKS.iter().any(|(_, _, name)| {
        command
            .strip_suffix(&format!(" hook {name}"))
            .is_some_and(|program| program.trim_end_matches(['"', '\'']).ends_with("cortex"))
    })
}

/// Removes our hooks from an event. Returns whether there were any.
fn remove_ours(of_event: &CstArray) -> bool {
    let mut any = false;
    for group in of_event.elements() {
        let Some(hooks) = group.as_object().and_then(|g| g.array_value("hooks")) else { continue };
        let ours: Vec<_> = hooks
            .elements()
            .into_iter()
            .filter(|h| h.to_serde_value().is_some_and(|h| is_ours(&h)))
            .collect();
        any |= !ours.is_empty();
        let had = !ours.is_empty();
        ours.into_iter().for_each(jsonc_parser::cst::CstNode::remove);
        if had && hooks.elements().is_empty() {
            group.remove();
        }
    }
    any
}

/// Returns how the agent starts this program: by its name, if `PATH` leads to it.
fn program() -> String {
    let own = std::env::current_exe().ok();
    let by_name = std::env::var_os("PATH").is_some_and(|path| {
        let first = std::env::split_paths(&path).map(|d| d.join("cortex")).find(|p| p.is_file());
        first.and_then(|p| fs::canonicalize(p).ok()).is_some_and(|p| {
            own.as_ref().and_then(|o| fs::canonicalize(o).ok()).as_ref() == Some(&p)
        })
    });
    match own {
        Some(own) if !by_name => {
            let own = own.display().to_string();
            if own.contains(char::is_whitespace) { format!("\"{own}\"") } else { own }
        }
        _ => "cortex".into(),
    }
}

fn change(args: &Args, what: &str, change: impl FnOnce(&CstObject)) -> Result<Outcome> {
    let project = args.project.open()?;
    let name = if args.shared { "settings.json" } else { "settings.local.json" };
    // The file belongs to the project, and a repository may have put a link there.
    let (tree, file) = (project.layout.tree(), Path::new(DIRECTORY).join(name));
    let path = tree.full(&file);
    let before = match tree.read_text(&file, MAX_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        Err(e) => {
            return Err(e)
                .context("the settings of the agent cannot be read, and nothing was changed");
        }
    };
    let root = CstRootNode::parse(&before, &ParseOptions::default()).map_err(|e| {
        anyhow::anyhow!("{}: {e}; repair it first, nothing was changed", path.display())
    })?;
    if root.value().is_some_and(|v| v.as_object().is_none()) {
        bail!("{}: it holds no settings (an object); nothing was changed", path.display());
    }
    let settings = root.object_value_or_set();
    let had_hooks = settings.get("hooks").is_some();
    let hooks = settings.object_value_or_set("hooks");
    change(&hooks);
    if hooks.properties().is_empty()
        && let Some(empty) = settings.get("hooks")
    {
        empty.remove();
    }
    let mut after = root.to_string();
    if !after.ends_with('\n') {
        after.push('\n');
    }
    if after.trim() == before.trim()
        || (before.trim().is_empty() && !had_hooks && settings.properties().is_empty())
    {
        line(&format!("nothing to do: {} is as it should be", path.display()))?;
        return Ok(Outcome::Done);
    }
    show(&before, &after)?;
    if args.dry_run {
        line(&format!("this would be written to {}", path.display()))?;
        return Ok(Outcome::Done);
    }
    tree.make_dir(DIRECTORY, DIRECTORY_MODE)?;
    let mode = tree.stat(&file)?.map_or(FILE_MODE, |stat| stat.mode);
    tree.replace(&file, after.as_bytes(), mode, true)
        .context("the settings of the agent cannot be written, and nothing was changed")?;
    line(&format!("{what}: {}", path.display()))?;
    Ok(Outcome::Done)
}

/// Prints the lines that are removed and added.
fn show(before: &str, after: &str) -> Result<()> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let same_end = old[same_start..]
        .iter()
        .rev()
        .zip(new[same_start..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    for l in &old[same_start..old.len() - same_end] {
        line(&console::style(format!("- {l}")).red().to_string())?;
    }
    for l in &new[same_start..new.len() - same_end] {
        line(&console::style(format!("+ {l}")).green().to_string())?;
    }
    Ok(())
}
