//! Questions from commits: the subject asks for the files that the commit changed.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::draft::{DraftQuestion, SourceText, is_about_project, is_aside, stem_parts, target};
use super::prose;
use crate::languages::{LanguageKind, detect};
use crate::source::Commit;

/// Most files that are an answer to a commit.
const COMMIT_FILES: usize = 3;
/// Most files of any sort that a commit may have changed. Commits with more are
/// about something larger.
const COMMIT_FILES_OF_ANY_SORT: usize = 6;
/// Kinds of conventional commits that say why rather than what.
const CHORES: [&str; 7] = ["chore", "style", "release", "ci", "build", "deps", "revert"];
/// Words of commits whose changes nobody would search for.
const CHORE_WORDS: &str = " bump bumps bumped release releases released releasing version versions merge merged merges revert reverts reverted typo typos \
spelling spell misspelling whitespace reformat formatting formatter rustfmt gofmt prettier clippy lint linter lints linting eslint rubocop changelog \
changelogs copyright licence license licenses fixup cleanup cleanups cosmetic indentation indent nit nits wip dependabot renovate readme grammar \
typographical snapshot backport backported cherry rebase squash checkstyle pmd javadoc comment comments wording rename renamed rollback ci badge badges \
sponsor sponsors adopters dependency dependencies tidy link links test tests testing pytest ";

/// Words of the body of a commit that is a report.
const REPORT_WORDS: RangeInclusive<usize> = 25..=400;
/// First words of lines that only refer to something else.
const TRAILERS: &str = " fixes fix closes close closed resolves resolve refs ref bug issue see pr change-id reported reviewed follow-up ";

/// Languages of files that only accompany a change.
const NO_TEXT: &str = " other diff cmake makefile dockerfile ";

const BUILD_FILES: [&str; 9] = [
    ".gradle.kts", ".gemspec", ".podspec", "Rakefile", "Gemfile", "Podfile", "mix.exs", "setup.py",
    "build.zig",
];

/// The files of a repository that may be answers to a question about a change.
struct Changed<'f> {
    by_path: HashMap<&'f str, &'f SourceText>,
}

impl<'f> Changed<'f> {
    fn new(files: &'f [SourceText]) -> Self {
        Self { by_path: files.iter().map(|f| (&*f.path, f)).collect() }
    }

    /// Returns a question with the files of a commit whose subject asks for them; `None` if they are
    /// too many or gone, or if the subject names one of them.
    fn ask(&self, commit: &Commit) -> Option<DraftQuestion> {
        let query = subject(&commit.subject)?;
        let changed = self.answers(commit)?;
        let echo = changed.iter().any(|f| prose::echoes(&query, &stem_parts(f)));
        let is_fair = !echo && prose::is_question(&query, true);
        is_fair.then(|| self.draft("commit", query, &changed, commit))
    }

    /// Returns a question with the files of a commit whose whole message asks for them; `None` if
    /// the message is short, or names one of them.
    fn report(&self, commit: &Commit) -> Option<DraftQuestion> {
        let changed = self.answers(commit)?;
        let said = description(&commit.body);
        let query = format!("{}\n\n{said}", subject(&commit.subject)?);
        let named = |path: &&String| query.contains(path.rsplit('/').next().unwrap_or(path));
        let is_fair =
            REPORT_WORDS.contains(&said.split_whitespace().count()) && !changed.iter().any(named);
        is_fair.then(|| self.draft("report", query, &changed, commit))
    }

    /// Returns the files of a commit that answer a question about it; `None` if they are too many or
    /// gone.
    fn answers<'c>(&self, commit: &'c Commit) -> Option<Vec<&'c String>> {
        // Tests and changelogs accompany a change; they are not its answer.
        let is_answer = |f: &&String| is_text(f) && !is_aside(f) && !is_about_project(f);
        let changed: Vec<&String> = commit.files.iter().filter(is_answer).collect();
        let is_small = commit.files.len() <= COMMIT_FILES_OF_ANY_SORT
            && (1..=COMMIT_FILES).contains(&changed.len());
        let are_there = changed.iter().all(|f| self.by_path.contains_key(f.as_str()));
        (is_small && are_there).then_some(changed)
    }

    fn draft(
        &self,
        kind: &'static str,
        query: String,
        changed: &[&String],
        commit: &Commit,
    ) -> DraftQuestion {
        let first = self.by_path[changed[0].as_str()];
        DraftQuestion {
            kind,
            query,
            language: detect(&first.path, &first.text).name,
            targets: changed.iter().map(|f| target(f, None)).collect(),
            position: 0,
            hidden: None,
            commit: Some(commit.id.clone()),
        }
    }
}

fn is_text(path: &str) -> bool {
    let language = detect(path, "");
    let is_text = matches!(
        language.kind,
        LanguageKind::Code(_) | LanguageKind::Text | LanguageKind::Document(_)
    ) && !prose::is_in(NO_TEXT, language.name);
    is_text && !BUILD_FILES.iter().any(|end| path.ends_with(end))
}

/// Collects drafts from the messages of commits.
pub(super) fn from_commits(files: &[SourceText], commits: &[Commit], out: &mut Vec<DraftQuestion>) {
    let changed = Changed::new(files);
    out.extend(commits.iter().filter_map(|commit| changed.ask(commit)));
    out.extend(commits.iter().filter_map(|commit| changed.report(commit)));
}

/// Returns the body of a message without the lines that name people and numbers.
fn description(body: &str) -> String {
    let is_trailer = |line: &str| {
        let key = line.split_once([':', ' ']).map_or("", |(key, _)| key).to_lowercase();
        key.ends_with("-by") || prose::is_in(TRAILERS, &key)
    };
    let lines = body.lines().filter(|line| !is_trailer(line.trim_start()));
    lines.collect::<Vec<_>>().join("\n").trim().to_string()
}

/// Returns the subject of a commit without its kind and number; `None` for a chore.
fn subject(subject: &str) -> Option<String> {
    const KINDS: &str =
        " fix feat feature docs doc refactor refact test tests perf types improvement ";
    let mut text = subject.trim();
    // `[docs] …`, `LANG-123: …`, `fix(parser)!: …`
    if let Some((tag, rest)) = text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        if is_chore(tag) {
            return None;
        }
        text = rest.trim_start_matches([':', ' ']);
    }
    if let Some((_, rest)) = text.split_once([' ', ':']).filter(|(number, _)| is_ticket(number)) {
        text = rest.trim_start_matches([':', '-', ' ']);
    }
    if let Some((kind, rest)) = text.split_once(": ") {
        let kind = kind.split('(').next().unwrap_or(kind).trim_end_matches('!').to_lowercase();
        if is_chore(&kind) {
            return None;
        }
        if prose::is_in(KINDS, &kind) {
            text = rest.trim();
        }
    }
    while let Some((head, _)) =
        text.rsplit_once(" (").filter(|(_, n)| n.ends_with(')') && n.contains('#'))
    {
        text = head.trim_end();
    }
    // A subject that refers to another place by a number does not say enough.
    let has_number = text.contains('#')
        || text
            .split(' ')
            .any(|w| is_ticket(w) || (w.contains('.') && w.contains(|c: char| c.is_ascii_digit())));
    let text = prose::clean(text).filter(|_| !has_number)?;
    let is_chore = prose::tokens(&text).any(|w| prose::is_in(CHORE_WORDS, &w.to_lowercase()))
        || text.to_lowercase().contains("clean up");
    (!is_chore).then_some(text)
}

fn is_chore(kind: &str) -> bool {
    CHORES.contains(&&*kind.to_lowercase())
}

/// Whether a word is the id of a ticket, such as `LANG-123`.
fn is_ticket(word: &str) -> bool {
    let word = word.trim_matches(['[', ']', '(', ')', ':', ',', '.']);
    word.split_once('-').is_some_and(|(project, n)| {
        project.len() > 1
            && project.chars().all(|c| c.is_ascii_uppercase())
            && !n.is_empty()
            && n.chars().all(|c| c.is_ascii_digit())
    })
}
