//! Says which trigrams (three bytes in a row) a text holds, in three bits for two of them, and which
//! of them a text must hold to match a pattern.
//!
//! A filter may say that a text holds a trigram that it lacks, and never that it lacks one that it
//! holds. So a file whose filter lacks what a pattern needs need not be read.
//!
//! ASCII letters are folded on both sides, so one filter serves searches with and without case.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A trigram is hashed to this many bits.
const SLOT_BITS: u32 = 18;
/// Bits of a filter for two different trigrams. Half of the bits are set, so each trigram that a text
/// lacks is noticed with a chance of one half, and all filters take less than 3 % of the source.
const BITS_PER_2_GRAMS: usize = 3;
/// The characters outside ASCII that a search without case takes for an ASCII letter: `s` and `k`.
const FOLDED_TO_ASCII: [(char, u8); 2] = [('\u{17f}', b's'), ('\u{212a}', b'k')];
/// Most branches of alternations whose trigrams are looked up. A list of more words is searched in
/// the text in less time.
const MAX_BRANCHES: usize = 64;

/// Returns the filter of a text. An empty one tells nothing: the text holds a character outside
/// ASCII that a search without case takes for an ASCII letter.
#[must_use]
pub fn filter_of(text: &str) -> Vec<u8> {
    if FOLDED_TO_ASCII.iter().any(|(folded, _)| text.contains(*folded)) {
        return Vec::new();
    }
    let mut seen = vec![0_u64; 1 << (SLOT_BITS - 6)];
    let mut gram = 0;
    for (i, byte) in text.bytes().enumerate() {
        gram = (gram << 8) | u32::from(byte.to_ascii_lowercase());
        if i >= 2 {
            let slot = slot(gram);
            seen[slot >> 6] |= 1 << (slot & 63);
        }
    }
    let n_grams: usize = seen.iter().map(|word| word.count_ones() as usize).sum();
    // Never empty, even if the text has no trigram.
    let mut filter = vec![0; (n_grams * BITS_PER_2_GRAMS).div_ceil(16).max(1)];
    for (i, word) in seen.into_iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let (byte, bit) = place((i << 6) + word.trailing_zeros() as usize, &filter);
            filter[byte] |= bit;
            word &= word - 1;
        }
    }
    filter
}

/// Returns the hash of the last three bytes of `gram`.
fn slot(gram: u32) -> usize {
    ((gram & 0x00ff_ffff).wrapping_mul(0x9e37_79b1) >> (32 - SLOT_BITS)) as usize
}

/// Returns where the bit of a slot is in a filter: the byte, and the bit in it.
fn place(slot: usize, filter: &[u8]) -> (usize, u8) {
    let bit = (slot * (filter.len() * 8)) >> SLOT_BITS;
    (bit >> 3, 1 << (bit & 7))
}

/// The trigrams that a text must hold to match a pattern.
#[derive(Debug, Default)]
pub struct NeededGrams {
    /// The slots of trigrams that are all needed.
    slots: Vec<usize>,
    /// Of each alternation, one branch is needed.
    one_of: Vec<Vec<Self>>,
}

impl NeededGrams {
    /// Returns what a regular expression needs. A pattern that cannot be parsed needs nothing.
    #[must_use]
    pub fn of_regex(pattern: &str, ignore_case: bool) -> Self {
        let parsed = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .case_insensitive(ignore_case)
            .build()
            // As the matcher does it, so that both read the same expression.
            .parse(&format!("(?:{pattern})"));
        let mut reading = Reading { n_left: MAX_BRANCHES, ..Reading::default() };
        if let Ok(hir) = parsed {
            reading.read(&hir);
            reading.end_run();
        }
        reading.needed
    }

    /// Returns what a literal text needs.
    #[must_use]
    pub fn of_text(text: &str, ignore_case: bool) -> Self {
        Self::of_regex(&regex_syntax::escape(text), ignore_case)
    }

    /// Whether every text may match.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.slots.is_empty() && self.one_of.is_empty()
    }

    /// Whether the text of a filter may match.
    #[must_use]
    pub fn may_be_in(&self, filter: &[u8]) -> bool {
        let has = |slot: &usize| {
            let (byte, bit) = place(*slot, filter);
            filter[byte] & bit != 0
        };
        filter.is_empty()
            || self.slots.iter().all(has)
                && self.one_of.iter().all(|branches| branches.iter().any(|b| b.may_be_in(filter)))
    }
}

/// Reads an expression from its first to its last part.
#[derive(Default)]
struct Reading {
    /// Bytes, folded, that every match holds in a row, up to the part that is read now.
    run: Vec<u8>,
    needed: NeededGrams,
    /// Number of branches that may still be read.
    n_left: usize,
}

impl Reading {
    fn read(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                self.run.extend(literal.0.iter().map(u8::to_ascii_lowercase));
            }
            HirKind::Class(class) => match letter(class) {
                Some(letter) => self.run.push(letter),
                None => self.end_run(),
            },
            HirKind::Repetition(part) => {
                // The first repetition follows what is before it.
                if part.min > 0 {
                    self.read(&part.sub);
                }
                self.end_run();
            }
            HirKind::Capture(part) => self.read(&part.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.read(part)),
            HirKind::Alternation(parts) => {
                self.end_run();
                self.read_branches(parts);
            }
        }
    }

    fn read_branches(&mut self, parts: &[Hir]) {
        let Some(n_left) = self.n_left.checked_sub(parts.len()) else { return };
        self.n_left = n_left;
        let mut branches = Vec::new();
        for part in parts {
            let mut branch = Self { n_left: self.n_left, ..Self::default() };
            branch.read(part);
            branch.end_run();
            self.n_left = branch.n_left;
            if branch.needed.is_nothing() {
                return;
            }
            branches.push(branch.needed);
        }
        self.needed.one_of.push(branches);
    }

    /// Ends a run of bytes: what follows it differs from match to match.
    fn end_run(&mut self) {
        let gram = |bytes: &[u8]| bytes.iter().fold(0, |gram, byte| (gram << 8) | u32::from(*byte));
        self.needed.slots.extend(self.run.windows(3).map(|bytes| slot(gram(bytes))));
        self.run.clear();
    }
}

/// Returns the folded ASCII letter, if a class matches nothing but its cases.
fn letter(class: &Class) -> Option<u8> {
    let mut letters = Vec::new();
    match class {
        Class::Unicode(class) => {
            for range in class.ranges() {
                // Three characters are the cases of `k`.
                letters.extend((range.start()..=range.end()).take(4));
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                letters.extend((range.start()..=range.end()).map(char::from).take(4));
            }
        }
    }
    let fold = |c: &char| match FOLDED_TO_ASCII.iter().find(|(folded, _)| folded == c) {
        Some((_, letter)) => Some(*letter),
        None => u8::try_from(*c).ok().filter(u8::is_ascii).map(|c| c.to_ascii_lowercase()),
    };
    let first = fold(letters.first()?)?;
    letters.iter().all(|c| fold(c) == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn may_match(pattern: &str, ignore_case: bool, text: &str) -> bool {
        NeededGrams::of_regex(pattern, ignore_case).may_be_in(&filter_of(text))
    }

    #[test]
    fn a_text_without_what_a_pattern_needs_is_ruled_out() {
        let text = "fn retry(limit: u32) -> Backoff {\n    Backoff::new(limit)\n}\n";
        for pattern in
            ["zqxjkvb", "retry.*zqxjkvb", "(zqxj|vbwp)", "(?i)ZQXJKVB", "x*zqxj+", "(zqxjkvb){2,}"]
        {
            assert!(!may_match(pattern, false, text), "{pattern}");
            assert!(!may_match(pattern, true, text), "{pattern}");
        }
        // It needs nothing, or has too many branches.
        let many = (0..100).map(|n| format!("zqxj{n}")).collect::<Vec<_>>().join("|");
        for pattern in ["zq", "(zqxjkvb)?", "[zq][xj][kv]", "zqxj|", "(", "", &many] {
            assert!(may_match(pattern, false, text), "{pattern}");
        }
        assert!(!NeededGrams::of_text("a.b.c.d(", false).may_be_in(&filter_of(text)));
    }

    #[test]
    fn a_text_that_matches_in_another_case_is_never_ruled_out() {
        for text in ["KELVIN", "\u{212a}elvin", "mi\u{17f}\u{17f}ing", "MISSING", "ÉCOLE"] {
            let pattern = text.to_lowercase().replace('\u{17f}', "s");
            assert!(may_match(&pattern, true, text), "{text}");
            assert!(may_match(text, false, text), "{text}");
        }
    }

    /// Parts of patterns that need something, nothing, or one of several things.
    const PARTS: [&str; 22] = [
        "a", "bca", "Kc", "s", "S", "k", "é", "ab ", "(b|cab)", "(abc|bca|Ks)", "[a-c]", "[Kk]",
        "a+", "(abc)+", "(ab){2}", "c?", ".*", "(?i)", "^", r"\b", "\n", "a|",
    ];

    proptest! {
        #[test]
        fn whatever_matches_may_match(
            texts in proptest::collection::vec("[a-cA-CkKsS\u{17f}\u{212a}é\n ]{0,24}", 1..8),
            parts in proptest::collection::vec(proptest::sample::select(&PARTS), 1..6),
            ignore_case: bool,
        ) {
            let pattern = parts.concat();
            let regex = regex::RegexBuilder::new(&format!("(?:{pattern})"))
                .multi_line(true)
                .case_insensitive(ignore_case)
                .build()
                .unwrap();
            for text in texts {
                if regex.is_match(&text) {
                    prop_assert!(may_match(&pattern, ignore_case, &text), "{pattern:?} {text:?}");
                }
            }
        }
    }
}
