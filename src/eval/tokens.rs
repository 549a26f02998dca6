//! Measures replies as a model reads them: how many tokens until the file, and until the lines,
//! that answer a question.

use std::collections::BTreeMap;

use serde::Serialize;

use super::question::EvalQuestion;

/// The sizes at which replies are compared, in tokens.
pub const TOKENS: [usize; 5] = [250, 500, 1000, 2000, 4000];
/// A token has about this many bytes.
const BYTES: usize = 4;
/// Shorter lines, counted in letters and digits, are in every file.
const MIN_LETTERS: usize = 4;

/// What a reply must show to answer a question.
#[derive(Debug, Clone)]
pub struct ExpectedAnswer {
    /// The paths of the targets.
    paths: Vec<String>,
    /// For each target with lines: the lines that can be recognised, without indentation.
    lines: Vec<Vec<String>>,
}

/// Where in a reply the answer is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    /// The tokens up to the first path of a target.
    pub file: Option<usize>,
    /// The tokens up to half of the lines of a target.
    pub lines: Option<usize>,
}

impl ExpectedAnswer {
    /// `text_of` returns the text of a target's file.
    #[must_use]
    pub fn new(question: &EvalQuestion, text_of: impl Fn(&str) -> Option<String>) -> Self {
        let mut wanted = Self { paths: Vec::new(), lines: Vec::new() };
        for target in &question.targets {
            wanted.paths.push(target.path.clone());
            let Some((first, last)) = target.start_line.zip(target.end_line) else { continue };
            let Some(text) = text_of(&target.path) else { continue };
            let lines = text.lines().skip(first.saturating_sub(1) as usize);
            let mut lines: Vec<String> = lines
                .take((last + 1).saturating_sub(first) as usize)
                .map(|l| l.trim().to_string())
                .filter(|l| l.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS)
                .collect();
            lines.sort_unstable();
            lines.dedup();
            if !lines.is_empty() {
                wanted.lines.push(lines);
            }
        }
        wanted
    }

    /// Whether the targets have lines.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Reads a reply from its beginning. Text within JSON is read without its escapes.
    #[must_use]
    pub fn reached(&self, reply: &str) -> Reached {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES);
        let ends = |path: &String| reply.find(path.as_str()).map(|at| at + path.len());
        let file = self.paths.iter().filter_map(ends).min().map(tokens);
        let mut first_seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (end, line) in lines_of(reply) {
            first_seen.entry(line).or_insert(end);
        }
        let half = |lines: &Vec<String>| {
            let mut seen: Vec<usize> = lines
                .iter()
                .filter_map(|line| {
                    let whole = first_seen.get(line.as_str()).copied();
                    // A reader may put a number or a mark before a line.
                    whole.or_else(|| reply.find(line.as_str()).map(|at| at + line.len()))
                })
                .collect();
            seen.sort_unstable();
            seen.get(lines.len().div_ceil(2) - 1).copied()
        };
        let lines = self.lines.iter().filter_map(half).min().map(tokens);
        Reached { file, lines }
    }
}

/// Returns each line of a reply without indentation, and the byte after it. Within JSON, `\n` ends
/// a line.
fn lines_of(reply: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        let line = reply[start..end].trim().trim_start_matches("\\t").trim_start();
        out.push((end, line));
    };
    for at in memchr::memchr2_iter(b'\n', b'\\', reply.as_bytes()) {
        let n = if reply[at..].starts_with('\n') { 1 } else { 2 };
        if at >= start && (n == 1 || reply[at..].starts_with("\\n")) {
            push(start, at);
            start = at + n;
        }
    }
    push(start, reply.len());
    out
}

/// How many questions a way to search answers within each size.
#[derive(Debug, Clone, Serialize)]
pub struct TokenRecall {
    /// The way to search.
    pub name: String,
    /// Mean tokens of a reply.
    pub tokens: f64,
    /// Share of the questions whose file is reached, by size.
    pub file: [f64; TOKENS.len()],
    /// Share of the questions with known lines of which half of the lines are reached, by size.
    pub lines: [f64; TOKENS.len()],
}

/// Sums of one way to search.
#[derive(Debug, Clone, Default)]
pub struct TokenSums {
    n: usize,
    n_with_lines: usize,
    tokens: usize,
    file: [usize; TOKENS.len()],
    lines: [usize; TOKENS.len()],
}

impl TokenSums {
    /// Adds the reply to one question. `reply_of` returns the reply for a size, in tokens.
    pub fn add(&mut self, wanted: &ExpectedAnswer, reply_of: impl Fn(usize) -> String) {
        self.n += 1;
        self.n_with_lines += usize::from(wanted.has_lines());
        for (i, size) in TOKENS.into_iter().enumerate() {
            let reply = reply_of(size);
            let reached = wanted.reached(&reply);
            let within = |tokens: Option<usize>| usize::from(tokens.is_some_and(|t| t <= size));
            self.file[i] += within(reached.file);
            self.lines[i] += within(reached.lines);
            if i + 1 == TOKENS.len() {
                self.tokens += reply.len().div_ceil(BYTES);
            }
        }
    }

    /// Returns the shares.
    #[must_use]
    pub fn recall(&self, name: &str) -> TokenRecall {
        let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        TokenRecall {
            name: name.to_string(),
            tokens: share(self.tokens, self.n),
            file: self.file.map(|n| share(n, self.n)),
            lines: self.lines.map(|n| share(n, self.n_with_lines)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::question::Target;
    use super::*;

    fn wanted() -> ExpectedAnswer {
        let target =
            Target { path: "src/a.py".into(), file: None, start_line: Some(2), end_line: Some(5) };
        let question = EvalQuestion {
            id: String::new(),
            repo: String::new(),
            language: String::new(),
            category: String::new(),
            query: String::new(),
            targets: vec![target],
            commit: None,
        };
        let text = "import os\ndef walk(root):\n    for name in root:\n        yield name\n    }\n";
        ExpectedAnswer::new(&question, |_| Some(text.to_string()))
    }

    #[test]
    fn half_of_the_lines_must_be_there() {
        let wanted = wanted();
        assert_eq!(wanted.lines, [["def walk(root):", "for name in root:", "yield name"]]);
        let reply = "src/a.py:2-5\ndef walk(root):\n    for name in root:\n";
        assert_eq!(wanted.reached(reply), Reached { file: Some(2), lines: Some(13) });
        assert_eq!(wanted.reached("src/a.py:2\n    yield name\n").lines, None);
    }

    #[test]
    fn text_in_json_is_read() {
        let reply = r#"{"content": "def walk(root):\n    for name in root:\n"}"#;
        assert!(wanted().reached(reply).lines.is_some());
    }

    #[test]
    fn what_is_beyond_the_size_does_not_count() {
        let mut sums = TokenSums::default();
        let filler = "x".repeat(1500);
        sums.add(&wanted(), |_| format!("{filler}\nsrc/a.py\nfor name in root:\nyield name\n"));
        let recall = sums.recall("x");
        let percent = |shares: [f64; TOKENS.len()]| shares.map(|s| format!("{s:.0}"));
        assert_eq!(percent(recall.file), ["0", "1", "1", "1", "1"]);
        assert_eq!(percent(recall.lines), percent(recall.file));
    }
}
