//! Cuts a Jupyter notebook into chunks: its cells, without outputs. Line numbers are
//! those of the `.ipynb` file.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::draft::{Draft, LineIndex, file_name};
use crate::chunk::ChunkType;

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    cell_type: String,
    #[serde(borrow)]
    source: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

/// Returns a draft for each cell that has text, or `None` if the file is not a notebook.
pub(super) fn drafts(path: &str, lines: &LineIndex) -> Option<Vec<Draft>> {
    let notebook: Notebook = serde_json::from_str(lines.text).ok()?;
    let mut heading = file_name(path).to_string();
    let mut out = Vec::new();
    for cell in &notebook.cells {
        let text = match serde_json::from_str(cell.source.get()).ok()? {
            Source::Text(text) => text,
            Source::Lines(lines) => lines.concat(),
        };
        if text.trim().is_empty() {
            continue;
        }
        let markdown = cell.cell_type == "markdown";
        if markdown && let Some(title) = text.lines().find_map(|l| l.strip_prefix('#')) {
            heading = title.trim_start_matches('#').trim().to_string();
        }
        let first = cell.source.get().as_ptr() as usize - lines.text.as_ptr() as usize;
        let range = (lines.line_of(first), lines.line_of(first + cell.source.get().len() - 1));
        let chunk_type = if markdown { ChunkType::Documentation } else { ChunkType::Definitions };
        out.push(Draft::new(chunk_type, heading.clone(), heading.clone(), text.trim_end(), range));
    }
    Some(out)
}
