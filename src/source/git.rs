//! What git knows of a tree: the commit that is checked out, read from git's own files since it is
//! needed very often; what commits changed, from the git command; and which changes git made.

mod afterwards;
mod aligned;
mod blame;
mod carried;
mod difference;
mod objects;
mod patches;
mod private;
mod reflog;
mod rewritten;
mod since;
mod watch;
mod whose;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::dir::{Dir, FileKind};

pub use blame::{
    Blame, BlamedCommit, BlamedLine, LineOrigin, MAX_BLAMED_LINES, Passed, PassedCommit, blame,
};
pub use difference::{
    DiffError, DiffFile, Difference, Hunk, blobs, changed_since, difference, difference_since,
};
pub use patches::{LineChange, PatchReach, PatchText, patches, texts_at};
pub use private::{exclude_from_git, not_ignored_by_git, tracked_by_git};
pub use rewritten::carried_over;
pub use since::{Beginning, before, from_last_day, named};
pub use watch::{Committed, GitOperation, GitWatch, OperationKind, stashes};
pub use whose::{Attribution, ChangedFile};

/// Most bytes read of a git file such as `HEAD` or `MERGE_MSG`.
const MAX_SMALL_BYTES: u64 = 1 << 20;
/// Most bytes read at once of a git file that lists references, submodules or reflog entries.
const MAX_LIST_BYTES: u64 = 64 << 20;
/// Most bytes of a subject, and of the rest of a message, that are kept.
const MAX_MESSAGE: usize = 16 << 10;
/// Most submodules of a tree; more are not looked at.
const MAX_SUBMODULES: usize = 1_000;
/// Most bytes of output of a git command; more end it.
const MAX_OUTPUT_BYTES: usize = 64 << 20;
/// A git command that prints nothing for this long is killed: a named pipe among git's files
/// would block it for ever.
const SILENCE: Duration = Duration::from_secs(3);
/// A git command that takes longer is killed. What it printed until then counts.
const MAX_DURATION: Duration = Duration::from_secs(10);
/// Where the objects of a repository are, below its common directory.
const OBJECTS: &str = "objects";
/// Where it keeps the data of its linked work trees.
const WORKTREES: &str = "worktrees";
/// Most linked working trees of a repository that are looked at.
const MAX_WORKTREES: usize = 64;

/// A commit that changed files of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The hash, 40 (or 64) hexadecimal digits.
    pub id: String,
    /// Unix seconds.
    pub at: i64,
    /// The first line of the message.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// The name of the author, as the author wrote it.
    pub author: String,
    /// The changed files, relative to the tree.
    pub files: Vec<String>,
}

/// Commits as git lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitLog {
    pub commits: Vec<Commit>,
    /// Why commits that belong to the list are missing at its end, if any are.
    pub cut: Option<String>,
}

/// Returns the newest `max` commits that changed something below `root`,
/// newest first, without merges.
///
/// # Errors
/// When there is no git, no repository, or no commit.
pub fn commits(root: &Path, max: usize) -> io::Result<CommitLog> {
    // Git itself would follow links among the files that name the checked-out commit.
    let head = head(root).ok_or_else(|| io::Error::other("no commit is checked out"))?;
    log(root, &["--no-merges".into(), format!("--max-count={max}"), head])
}

/// Returns the newest `max` commits up to `head` that changed something below `root` and are not part
/// of the history of `after`. Newest first, without merges.
///
/// # Errors
/// When there is no git or no repository, or one of the commits does not exist.
pub fn commits_between(
    root: &Path,
    after: Option<&str>,
    head: &str,
    max: usize,
) -> io::Result<CommitLog> {
    let which = ["--no-merges".into(), format!("--max-count={max}"), head.into()];
    let without = after.map(|after| format!("^{after}"));
    log(root, &which.into_iter().chain(without).collect::<Vec<_>>())
}

/// Returns the ids of the newest `max` commits up to `head` that changed something below `root`,
/// without merges: those that [`commits_between`] returns without `after`.
///
/// # Errors
/// When there is no git or no repository, the commit does not exist, or git takes too long.
pub fn newest_commits(root: &Path, head: &str, max: usize) -> io::Result<HashSet<String>> {
    check_repository(root)?;
    let most = format!("--max-count={max}");
    let out = run(root, &["rev-list", "--no-merges", &most, head, "--", "."])?;
    if out.code != Some(0) {
        return Err(io::Error::other("git did not answer"));
    }
    let text = String::from_utf8_lossy(&out.stdout);
    Ok(text.lines().filter_map(object_id).collect())
}

/// Whether the commit `old` is part of the history of `new`.
#[must_use]
pub fn is_ancestor(root: &Path, old: &str, new: &str) -> bool {
    let arguments = ["merge-base", "--is-ancestor", old, new];
    GitDir::of(root).is_some() && ask(root, &arguments, String::new()).is_some()
}

/// Where a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitPlace {
    /// The checked-out commit is it or comes after it.
    Head,
    /// A branch or tag contains it, but not the checked-out commit.
    Elsewhere,
    /// No branch or tag contains it any more.
    Nowhere,
}

/// Returns where commits of a tree and its submodules are. Answers nothing where git does not.
#[must_use]
pub fn commit_places(root: &Path, ids: &[&str]) -> HashMap<String, CommitPlace> {
    let mut places = HashMap::new();
    let mut left: Vec<&str> =
        ids.iter().copied().filter(|id| object_id(id).as_deref() == Some(id)).collect();
    for tree in trees(root) {
        if left.is_empty() || GitDir::of(&tree).is_none() || head(&tree).is_none() {
            continue;
        }
        let Some(known) = ask(&tree, &TYPES, left.join("\n") + "\n") else { continue };
        let here: Vec<&str> =
            left.iter().copied().filter(|id| known.contains(&format!("{id} commit"))).collect();
        if here.is_empty() {
            continue;
        }
        left.retain(|id| !here.contains(id));
        // Lists what the commits contain and the other references do not.
        let without = |others: &[&str]| {
            let all = [&["rev-list"], &here[..], &["--not", "HEAD"], others].concat();
            let out = ask(&tree, &all, String::new())?;
            Some(out.lines().map(String::from).collect::<HashSet<String>>())
        };
        let Some(outside) = without(&[]) else { continue };
        let nowhere = if outside.is_empty() {
            HashSet::new()
        } else {
            without(&["--branches", "--tags", "--remotes"]).unwrap_or_default()
        };
        places.extend(here.into_iter().map(|id| {
            let place = match (outside.contains(id), nowhere.contains(id)) {
                (false, _) => CommitPlace::Head,
                (true, false) => CommitPlace::Elsewhere,
                (true, true) => CommitPlace::Nowhere,
            };
            (id.to_string(), place)
        }));
    }
    if !places.is_empty() || head(root).is_some() {
        places.extend(left.into_iter().map(|id| (id.to_string(), CommitPlace::Nowhere)));
    }
    places
}

/// Returns those of the commits that changed something below `root`, in the same order.
///
/// # Errors
/// When there is no git or no repository, or one of the commits does not exist.
pub fn these_commits(root: &Path, ids: &[&str]) -> io::Result<Vec<Commit>> {
    let ids = ids.iter().map(|id| (*id).to_string());
    let which = ["--no-walk=unsorted".into(), "--diff-merges=first-parent".into()];
    Ok(log(root, &which.into_iter().chain(ids).collect::<Vec<_>>())?.commits)
}

/// Environment variables that locate git and the user's configuration. All other `GIT_*` variables
/// are removed: they name another repository, or a program to run.
const PASSED_ON: [&str; 5] = [
    "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
];

/// Settings that override those of the repository, so that git runs no program, reaches no network,
/// and reads no file elsewhere.
const SETTINGS: [&str; 20] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.safecrlf=false",
    "credential.helper=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Options of a command that compares versions: it runs no program that the repository names, reads no
/// file that its configuration names, and prints in one form, whatever the configuration says.
const PLAIN_DIFF: [&str; 6] = [
    "--no-ext-diff", "--no-textconv", "--no-color", "-O/dev/null", "--src-prefix=a/",
    "--dst-prefix=b/",
];
/// The command that says which kinds of objects the ids of its input name.
const TYPES: [&str; 2] = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];

const ENVIRONMENT: [(&str, &str); 11] = [
    // A partial clone lacks objects. Git must not fetch them, since that runs programs that
    // the configuration names.
    ("GIT_NO_LAZY_FETCH", "1"),
    // For versions of git without `GIT_NO_LAZY_FETCH`. It overrides `protocol.*.allow`.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    // Git must not write into the repository.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("LC_ALL", "C"),
];

/// Prepares a git command that only answers a question: it runs no other program and changes
/// nothing, whatever the repository's configuration says. Every git command is created here.
fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_"))
    {
        if !PASSED_ON.iter().any(|passed| name == *passed) {
            command.env_remove(name);
        }
    }
    command.envs(ENVIRONMENT).arg("-C").arg(directory).arg("--no-pager");
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", *setting]));
    command
}

/// The output of a git command.
struct Output {
    /// The exit code; `None` if the command was killed.
    code: Option<i32>,
    /// The limit that the command exceeded when it was killed.
    exceeded: Option<&'static str>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Output {
    /// Says why a command failed: the limit that it exceeded, or the first line of its errors.
    fn why(&self) -> String {
        let said = String::from_utf8_lossy(&self.stderr);
        let said = said.lines().next().unwrap_or("git did not answer");
        self.exceeded.unwrap_or(said).to_string()
    }
}

/// Runs a git command without input in a tree; see [`output`].
fn run(tree: &Path, arguments: &[&str]) -> io::Result<Output> {
    output(command(tree).args(arguments), Vec::new())
}

/// Returns what git answers in a tree, if it succeeds.
fn ask(tree: &Path, arguments: &[&str], input: String) -> Option<String> {
    let out = output(command(tree).args(arguments), input.into_bytes()).ok()?;
    (out.code == Some(0)).then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Returns the names in an output, each of which ends with NUL.
fn names_in(output: &[u8]) -> impl Iterator<Item = String> {
    let names = output.split(|&b| b == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned())
}

/// Runs a git command with `input`. A command that prints nothing for [`SILENCE`], more than
/// [`MAX_OUTPUT_BYTES`], or for longer than [`MAX_DURATION`] is killed; its output until then is
/// returned.
fn output(command: &mut Command, input: Vec<u8>) -> io::Result<Output> {
    let mut stdout = Vec::new();
    let out = stream(command, input, MAX_DURATION, &mut |part| {
        stdout.extend_from_slice(part);
        (stdout.len() > MAX_OUTPUT_BYTES).then_some("git printed too much")
    })?;
    Ok(Output { stdout, ..out })
}

/// Runs a git command with `input` and hands over each part of its output to `take`, which may end
/// the command by saying why. The command is killed after [`SILENCE`] or `longest`.
fn stream(
    command: &mut Command,
    input: Vec<u8>,
    longest: Duration,
    take: &mut dyn FnMut(&[u8]) -> Option<&'static str>,
) -> io::Result<Output> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (said, parts) = channel();
    let writer = child.stdin.take().map(|mut stdin| thread::spawn(move || stdin.write_all(&input)));
    let reader = child.stdout.take();
    let reader = reader.map(|stdout| read_parts(stdout, move |part| said.send(part).is_ok()));
    let errors = child.stderr.take().map(|stderr| {
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.take(MAX_SMALL_BYTES).read_to_end(&mut text);
            text
        })
    });
    let start = Instant::now();
    let exceeded = loop {
        match parts.recv_timeout(SILENCE) {
            Ok(part) => {
                if let Some(why) = take(&part) {
                    break Some(why);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => break Some("git printed nothing for too long"),
        }
        if start.elapsed() > longest {
            break Some("git took too long");
        }
    };
    if exceeded.is_some() {
        let _ = child.kill();
    }
    drop(parts);
    let status = child.wait()?;
    let _ = (writer.map(thread::JoinHandle::join), reader.map(thread::JoinHandle::join));
    let stderr = errors.and_then(|errors| errors.join().ok()).unwrap_or_default();
    let code = status.code().filter(|_| exceeded.is_none());
    Ok(Output { code, exceeded, stdout: Vec::new(), stderr })
}

/// Hands over the output of a command part by part, until it ends or `take` returns false.
fn read_parts(
    mut output: ChildStdout,
    take: impl Fn(Vec<u8>) -> bool + Send + 'static,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut part = vec![0; 1 << 16];
        while let Ok(n @ 1..) = output.read(&mut part) {
            if !take(part[..n].to_vec()) {
                break;
            }
        }
    })
}

/// Returns settings that disable the filters of the repository's configuration, which are programs.
/// The user's own filters, such as LFS, stay. Returns `None` if not all can be disabled.
fn without_own_filters(directory: &Path) -> Option<Vec<String>> {
    let list = ["config", "--show-scope", "--name-only", "-z", "--get-regexp", "^filter\\."];
    let asked = run(directory, &list).ok()?;
    // The code 1 means that there are none.
    if !matches!(asked.code, Some(0 | 1)) {
        return None;
    }
    let mut settings = Vec::new();
    let mut words = asked.stdout.split(|&b| b == 0);
    while let (Some(scope), Some(key)) = (words.next(), words.next()) {
        if !matches!(scope, b"system" | b"global") {
            let (driver, _) = std::str::from_utf8(key).ok()?.rsplit_once('.')?;
            // The name ends at such a character when git parses the setting.
            if driver.contains(|c: char| c == '=' || c.is_control()) {
                return None;
            }
            settings.extend(
                ["clean=", "process=", "required=false"]
                    .map(|setting| format!("{driver}.{setting}")),
            );
        }
    }
    Some(settings)
}

/// Says why the commits of a tree are not read: it has no repository, or one with objects of others.
fn check_repository(root: &Path) -> io::Result<()> {
    let refused = |why: &str| io::Error::other(format!("{} {why}", root.display()));
    let git = GitDir::of(root)
        .ok_or_else(|| refused("is not in a git repository, or its .git leads to another one"))?;
    match git.objects() {
        Ok(objects) if !has_foreign(&objects, 1) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(refused("has a .git that is no repository"))
        }
        _ => Err(refused("has a git repository whose commits are kept outside of it")),
    }
}

/// Whether links or alternates among the objects lead out of the repository: they would let an archive
/// name a commit of any repository of the user, and have its message read. `depth`: number of levels
/// below `dir` that hold objects.
fn has_foreign(dir: &Dir, depth: usize) -> bool {
    dir.list().is_ok_and(|names| {
        names.into_iter().any(|(name, kind)| match kind {
            FileKind::Link => true,
            FileKind::Directory if depth > 0 => {
                dir.dir(&name).is_ok_and(|below| has_foreign(&below, depth - 1))
            }
            _ => name == "alternates" || name == "http-alternates",
        })
    })
}

fn log(root: &Path, which: &[String]) -> io::Result<CommitLog> {
    check_repository(root)?;
    let mut command = command(root);
    command
        // A configuration can name files for mail maps and orders.
        .args(["log", "--no-ext-diff", "--no-textconv", "--no-mailmap", "-O/dev/null"])
        .args(["--no-renames", "--relative", "--name-only", "-z"])
        .arg("--format=%x00%x00%H%x00%ct%x00%an%x00%s%x00%b")
        .args(which)
        .args(["--", "."]);
    let out = output(&mut command, Vec::new())?;
    let mut commits = parse_log(&out.stdout);
    if out.exceeded.is_some() {
        // The output may end within the last commit.
        commits.pop();
    }
    match (out.code != Some(0)).then(|| out.why()) {
        Some(why) if commits.is_empty() => Err(io::Error::other(why)),
        cut => Ok(CommitLog { commits, cut }),
    }
}

/// Parses a log. A commit is an empty field, an empty field, id, time, author, subject, body, and each file;
/// a field ends with NUL, which no message and no name can hold. A line feed is before the first
/// file.
fn parse_log(output: &[u8]) -> Vec<Commit> {
    let text = String::from_utf8_lossy(output);
    let mut fields = text.split('\0');
    let mut commits = Vec::new();
    while let Some(id) = fields.find(|field| !field.is_empty()) {
        let mut next = || cut(fields.next().unwrap_or_default());
        let (at, author, subject, body) = (next(), next(), next(), next());
        let files = fields.by_ref().take_while(|field| !field.is_empty());
        let files = files.enumerate().map(|(i, file)| {
            file.strip_prefix('\n').filter(|_| i == 0).unwrap_or(file).to_string()
        });
        let files: Vec<String> = files.collect();
        if let (Some(id), Ok(at)) = (object_id(id), at.parse()) {
            commits.push(Commit { id, at, subject, body, author, files });
        }
    }
    commits
}

/// Returns the part of a message that is kept.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_MESSAGE)].to_string()
}

/// Returns the folders of a tree that are submodules, relative to the tree. Names that lead out of
/// the tree, also through a link, are left out: whoever wrote `.gitmodules` may name any repository
/// of the user.
#[must_use]
pub fn submodules(root: &Path) -> Vec<String> {
    let Ok(tree) = Dir::open(root) else { return Vec::new() };
    let text = tree.read(".gitmodules", MAX_LIST_BYTES).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    let paths = text.lines().filter_map(|line| setting(line, "path"));
    let folders = paths.filter(|path| is_folder(&tree, path)).take(MAX_SUBMODULES);
    folders.map(String::from).collect()
}

/// Returns the value that a line of a configuration gives to a name.
fn setting<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?;
    Some(value.trim().trim_matches('"'))
}

/// Returns the roots of a tree and of its submodules.
fn trees(root: &Path) -> impl Iterator<Item = PathBuf> {
    let below = submodules(root).into_iter().map(move |tree| root.join(tree));
    std::iter::once(root.to_path_buf()).chain(below)
}

/// Whether a path names a folder below the tree, without links.
fn is_folder(tree: &Dir, path: &str) -> bool {
    let is_below = Path::new(path).components().all(|c| matches!(c, Component::Normal(_)));
    !path.is_empty() && is_below && tree.dir(path).is_ok()
}

/// Returns those of the folders of a tree that hold a repository of their own.
pub fn with_repository<'a>(
    root: &Path,
    folders: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let Ok(tree) = Dir::open(root) else { return Vec::new() };
    let has_git = |folder: &&str| {
        is_folder(&tree, folder)
            && tree.stat(Path::new(folder).join(".git")).is_ok_and(|found| found.is_some())
    };
    folders.into_iter().filter(has_git).collect()
}

/// Returns the commit that is checked out, 40 (or 64) hexadecimal digits. Returns `None` outside a
/// repository, before its first commit, and where references are not stored as files.
#[must_use]
pub fn head(root: &Path) -> Option<String> {
    GitDir::of(root)?.head()
}

/// Returns the name of the branch that is checked out, such as `main` or `feature/x`. Returns `None`
/// outside a repository and on a detached commit.
#[must_use]
pub fn branch(root: &Path) -> Option<String> {
    let head = small_text(&GitDir::of(root)?.own, "HEAD")?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// Whether the repository lacks old commits, because it was cloned without them.
#[must_use]
pub fn is_shallow(root: &Path) -> bool {
    let git = GitDir::of(root);
    git.and_then(|git| own_bytes(&git.common, "shallow", MAX_LIST_BYTES))
        .is_some_and(|commits| !commits.is_empty())
}

/// Returns the name of the repository that `root` was cloned from: the last part of the address of
/// its remote `origin`, without `.git`.
#[must_use]
pub fn remote_name(root: &Path) -> Option<String> {
    name_of_origin(&small_text(&GitDir::of(root)?.common, "config")?)
}

/// Finds the address of `origin` in the configuration of a repository, and returns its last part.
fn name_of_origin(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim);
    lines.find(|line| *line == "[remote \"origin\"]")?;
    let mut section = lines.take_while(|line| !line.starts_with('['));
    let url = section.find_map(|line| setting(line, "url"))?.trim_end_matches('/');
    let url = url.strip_suffix("/.git").or_else(|| url.strip_suffix(".git")).unwrap_or(url);
    let name = url.rsplit(['/', ':']).next()?;
    (!name.is_empty()).then(|| name.to_string())
}

/// Returns the directory in which git keeps the data of the work tree that contains `root`.
#[must_use]
pub fn git_directory(root: &Path) -> Option<PathBuf> {
    GitDir::of(root).map(|git| git.own)
}

/// Returns the roots of the other working trees of the repository whose working tree is rooted at
/// `root`: those at the same commit first. Each is certainly one of this repository.
#[must_use]
pub fn other_worktrees(root: &Path) -> Vec<PathBuf> {
    let Some(own) = GitDir::at(root) else { return Vec::new() };
    let worktrees = own.worktrees();
    let names = Dir::open(&worktrees).and_then(|dir| dir.list()).unwrap_or_default();
    let linked = names.into_iter().take(MAX_WORKTREES).filter_map(|(name, _)| {
        Some(path_in(&worktrees.join(name), "gitdir")?.parent()?.to_path_buf())
    });
    let main = own.common.parent().map(Path::to_path_buf);
    let trees = main.into_iter().chain(linked).filter_map(|root| GitDir::at(&root));
    let mut others: Vec<_> =
        trees.filter(|tree| tree.common == own.common && tree.top != own.top).collect();
    let head = own.head();
    others.sort_by_key(|tree| tree.head() != head);
    others.into_iter().map(|tree| tree.top).collect()
}

/// The place that all working trees of a repository share, seen from a linked one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPlace {
    /// The root of the main working tree, or the repository itself if it is bare.
    pub root: PathBuf,
    pub is_bare: bool,
    /// The name by which the repository knows the linked working tree.
    pub worktree: String,
}

/// Returns the place that the working tree rooted at `root` shares with its siblings; `None` if it is
/// not a linked working tree.
#[must_use]
pub fn shared_place(root: &Path) -> Option<SharedPlace> {
    let git = GitDir::at(root)?;
    if git.own == git.common {
        return None;
    }
    let worktree = git.own.file_name()?.to_str()?.to_string();
    let main = git.common.parent().and_then(GitDir::at);
    let main = main.filter(|main| main.own == git.common && main.top != git.top);
    let is_bare = main.is_none();
    Some(SharedPlace { root: main.map_or(git.common, |main| main.top), is_bare, worktree })
}

/// Reads `.git/info/exclude` of the repository whose work tree is rooted at `directory`,
/// which has the path `path`.
pub(super) fn exclude(directory: &Dir, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    match directory.stat(".git")?.map(|stat| stat.kind) {
        Some(FileKind::Directory) => directory.read(".git/info/exclude", max_bytes),
        _ => match GitDir::at(path) {
            Some(dir) => Dir::open(&dir.common)?.read("info/exclude", max_bytes),
            None => Err(io::ErrorKind::NotFound.into()),
        },
    }
}

/// The directories in which git keeps the data of a work tree.
#[derive(Debug, Clone)]
struct GitDir {
    /// The root of the work tree.
    top: PathBuf,
    /// The directory of this work tree alone.
    own: PathBuf,
    /// The directory that all work trees of the repository share.
    common: PathBuf,
}

impl GitDir {
    /// Finds the work tree that contains a directory.
    #[expect(clippy::disallowed_methods, reason = "asks where the repository is")]
    fn of(directory: &Path) -> Option<Self> {
        Self::at(directory.ancestors().find(|d| d.join(".git").exists())?)
    }

    /// Opens the work tree with this root. Returns `None` unless the repository certainly belongs
    /// to it: a `.git` from an archive may point to any repository of the user. A repository inside
    /// the work tree belongs to it; one elsewhere must name the work tree.
    #[expect(clippy::disallowed_methods, reason = "asks where the repository is")]
    fn at(top: &Path) -> Option<Self> {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let top = real(top)?;
        let own = real(&git_dir(&top.join(".git"))?)?;
        let common = match path_in(&own, "commondir") {
            Some(path) => real(&path)?,
            None => own.clone(),
        };
        let belongs = if own.starts_with(&top) && common.starts_with(&top) {
            true
        } else if own == common {
            // For a submodule, the configuration of its repository names the work tree.
            let config = small_text(&own, "config")?;
            real(&own.join(config.lines().find_map(|line| setting(line, "worktree"))?))? == top
        } else {
            // For a linked work tree, `worktrees/<name>/gitdir` in the repository names its `.git`.
            let named = path_in(&own, "gitdir")?;
            own.parent()? == common.join(WORKTREES) && real(&named)? == real(&top.join(".git"))?
        };
        belongs.then_some(Self { top, own, common })
    }

    /// Returns the path of a folder in the work tree, relative to its root.
    #[expect(clippy::disallowed_methods, reason = "asks where a folder is, and opens nothing")]
    fn path_of(&self, folder: &Path) -> Option<PathBuf> {
        Some(fs::canonicalize(folder).ok()?.strip_prefix(&self.top).ok()?.to_path_buf())
    }

    /// The directory in which the repository keeps the data of its linked work trees.
    fn worktrees(&self) -> PathBuf {
        self.common.join(WORKTREES)
    }

    /// Opens the folder of the objects, lists of packs and alternates.
    fn objects(&self) -> io::Result<Dir> {
        Dir::open(&self.common)?.dir(OBJECTS)
    }

    /// Returns the commit that is checked out.
    fn head(&self) -> Option<String> {
        let head = small_text(&self.own, "HEAD")?;
        let Some(reference) = head.trim().strip_prefix("ref: ") else { return object_id(&head) };
        let loose =
            [&self.own, &self.common].into_iter().find_map(|dir| small_text(dir, reference));
        if let Some(found) = loose.and_then(|text| object_id(&text)) {
            return Some(found);
        }
        let packed = own_text(&self.common, "packed-refs", MAX_LIST_BYTES)?;
        packed
            .lines()
            .find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference))
            .and_then(|(hash, _)| object_id(hash))
    }
}

/// Returns the directory of git: `.git` itself, or the path in it if it is a file.
#[expect(clippy::disallowed_methods, reason = "asks where the repository is")]
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    let text = small_text(dot_git.parent()?, ".git")?;
    Some(dot_git.parent()?.join(text.trim_end_matches(['\r', '\n']).strip_prefix("gitdir: ")?))
}

/// Returns where the repository of a tree keeps its linked work trees. `None` without a repository,
/// and for the folder around a bare one, which holds nothing but work trees.
pub(super) fn worktrees(root: &Path) -> Option<PathBuf> {
    let git = GitDir::at(root)?;
    let is_around_bare = git.own == git.common && git.common != git.top.join(".git");
    (!is_around_bare).then(|| git.worktrees())
}

/// Whether a folder is a work tree that is linked below `worktrees`.
pub(super) fn is_worktree(folder: &Path, worktrees: &Path) -> bool {
    GitDir::at(folder).is_some_and(|git| git.own.parent() == Some(worktrees))
}

/// Reads the path in a small git file, which may be relative to its directory.
fn path_in(directory: &Path, name: &str) -> Option<PathBuf> {
    Some(directory.join(small_text(directory, name)?.trim_end_matches(['\r', '\n'])))
}

/// Reads a small git file, such as one of a single line.
fn small_text(directory: &Path, name: &str) -> Option<String> {
    own_text(directory, name, MAX_SMALL_BYTES)
}

fn own_text(directory: &Path, name: &str, max_bytes: u64) -> Option<String> {
    String::from_utf8(own_bytes(directory, name, max_bytes)?).ok()
}

/// Reads a git file. Returns `None` if it is not a regular file, or lies behind a
/// link below the directory.
fn own_bytes(directory: &Path, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
    Dir::open(directory).ok()?.read(name, max_bytes).ok()
}

fn object_id(text: &str) -> Option<String> {
    let text = text.trim();
    (matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    pub(super) fn git(dir: &Path, args: &[&str]) -> String {
        let base = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        let out = Command::new("git").current_dir(dir).args(base).args(args).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_string()
    }

    #[test]
    fn a_clone_has_the_name_of_its_origin() {
        for url in [
            "git@host:team/kettle.git", "https://host/team/kettle/", "/srv/kettle/.git",
            "host:kettle",
        ] {
            let config = format!(
                "[core]\n\turl = x\n[remote \"origin\"]\n\tfetch = +a:b\n\turl = {url}\n[remote \"b\"]\n\turl = c\n"
            );
            assert_eq!(name_of_origin(&config).as_deref(), Some("kettle"), "{url}");
        }
        assert_eq!(name_of_origin("[remote \"origin\"]\n[remote \"b\"]\n\turl = c\n"), None);
    }

    #[test]
    fn the_head_is_what_git_says_loose_packed_detached_and_in_a_work_tree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert_eq!(head(root), None, "no repository");
        git(root, &["init", "-q"]);
        assert_eq!(head(root), None, "no commit");
        git(root, &["checkout", "-q", "-b", "first"]);
        assert_eq!(branch(root).as_deref(), Some("first"));
        git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let one = git(root, &["rev-parse", "HEAD"]);
        assert_eq!(head(root).as_ref(), Some(&one));
        git(root, &["pack-refs", "--all"]);
        assert_eq!(head(root).as_ref(), Some(&one), "packed");
        let tree = root.join("tree");
        git(root, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "feature/x"]);
        assert_eq!(head(&tree).as_ref(), Some(&one), "a branch with a slash, in a work tree");
        assert_eq!(branch(&tree).as_deref(), Some("feature/x"));
        git(&tree, &["commit", "-q", "--allow-empty", "-m", "two"]);
        assert_eq!(head(&tree), Some(git(&tree, &["rev-parse", "HEAD"])));
        assert_eq!(head(root).as_ref(), Some(&one), "the other work tree stays");
        git(root, &["checkout", "-q", "--detach"]);
        assert_eq!((head(root), branch(root)), (Some(one), None), "detached");
        fs::create_dir(root.join("below")).unwrap();
        assert_eq!(head(&root.join("below")), head(root), "below the root of the repository");
    }

    #[test]
    fn working_trees_share_a_place_that_outlives_them() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let main = base.join("main");
        fs::create_dir(&main).unwrap();
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let linked = base.join("elsewhere/main");
        git(&main, &["worktree", "add", "-q", "--detach", linked.to_str().unwrap()]);
        let shared = shared_place(&linked).unwrap();
        assert_eq!((&shared.root, shared.is_bare, &*shared.worktree), (&main, false, "main"));
        assert_eq!(shared_place(&main), None, "the main one is its own place");
        assert_eq!(shared_place(&base), None, "no repository");

        let bare = base.join("bare.git");
        git(&base, &["clone", "-q", "--bare", main.to_str().unwrap(), bare.to_str().unwrap()]);
        let of_bare = base.join("of-bare");
        git(&bare, &["worktree", "add", "-q", "--detach", of_bare.to_str().unwrap()]);
        let shared = shared_place(&of_bare).unwrap();
        assert_eq!((&shared.root, shared.is_bare), (&bare, true));

        // A `.git` from an archive that names a repository is not one of its working trees.
        let stranger = base.join("stranger");
        fs::create_dir(&stranger).unwrap();
        fs::copy(linked.join(".git"), stranger.join(".git")).unwrap();
        assert_eq!(shared_place(&stranger), None);
    }

    #[test]
    fn a_message_forges_no_commit() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        fs::write(root.join("a"), "a").unwrap();
        git(root, &["add", "."]);
        let forged = format!("\x01{} 1 fix the login\x02{}", "ab".repeat(20), "\n\na");
        git(root, &["commit", "-q", "-m", &forged]);
        git(root, &["commit", "-q", "--allow-empty", "-m", "empty"]);
        fs::write(root.join("b"), "b").unwrap();
        fs::write(root.join("\nc"), "c").unwrap();
        git(root, &["add", "."]);
        git(root, &["commit", "-q", "-m", "two\n\nbody"]);
        let found = commits(root, 9).unwrap();
        assert_eq!(found.cut, None);
        let told: Vec<_> = found.commits.iter().map(|c| (&*c.subject, c.files.len())).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], ("two", 2));
        assert_eq!(found.commits[0].files, ["\nc", "b"]);
        assert_eq!(found.commits[0].body, "body\n");
        assert_eq!(found.commits[1].id, git(root, &["rev-parse", "HEAD~2"]));
    }

    #[test]
    fn an_encoding_of_the_configuration_or_a_damaged_commit_leaves_the_other_commits() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        for n in 0..3 {
            fs::write(root.join("a"), n.to_string()).unwrap();
            git(root, &["add", "."]);
            git(root, &["commit", "-q", "-m", &format!("commit {n}")]);
        }
        git(root, &["config", "i18n.logOutputEncoding", "UTF-16"]);
        assert_eq!(commits(root, 9).unwrap().commits.len(), 3);
        git(root, &["config", "--unset", "i18n.logOutputEncoding"]);
        let first = git(root, &["rev-parse", "HEAD~2"]);
        let object = root.join(".git/objects").join(&first[..2]).join(&first[2..]);
        fs::remove_file(object).unwrap();
        let found = commits(root, 9).unwrap();
        assert!(!found.commits.is_empty() && found.cut.is_some(), "{found:?}");
        assert_eq!(found.commits[0].subject, "commit 2");
    }

    #[test]
    fn submodules_outside_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("in"), dir.path().join("private"));
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let names =
            ["sub", "../private", outside.to_str().unwrap(), "link", "./sub/..", "gone", ""];
        let modules = names.map(|name| format!("[submodule \"x\"]\n\tpath = {name}\n")).concat();
        fs::write(root.join(".gitmodules"), modules).unwrap();
        assert_eq!(submodules(&root), ["sub"]);
        git(&outside, &["init", "-q"]);
        git(&root.join("sub"), &["init", "-q"]);
        assert_eq!(with_repository(&root, ["sub", "link", "../private", "gone", ""]), ["sub"]);
    }

    #[test]
    fn commits_of_an_outside_repository_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (private, clone) = (dir.path().join("private"), dir.path().join("clone"));
        for root in [&private, &clone] {
            fs::create_dir(root).unwrap();
            git(root, &["init", "-q"]);
            fs::write(root.join("a"), root.to_str().unwrap()).unwrap();
            git(root, &["add", "."]);
            git(root, &["commit", "-q", "-m", "a message"]);
        }
        assert_eq!(commits(&clone, 9).unwrap().commits.len(), 1);
        let (objects, theirs) = (clone.join(".git/objects"), private.join(".git/objects"));
        let id = git(&private, &["rev-parse", "HEAD"]);
        let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(from, to).unwrap();
        for way in ["alternates", "objects", "pack", "folder"] {
            let kept = clone.join("kept");
            git(dir.path(), &["clone", "-q", "--no-hardlinks", "clone", "kept"]);
            fs::rename(dir.path().join("kept/.git/objects"), &kept).unwrap();
            match way {
                "alternates" => {
                    fs::create_dir_all(objects.join("info")).unwrap();
                    fs::write(objects.join("info/alternates"), theirs.to_str().unwrap()).unwrap();
                }
                "objects" => {
                    fs::remove_dir_all(&objects).unwrap();
                    link(&theirs, &objects);
                }
                "pack" => {
                    fs::remove_dir_all(objects.join("pack")).unwrap();
                    link(&theirs.join("pack"), &objects.join("pack"));
                }
                _ => link(&theirs.join(&id[..2]), &objects.join(&id[..2])),
            }
            assert!(these_commits(&clone, &[&id]).is_err(), "{way}");
            assert!(commits(&clone, 9).is_err(), "{way}");
            if way == "objects" {
                fs::remove_file(&objects).unwrap();
            } else {
                fs::remove_dir_all(&objects).unwrap();
            }
            fs::rename(&kept, &objects).unwrap();
            fs::remove_dir_all(dir.path().join("kept")).unwrap();
        }
    }

    #[test]
    fn commits_say_what_they_changed_below_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert!(commits(root, 9).is_err(), "no repository");
        git(root, &["init", "-q"]);
        assert!(commits(root, 9).is_err(), "no commit");
        fs::create_dir(root.join("ä b")).unwrap();
        for (path, subject) in [("ä b/c.rs", "add c"), ("d.rs", "add d")] {
            fs::write(root.join(path), subject).unwrap();
            git(root, &["add", "."]);
            git(root, &["commit", "-q", "-m", &format!("{subject}\n\nbody")]);
        }
        fs::rename(root.join("d.rs"), root.join("e.rs")).unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "move d"]);
        let commit = |subject: &str, files: &[&str]| {
            (subject.to_string(), files.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let told = |commits: Vec<Commit>| {
            commits.into_iter().map(|c| (c.subject, c.files)).collect::<Vec<_>>()
        };
        let all = [
            commit("move d", &["d.rs", "e.rs"]),
            commit("add d", &["d.rs"]),
            commit("add c", &["ä b/c.rs"]),
        ];
        assert_eq!(told(commits(root, 9).unwrap().commits), all);
        assert_eq!(told(commits(root, 2).unwrap().commits), all[..2]);
        assert_eq!(
            told(commits(&root.join("ä b"), 9).unwrap().commits),
            [commit("add c", &["c.rs"])]
        );
        let ids: Vec<String> =
            commits(root, 9).unwrap().commits.into_iter().map(|c| c.id).collect();
        assert_eq!(
            told(these_commits(root, &[&ids[2], &ids[0]]).unwrap()),
            [all[2].clone(), all[0].clone()]
        );
    }

    #[test]
    fn what_a_repository_configures_runs_no_program_and_fetches_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (origin, clone, marker) =
            (dir.path().join("origin"), dir.path().join("clone"), dir.path().join("marker"));
        fs::create_dir(&origin).unwrap();
        git(&origin, &["init", "-q"]);
        for text in ["one", "two"] {
            fs::create_dir_all(origin.join("folder")).unwrap();
            fs::write(origin.join("folder/a.rs"), text).unwrap();
            git(&origin, &["add", "."]);
            git(&origin, &["commit", "-q", "-m", text]);
        }
        git(&origin, &["config", "uploadpack.allowFilter", "true"]);
        git(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        let url = format!("file://{}", origin.display());
        git(dir.path(), &["clone", "-q", "--no-checkout", "--filter=tree:0", &url, "clone"]);
        let run = format!("touch {}; false", marker.display());
        let remotes =
            [url, format!("ext::sh -c touch% {}", marker.display()), "ssh://host/x".to_string()];
        for (key, value) in [
            ("remote.origin.uploadpack", &*run),
            ("protocol.ext.allow", "always"),
            ("protocol.file.allow", "always"),
            ("core.sshCommand", &run),
            ("core.fsmonitor", &run),
            ("core.pager", &run),
            ("gpg.program", &run),
            ("log.showSignature", "true"),
            ("diff.external", &run),
            ("mailmap.file", "/dev/zero"),
            ("credential.helper", &run),
        ] {
            git(&clone, &["config", key, value]);
        }
        for remote in remotes {
            git(&clone, &["config", "remote.origin.url", &remote]);
            assert!(commits(&clone, 9).is_err(), "the trees are missing, and not fetched");
            let ids = git(
                &clone,
                &[
                    "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "--no-pager",
                    "rev-parse", "HEAD",
                ],
            );
            assert!(these_commits(&clone, &[&ids]).is_err());
            assert!(!marker.exists(), "{remote}");
        }
    }

    #[test]
    fn a_repository_that_a_clone_leads_to_is_not_asked() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (private, clone) = (dir.path().join("private"), dir.path().join("clone"));
        for root in [&private, &clone] {
            fs::create_dir(root).unwrap();
            git(root, &["init", "-q"]);
            git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
            fs::write(root.join("a"), root.to_str().unwrap()).unwrap();
            git(root, &["add", "a"]);
            git(root, &["commit", "-q", "-m", root.to_str().unwrap()]);
        }
        let theirs = private.join(".git");
        let is_asked = || {
            let told = (
                head(&clone),
                commits(&clone, 9).ok(),
                tracked_by_git(&clone, "a").len(),
                GitWatch::open(&clone).is_some(),
            );
            told != (None, None, 0, false)
        };
        assert!(is_asked());
        let leads = |what: &str| {
            fs::rename(clone.join(".git"), clone.join("kept")).unwrap();
            match what {
                "file" => fs::write(clone.join(".git"), format!("gitdir: {}\n", theirs.display()))
                    .unwrap(),
                "link" => symlink(&theirs, clone.join(".git")).unwrap(),
                _ => {
                    fs::create_dir(clone.join(".git")).unwrap();
                    fs::write(clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
                    fs::write(clone.join(".git/commondir"), theirs.to_str().unwrap()).unwrap();
                }
            }
            let is_asked = is_asked();
            let _ = fs::remove_dir_all(clone.join(".git"))
                .or_else(|_| fs::remove_file(clone.join(".git")));
            fs::rename(clone.join("kept"), clone.join(".git")).unwrap();
            is_asked
        };
        for what in ["file", "link", "commondir"] {
            assert!(!leads(what), "{what}");
        }
        for name in ["objects", "refs"] {
            fs::remove_dir_all(clone.join(".git").join(name)).unwrap();
            symlink(theirs.join(name), clone.join(".git").join(name)).unwrap();
        }
        assert_eq!((head(&clone), commits(&clone, 9).ok()), (None, None), "links below .git");
    }

    #[test]
    fn files_of_git_that_are_pipes_or_links_to_devices_count_as_absent() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let pipe =
            |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        let file = dir.path().join("linked");
        fs::create_dir(&file).unwrap();
        pipe(&file.join(".git"));
        assert_eq!(head(&file), None);
        let own = dir.path().join(".git");
        fs::create_dir(&own).unwrap();
        for name in ["HEAD", "commondir", "packed-refs", "AUTO_MERGE", "MERGE_MSG"] {
            pipe(&own.join(name));
        }
        symlink("/dev/zero", dir.path().join(".gitmodules")).unwrap();
        fs::create_dir_all(own.join("logs/refs")).unwrap();
        symlink("/dev/zero", own.join("logs/HEAD")).unwrap();
        pipe(&own.join("logs/refs/stash"));
        assert_eq!((head(dir.path()), submodules(dir.path())), (None, Vec::new()));
        let mut watch = GitWatch::open(dir.path()).expect("a directory of git");
        assert!(watch.operations().commits.is_empty());
    }
}
