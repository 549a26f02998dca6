//! The difference of two versions of a file by lines, as git makes it.
//!
//! A line that occurs often, such as `return x`, belongs to the line of the older version that the
//! difference holds for it. Git moves the lines of a difference to where they end last, or to where
//! lines were removed; this module does the same, so it agrees with `git blame`.

use std::collections::HashSet;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most pairs of lines that may have to be compared. Versions that differ in more have no difference
/// by lines.
const MAX_PAIRS: usize = 25_000_000;
/// Most times that lines of one difference are moved by one line.
const MAX_SHIFTS: usize = 1_000_000;

/// The lines that two versions have in common.
pub(super) struct Aligned {
    /// By line of the newer version: the line of the older one.
    older: Vec<Option<u32>>,
    /// By line of the older version: the line of the newer one.
    newer: Vec<Option<u32>>,
}

impl Aligned {
    /// Compares two versions, which are the keys of their lines. Returns `None` if they differ in too
    /// many.
    pub(super) fn new(older: &[u64], newer: &[u64]) -> Option<Self> {
        let same = |(a, b): &(&u64, &u64)| a == b;
        let head = older.iter().zip(newer).take_while(same).count();
        let tail = older[head..].iter().rev().zip(newer[head..].iter().rev());
        let tail = tail.take_while(same).count();
        let (old_end, new_end) = (older.len() - tail, newer.len() - tail);
        // Only lines that both versions have can be in common.
        let (a, b) = (&older[head..old_end], &newer[head..new_end]);
        let (in_a, in_b): (HashSet<_>, HashSet<_>) = (a.iter().collect(), b.iter().collect());
        let shared = |lines: &[u64], other: &HashSet<&u64>| -> (Vec<usize>, Vec<u64>) {
            let known = lines.iter().enumerate().filter(|(_, line)| other.contains(line));
            known.map(|(at, line)| (at + head, *line)).unzip()
        };
        let ((a_at, a), (b_at, b)) = (shared(a, &in_b), shared(b, &in_a));
        if a.len().saturating_mul(b.len()) > MAX_PAIRS {
            return None;
        }
        let mut pairs: Vec<[usize; 2]> = (0..head).map(|at| [at, at]).collect();
        for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                pairs.extend((0..len).map(|n| [a_at[old_index + n], b_at[new_index + n]]));
            }
        }
        pairs.extend((0..tail).map(|n| [old_end + n, new_end + n]));
        pairs.push([older.len(), newer.len()]);
        let mut shifts = MAX_SHIFTS;
        settle(&mut pairs, 0, older, &mut shifts);
        settle(&mut pairs, 1, newer, &mut shifts);
        pairs.pop();
        let mut found = Self { older: vec![None; newer.len()], newer: vec![None; older.len()] };
        for [old, new] in pairs {
            found.older[new] = u32::try_from(old).ok();
            found.newer[old] = u32::try_from(new).ok();
        }
        Some(found)
    }

    /// Returns the line of the older version that a line of the newer one is; 0-based.
    pub(super) fn older(&self, line: usize) -> Option<usize> {
        (*self.older.get(line)?).map(|line| line as usize)
    }

    /// Returns the line of the newer version that a line of the older one is; 0-based.
    pub(super) fn newer(&self, line: usize) -> Option<usize> {
        (*self.newer.get(line)?).map(|line| line as usize)
    }

    /// Returns the share of the lines of both versions that they have in common.
    pub(super) fn share(&self) -> f64 {
        let common = self.older.iter().flatten().count();
        #[expect(clippy::cast_precision_loss, reason = "a file has few lines")]
        let share = 2.0 * common as f64 / (self.older.len() + self.newer.len()).max(1) as f64;
        share
    }
}

/// Moves each run of lines that only one side has, as git does: to the last place at which the
/// difference says the same and the other side has such lines, too; otherwise to the last place.
/// `pairs` are the lines in common and the ends; `lines` are those of `side`.
fn settle(pairs: &mut [[usize; 2]], side: usize, lines: &[u64], shifts: &mut usize) {
    /// Returns the lines before a pair that only one side has.
    fn run(pairs: &[[usize; 2]], side: usize, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| pairs[before][side] + 1)..pairs[at][side]
    }
    let mut at = 0;
    while at < pairs.len() {
        if run(pairs, side, at).is_empty() {
            at += 1;
            continue;
        }
        let best = loop {
            let before = run(pairs, side, at).len();
            while at > 0
                && *shifts > 0
                && lines[pairs[at - 1][side]] == lines[run(pairs, side, at).end - 1]
            {
                pairs[at - 1][side] = run(pairs, side, at).end - 1;
                at -= 1;
                *shifts -= 1;
            }
            let is_beside = |pairs: &[[usize; 2]], at| !run(pairs, 1 - side, at).is_empty();
            let mut best = is_beside(pairs, at).then_some(at);
            while at + 1 < pairs.len()
                && *shifts > 0
                && lines[run(pairs, side, at).start] == lines[pairs[at][side]]
            {
                pairs[at][side] = run(pairs, side, at).start;
                at += 1;
                *shifts -= 1;
                best = is_beside(pairs, at).then_some(at).or(best);
            }
            if run(pairs, side, at).len() == before {
                break best;
            }
        };
        while best.is_some_and(|best| at > best) {
            pairs[at - 1][side] = run(pairs, side, at).end - 1;
            at -= 1;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::carried::{Form, Reduced};
    use super::super::tests::git;
    use super::*;

    /// The lines of the newer text that git's own difference shows as added, and those of `Aligned`.
    #[track_caller]
    fn added(older: &str, newer: &str) -> [Vec<usize>; 2] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git(root, &["init", "-q"]);
        fs::write(root.join("a"), older).unwrap();
        git(root, &["add", "-A"]);
        fs::write(root.join("a"), newer).unwrap();
        let patch = git(root, &["diff", "-U0", "-w", "--no-indent-heuristic", "--no-color"]);
        let hunks = patch.lines().filter_map(|line| line.strip_prefix("@@ "));
        let gits = hunks.flat_map(|hunk| {
            let plus = hunk.split(['+', '@']).nth(1).unwrap().trim();
            let (start, n) = plus.split_once(',').unwrap_or((plus, "1"));
            let (start, n): (usize, usize) = (start.parse().unwrap(), n.parse().unwrap());
            start..start + n
        });
        let keys = |text: &str| Reduced::new(text, Form::Lines).keys().to_vec();
        let aligned = Aligned::new(&keys(older), &keys(newer)).unwrap();
        let own = (0..newer.lines().count()).filter(|line| aligned.older(*line).is_none());
        [gits.collect(), own.map(|line| line + 1).collect()]
    }

    #[test]
    fn repeated_lines_belong_where_git_sees_them() {
        let block = |name: &str| format!("def {name}\n  x = 1\nend\n\n");
        let [a, b, c] = ["a", "b", "c"].map(block);
        for (older, newer) in [
            (format!("{a}{c}"), format!("{a}{b}{c}")),
            (format!("{a}{b}{c}"), format!("{a}{c}")),
            (a.repeat(3), a.repeat(5)),
            (format!("{a}x\n{b}"), format!("{a}y\n{a}x\n{b}")),
            (String::new(), a.clone()),
            (a.clone(), format!("{a}{a}end\n")),
        ] {
            let [gits, own] = added(&older, &newer);
            assert_eq!(own, gits, "from:\n{older}\nto:\n{newer}");
        }
    }
}
