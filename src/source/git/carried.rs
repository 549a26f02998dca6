//! Finds the lines of a text in an older version of it, whatever a formatter did in between.
//!
//! A text is reduced to its words and operators, without what formatters change. A line is *carried
//! over* from an older version if its reduced text occurs there, and no other line of the newer
//! version has a better claim to that place. A short line, or one that occurs often, proves little:
//! there, the difference of the two versions by lines decides ([`super::aligned::Aligned`]).

use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memmem;

use super::aligned::Aligned;

/// A place in a reduced text: the first byte and the one after the last.
pub(super) type Span = (u32, u32);

/// How much of the layout counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Nothing of it: not white space, line breaks, quotes, commas, semicolons, parentheses and
    /// braces, nor the signs that begin a line of a comment.
    Words,
    /// Everything but the amount of white space: lines as they are, without indentation.
    Lines,
}

/// A text in its reduced form.
pub(super) struct Reduced {
    stream: Vec<u8>,
    /// By line: where it is in the stream. The span of a line without words is empty.
    lines: Vec<Span>,
    /// By line: what makes it equal to another one.
    keys: Vec<u64>,
    /// Number of bytes at each end of a span that the lines beside it share.
    margin: u32,
}

/// Most places at which a line is looked for; a line that occurs more often is looked for together
/// with what is before or after it.
const MAX_PLACES: usize = 24;
/// Number of bytes by which such a line is extended.
const WIDENED: u32 = 40;
/// Most bytes on each side of a place that are compared.
const MAX_AROUND: usize = 160;
/// A line of this many bytes that occurs once in both versions is the same line.
const CERTAIN: usize = 8;
/// Any other line is the same if so many bytes of it and around it agree.
const ENOUGH: usize = 40;
/// Most bytes on each side that decide between places.
const NEAR: usize = 48;
/// So many of them are around it, because even a long line may occur anywhere.
const BESIDE: usize = 16;
/// Signs that begin a line of a comment. Formatters add and remove them when they fill lines.
const COMMENT: [&str; 10] = ["///", "//!", "//", "/**", "/*", "*/", "## ", "# ", "* ", "-- "];

impl Reduced {
    pub(super) fn new(text: &str, form: Form) -> Self {
        let mut stream = Vec::with_capacity(text.len());
        let (mut lines, mut keys) = (Vec::new(), Vec::new());
        let mut before = ' ';
        for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
            let mut rest = line.trim();
            let mut is_parted = true;
            let mut start = None;
            match form {
                Form::Words => {
                    while let Some(after) = COMMENT.iter().find_map(|sign| rest.strip_prefix(sign))
                    {
                        rest = after.trim_start();
                    }
                    rest = rest.strip_suffix('\\').unwrap_or(rest);
                }
                Form::Lines => stream.push(b'\n'),
            }
            for c in rest.chars() {
                let is_layout = match form {
                    Form::Words => is_layout(c),
                    Form::Lines => c.is_whitespace(),
                };
                if is_layout {
                    is_parted = true;
                    continue;
                }
                let parts = match form {
                    Form::Words => is_word(before) && is_word(c) && !stream.is_empty(),
                    Form::Lines => start.is_some(),
                };
                if is_parted && parts {
                    stream.push(b' ');
                }
                start = start.or(Some(stream.len()));
                is_parted = false;
                before = c;
                stream.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            let end = place(stream.len());
            let mut key = DefaultHasher::new();
            match start {
                Some(start) => stream[start..].hash(&mut key),
                None => line.chars().filter(|c| !c.is_whitespace()).for_each(|c| c.hash(&mut key)),
            }
            keys.push(key.finish());
            // A line as it is includes the line breaks around it.
            lines.push(match (form, start) {
                (_, None) => (end, end),
                (Form::Words, Some(start)) => (place(start), end),
                (Form::Lines, Some(start)) => (place(start) - 1, end + 1),
            });
        }
        if form == Form::Lines {
            stream.push(b'\n');
        }
        Self { stream, lines, keys, margin: u32::from(form == Form::Lines) }
    }

    /// Returns what makes each line equal to another one, whatever its white space.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns the lines that a place touches, 0-based: the first, and the one after the last.
    fn rows(&self, (start, end): Span) -> (usize, usize) {
        let (start, end) = (start + self.margin, end.saturating_sub(self.margin));
        let first = self.lines.partition_point(|line| line.1 <= start);
        (first, self.lines.partition_point(|line| line.0 < end).max(first))
    }

    /// Returns the place of an older version that the difference of the two holds for a place of this
    /// one.
    pub(super) fn counterpart(&self, span: Span, older: &Self, aligned: &Aligned) -> Option<Span> {
        let (first, end) = self.rows(span);
        let last = end.checked_sub(1).filter(|last| *last >= first)?;
        let in_older = |row: usize| Some(older.lines[aligned.older(row)?]);
        let start = in_older(first)?.0 + (span.0 - self.lines[first].0);
        let end = in_older(last)?.0 + (span.1 - self.lines[last].0);
        let at = (start, end.max(start));
        (self.text(span) == older.text(at)).then_some(at)
    }

    /// Returns where a line (1-based) is; `None` beyond the end, and for a line without words.
    pub(super) fn line(&self, number: u32) -> Option<Span> {
        let span = *self.lines.get(number.checked_sub(1)? as usize)?;
        (span.0 < span.1).then_some(span)
    }

    /// Returns the reduced text of a place.
    pub(super) fn text(&self, (start, end): Span) -> &[u8] {
        self.stream.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the words of a place.
    pub(super) fn words(&self, span: Span) -> Vec<&[u8]> {
        let is_no_word = |b: &u8| !(b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80);
        self.text(span).split(is_no_word).filter(|word| !word.is_empty()).collect()
    }

    /// Returns the lines in a range of the text that have words.
    pub(super) fn lines_between(&self, (start, end): Span) -> impl Iterator<Item = Span> {
        let first = self.lines.partition_point(|line| line.1 <= start);
        self.lines[first..]
            .iter()
            .copied()
            .take_while(move |line| line.0 < end)
            .filter(|line| line.0 < line.1)
    }

    /// Returns the number of bytes.
    pub(super) fn size(&self) -> usize {
        self.stream.len()
    }

    pub(super) fn all(&self) -> Span {
        (0, place(self.stream.len()))
    }

    /// Whether two texts are the same but for their layout.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.stream == other.stream
    }

    /// Returns the number of places of a text, at most `MAX_PLACES + 1`.
    pub(super) fn n_places(&self, text: &[u8]) -> usize {
        self.places(text).take(MAX_PLACES + 1).count()
    }

    /// Finds a text where it is not a part of a longer word.
    fn places<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
        let is_part = |b: Option<&u8>| {
            b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80)
        };
        let at_start = is_part(text.first());
        let at_end = is_part(text.last());
        memmem::find_iter(&self.stream, text)
            .filter(move |at| {
                !(at_start && *at > 0 && is_part(self.stream.get(at - 1))
                    || at_end && is_part(self.stream.get(at + text.len())))
            })
            .map(place)
    }

    /// Returns where the text of a place of this version is in an older one, if it was carried over
    /// from there. With the difference of the two, a line that both have is no candidate for another
    /// one.
    pub(super) fn carried(
        &self,
        span: Span,
        older: &Self,
        aligned: Option<&Aligned>,
    ) -> Option<Span> {
        let text = self.text(span);
        if text.is_empty() {
            return None;
        }
        let length = span.1 - span.0;
        let is_certain =
            || length as usize >= CERTAIN && self.n_places(text) == 1 && older.n_places(text) == 1;
        let own = self.rows(span);
        let is_own = |row: usize| (own.0..own.1).contains(&row);
        let asks = |at: &u32| {
            let (first, end) = self.rows((*at, at + length));
            *at == span.0
                || aligned
                    .is_none_or(|aligned| (first..end).any(|row| aligned.older(row).is_none()))
        };
        let is_free = |at: &u32| {
            let (first, end) = older.rows((*at, at + length));
            aligned
                .is_none_or(|aligned| (first..end).all(|row| aligned.newer(row).is_none_or(is_own)))
        };
        let few = |places: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            places.take(MAX_PLACES + 1).collect()
        };
        let there = few(&mut older.places(text).filter(is_free));
        if there.is_empty() {
            return None;
        }
        if there.len() == 1 && is_certain() {
            return Some((there[0], there[0] + length));
        }
        let here = few(&mut self.places(text).filter(asks));
        if here.len() <= MAX_PLACES && there.len() <= MAX_PLACES {
            return self.assigned(span, &here, older, &there);
        }
        // What is before a line tells it from the others; if that changed, what is after it does.
        let (start, end) = span;
        let wider_start = start.saturating_sub(WIDENED);
        let wider_end = end.saturating_add(WIDENED).min(self.all().1);
        [(wider_start, end), (start, wider_end)].into_iter().find_map(|wider| {
            let text = self.text(wider);
            let find = |version: &Self| -> Vec<u32> {
                few(&mut memmem::find_iter(&version.stream, text).map(place))
            };
            let (here, there) = (find(self), find(older));
            let found = match (&here[..], &there[..]) {
                ([_], [only]) => *only,
                _ if here.len() <= MAX_PLACES && there.len() <= MAX_PLACES => {
                    self.assigned(wider, &here, older, &there)?.0
                }
                _ => return None,
            };
            let at = found + (start - wider.0);
            is_free(&at).then_some((at, at + length))
        })
    }

    /// Assigns the places of a text in this version to those in an older one: the pair whose
    /// surroundings agree most comes first. Returns the place that `span` got.
    fn assigned(&self, span: Span, here: &[u32], older: &Self, there: &[u32]) -> Option<Span> {
        let length = (span.1 - span.0) as usize;
        let mut pairs = Vec::new();
        for (i, a) in here.iter().enumerate() {
            for (j, b) in there.iter().enumerate() {
                let (before, after) = self.around(*a, older, *b, length);
                // A block that was inserted after another one ends as that does, so what is before
                // a line says more.
                let claim = 2 * before.min(NEAR) + after.min(NEAR);
                pairs.push((claim, before + after, i.abs_diff(j), i, j));
            }
        }
        pairs.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(&b.2)));
        let (mut used_here, mut used_there) = (vec![false; here.len()], vec![false; there.len()]);
        for (_, around, _, i, j) in pairs {
            if used_here[i] || used_there[j] {
                continue;
            }
            (used_here[i], used_there[j]) = (true, true);
            if here[i] == span.0 {
                return (around >= BESIDE && length + around >= ENOUGH)
                    .then(|| (there[j], there[j] + place(length)));
            }
        }
        None
    }

    /// Counts the bytes that agree with those at a place of an older version that has the text of
    /// `span`: of the text, before it and after it.
    pub(super) fn agreement(&self, span: Span, older: &Self, at: Span) -> usize {
        let length = (span.1 - span.0) as usize;
        let (before, after) = self.around(span.0, older, at.0, length);
        length + before + after
    }

    /// Counts the bytes before two places that agree, and those after them.
    fn around(&self, a: u32, older: &Self, b: u32, length: usize) -> (usize, usize) {
        let (a, b) = (a as usize, b as usize);
        let before = self.stream[..a].iter().rev().zip(older.stream[..b].iter().rev());
        let after = self.stream[a + length..].iter().zip(&older.stream[b + length..]);
        let same = |(x, y): &(&u8, &u8)| x == y;
        (
            before.take(MAX_AROUND).take_while(same).count(),
            after.take(MAX_AROUND).take_while(same).count(),
        )
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || !c.is_ascii()
}

/// Whether a character is layout: formatters add, remove and exchange it.
fn is_layout(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '{' | '}' | ',' | ';' | '"' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(new: &str, line: u32, old: &str) -> Option<u32> {
        let (new, old) = (Reduced::new(new, Form::Words), Reduced::new(old, Form::Words));
        let at = new.carried(new.line(line)?, &old, None)?;
        Some(place(old.lines.partition_point(|line| line.1 <= at.0)) + 1)
    }

    #[test]
    fn formatting_carries_lines_over_and_a_changed_word_does_not() {
        let old = "x = call('first', second_argument, [third])\nreturn x\n";
        let black = "x = call(\n    \"first\",\n    second_argument,\n    [third],\n)\nreturn x\n";
        for line in [1, 2, 3, 4] {
            assert_eq!(carried(black, line, old), Some(1), "line {line}");
        }
        assert_eq!(carried(black, 5, old), None, "a line without words is nobody's");
        assert_eq!(carried(black, 6, old), Some(2));
        let changed = old.replace("second", "other");
        assert_eq!(carried(&changed, 1, old), None);
        let sign = old.replace("x = call", "x += call");
        assert_eq!(carried(&sign, 1, old), None, "an operator is not layout");
    }

    #[test]
    fn of_equal_lines_the_new_one_is_new() {
        let [open, truncate, close] = ["open", "truncate", "close"].map(|what| {
            format!("case file_to_{what}:\n  {what}_the_file_and_log_it(file)\n  break\n")
        });
        let (old, new) = (format!("{open}{close}"), format!("{open}{truncate}{close}"));
        let (old, new) = (&*old, &*new);
        assert_eq!(carried(new, 3, old), Some(3));
        assert_eq!(carried(new, 9, old), Some(6));
        assert_eq!(carried(new, 5, old), None);
        assert_eq!(carried(new, 6, old), None);
    }

    #[test]
    fn a_comment_that_was_filled_anew_is_the_same() {
        let old = "// The first sentence is\n// quite long.\nfn a_function() {}\n";
        let new = "// The first sentence is quite long.\nfn a_function() {\n}\n";
        assert_eq!(carried(new, 1, old), Some(1));
        assert_eq!(carried(new, 2, old), Some(3));
    }
}
