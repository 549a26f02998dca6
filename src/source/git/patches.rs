//! The lines that commits changed, as texts that can be searched and read again.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::difference::{hunk, path_of};
use super::objects::texts;
use super::{Hunk, PLAIN_DIFF, check_repository, command, object_id, stream};
use crate::secrets::redact_file;
use crate::source::is_never_read;

/// Largest file whose lines are compared, in bytes: comparing a version of 4 MB takes git a quarter of
/// a second.
const MAX_FILE: usize = 512 << 10;
/// Most bytes of a line that are kept, and that are looked at.
const MAX_LINE: usize = 1_000;
const MAX_UNBROKEN: usize = 128 << 10;

/// The end of a text whose rest is missing.
const CUT: &str = "\n~\n";

/// The lines that one commit changed. The first byte of a line says what it is: `f` a path, `@` the
/// lines where a change begins, before and after, and what is around it as git guesses; `-` and `+`
/// lines that were removed and added; `~` that the rest is missing; `!` that the lines of a file are
/// missing because it is large or not a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchText {
    /// The commit, in hexadecimal digits.
    pub id: String,
    pub text: String,
}

/// A line that a commit removed or added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineChange<'a> {
    /// Relative to the root.
    pub path: &'a str,
    /// The function or type around it, as git guesses; it may be empty.
    pub around: &'a str,
    /// Number of the change within the commit: lines of one change follow each other.
    pub change: usize,
    pub is_added: bool,
    /// 1-based: before the commit for a removed line, after it for an added one.
    pub number: u32,
    pub text: &'a str,
}

/// How far the lines of commits are read.
#[derive(Debug, Clone, Copy)]
pub struct PatchReach<'a> {
    /// How long git is asked.
    pub longest: Duration,
    /// Most bytes of the text of one commit; the rest of it is left out.
    pub max_bytes: usize,
    /// Only commits whose text has this are wanted. The text of the others is left out, so that
    /// nobody waits until its secrets are hidden.
    pub having: Option<&'a str>,
}

impl PatchText {
    /// Whether the rest of a text is missing.
    #[must_use]
    pub fn is_cut(text: &str) -> bool {
        text.ends_with(CUT)
    }

    /// Whether the lines of a file are missing because it is large or not a text.
    #[must_use]
    pub fn lacks_files(text: &str) -> bool {
        text.lines().any(|line| line.starts_with('!'))
    }

    /// Reads the lines of a text.
    pub fn lines(text: &str) -> impl Iterator<Item = LineChange<'_>> {
        let (mut path, mut around, mut change, mut old, mut new) = ("", "", 0, 1u32, 1u32);
        text.lines().filter_map(move |line| {
            let kind = line.as_bytes().first()?;
            let rest = line.get(1..)?;
            match kind {
                b'f' => path = rest,
                b'@' => {
                    let mut words = rest.splitn(3, ' ');
                    (old, new) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                    (around, change) = (words.next().unwrap_or_default(), change + 1);
                }
                b'-' | b'+' => {
                    let is_added = *kind == b'+';
                    let at = if is_added { &mut new } else { &mut old };
                    let number = *at;
                    *at = at.saturating_add(1);
                    return Some(LineChange { path, around, change, is_added, number, text: rest });
                }
                _ => {}
            }
            None
        })
    }
}

/// Asks git what these commits changed below `root`, and hands over each, in the same order. Files
/// that may hold secrets are left out, and secrets are hidden. Ends when `each` returns false, or at
/// the end of `reach`; returns why it ended early.
///
/// # Errors
/// When there is no git or no repository.
pub fn patches(
    root: &Path,
    ids: &[&str],
    reach: PatchReach<'_>,
    each: &mut dyn FnMut(PatchText) -> bool,
) -> io::Result<Option<String>> {
    check_repository(root)?;
    let mut command = command(root);
    command.args(["-c", "core.quotePath=false", "-c", "diff.renames=true"]);
    command.args(["-c", &format!("core.bigFileThreshold={MAX_FILE}"), "diff-tree"]);
    command.args(["--stdin", "--root", "-r", "-p", "-U0", "-M", "--relative"]).args(PLAIN_DIFF);
    command.args(["--inter-hunk-context=0", "--ignore-submodules=all", "--", "."]);
    let input = ids.iter().filter(|id| object_id(id).is_some()).flat_map(|id| [*id, "\n"]);
    let input = input.collect::<String>().into_bytes();
    let having = reach.having.map(String::from);
    let mut reading = Reading { max_bytes: reach.max_bytes, having, ..Reading::default() };
    let mut rest = Vec::new();
    let out = stream(&mut command, input, reach.longest, &mut |part| {
        let mut part = part;
        while let Some(end) = memchr::memchr(b'\n', part) {
            rest.extend_from_slice(&part[..end]);
            part = &part[end + 1..];
            let done = reading.line(&rest);
            rest.clear();
            if done.is_some_and(|patch| !each(patch)) {
                return Some("enough");
            }
        }
        // A line that never ends is not kept.
        if rest.len() < MAX_UNBROKEN {
            rest.extend_from_slice(part);
        }
        None
    })?;
    if out.code == Some(0) {
        if let Some(last) = reading.take() {
            each(last);
        }
        return Ok(None);
    }
    Ok(Some(out.why()))
}

/// Returns the texts of files in commits, in the same order: each is a commit with a path relative to
/// `root`. `None` where there is none, or no room.
///
/// # Errors
/// When git does not answer.
pub fn texts_at(root: &Path, files: &[(String, &str)]) -> io::Result<Vec<Option<String>>> {
    check_repository(root)?;
    let name = |(commit, path): &(String, &str)| format!("{commit}:./{path}");
    texts(root, &files.iter().map(name).collect::<Vec<String>>())
}

/// Reads the output of `git diff-tree --stdin -p`.
#[derive(Default)]
struct Reading {
    id: Option<String>,
    text: String,
    max_bytes: usize,
    having: Option<String>,
    before: Option<String>,
    /// Whether the lines of the current file are kept.
    is_kept: bool,
    /// Lines of text that follow; they can look like anything.
    n_text: u64,
}

impl Reading {
    /// Takes a line. Returns the commit that is complete.
    fn line(&mut self, line: &[u8]) -> Option<PatchText> {
        if self.n_text > 0 {
            if !line.starts_with(b"\\") {
                self.n_text -= 1;
                self.put(line);
            }
            return None;
        }
        if let Some(id) = std::str::from_utf8(line).ok().and_then(object_id) {
            let done = self.take();
            self.id = Some(id);
            return done;
        }
        if let Some(path) = line.strip_prefix(b"--- ") {
            self.before = path_of(path, b"a/");
        } else if let Some(path) = line.strip_prefix(b"+++ ") {
            let path = path_of(path, b"b/").or_else(|| self.before.take()).unwrap_or_default();
            self.is_kept =
                !path.is_empty() && !path.contains(['\n', '\r']) && !is_never_read(&path);
            self.put(format!("f{path}").as_bytes());
        } else if let Some(Hunk { old_start, new_start, old_lines, new_lines }) =
            line.strip_prefix(b"@@ ").and_then(hunk)
        {
            self.n_text = u64::from(old_lines) + u64::from(new_lines);
            let around =
                memchr::memmem::find(&line[3..], b" @@").map_or(&[][..], |at| &line[at + 6..]);
            let around = String::from_utf8_lossy(around.trim_ascii());
            self.put(format!("@{old_start} {new_start} {around}").as_bytes());
        } else if line.starts_with(b"Binary files ") {
            self.is_kept = true;
            self.put(b"!");
        }
        None
    }

    fn put(&mut self, line: &[u8]) {
        if !self.is_kept || self.text.len() > self.max_bytes {
            return;
        }
        let line = String::from_utf8_lossy(line);
        self.text.push_str(&line[..line.floor_char_boundary(MAX_LINE)]);
        self.text.push('\n');
        if self.text.len() > self.max_bytes {
            self.text.push_str(&CUT[1..]);
        }
    }

    fn take(&mut self) -> Option<PatchText> {
        let mut text = std::mem::take(&mut self.text);
        self.is_kept = false;
        if self.having.as_ref().is_some_and(|having| !text.contains(having)) {
            text = if PatchText::is_cut(&text) { CUT.into() } else { String::new() };
        }
        let id = self.id.take()?;
        Some(PatchText { id, text: redact_file(&text).text.into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::git;
    use super::*;

    #[test]
    fn lines_belong_to_their_commits_whatever_texts_are() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        let forged = format!("{}\n+++ b/other.rs\n@@ -1 +1 @@\n-x\n", "a".repeat(40));
        fs::write(root.join("a b.rs"), format!("fn one() {{\n    two();\n}}\n{forged}")).unwrap();
        fs::write(root.join(".env"), "PASSWORD=hunter2\n").unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "first"]);
        fs::write(root.join("a b.rs"), "fn one() {\n    three();\n}\n").unwrap();
        fs::write(root.join("b.rs"), "let password = \"Xy8Kq0pLmT3vWzhunter2\";\n").unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "second"]);
        let ids = git(root, &["rev-list", "HEAD"]);
        let ids: Vec<&str> = ids.lines().collect();
        let mut all = Vec::new();
        let longest = Duration::from_secs(10);
        let reach = PatchReach { longest, max_bytes: 1 << 17, having: None };
        let cut = patches(root, &ids, reach, &mut |patch| {
            all.push(patch);
            true
        });
        assert_eq!(cut.unwrap(), None);
        assert_eq!(all.iter().map(|patch| &*patch.id).collect::<Vec<_>>(), ids);
        let told = |patch: &PatchText| -> Vec<String> {
            let lines = PatchText::lines(&patch.text);
            lines
                .map(|l| {
                    format!(
                        "{}:{} {}{}",
                        l.path,
                        l.number,
                        if l.is_added { '+' } else { '-' },
                        l.text
                    )
                })
                .collect()
        };
        let second = told(&all[0]);
        assert!(second.contains(&"a b.rs:2 -    two();".to_string()), "{second:?}");
        assert!(second.contains(&"a b.rs:2 +    three();".to_string()), "{second:?}");
        assert!(second.contains(&format!("a b.rs:4 -{}", "a".repeat(40))), "{second:?}");
        assert!(!all[0].text.contains("hunter2"), "{}", all[0].text);
        let first = told(&all[1]);
        assert_eq!(first.len(), 7, "the lines of one file: {first:?}");
        assert!(first.contains(&"a b.rs:5 ++++ b/other.rs".to_string()), "{first:?}");
    }
}
