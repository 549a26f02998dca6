//! Cuts the text of one file into chunks.
//!
//! Every line of a code file or document is in some chunk. A piece that fits (in bytes of text)
//! stays whole, a larger one is cut where the syntax tree is shallow, and small neighbours
//! under one parent are merged.

mod code;
mod document;
mod draft;
mod notebook;
mod origin;
mod pieces;

use std::collections::{HashMap, HashSet};

use self::draft::{Draft, LineIndex};
pub(super) use self::origin::set_origin;
use crate::chunk::{Chunk, ChunkType, Metadata};
use crate::languages::{Grammar, Language, LanguageKind, detect};
use crate::source::{LineLimit, without_tails};
use crate::syntax::{self, Outline, ParseLimit, Relations, with_limit};

/// Returns the chunks of a file, in the order of their types and lines. `path` is relative to the
/// root, with `/` as separator. The time stamps are 1970; the indexer sets them.
#[must_use]
pub fn chunk_file(path: &str, text: &str) -> Vec<Chunk> {
    chunk_parsed(path, text, syntax::outline)
}

/// Returns the chunks of a file, and its relations from the same parse: `None` if its language is
/// not parsed, or the parser has no usable result.
pub(super) fn chunk_and_relate(path: &str, text: &str) -> (Vec<Chunk>, Option<Relations>) {
    let mut relations = None;
    let chunks = chunk_parsed(path, text, |grammar, text| {
        let (outline, found) = syntax::outline_and_relations(grammar, text);
        relations = found;
        outline
    });
    (chunks, relations)
}

fn chunk_parsed(
    path: &str,
    text: &str,
    outline: impl FnOnce(&Grammar, &str) -> Option<Outline>,
) -> Vec<Chunk> {
    let language = detect(path, text);
    // The parser sees whole lines, and chunks hold what people read of them.
    let shown = without_tails(text, line_limit(language));
    let lines = LineIndex::new(&shown);
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut cut_by = None;
    let mut drafts = match &language.kind {
        LanguageKind::Code(grammar) => match with_limit(|| outline(grammar, text)) {
            (Some(outline), _) => code::drafts(path, grammar, &outline, &lines),
            (None, limit) => {
                cut_by = limit;
                pieces::by_lines(path, ChunkType::Definitions, &lines)
            }
        },
        LanguageKind::Text => pieces::by_lines(path, ChunkType::Definitions, &lines),
        LanguageKind::Config => pieces::by_lines(path, ChunkType::Data, &lines),
        LanguageKind::Document(markup) => document::drafts(path, *markup, &lines),
        LanguageKind::Notebook => notebook::drafts(path, &lines)
            .unwrap_or_else(|| pieces::by_lines(path, ChunkType::Data, &lines)),
    };
    drafts.sort_by_key(|d| d.chunk_type);
    let mut chunks = finish(path, language, drafts);
    if let Some(limit) = cut_by {
        let limit = match limit {
            ParseLimit::Steps => "steps",
            ParseLimit::Time => "time",
        };
        for chunk in &mut chunks {
            chunk.metadata.mark_cut(limit);
        }
    }
    chunks
}

/// Returns the lines of a file as chunks, for a file that its parser cannot handle.
#[must_use]
pub(super) fn chunk_lines(path: &str, text: &str) -> Vec<Chunk> {
    let language = detect(path, text);
    let shown = without_tails(text, line_limit(language));
    finish(path, language, pieces::by_lines(path, ChunkType::Definitions, &LineIndex::new(&shown)))
}

/// Returns how long the lines of a file in a language may be.
#[must_use]
pub fn line_limit(language: &Language) -> LineLimit {
    match language.kind {
        LanguageKind::Document(_) => LineLimit::Prose,
        // Outputs, including pictures, are long lines in a notebook. They are left out later.
        LanguageKind::Notebook => LineLimit::None,
        _ => LineLimit::Code,
    }
}

/// Turns drafts into chunks. The id is the path, `#`, the key, and an ordinal
/// if the key occurs again.
fn finish(path: &str, language: &Language, drafts: Vec<Draft>) -> Vec<Chunk> {
    let mut n_of_key: HashMap<String, u32> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    let id_path = path.replace('%', "%25").replace('#', "%23");
    let make = |d: Draft| {
        let n = n_of_key.entry(d.key.clone()).or_default();
        // A heading may itself be called `Note~2`, so an ordinal can be taken.
        let id = loop {
            *n += 1;
            let ordinal = if *n > 1 { format!("~{n}") } else { String::new() };
            let id = format!("{id_path}#{}{ordinal}", d.key);
            if taken.insert(id.clone()) {
                break id;
            }
        };
        let mut metadata = Metadata {
            file_path: Some(path.to_string()),
            language: Some(language.name.to_string()),
            start_line: Some(d.start_line),
            end_line: Some(d.end_line),
            symbol: d.symbol,
            parent: d.parent,
            names: d.names,
            signature: d.signature,
            comment_lines: d.comment_lines,
            imports: d.imports,
            ..Metadata::default()
        };
        metadata.set_unparsed(&d.unparsed);
        Chunk { title: d.title, metadata, ..Chunk::new(id, d.chunk_type, d.text) }
    };
    drafts.into_iter().map(make).collect()
}

#[cfg(test)]
mod tests;
