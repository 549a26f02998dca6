//! Parses the operators of a query: `lang:`, `path:` and `type:` restrict it, quotes mark a phrase.

use globset::{Glob, GlobSetBuilder};

use super::filter::Filter;
use crate::chunk::ChunkType;

/// A query, split into its parts.
#[derive(Debug, Clone, Default)]
pub(super) struct Operators {
    /// The remaining words, including those of phrases.
    pub(super) text: String,
    /// The restriction by prefixes.
    pub(super) only: Filter,
    /// The text in quotes.
    pub(super) phrases: Vec<String>,
    /// Whether all words are in quotes.
    pub(super) is_quoted: bool,
}

/// Parses a query. A prefix with an unknown value (`type:u32`) is an ordinary word.
pub(super) fn operators(query: &str) -> Operators {
    let mut out = Operators::default();
    let mut paths = GlobSetBuilder::new();
    let mut words: Vec<&str> = Vec::new();
    let mut has_others = false;
    for (i, part) in query.split('"').enumerate() {
        let is_last = query.matches('"').count() == i;
        // Parts with odd numbers are inside quotes, except the last one: its quote is not closed.
        if i % 2 == 1 && !is_last {
            let phrase = part.trim();
            if !phrase.is_empty() {
                out.phrases.push(phrase.to_string());
            }
            words.push(part);
            continue;
        }
        let n = words.len();
        words.extend(part.split_whitespace().filter(|word| !out.only.take(word, &mut paths)));
        has_others |= words.len() > n;
    }
    // This cannot fail: each glob was compiled before.
    out.only.paths.wanted = paths.build().unwrap_or_default();
    out.is_quoted = !out.phrases.is_empty() && !has_others;
    out.text = words.join(" ").trim().to_string();
    out
}

impl Filter {
    /// Returns whether the word is a prefix that restricts something, and applies it.
    fn take(&mut self, word: &str, paths: &mut GlobSetBuilder) -> bool {
        let Some((prefix, value)) = word.split_once(':') else { return false };
        let values = || value.split(',').filter(|v| !v.is_empty());
        if value.is_empty() || value.starts_with(':') {
            return false;
        }
        match prefix {
            "lang" | "language" => {
                self.languages.add(values());
                true
            }
            "path" | "in" => {
                let globs: Vec<Glob> =
                    values().flat_map(path_globs).filter_map(|g| Glob::new(&g).ok()).collect();
                let any = !globs.is_empty();
                for glob in globs {
                    paths.add(glob);
                }
                any
            }
            "type" => {
                let types: Option<Vec<&[ChunkType]>> = values().map(types).collect();
                self.types.extend(types.iter().flatten().copied().flatten());
                types.is_some()
            }
            _ => false,
        }
    }
}

/// Returns globs for the value of `path:`. `src/live` means files in such a folder at any depth; a
/// glob matches at any depth, too.
fn path_globs(value: &str) -> Vec<String> {
    let value = value.trim_start_matches("./").trim_matches('/');
    if value.contains(['*', '?', '[', '{']) {
        vec![value.to_string(), format!("**/{value}")]
    } else {
        ["", "/**"]
            .iter()
            .flat_map(|end| [format!("{value}{end}"), format!("**/{value}{end}")])
            .collect()
    }
}

fn types(value: &str) -> Option<&'static [ChunkType]> {
    use ChunkType::{Data, Definitions, Documentation, Symbols};
    Some(match value {
        "code" => &[Definitions, Symbols],
        "doc" | "docs" | "documentation" => &[Documentation],
        "config" | "data" => &[Data],
        "definitions" => &[Definitions],
        "symbols" => &[Symbols],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_restrict_and_leave_the_words() {
        let o = operators("lang:rust,go retry  type:docs path:src/live backoff");
        assert_eq!(o.text, "retry backoff");
        assert_eq!(o.only.languages.wanted, ["rust", "go"]);
        assert_eq!(o.only.types, [ChunkType::Documentation]);
        assert!(["src/live/a.rs", "x/src/live/b/c.rs"].iter().all(|p| o.only.paths.is_match(p)));
        assert!(!o.only.paths.is_match("src/lively/a.rs"));
    }

    #[test]
    fn code_is_no_prefix() {
        for q in [
            "fn f(path: &str)", "std::path::Path", "type:u32", "lang:", "path::join",
            "what is in: it",
        ] {
            let o = operators(q);
            assert!(o.only.is_empty(), "{q}");
            assert_eq!(o.text, q, "nothing is lost");
        }
    }

    #[test]
    fn quotes_ask_for_phrases() {
        let o = operators("where is \"lost connection\" told \"again\"");
        assert_eq!(o.phrases, ["lost connection", "again"]);
        assert!(!o.is_quoted && operators("lang:go \"lost\" \"again\"").is_quoted);
        assert_eq!(o.text, "where is lost connection told again");
        assert!(operators("a 5\" screen").phrases.is_empty(), "one quote is no pair");
    }
}
