//! Finds the places that a question names by file and line, such as the frames of a stack trace. A trace
//! may be older than the files: what it says of a frame is compared with the code at the line.

use std::path::Path;
use std::sync::Arc;

use crate::address::{self, Frame, frames_in};
use crate::chunk::{Chunk, ChunkSet, ChunkType};
use crate::engine::door::near::last_name;
use crate::engine::door::paths;
use crate::engine::door::project::Project;
use crate::excerpt::{NamesAround, symbols_named};
use crate::search::{Corpus, Hit, NamedPlace, places_first};
use crate::text::{count, place_of_word};

/// Number of places of a stack trace that come before other results.
const MAX_NAMED: usize = 16;
/// Most files that are read to find the one that a frame means.
const MAX_FILES: usize = 8;
/// Shorter lines of code that a trace quotes are not sought.
const LEAST_QUOTE: usize = 8;

/// Returns the indexed places that a question names by file and line, in its order, before the hits.
/// Each project comes with the number of its part of the hits.
pub(in crate::engine) fn with_places(
    projects: &[(usize, &Project, &Corpus)],
    question: &str,
    hits: Vec<Hit>,
) -> Vec<Hit> {
    let mut named: Vec<NamedPlace> = Vec::new();
    let frames = frames_in(question);
    // A message whose line is found may name a file without a folder: that is an input of the program.
    if let [frame] = &frames[..]
        && !frame.address.path.contains('/')
        && hits.first().is_some_and(|hit| hit.line.is_some())
    {
        return hits;
    }
    for frame in &frames {
        let Some((line, _)) = frame.address.lines else { continue };
        let is_inside = |(_, project, _): &&(usize, &Project, &Corpus)| {
            Path::new(&frame.address.path).starts_with(project.layout.root())
        };
        // An absolute path is in the project around it alone, though others have files of this name.
        let is_inside_one = projects.iter().any(|one| is_inside(&one));
        for (part, project, corpus) in projects.iter().filter(|p| !is_inside_one || is_inside(p)) {
            if named.len() == MAX_NAMED {
                break;
            }
            let (part, chunks) = (*part, corpus.chunks());
            let own = own_file(project, chunks, &frame.address.path);
            let files = match own {
                Some(own) => vec![own],
                None => address::matching(&frame.address.path, chunks.files()),
            };
            let Some((path, place)) = best_of(&files, frame, line, chunks) else { continue };
            let is_it = |n: &NamedPlace| n.part == part && *n.path == *path && n.line == place.line;
            if named.iter().any(is_it) {
                continue;
            }
            let Ok(chunk) = paths::chunk_at(project, chunks, path, Some(place.line)) else {
                continue;
            };
            let Some(entry) = chunks.by_id(&chunk.id).cloned() else { continue };
            named.push(NamedPlace {
                part,
                path: path.into(),
                line: place.line,
                definition: None,
                note: place.note,
                chunk,
                entries: vec![entry],
            });
        }
    }
    places_first(named, hits)
}

/// Returns the path of the file of the project that a frame names in a copy of the project, such as that
/// of a package manager.
fn own_file<'p>(project: &Project, chunks: &ChunkSet, path: &'p str) -> Option<&'p str> {
    let own = address::within(path, project.layout.root().file_name()?.to_str()?)?;
    chunks.by_file(own).next().map(|_| own)
}

/// Where the code of a frame is.
struct Found {
    line: u32,
    /// What differs from the trace.
    note: Option<String>,
}

/// Returns the file that a frame means, of those whose paths fit equally well, and the place in it: the
/// first that has what the frame says at its line, or else the first.
fn best_of<'f>(
    files: &[&'f str],
    frame: &Frame,
    line: u32,
    chunks: &ChunkSet,
) -> Option<(&'f str, Found)> {
    let mut first = None;
    for path in files.iter().take(MAX_FILES) {
        match found_at(&chunks.read_file(path), frame, line) {
            None => return Some((path, Found { line, note: None })),
            Some(found) if first.is_none() => first = Some((*path, found)),
            Some(_) => {}
        }
    }
    first
}

/// Returns the place of a frame that is not where the trace says, as far as the file tells: the line
/// that the trace quotes, or the function that it names.
fn found_at(chunks: &[Arc<Chunk>], frame: &Frame, line: u32) -> Option<Found> {
    let last = chunks.iter().filter_map(|chunk| chunk.metadata.end_line).max()?;
    let at_line = NamesAround::new(chunks).at(line);
    let is_said = |name: &str| place_of_word(&frame.said, last_name(name)).is_some();
    let is_beyond = line > last;
    if !is_beyond && (at_line.is_none() || at_line.as_deref().is_some_and(is_said)) {
        return None;
    }
    let names = chunks.iter().flat_map(|chunk| &chunk.metadata.names);
    let functions = names.filter(|n| matches!(n.kind.as_str(), "function" | "method"));
    let mut said: Vec<&str> =
        functions.map(|n| n.name.as_str()).filter(|name| is_said(name)).collect();
    said.sort_by_key(|name| place_of_word(&frame.said, last_name(name)));
    let function = said.first();
    let lines = function.and_then(|name| symbols_named(chunks, name).into_iter().next());
    let is_near = |at: u32| lines.is_none_or(|(first, last)| (first..=last).contains(&at));
    let code = || {
        let of_text = chunks.iter().filter(|chunk| chunk.chunk_type != ChunkType::Symbols);
        of_text.flat_map(|chunk| (chunk.metadata.start_line.unwrap_or(1)..).zip(chunk.text.lines()))
    };
    let quote = frame.quoted.trim();
    let quoted = (quote.len() >= LEAST_QUOTE).then(|| {
        code().filter(|(_, text)| text.trim() == quote).map(|(at, _)| at).find(|at| is_near(*at))
    });
    let named = || {
        let (first, last) = lines?;
        let name = last_name(function?);
        let mut inside = code().filter(|(at, _)| (first..=last).contains(at));
        Some(inside.find(|(_, text)| place_of_word(text, name).is_some()).map_or(first, |of| of.0))
    };
    let now = quoted.flatten().or_else(named);
    let was = if is_beyond {
        format!("the trace says line {line}: the file has {} now", count(last as usize, "line"))
    } else {
        format!("the trace says line {line}, which is in {} now", at_line.as_deref()?)
    };
    match now {
        Some(now) => Some(Found { line: now, note: Some(was) }),
        None if is_beyond => Some(Found { line: last, note: Some(was) }),
        None => None,
    }
}
