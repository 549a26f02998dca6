//! Finds where names are written, as whole words in the text of any file: one pass for all names.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::syntax::pascal_case;
use crate::work::WorkBudget;

/// Most places of one name that are kept. A name with more is in use.
pub(super) const MAX_PLACES: usize = 200;
/// Most bytes of a word that is looked up.
const MAX_WORD: usize = 200;

/// A place of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WordPlace {
    /// Position among the files that were read.
    pub(super) file: u32,
    /// 1-based.
    pub(super) line: u32,
    /// Bytes before it in its line.
    pub(super) column: u32,
    /// Whether the line may be a comment at this place.
    pub(super) may_be_comment: bool,
}

/// The places of names.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// By the position of the name; at most [`MAX_PLACES`] and one more, in the order of the files.
    pub(super) places: Vec<Vec<WordPlace>>,
    /// Words that end or begin with `_`, or that a value follows in a string: names may be built from
    /// them.
    parts: HashSet<String>,
    /// Whether every file was read.
    pub(super) is_complete: bool,
}

impl Words {
    /// Finds the places of names in files. `read` returns the text of the file at a position.
    pub(super) fn find(
        names: &[&str],
        n_files: usize,
        read: &(dyn Fn(usize) -> Option<String> + Sync),
        work: &WorkBudget,
    ) -> Self {
        let ids: FxHashMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let was_cut = AtomicBool::new(false);
        let in_files: Vec<InFile> = (0..n_files)
            .into_par_iter()
            .map(|file| {
                if !work.goes_on() {
                    was_cut.store(true, Ordering::Relaxed);
                    return InFile::default();
                }
                read(file).map(|text| in_file(&text, file, &ids)).unwrap_or_default()
            })
            .collect();
        let mut words = Self { places: vec![Vec::new(); names.len()], ..Self::default() };
        for InFile { places, parts } in in_files {
            for (name, place) in places {
                let all = &mut words.places[name as usize];
                if all.len() <= MAX_PLACES {
                    all.push(place);
                }
            }
            words.parts.extend(parts);
        }
        words.is_complete = !was_cut.into_inner();
        words
    }

    /// Whether the text has a word from which this name may be built: `visit_` of `visit_call`.
    pub(super) fn may_be_built(&self, name: &str) -> bool {
        let cuts = name.match_indices('_').map(|(index, _)| index).filter(|index| *index > 0);
        let mut capitals = name.char_indices().filter(|(index, c)| *index > 2 && c.is_uppercase());
        let is_camel = capitals.any(|(index, _)| self.parts.contains(&name[..index]));
        is_camel
            || cuts.into_iter().any(|index| {
                let (start, end) = (&name[..=index], &name[index..]);
                (start.len() > 2 && start.len() < name.len() && self.parts.contains(start))
                    || (end.len() > 2 && self.parts.contains(end))
            })
    }
}

#[derive(Default)]
struct InFile {
    places: Vec<(u32, WordPlace)>,
    parts: Vec<String>,
}

fn in_file(text: &str, file: usize, ids: &FxHashMap<&str, u32>) -> InFile {
    let mut file_words = InFile::default();
    let mut of_name: FxHashMap<u32, usize> = FxHashMap::default();
    let file = u32::try_from(file).unwrap_or(u32::MAX);
    for (line, number) in text.lines().zip(1..) {
        let mut comment_from = usize::MAX;
        let bytes = line.as_bytes();
        let is_word = |offset: usize| {
            bytes.get(offset).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80)
        };
        let mut offset = 0;
        while offset < bytes.len() {
            if !is_word(offset) {
                let begins = matches!(bytes[offset], b'#' | b'*' | b'%' | b';')
                    || line[offset..].starts_with("//")
                    || line[offset..].starts_with("--")
                    || line[offset..].starts_with("<!");
                if begins {
                    comment_from = comment_from.min(offset);
                }
                offset += 1;
                continue;
            }
            let start = offset;
            while is_word(offset) {
                offset += 1;
            }
            let word = &line[start..offset];
            if word.len() > MAX_WORD {
                continue;
            }
            let mut note = |word: &str| {
                let Some(id) = ids.get(word) else { return };
                let n = of_name.entry(*id).or_default();
                if *n > MAX_PLACES {
                    return;
                }
                *n += 1;
                let column = u32::try_from(start).unwrap_or(u32::MAX);
                let may_be_comment = comment_from < start;
                file_words
                    .places
                    .push((*id, WordPlace { file, line: number, column, may_be_comment }));
            };
            note(word);
            // `<user-card>` names `UserCard`, and `user-card` may name `userCard`.
            let is_kebab = bytes.get(offset) == Some(&b'-')
                && is_word(offset + 1)
                && (start == 0 || bytes[start - 1] != b'-');
            if is_kebab {
                let mut end = offset;
                while is_word(end) || (bytes.get(end) == Some(&b'-') && is_word(end + 1)) {
                    end += 1;
                }
                if end - start <= MAX_WORD {
                    let (camel, pascal) = unkebabed(&line[start..end]);
                    note(&camel);
                    note(&pascal);
                }
            }
            let is_part = word.starts_with('_') || word.ends_with('_');
            let is_special = word.starts_with("__") && word.ends_with("__");
            if word.len() > 2 && ((is_part && !is_special) || goes_on(&line[offset..])) {
                file_words.parts.push(word.to_string());
            }
        }
    }
    file_words.parts.sort_unstable();
    file_words.parts.dedup();
    file_words
}

/// Whether a word in a string goes on with a value: `'filter' . $name`, `filter${name}`.
fn goes_on(after: &str) -> bool {
    let is_filled = ["${", "{$", "#{", "{", "%s", "%v"].iter().any(|mark| after.starts_with(mark));
    let joined = after.strip_prefix(['\'', '"']).map(str::trim_start);
    is_filled || joined.is_some_and(|rest| rest.starts_with(['.', '+', '~', '&']))
}

/// Returns `userCard` and `UserCard` of `user-card`.
fn unkebabed(kebab: &str) -> (String, String) {
    let first = kebab.split('-').next().unwrap_or_default();
    (format!("{first}{}", pascal_case(&kebab[first.len()..])), pascal_case(kebab))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn find(names: &[&str], files: &[&str]) -> Words {
        let read = |i: usize| Some(files[i].to_string());
        Words::find(names, files.len(), &read, &WorkBudget::new(Arc::default()))
    }

    #[test]
    fn whole_words_are_found_in_any_text_and_in_the_case_of_tags() {
        let words = find(
            &["run", "UserCard", "ünit"],
            &["run runs re_run\n// run 'run'", "<user-card a>", "ünit wünit"],
        );
        let lines = |n: usize| words.places[n].iter().map(|p| (p.file, p.line)).collect::<Vec<_>>();
        assert_eq!(lines(0), [(0, 1), (0, 2), (0, 2)]);
        assert_eq!(lines(1), [(1, 1)]);
        assert_eq!(lines(2), [(2, 1)]);
        assert!(words.places[0][1].may_be_comment && !words.places[0][0].may_be_comment);
    }

    #[test]
    fn names_may_be_built_from_words_that_end_or_begin_with_an_underscore() {
        let words = find(&[], &["getattr(self, 'visit_' + kind)\nf(name + '_handler')"]);
        let php = find(&[], &["$this->{'filter' . $name}();"]);
        assert!(php.may_be_built("filterAuthor") && !php.may_be_built("filtered"));
        assert!(words.may_be_built("visit_call") && words.may_be_built("click_handler"));
        assert!(!words.may_be_built("visitor_call") && !words.may_be_built("handler"));
    }
}
