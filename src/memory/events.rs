//! Makes episodes of file changes and git operations: one for each file, and one for each git
//! operation that changed files, so that a briefing can mention many files in one line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use chrono::{DateTime, Local, TimeDelta, Utc};
use uuid::{Builder, Uuid};
use xxhash_rust::xxh3::xxh3_128;

use super::sql::Noted;
use super::{
    CodeReference, Episode, EpisodeSource, Memory, MemorySource, MemoryStore, Operation, Select,
    StorageError,
};
use crate::source::{self, Attribution, Commit, FileChange, OperationKind};
use crate::text::{cut_at_word as cut, folded};

/// Most definitions that are named for one file.
const MAX_SYMBOLS: usize = 12;
/// Most files or folders that one event names.
const MAX_PLACES: usize = 8;
/// Edits of a file within this time and the same session are one event.
const ONE_EVENT: TimeDelta = TimeDelta::hours(12);
/// Bytes kept of the session's last prompt and answer with a git operation.
const REASONING: usize = 600;
/// Git states its times in units of this.
const ONE_SECOND: TimeDelta = TimeDelta::seconds(1);
/// Number of newest memories in which the last prompt and answer are looked for; a long one is in
/// pieces.
const RECENT: usize = 1_000;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub operation: Operation,
    /// Present path, relative to the root.
    pub path: String,
    /// Path before a move.
    pub from: Option<String>,
    pub symbols: Vec<String>,
    /// SHA-256 of the content before; `None` for a new file.
    pub before: Option<String>,
    pub whose: Attribution,
    pub session_id: String,
    pub at: DateTime<Utc>,
}

/// Merges changes of one file within a session, those by hand and those by git each for themselves,
/// and drops those that cancel out.
#[expect(clippy::disallowed_methods, reason = "asks, and opens nothing")]
pub(super) fn coalesced(
    noted: Vec<(Noted, Attribution)>,
    root: &Path,
) -> Vec<(Noted, Attribution)> {
    let mut all: BTreeMap<(String, String, bool), (Noted, Attribution)> = BTreeMap::new();
    for (new, whose) in noted {
        let is_git = whose == Attribution::Git;
        let key = (new.change.path.clone(), new.session_id.clone(), is_git);
        let Some((before, _)) = all.get_mut(&key) else {
            all.insert(key, (new, whose));
            continue;
        };
        let symbols: BTreeSet<String> =
            before.change.symbols.drain(..).chain(new.change.symbols).collect();
        let change = FileChange {
            path: new.change.path,
            before: before.change.before.take(),
            after: new.change.after,
            symbols: symbols.into_iter().collect(),
        };
        *before = Noted { change, ..new };
    }
    // A file that exists but is no longer indexed was not deleted.
    let is_event = |(n, _): &(Noted, Attribution)| {
        n.change.before != n.change.after
            && (n.change.after.is_some() || root.join(&n.change.path).symlink_metadata().is_err())
    };
    all.into_values().filter(is_event).collect()
}

/// Returns the events in order of paths. A deleted file and a new one with the same content in the
/// same work tree become one move, attributed to whatever created the new one.
pub(super) fn events(
    changes: Vec<(Noted, Attribution)>,
    tree_of: impl Fn(&str) -> Option<String>,
) -> Vec<Event> {
    let empty = source::sha256(b"");
    let mut gone: HashMap<(String, Option<String>), Vec<String>> = HashMap::new();
    for (noted, _) in &changes {
        if let FileChange { path, before: Some(before), after: None, .. } = &noted.change
            && *before != empty
        {
            gone.entry((before.clone(), tree_of(path))).or_default().push(path.clone());
        }
    }
    let mut moved = BTreeSet::new();
    let mut event = |(noted, whose): (Noted, Attribution)| {
        let Noted { change: FileChange { path, before, after, symbols }, session_id, at, .. } =
            noted;
        let (content_before, is_new) = (before.clone(), before.is_none());
        let is_gone = after.is_none();
        let from = after.filter(|_| is_new).and_then(|after| {
            let gone = gone.get_mut(&(after, tree_of(&path)))?;
            // The file itself may be gone again.
            let other = gone.iter().rposition(|from| *from != path)?;
            Some(gone.remove(other))
        });
        moved.extend(from.clone());
        let operation = match &from {
            Some(from) if Path::new(from).parent() == Path::new(&path).parent() => {
                Operation::Rename
            }
            Some(_) => Operation::Move,
            None if is_new => Operation::Create,
            None if is_gone => Operation::Delete,
            None => Operation::Update,
        };
        Event { operation, path, from, symbols, before: content_before, whose, session_id, at }
    };
    let mut events: Vec<Event> = changes.into_iter().map(&mut event).collect();
    events.retain(|e| e.operation != Operation::Delete || !moved.contains(&e.path));
    events
}

impl Event {
    /// Returns a name such as `update src/a.rs`.
    fn name(&self) -> String {
        let from = self.from.as_ref().map_or(String::new(), |from| format!("{from} to "));
        format!("{} {from}{}", self.operation.as_str(), self.path)
    }

    /// Returns how many files it covers, as git counts them.
    fn n_files(&self) -> usize {
        1 + usize::from(self.from.is_some())
    }

    fn memory(
        &self,
        content: String,
        source: EpisodeSource,
        git_batch_id: Option<String>,
    ) -> Memory {
        let episode = Episode {
            source,
            operation: Some(self.operation),
            origin_path: Some(self.path.clone()),
            git_batch_id,
        };
        Memory {
            name: self.name(),
            created_at: self.at,
            ..Memory::new(content, MemorySource::Episode(episode), &self.session_id)
        }
    }
}

/// The effect of an edit by hand.
pub(super) enum Edit {
    /// The episode is stored; it replaces the event with the same id.
    Kept(Box<Memory>),
    /// The event with this id was undone.
    Undone(Uuid),
}

/// Returns the episode of an edit by hand: `update src/a.rs: parse, Config::load`. Several edits of
/// one file within a session are one episode. It names `commit`, the one that is checked out, and
/// the content before the edit, so that an edit that was undone can be told.
pub(super) fn edit(
    event: &Event,
    commit: Option<String>,
    store: &MemoryStore,
) -> Result<Edit, StorageError> {
    let before = match event.from {
        Some(_) => None,
        None => former(event, store)?,
    };
    let known = before.as_ref().and_then(|m| m.content.strip_prefix(&m.name)?.strip_prefix(": "));
    let known = known
        .unwrap_or_default()
        .split(", ")
        .filter(|s| !s.is_empty() && !s.starts_with('…'))
        .map(String::from);
    let symbols: BTreeSet<String> = known.chain(event.symbols.iter().cloned()).collect();
    if let Some(created) = before.as_ref().filter(|m| {
        event.operation == Operation::Delete && m.source.operation() == Some(Operation::Create)
    }) {
        return Ok(Edit::Undone(created.id));
    }
    let operation = match (before.as_ref().and_then(|m| m.source.operation()), event.operation) {
        (Some(Operation::Create), _) => Operation::Create,
        (Some(Operation::Delete), Operation::Create) => Operation::Update,
        (_, operation) => operation,
    };
    let event = Event { operation, ..event.clone() };
    let mut content = event.name();
    if !symbols.is_empty() {
        let named: Vec<&str> = symbols.iter().take(MAX_SYMBOLS).map(String::as_str).collect();
        let more = if symbols.len() > MAX_SYMBOLS { ", …" } else { "" };
        content = format!("{content}: {}{more}", named.join(", "));
    }
    let new = event.memory(content, EpisodeSource::FilesystemWatch, None);
    let hash = match before.as_ref().and_then(|m| m.code.first()) {
        Some(first) => first.hash.clone(),
        None => event.before.clone().unwrap_or_default(),
    };
    let code = vec![CodeReference { path: event.path.clone(), symbol: None, commit, hash }];
    Ok(Edit::Kept(Box::new(Memory { id: before.map_or(new.id, |m| m.id), code, ..new })))
}

/// Returns the event that an edit continues.
fn former(event: &Event, store: &MemoryStore) -> Result<Option<Memory>, StorageError> {
    let select = Select {
        sources: vec![EpisodeSource::FilesystemWatch.as_str().into()],
        session_id: Some(event.session_id.clone()),
        file_path: Some(event.path.clone()),
        since: Some(event.at - ONE_EVENT),
        limit: 1,
        ..Select::default()
    };
    let found = store.select(&select)?.pop();
    // A move is always an event of its own.
    Ok(found.filter(|m| {
        matches!(
            m.source.operation(),
            Some(Operation::Create | Operation::Update | Operation::Delete)
        )
    }))
}

/// A git operation, and its effect on files so far.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// The work tree, relative to the root.
    pub tree: String,
    pub operation: source::GitOperation,
    pub memory_id: Uuid,
    pub git_batch_id: String,
    session_id: String,
    n_files: usize,
    /// The number of its files that git names, for an operation of which the index does not know all.
    pub n_by_git: usize,
    /// Number of files by top folder.
    places: BTreeMap<String, usize>,
    /// The first files.
    files: Vec<String>,
}

impl Batch {
    pub(super) fn new(tree: &str, operation: source::GitOperation, session_id: &str) -> Self {
        let id = |what| {
            let source::GitOperation { kind, from, to, subject, started, .. } = &operation;
            let mut parts = vec![what, tree, kind.text(), from.as_deref().unwrap_or_default()];
            // Where an operation of several steps ends is not known from the beginning.
            if !matches!(kind, OperationKind::Rebase | OperationKind::Pull) {
                parts.extend([to.as_deref().unwrap_or_default(), subject]);
            }
            id_of(&[&parts[..], &[&started.to_string()]].concat())
        };
        Self {
            tree: tree.into(),
            memory_id: id("operation"),
            git_batch_id: id("batch").to_string(),
            operation,
            session_id: session_id.into(),
            n_files: 0,
            n_by_git: 0,
            places: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    /// Creates a batch for files that git changed without a log entry (`git restore` writes
    /// none).
    pub(super) fn untold(tree: &str, event: &Event) -> Self {
        let zone = i64::from(Local::now().offset().local_minus_utc() / 60);
        let (kind, at) = (OperationKind::Other, event.at.timestamp());
        let operation = source::GitOperation::new(kind, String::new(), at, zone);
        // Nothing distinguishes it from another one of the same second.
        let new = Self::new(tree, operation, &event.session_id);
        Self { memory_id: Uuid::now_v7(), git_batch_id: Uuid::now_v7().to_string(), ..new }
    }

    /// Returns whether no file of the operation is known.
    pub(super) fn is_empty(&self) -> bool {
        self.n_files == 0
    }

    /// Returns the time between an event and the operation, in seconds.
    pub(super) fn distance(&self, event: &Event) -> u64 {
        self.operation.at.abs_diff(event.at.timestamp())
    }

    /// Adds a file, and returns its memory.
    pub(super) fn take(&mut self, event: &Event) -> Memory {
        self.n_files += event.n_files();
        let place = event.path.split_once('/').map_or(".", |(top, _)| top);
        *self.places.entry(place.into()).or_default() += event.n_files();
        if self.files.len() <= MAX_PLACES {
            self.files.push(event.path.clone());
        }
        let content = format!("{}: {}", self.operation.kind.text(), event.name());
        event.memory(content, EpisodeSource::GitBulkUpdate, Some(self.git_batch_id.clone()))
    }

    /// Returns the operation as an event of git.
    pub(super) fn event(&self) -> GitEvent {
        let (name, session_id) = (self.summary(), self.session_id.clone());
        GitEvent { name, session_id, at: time(self.operation.at) }
    }

    /// Returns a line such as `git reset --hard: 47 files at 15:30`.
    fn summary(&self) -> String {
        self.operation.summary(self.n_files.max(self.n_by_git))
    }

    /// Returns the memory of the whole operation.
    pub(super) fn memory(&self) -> Memory {
        let source::GitOperation { from, to, subject, at, .. } = &self.operation;
        let name = self.summary();
        let mut content = name.clone();
        if !self.tree.is_empty() {
            content = format!("{content}, in {}", self.tree);
        }
        if from.is_some() || to.is_some() {
            let (from, to) = (
                from.as_deref().map_or("nothing", short),
                to.as_deref().map_or("uncommitted", short),
            );
            content = format!("{content}\n{from} → {to}");
        }
        if !subject.is_empty() {
            content = format!("{content} ({subject})");
        }
        let places = if self.files.len() <= MAX_PLACES {
            self.files.join(", ")
        } else {
            let mut places: Vec<(&String, &usize)> = self.places.iter().collect();
            places.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
            places
                .iter()
                .take(MAX_PLACES)
                .map(|(name, n)| format!("{name} {n}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !places.is_empty() {
            content = format!("{content}\n{places}");
        }
        let new =
            metadata(name, &content, &self.session_id, time(*at), Some(self.git_batch_id.clone()));
        Memory { id: self.memory_id, ..new }
    }
}

/// Returns the memory of a commit: its subject and files.
pub(super) fn commit(commit: &Commit, tree: &str, session_id: &str, at: i64) -> Memory {
    let name = commit_name(commit);
    let inside =
        |file: &String| if tree.is_empty() { file.clone() } else { format!("{tree}/{file}") };
    let files: Vec<String> = commit.files.iter().take(10 * MAX_PLACES).map(inside).collect();
    let more = commit.files.len() - files.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let content =
        if files.is_empty() { name.clone() } else { format!("{name}\n{}{more}", files.join(", ")) };
    // The batch of a commit is the commit.
    let new = metadata(name, &content, session_id, time(at), Some(commit.id.clone()));
    Memory { id: commit_id(tree, &commit.id), ..new }
}

/// Returns the id of the memory of a commit.
pub(super) fn commit_id(tree: &str, commit: &str) -> Uuid {
    id_of(&["commit", tree, commit])
}

/// Makes an id from what git says, so that an event that is found again is the same memory.
fn id_of(parts: &[&str]) -> Uuid {
    Builder::from_custom_bytes(xxh3_128(parts.join("\0").as_bytes()).to_be_bytes()).into_uuid()
}

/// Returns a name such as `commit 1a2b3c4: subject`.
pub(super) fn commit_name(commit: &Commit) -> String {
    format!("commit {}: {}", short(&commit.id), commit.subject)
}

fn metadata(
    name: String,
    content: &str,
    session_id: &str,
    at: DateTime<Utc>,
    git_batch_id: Option<String>,
) -> Memory {
    let episode = Episode { git_batch_id, ..Episode::of(EpisodeSource::GitMetadata) };
    let content = content.chars().take(super::MAX_CONTENT_CHARS).collect::<String>();
    Memory {
        name,
        created_at: at,
        ..Memory::new(content, MemorySource::Episode(episode), session_id)
    }
}

/// An event of git that is recorded now.
pub(super) struct GitEvent {
    /// Its name, such as `git reset --hard: 47 files at 15:30`.
    pub name: String,
    pub session_id: String,
    pub at: DateTime<Utc>,
}

/// Returns the reasons for events of git: the prompt and the answer of the turn in which each
/// happened. Events with the same reason share one memory. An event outside of sessions, or between
/// two turns, has none.
pub(super) fn contexts(
    events: &[GitEvent],
    store: &MemoryStore,
) -> Result<Vec<Memory>, StorageError> {
    let mut said: HashMap<&str, Vec<Memory>> = HashMap::new();
    let mut all: Vec<Memory> = Vec::new();
    for event in events.iter().filter(|event| !event.session_id.is_empty()) {
        if !said.contains_key(&*event.session_id) {
            let select = Select {
                session_id: Some(event.session_id.clone()),
                sources: vec!["hook_description".into(), "claude_response".into()],
                limit: RECENT,
                ..Select::default()
            };
            said.insert(&event.session_id, store.select(&select)?);
        }
        let Some((asked, answered)) = turn_at(event.at, &said[&*event.session_id]) else {
            continue;
        };
        let told: Vec<(&str, &Memory)> = [("Asked", asked), ("Said", answered)]
            .into_iter()
            .filter_map(|(who, m)| Some((who, m?)))
            .collect();
        if told.is_empty() {
            continue;
        }
        let derived_from: Vec<Uuid> = told.iter().map(|(_, m)| m.id).collect();
        let ids: Vec<String> = derived_from.iter().map(ToString::to_string).collect();
        let id =
            id_of(&[&["context"], &*ids.iter().map(String::as_str).collect::<Vec<_>>()].concat());
        let before = match all.iter().position(|m| m.id == id) {
            Some(i) => Some(all.remove(i)),
            None => store.get(id)?,
        };
        let names = before.iter().flat_map(|m| m.name.split("; ")).filter(|n| *n != event.name);
        let name = cut(&names.chain([&*event.name]).collect::<Vec<_>>().join("; "), REASONING);
        let parts: Vec<String> =
            told.iter().map(|(who, m)| format!("{who}: {}", quoted(m))).collect();
        let episode = Episode::of(EpisodeSource::GitContext);
        let content = format!("{name}\n{}", parts.join("\n"));
        all.push(Memory {
            id,
            name,
            derived_from,
            ..Memory::new(content, MemorySource::Episode(episode), &event.session_id)
        });
    }
    Ok(all)
}

/// Returns the prompt and the answer of the turn that went on at a time; the memories of the session
/// are newest first. A turn begins with a prompt and ends with its answer. Git states its times in
/// whole seconds, so what was said within a second may have come before or after.
fn turn_at(at: DateTime<Utc>, said: &[Memory]) -> Option<(Option<&Memory>, Option<&Memory>)> {
    let end = at + ONE_SECOND;
    let whole = || said.iter().filter(|m| !m.is_continued());
    let asked = whole().find(|m| m.is_prompt() && m.created_at < end);
    let next = whole().rfind(|m| m.is_prompt() && m.created_at >= end);
    let is_of_turn = |m: &&Memory| {
        asked.is_none_or(|asked| m.created_at >= asked.created_at)
            && next.is_none_or(|next| m.created_at < next.created_at)
    };
    // Oldest first.
    let answers: Vec<&Memory> = whole().rev().filter(|m| m.is_answer() && is_of_turn(m)).collect();
    let answered = answers.iter().find(|m| m.created_at + ONE_SECOND > at).copied();
    let is_over = answered.is_none() && !answers.is_empty();
    ((asked.is_some() || answered.is_some()) && !is_over).then_some((asked, answered))
}

/// Returns the part of a prompt or an answer that is kept with a git operation.
pub(super) fn quoted(memory: &Memory) -> String {
    cut(&folded(&memory.content), REASONING)
}

/// Shortens a commit id as git does.
pub(super) fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}

/// Converts Unix seconds.
pub(super) fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap_or_default()
}
