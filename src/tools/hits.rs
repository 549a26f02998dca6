//! Writes results as text: a heading for each place, and its lines below.

use super::reply::{printable, quoted, shown_place};
use crate::engine::{ChunkRow, ExcerptRow, ResultRow, Window};
use crate::text::{MAX_LINE, cut};

/// Formats a place as `src/a.rs:3-9  method Type::name`. A chunk without a file shows its id
/// instead of a path.
pub(super) fn place(chunk: &ChunkRow, path: Option<&str>) -> String {
    let lines =
        lines(chunk.start_line, chunk.end_line).map(|l| format!(":{l}")).unwrap_or_default();
    let kind = chunk.kind.as_deref().unwrap_or_default();
    let what = chunk.symbol.as_deref().or(chunk.title.as_deref()).unwrap_or_default();
    heading(&format!("{}{lines}", path.unwrap_or(&chunk.chunk_id)), kind, what) + &chunk.marks()
}

fn heading(place: &str, kind: &str, name: &str) -> String {
    let what = format!("{kind} {name}");
    format!("{}  {}", shown_place(place), printable(what.trim())).trim_end().to_string()
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
pub(super) fn row_lines(row: &ResultRow) -> Vec<String> {
    let mut out = Vec::new();
    let path = row.address();
    for (i, excerpt) in row.excerpts.iter().enumerate() {
        // The second excerpt of a file needs no path.
        let path = if i == 0 { &*path } else { "" };
        let lines = lines(Some(excerpt.start_line), Some(excerpt.end_line)).unwrap_or_default();
        let heading = heading(&format!("{path}:{lines}"), &excerpt.kind, &excerpt.symbol);
        let marks = if i == 0 { row.chunk.marks() } else { String::new() };
        out.push(heading + &marks + &shown_lines(excerpt));
        out.extend(code(excerpt));
        out.extend(excerpt.beside.as_deref().map(printable));
    }
    if row.excerpts.is_empty() {
        out.push(place(&row.chunk, Some(&path)));
    }
    if !row.explain.is_empty() {
        let parts: Vec<String> = row
            .explain
            .iter()
            .map(|p| format!("{} {:.3}×{}", p.feature, p.value, p.weight))
            .collect();
        out.push(format!("  score {:.3} = {}", row.score, parts.join(" + ")));
    }
    out.extend(row.changed_by.as_ref().map(|c| format!("  changed by {}", printable(c))));
    out
}

/// Names the lines that are shown of a place, if they are not all.
fn shown_lines(excerpt: &ExcerptRow) -> String {
    if excerpt.is_whole() {
        return String::new();
    }
    format!(" ({})", ranges(&excerpt.windows))
}

/// Formats the lines of windows as `3-9, 12`.
pub(super) fn ranges(windows: &[Window]) -> String {
    let shown = windows.iter().filter_map(|w| lines(Some(w.start_line), Some(w.end_line())));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns the lines of a excerpt that say something, with a mark between its windows.
fn code(excerpt: &ExcerptRow) -> Vec<String> {
    let mut out = Vec::new();
    for window in excerpt.windows() {
        if !out.is_empty() {
            out.push(" …".to_string());
        }
        out.extend(window.iter().map(|(_, line)| quoted(&cut(line, MAX_LINE))));
    }
    out
}
