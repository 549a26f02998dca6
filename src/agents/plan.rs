//! All changes of files that connect agents, computed before anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::detect::Home;
use super::known::Agent;
use super::ours::is_program;
use super::part::{AgentPart, Kind, Program, Scope};
use super::record::{MAX_BYTES, Record};
use crate::dir::{Dir, SHARED_DIR, SHARED_FILE, if_there};

/// What should be changed.
#[derive(Debug)]
pub struct Request<'a> {
    pub agents: Vec<&'a Agent>,
    pub scope: Scope,
    pub kinds: Vec<Kind>,
    pub program: Program,
    /// Whether the parts are taken back.
    pub remove: bool,
}

/// A change of one file.
#[derive(Debug)]
pub struct Change {
    pub path: PathBuf,
    /// The text now; `None` if there is no file.
    pub before: Option<String>,
    /// The text afterwards; `None` if the file is removed.
    pub after: Option<String>,
    /// The agents, and what each gets from this file.
    pub parts: Vec<(String, Kind)>,
    scope: Scope,
    /// The text without anything of ours.
    bare: Option<String>,
}

/// A file that cannot be changed.
#[derive(Debug, Serialize)]
pub struct Refused {
    pub path: PathBuf,
    pub why: String,
}

/// What became of a request.
#[derive(Debug, Default)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub refused: Vec<Refused>,
    /// Files that are as they should be.
    pub in_place: Vec<PathBuf>,
    /// Agents that read no server in this scope, so that nothing is written for them.
    pub without_scope: Vec<String>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Outcome {
    pub written: Vec<PathBuf>,
    pub refused: Vec<Refused>,
}

/// Why a plan cannot be carried out at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot record the change in {path}: {error}; nothing was changed")]
pub struct PlanError {
    path: PathBuf,
    error: io::Error,
}

impl Plan {
    /// Computes the changes. Reads files, and writes none.
    #[must_use]
    pub fn new(request: &Request, known: &[Agent], home: &Home, record: &Record) -> Self {
        let mut plan = Self::default();
        let mut files: BTreeMap<PathBuf, Vec<(&Agent, &AgentPart)>> = BTreeMap::new();
        for &agent in &request.agents {
            let of_scope = agent
                .parts
                .iter()
                .filter_map(|part| Some((home.file(part, request.scope)?, part)))
                .collect::<Vec<_>>();
            // Instructions without a server would mislead the agent.
            if !of_scope.iter().any(|(_, part)| part.kind == Kind::Server) {
                plan.without_scope.push(agent.name.clone());
                continue;
            }
            for (path, part) in of_scope {
                let is_wanted = request.kinds.contains(&part.kind);
                if is_wanted && !(request.remove && is_needed(request, known, home, &path, part)) {
                    files.entry(path).or_default().push((agent, part));
                }
            }
        }
        for (path, parts) in files {
            match change(request, known, home, record, &path, &parts) {
                Ok(Some(change)) => plan.changes.push(change),
                Ok(None) => plan.in_place.push(path),
                Err(why) => {
                    let why = format!("{why} (repair it, or take the entry out, and try again)");
                    plan.refused.push(Refused { path, why });
                }
            }
        }
        plan
    }

    /// Writes the changes. A file that changed since the plan was made, or that cannot be written, is
    /// left as it is.
    ///
    /// # Errors
    /// When what the files hold now cannot be recorded. Nothing is changed then.
    pub fn apply(self, home: &Home, record: &mut Record) -> Result<Outcome, PlanError> {
        let mut outcome = Outcome { refused: self.refused, ..Outcome::default() };
        let (mut restored, mut scope) = (Vec::new(), Scope::User);
        for change in self.changes {
            let path = change.path.clone();
            let made = missing_above(&path);
            match &change.after {
                Some(after) if change.bare.as_ref() != Some(after) => {
                    record
                        .remember(&path, change.bare.as_deref(), after, made)
                        .map_err(|error| PlanError { path: record.path().to_path_buf(), error })?;
                }
                _ => {}
            }
            match change.write(home) {
                Ok(()) => {
                    if change.after == change.bare {
                        restored.push(path.clone());
                        scope = change.scope;
                    }
                    outcome.written.push(path);
                }
                Err(e) => outcome.refused.push(Refused { path, why: e.to_string() }),
            }
        }
        if !restored.is_empty() {
            record.forget(&restored, |dir| is_removed(home, scope, dir));
        }
        Ok(outcome)
    }
}

impl Change {
    fn write(&self, home: &Home) -> io::Result<()> {
        let (dir, name) = open(home, self.scope, &self.path, self.after.is_some())?;
        if read(&dir, &name)? != self.before {
            return Err(io::Error::other("it changed in the meantime: run the command again"));
        }
        match &self.after {
            None => dir.remove_file(&name),
            Some(after) => {
                let mode = dir.stat(&name)?.map_or(SHARED_FILE, |stat| stat.mode);
                dir.replace(&name, after.as_bytes(), mode, true)
            }
        }
    }
}

/// Computes the change of one file; `None` if it is as it should be.
fn change(
    request: &Request,
    known: &[Agent],
    home: &Home,
    record: &Record,
    path: &Path,
    parts: &[(&Agent, &AgentPart)],
) -> Result<Option<Change>, String> {
    let before = current(home, request.scope, path).map_err(|e| e.to_string())?;
    let text = before.clone().unwrap_or_default();
    let bom = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let body = &text[bom.len()..];
    let uses_crlf = body.contains("\r\n") && !body.replace("\r\n", "").contains('\n');
    let body = if uses_crlf { body.replace("\r\n", "\n") } else { body.to_string() };
    let program = &request.program;
    let take = |text: &str, parts: &[(&Agent, &AgentPart)]| {
        parts.iter().try_fold(text.to_string(), |text, (agent, part)| {
            part.take(path, &text, program, &agent.id)
        })
    };
    // All that any agent has in this file.
    let every: Vec<(&Agent, &AgentPart)> = known
        .iter()
        .flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)))
        .filter(|(_, part)| home.file(part, request.scope).as_deref() == Some(path))
        .collect();
    let back = |text: String| {
        let text = if uses_crlf { text.replace('\n', "\r\n") } else { text };
        (!text.is_empty()).then(|| format!("{bom}{text}"))
    };
    let recorded = before.as_ref().and_then(|now| record.before(path, now));
    let bare = match &recorded {
        Some(original) => original.clone(),
        // An empty file of the user stays an empty file.
        None => {
            let text = take(&body, &every)?;
            if text == body { before.clone() } else { back(text) }
        }
    };
    let after = if request.remove {
        if before.is_none() {
            return Ok(None);
        }
        let rest = take(&body, parts)?;
        if rest == body && recorded.is_none() {
            return Ok(None);
        }
        if rest == take(&body, &every)? { bare.clone() } else { back(rest) }
    } else {
        let mut text = body.clone();
        for (agent, part) in parts {
            text = part.put(path, &text, program, &agent.id)?;
        }
        if text == body && before.is_some() { before.clone() } else { back(text) }
    };
    if after == before {
        return Ok(None);
    }
    let parts = parts.iter().map(|(agent, part)| (agent.name.clone(), part.kind)).collect();
    Ok(Some(Change { path: path.to_path_buf(), before, after, parts, scope: request.scope, bare }))
}

/// Returns whether an agent that stays connected reads the same text from the same file.
fn is_needed(
    request: &Request,
    known: &[Agent],
    home: &Home,
    path: &Path,
    part: &AgentPart,
) -> bool {
    let stays = |agent: &&Agent| !request.agents.iter().any(|a| a.id == agent.id);
    known.iter().filter(stays).any(|agent| {
        agent.parts.iter().any(|other| {
            other.block == part.block
                && other.text == part.text
                && other.around == part.around
                && other.set == part.set
                && home.file(other, request.scope).as_deref() == Some(path)
        }) && wired(agent, home, request.scope).iter().any(|(at, _)| at != path)
    })
}

/// The entry of our server in a file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whose words these are: a file of the user that lies in the project counts as the project's.
    pub scope: Scope,
    /// Whether the entry is exactly what `init` writes: the same command with the same arguments,
    /// and no key, such as an environment, that `init` does not write.
    pub is_as_written: bool,
}

impl Entry {
    /// Whether the entry starts Cortex, and not another program that registered the same name.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.is_as_written || self.command.iter().any(|word| is_program(word))
    }
}

/// Returns the files with a server entry for an agent, each with its command.
pub fn wired(agent: &Agent, home: &Home, scope: Scope) -> Vec<(PathBuf, Vec<String>)> {
    let files = files(agent, home, scope);
    files.filter_map(|(_, path, read)| Some((path, read.ok()??.1))).collect()
}

/// Returns the entries of our server in the files of an agent. `program` is what `init` would write
/// there.
pub fn entries(agent: &Agent, home: &Home, scope: Scope, program: &Program) -> Vec<Entry> {
    let entry = |(part, path, read): (&AgentPart, PathBuf, Read)| {
        let (text, command) = read.ok()??;
        let is_as_written = part.is_as_written(&path, &text, program, &agent.id).ok()?;
        let has_project = home.scopes().contains(&Scope::Project);
        let is_in_project = has_project && path.starts_with(&home.project);
        let scope = if is_in_project { Scope::Project } else { scope };
        Some(Entry { path, command, scope, is_as_written })
    };
    files(agent, home, scope).filter_map(entry).collect()
}

/// Returns why the configuration of an agent cannot be read, for each file.
pub fn unreadable(agent: &Agent, home: &Home, scope: Scope) -> Vec<Refused> {
    let files = files(agent, home, scope);
    files.filter_map(|(_, path, read)| Some(Refused { path, why: read.err()? })).collect()
}

/// The text of a file and the command of our entry in it, if it has one; or why it cannot be read.
type Read = Result<Option<(String, Vec<String>)>, String>;

/// Returns the files in which an agent looks for servers.
fn files<'a>(
    agent: &'a Agent,
    home: &'a Home,
    scope: Scope,
) -> impl Iterator<Item = (&'a AgentPart, PathBuf, Read)> + 'a {
    let servers = agent.parts.iter().filter(|part| part.kind == Kind::Server);
    servers.filter_map(move |part| {
        let path = home.file(part, scope)?;
        let read = current(home, scope, &path).map_err(|e| e.to_string()).and_then(|text| {
            let text = text.unwrap_or_default().trim_start_matches('\u{feff}').to_string();
            let command = part.command(&path, &text)?;
            Ok(command.map(|command| (text, command)))
        });
        Some((part, path, read))
    })
}

/// Returns what each file of an agent holds if it holds nothing else.
///
/// # Errors
/// Never for the agents that are part of the program.
pub fn texts(
    agent: &Agent,
    kinds: &[Kind],
    scope: Scope,
    program: &Program,
    home: &Home,
) -> Result<Vec<(PathBuf, String)>, PartError> {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for part in agent.parts.iter().filter(|part| kinds.contains(&part.kind)) {
        let Some(path) = home.first_file(part, scope) else { continue };
        let at = files.iter().position(|(p, _)| *p == path).unwrap_or_else(|| {
            files.push((path.clone(), String::new()));
            files.len() - 1
        });
        files[at].1 = part.put(&path, &files[at].1, program, &agent.id).map_err(PartError)?;
    }
    Ok(files)
}

/// A part that does not fit its file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PartError(String);

/// Opens the directory that holds a file. Links in the user's home lead where the user wants; a
/// repository may have put a link into the project, so none is followed there.
#[expect(clippy::disallowed_methods, reason = "the user's home, whose links the user made")]
fn open(home: &Home, scope: Scope, path: &Path, make: bool) -> io::Result<(Dir, PathBuf)> {
    if scope == Scope::Project
        && let Ok(below) = path.strip_prefix(&home.project)
    {
        let dir = Dir::open(&home.project)?;
        if make && let Some(above) = below.parent().filter(|p| !p.as_os_str().is_empty()) {
            dir.make_dir(above, SHARED_DIR)?;
        }
        return Ok((dir, below.to_path_buf()));
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (Some(above), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    if make {
        fs::create_dir_all(above)?;
    }
    Ok((Dir::open(above)?, PathBuf::from(name)))
}

/// Removes a directory that was made for a file, unless something is in it. Returns whether it is
/// gone.
fn is_removed(home: &Home, scope: Scope, path: &Path) -> bool {
    match open(home, scope, path, false) {
        Ok((dir, name)) => dir.remove_empty_dir(name).is_ok(),
        Err(e) => e.kind() == ErrorKind::NotFound,
    }
}

/// Returns the text of a file; `None` if there is none.
fn current(home: &Home, scope: Scope, path: &Path) -> io::Result<Option<String>> {
    let there = if_there(open(home, scope, path, false))?;
    there.map_or(Ok(None), |(dir, name)| read(&dir, &name))
}

fn read(dir: &Dir, name: &Path) -> io::Result<Option<String>> {
    if_there(dir.read_text(name, MAX_BYTES))
}

/// Returns the directories above a path that do not exist, the outermost first.
#[expect(clippy::disallowed_methods, reason = "the user's home, whose links the user made")]
fn missing_above(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<_> =
        path.ancestors().skip(1).take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}
