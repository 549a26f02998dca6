//! A baseline for comparison: a plain search by words (BM25 over windows of lines).

use std::collections::HashMap;

use super::draft::SourceText;
use super::measure::FoundFile;
use super::prose::name_parts;

/// Number of lines of a window. Windows do not overlap.
const WINDOW: usize = 40;
/// The usual constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Most files of an answer.
pub const FILES: usize = 30;

/// An inverted index of the windows of a tree. Words are in lower case and unstemmed, and
/// identifiers are split into their parts.
pub struct Baseline {
    windows: Vec<Window>,
    /// For each word, the windows that contain it and how often.
    postings: HashMap<String, Vec<(usize, u32)>>,
    mean_words: f64,
}

struct Window {
    path: String,
    lines: (u32, u32),
    n_words: f64,
}

impl Baseline {
    #[must_use]
    pub fn new(files: &[SourceText]) -> Self {
        let (mut windows, mut postings) = (Vec::new(), HashMap::<String, Vec<(usize, u32)>>::new());
        for file in files {
            let lines: Vec<&str> = file.text.lines().collect();
            for (i, window) in lines.chunks(WINDOW).enumerate() {
                let mut counts = HashMap::<String, u32>::new();
                for word in window.iter().flat_map(|line| name_parts(line)) {
                    *counts.entry(word).or_default() += 1;
                }
                let line = |n: usize| u32::try_from(i * WINDOW + n).unwrap_or(u32::MAX);
                let n_words = f64::from(counts.values().sum::<u32>());
                for (word, count) in counts {
                    postings.entry(word).or_default().push((windows.len(), count));
                }
                windows.push(Window {
                    path: file.path.clone(),
                    lines: (line(1), line(window.len())),
                    n_words,
                });
            }
        }
        let mean_words =
            windows.iter().map(|w| w.n_words).sum::<f64>() / windows.len().max(1) as f64;
        Self { windows, postings, mean_words }
    }

    /// Returns the windows that contain words of the query, best first, until they
    /// name [`FILES`] files.
    #[must_use]
    pub fn search(&self, query: &str) -> Vec<FoundFile> {
        let mut words = name_parts(query);
        words.sort();
        words.dedup();
        let n = self.windows.len() as f64;
        let mut scores = vec![0.0; self.windows.len()];
        for postings in words.iter().filter_map(|w| self.postings.get(w)) {
            let df = postings.len() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for (at, count) in postings {
                let tf = f64::from(*count);
                scores[*at] += idf * tf * (K1 + 1.0)
                    / (tf + K1 * (1.0 - B + B * self.windows[*at].n_words / self.mean_words));
            }
        }
        let mut found: Vec<(f64, &Window)> =
            scores.into_iter().zip(&self.windows).filter(|(score, _)| *score > 0.0).collect();
        // The sort is stable: windows with equal scores stay in the order of their paths and lines.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut files: Vec<&str> = Vec::new();
        let in_files = found.iter().take_while(|(_, window)| {
            if !files.contains(&&*window.path) {
                files.push(&window.path);
            }
            files.len() <= FILES
        });
        in_files.map(|(_, w)| FoundFile { path: w.path.clone(), lines: Some(w.lines) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceText {
        SourceText { path: path.to_string(), text: text.to_string() }
    }

    #[test]
    fn the_rarer_word_and_the_shorter_window_win() {
        let tree = [
            file("a", "common common rare"),
            file("b", "common words here"),
            file("c", "common words and many more of them rare as well"),
        ];
        let found: Vec<String> = Baseline::new(&tree)
            .search("a rare common thing")
            .into_iter()
            .map(|r| r.path)
            .collect();
        assert_eq!(found, ["a", "c", "b"]);
    }

    #[test]
    fn windows_have_forty_lines_and_identifiers_parts() {
        let text = format!("{}fn retryCount_max() {{}}\n", "line\n".repeat(40));
        let rows = Baseline::new(&[file("a", &text)]).search("Count");
        assert_eq!(rows, [FoundFile { path: "a".to_string(), lines: Some((41, 41)) }]);
        assert_eq!(Baseline::new(&[]).search("x"), []);
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        // Two windows of two words; `x` in one of them, once: ln(1 + 1.5/1.5) × 2.2 / (1 + 1.2).
        let tree = [file("a", "x y"), file("b", "y z")];
        let b = Baseline::new(&tree);
        assert_eq!((b.mean_words, b.postings["x"].len(), b.postings["y"].len()), (2.0, 1, 2));
        assert_eq!(b.search("x").len(), 1);
        assert_eq!(
            b.search("y").iter().map(|r| &*r.path).collect::<Vec<_>>(),
            ["a", "b"],
            "equal scores by path"
        );
    }
}
