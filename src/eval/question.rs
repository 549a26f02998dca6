//! Questions with the places that answer them, and sets of questions as JSON lines.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A question with its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalQuestion {
    pub id: String,
    /// The repository that is asked; empty if there is only one.
    pub repo: String,
    pub language: String,
    pub category: String,
    pub query: String,
    /// The places that answer the question, at least one.
    pub targets: Vec<Target>,
    /// The commit that the question was made from. It and all later ones are hidden from the
    /// search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A place that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The path as in search results, or the end of it.
    pub path: String,
    /// The path relative to the root of the repository, if that is not the indexed folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
}

/// A line of a file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {reason}; {remedy}")]
pub struct LineError {
    pub file: String,
    pub line: usize,
    pub reason: String,
    pub remedy: &'static str,
}

/// Parses each line of a file that is not blank, and returns it with its number.
pub(super) fn read_lines<T: DeserializeOwned>(
    file: &str,
    text: &str,
    remedy: &'static str,
) -> impl Iterator<Item = Result<(usize, T), LineError>> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines.map(move |(i, line)| {
        let error = |e: serde_json::Error| LineError {
            file: file.to_string(),
            line: i + 1,
            reason: without_position(&e),
            remedy,
        };
        Ok((i + 1, serde_json::from_str(line).map_err(error)?))
    })
}

const REMEDY: &str =
    r#"a line is {"query": "…", "files": ["src/a.rs"]}, or has "targets" (specs/cli-json.md)"#;

/// A line of a set, with `targets` or in the short form with `files`.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: String,
    #[serde(default)]
    repo: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    category: String,
    query: String,
    #[serde(default)]
    targets: Vec<Target>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    commit: Option<String>,
}

/// Reads a set of questions, one a line. `file` is the name of the file in errors.
///
/// # Errors
/// When a line is not a question.
pub fn parse(file: &str, text: &str) -> Result<Vec<EvalQuestion>, LineError> {
    let question = |read: Result<(usize, Line), LineError>| {
        let (number, line) = read?;
        let error = |reason: &str| LineError {
            file: file.to_string(),
            line: number,
            reason: reason.to_string(),
            remedy: REMEDY,
        };
        let by_name = line.files.into_iter().map(|path| Target {
            path,
            file: None,
            start_line: None,
            end_line: None,
        });
        let targets: Vec<Target> = line.targets.into_iter().chain(by_name).collect();
        if targets.is_empty() {
            return Err(error("the question has no answer"));
        }
        if line.query.trim().is_empty() {
            return Err(error("the query is empty"));
        }
        let id = if line.id.is_empty() { format!("{file}:{number}") } else { line.id };
        Ok(EvalQuestion {
            id,
            repo: line.repo,
            language: line.language,
            category: line.category,
            query: line.query,
            targets,
            commit: line.commit,
        })
    };
    read_lines(file, text, REMEDY).map(question).collect()
}

/// Returns the message without its position: the parser sees one line at a time, so its line
/// number would mislead.
fn without_position(e: &serde_json::Error) -> String {
    let text = e.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read() {
        let text = r#"{"id": "x/1", "repo": "x", "language": "c", "category": "symbol", "query": "q", "targets": [{"path": "a.c", "grade": "primary", "start_line": 3, "end_line": 9}]}

{"query": "where", "files": ["src/a.rs", "b.rs"]}"#;
        let questions = parse("set.jsonl", text).unwrap();
        assert_eq!(
            (questions[0].targets[0].start_line, questions[0].targets[0].end_line),
            (Some(3), Some(9))
        );
        assert_eq!(questions[1].id, "set.jsonl:3");
        assert_eq!(
            questions[1].targets.iter().map(|t| &*t.path).collect::<Vec<_>>(),
            ["src/a.rs", "b.rs"]
        );
    }

    #[test]
    fn an_error_names_file_line_and_reason() {
        for (line, reason) in [
            ("{", "EOF while parsing an object"),
            (r#"{"query": "x"}"#, "the question has no answer"),
            (r#"{"files": ["a"]}"#, "missing field `query`"),
            (r#"{"query": " ", "files": ["a"]}"#, "the query is empty"),
        ] {
            let e = parse("set.jsonl", &format!("\n{line}\n")).unwrap_err();
            assert_eq!((e.line, &*e.reason), (2, reason));
            assert!(e.to_string().starts_with("set.jsonl:2: "), "{e}");
        }
    }
}
