//! Cuts long ranges of lines at good places, and makes chunks of plain lines.

use super::draft::{Draft, LineIndex, MAX_BYTES, MIN_BYTES, file_name};
use crate::chunk::ChunkType;

/// Cuts the lines `first..=last` into ranges of [`MIN_BYTES`] to [`MAX_BYTES`], each before the
/// line of smallest `depth` (index = line − 1; `u16::MAX` marks a bad place). The ranges cover all
/// lines. A line is never cut here.
pub(super) fn split(lines: &LineIndex, depth: &[u16], first: u32, last: u32) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    let mut start = first;
    while start <= last {
        let rest = lines.bytes(start, last);
        if rest <= MAX_BYTES {
            out.push((start, last));
            break;
        }
        // Prefer even parts: 1 800 bytes become 900 + 900, not 1 700 + 100.
        let ideal = rest / rest.div_ceil(MAX_BYTES);
        let mut best: Option<(u16, usize, u32)> = None;
        for next in start + 1..=last {
            let size = lines.bytes(start, next - 1);
            if size > MAX_BYTES {
                break;
            }
            if size >= MIN_BYTES.min(ideal) {
                let d = depth.get(next as usize - 1).copied().unwrap_or(u16::MAX);
                let candidate = (d, size.abs_diff(ideal), next);
                best = Some(best.map_or(candidate, |b| b.min(candidate)));
            }
        }
        // No place gives a size within the limits, for example because of one long line.
        let next = best.map_or_else(|| longest_fit(lines, start, last), |(_, _, next)| next);
        out.push((start, next - 1));
        start = next;
    }
    out
}

/// Returns the line after the most lines from `start` that fit, at least one.
fn longest_fit(lines: &LineIndex, start: u32, last: u32) -> u32 {
    let mut next = start + 1;
    while next <= last && lines.bytes(start, next) <= MAX_BYTES {
        next += 1;
    }
    next
}

/// Returns, for each line, how good it is to cut before it without a syntax tree (smaller is
/// better): best is a line at the left margin after a blank line.
pub(super) fn depth_by_indentation(lines: &LineIndex) -> Vec<u16> {
    let mut after_blank = true;
    (1..=lines.len())
        .map(|l| {
            let line = lines.slice(l, l);
            let text = line.trim();
            if text.is_empty() {
                after_blank = true;
                return u16::MAX;
            }
            let indent = line.len() - line.trim_start().len();
            let closing = text.starts_with(['}', ')', ']', '<']) && text.len() < 12;
            let depth =
                2 * indent.min(100) + usize::from(!after_blank) + if closing { 50 } else { 0 };
            after_blank = false;
            u16::try_from(depth).unwrap_or(u16::MAX)
        })
        .collect()
}

/// Returns the chunks of a text that has no syntax.
pub(super) fn by_lines(path: &str, chunk_type: ChunkType, lines: &LineIndex) -> Vec<Draft> {
    let depth = depth_by_indentation(lines);
    let draft = |range: (u32, u32)| {
        Draft::new(chunk_type, String::new(), file_name(path).to_string(), "", range)
    };
    split(lines, &depth, 1, lines.len())
        .into_iter()
        .flat_map(|range| with_text(draft(range), lines))
        .collect()
}

/// Fills in the text of a draft's lines. A single line that is too long becomes several chunks.
pub(super) fn with_text(mut draft: Draft, lines: &LineIndex) -> Vec<Draft> {
    // Leave out blank lines at the end.
    while draft.end_line > draft.start_line && lines.is_blank(draft.end_line, draft.end_line) {
        draft.end_line -= 1;
    }
    let text = lines.slice(draft.start_line, draft.end_line);
    if text.trim().is_empty() {
        return Vec::new();
    }
    if text.len() <= 4 * MAX_BYTES {
        return vec![Draft { text: text.trim_end_matches(['\n', '\r']).to_string(), ..draft }];
    }
    let mut out = Vec::new();
    let mut rest = text.trim_end_matches(['\n', '\r']);
    while !rest.is_empty() {
        let mut end = MAX_BYTES.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        // Cut at the end of a line, or else at white space, so that lines and words stay whole.
        if end < rest.len() {
            let after = |what: fn(char) -> bool| {
                let at = rest[..end].rfind(what).filter(|at| *at > MIN_BYTES)?;
                Some(at + rest[at..].chars().next().map_or(1, char::len_utf8))
            };
            end = after(|c| c == '\n').or_else(|| after(char::is_whitespace)).unwrap_or(end);
        }
        let (part, tail) = rest.split_at(end);
        let before =
            text.len() - rest.len() - (text.len() - text.trim_end_matches(['\n', '\r']).len());
        let line = draft.start_line + newlines(&text[..before]);
        let mut next = Draft::new(
            draft.chunk_type,
            draft.key.clone(),
            draft.title.clone(),
            part,
            (line, line + newlines(part.trim_end())),
        );
        next.symbol.clone_from(&draft.symbol);
        next.parent.clone_from(&draft.parent);
        if out.is_empty() {
            next.names.clone_from(&draft.names);
            next.signature.clone_from(&draft.signature);
        }
        out.push(next);
        rest = tail;
    }
    out
}

fn newlines(s: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', s.as_bytes()).count()).unwrap_or(u32::MAX)
}
