//! Finds the commits that shaped lines of a file: those that wrote their words, not those that laid
//! them out anew or moved them.
//!
//! `git blame` compares each version of a file with the one before it, and takes a second for a file
//! of curl. This module instead looks at few versions: whether a line was carried over from any older
//! version can be decided from the two texts alone ([`Reduced::carried`]), so the first version that
//! has it is found by steps that double and then halve. At the end stands a comparison with the
//! parents of the commit that was found, so a wrong guess in between costs time and not truth. There
//! the difference by lines decides ([`Aligned`]), as it does for `git blame`.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::aligned::Aligned;
use super::carried::{Form, Reduced, Span};
use super::difference::{DiffError, RawChange, check, checked_out, failed, raw_change};
use super::objects::Objects;
use super::{GitDir, command, is_shallow, object_id, output};
use crate::dir::Dir;
use crate::secrets::redact;

/// Most lines that one question is about.
pub const MAX_BLAMED_LINES: u32 = 400;
/// Most bytes that are compared for one question. Lines whose commit is not found then are left open,
/// whatever else the machine does at that time.
const MAX_WORK: usize = 4 << 30;
/// A git that takes longer than this hangs.
const MAX_TIME: Duration = Duration::from_secs(30);
/// Number of commits that are listed first, and at most.
const FIRST_COMMITS: usize = 2_048;
const MAX_COMMITS: usize = 200_000;
/// Most times that lines follow another parent or path.
const MAX_TURNS: usize = 64;
/// Most files of a commit in which lines that it moved are looked for.
const MAX_SOURCES: usize = 40;
/// Most files of a commit that are compared by their names.
const MAX_REMOVED: usize = 2_000;
/// Lines were moved from a place if so many bytes of one of them and around it agree with it.
const MOVED: usize = 32;
/// A new file with this share of the lines of a deleted one is the same file.
const RENAMED: f64 = 0.5;
/// Most ignored commits that are read, and most bytes of their file.
const MAX_IGNORED: usize = 1_000;
const MAX_IGNORED_BYTES: u64 = 1 << 18;
/// Most characters of the name of an author.
const MAX_AUTHOR: usize = 100;
/// The file in which a project lists commits that only formatted.
const IGNORED: &str = ".git-blame-ignore-revs";
/// A line of a formatting commit comes from the line with this share of the same words.
const ALIKE: f64 = 0.6;

/// What shaped lines of a file.
#[derive(Debug, Clone, Default)]
pub struct Blame {
    /// For each line that was asked about, in order.
    pub lines: Vec<BlamedLine>,
    /// The commits of these lines, and those that were passed over, by id.
    pub commits: HashMap<String, BlamedCommit>,
    /// What is missing from the answer, such as commits before the end of a shallow clone.
    pub missing: Option<String>,
}

impl Blame {
    /// Adds what shaped later lines of the file.
    pub fn append(&mut self, later: Self) {
        self.lines.extend(later.lines);
        self.commits.extend(later.commits);
        self.missing = self.missing.take().or(later.missing);
    }
}

/// Where a line comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The line, 1-based.
    pub line: u32,
    pub origin: LineOrigin,
    /// The commits that were passed over, newest first.
    pub passed: Vec<PassedCommit>,
}

/// The commit that wrote a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOrigin {
    /// The commit with this id.
    Commit(String),
    /// The line is at least as old as this commit; what is before it is missing or was not read.
    AtLeast(String),
    /// The line is not committed.
    Uncommitted,
}

/// A commit that changed a line, but not its words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PassedCommit {
    pub id: String,
    pub how: Passed,
}

/// What a commit did with a line that it did not write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Passed {
    /// It laid the line out anew.
    Formatted,
    /// It moved the line from this file.
    Moved(String),
    /// The project's `.git-blame-ignore-revs` names it.
    Ignored,
}

/// A commit as a person reads it, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedCommit {
    pub id: String,
    /// Unix seconds, as the author wrote them.
    pub at: i64,
    pub author: String,
    /// The first line of the message.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// About how many commits are between it and the checked-out one; smaller is newer, whatever dates
    /// the authors wrote.
    pub age: usize,
    parents: Vec<String>,
}

/// Finds the commits that shaped the lines `first` to `last` (1-based) of a file, whose text is
/// `text` now. `path` is relative to `root`. Lines beyond the end are left out, and so are those
/// beyond [`MAX_BLAMED_LINES`].
///
/// # Errors
/// When there is no git, no repository that may be asked, or no commit.
pub fn blame(root: &Path, path: &str, text: &str, lines: (u32, u32)) -> Result<Blame, DiffError> {
    // The file may be in a submodule.
    let folder = root.join(path).parent().map_or_else(|| root.to_path_buf(), Path::to_path_buf);
    check(&folder)?;
    let head = checked_out(&folder)?;
    shaped_by(&folder, path, text, lines, &head).map_err(failed)
}

/// Does so in the history of the commit `head`. `folder` holds the file.
fn shaped_by(
    folder: &Path,
    path: &str,
    text: &str,
    (first, last): (u32, u32),
    head: &str,
) -> io::Result<Blame> {
    let deadline = Instant::now() + MAX_TIME;
    let git = GitDir::of(folder).ok_or(io::ErrorKind::NotFound)?;
    let within = git.path_of(folder).ok_or(io::ErrorKind::NotFound)?;
    let name = Path::new(path).file_name().ok_or(io::ErrorKind::NotFound)?;
    let within = within.join(name).to_string_lossy().replace('\\', "/");

    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let last = last.min(n_lines).min(first.saturating_add(MAX_BLAMED_LINES - 1));
    let history = History {
        root: git.top.clone(),
        objects: RefCell::new(Objects::open(&git.top, deadline)?),
        ignored: ignored(&git.top),
        commits: RefCell::default(),
        chains: RefCell::default(),
        texts: RefCell::default(),
        aligned: RefCell::default(),
        work: Cell::new(MAX_WORK),
        deadline,
    };
    let chain = Rc::new(history.list(head, None, FIRST_COMMITS)?);
    let trace = |form: Form, asked: &[u32]| {
        let mut tracer = Tracer {
            history: &history,
            form,
            work: Vec::new(),
            found: Vec::new(),
            turns: 0,
            ages: HashMap::new(),
        };
        tracer.trace(text, asked, &within, &chain);
        (tracer.found, tracer.ages)
    };
    let asked: Vec<u32> = (first..=last).collect();
    let (mut found, ages) = trace(Form::Words, &asked);
    // The commit that last touched the layout of a line, if it did not write it.
    let new = found.iter().filter(|line| line.origin == LineOrigin::Uncommitted);
    let new: HashSet<u32> = new.map(|line| line.line).collect();
    let shaped: Vec<u32> = asked.iter().copied().filter(|line| !new.contains(line)).collect();
    let (formatted, formatted_ages) = trace(Form::Lines, &shaped);
    let formatted: HashMap<u32, LineOrigin> =
        formatted.into_iter().map(|l| (l.line, l.origin)).collect();
    let age = |id: &String| formatted_ages.get(id).or_else(|| ages.get(id)).copied();
    for line in &mut found {
        // A commit explains nothing about lines that are younger than it.
        if let (Some(LineOrigin::Commit(by)), LineOrigin::Commit(of) | LineOrigin::AtLeast(of)) =
            (formatted.get(&line.line), &line.origin)
            && age(by) < ages.get(of).copied()
            && line.passed.iter().all(|passed| passed.id != *by)
        {
            line.passed.push(PassedCommit { id: by.clone(), how: Passed::Formatted });
            line.passed.sort_by_key(|passed| age(&passed.id));
        }
    }
    let lines = with_wordless(&asked, found, &formatted);
    let is_open = |line: &BlamedLine| matches!(line.origin, LineOrigin::AtLeast(_));
    let missing = lines.iter().any(is_open).then(|| {
        if is_shallow(&git.top) {
            "this clone is shallow: older commits are missing".to_string()
        } else {
            "older commits are missing, or reading them exceeded a limit: ask about fewer lines"
                .to_string()
        }
    });
    let named = |line: &BlamedLine| {
        let origin = match &line.origin {
            LineOrigin::Commit(id) | LineOrigin::AtLeast(id) => Some(id.clone()),
            LineOrigin::Uncommitted => None,
        };
        origin
            .into_iter()
            .chain(line.passed.iter().map(|passed| passed.id.clone()))
            .collect::<Vec<_>>()
    };
    let mut commits = HashMap::new();
    for id in lines.iter().flat_map(named) {
        if let Ok(Some(commit)) = history.commit(&id) {
            let mut commit = (*commit).clone();
            commit.age = age(&id).unwrap_or(commit.age);
            commits.insert(id, commit);
        }
    }
    Ok(Blame { lines, commits, missing })
}

/// Adds the lines without words. One that has braces comes from the commit that wrote it as it is; if
/// that one only laid out the line above it, and an empty line, belong to that line.
fn with_wordless(
    asked: &[u32],
    found: Vec<BlamedLine>,
    as_they_are: &HashMap<u32, LineOrigin>,
) -> Vec<BlamedLine> {
    let by_line: HashMap<u32, BlamedLine> = found.into_iter().map(|l| (l.line, l)).collect();
    let worded = |line: &u32| by_line.get(line);
    let line = |(n, line): (usize, &u32)| {
        if let Some(own) = by_line.get(line) {
            return Some(own.clone());
        }
        let near = asked[..n].iter().rev().find_map(worded);
        let near = near.or_else(|| asked[n..].iter().find_map(worded));
        let own = as_they_are.get(line).filter(|origin| match origin {
            LineOrigin::Commit(id) => {
                near.is_none_or(|near| near.passed.iter().all(|passed| passed.id != *id))
            }
            _ => true,
        });
        let origin = own.or_else(|| near.map(|near| &near.origin))?.clone();
        Some(BlamedLine { line: *line, origin, passed: Vec::new() })
    };
    asked.iter().enumerate().filter_map(line).collect()
}

/// Reads the ids of the commits that the project wants to be passed over.
fn ignored(top: &Path) -> HashSet<String> {
    let text = Dir::open(top).and_then(|dir| dir.read(IGNORED, MAX_IGNORED_BYTES));
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let ids = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    ids.filter_map(object_id).take(MAX_IGNORED).collect()
}

/// What was read of a repository for one question.
struct History {
    root: std::path::PathBuf,
    objects: RefCell<Objects>,
    ignored: HashSet<String>,
    commits: RefCell<HashMap<String, Option<Rc<BlamedCommit>>>>,
    /// By their first commits.
    chains: RefCell<HashMap<String, Rc<Vec<String>>>>,
    /// By form and blob.
    texts: RefCell<HashMap<(bool, String), Rc<Reduced>>>,
    /// By the addresses of an older and a newer text, which are kept so that they stay theirs.
    aligned: RefCell<HashMap<[*const Reduced; 2], Alignment>>,
    /// Number of bytes that may still be compared.
    work: Cell<usize>,
    deadline: Instant,
}

/// Two texts and what their lines have to do with each other.
type Alignment = (Differing, Option<Rc<Aligned>>);

/// An older and a newer text.
type Differing = [Rc<Reduced>; 2];

impl History {
    /// Lists a commit and its first parents, newest first, at most `max`. `before` is not part of the
    /// list, nor is anything that is part of its history.
    fn list(&self, from: &str, before: Option<&str>, max: usize) -> io::Result<Vec<String>> {
        let mut command = command(&self.root);
        command.args(["rev-list", "--first-parent", &format!("--max-count={max}"), from]);
        command.args(before.map(|before| format!("^{before}"))).arg("--");
        let out = output(&mut command, Vec::new())?;
        let text = String::from_utf8_lossy(&out.stdout);
        let ids: Vec<String> = text.lines().filter_map(object_id).collect();
        // What is missing at the end is found there.
        if ids.is_empty() { Err(io::Error::other("git knows no commit")) } else { Ok(ids) }
    }

    /// Lists all first parents of a commit.
    fn list_all(&self, from: &str) -> Rc<Vec<String>> {
        if let Some(known) = self.chains.borrow().get(from) {
            return known.clone();
        }
        let chain = self.list(from, None, MAX_COMMITS).unwrap_or_else(|_| vec![from.to_string()]);
        let chain = Rc::new(chain);
        self.chains.borrow_mut().insert(from.to_string(), chain.clone());
        chain
    }

    /// Whether the question has cost what it may.
    fn is_spent(&self) -> bool {
        self.work.get() == 0 || Instant::now() >= self.deadline
    }

    fn charge(&self, n_bytes: usize) {
        self.work.set(self.work.get().saturating_sub(n_bytes));
    }

    /// Returns the difference of two texts by lines; `None` if they differ in too many.
    fn aligned(&self, older: &Rc<Reduced>, newer: &Rc<Reduced>) -> Option<Rc<Aligned>> {
        let mut known = self.aligned.borrow_mut();
        let found = known.entry([Rc::as_ptr(older), Rc::as_ptr(newer)]).or_insert_with(|| {
            self.charge(older.size() + newer.size());
            let aligned = Aligned::new(older.keys(), newer.keys()).map(Rc::new);
            ([older.clone(), newer.clone()], aligned)
        });
        found.1.clone()
    }

    /// Divides lines into those that an older text has, as they are there, and the others. If no
    /// version `is_between` the two, their difference decides about the lines that both have.
    fn split(
        &self,
        group: &Group,
        older: &Rc<Reduced>,
        is_between: bool,
    ) -> (Vec<Tracked>, Vec<Tracked>) {
        let newer = &group.text;
        if Rc::ptr_eq(newer, older) || newer.is_same(older) {
            return (group.lines.clone(), Vec::new());
        }
        let aligned = self.aligned(older, newer);
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for line in &group.lines {
            let counterpart = || newer.counterpart(line.at, older, aligned.as_deref()?);
            let carried = || {
                self.charge(newer.size() + older.size());
                newer.carried(line.at, older, aligned.as_deref())
            };
            let at = if is_between { None } else { counterpart() }.or_else(carried);
            match at {
                Some(at) => there.push(Tracked { at, ..line.clone() }),
                None => gone.push(line.clone()),
            }
        }
        (there, gone)
    }

    /// Returns the text of a file in a commit.
    fn text(&self, commit: &str, path: &str, form: Form) -> io::Result<Option<Rc<Reduced>>> {
        self.reduced(&format!("{commit}:{path}"), form)
    }

    fn reduced(&self, name: &str, form: Form) -> io::Result<Option<Rc<Reduced>>> {
        let Some(blob) = self.objects.borrow_mut().get(name)?.filter(|o| o.kind == "blob") else {
            return Ok(None);
        };
        let mut texts = self.texts.borrow_mut();
        let reduced = texts
            .entry((form == Form::Words, blob.id))
            .or_insert_with(|| Rc::new(Reduced::new(&String::from_utf8_lossy(&blob.bytes), form)));
        Ok(Some(reduced.clone()))
    }

    /// Returns a commit; `None` if the repository does not have it.
    fn commit(&self, id: &str) -> io::Result<Option<Rc<BlamedCommit>>> {
        if let Some(known) = self.commits.borrow().get(id) {
            return Ok(known.clone());
        }
        let object = self.objects.borrow_mut().get(id)?.filter(|o| o.kind == "commit");
        let commit = object.map(|object| Rc::new(parse_commit(&object.id, &object.bytes)));
        self.commits.borrow_mut().insert(id.to_string(), commit.clone());
        Ok(commit)
    }

    /// Returns the files whose lines a commit removed, as path, blob before, and blob afterwards
    /// (`None` if it deleted the file). Files whose paths are most like `path` and deleted files come
    /// first.
    fn removed_from(
        &self,
        parent: &str,
        commit: &str,
        path: &str,
    ) -> Vec<(String, String, Option<String>)> {
        let mut command = command(&self.root);
        command.args(["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev"]);
        command.args(["--diff-filter=DM", "--ignore-submodules=all", parent, commit, "--"]);
        let out = output(&mut command, Vec::new()).map(|out| out.stdout).unwrap_or_default();
        let (mut rest, mut files) = (&out[..], Vec::new());
        while let Some(RawChange { blobs: [old, new], paths: [file, _], .. }) =
            raw_change(&mut rest)
        {
            let Ok(file) = std::str::from_utf8(file) else { continue };
            if let Some(old) = old.filter(|_| file != path) {
                files.push((file.to_string(), old, new));
            }
        }
        let names = |other: &str| {
            path.rsplit('/').zip(other.rsplit('/')).take_while(|(a, b)| a == b).count()
        };
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
        let extension = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
        files.truncate(MAX_REMOVED);
        files.sort_by_cached_key(|(file, _, new)| {
            let is_other = extension(file) != extension(path);
            let distance = strsim::levenshtein(&name(file), &name(path));
            (Reverse(names(file)), is_other, new.is_some(), distance)
        });
        files.truncate(MAX_SOURCES);
        files
    }
}

/// Parses a commit object. Whoever wrote it may have written anything.
fn parse_commit(id: &str, bytes: &[u8]) -> BlamedCommit {
    let text = String::from_utf8_lossy(bytes);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let values = |name: &'static str| {
        head.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    let author = values("author").next().unwrap_or_default();
    let (name, rest) = author.rsplit_once('>').unwrap_or((author, ""));
    let name = name.split('<').next().unwrap_or_default().trim();
    let at = rest.split_whitespace().next().and_then(|at| at.parse().ok()).unwrap_or_default();
    let message = super::cut(message.trim_start());
    let (subject, body) = message.split_once('\n').unwrap_or((&message, ""));
    BlamedCommit {
        id: id.to_string(),
        at,
        author: redact(&name.chars().take(MAX_AUTHOR).collect::<String>()).text,
        subject: redact(subject.trim()).text,
        body: redact(body.trim()).text,
        age: MAX_COMMITS,
        parents: values("parent").filter_map(object_id).collect(),
    }
}

/// A line on its way back, and where it is in the version at hand.
#[derive(Clone)]
struct Tracked {
    line: u32,
    at: Span,
    passed: Rc<Vec<PassedCommit>>,
}

/// Lines that a version of a file has.
#[derive(Clone)]
struct Group {
    lines: Vec<Tracked>,
    text: Rc<Reduced>,
    path: Rc<str>,
    /// A commit and its first parents, and the position of the version's commit among them.
    chain: Rc<Vec<String>>,
    at: usize,
    /// Number of commits between the checked-out one and the first of the chain.
    before: usize,
}

impl Group {
    fn age(&self) -> usize {
        self.before + self.at
    }

    fn id(&self) -> &str {
        &self.chain[self.at]
    }

    /// Returns the lines of another version, at a later position of the chain.
    fn at(&self, at: usize, text: Rc<Reduced>, lines: Vec<Tracked>) -> Self {
        Self { lines, text, at, ..self.clone() }
    }
}

enum Work {
    /// Look this many commits back.
    Further(Group, usize),
    /// The commit at this position does not have the lines.
    Between(Group, usize),
}

struct Tracer<'a> {
    history: &'a History,
    form: Form,
    work: Vec<Work>,
    found: Vec<BlamedLine>,
    turns: usize,
    /// How far back the commits are that were found.
    ages: HashMap<String, usize>,
}

impl Tracer<'_> {
    fn trace(&mut self, now: &str, asked: &[u32], path: &str, chain: &Rc<Vec<String>>) {
        let now = Rc::new(Reduced::new(now, self.form));
        let passed = Rc::new(Vec::new());
        let line = |line: &u32| {
            Some(Tracked { line: *line, at: now.line(*line)?, passed: passed.clone() })
        };
        let lines: Vec<Tracked> = asked.iter().filter_map(line).collect();
        let all =
            Group { lines, text: now, path: path.into(), chain: chain.clone(), at: 0, before: 0 };
        let Ok(committed) = self.history.text(all.id(), path, self.form) else {
            return self.leave_open(all);
        };
        let (present, new) = match &committed {
            Some(text) => self.history.split(&all, text, false),
            None => (Vec::new(), all.lines.clone()),
        };
        self.found.extend(new.into_iter().map(|line| BlamedLine {
            line: line.line,
            origin: LineOrigin::Uncommitted,
            passed: Vec::new(),
        }));
        if let Some(text) = committed {
            self.push(Work::Further(all.at(0, text, present), 1));
        }
        while let Some(work) = self.work.pop() {
            let group = match &work {
                Work::Further(group, _) | Work::Between(group, _) => group.clone(),
            };
            if self.history.is_spent() || self.step(work).is_err() {
                self.leave_open(group);
            }
        }
        self.found.sort_by_key(|line| line.line);
    }

    fn push(&mut self, work: Work) {
        let (Work::Further(group, _) | Work::Between(group, _)) = &work;
        if !group.lines.is_empty() {
            self.work.push(work);
        }
    }

    fn step(&mut self, work: Work) -> io::Result<()> {
        match work {
            Work::Further(group, step) => {
                let last = group.chain.len() - 1;
                if group.at == last {
                    return self.boundary(group);
                }
                let next = group.at.saturating_add(step).min(last);
                let (there, text, gone) = self.compare(&group, next)?;
                if let Some(text) = text {
                    self.push(Work::Further(group.at(next, text, there), step.saturating_mul(2)));
                }
                self.push(Work::Between(group.at(group.at, group.text.clone(), gone), next));
            }
            Work::Between(group, end) if end == group.at + 1 => {
                let (there, text, gone) = self.compare(&group, end)?;
                if let Some(text) = text {
                    self.push(Work::Further(group.at(end, text, there), 1));
                }
                if !gone.is_empty() {
                    self.boundary(group.at(group.at, group.text.clone(), gone))?;
                }
            }
            Work::Between(group, end) => {
                let middle = usize::midpoint(group.at, end);
                let (there, text, gone) = self.compare(&group, middle)?;
                if let Some(text) = text {
                    self.push(Work::Between(group.at(middle, text, there), end));
                }
                self.push(Work::Between(group.at(group.at, group.text.clone(), gone), middle));
            }
        }
        Ok(())
    }

    /// Compares lines with the version of the commit at a position: those that it has, as they are
    /// there; its text; and those that it does not have.
    #[expect(clippy::type_complexity, reason = "three parts of one comparison")]
    fn compare(
        &self,
        group: &Group,
        at: usize,
    ) -> io::Result<(Vec<Tracked>, Option<Rc<Reduced>>, Vec<Tracked>)> {
        Ok(match self.history.text(&group.chain[at], &group.path, self.form)? {
            Some(text) => {
                let is_between = at > group.at + 1;
                let (there, gone) = self.history.split(group, &text, is_between);
                (there, Some(text), gone)
            }
            None => (Vec::new(), None, group.lines.clone()),
        })
    }

    /// Decides where lines come from that the first parent of their commit does not have, as far as
    /// the chain tells: from another parent, from another file, or from the commit.
    fn boundary(&mut self, group: Group) -> io::Result<()> {
        let id = group.id().to_string();
        let Some(commit) = self.history.commit(&id)? else {
            self.leave_open(group);
            return Ok(());
        };
        let mut group = group;
        self.ages.entry(id.clone()).or_insert_with(|| group.age());
        self.turns += 1;
        if self.turns > MAX_TURNS {
            self.settle(group, true);
            return Ok(());
        }
        for (n, parent) in commit.parents.iter().enumerate() {
            let is_next = group.chain.get(group.at + 1) == Some(parent);
            // The chain was compared up to here.
            if group.lines.is_empty() || is_next {
                continue;
            }
            if self.history.commit(parent)?.is_none() {
                if n == 0 {
                    self.leave_open(group);
                    return Ok(());
                }
                continue;
            }
            // The merge of a whole repository puts the other parent's files below a folder.
            let mut path = &*group.path;
            let mut text = self.history.text(parent, path, self.form)?;
            while text.is_none()
                && n > 0
                && let Some((_, below)) = path.split_once('/')
            {
                path = below;
                text = self.history.text(parent, path, self.form)?;
            }
            let Some(text) = text else { continue };
            let (mut there, gone) = self.history.split(&group, &text, false);
            if *path != *group.path {
                let how = Passed::Moved(path.to_string());
                there = with(there, &PassedCommit { id: id.clone(), how });
            }
            if !there.is_empty() {
                let (path, before) = (path.into(), group.age() + 1);
                let chain = self.chain_of(parent, &commit, n);
                let lines = there;
                self.push(Work::Further(Group { lines, text, path, chain, at: 0, before }, 1));
            }
            group.lines = gone;
        }
        if let Some(parent) = commit.parents.first() {
            if commit.parents.len() == 1 && self.history.commit(parent)?.is_some() {
                group = self.moved(group, &commit, parent)?;
            }
            if self.form == Form::Words && self.history.ignored.contains(&id) {
                group = self.pass_over(group, &commit, parent)?;
            }
        }
        self.settle(group, false);
        Ok(())
    }

    /// Lists the commits from a parent on.
    fn chain_of(&self, parent: &str, commit: &BlamedCommit, n: usize) -> Rc<Vec<String>> {
        let main = commit.parents.first().filter(|_| n > 0);
        match main {
            Some(main) => {
                let list = self.history.list(parent, Some(main), MAX_COMMITS);
                Rc::new(list.unwrap_or_else(|_| vec![parent.to_string()]))
            }
            None => self.history.list_all(parent),
        }
    }

    /// Follows those of the lines that a commit moved from another file.
    fn moved(
        &mut self,
        mut group: Group,
        commit: &BlamedCommit,
        parent: &str,
    ) -> io::Result<Group> {
        if group.lines.is_empty() {
            return Ok(group);
        }
        let is_new = self.history.text(parent, &group.path, self.form)?.is_none();
        for (path, before, after) in self.history.removed_from(parent, &commit.id, &group.path) {
            if group.lines.is_empty() || self.history.is_spent() {
                break;
            }
            let Some(text) = self.history.reduced(&before, self.form)? else { continue };
            let after = match after {
                Some(after) => self.history.reduced(&after, self.form)?,
                None => None,
            };
            let renamed = (is_new && after.is_none())
                .then(|| self.history.aligned(&text, &group.text))
                .flatten()
                .filter(|aligned| aligned.share() >= RENAMED);
            // What the file still has was copied, and not moved.
            let is_gone = |at: Span| {
                let key = text.text(at);
                after.as_ref().is_none_or(|after| after.n_places(key) < text.n_places(key))
            };
            let (mut moved, mut rest) = (Vec::new(), Vec::new());
            for line in &group.lines {
                // A short line alone proves nothing.
                let is_enough = |at: &Span| group.text.agreement(line.at, &text, *at) >= MOVED;
                let at = match &renamed {
                    Some(aligned) => group.text.counterpart(line.at, &text, aligned),
                    None => None,
                };
                let at = at.or_else(|| {
                    self.history.charge(group.text.size() + text.size());
                    let at = group.text.carried(line.at, &text, renamed.as_deref());
                    at.filter(|at| is_gone(*at) && is_enough(at))
                });
                match at {
                    Some(at) => moved.push(Tracked { at, ..line.clone() }),
                    None => rest.push(line.clone()),
                }
            }
            if moved.is_empty() {
                continue;
            }
            let passed = PassedCommit { id: commit.id.clone(), how: Passed::Moved(path.clone()) };
            let moved = with(moved, &passed);
            self.follow(&group, parent, &path, text, moved);
            group.lines = rest;
        }
        Ok(group)
    }

    /// Follows the lines of a commit that the project wants to be passed over to the lines of its
    /// parent that are most like them.
    fn pass_over(
        &mut self,
        mut group: Group,
        commit: &BlamedCommit,
        parent: &str,
    ) -> io::Result<Group> {
        let Some(text) = self.history.text(parent, &group.path, self.form)? else {
            return Ok(group);
        };
        let mut followed = Vec::new();
        group.lines.retain(|line| match alike(&group.text, line.at, &text) {
            Some(at) => {
                followed.push(Tracked { at, ..line.clone() });
                false
            }
            None => true,
        });
        let passed = PassedCommit { id: commit.id.clone(), how: Passed::Ignored };
        let path = group.path.clone();
        self.follow(&group, parent, &path, text, with(followed, &passed));
        Ok(group)
    }

    fn follow(
        &mut self,
        group: &Group,
        parent: &str,
        path: &str,
        text: Rc<Reduced>,
        lines: Vec<Tracked>,
    ) {
        let is_next = group.chain.get(group.at + 1).is_some_and(|next| next == parent);
        let (chain, at, before) = if is_next {
            (group.chain.clone(), group.at + 1, group.before)
        } else {
            (self.history.list_all(parent), 0, group.age() + 1)
        };
        self.push(Work::Further(Group { lines, text, path: path.into(), chain, at, before }, 1));
    }

    fn settle(&mut self, group: Group, is_open: bool) {
        let id = group.id().to_string();
        self.ages.entry(id.clone()).or_insert_with(|| group.age());
        self.found.extend(group.lines.into_iter().map(|line| BlamedLine {
            line: line.line,
            origin: if is_open {
                LineOrigin::AtLeast(id.clone())
            } else {
                LineOrigin::Commit(id.clone())
            },
            passed: line.passed.to_vec(),
        }));
    }

    fn leave_open(&mut self, group: Group) {
        self.settle(group, true);
    }
}

fn with(lines: Vec<Tracked>, passed: &PassedCommit) -> Vec<Tracked> {
    let add = |line: Tracked| {
        let mut all = line.passed.to_vec();
        all.push(passed.clone());
        Tracked { passed: Rc::new(all), ..line }
    };
    lines.into_iter().map(add).collect()
}

/// Returns the line of an older text that shares most words with a place, between the lines around it
/// that were carried over.
fn alike(text: &Reduced, at: Span, older: &Reduced) -> Option<Span> {
    /// Number of lines before and after a place at which one that was carried over is looked for.
    const NEAR: usize = 30;
    let carried = |line: Span| text.carried(line, older, None);
    let before: Vec<Span> = text.lines_between((0, at.0)).collect();
    let start = before.iter().rev().take(NEAR).find_map(|line| carried(*line)).map_or(0, |l| l.1);
    let end = text.lines_between((at.1, text.all().1)).take(NEAR).find_map(carried);
    let end = end.map_or(older.all().1, |l| l.0);
    let wanted: HashSet<&[u8]> = text.words(at).into_iter().collect();
    let share = |line: &Span| {
        let words: HashSet<&[u8]> = older.words(*line).into_iter().collect();
        let common = words.intersection(&wanted).count();
        #[expect(clippy::cast_precision_loss, reason = "they are few")]
        let share = common as f64 / wanted.len().max(1) as f64;
        share
    };
    let (share, line) = older
        .lines_between((start, end))
        .take(400)
        .map(|line| (share(&line), line))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share >= ALIKE).then_some(line)
}
