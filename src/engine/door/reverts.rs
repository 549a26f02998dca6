//! Says of a commit which later ones reverted it, and what it reverted itself.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::chunk::Chunk;
use crate::index::without_undone;
use crate::store::{CommitTable, Undone};
use crate::text::cut;

/// Most notes about one commit.
const MAX_NOTES: usize = 4;
/// Most steps from a commit to one that it undid, or that undid it, through others.
const MAX_STEPS: usize = 8;
/// Most characters of a reason.
const MAX_REASON: usize = 300;
/// Number of digits of a hash that are compared first; no message names a commit by fewer.
const PREFIX: usize = 7;
/// Number of digits of a commit that a line shows.
const DIGITS: usize = 9;

/// What another commit did to a commit, or it to the other one. Its text is data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RevertNote {
    /// reverted by, reapplied by, reverts or reapplies: the other commit.
    pub how: &'static str,
    /// The other commit, in hexadecimal digits.
    pub id: String,
    /// The day of the other commit: 2026-01-31.
    pub date: String,
    /// The reason that a later commit gives, or its subject; of an earlier one its subject.
    pub says: String,
}

impl RevertNote {
    /// The first digits of the other commit.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.get(..DIGITS).unwrap_or(&self.id)
    }
}

/// Which commits undid which, by their ids.
#[derive(Default)]
pub(in crate::engine) struct Reverts {
    /// Oldest first.
    undone_by: HashMap<String, Vec<String>>,
    undoes: HashMap<String, Vec<String>>,
}

impl Reverts {
    /// Finds the commits that others undo.
    pub(in crate::engine) fn of(table: &CommitTable) -> Self {
        let undoing = || table.commits.iter().enumerate().filter(|(_, c)| !c.undoes.is_empty());
        // Only what some message names is looked up among all commits.
        let mut by_prefix: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_subject: HashMap<u64, Vec<usize>> = HashMap::new();
        for undone in undoing().flat_map(|(_, commit)| &commit.undoes) {
            match undone {
                Undone::Id(id) => {
                    if let Some(prefix) = id.get(..PREFIX) {
                        by_prefix.entry(prefix).or_default();
                    }
                }
                Undone::Subject(key) => {
                    by_subject.entry(*key).or_default();
                }
            }
        }
        if by_prefix.is_empty() && by_subject.is_empty() {
            return Self::default();
        }
        for (at, commit) in table.commits.iter().enumerate() {
            if let Some(found) = commit.id.get(..PREFIX).and_then(|id| by_prefix.get_mut(id)) {
                found.push(at);
            }
            if let Some(found) = by_subject.get_mut(&commit.subject) {
                found.push(at);
            }
        }
        let mut reverts = Self::default();
        // The table begins with the newest commit.
        let undoing: Vec<_> = undoing().collect();
        for (at, commit) in undoing.into_iter().rev() {
            let named = |id: &String| {
                let found = by_prefix.get(id.get(..PREFIX)?)?.iter();
                found.copied().find(|of| *of > at && table.commits[*of].id.starts_with(&**id))
            };
            let ids = commit.undoes.iter().filter_map(|undone| match undone {
                Undone::Id(id) => named(id),
                Undone::Subject(_) => None,
            });
            let mut found: Vec<usize> = ids.collect();
            if found.is_empty() {
                found.extend(commit.undoes.iter().find_map(|undone| match undone {
                    Undone::Subject(key) => {
                        by_subject.get(key)?.iter().copied().find(|of| *of > at)
                    }
                    Undone::Id(_) => None,
                }));
            }
            for of in found {
                let of = &table.commits[of].id;
                reverts.undone_by.entry(of.clone()).or_default().push(commit.id.clone());
                reverts.undoes.entry(commit.id.clone()).or_default().push(of.clone());
            }
        }
        reverts
    }

    /// Returns how other commits relate to a commit, and their ids: those that undid it, or that undid
    /// these, and the first ones that it undid itself.
    fn of_commit<'r>(&'r self, id: &str) -> Vec<(&'static str, &'r str)> {
        fn of<'m>(map: &'m HashMap<String, Vec<String>>, id: &str) -> &'m [String] {
            map.get(id).map_or(&[][..], Vec::as_slice)
        }
        let mut found = Vec::new();
        let mut open: Vec<(&str, usize)> =
            of(&self.undone_by, id).iter().map(|by| (&**by, 1)).collect();
        open.reverse();
        while let Some((by, steps)) = open.pop() {
            found.push((if steps % 2 == 1 { "reverted by" } else { "reapplied by" }, by));
            if steps < MAX_STEPS && found.len() < MAX_NOTES {
                let next = of(&self.undone_by, by).iter().rev();
                open.extend(next.map(|by| (&**by, steps + 1)));
            }
        }
        for undone in of(&self.undoes, id) {
            let (mut at, mut steps) = (&**undone, 1);
            while let Some(next) = of(&self.undoes, at).first().filter(|_| steps < MAX_STEPS) {
                at = next;
                steps += 1;
            }
            found.push((if steps % 2 == 1 { "reverts" } else { "reapplies" }, at));
        }
        found.truncate(MAX_NOTES);
        found
    }

    /// Returns what reverted or reapplied a commit, and what it reverted or reapplied itself. `chunk_of`
    /// returns the chunk of a commit.
    pub(in crate::engine) fn notes_on(
        &self,
        id: &str,
        chunk_of: impl Fn(&str) -> Option<Arc<Chunk>>,
    ) -> Vec<RevertNote> {
        let note = |(how, other): (&'static str, &str)| {
            let chunk = chunk_of(other)?;
            let is_later = how.ends_with("by");
            Some(RevertNote {
                how,
                id: other.to_string(),
                date: chunk.created_at.format("%Y-%m-%d").to_string(),
                says: if is_later { reason(&chunk) } else { chunk.title.clone() },
            })
        };
        self.of_commit(id).into_iter().filter_map(note).collect()
    }
}

/// Returns the reason that the message of a commit gives for undoing another one, or its subject.
fn reason(chunk: &Chunk) -> String {
    let said = without_undone(chunk.text.strip_prefix(&*chunk.title).unwrap_or_default());
    if said.chars().any(char::is_alphanumeric) {
        cut(&said, MAX_REASON)
    } else {
        chunk.title.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::CommitFacts;

    #[test]
    fn a_chain_of_reverts_is_told_from_each_of_its_commits() {
        let commit = |id: &str, subject: u64, undoes: Vec<Undone>| CommitFacts {
            id: format!("{id:0<40}"),
            at: 0,
            author: 0,
            files: Vec::new(),
            subject,
            undoes,
        };
        let id = |id: &str| Undone::Id(format!("{id:0<9}"));
        let table = CommitTable {
            commits: vec![
                commit("f", 1, vec![id("ffffff1")]),
                commit("e", 2, vec![Undone::Subject(3)]),
                commit("d", 3, vec![id("a")]),
                commit("c", 9, Vec::new()),
                commit("b", 9, vec![Undone::Subject(9)]),
                commit("a", 9, Vec::new()),
            ],
            ..CommitTable::default()
        };
        let reverts = Reverts::of(&table);
        let of = |id: &str| -> Vec<String> {
            let full = format!("{id:0<40}");
            let row = |(how, other): (&str, &str)| format!("{how} {}", &other[..1]);
            reverts.of_commit(&full).into_iter().map(row).collect()
        };
        assert_eq!(of("a"), ["reverted by b", "reverted by d", "reapplied by e"]);
        assert_eq!(of("d"), ["reverted by e", "reverts a"]);
        assert_eq!(of("e"), ["reapplies a"]);
        assert!(of("c").is_empty() && of("f").is_empty());
    }
}
