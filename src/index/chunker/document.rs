//! Cuts a document into chunks: its sections, under their heading paths.

use super::draft::{Draft, LineIndex, MAX_BYTES, MIN_BYTES, file_name};
use super::pieces::{depth_by_indentation, split, with_text};
use crate::chunk::ChunkType;
use crate::languages::Markup;
use crate::syntax::{Section, sections};

const SEPARATOR: &str = " > ";

/// Returns a draft for each section. Long sections are cut between blocks; short ones are merged
/// with the next under the same parent.
pub(super) fn drafts(path: &str, markup: Markup, lines: &LineIndex) -> Vec<Draft> {
    let merged = merge(sections(markup, lines.text), lines);
    merged.iter().flat_map(|s| section(path, markup, s, lines)).collect()
}

/// Merges a section that is much smaller than a chunk with the next one, if that is
/// its child or its sibling.
fn merge(sections: Vec<Section>, lines: &LineIndex) -> Vec<Section> {
    const SMALL: usize = MIN_BYTES / 4;
    let mut out: Vec<Section> = Vec::new();
    for section in sections {
        if let Some(previous) = out.last_mut() {
            let small = lines.bytes(previous.start_line, previous.end_line) < SMALL;
            let parent = &previous.headings[..previous.headings.len().saturating_sub(1)];
            let fits = lines.bytes(previous.start_line, section.end_line) <= MIN_BYTES;
            if small && fits && section.headings.starts_with(parent) {
                previous.end_line = section.end_line;
                previous.breaks.push(section.start_line);
                previous.breaks.extend(section.breaks);
                continue;
            }
        }
        out.push(section);
    }
    out
}

fn section(path: &str, markup: Markup, section: &Section, lines: &LineIndex) -> Vec<Draft> {
    let heading = section.headings.join(SEPARATOR);
    let title = if heading.is_empty() { file_name(path).to_string() } else { heading.clone() };
    let ranges = if lines.bytes(section.start_line, section.end_line) <= MAX_BYTES {
        vec![(section.start_line, section.end_line)]
    } else {
        split_blocks(markup, section, lines)
    };
    let draft = |range| {
        let mut draft =
            Draft::new(ChunkType::Documentation, heading.clone(), title.clone(), "", range);
        draft.symbol = (!heading.is_empty()).then(|| heading.clone());
        draft.parent =
            section.headings.split_last().map(|(_, p)| p.join(SEPARATOR)).filter(|p| !p.is_empty());
        draft
    };
    ranges.into_iter().flat_map(|range| with_text(draft(range), lines)).collect()
}

/// Cuts a section between its blocks. A fence or a table that is longer than a chunk stays whole.
fn split_blocks(markup: Markup, section: &Section, lines: &LineIndex) -> Vec<(u32, u32)> {
    if markup == Markup::Plain {
        return split(lines, &depth_by_indentation(lines), section.start_line, section.end_line);
    }
    let mut out: Vec<(u32, u32)> = Vec::new();
    let mut start = section.start_line;
    let blocks: Vec<u32> = section
        .breaks
        .iter()
        .copied()
        .filter(|b| *b > start)
        .chain([section.end_line + 1])
        .collect();
    for pair in blocks.windows(2) {
        let (end, next_end) = (pair[0] - 1, pair[1] - 1);
        let full =
            lines.bytes(start, next_end) > MAX_BYTES && lines.bytes(start, end) >= MIN_BYTES / 2;
        if full && end >= start {
            out.push((start, end));
            start = end + 1;
        }
    }
    out.push((start, section.end_line));
    out
}
