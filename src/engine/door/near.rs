//! Names the symbols that a caller may have meant who names what is not there.

use crate::search::{Corpus, NearName, Searcher};

/// Most near names that an answer proposes.
const MAX_NAMES: usize = 5;

/// Returns the last name of a path of names: `wait` of `Backoff::wait`, `a.wait` and `src/a.rs#wait`.
pub(in crate::engine) fn last_name(written: &str) -> &str {
    let is_part = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
    written.rsplit(is_part).find(|part| !part.is_empty()).unwrap_or(written)
}

/// Whether a text is not a name or a path, but a piece of code or of a message.
pub(in crate::engine) fn is_literal(written: &str) -> bool {
    written.trim().contains(|c: char| c.is_whitespace() || "\"'`".contains(c))
}

/// Names the symbols that a caller may have meant: `; near: `retry` (src/a.rs:3)`; empty if none is
/// near.
pub(in crate::engine) fn near_in(corpus: &Corpus, written: &str) -> String {
    if is_literal(written) {
        return String::new();
    }
    let near = Searcher::new(corpus).near_names(last_name(written), MAX_NAMES);
    let named = |near: &NearName| format!("`{}` ({}:{})", near.name, near.path, near.line);
    let named: Vec<String> = near.iter().flatten().map(named).collect();
    if named.is_empty() { String::new() } else { format!("; near: {}", named.join(", ")) }
}
