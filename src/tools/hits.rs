//! Writes results as text: a heading for each place, and its lines below.

use super::reply::{Look, printable};
use crate::engine::{ChunkRow, ExcerptRow, NamedFacts, ResultRow};
use crate::text::{MAX_LINE, count, cut};

/// Formats a place as `src/a.rs:3-9  method Type::name`. A chunk without a file shows its id
/// instead of a path.
pub(super) fn place(look: &dyn Look, chunk: &ChunkRow, path: Option<&str>) -> String {
    let lines = lines(chunk.start_line, chunk.end_line).unwrap_or_default();
    let kind = chunk.kind.as_deref().unwrap_or_default();
    let what = chunk.symbol.as_deref().or(chunk.title.as_deref()).unwrap_or_default();
    let place = look.lines(path.unwrap_or(&chunk.chunk_id), &lines);
    let name = look.name(format!("{kind} {what}").trim());
    look.row(format!("{place}  {name}").trim_end().to_string() + &chunk.marks())
}

/// Formats lines as `3-9` or `3`.
pub(super) fn lines(first: Option<u32>, last: Option<u32>) -> Option<String> {
    let first = first?;
    Some(
        last.filter(|l| *l != first)
            .map_or_else(|| first.to_string(), |last| format!("{first}-{last}")),
    )
}

/// Returns the text of a result.
pub(crate) fn row_lines(look: &dyn Look, row: &ResultRow) -> Vec<String> {
    let mut out = Vec::new();
    let path = row.address();
    for (i, excerpt) in row.excerpts.iter().enumerate() {
        let marks = if i == 0 { row.chunk.marks() } else { String::new() };
        if let Some((number, text)) = excerpt.only_line().filter(|_| row.excerpts.len() == 1) {
            let place = look.at(&path, number);
            out.push(look.row(format!("{place}{marks}  {}", look.found_in(text.trim()))));
            continue;
        }
        let named = named_line(row);
        let last = named.unwrap_or(excerpt.end_line);
        let lines =
            lines(Some(named.unwrap_or(excerpt.start_line)), Some(last)).unwrap_or_default();
        // The path already has the name of the file.
        let is_name = |title: &&str| i == 0 && !path.ends_with(*title);
        let title = row.chunk.title.as_deref().filter(is_name).unwrap_or_default();
        let symbol = if excerpt.symbol.is_empty() { title } else { &excerpt.symbol };
        let what = format!("{} {symbol}", excerpt.kind);
        let heading = format!("{}{marks}  {}", look.lines(&path, &lines), look.name(what.trim()));
        out.push(look.row(heading.trim_end().to_string()));
        out.extend(
            row.hit.note.as_ref().map(|note| look.aside(&format!("   {}", printable(note)))),
        );
        out.extend(code(look, row, excerpt));
        out.extend(excerpt.beside.as_deref().map(printable));
    }
    if row.excerpts.is_empty() {
        out.push(place(look, &row.chunk, Some(&path)));
    }
    if !row.explain.is_empty() {
        out.push(format!("   score {:.3}", row.score));
        out.extend(row.explain.iter().map(|p| {
            format!("   {:>8.3} = {:.3} × {:+.2} {}", p.contribution, p.value, p.weight, p.feature)
        }));
    }
    out.extend(
        row.changed_by.as_ref().map(|c| look.aside(&format!("  in its history {}", printable(c)))),
    );
    out
}

/// Says what a definition consists of and how much uses it, in at most two lines of this width.
pub(crate) fn facts_lines(look: &dyn Look, facts: &NamedFacts, width: usize) -> Vec<String> {
    let members: Vec<String> =
        facts.members.iter().map(|(name, line)| format!("{} {line}", printable(name))).collect();
    let folders = facts.most_in.iter().map(|(name, n)| format!("{} {n}", printable(name)));
    let mut lines = Vec::new();
    if !members.is_empty() {
        lines.push(joined("   methods  ", &members, " · ", width));
    }
    // Whose member a line means is not known.
    if !facts.uses.is_empty() {
        let of_file = |(path, lines): &(String, Vec<u32>)| {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!("{}:{}", printable(path), lines.join(","))
        };
        let uses: Vec<String> = facts.uses.iter().map(of_file).collect();
        let start = if facts.is_member { "   the word is on " } else { "   used     " };
        lines.push(joined(start, &uses, " · ", width));
    } else if facts.n_uses > 0 {
        let (in_lines, in_files) = (count(facts.n_uses, "line"), count(facts.n_files, "file"));
        let uses = if facts.is_member {
            format!("   the word is on {in_lines} in {in_files}")
        } else {
            format!("   used     {in_lines} in {in_files}")
        };
        let folders: Vec<String> = folders.collect();
        lines.push(match folders.len() {
            0 | 1 => uses,
            _ => joined(&format!("{uses}, most in "), &folders, ", ", width),
        });
    }
    lines.into_iter().map(|line| look.aside(&line)).collect()
}

/// Joins as many items as a line of this width has room for, and counts the others.
pub(crate) fn joined(start: &str, items: &[String], between: &str, width: usize) -> String {
    let mut text = start.to_string();
    for (i, item) in items.iter().enumerate() {
        let next = if i == 0 { item.clone() } else { format!("{between}{item}") };
        let left = items.len() - i;
        let rest = if left > 1 { format!(" … {left} more") } else { String::new() };
        if i > 0 && (text.chars().count() + next.chars().count() + rest.chars().count()) > width {
            return format!("{text} … {left} more");
        }
        text += &next;
    }
    text
}

/// Returns the line that the question names, unless a definition begins there.
fn named_line(row: &ResultRow) -> Option<u32> {
    row.hit.line.filter(|_| row.hit.definition.is_none())
}

/// Returns the shown lines of an excerpt with their numbers, and a mark for those that are left out
/// between them. The line that the question names is marked.
fn code(look: &dyn Look, row: &ResultRow, excerpt: &ExcerptRow) -> Vec<String> {
    let named = named_line(row);
    let mut out = Vec::new();
    for window in &excerpt.windows {
        if !out.is_empty() {
            out.push(look.aside("    ⋯"));
        }
        for (number, text) in (window.start_line..).zip(window.text.split('\n')) {
            let (at, text) = (number as usize, cut(text, MAX_LINE));
            let is_named = named == Some(number);
            out.push(if is_named { look.marked(at, &text) } else { look.numbered(at, &text) });
        }
    }
    out
}
