//! Reads the current lines of files, and lines that match patterns. Only indexed files can be read.

use std::cmp::Reverse;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::{Chunk, ChunkSet};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::paths::{self, Place, holds, is_verbatim};
use crate::engine::door::project::Project;
use crate::engine::door::serving::{Engine, View};
use crate::engine::read::patterns::{ReadPattern, Searched, find_lines, no_line, pattern_in};
use crate::engine::{AskError, Call};
use crate::index::chunk_file;
use crate::languages::{LanguageKind, detect};
use crate::search::Corpus;
use crate::source::ReadError;
use crate::syntax::preambles;
use crate::text::cut;

/// Most places of one read, and most ranges of lines of one place.
const MAX_PLACES: usize = 100;
const MAX_RANGES: usize = 100;
/// Most patterns of one read. Each is a search in all files.
const MAX_PATTERNS: usize = 20;
/// Of a shorter file, all lines are read.
const SHORT_FILE: usize = 60;
/// A reply may show only a part of a longer file, although the reader asks for the whole file.
const LONG_FILE: usize = 400;
/// Mean number of bytes of its lines.
const SHORT_LINE: usize = 100;
/// A place that does not fit shows no fewer lines, unless it is the only one.
const LEAST_OF_CUT: usize = 8;
/// Longest file whose text is put together from chunks, in lines.
const MAX_REBUILT: usize = 1_000_000;
/// First and last line, 1-based.
type Lines = (usize, usize);

/// All lines of a file.
const ALL: Lines = (1, usize::MAX);

/// The arguments of a read: places, or one chunk, or one file and lines.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ReadRequest {
    /// All in one call: `src/a.rs:10-40,80-90`, `src/b.rs#Type::method`, `Type::method`, `src/c.rs`, `/regex/`.
    #[serde(default)]
    pub places: Vec<String>,
    /// A chunk, by the `chunk_id` of a result.
    pub chunk_id: Option<String>,
    /// One place.
    pub path: Option<String>,
    /// Lines of the one place: 10-40, 10-, 10, or several: 10-40,80-90. All by default.
    pub lines: Option<String>,
    /// Or the first line.
    pub offset: Option<usize>,
    /// Number of lines from `offset` on.
    pub limit: Option<usize>,
    /// Show also the licence and the imports of whole files.
    #[serde(default)]
    pub whole: bool,
    /// Whether the lines of tests, translations and other kinds of files of which there are many are
    /// counted if others match a pattern, as in a search for lines.
    #[serde(skip)]
    pub folds: bool,
}

/// What was read of each place.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReadAnswer {
    /// The lines of the place, if the request names one.
    #[serde(flatten)]
    pub one: Option<ReadPlace>,
    /// The files in the order of the request, if it names several places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub places: Vec<ReadRow>,
    /// The lines of each pattern, in the order of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub patterns: Vec<ReadPattern>,
    /// The places that are left, for the next call, if not all of several fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub next: Vec<String>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// One of several places, or all places in one file.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReadRow {
    /// The places as the request has them.
    pub asked: Vec<String>,
    /// Why the place could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is to be known of this place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub warnings: Vec<String>,
    /// Its lines.
    #[serde(flatten)]
    pub read: Option<ReadPlace>,
}

/// The lines that were read of a file or a chunk.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ReadPlace {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Id of the chunk, if its text does not come from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_id: Option<String>,
    /// First line of `content`.
    pub start_line: usize,
    /// Last line of `content`, inclusive.
    pub end_line: usize,
    /// Number of lines of the file.
    pub total_lines: usize,
    /// The lines, without numbers.
    pub content: String,
    /// The other ranges of lines, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub more: Vec<ReadRange>,
    /// The lines of a whole file that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub left_out: Vec<ReadGap>,
    /// Line to continue at, if not all requested lines fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start_line: Option<usize>,
    /// Whether the file changed since it was indexed; `content` is the current text.
    pub changed: bool,
    /// The state that this place was read from. Its warnings are those of the place.
    #[serde(skip)]
    pub state: AnswerState,
}

/// A range of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadRange {
    /// First line of `content`.
    pub start_line: usize,
    /// Last line of `content`, inclusive.
    pub end_line: usize,
    /// The lines, without numbers.
    pub content: String,
}

/// Lines that a whole file is shown without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadGap {
    /// First line.
    pub start_line: usize,
    /// Last line, inclusive.
    pub end_line: usize,
    /// licence, imports, or both.
    pub what: &'static str,
}

/// A place as a request names it.
#[derive(Debug, Clone)]
pub(in crate::engine) struct AskedPlace {
    /// A place or, if `is_chunk`, the id of a chunk.
    pub(in crate::engine) written: String,
    pub(in crate::engine) is_chunk: bool,
    /// Whether it is one of several places and has the form of a pattern.
    pub(in crate::engine) is_pattern: bool,
    /// The lines that the request names beside the place. If there are none, those of the address count.
    pub(in crate::engine) lines: Vec<Lines>,
    /// Whether a whole file has its licence and imports.
    pub(in crate::engine) whole: bool,
}

impl AskedPlace {
    /// Returns the ranges of lines that the request names, or those that the address names.
    pub(in crate::engine) fn ranges(&self, named: Vec<(u32, u32)>) -> Result<Vec<Lines>, AskError> {
        if !self.lines.is_empty() {
            return Ok(self.lines.clone());
        }
        in_order(named.into_iter().map(|(first, last)| (first as usize, last as usize)).collect())
    }
}

impl ReadRequest {
    /// Returns the ranges of lines that the request names beside a place.
    fn ranges(&self) -> Result<Vec<Lines>, AskError> {
        match (&self.lines, self.offset, self.limit) {
            (None, None, None) => Ok(Vec::new()),
            (Some(lines), ..) => {
                let ranges = line_ranges(lines)?;
                Ok(if ranges.is_empty() { vec![ALL] } else { ranges })
            }
            (None, offset, limit) => {
                let first = offset.unwrap_or(1).max(1);
                let last = limit.map_or(usize::MAX, |n| first.saturating_add(n.max(1) - 1));
                Ok(vec![(first, last)])
            }
        }
    }

    /// Returns the places that the request names, each once.
    ///
    /// # Errors
    /// When there are none or too many, or lines are named of no one place.
    pub(in crate::engine) fn asked(&self) -> Result<Vec<AskedPlace>, AskError> {
        let lines = self.ranges()?;
        let wrong = |why: String| Err(AskError::Arguments(why));
        let mut asked: Vec<AskedPlace> = Vec::new();
        let single = match (&self.chunk_id, &self.path) {
            (Some(id), _) => Some((id, true)),
            (None, path) => path.as_ref().map(|path| (path, false)),
        };
        if let Some((written, is_chunk)) = single {
            let (written, lines) = (written.clone(), lines.clone());
            asked.push(AskedPlace {
                written,
                is_chunk,
                is_pattern: false,
                lines,
                whole: self.whole,
            });
        }
        for place in self.places.iter().filter(|place| !place.trim().is_empty()) {
            if !asked.iter().any(|known| known.written == *place && known.lines.is_empty()) {
                asked.push(AskedPlace {
                    written: place.clone(),
                    is_chunk: false,
                    is_pattern: pattern_in(place).is_some(),
                    lines: Vec::new(),
                    whole: self.whole,
                });
            }
        }
        let n_patterns = asked.iter().filter(|asked| asked.is_pattern).count();
        if n_patterns > MAX_PATTERNS {
            return wrong(format!(
                "{n_patterns} patterns are given, but at most {MAX_PATTERNS} are searched for at once: join some with `|`"
            ));
        }
        match &mut asked[..] {
            [] => wrong("nothing to read is given. Give places such as src/a.rs:10-40".into()),
            [one] if one.is_pattern && !lines.is_empty() => wrong(
                "lines are given, and only a pattern: leave the lines out, or give their place, such as src/a.rs:10-40".into(),
            ),
            [one] => {
                one.lines = lines;
                Ok(asked)
            }
            many if many.len() > MAX_PLACES => wrong(format!(
                "{} places are given, but at most {MAX_PLACES} are read at once: give fewer",
                many.len()
            )),
            _ if single.is_none() && !lines.is_empty() => wrong(
                "lines are given, and several places: write the lines behind each place, such as src/a.rs:10-40".into(),
            ),
            _ => Ok(asked),
        }
    }
}

impl Engine {
    /// Reads lines of files, or chunks, and finds the lines of patterns. A place that cannot be read is
    /// answered with its error.
    ///
    /// # Errors
    /// When no place exists, or none may be read, and no pattern can be searched for; when nothing
    /// matches the pattern that is the only place.
    pub fn read_places(&self, request: &ReadRequest, call: &Call) -> Result<ReadAnswer, AskError> {
        let (patterns, places) = self.apart(request.asked()?, call)?;
        let searched = find_lines(patterns, request.folds, |request| self.grep(request, call));
        self.read_all(places, searched, call)
    }

    /// Takes the patterns out of what is asked. An indexed file is read, whatever its path looks like.
    fn apart(
        &self,
        asked: Vec<AskedPlace>,
        call: &Call,
    ) -> Result<(Vec<String>, Vec<AskedPlace>), AskError> {
        if !asked.iter().any(|asked| asked.is_pattern) {
            return Ok((Vec::new(), asked));
        }
        let View { code, .. } = self.files_view(call)?;
        let chunks = code.corpus.chunks();
        let is_file = |path: &str| paths::written_file(&self.project, chunks, path).is_some();
        let are_patterns: Vec<bool> =
            asked.iter().map(|asked| asked.is_pattern && !is_file(&asked.written)).collect();
        let (mut patterns, mut places) = (Vec::new(), Vec::new());
        for (asked, is_pattern) in asked.into_iter().zip(are_patterns) {
            if is_pattern {
                patterns.push(asked.written);
            } else {
                places.push(asked);
            }
        }
        Ok((patterns, places))
    }

    /// Reads one place.
    ///
    /// # Errors
    /// When the file, chunk or line does not exist, or must not be read.
    pub fn read(&self, request: &ReadRequest, call: &Call) -> Result<ReadPlace, AskError> {
        self.read_places(request, call)?.into_first()
    }

    /// Reads places, and adds what was found of patterns.
    fn read_all(
        &self,
        asked: Vec<AskedPlace>,
        searched: Vec<Searched>,
        call: &Call,
    ) -> Result<ReadAnswer, AskError> {
        let mut read: Vec<Option<Result<ReadPlace, AskError>>> =
            asked.iter().map(|place| self.read_in_package(place, call)).collect();
        let mut state = None;
        if read.iter().any(Option::is_none) {
            let read_own = |View { code, state }: View| {
                let mut own = Vec::new();
                for (place, _) in asked.iter().zip(&read).filter(|(_, read)| read.is_none()) {
                    call.check()?;
                    own.push(self.read_place(&code.corpus, place));
                }
                Ok::<_, AskError>((own, state))
            };
            let left = asked.iter().zip(&read).filter(|(_, read)| read.is_none());
            let written: Option<Vec<&str>> = left
                .map(|(place, _)| (!place.is_chunk).then_some(place.written.as_str()))
                .collect();
            let early = written.map_or(Ok(None), |places| self.places_early(&places, call))?;
            let (own, of_index) = match early {
                Some(view) => read_own(view)?,
                None => self.with_code(call, read_own)?,
            };
            let mut own = own.into_iter();
            for read in read.iter_mut().filter(|read| read.is_none()) {
                *read = own.next();
            }
            state = Some(of_index);
        }
        let of_place = |(place, read): (&AskedPlace, Option<Result<ReadPlace, AskError>>)| {
            Some(self.or_lines(read?, &place.written, call))
        };
        let read = asked.iter().zip(read).filter_map(of_place).collect();
        ReadAnswer::of(asked, read, searched, state, call)
    }

    /// Reads a place in a package that the project depends on; `None` if it is in none.
    fn read_in_package(
        &self,
        asked: &AskedPlace,
        call: &Call,
    ) -> Option<Result<ReadPlace, AskError>> {
        let package = match self.in_package(&asked.written, call) {
            Ok(package) => package?,
            Err(e) => return Some(Err(e)),
        };
        let below = AskedPlace { written: package.below.clone(), ..asked.clone() };
        let answer = package.engine.read_all(vec![below], Vec::new(), &call.of_package());
        Some(answer.and_then(ReadAnswer::into_first).map(|place| ReadPlace {
            path: place.path.as_deref().map(|path| package.outside(path)),
            chunk_id: place.chunk_id.as_deref().map(|id| package.outside(id)),
            ..place
        }))
    }

    /// Reads a place of the project.
    fn read_place(&self, corpus: &Corpus, asked: &AskedPlace) -> Result<ReadPlace, AskError> {
        let (project, chunks) = (&*self.project, corpus.chunks());
        if asked.is_chunk {
            return of_chunk(project, &paths::chunk(project, chunks, &asked.written)?, asked);
        }
        match paths::place(project, corpus, &asked.written) {
            Ok(place) => of_file(project, chunks, place, asked),
            // The id of a chunk names a place, too.
            Err(AskError::NotFound(why)) => {
                match chunks.by_id(&asked.written).and_then(|entry| entry.chunk()) {
                    Some(chunk) => of_chunk(project, &chunk, asked),
                    None => Err(AskError::NotFound(why)),
                }
            }
            Err(e) => Err(e),
        }
    }

    /// Returns the text of a chunk as it was indexed.
    ///
    /// # Errors
    /// When the chunk does not exist.
    pub fn chunk_text(&self, id: &str, call: &Call) -> Result<String, AskError> {
        self.with_code(call, |view| {
            Ok(paths::chunk(&self.project, view.code.corpus.chunks(), id)?.text.clone())
        })
    }
}

impl ReadAnswer {
    /// Returns the answer for some places, `read` in the same order, and for patterns. Places in one file
    /// become one. Without a `state`, that of the first place or pattern counts.
    ///
    /// # Errors
    /// When no place could be read and no pattern searched for, nothing matches the only pattern, or the
    /// call was cancelled.
    pub(in crate::engine) fn of(
        asked: Vec<AskedPlace>,
        read: Vec<Result<ReadPlace, AskError>>,
        searched: Vec<Searched>,
        state: Option<AnswerState>,
        call: &Call,
    ) -> Result<Self, AskError> {
        let is_alone = asked.len() + searched.len() == 1;
        let is_one = is_alone && searched.is_empty();
        let (mut rows, mut of_first): (Vec<ReadRow>, Option<AnswerState>) = (Vec::new(), None);
        let mut are_wrong = true;
        for (AskedPlace { written, .. }, read) in asked.into_iter().zip(read) {
            match read {
                Err(e) if is_alone || e == AskError::Cancelled => return Err(e),
                Err(e) => {
                    are_wrong &= matches!(e, AskError::Arguments(_));
                    let (asked, error) = (vec![written], Some(e.to_string()));
                    rows.push(ReadRow { asked, error, ..ReadRow::default() });
                }
                Ok(place) => {
                    let warnings = call.warnings.clone();
                    of_first.get_or_insert_with(|| AnswerState { warnings, ..place.state.clone() });
                    let same = |row: &&mut ReadRow| {
                        row.read.as_ref().is_some_and(|read| read.is_in_file_of(&place))
                    };
                    match rows.iter_mut().find(same) {
                        Some(row) => row.join(written, place),
                        None => rows.push(ReadRow::new(written, place)),
                    }
                }
            }
        }
        let mut patterns: Vec<ReadPattern> = Vec::new();
        for (asked, answer) in searched {
            match answer {
                Err(e) if is_alone || e == AskError::Cancelled => return Err(e),
                Err(e) => {
                    are_wrong &= matches!(e, AskError::Arguments(_));
                    patterns.push(ReadPattern::not_searched(asked, &e));
                }
                Ok(answer) if is_alone && answer.found.total == 0 => {
                    return Err(no_line(&asked, &answer));
                }
                Ok(answer) => {
                    of_first.get_or_insert_with(|| answer.state.clone());
                    patterns.push(ReadPattern::new(asked, answer));
                }
            }
        }
        let is_nothing_read = rows.iter().all(|row| row.read.is_none());
        if is_nothing_read && patterns.iter().all(|pattern| pattern.found.is_none()) {
            let why: Vec<String> = rows
                .iter()
                .map(ReadRow::why_not)
                .chain(patterns.iter().map(ReadPattern::why_not))
                .collect();
            let why = format!("none of these places can be read:\n{}", why.join("\n"));
            let error = if are_wrong { AskError::Arguments } else { AskError::NotFound };
            return Err(error(why));
        }
        let state = state.or(of_first).unwrap_or_default();
        if is_one && let Some(ReadRow { warnings, read, .. }) = rows.pop() {
            let state = state.warning_first(warnings).in_brief(call);
            return Ok(Self { one: read, state, ..Self::default() });
        }
        let state = state.in_brief(call);
        // What concerns the whole answer is said once.
        for pattern in &mut patterns {
            pattern.warnings.retain(|warning| !state.warnings.contains(warning));
        }
        Ok(Self { places: rows, patterns, state, ..Self::default() })
    }

    /// Returns the place of an answer that has one.
    fn into_first(self) -> Result<ReadPlace, AskError> {
        let first = self.one.or_else(|| self.places.into_iter().find_map(|row| row.read));
        let first = first.map(|place| ReadPlace { state: self.state, ..place });
        first.ok_or_else(|| AskError::Failed("nothing was read (this is a bug of cortex)".into()))
    }

    /// Returns what was read of all places.
    fn read(&self) -> impl Iterator<Item = &ReadPlace> {
        self.one.iter().chain(self.places.iter().filter_map(|row| row.read.as_ref()))
    }

    /// Returns the number of lines of all places.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        self.read().map(ReadPlace::n_lines).sum()
    }

    /// Returns the number of lines of all places but long files.
    #[must_use]
    pub fn n_named_lines(&self) -> usize {
        self.read().filter(|place| !place.is_long_file()).map(ReadPlace::n_lines).sum()
    }

    /// Returns the largest number of lines of a pattern.
    #[must_use]
    pub fn n_lines_of_patterns(&self) -> usize {
        self.patterns.iter().map(ReadPattern::n_lines).max().unwrap_or(0)
    }

    /// Returns the answer with at most `n_lines` lines of each pattern.
    #[must_use]
    pub fn with_lines_of_patterns(self, n_lines: usize) -> Self {
        let patterns = self.patterns.iter().map(|pattern| pattern.first(n_lines)).collect();
        Self { patterns, ..self }
    }

    /// Returns a copy with `n_lines` lines (at least one), each cut to `n_chars` characters. Short places
    /// come before long ones, and long files last, so that most places are whole. What is left of several
    /// is in `next`.
    #[must_use]
    pub fn first(&self, n_lines: usize, n_chars: usize) -> Self {
        let mut answer = self.clone();
        let (mut left, mut is_cut) = (n_lines.max(1), false);
        if let Some(one) = &mut answer.one {
            let first = one.first(left, n_chars);
            (*one, is_cut) = (first.place, first.is_cut);
        }
        let mut next: Vec<(usize, String)> = Vec::new();
        for (n, at) in self.smallest_first().into_iter().enumerate() {
            let Some(place) = &self.places[at].read else { continue };
            let all = place.n_lines();
            let given = left.min(all);
            if given < all && given < LEAST_OF_CUT && n > 0 {
                next.push((at, place.address(None)));
                answer.places[at].read = None;
                left = 0;
                continue;
            }
            left -= given;
            let first = place.first(given, n_chars);
            is_cut |= first.is_cut;
            if !first.rest.is_empty() {
                next.push((at, place.address(Some(&first.rest[..]))));
            }
            answer.places[at].read = Some(first.place);
        }
        next.sort_unstable();
        answer.next = next.into_iter().map(|(_, address)| address).collect();
        answer.places.retain(|row| row.read.is_some() || row.error.is_some());
        let warning = format!(
            "a line of more than {n_chars} characters is cut: raise max_tokens to see more of it"
        );
        answer.state.warnings.extend(is_cut.then_some(warning));
        answer
    }

    /// Returns the order in which several places are given room.
    fn smallest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|at| {
            let place = self.places[*at].read.as_ref();
            place.map(|place| (place.is_long_file(), place.n_lines()))
        });
        order.retain(|at| self.places[*at].read.is_some());
        order
    }
}

impl ReadRow {
    fn new(asked: String, mut place: ReadPlace) -> Self {
        let warnings = std::mem::take(&mut place.state.warnings);
        Self { asked: vec![asked], warnings, read: Some(place), error: None }
    }

    /// Adds another place in the same file.
    fn join(&mut self, asked: String, place: ReadPlace) {
        self.asked.push(asked);
        for warning in &place.state.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
        if let Some(read) = &mut self.read {
            read.join(place);
        }
    }

    /// Returns the place and why it could not be read.
    #[must_use]
    pub fn why_not(&self) -> String {
        format!("{}: {}", self.asked.join(" "), self.error.as_deref().unwrap_or_default())
    }
}

/// The first lines of a place.
struct FirstLines {
    place: ReadPlace,
    /// The ranges that are left.
    rest: Vec<Lines>,
    /// Whether a line was cut.
    is_cut: bool,
}

impl ReadPlace {
    /// Fills in lines of a text. `ranges` are in order and do not overlap.
    fn with_lines(self, text: &str, ranges: &[Lines]) -> Result<Self, AskError> {
        let read: Result<_, _> = ranges.iter().map(|lines| range_of(text, *lines)).collect();
        Ok(Self { total_lines: text.lines().count(), ..self }.with_ranges(read?))
    }

    fn with_ranges(self, ranges: Vec<ReadRange>) -> Self {
        let mut ranges = ranges.into_iter();
        let ReadRange { start_line, end_line, content } = ranges.next().unwrap_or_default();
        Self { start_line, end_line, content, more: ranges.collect(), ..self }
    }

    /// Returns the requested lines of a text. If the request names none, returns the whole file without
    /// its licence and imports, which are before the line `definition` of its first definition.
    pub(in crate::engine) fn of_text(
        self,
        text: &str,
        asked: &[Lines],
        definition: Option<u32>,
    ) -> Result<Self, AskError> {
        if !asked.is_empty() {
            return self.with_lines(text, asked);
        }
        let left_out = definition
            .map(|line| gaps(self.path.as_deref().unwrap_or_default(), text, line))
            .unwrap_or_default();
        let (mut ranges, mut next) = (Vec::new(), 1);
        for gap in &left_out {
            if next < gap.start_line {
                ranges.push((next, gap.start_line - 1));
            }
            next = gap.end_line + 1;
        }
        ranges.push((next, usize::MAX));
        Self { left_out, ..self }.with_lines(text, &ranges)
    }

    /// Returns all ranges of lines.
    #[must_use]
    pub fn ranges(&self) -> Vec<ReadRange> {
        let ReadPlace { start_line, end_line, .. } = *self;
        let first = ReadRange { start_line, end_line, content: self.content.clone() };
        std::iter::once(first).chain(self.more.iter().cloned()).collect()
    }

    /// Whether another place is in the same file, or the same chunk without a file.
    fn is_in_file_of(&self, other: &Self) -> bool {
        (&self.path, &self.chunk_id) == (&other.path, &other.chunk_id)
    }

    /// Adds the lines of another place in the same file. Ranges that touch or overlap become one.
    fn join(&mut self, other: Self) {
        let mut ranges = [self.ranges(), other.ranges()].concat();
        ranges.sort_by_key(|range| (range.start_line, Reverse(range.end_line)));
        let mut joined: Vec<ReadRange> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.end_line <= last.end_line => {}
                Some(last) if range.start_line <= last.end_line + 1 => {
                    let n_known = last.end_line + 1 - range.start_line;
                    for line in range.content.split('\n').skip(n_known) {
                        last.content.push('\n');
                        last.content.push_str(line);
                    }
                    last.end_line = range.end_line;
                }
                _ => joined.push(range),
            }
        }
        let mut place = std::mem::take(self);
        place.changed |= other.changed;
        place.left_out.extend(other.left_out);
        place.left_out.sort_by_key(|gap| gap.start_line);
        place.left_out.dedup();
        let is_shown = |gap: &ReadGap| {
            let overlaps =
                |r: &ReadRange| r.start_line <= gap.end_line && gap.start_line <= r.end_line;
            joined.iter().any(overlaps)
        };
        place.left_out.retain(|gap| !is_shown(gap));
        *self = place.with_ranges(joined);
    }

    /// Whether the request named a whole file that is long.
    fn is_long_file(&self) -> bool {
        let is_short =
            self.total_lines <= LONG_FILE && self.content.len() <= LONG_FILE * SHORT_LINE;
        self.is_whole_file() && !is_short
    }

    /// Whether the request named the whole file.
    fn is_whole_file(&self) -> bool {
        let is_all =
            self.start_line <= 1 && self.end_line == self.total_lines && self.more.is_empty();
        is_all || !self.left_out.is_empty()
    }

    /// Returns the number of lines of all ranges.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        let others = self.more.iter().map(|range| range.content.split('\n').count());
        self.content.split('\n').count() + others.sum::<usize>()
    }

    /// Returns the address of these lines, or of the place as a whole.
    fn address(&self, lines: Option<&[Lines]>) -> String {
        let Some(path) = &self.path else { return self.chunk_id.clone().unwrap_or_default() };
        let own: Vec<Lines> =
            self.ranges().iter().map(|range| (range.start_line, range.end_line)).collect();
        match lines {
            None if self.is_whole_file() => path.clone(),
            lines => {
                let lines = lines.unwrap_or(&own).iter();
                let lines: Vec<String> =
                    lines.map(|(first, last)| format!("{first}-{last}")).collect();
                format!("{path}:{}", lines.join(","))
            }
        }
    }

    /// Returns a copy with the first `n_lines` lines (at least one), each cut to `n_chars`
    /// characters. Ranges of which no line is left are dropped.
    fn first(&self, n_lines: usize, n_chars: usize) -> FirstLines {
        let (mut left, mut rest, mut is_cut) = (n_lines.max(1), Vec::new(), false);
        let mut ranges: Vec<ReadRange> = Vec::new();
        for range in self.ranges() {
            if left == 0 {
                rest.push((range.start_line, range.end_line));
                continue;
            }
            let all: Vec<&str> = range.content.split('\n').collect();
            let shown: Vec<String> = all.iter().take(left).map(|line| cut(line, n_chars)).collect();
            is_cut |= shown.iter().zip(&all).any(|(shown, line)| shown != line);
            let n_left = all.len() - shown.len();
            left -= shown.len();
            if n_left > 0 {
                rest.push((range.end_line - n_left + 1, range.end_line));
            }
            let end_line = range.end_line - n_left;
            let content = shown.join("\n");
            ranges.push(ReadRange { start_line: range.start_line, end_line, content });
        }
        let place = Self { next_start_line: rest.first().map(|lines| lines.0), ..self.clone() };
        FirstLines { place: place.with_ranges(ranges), rest, is_cut }
    }
}

/// Returns the lines at the beginning of a program text that a whole file is shown without. They are
/// less than half of it.
fn gaps(path: &str, text: &str, definition: u32) -> Vec<ReadGap> {
    let n_lines = text.lines().count();
    let LanguageKind::Code(grammar) = &detect(path, text).kind else { return Vec::new() };
    if n_lines < SHORT_FILE {
        return Vec::new();
    }
    let gaps: Vec<ReadGap> = preambles(grammar, text, definition)
        .into_iter()
        .map(|part| ReadGap {
            start_line: part.first as usize,
            end_line: part.last as usize,
            what: part.what,
        })
        .collect();
    let n_left_out: usize = gaps.iter().map(|gap| gap.end_line + 1 - gap.start_line).sum();
    if n_left_out * 2 < n_lines { gaps } else { Vec::new() }
}

/// Returns the line of the first definition in the chunks of a file.
pub(in crate::engine) fn first_definition<'c>(
    chunks: impl Iterator<Item = &'c Chunk>,
) -> Option<u32> {
    let lines = chunks.flat_map(|chunk| &chunk.metadata.names).map(|name| name.start_line);
    lines.filter(|line| *line > 0).min()
}

/// Returns the lines `first..=last` of a text.
fn range_of(text: &str, (first, last): (usize, usize)) -> Result<ReadRange, AskError> {
    let all: Vec<&str> = text.lines().collect();
    if first > all.len().max(1) {
        return Err(AskError::Arguments(format!(
            "there is no line {first}: the last one is {}",
            all.len()
        )));
    }
    let wanted = &all[first.min(all.len() + 1) - 1..last.min(all.len())];
    let end_line = (first + wanted.len()).saturating_sub(1);
    Ok(ReadRange { start_line: first, end_line, content: wanted.join("\n") })
}

/// Parses a list of ranges.
fn line_ranges(written: &str) -> Result<Vec<Lines>, AskError> {
    let parts = written.split(',').filter(|lines| !lines.trim().is_empty());
    in_order(parts.map(|lines| line_range(Some(lines))).collect::<Result<Vec<_>, _>>()?)
}

/// Orders ranges. Those that touch or overlap become one, so that no line is read twice.
fn in_order(mut ranges: Vec<Lines>) -> Result<Vec<Lines>, AskError> {
    ranges.sort_unstable();
    let mut merged: Vec<Lines> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    if merged.len() > MAX_RANGES {
        return Err(AskError::Arguments(format!(
            "lines has {} ranges, but at most {MAX_RANGES} are read at once: give fewer",
            merged.len()
        )));
    }
    Ok(merged)
}

/// Parses `10-40`, `10-`, `-40` or `10` into the first and the last line.
pub(in crate::engine) fn line_range(lines: Option<&str>) -> Result<(usize, usize), AskError> {
    let lines = lines.unwrap_or("-").trim();
    let wrong = || {
        AskError::Arguments(format!(
            "cannot parse lines `{}`: give them like 10-40",
            cut(lines, 40)
        ))
    };
    let number = |s: &str, open: usize| {
        if s.trim().is_empty() { Ok(open) } else { s.trim().parse().map_err(|_| wrong()) }
    };
    let (from, to) = lines.split_once(['-', ':']).unwrap_or((lines, lines));
    let (first, last) = (number(from, 1)?.max(1), number(to, usize::MAX)?);
    if last < first {
        return Err(AskError::Arguments(format!(
            "the lines end at {last}, before they begin at {first}"
        )));
    }
    Ok((first, last))
}

/// The warning of a place whose lines are not those of the index.
const CHANGED: &str =
    "the file changed since it was indexed: line numbers of earlier results may be off";

/// Reads a place in a file.
fn of_file(
    project: &Project,
    chunks: &ChunkSet,
    place: Place,
    asked: &AskedPlace,
) -> Result<ReadPlace, AskError> {
    let lines = asked.ranges(place.ranges())?;
    let Place { path, note, .. } = place;
    let mut warnings: Vec<String> = note.into_iter().collect();
    let text = current(project, chunks, &path, &mut warnings)?;
    let now: Vec<&str> = text.lines().collect();
    let indexed = chunks.read_file(&path);
    let is_asked = |c: &Chunk| lines.is_empty() || lines.iter().any(|range| overlaps(c, *range));
    let changed = indexed.iter().any(|c| is_verbatim(c) && is_asked(c) && !holds(&now, c));
    warnings.extend(changed.then(|| CHANGED.to_string()));
    let definition = if asked.whole || !lines.is_empty() {
        None
    } else if changed {
        first_definition(chunk_file(&path, &text).iter())
    } else {
        first_definition(indexed.iter().map(|chunk| &**chunk))
    };
    let state = AnswerState { warnings, ..AnswerState::default() };
    let place = ReadPlace { path: Some(path), changed, state, ..ReadPlace::default() };
    place.of_text(&text, &lines, definition)
}

/// Reads a chunk, where it is now.
fn of_chunk(
    project: &Project,
    chunk: &Arc<Chunk>,
    asked: &AskedPlace,
) -> Result<ReadPlace, AskError> {
    let whole = asked.lines.is_empty();
    let ranges = if whole { vec![ALL] } else { asked.lines.clone() };
    let m = &chunk.metadata;
    let own = |path: Option<String>, warnings: Vec<String>| ReadPlace {
        path,
        chunk_id: Some(chunk.id.to_string()),
        state: AnswerState { warnings, ..AnswerState::default() },
        ..ReadPlace::default()
    };
    let (Some(path), Some(first), Some(last)) = (&m.file_path, m.start_line, m.end_line) else {
        return own(m.file_path.clone(), Vec::new()).with_lines(&chunk.text, &ranges);
    };
    match paths::normal(project.layout.root(), path).and_then(|p| from_disk(project, &p)) {
        Ok(text) => {
            let now: Vec<&str> = text.lines().collect();
            let changed = is_verbatim(chunk) && !holds(&now, chunk);
            let lines = (first as usize, last as usize);
            // If the chunk only moved, read it at its new place.
            let moved = if changed { found_in(&text, chunk) } else { None };
            let ranges = if whole { vec![moved.unwrap_or(lines)] } else { ranges };
            let warnings = changed.then(|| CHANGED.to_string()).into_iter().collect();
            let place = ReadPlace { chunk_id: None, changed, ..own(Some(path.clone()), warnings) };
            place.with_lines(&text, &ranges)
        }
        Err(e) => {
            let warning = format!("{e}. This is the chunk as it was indexed");
            own(Some(path.clone()), vec![warning]).with_lines(&chunk.text, &ranges)
        }
    }
}

/// Returns the current text of an indexed file or, if the file was deleted, the text of its kept
/// chunks.
fn current(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<String, AskError> {
    let found = paths::chunks_of(project, chunks, path)?;
    match from_disk(project, path) {
        Err(AskError::NotFound(_)) if found.iter().any(|c| c.metadata.is_deleted()) => {
            warnings.push(format!("`{path}` was deleted. These are its lines as they were indexed; those that no chunk holds are empty"));
            Ok(text_of(&found))
        }
        read => read,
    }
}

/// Returns the text of a file from its chunks. Lines that no chunk holds are empty.
pub(in crate::engine) fn text_of(chunks: &[Arc<Chunk>]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for chunk in chunks.iter().filter(|chunk| is_verbatim(chunk)) {
        let first = chunk.metadata.start_line.unwrap_or(1).max(1) as usize - 1;
        let last = first + chunk.text.lines().count();
        // Chunk files of other programs may hold any numbers.
        if last > MAX_REBUILT {
            continue;
        }
        lines.resize(lines.len().max(last), "");
        lines[first..last].iter_mut().zip(chunk.text.lines()).for_each(|(to, from)| *to = from);
    }
    lines.join("\n")
}

/// Returns the text of a file as Cortex shows it.
///
/// # Errors
/// When the file may not be read or cannot be read.
pub(in crate::engine) fn from_disk(project: &Project, path: &str) -> Result<String, AskError> {
    project.read_text(path).map_err(|e| match e {
        ReadError::Forbidden(_) => AskError::Arguments(e.to_string()),
        ReadError::TooLarge { .. } => AskError::Failed(e.to_string()),
        ReadError::Failed { .. } => AskError::NotFound(e.to_string()),
    })
}

fn overlaps(chunk: &Chunk, (first, last): (usize, usize)) -> bool {
    let m = &chunk.metadata;
    m.start_line.is_some_and(|l| l as usize <= last)
        && m.end_line.is_some_and(|l| l as usize >= first)
}

/// Finds the lines that have the chunk's text now.
fn found_in(text: &str, chunk: &Chunk) -> Option<(usize, usize)> {
    let (lines, wanted): (Vec<&str>, Vec<&str>) =
        (text.lines().collect(), chunk.text.lines().collect());
    let at = lines.windows(wanted.len().max(1)).position(|w| w == wanted)?;
    Some((at + 1, at + wanted.len()))
}
