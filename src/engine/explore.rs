//! Answers in one call what otherwise takes several: the code of what a caller names or asks for,
//! and what the code graph knows around it.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::graph::{GraphNode, GraphRequest, NameUse};
use super::outline::{OutlineRequest, OutlineSymbol, Outlined};
use super::read::ReadRequest;
use super::rows::{ExcerptRow, Window};
use super::search::SearchRequest;
use super::serving::Engine;
use super::{AskError, Call, is_zero};
use crate::address::Address;
use crate::chunk::ChunkType;
use crate::graph::{Around, Depth, GraphQuery, LEAST_CONFIDENCE, Neighbour, Node, Operation};
use crate::languages::is_test_file;
use crate::text::{count, cut};

/// Most subjects of one request.
const MAX_SUBJECTS: usize = 8;
/// Most symbols of one name that are shown; the others are named.
const MAX_OF_NAME: usize = 3;
/// Most symbols of one name that are compared.
const MAX_LOOKED_AT: usize = 8;
/// If a name has more symbols, only the most used one is shown with its code.
const MAX_WITH_CODE: usize = 2;
/// Most places that are shown for a question.
const MAX_OF_QUESTION: usize = 5;
/// A symbol of up to this many lines is shown whole, and this many lines of a longer function.
const WHOLE: u32 = 150;
const HEAD: u32 = 60;
/// A type of more lines is shown by its members.
const WHOLE_TYPE: u32 = 60;
/// Most lines of comments and attributes that are shown above a definition.
const MAX_ABOVE: u32 = 6;
/// Most lines of a longer function that are shown for a question.
const OF_LONG: usize = 30;
/// Most lines of a document that are shown for a question.
const OF_DOCUMENT: usize = 12;
/// Most users of a symbol, and most tests, that an answer holds.
const MAX_USERS: usize = 60;
const MAX_TESTS: usize = 20;
/// Most users of which the lines after the use are given, and the number of these lines.
const MAX_WITH_CONTEXT: usize = 12;
const AFTER_USE: u32 = 4;
/// Most users that the graph is not sure of.
const MAX_UNSURE: usize = 6;
/// Most further uses of a name whose meaning is unknown.
const MAX_UNRESOLVED: usize = 10;
const MAX_BESIDE: usize = 5;
/// Number of steps to farther users, and most of those that are looked at.
const FAR: usize = 3;
const MAX_FAR: usize = 200;
/// Most lines that a call goes on after its first.
const MAX_OF_CALL: u32 = 8;
/// Most characters of the code beside a use.
const MAX_LINE: usize = 160;

/// The arguments of an exploration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ExploreRequest {
    /// Up to 8 questions, names (`retry`, `Type::method`), places (`src/a.rs:10-40`) or files.
    pub about: Vec<String>,
}

/// What was found about each subject.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExploreAnswer {
    /// In the order of the request.
    pub subjects: Vec<Subject>,
    /// How the named symbols reach each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub ways: Vec<Way>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// One subject of the request, with the places that answer it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Subject {
    /// The subject as it was written.
    pub about: String,
    /// Best first.
    pub places: Vec<Explored>,
    /// Further places, or symbols of the same name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub others: Vec<GraphNode>,
    /// Why the subject is answered in another way than it was written, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A symbol, a file or a part of one, with what is around it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Explored {
    /// Its `line` is the first line that belongs to it.
    #[serde(flatten)]
    pub node: GraphNode,
    /// Whether it answers a question, and is not what a subject names.
    #[serde(skip)]
    is_answer: bool,
    /// Whether an earlier subject shows it.
    #[serde(skip)]
    pub is_above: bool,
    /// Its code: adjacent lines, in order.
    pub code: Vec<Window>,
    /// The members of a long type, or the symbols of a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub members: Vec<OutlineSymbol>,
    /// What calls or uses it, except tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub users: Vec<UseRow>,
    /// Number of all users.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_users: usize,
    /// What depends on it through its users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub farther: Vec<GraphNode>,
    /// The tests that reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub tests: Vec<UseRow>,
    /// Number of all tests.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_tests: usize,
    /// The commands that run the tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub commands: Vec<String>,
    /// What a function calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub calls: Vec<GraphNode>,
    /// Subtypes and implementations, or overrides of a method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub derived: Vec<GraphNode>,
    /// Lines that use its name and whose meaning is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub unresolved: Vec<NameUse>,
    /// Number of such lines.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_unresolved: usize,
}

/// A symbol that uses another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UseRow {
    /// Relative to the root.
    pub path: String,
    /// Line of the first use; of a test that does not use it itself, of its definition.
    pub line: u32,
    /// The symbol around the use.
    pub symbol: String,
    /// Text of that line, or why a test is listed.
    pub text: String,
    /// The use with the lines after it, if there are few users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Lines of the other uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub more: Vec<u32>,
    /// Whether the graph is not sure of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
}

/// A chain of uses from one subject to another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Way {
    /// From the first to the last; `line` is that of the definition.
    pub steps: Vec<GraphNode>,
}

impl Engine {
    /// Explores each subject: the code that it names or that answers it, with its users, tests and
    /// calls.
    ///
    /// # Errors
    /// When the request names nothing or too much, or the index cannot be read.
    pub fn explore(
        &self,
        request: &ExploreRequest,
        call: &Call,
    ) -> Result<ExploreAnswer, AskError> {
        let about: Vec<&str> =
            request.about.iter().map(|about| about.trim()).filter(|a| !a.is_empty()).collect();
        if about.is_empty() || about.len() > MAX_SUBJECTS {
            return Err(AskError::Arguments(format!(
                "about has {}: give from 1 to {MAX_SUBJECTS} questions, names, places or files",
                count(about.len(), "entry")
            )));
        }
        let mut state = self.state(call)?;
        // The first question has waited as the call asks.
        let after = &Call { wait: super::Wait::default(), warnings: Vec::new(), ..call.clone() };
        let targets: Vec<String> =
            about.iter().map(|about| self.graph_target(about, after)).collect();
        let work = call.work();
        let (mut named, has_graph) =
            match self.ask_graph(call, |graph| graph.named(&targets, &work)) {
                Ok((named, _)) => (named, true),
                Err(AskError::NotYet(why)) => {
                    state.warnings.push(why);
                    (vec![Vec::new(); about.len()], false)
                }
                Err(other) => return Err(other),
            };
        for nodes in &mut named {
            self.project.drop_gone(nodes);
        }
        let known = self.known(&named, after)?;
        let mut subjects = Vec::new();
        for ((about, nodes), symbols) in about.iter().zip(&named).zip(&known) {
            call.check()?;
            subjects.push(self.subject(about, nodes, symbols, after)?);
        }
        show_once(&mut subjects);
        let mut ways = Vec::new();
        if has_graph {
            self.surround_answers(&mut subjects, after)?;
            ways = self.ways(&known, after)?;
        }
        Ok(ExploreAnswer { subjects, ways, state: state.in_brief(call) })
    }

    /// Returns what the graph knows of the symbols of each name, those that most others use first.
    fn known(&self, named: &[Vec<Node>], call: &Call) -> Result<Vec<Vec<Around>>, AskError> {
        let work = call.work();
        let mut known = Vec::new();
        for nodes in named {
            let mut nodes: Vec<&Node> = nodes.iter().collect();
            nodes.sort_by_key(|node| (is_test_file(&node.file), !is_definition(node)));
            let targets: Vec<String> =
                nodes.iter().take(MAX_LOOKED_AT).map(|node| address(node)).collect();
            let (around, _) = match targets.len() {
                0 => (Vec::new(), true),
                _ => self.ask_graph(call, |graph| graph.around(&targets, Depth::Full, &work))?,
            };
            let mut around: Vec<Around> = around.into_iter().flatten().collect();
            around.sort_by_key(|of| {
                let n_users = of.users.len() + of.tests.len();
                (is_test_file(&of.node.file), !is_definition(&of.node), Reverse(n_users))
            });
            known.push(around);
        }
        Ok(known)
    }

    /// Finds the places of a subject. `nodes` are the symbols and files that it names, and `symbols`
    /// is what the graph knows of them.
    fn subject(
        &self,
        about: &str,
        nodes: &[Node],
        symbols: &[Around],
        call: &Call,
    ) -> Result<Subject, AskError> {
        if !symbols.is_empty() {
            let subject = self.of_name(about, symbols, call)?;
            let is_shown = |node: &Node| symbols.iter().take(MAX_OF_NAME).any(|s| s.node == *node);
            let others = nodes.iter().filter(|node| !is_shown(node)).map(GraphNode::new).collect();
            return Ok(Subject { others, ..subject });
        }
        if !about.contains(char::is_whitespace) {
            let request = ReadRequest { path: Some(about.into()), ..ReadRequest::default() };
            if let Ok(read) = self.read(&request, call) {
                let first = as_line(read.start_line);
                let node = GraphNode {
                    path: read.path.clone().unwrap_or_default(),
                    line: first,
                    end_line: as_line(read.end_line),
                    symbol: String::new(),
                    kind: String::new(),
                };
                let code = vec![Window { start_line: first, text: read.content }];
                let places = vec![Explored { code, ..Explored::of(node) }];
                let note = read.state.warnings.first().cloned();
                return Ok(Subject { about: about.into(), places, note, ..Subject::default() });
            }
        }
        self.of_question(about, call)
    }

    /// Shows the symbols of a name with all that is known around the first.
    fn of_name(&self, about: &str, symbols: &[Around], call: &Call) -> Result<Subject, AskError> {
        let asked = Address::parse(about).lines.filter(|(first, last)| last > first);
        let mut places = Vec::new();
        for (n, around) in symbols.iter().take(MAX_OF_NAME).enumerate() {
            let mut place = self.explored(&around.node, asked, call);
            if asked.is_some() {
                places.push(place);
                continue;
            }
            self.surround(&mut place, around);
            if n > 0 || place.total_users > MAX_WITH_CONTEXT {
                place.drop_context();
            }
            if n == 0 {
                self.add_unresolved(&mut place, &around.node, call)?;
                self.add_tests(&mut place, &around.node, call)?;
                self.add_farther(&mut place, &around.node, call)?;
            } else if symbols.len() > MAX_WITH_CODE {
                place.code.clear();
                place.members.clear();
            }
            places.push(place);
        }
        Ok(Subject { about: about.into(), places, ..Subject::default() })
    }

    /// Shows a symbol: whole, or the head of a long function, or the members of a long type.
    fn explored(&self, node: &Node, asked: Option<(u32, u32)>, call: &Call) -> Explored {
        let mut row = Explored::of(GraphNode::new(node));
        if let Some((first, last)) = asked {
            (row.node.line, row.node.end_line) = (first, last);
            row.code = self.lines_of(&node.file, first, last);
            return row;
        }
        if node.line > 0 {
            row.node.line = node.start_line.max(node.line.saturating_sub(MAX_ABOVE));
        }
        let n_lines = node.end_line.saturating_sub(node.line);
        let is_long_type = !node.is_function() && n_lines > WHOLE_TYPE;
        if node.line == 0 || is_long_type {
            let address = if node.line == 0 {
                node.file.clone()
            } else {
                format!("{}#{}", node.file, node.symbol)
            };
            if let Ok(answer) = self.outline(&OutlineRequest { path: address }, call)
                && let Outlined::File(members) = answer.outline
            {
                row.members = members;
            }
        }
        let last = match n_lines {
            _ if node.line == 0 => return row,
            _ if is_long_type && !row.members.is_empty() => node.line,
            n if n <= WHOLE => node.end_line,
            _ => node.line + HEAD,
        };
        row.code = self.lines_of(&node.file, row.node.line, last);
        row
    }

    /// Shows the places that answer a question best.
    fn of_question(&self, about: &str, call: &Call) -> Result<Subject, AskError> {
        let request = SearchRequest {
            query: about.into(),
            limit: super::search::default_limit(),
            ..SearchRequest::default()
        };
        let found = self.search(&request, call)?;
        let mut places: Vec<Explored> = Vec::new();
        let mut others = Vec::new();
        for (i, result) in found.results.iter().enumerate() {
            let best = |n| found.excerpts.best(i, n).map(ExcerptRow::from);
            let Some((path, excerpt)) = result.path.clone().zip(best(usize::MAX)) else { continue };
            let node = GraphNode {
                path,
                line: excerpt.start_line,
                end_line: excerpt.end_line,
                symbol: excerpt.symbol.clone(),
                kind: excerpt.kind.clone(),
            };
            if places.len() == MAX_OF_QUESTION {
                others.push(node);
                continue;
            }
            let is_long = excerpt.end_line.saturating_sub(excerpt.start_line) > WHOLE_TYPE;
            let is_code = result.chunk.chunk_type != ChunkType::Documentation.as_str();
            let shown = match is_code {
                false => best(OF_DOCUMENT).unwrap_or(excerpt),
                true if is_long => best(OF_LONG).unwrap_or(excerpt),
                true => excerpt,
            };
            let code = shown.windows;
            places.push(Explored { code, is_answer: true, ..Explored::of(node) });
        }
        let nothing = places.is_empty().then(|| "nothing found".to_string());
        let note = nothing.or_else(|| found.notes.first().cloned());
        Ok(Subject { about: about.into(), places, others, note })
    }

    /// Returns lines of a file as one window; none if it cannot be read.
    fn lines_of(&self, path: &str, first: u32, last: u32) -> Vec<Window> {
        let text = self.project.read_text(path).unwrap_or_default();
        let first = first.max(1);
        let window = lines(&text, first, last).map(|text| Window { start_line: first, text });
        window.into_iter().collect()
    }

    /// Adds what is one step away from the places that answer questions.
    fn surround_answers(&self, subjects: &mut [Subject], call: &Call) -> Result<(), AskError> {
        let places = subjects.iter_mut().flat_map(|subject| &mut subject.places);
        let mut places: Vec<&mut Explored> =
            places.filter(|place| place.is_answer && !place.is_above).collect();
        let work = call.work();
        let targets: Vec<String> =
            places.iter().map(|p| format!("{}:{}", p.node.path, p.node.line)).collect();
        let (around, _) =
            self.ask_graph(call, |graph| graph.around(&targets, Depth::Full, &work))?;
        for (place, around) in places.iter_mut().zip(around) {
            // Another symbol at this line is not the one that is shown.
            if let Some(around) = around.filter(|of| of.node.end_line == place.node.end_line) {
                self.surround(place, &around);
                place.drop_context();
            }
        }
        Ok(())
    }

    fn surround(&self, place: &mut Explored, around: &Around) {
        let mut texts = HashMap::new();
        let mut use_row =
            |(found, unsure): (&Neighbour, bool)| self.use_row(found, unsure, &mut texts);
        let sure = around.users.iter().map(|user| (user, false));
        let unsure = around.candidates.iter().take(MAX_UNSURE).map(|user| (user, true));
        place.total_users = around.users.len() + around.candidates.len();
        place.users = sure.chain(unsure).take(MAX_USERS).map(&mut use_row).collect();
        place.total_tests = around.tests.len();
        let is_unsure = |test: &Neighbour| test.confidence < LEAST_CONFIDENCE;
        let tests = around.tests.iter().take(MAX_TESTS).map(|test| (test, is_unsure(test)));
        place.tests = tests.map(use_row).map(UseRow::without_context).collect();
        let nodes = |all: &[Neighbour]| all.iter().map(|f| GraphNode::new(&f.node)).collect();
        (place.calls, place.derived) = (nodes(&around.calls), nodes(&around.derived));
    }

    /// Returns the row of a use. `texts` are the files that were read for other rows.
    fn use_row(
        &self,
        found: &Neighbour,
        unsure: bool,
        texts: &mut HashMap<String, String>,
    ) -> UseRow {
        let path = &found.node.file;
        let line = found.sites.first().copied().unwrap_or(found.node.line);
        let read = || self.project.read_text(path).unwrap_or_default();
        let text = texts.entry(path.clone()).or_insert_with(read);
        let call = lines(text, line, line + MAX_OF_CALL).unwrap_or_default();
        UseRow {
            path: path.clone(),
            line,
            symbol: found.node.symbol.clone(),
            text: cut(&statement(&call), MAX_LINE),
            context: lines(text, line, line + AFTER_USE),
            more: found.sites.iter().skip(1).copied().collect(),
            unsure,
        }
    }

    /// Adds the lines that use the name of a symbol and whose meaning is unknown.
    fn add_unresolved(&self, place: &mut Explored, of: &Node, call: &Call) -> Result<(), AskError> {
        let target = address(of);
        let query = GraphQuery {
            operation: Operation::Dependents,
            target: &target,
            to: None,
            depth: 1,
            limit: 1,
        };
        let work = call.work();
        let (found, _) = self.ask_graph(call, |graph| graph.answer(query, &work))?;
        let is_used = place.total_users + place.total_tests > 0;
        let most = if is_used { MAX_BESIDE } else { MAX_UNRESOLVED };
        let other = self.other_uses(&found.name_uses, &of.file, most, &work, call)?;
        (place.unresolved, place.total_unresolved) = (other.uses, other.total);
        Ok(())
    }

    /// Adds the tests that reach a symbol, also through others, and how to run them.
    fn add_tests(&self, place: &mut Explored, of: &Node, call: &Call) -> Result<(), AskError> {
        let request = GraphRequest {
            operation: Operation::Tests.as_str().into(),
            target: address(of),
            to: None,
            depth: None,
            context: 0,
            unresolved: false,
            public: false,
            limit: Some(MAX_TESTS),
        };
        let found = self.tests_of(&request.target, &request, call)?;
        let row = |row: &super::GraphRow| UseRow {
            path: row.node.path.clone(),
            line: row.sites.first().copied().unwrap_or(row.node.line),
            symbol: row.node.symbol.clone(),
            text: row.reason.clone().unwrap_or_default(),
            context: None,
            more: Vec::new(),
            unsure: false,
        };
        if !found.results.is_empty() {
            place.tests = found.results.iter().map(row).collect();
            place.total_tests = found.total;
            place.commands = found.commands;
        }
        Ok(())
    }

    /// Adds what depends on a symbol through its users.
    fn add_farther(&self, place: &mut Explored, of: &Node, call: &Call) -> Result<(), AskError> {
        let target = address(of);
        let query = GraphQuery {
            operation: Operation::Impact,
            target: &target,
            to: None,
            depth: FAR,
            limit: MAX_FAR,
        };
        let work = call.work();
        let (found, _) = self.ask_graph(call, |graph| graph.answer(query, &work))?;
        let far = found.results.iter().filter(|f| f.depth > 1 && !is_test_file(&f.node.file));
        place.farther = far.map(|f| GraphNode::new(&f.node)).collect();
        Ok(())
    }

    /// Finds how each named symbol reaches the next one, or is reached from it.
    fn ways(&self, known: &[Vec<Around>], call: &Call) -> Result<Vec<Way>, AskError> {
        let symbols: Vec<String> = known
            .iter()
            .filter_map(|symbols| symbols.first())
            .filter(|of| is_definition(&of.node) && of.node.line > 0)
            .map(|of| address(&of.node))
            .collect();
        let mut ways = Vec::new();
        for pair in symbols.windows(2) {
            for (from, to) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
                let query = GraphQuery {
                    operation: Operation::Path,
                    target: from,
                    to: Some(to),
                    depth: 1,
                    limit: 1,
                };
                let work = call.work();
                let (found, _) = self.ask_graph(call, |graph| graph.answer(query, &work))?;
                if found.results.len() > 1 {
                    let steps = found.results.iter().map(|f| GraphNode::new(&f.node)).collect();
                    ways.push(Way { steps });
                    break;
                }
            }
        }
        Ok(ways)
    }
}

impl Explored {
    /// Returns the place alone, with the numbers of what is around it.
    #[must_use]
    pub fn without_parts(&self) -> Self {
        Self {
            is_above: self.is_above,
            total_users: self.total_users,
            total_tests: self.total_tests,
            total_unresolved: self.total_unresolved,
            ..Self::of(self.node.clone())
        }
    }

    fn drop_context(&mut self) {
        self.users.iter_mut().for_each(|row| row.context = None);
    }

    fn of(node: GraphNode) -> Self {
        Self {
            node,
            is_answer: false,
            is_above: false,
            code: Vec::new(),
            members: Vec::new(),
            users: Vec::new(),
            total_users: 0,
            farther: Vec::new(),
            tests: Vec::new(),
            total_tests: 0,
            commands: Vec::new(),
            calls: Vec::new(),
            derived: Vec::new(),
            unresolved: Vec::new(),
            total_unresolved: 0,
        }
    }
}

impl UseRow {
    /// Returns the row with its line alone.
    #[must_use]
    pub fn without_context(self) -> Self {
        Self { context: None, ..self }
    }
}

/// Returns the lines `first..=last` of a text, as many as there are; `None` if there is none.
fn lines(text: &str, first: u32, last: u32) -> Option<String> {
    let first = first.max(1);
    let n = last.saturating_sub(first) as usize + 1;
    let lines: Vec<&str> = text.lines().skip(first as usize - 1).take(n).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the first line of a text, with those that follow while a parenthesis is open.
fn statement(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let gap = if joined.is_empty() || joined.ends_with('(') { "" } else { " " };
        joined = joined + gap + line.trim();
        if joined.matches('(').count() <= joined.matches(')').count() {
            break;
        }
    }
    joined
}

/// Leaves out the code of places that an earlier subject shows whole.
fn show_once(subjects: &mut [Subject]) {
    let mut shown: Vec<(String, u32)> = Vec::new();
    for place in subjects.iter_mut().flat_map(|subject| &mut subject.places) {
        let end = (place.node.path.clone(), place.node.end_line);
        let is_whole = matches!(&place.code[..], [one] if one.end_line() >= place.node.end_line);
        if place.node.line > 0 && shown.contains(&end) {
            place.is_above = true;
            place.code.clear();
        } else if is_whole {
            shown.push(end);
        }
    }
}

/// Returns how the graph finds a node again.
fn address(node: &Node) -> String {
    if node.line == 0 { node.file.clone() } else { format!("{}:{}", node.file, node.line) }
}

/// Whether a symbol is more than a value, such as a field or a constant.
fn is_definition(node: &Node) -> bool {
    !matches!(&*node.kind, "constant" | "variable" | "field" | "property")
}

fn as_line(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
