//! `cortex_explore`: the code of several subjects with its users, tests and calls, in one reply.

use super::budget::TokenBudget;
use super::graph::unresolved;
use super::hits::{lines as lines_of, ranges};
use super::reply::{Reply, printable, quoted, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, ExploreAnswer, ExploreRequest, Explored, GraphNode,
    Subject, UseRow, Way,
};
use crate::text::{MAX_LINE, count, cut};

/// The limit of a reply if the caller gives none.
const TOKENS: usize = 3000;
/// Rows of each part of a place in the first round; the second round has room for all.
const FEW_USERS: usize = 8;
const FEW_TESTS: usize = 4;
/// Most names in a line of names.
const MAX_NAMES: usize = 15;

impl Question for ExploreRequest {
    const NAME: &'static str = "cortex_explore";
    const TITLE: &'static str = "Explore code with what is around it";
    const WHEN: &'static str = "several questions, names and places at once. Start here.";
    const DESCRIPTION: &'static str = "Answer everything you want to know of now in one call: pass questions, names of symbols, places and files together. Of each you get the code, what uses it with the line of the use, the tests with the command that runs them, and what it calls; of two symbols also how one reaches the other. Use it before cortex_grep, cortex_read and cortex_graph.";
    const TOKENS: usize = TOKENS;
    type Reply = ExploreAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ExploreAnswer, AskError> {
        Ok(fitted(&engine.explore(&self, call)?, budget))
    }
}

/// A part of the reply.
#[derive(Debug, Clone, Copy)]
enum Part {
    Place,
    Code,
    Users(usize),
    /// The lines after each use.
    Context,
    Tests(usize),
    Calls,
    Unresolved,
    Farther,
    Others,
}

/// What is shown of each place at first, and what follows if there is room.
const PARTS: [Part; 10] = [
    Part::Code,
    Part::Users(FEW_USERS),
    Part::Tests(FEW_TESTS),
    Part::Calls,
    Part::Unresolved,
    Part::Others,
    Part::Users(usize::MAX),
    Part::Tests(usize::MAX),
    Part::Farther,
    Part::Context,
];

/// Returns as much of an answer as fits: the best place of each subject first. A part that does not
/// fit is left out, and a smaller one takes its room.
fn fitted(answer: &ExploreAnswer, budget: TokenBudget) -> ExploreAnswer {
    let fits = |reply: &ExploreAnswer| budget.cost(reply) <= budget.limit();
    if fits(answer) {
        return answer.clone();
    }
    let bare =
        |subject: &Subject| Subject { places: Vec::new(), others: Vec::new(), ..subject.clone() };
    let mut reply =
        ExploreAnswer { subjects: answer.subjects.iter().map(bare).collect(), ..answer.clone() };
    // A place of rank n comes with the parts n of those before it.
    let mut order: Vec<(usize, usize, usize, Part)> = Vec::new();
    for (s, subject) in answer.subjects.iter().enumerate() {
        for n in 0..subject.places.len() {
            order.push((n, s, n, Part::Place));
            order.extend(PARTS.iter().enumerate().map(|(i, part)| (n + i, s, n, *part)));
        }
    }
    order.sort_by_key(|(stage, s, n, _)| (*stage, *n, *s));
    for (_, s, n, part) in order {
        let mut next = reply.clone();
        add(&mut next.subjects[s], &answer.subjects[s], n, part);
        if fits(&next) || matches!((n, part), (0, Part::Place)) {
            reply = next;
        }
    }
    reply
}

/// Adds a part of a place to the subject of a reply.
fn add(to: &mut Subject, from: &Subject, n: usize, part: Part) {
    let all = &from.places[n];
    let Some(place) = to.places.iter_mut().find(|place| place.node == all.node) else {
        match part {
            Part::Place => to.places.push(all.without_parts()),
            Part::Others => to.others.clone_from(&from.others),
            _ => {}
        }
        return;
    };
    match part {
        Part::Place => {}
        Part::Others => to.others.clone_from(&from.others),
        Part::Code => {
            place.code.clone_from(&all.code);
            place.members.clone_from(&all.members);
        }
        Part::Users(n) => {
            place.users = all.users.iter().take(n).cloned().map(UseRow::without_context).collect();
            place.derived.clone_from(&all.derived);
        }
        Part::Tests(n) => {
            place.tests = all.tests.iter().take(n).cloned().collect();
            place.commands.clone_from(&all.commands);
        }
        Part::Calls => place.calls.clone_from(&all.calls),
        Part::Unresolved => place.unresolved.clone_from(&all.unresolved),
        Part::Context => place.users.clone_from(&all.users),
        Part::Farther => place.farther.clone_from(&all.farther),
    }
}

impl Reply for ExploreAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut text: Vec<String> = self.ways.iter().map(way).collect();
        for subject in &self.subjects {
            if self.subjects.len() > 1 {
                text.push(format!("about {}:", printable(&cut(&subject.about, 80))));
            }
            text.extend(subject.note.as_deref().map(printable));
            text.extend(subject.places.iter().flat_map(place));
            if !subject.others.is_empty() {
                text.push(format!("also: {}", by_file(&subject.others)));
            }
        }
        text
    }
}

fn way(way: &Way) -> String {
    format!("way: {}", way.steps.iter().map(in_short).collect::<Vec<_>>().join(" → "))
}

/// Names a symbol and its place.
fn in_short(node: &GraphNode) -> String {
    let symbol = if node.symbol == node.path { String::new() } else { printable(&node.symbol) };
    format!("{symbol} ({})", shown_place(&format!("{}:{}", node.path, node.line.max(1))))
        .trim_start()
        .to_string()
}

/// Names symbols with their lines, by file.
fn by_file(nodes: &[GraphNode]) -> String {
    let shown = &nodes[..nodes.len().min(MAX_NAMES)];
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for node in shown {
        let name = format!("{} {}", printable(&node.symbol), node.line);
        match files.iter_mut().find(|(path, _)| *path == node.path) {
            Some((_, names)) => names.push(name),
            None => files.push((&node.path, vec![name])),
        }
    }
    let file = |(path, names): &(&str, Vec<String>)| {
        format!("{}: {}", shown_place(path), names.join(", "))
    };
    let all: Vec<String> = files.iter().map(file).collect();
    let more = nodes.len() - shown.len();
    all.join("; ") + &if more > 0 { format!("; {more} more") } else { String::new() }
}

fn place(place: &Explored) -> Vec<String> {
    let Explored { node, code, .. } = place;
    let at = lines_of(Some(node.line), Some(node.end_line)).filter(|_| node.line > 0);
    let at = at.map_or_else(|| node.path.clone(), |lines| format!("{}:{lines}", node.path));
    let what = if node.symbol == node.path { "" } else { &node.symbol };
    let what = format!("{} {}", node.kind, printable(what));
    let marks = match &code[..] {
        _ if !place.members.is_empty() => String::new(),
        [] if place.is_above => " (shown above)".into(),
        [] if node.line > 0 => " (without its code)".into(),
        [one] if one.start_line <= node.line && one.end_line() >= node.end_line => String::new(),
        windows => format!(" (lines {})", ranges(windows)),
    };
    let heading = format!("{}  {}", shown_place(&at), what.trim());
    let mut text = vec![heading.trim_end().to_string() + &marks];
    for (i, window) in code.iter().enumerate() {
        text.extend((i > 0).then(|| " …".to_string()));
        text.extend(code_lines(&window.text));
    }
    text.extend(place.members.iter().map(|member| {
        let indent = "  ".repeat(member.depth.min(5));
        quoted(&format!("{indent}{} {} {}", member.start_line, member.kind, member.name))
    }));
    if place.total_users > 0 {
        let cut = shown(place.users.len(), place.total_users);
        text.push(format!("used by {}{cut}:", place.total_users));
        text.extend(use_lines(&place.users));
    }
    if !place.farther.is_empty() {
        text.push(format!("through these, {}: {}", place.farther.len(), by_file(&place.farther)));
    }
    if place.total_tests > 0 {
        let cut = shown(place.tests.len(), place.total_tests);
        text.push(format!("tests {}{cut}:", place.total_tests));
        text.extend(test_lines(&place.tests));
    }
    text.extend(place.commands.iter().map(|command| format!("run: {}", printable(command))));
    if !place.derived.is_empty() {
        text.push(format!("derived: {}", by_file(&place.derived)));
    }
    if !place.calls.is_empty() {
        text.push(format!("calls {}", by_file(&place.calls)));
    }
    if place.total_unresolved > 0 {
        let n = place.total_unresolved;
        let cut = shown(place.unresolved.len(), n);
        text.push(format!("lines that use the name, of unknown meaning, {n}{cut}:"));
        text.extend(place.unresolved.iter().map(unresolved));
    }
    text
}

/// Returns the lines of a piece of code that are not blank.
fn code_lines(code: &str) -> impl Iterator<Item = String> {
    let lines = code.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| quoted(&cut(line, MAX_LINE)))
}

/// Says how many rows are shown, if not all are.
fn shown(n: usize, of: usize) -> String {
    match n {
        n if n >= of => String::new(),
        0 => ", none shown".into(),
        n => format!(", {} shown", count(n, "row")),
    }
}

/// Shows each use with its line. Of several in one file, the first has the path.
fn use_lines(rows: &[UseRow]) -> Vec<String> {
    let mut path = "";
    let mut text = Vec::new();
    for row in rows {
        let line = if row.line > 0 { format!(":{}", row.line) } else { String::new() };
        let place = if row.path == path { line } else { shown_place(&(row.path.clone() + &line)) };
        path = &row.path;
        let more: Vec<String> = row.more.iter().take(MAX_NAMES).map(u32::to_string).collect();
        let more =
            if more.is_empty() { String::new() } else { format!(" (also {})", more.join(", ")) };
        let unsure = if row.unsure { " may be" } else { "" };
        // The lines hold the text.
        let own = row.context.as_ref().map_or_else(|| quoted(&row.text), |_| String::new());
        text.push(format!("{place}{}{more}{unsure}:{own}", named(row)));
        text.extend(row.context.iter().flat_map(|context| code_lines(context)));
    }
    text
}

/// Shows tests by file, those with the same reason together.
fn test_lines(rows: &[UseRow]) -> Vec<String> {
    let with = |row: &UseRow| {
        let line = if row.line > 0 { format!(" {}", row.line) } else { String::new() };
        line + &named(row)
    };
    let same = |a: &UseRow, b: &UseRow| a.path == b.path && a.text == b.text;
    let line = |group: &[UseRow]| {
        let names: Vec<String> = group.iter().map(with).filter(|name| !name.is_empty()).collect();
        let names = names.join(",");
        format!("{}{names}:{}", shown_place(&group[0].path), quoted(&group[0].text))
    };
    rows.chunk_by(same).map(line).collect()
}

fn named(row: &UseRow) -> String {
    if row.symbol == row.path { String::new() } else { format!(" {}", printable(&row.symbol)) }
}
