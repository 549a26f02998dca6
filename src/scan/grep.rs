//! Finds lines by literal text or a regular expression, with ripgrep's matcher and searcher.
//!
//! A file is searched twice: first its bytes, which rejects most files quickly, then the text that
//! Cortex shows, in which secrets are replaced. Only the second search gives results, so no pattern
//! can be used to guess a secret.

use std::io;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::unread::Unread;
use crate::dir::{Dir, Stat};
use crate::grams::NeededGrams;
use crate::source::{self, ReadError};
use crate::work::WorkBudget;

/// What to find, and how.
#[derive(Debug, Clone, Default)]
pub struct LineQuery {
    pub pattern: String,
    /// `pattern` is a regular expression; otherwise literal text.
    pub regex: bool,
    pub ignore_case: bool,
    /// Match only whole words.
    pub word: bool,
    /// Let a match span several lines.
    pub multiline: bool,
    /// Find the lines that do not match.
    pub invert: bool,
    /// Lines to include before and after each match.
    pub context: usize,
}

/// A matching line, or a line of its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// 1-based.
    pub line: u64,
    /// Without the line break.
    pub text: String,
    pub is_match: bool,
    /// The byte of `text` at which the first match begins.
    pub match_at: usize,
}

/// How many lines match in each file of a set.
#[derive(Debug, Default)]
pub struct LineCounts {
    /// The place of each file with a match in the given list, and the number of its matching lines.
    pub files: Vec<(usize, usize)>,
    /// Number of files that were searched.
    pub n_files: usize,
    pub unread: Unread,
}

/// A compiled [`LineQuery`].
pub struct LineMatcher {
    matcher: RegexMatcher,
    query: LineQuery,
    needed: NeededGrams,
}

/// Why a pattern cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadPattern(String);

impl LineMatcher {
    /// Compiles a query.
    ///
    /// # Errors
    /// When the pattern is empty, or is not a valid regular expression.
    pub fn new(query: LineQuery) -> Result<Self, BadPattern> {
        if query.pattern.is_empty() {
            return Err(BadPattern("the pattern is empty: give the text to find".into()));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(query.ignore_case)
            .fixed_strings(!query.regex)
            .word(query.word)
            .multi_line(true);
        let spans_lines = query.multiline || (!query.regex && query.pattern.contains('\n'));
        if !spans_lines {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(&query.pattern).map_err(|e| {
            BadPattern(format!(
                "not a valid regular expression: {e} (write \\ before a sign that is meant as text)"
            ))
        })?;
        let needed = match query {
            // A file without a match has matching lines.
            LineQuery { invert: true, .. } => NeededGrams::default(),
            LineQuery { regex: true, .. } => {
                NeededGrams::of_regex(&query.pattern, query.ignore_case)
            }
            _ => NeededGrams::of_text(&query.pattern, query.ignore_case),
        };
        Ok(Self { matcher, query: LineQuery { multiline: spans_lines, ..query }, needed })
    }

    /// Returns the trigrams without which no text has a matching line.
    #[must_use]
    pub fn needed(&self) -> &NeededGrams {
        &self.needed
    }

    /// Whether the raw bytes may hold a match. With `invert` they always may.
    fn may_match(&self, bytes: &[u8]) -> bool {
        self.query.invert || self.matcher.is_match(bytes).unwrap_or(true)
    }

    /// Returns the byte ranges of the matches in a line.
    pub fn ranges(&self, line: &str) -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        // The matcher has no errors.
        let _ = self.matcher.find_iter(line.as_bytes(), |m| {
            found.push(m.start()..m.end());
            true
        });
        found
    }

    fn searcher(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        builder
            .binary_detection(BinaryDetection::none())
            .invert_match(self.query.invert)
            .multi_line(self.query.multiline);
        builder
    }

    /// Counts the matching lines of a text.
    pub fn count(&self, text: &str) -> usize {
        let mut count = Count(0);
        let mut searcher = self.searcher().line_number(false).build();
        // A sink in memory does not fail.
        let _ = searcher.search_slice(&self.matcher, text.as_bytes(), &mut count);
        count.0
    }

    /// Returns the matching lines of a text with their context.
    pub fn lines(&self, text: &str) -> Vec<FoundLine> {
        let mut found = Collected { lines: Vec::new(), matcher: &self.matcher };
        let n = self.query.context;
        let mut searcher = self.searcher().before_context(n).after_context(n).build();
        let _ = searcher.search_slice(&self.matcher, text.as_bytes(), &mut found);
        found.lines
    }
}

/// Counts matching lines.
struct Count(usize);

impl Sink for Count {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.0 += found.lines().count();
        Ok(true)
    }
}

/// Collects the lines that the searcher reports.
struct Collected<'m> {
    lines: Vec<FoundLine>,
    matcher: &'m RegexMatcher,
}

impl Collected<'_> {
    fn add(&mut self, first: Option<u64>, bytes: &[u8], is_match: bool) -> bool {
        let text = String::from_utf8_lossy(bytes);
        for (line, text) in (first.unwrap_or(1)..).zip(text.lines()) {
            let first = self.matcher.find(text.as_bytes()).ok().flatten().filter(|_| is_match);
            let match_at = first.map_or(0, |found| found.start());
            self.lines.push(FoundLine { line, text: text.into(), is_match, match_at });
        }
        true
    }
}

impl Sink for Collected<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        Ok(self.add(found.line_number(), found.bytes(), true))
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.add(around.line_number(), around.bytes(), false))
    }
}

/// Says of a file, by its path, whether nothing in it can match. The second argument returns what the
/// file system says of the file.
pub type RuledOut<'a> = dyn Fn(&str, &mut dyn FnMut() -> Option<Stat>) -> bool + Sync + 'a;

/// Counts the matching lines of each file below `root`. Files that `ruled_out` names are not read.
pub fn grep(
    root: &Dir,
    files: &[&str],
    matcher: &LineMatcher,
    ruled_out: &RuledOut,
    work: &WorkBudget,
) -> LineCounts {
    let look = |(buffer, near): &mut (Vec<u8>, Near), path: &&str| {
        if ruled_out(path, &mut || near.stat(root, path)) {
            return Ok(0);
        }
        matches_in(root, path, matcher, buffer)
    };
    let (mut unread, mut found) = (Unread::default(), Vec::new());
    for (i, looked) in work.map(files, look).into_iter().enumerate() {
        match looked {
            None => unread.n_left += 1,
            Some(Err(e)) => unread.add(&e),
            Some(Ok(0)) => {}
            Some(Ok(n)) => found.push((i, n)),
        }
    }
    LineCounts { files: found, n_files: files.len() - unread.n(), unread }
}

/// The directory of the last file. The files of a list are mostly neighbours, and opening their
/// directory takes most of the time of a look at one.
#[derive(Default)]
struct Near(Option<(String, Dir)>);

impl Near {
    fn stat(&mut self, root: &Dir, path: &str) -> Option<Stat> {
        let Some((above, name)) = path.rsplit_once('/') else { return root.stat(path).ok()? };
        if self.0.as_ref().is_none_or(|(open, _)| open != above) {
            self.0 = Some((above.into(), root.dir(above).ok()?));
        }
        self.0.as_ref()?.1.stat(name).ok()?
    }
}

/// Counts the matching lines of a file.
fn matches_in(
    root: &Dir,
    path: &str,
    matcher: &LineMatcher,
    buffer: &mut Vec<u8>,
) -> Result<usize, ReadError> {
    let read = source::read_if(root, path, buffer, |bytes| matcher.may_match(bytes))?;
    Ok(read.map_or(0, |text| matcher.count(&text)))
}

/// Returns the matching lines of a file below `root`, with context. `None` when it cannot be read.
pub fn lines_of(root: &Dir, path: &str, matcher: &LineMatcher) -> Option<Vec<FoundLine>> {
    let text = source::read_if(root, path, &mut Vec::new(), |_| true).ok()??;
    Some(matcher.lines(&text))
}
