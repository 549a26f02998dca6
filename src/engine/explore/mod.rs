//! Answers a call of several entries in one reply: the code that an answer needs, wherever it is, and
//! of what is named by an entry also who uses it and which tests reach it.

mod asked;
mod texts;
mod warm_up;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::asked::{Entry, names_in};
pub use self::texts::TextLines;
use crate::address::Address;
use crate::chunk::{Chunk, ChunkSet, ChunkType, Metadata};
use crate::embed::{StaticModel, vector_of_question};
use crate::engine::door::filters::Filters;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::near::near_in;
use crate::engine::door::rows::ExcerptRow;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::affected::TEST_DEPTH;
use crate::engine::graph::query::{AroundRequest, GraphAnswer, GraphNode, TargetRows};
use crate::engine::past::history::HistoryRow;
use crate::engine::read::places::{ReadPlace, ReadRequest};
use crate::engine::{AskError, Call};
use crate::excerpt::{Candidates, FileExcerpts, LeftOut, Link, Seed, Selection};
use crate::graph::{Around, LEAST_CONFIDENCE, Neighbour, Node, Operation, Users};
use crate::languages::is_test_file;
use crate::search::{Searcher, search_words};
use crate::text::{count, folded, unquoted};

/// Most entries of one request.
const MAX_ENTRIES: usize = 16;
/// Most symbols of one name whose code is wanted. The users of one alone are listed.
const MAX_OF_NAME: usize = 3;
/// Most symbols of one name whose users are counted.
const MAX_COMPARED: usize = 8;
/// Number of best functions around which the code graph looks, at first and then, and most neighbours of
/// each on a side.
const SEEDS: [usize; 2] = [14, 10];
const MAX_NEIGHBOURS: usize = 20;
/// A file of more lines is shown in part.
const WHOLE_FILE: usize = 150;
/// How sure it is that a region is wanted of which the call names the file, or one of several symbols.
const OF_FILE: f64 = 0.2;
const OF_SEVERAL: f64 = 0.5;
/// Most time of processors for the users of a symbol, and for what is around the best functions. In a few
/// repositories all of it takes seconds; `cortex graph` has that time.
const GRAPH_TIME: Duration = Duration::from_millis(150);
/// Most symbols whose users are listed, and most users of each that an answer holds.
const MAX_FOLLOWED: usize = 8;
const MAX_USERS: usize = 40;
/// The code around its uses is an answer to a call that names a symbol with at most this many users. How
/// sure that is, of one user; of n users each counts less by the root of n.
const FEW_USERS: usize = 12;
const OF_USER: f64 = 0.4;
/// Number of steps to users if the call asks who is affected.
const AFFECTED_STEPS: usize = 3;

/// The arguments of an exploration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ExploreRequest {
    /// Up to 16: the question, names (`retry`, `Type::method`), keys, messages, places
    /// (`src/a.rs:10-40,80-90`).
    pub about: Vec<String>,
    #[serde(flatten)]
    pub filters: Filters,
}

/// What was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExploreAnswer {
    /// The entries that name something, or that something is to be said of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub subjects: Vec<Subject>,
    /// If the call asks for a reason or for the past: the commits that speak most for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub past: Vec<HistoryRow>,
    /// The code, by file; the file with the best place comes first.
    pub code: Vec<ShownFile>,
    /// Further places, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub more: Vec<GraphNode>,
    #[serde(flatten)]
    pub state: AnswerState,
    /// Whether the tests of the named symbols are wanted.
    #[serde(skip)]
    pub wants_tests: bool,
    #[serde(skip)]
    selection: Arc<Selection>,
}

/// An entry that names a symbol or a place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Subject {
    /// The entry as it was written.
    pub about: String,
    /// Why it is answered in another way than it was written, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The lines of a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadPlace>,
    /// The users of a symbol, and the tests that reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Box<GraphAnswer>>,
    /// The lines with a text that is no symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<TextLines>,
    /// Other symbols of the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub others: Vec<GraphNode>,
}

/// The shown code of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownFile {
    /// Relative to the root.
    pub path: String,
    /// In the order of their lines.
    pub excerpts: Vec<ExcerptRow>,
}

/// What the entries of a call name.
#[derive(Default)]
struct NamedEntries {
    subjects: Vec<Subject>,
    /// The symbols whose code is wanted, and whether the name means one alone.
    symbols: Vec<(Node, bool)>,
    /// Whether the call asks who is affected, so that farther users are wanted.
    is_affected: bool,
    /// Whether the tests that reach the symbols are wanted.
    wants_tests: bool,
}

impl Engine {
    /// Finds the code that answers the entries of a call together.
    ///
    /// # Errors
    /// When the request names nothing or too much, or the index cannot be read.
    pub fn explore(
        &self,
        request: &ExploreRequest,
        call: &Call,
    ) -> Result<ExploreAnswer, AskError> {
        let about: Vec<String> =
            request.about.iter().map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect();
        if about.is_empty() || about.len() > MAX_ENTRIES {
            return Err(AskError::Arguments(format!(
                "about has {}: give from 1 to {MAX_ENTRIES} questions, names, places or files",
                count(about.len(), "entry")
            )));
        }
        let mut state = self.state(call)?;
        // The first question has waited as the call asks.
        let wait = super::Wait::default();
        let time = Some(GRAPH_TIME);
        let after = &Call { wait, warnings: Vec::new(), time, ..call.clone() };
        let about = self.all_in_english(about, &mut state.warnings, after)?;
        let is_affected = about.iter().any(|entry| asks_who_is_affected(entry));
        let wants_tests = is_affected || about.len() == 1 || asks_for_tests(&about);
        let mut named = NamedEntries { is_affected, wants_tests, ..NamedEntries::default() };
        let mut asked: Vec<String> = Vec::new();
        match self.named(&about, after) {
            Ok(entries) => {
                for entry in entries {
                    self.take(entry, &mut named, &mut asked, after)?;
                }
            }
            Err(AskError::NotYet(why)) => {
                state.warnings.push(why);
                asked.clone_from(&about);
            }
            Err(other) => return Err(other),
        }
        call.check()?;
        let selection = if asked.is_empty() && named.symbols.is_empty() {
            Selection::default()
        } else {
            self.selection(&about, &named, request, after)?
        };
        let past = match self.past_of_question(&about, &selection.places(), after) {
            Ok(past) => past,
            Err(AskError::NotYet(why)) => {
                state.warnings.push(why);
                Vec::new()
            }
            Err(other) => return Err(other),
        };
        let mut answer = ExploreAnswer {
            subjects: named.subjects,
            past,
            code: Vec::new(),
            more: Vec::new(),
            state: state.in_brief(call),
            wants_tests,
            selection: Arc::new(selection),
        };
        if answer.selection.top() == 0 && answer.subjects.is_empty() {
            answer.state.warnings.push("nothing found".into());
        }
        Ok(answer)
    }

    /// Translates questions in other languages. `notes` gets what a reader should know of it.
    fn all_in_english(
        &self,
        about: Vec<String>,
        notes: &mut Vec<String>,
        call: &Call,
    ) -> Result<Vec<String>, AskError> {
        let translated = |entry: String| {
            if !entry.contains(char::is_whitespace) && entry.is_ascii() {
                return Ok(entry);
            }
            let found = self.with_code(call, |View { code, .. }| {
                Ok(Searcher::new(&code.corpus).in_english(&entry, &StaticModel::knows)?)
            });
            match found {
                Ok(Some((english, note))) => {
                    notes.push(note);
                    Ok(english.trim().to_string())
                }
                Ok(None) | Err(AskError::NotYet(_)) => Ok(entry),
                Err(other) => Err(other),
            }
        };
        about.into_iter().map(translated).collect()
    }

    /// Takes an entry: a place is read, the users of a symbol are looked up, and whatever is no place is
    /// searched for.
    fn take(
        &self,
        entry: Entry,
        named: &mut NamedEntries,
        asked: &mut Vec<String>,
        call: &Call,
    ) -> Result<(), AskError> {
        match entry {
            Entry::Place(about, read) => named.subjects.push(Subject {
                note: read.state.warnings.first().cloned(),
                read: Some(*read),
                ..Subject::of(about)
            }),
            Entry::Symbols(about, symbols)
                if named.symbols.iter().any(|(known, _)| *known == symbols[0]) =>
            {
                asked.push(about);
            }
            Entry::Symbols(about, symbols) => {
                let is_one = symbols.len() == 1;
                let first = &symbols[0];
                let depth = if named.is_affected { AFFECTED_STEPS } else { 1 };
                let test_depth = if named.wants_tests { TEST_DEPTH } else { 0 };
                let request = AroundRequest {
                    operation: Operation::Impact,
                    of: TargetRows { target: address(first), limit: Some(MAX_USERS), context: 0 },
                    to: None,
                    depth: Some(depth),
                    unresolved: false,
                };
                let others: Vec<GraphNode> = symbols[1..].iter().map(GraphNode::new).collect();
                let n_followed = named.subjects.iter().filter(|s| s.users.is_some()).count();
                if n_followed < MAX_FOLLOWED {
                    let users = self.around_with_tests(&request, test_depth, call)?;
                    let users = Some(Box::new(users));
                    named.subjects.push(Subject { users, others, ..Subject::of(about.clone()) });
                } else if !others.is_empty() {
                    named.subjects.push(Subject { others, ..Subject::of(about.clone()) });
                }
                let wanted = symbols.into_iter().take(MAX_OF_NAME);
                named.symbols.extend(wanted.map(|node| (node, is_one)));
                asked.push(about);
            }
            Entry::Text(about) => {
                let (note, lines) = match self.unknown_name(&about, call) {
                    None => match self.lines_with(&about, call) {
                        // An entry that is no regular expression costs the others nothing.
                        Err(AskError::Arguments(why)) => (Some(folded(&why)), None),
                        lines => (None, lines?),
                    },
                    note => (note, None),
                };
                if note.is_some() || lines.is_some() {
                    named.subjects.push(Subject { note, lines, ..Subject::of(about.clone()) });
                }
                asked.push(about);
            }
        }
        Ok(())
    }

    /// Says of a name that no symbol and no text has which names are near to it.
    fn unknown_name(&self, about: &str, call: &Call) -> Option<String> {
        let name = unmarked(about);
        let is_name = |c: char| c.is_alphanumeric() || "_:.$".contains(c);
        if !name.chars().all(is_name) {
            return None;
        }
        let note = |View { code, .. }: View| {
            let is_in_text = Searcher::new(&code.corpus).holds(name)?;
            Ok((!is_in_text).then(|| format!("not found{}", near_in(&code.corpus, name))))
        };
        self.with_code(call, note).ok()?
    }

    /// Selects the code that answers the call.
    fn selection(
        &self,
        about: &[String],
        named: &NamedEntries,
        request: &ExploreRequest,
        call: &Call,
    ) -> Result<Selection, AskError> {
        let filter = request.filters.filter(Some(&self.project))?;
        let names = names_in(about);
        let vectors: Vec<Vec<f32>> = about
            .iter()
            .map(|entry| vector_of_question(self.manager.embedder(), entry).0)
            .collect();
        self.with_code(call, |View { code, .. }| {
            let corpus = &code.corpus;
            let passages = Searcher::new(corpus).passages(about, &names, &vectors, &filter)?;
            let mut candidates = Candidates::new(passages.words, about, asks_for_tests(about));
            for (path, entries) in passages.files {
                let (again, mut parts): (Vec<Arc<Chunk>>, Vec<Arc<Chunk>>) = entries
                    .iter()
                    .filter_map(|entry| entry.chunk())
                    .partition(|chunk| chunk.repeats_values());
                let mut known: HashSet<Arc<str>> = parts.iter().map(|p| p.id.clone()).collect();
                for Metadata { start_line, end_line, .. } in again.iter().map(|c| &c.metadata) {
                    let lines = start_line.zip(*end_line).unwrap_or_default();
                    let of_enum = chunks_at(corpus.chunks(), &path, lines);
                    parts.extend(of_enum.into_iter().filter(|part| known.insert(part.id.clone())));
                }
                candidates.add(&path, parts);
            }
            call.check()?;
            for (node, is_one) in &named.symbols {
                let (lines, confidence) = match node.line {
                    0 => ((1, u32::MAX), OF_FILE),
                    line => ((line, node.end_line), if *is_one { 1.0 } else { OF_SEVERAL }),
                };
                candidates
                    .add(&node.file.as_str().into(), chunks_at(corpus.chunks(), &node.file, lines));
                candidates.name(&node.file, lines, confidence);
            }
            for subject in &named.subjects {
                give_read(&mut candidates, subject);
                add_uses(&mut candidates, corpus.chunks(), subject);
            }
            candidates.compare();
            self.look_around(&mut candidates, corpus.chunks(), call)?;
            Ok(candidates.selected())
        })
    }

    /// Adds what the code graph knows around the best functions, and then around the best of those that
    /// this brought forward.
    fn look_around(
        &self,
        candidates: &mut Candidates,
        chunks: &ChunkSet,
        call: &Call,
    ) -> Result<(), AskError> {
        let mut seen: Vec<Seed> = Vec::new();
        for n in SEEDS {
            let mut seeds = candidates.seeds(seen.len() + n);
            seeds.retain(|seed| !seen.contains(seed));
            seeds.truncate(n);
            let targets: Vec<String> =
                seeds.iter().map(|Seed { path, line }| format!("{path}:{line}")).collect();
            let work = call.work();
            let around = self.ask_graph(call, |graph| graph.around(&targets, &work));
            match around {
                Ok((around, _)) => link(candidates, chunks, seen.len(), around),
                Err(AskError::Cancelled) => return Err(AskError::Cancelled),
                // The reply says that the graph is not there yet.
                Err(_) => return Ok(()),
            }
            seen.extend(seeds);
        }
        Ok(())
    }

    /// Returns what each entry names.
    fn named(&self, about: &[String], call: &Call) -> Result<Vec<Entry>, AskError> {
        let work = call.work();
        let targets: Vec<String> =
            about.iter().map(|about| self.graph_target(unmarked(about), call)).collect();
        let (mut named, _) = self.ask_graph(call, |graph| graph.named(&targets, &work))?;
        for nodes in &mut named {
            self.project.drop_gone(nodes);
            // Of many symbols of a name, the definition that most others use is meant.
            nodes.sort_by_key(|node| (is_test_file(&node.file), !is_definition(node)));
            let n = if nodes.len() > 1 { nodes.len().min(MAX_COMPARED) } else { 0 };
            let few = &mut nodes[..n];
            let targets: Vec<(&str, String)> =
                few.iter().map(|node| (&*node.name, address(node))).collect();
            let (users, _) = self.ask_graph(call, |graph| graph.count_users(&targets, &work))?;
            let n_users = |users: &Option<Users>| users.map_or(0, |n| n.others + n.tests);
            let mut counted: Vec<(Node, usize)> =
                few.iter().cloned().zip(users.iter().map(n_users)).collect();
            counted.sort_by_key(|(node, n)| {
                (is_test_file(&node.file), !is_definition(node), Reverse(*n))
            });
            for (place, (node, _)) in few.iter_mut().zip(counted) {
                *place = node;
            }
        }
        let mut entries = Vec::new();
        for (about, nodes) in about.iter().zip(named) {
            call.check()?;
            let address = Address::parse(unmarked(about));
            let is_place = !about.contains(char::is_whitespace)
                && (address.lines.is_some()
                    || nodes.iter().any(|node| node.line == 0)
                    || address.symbol.is_some() && nodes.is_empty());
            if is_place {
                let path = Some(unmarked(about).into());
                let whole = address.lines.is_some() || address.symbol.is_some();
                let request = ReadRequest { path, whole, ..ReadRequest::default() };
                match self.read(&request, call) {
                    Ok(read) if whole || read.total_lines <= WHOLE_FILE => {
                        entries.push(Entry::Place(about.clone(), Box::new(read)));
                        continue;
                    }
                    _ => {}
                }
            }
            entries.push(if nodes.is_empty() || about.contains(char::is_whitespace) {
                Entry::Text(about.clone())
            } else {
                Entry::Symbols(about.clone(), nodes)
            });
        }
        Ok(entries)
    }
}

impl Subject {
    fn of(about: String) -> Self {
        Self { about, note: None, read: None, users: None, lines: None, others: Vec::new() }
    }
}

impl ExploreAnswer {
    /// Estimated bytes of everything that the code of a reply can have.
    #[must_use]
    pub fn top(&self) -> usize {
        self.selection.top()
    }

    /// Returns the answer with about `n_bytes` of code, `n_rows` rows of users of each symbol, and the
    /// places of `n_left_out` regions that are not shown.
    #[must_use]
    pub fn at(&self, n_bytes: usize, n_rows: usize, n_left_out: usize) -> Self {
        let (files, left_out) = self.selection.at(n_bytes, n_left_out);
        let shown = |file: FileExcerpts| ShownFile {
            path: file.path.to_string(),
            excerpts: file.excerpts.into_iter().map(ExcerptRow::from).collect(),
        };
        let node = |LeftOut { path, label, lines }: LeftOut| GraphNode {
            path: path.to_string(),
            line: lines.0,
            end_line: lines.1,
            symbol: label.name,
            kind: label.kind,
        };
        let mut answer = Self {
            code: files.into_iter().map(shown).collect(),
            more: left_out.into_iter().map(node).collect(),
            ..self.clone()
        };
        for subject in &mut answer.subjects {
            subject.users = subject.users.as_ref().map(|users| {
                let mut users = users.first(n_rows);
                // The lines say more than their numbers by file.
                if users.unresolved.len() == users.total_unresolved {
                    users.unresolved_in.clear();
                }
                Box::new(users)
            });
            if let Some(TextLines { lines, .. }) = &mut subject.lines {
                lines.truncate(n_rows);
            }
        }
        answer
    }
}

/// Notes the lines of a place, which the reply has before the code.
fn give_read(candidates: &mut Candidates, subject: &Subject) {
    let Some(read @ ReadPlace { path: Some(path), .. }) = &subject.read else { return };
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    for range in read.ranges() {
        candidates.give(path, (number(range.start_line), number(range.end_line)));
    }
}

/// Adds the code around the uses of a named symbol, if they are few.
fn add_uses(candidates: &mut Candidates, chunks: &ChunkSet, subject: &Subject) {
    let Some(users) = subject.users.as_ref().filter(|u| u.total_users <= FEW_USERS) else { return };
    let confidence = OF_USER / (users.total_users.max(1) as f64).sqrt();
    let direct = users.results.iter().filter(|user| user.depth == 1 && !user.test);
    for user in direct {
        let path: Arc<str> = user.used_in.as_str().into();
        for site in &user.sites {
            let symbol = (user.node.line, user.node.end_line);
            add_around(candidates, chunks, &path, *site, symbol);
            candidates.want(&path, *site, confidence);
        }
    }
}

/// Adds the neighbours of the seeds from a rank on, as far as they are sure.
fn link(candidates: &mut Candidates, chunks: &ChunkSet, first: usize, around: Vec<Option<Around>>) {
    let mut links: Vec<(Node, u32, Link, usize, f32)> = Vec::new();
    for (rank, around) in (first..).zip(around) {
        let Some(Around { users, tests, calls, .. }) = around else { continue };
        let sure = |found: &Neighbour| found.confidence >= LEAST_CONFIDENCE;
        for user in users.into_iter().chain(tests).filter(sure).take(MAX_NEIGHBOURS) {
            let line = user.sites.first().copied().unwrap_or(user.node.line);
            links.push((user.node, line, Link::Caller, rank, user.confidence));
        }
        for callee in calls.into_iter().filter(sure).take(MAX_NEIGHBOURS) {
            let line = callee.node.line;
            links.push((callee.node, line, Link::Callee, rank, callee.confidence));
        }
    }
    for (node, line, ..) in &links {
        if !candidates.holds(&node.file, *line) {
            let symbol = (node.line, node.end_line);
            add_around(candidates, chunks, &node.file.as_str().into(), *line, symbol);
        }
    }
    candidates.compare();
    for (node, line, link, rank, confidence) in links {
        candidates.link(&node.file, line, link, rank, f64::from(confidence));
    }
}

/// Adds the chunks of the symbol around a line of a file; those of the line alone if no symbol is
/// around it.
fn add_around(
    candidates: &mut Candidates,
    chunks: &ChunkSet,
    path: &Arc<str>,
    line: u32,
    symbol: (u32, u32),
) {
    let lines = if symbol.0 > 0 { symbol } else { (line, line) };
    candidates.add(path, chunks_at(chunks, path, lines));
}

/// Returns the chunks of a file that hold some of these lines.
fn chunks_at(chunks: &ChunkSet, path: &str, (first, last): (u32, u32)) -> Vec<Arc<Chunk>> {
    let holds = |chunk: &Arc<Chunk>| {
        let m = &chunk.metadata;
        let lines = m.start_line.zip(m.end_line);
        chunk.chunk_type != ChunkType::Symbols
            && !chunk.repeats_values()
            && lines.is_some_and(|(start, end)| start <= last && first <= end)
    };
    chunks.read_file(path).into_iter().filter(holds).collect()
}

/// Returns an entry without the signs that mark it as code.
fn unmarked(about: &str) -> &str {
    unquoted(about).trim_end_matches("()").trim_end_matches('(')
}

/// Whether an entry is about tests.
fn asks_for_tests(about: &[String]) -> bool {
    let is_test = |word: String| matches!(&*word, "test" | "tests" | "testing" | "spec");
    about.iter().flat_map(|entry| search_words(entry)).any(is_test)
}

/// Whether an entry asks for what depends on something, beyond its users.
fn asks_who_is_affected(about: &str) -> bool {
    let about = about.to_lowercase();
    ["affect", "impact", "depend"].iter().any(|word| about.contains(word))
}

/// Returns how the graph finds a node again.
fn address(node: &Node) -> String {
    if node.line == 0 { node.file.clone() } else { format!("{}:{}", node.file, node.line) }
}

/// Whether a symbol is more than a value, such as a field or a constant.
fn is_definition(node: &Node) -> bool {
    !matches!(&*node.kind, "constant" | "variable" | "field" | "property")
}
