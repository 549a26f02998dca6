//! The bundled model: it sums a vector for each token and normalises the result. It needs no
//! network and no runtime, and is deterministic.
//!
//! `model/README.md` describes its format, tokens and origin.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{EmbedError, Embedder, Passage, normalise};

static BYTES: &[u8] = include_bytes!("model/cortex-static-256.bin");
const ID: &str = "cortex-static-256";
/// Weight of the passage's place beside its text. Values from .75 to 1 rank equally well.
const PLACE_WEIGHT: f32 = 0.75;
/// Longest word in bytes; longer runs of letters or digits are ignored.
const MAX_WORD: usize = 60;

type Vocabulary = FxHashMap<&'static [u8], u32>;

/// A table of tokens, with one int8 row and one scale for each.
pub struct StaticModel {
    dimensions: usize,
    scale: Vec<f32>,
    table: &'static [u8],
    /// Tokens that start a word.
    words: Vocabulary,
    /// Tokens that continue a word, written `##piece` in the file.
    pieces: Vocabulary,
}

impl StaticModel {
    /// Returns the model in this binary, which is read once in a process.
    #[must_use]
    pub fn bundled() -> Arc<Self> {
        static MODEL: OnceLock<Arc<StaticModel>> = OnceLock::new();
        let read = || {
            // This cannot fail: the file is part of the source, and a test reads it.
            Arc::new(Self::parse(BYTES).expect("the bundled model is well-formed"))
        };
        MODEL.get_or_init(read).clone()
    }

    /// Whether the bundled model knows this word as a whole. It knows the common words of English,
    /// and few others.
    #[must_use]
    pub fn knows(word: &str) -> bool {
        Self::bundled().words.contains_key(word.to_ascii_lowercase().as_bytes())
    }

    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let number =
            |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        if !bytes.starts_with(b"SEM1") {
            return None;
        }
        let (rows, dimensions) = (number(4)?, number(8)?);
        let (scale, rest) = bytes.get(12..)?.split_at_checked(4 * rows)?;
        let (table, vocabulary) = rest.split_at_checked(rows * dimensions)?;
        let mut words = Vocabulary::with_capacity_and_hasher(rows, FxBuildHasher);
        let mut pieces = Vocabulary::with_capacity_and_hasher(rows, FxBuildHasher);
        for (i, token) in vocabulary.split(|b| *b == b'\n').enumerate() {
            let i = u32::try_from(i).ok()?;
            match token.strip_prefix(b"##") {
                _ if token == b"[UNK]" => None,
                Some(piece) => pieces.insert(piece, i),
                None => words.insert(token, i),
            };
        }
        let scale = scale.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        Some(Self { dimensions, scale, table, words, pieces })
    }

    /// Appends the rows of the tokens of `text`.
    fn tokens(&self, text: &str, out: &mut Vec<u32>) {
        let mut word = [0u8; MAX_WORD];
        for run in Runs(text.as_bytes()) {
            if let Some(word) = word.get_mut(..run.len()) {
                word.copy_from_slice(run);
                word.make_ascii_lowercase();
                self.word(word, out);
            }
        }
    }

    /// Appends the rows of one lower-case word: its own, or those of its longest pieces
    /// from the left, or nothing.
    fn word(&self, word: &[u8], out: &mut Vec<u32>) {
        if let Some(row) = self.words.get(word) {
            out.push(*row);
            return;
        }
        if word[0].is_ascii_digit() {
            return;
        }
        let (before, mut start) = (out.len(), 0);
        while start < word.len() {
            let vocabulary = if start == 0 { &self.words } else { &self.pieces };
            let longest = (start + 1..=word.len())
                .rev()
                .find_map(|end| Some((end, *vocabulary.get(&word[start..end])?)));
            let Some((end, row)) = longest else {
                out.truncate(before);
                return;
            };
            out.push(row);
            start = end;
        }
    }

    /// Returns the normalised sum of the tokens' vectors; zero without tokens.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<f32> {
        let mut sum = self.sum(text);
        normalise(&mut sum);
        sum
    }

    /// Returns the sum of the tokens' vectors: the sum of a text is that of its lines.
    #[must_use]
    pub fn sum(&self, text: &str) -> Vec<f32> {
        let mut tokens = Vec::with_capacity(text.len() / 4);
        self.tokens(text, &mut tokens);
        let mut sum = vec![0f32; self.dimensions];
        for &token in &tokens {
            let scale = self.scale[token as usize];
            let row = &self.table[token as usize * self.dimensions..][..self.dimensions];
            for (x, q) in sum.iter_mut().zip(row) {
                *x += scale * f32::from(q.cast_signed());
            }
        }
        sum
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> &str {
        ID
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(passages
            .par_iter()
            .map(|p| {
                let mut vector = self.encode(p.text);
                for (x, y) in vector.iter_mut().zip(self.encode(&p.place)) {
                    *x += PLACE_WEIGHT * y;
                }
                normalise(&mut vector);
                vector
            })
            .collect())
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.encode(query))
    }
}

/// The model in this binary, which is read at its first use: many commands need no vector.
pub struct BundledModel;

impl Embedder for BundledModel {
    fn id(&self) -> &str {
        ID
    }

    fn dimensions(&self) -> usize {
        BYTES.get(8..12).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        StaticModel::bundled().embed_passages(passages)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        StaticModel::bundled().embed_query(query)
    }
}

/// Iterates over the words of a text: runs of ASCII letters, cut at camel-case
/// humps, and runs of digits.
struct Runs<'a>(&'a [u8]);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(u8::is_ascii_alphanumeric)?;
        let text = &self.0[start..];
        let run = |from: usize, class: fn(&u8) -> bool| {
            text[from..].iter().position(|b| !class(b)).map_or(text.len(), |n| from + n)
        };
        let end = if text[0].is_ascii_digit() {
            run(0, u8::is_ascii_digit)
        } else if text[0].is_ascii_lowercase() {
            run(0, u8::is_ascii_lowercase)
        } else {
            let upper = run(0, u8::is_ascii_uppercase);
            match text.get(upper) {
                // The last capital of `HTTPServer` starts the next word; the one of
                // `Server` starts this word.
                Some(b) if b.is_ascii_lowercase() && upper > 1 => upper - 1,
                Some(b) if b.is_ascii_lowercase() => run(upper, u8::is_ascii_lowercase),
                _ => upper,
            }
        };
        self.0 = &text[end..];
        Some(&text[..end])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn expected() -> Value {
        serde_json::from_str(include_str!("model/expected.json")).unwrap()
    }

    #[test]
    fn the_model_is_described_without_being_read() {
        let read = StaticModel::bundled();
        assert_eq!((BundledModel.id(), BundledModel.dimensions()), (read.id(), read.dimensions()));
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn agrees_with_the_reference_vectors() {
        let model = StaticModel::bundled();
        let expected = expected();
        for text in expected["texts"].as_array().unwrap() {
            let t = text["text"].as_str().unwrap();
            let mut tokens = Vec::new();
            model.tokens(t, &mut tokens);
            let want: Vec<u32> = serde_json::from_value(text["token_ids"].clone()).unwrap();
            assert_eq!(tokens, want, "tokens of {t:?}");
            let vector = model.encode(t);
            let head: Vec<f32> = serde_json::from_value(text["vector_head"].clone()).unwrap();
            for (a, b) in vector.iter().zip(&head) {
                assert!((a - b).abs() < 1e-4, "{t:?}: {a} is not {b}");
            }
            let norm = text["norm"].as_f64().unwrap();
            assert!((f64::from(dot(&vector, &vector)).sqrt() - norm).abs() < 1e-4, "norm of {t:?}");
        }
    }

    #[test]
    fn agrees_with_the_reference_cosines() {
        let model = StaticModel::bundled();
        let expected = expected();
        let texts: Vec<Vec<f32>> = expected["texts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| model.encode(t["text"].as_str().unwrap()))
            .collect();
        let cosines: Vec<Vec<f32>> = serde_json::from_value(expected["cosine"].clone()).unwrap();
        for (a, row) in texts.iter().zip(&cosines) {
            for (b, want) in texts.iter().zip(row) {
                assert!((dot(a, b) - want).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn place_counts_and_keys_tell_passages_apart() {
        let model = StaticModel::bundled();
        let at = |place: &str| Passage { text: "fn load() {}", place: place.into() };
        let vectors =
            model.embed_passages(&[at("live manager.rs"), at("store vectors.rs")]).unwrap();
        assert!(dot(&vectors[0], &vectors[1]) < 0.99);
        assert_ne!(at("a b").key(), at("a c").key());
    }
}
