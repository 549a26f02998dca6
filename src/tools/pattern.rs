//! `cortex_pattern`: where code has a given shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens, fit};
use super::{Asked, Group, Question, Reply, State, ToolError, Wait, count, filters, printable};
use crate::survey;

/// Most places that are told.
const MOST: usize = 200;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Code with $NAME for one part and $$$NAME for any number: `if err != nil { return $$$ }`
    pattern: String,
    /// Of which language; by default all in which it is code.
    language: Option<String>,
    /// Only files that match one of these globs: src/**, *.rs, docs
    #[serde(default)]
    paths: Vec<String>,
    /// Lines shown around each place.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    context_lines: u32,
    /// Most tokens of the reply, text and JSON together.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PatternReply {
    /// In order of paths and lines.
    places: Vec<MatchRow>,
    /// Places there are.
    total: usize,
    /// Files that were looked at.
    files: usize,
    #[serde(flatten)]
    state: State,
}

/// A place where code has the shape.
#[derive(Clone, Serialize, JsonSchema)]
struct MatchRow {
    /// Relative to the root.
    path: String,
    /// 1-based.
    start_line: u32,
    /// Inclusive.
    end_line: u32,
    /// The lines, with those around them.
    text: String,
}

/// A path and a language.
pub(super) fn owned((path, written): (&str, &str)) -> (String, String) {
    (path.to_string(), written.to_string())
}

impl Question for Args {
    const NAME: &'static str = "cortex_pattern";
    const TITLE: &'static str = "Find code by its structure";
    const DESCRIPTION: &'static str = "Find code of a given shape, whatever its names, line breaks and comments: `$A.unwrap()`, `foo($$$ARGS)`, \
`class $C(Base): $$$`. A name that occurs twice is the same code twice. Use it where text search finds too much or too little.";
    const GROUP: Group = Group::Graph;
    type Reply = PatternReply;

    fn answer(self, asked: Asked) -> Result<PatternReply, ToolError> {
        let filter = filters::of_paths(&self.paths)?;
        let taken = asked.take(&self.wait)?;
        let chunks = taken.snapshot.code().corpus.chunks();
        let language = self.language.map(|l| l.to_lowercase());
        let is_wanted = |path: &str| filter.is_empty() || filter.is_match(path);
        let files: Vec<(String, String)> = chunks.written_in().filter(|(path, _)| is_wanted(path)).map(owned).collect();
        let patterns = survey::patterns(&self.pattern, language.as_deref(), files.iter().map(|(_, written)| &**written));
        let patterns = patterns.map_err(|e| ToolError::Arguments(e.to_string()))?;
        let found = survey::find(asked.context.layout.root(), &files, &patterns, self.context_lines, MOST, &asked.call.cancel);
        asked.call.check()?;
        let mut warnings = taken.warnings.clone();
        if found.n_left > 0 {
            warnings.push(format!("{} were left out, because it took too long: name paths", count(found.n_left, "file")));
        }
        let state = State::new(taken.index.clone(), warnings);
        let place = |p: &survey::PatternMatch| MatchRow {
            path: p.path.clone(),
            start_line: p.start_line,
            end_line: p.end_line,
            text: p.text.clone(),
        };
        Ok(fit(self.max_tokens, found.places.len(), |n| PatternReply {
            places: found.places.iter().take(n).map(place).collect(),
            total: found.total,
            files: found.n_files,
            state: state.clone(),
        }))
    }
}

impl Reply for PatternReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let head = format!("{} ({} looked at)", count(self.total, "place"), count(self.files, "file"));
        let shown = if self.places.len() < self.total { format!(", the first {} shown", self.places.len()) } else { String::new() };
        let mut lines = vec![head + &shown];
        for place in &self.places {
            lines.push(format!("{}:{}-{}", printable(&place.path), place.start_line, place.end_line));
            lines.extend(place.text.lines().map(|line| format!("  {}", printable(line))));
        }
        lines
    }
}
