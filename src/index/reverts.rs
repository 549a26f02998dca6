//! Reads from the message of a commit which commits it undoes: `This reverts commit 1a2b3c4`, and
//! `Revert "subject"`, which GitHub writes without a hash.

use xxhash_rust::xxh3::xxh3_64;

use crate::source::Commit;
use crate::store::Undone;

/// Most commits that one commit undoes.
const MAX_UNDONE: usize = 50;
/// Fewest and most digits of a hash in a message.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=64;
/// Beginnings of the subjects of commits that bring back what was reverted.
const REAPPLIED: [&str; 3] = ["reapply \"", "reland \"", "re-land \""];

/// Returns the commits that a commit undoes: those whose hashes its message names and, for the case
/// that none of these exists, the one whose subject it quotes.
pub(super) fn undone(commit: &Commit) -> Vec<Undone> {
    let words: Vec<&str> = commit.body.split_whitespace().collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        let Some((n_ids, _)) = n_words(&words[at..]) else { continue };
        let ids = words[at..].iter().take(n_ids).filter_map(|word| id(word));
        for id in ids.map(Undone::Id) {
            if found.len() < MAX_UNDONE && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found.extend(quoted_subject(&commit.subject).map(|subject| Undone::Subject(key(&subject))));
    found
}

/// Returns the hash by which a subject is found that another commit quotes.
pub(super) fn key(subject: &str) -> u64 {
    let mut plain = String::new();
    let mut rest = subject;
    // GitHub adds the number of the pull request, as in `Wait longer (#12)`, to some of them.
    while let Some((before, after)) = rest.split_once("(#") {
        plain.push_str(before);
        let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
        rest = match after[n_digits..].strip_prefix(')') {
            Some(end) if n_digits > 0 => end,
            _ => {
                plain.push_str("(#");
                after
            }
        };
    }
    plain.push_str(rest);
    let dense: String = plain.split_whitespace().collect();
    xxh3_64(dense.trim_end_matches('.').to_lowercase().as_bytes())
}

/// Returns a message without the words that name the commits that it undoes.
#[must_use]
pub fn without_undone(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        match n_words(&words[at..]) {
            None => {
                kept.push(*word);
                at += 1;
            }
            Some((_, n)) => at += n,
        }
    }
    kept.join(" ")
}

/// Returns the number of words at the beginning that name the commits that are undone, and that number
/// with the rest of the sentence: `This reverts commits 1a2b3c4 and 5d6e7f8.`, `Reverts owner/name#12`.
fn n_words(words: &[&str]) -> Option<(usize, usize)> {
    let is = |at: usize, wanted: &[&str]| {
        let word = words.get(at).map(|word| word.trim_end_matches([',', ':']).to_lowercase());
        word.is_some_and(|word| wanted.contains(&&*word))
    };
    let verb = usize::from(is(0, &["this"]));
    if !is(verb, &["reverts"]) {
        return None;
    }
    let first = verb + 1 + usize::from(is(verb + 1, &["commit", "commits"]));
    let mut end = first;
    while end < words.len() && (id(words[end]).is_some() || end > first && is(end, &["and"])) {
        end += 1;
    }
    if end == first {
        let is_number = words.get(first).is_some_and(|word| word.contains('#'));
        return is_number.then_some((first, first + 1));
    }
    // Of a merge: `reversing changes made to 9a8b7c6`.
    let is_merge = is(end, &["reversing"]) && is(end + 1, &["changes"]) && is(end + 2, &["made"]);
    Some((end, if is_merge { words.len().min(end + 5) } else { end }))
}

/// Returns the digits of a hash, without the marks around them.
fn id(word: &str) -> Option<String> {
    let digits = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_id = DIGITS.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_id.then(|| digits.to_lowercase())
}

/// Returns the subject of the commit that a subject says to undo.
fn quoted_subject(subject: &str) -> Option<String> {
    let after = |start: &str| {
        let head = subject.get(..start.len())?;
        head.eq_ignore_ascii_case(start).then(|| &subject[start.len()..])
    };
    let quoted = |rest: &str| rest.rfind('"').map(|end| rest[..end].to_string());
    if let Some(rest) = REAPPLIED.iter().find_map(|start| after(start)) {
        return quoted(rest).map(|subject| format!("Revert \"{subject}\""));
    }
    match after("revert \"") {
        Some(rest) => quoted(rest),
        None => after("revert: ").map(|rest| rest.trim().trim_matches('"').to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(subject: &str, body: &str) -> Vec<Undone> {
        undone(&Commit { subject: subject.into(), body: body.into(), ..commit() })
    }

    fn commit() -> Commit {
        Commit {
            id: "4f2a1c".into(),
            at: 0,
            subject: String::new(),
            body: String::new(),
            author: String::new(),
            files: Vec::new(),
        }
    }

    #[test]
    fn a_message_names_the_commits_that_it_undoes() {
        let id = |id: &str| Undone::Id(id.into());
        let subject = |subject: &str| Undone::Subject(key(subject));
        for (head, body, want) in [
            ("wait less", "This reverts commit 1A2B3C4d.", vec![id("1a2b3c4d")]),
            (
                "undo both",
                "They were slow.\n\nThis reverts\ncommits 1a2b3c4d, and `5d6e7f80`.",
                vec![id("1a2b3c4d"), id("5d6e7f80")],
            ),
            (
                "Revert \"wait longer (#10)\" (#12)",
                "Reverts owner/name#10",
                vec![subject("Wait longer (#10)")],
            ),
            ("Reapply \"wait longer\"", "", vec![subject("Revert \"wait longer\"")]),
            ("Revert \"Revert \"a\"\"", "", vec![subject("Revert \"a\" (#3)")]),
            ("revert: feat: a button", "", vec![subject("feat: a button")]),
            (
                "Revert \"a\"",
                "This reverts commit 1a2b3c4d, reversing\nchanges made to 5d6e7f80.",
                vec![id("1a2b3c4d"), subject("a")],
            ),
            ("revert the order of rows", "It reverts each row. commit 1a2b3c4d", Vec::new()),
            ("Revert “ä", "", Vec::new()),
        ] {
            assert_eq!(of(head, body), want, "{head}");
        }
    }

    #[test]
    fn the_reason_is_what_a_message_says_beside_them() {
        for (body, want) in [
            ("This reverts commit 1a2b3c4d.", ""),
            ("This reverts commit 1a2b3c4d. It lost\nrows.", "It lost rows."),
            ("It lost rows.\n\nReverts owner/name#12", "It lost rows."),
            (
                "This reverts commit 1a2b3c4d, reversing\nchanges made to 5d6e7f80.\n\nSlow.",
                "Slow.",
            ),
        ] {
            assert_eq!(without_undone(body), want);
        }
    }
}
