//! Finds the subject of a prompt or query: tells words that name something from words that do not.

use crate::search::is_stop_word;

/// Words of prompts that give an order or are polite.
const FILLERS: &str = " a add again agreed also always and any anything are before bit change check could create did do does fails find fix for from get \
give go going good great happens have hello help here hey hi how i if in is it its just let lets like look looks made make me mean means morning my need \
needs new next nice no not now of ok okay on or our please put really right run same say see should show since so some something soon still sure take tell \
thank thanks that the then there thing things this time to today try up us want wants was way we well were what when where which who why will with works \
would write wrong yes yesterday yet you your ";

/// Words of queries for recent things, such as "recent project context".
const GENERIC: &str = " all activity changes context events everything facts happened history know known last lately latest memories memory news notes \
overview previous project recent recently remember remembered repo repository session sessions state status summary work worked ";

fn is_in(list: &str, word: &str) -> bool {
    // Blanks around the word, so that only whole words of the list match.
    !word.is_empty() && list.contains(&format!(" {word} "))
}

/// Words that do not help to choose a file of code, and name something in a memory.
const NAMING: &str = " class classes code file files function functions handle handled handles handling implement implementation implemented implements \
method methods ";

/// Returns whether a word in lower case names nothing in a prompt.
pub(super) fn is_common(word: &str) -> bool {
    is_in(FILLERS, word) || is_stop_word(word) && !is_in(NAMING, word)
}

/// Words that ask for a reason, and words for making a decision.
const REASONS: &str = " why warum wieso weshalb reason grund ";
const DECISIONS: &str = " agree agreed choose chose chosen decide decided decision pick picked select selected settle settled beschlossen entscheiden entscheidung \
entschieden gewählt wählten ";
const OURS: &str = " we our us wir uns unser unsere team ";

/// Returns whether a prompt asks what was decided, or why.
pub(super) fn is_for_decision(prompt: &str) -> bool {
    let all: Vec<String> = words(prompt).map(|(_, word)| word).collect();
    let has = |list: &str| all.iter().any(|word| is_in(list, word));
    has(OURS) && (has(REASONS) || has(DECISIONS))
}

/// Returns the words of a text with the form that the lists use.
fn words(text: &str) -> impl Iterator<Item = (&str, String)> {
    text.split_whitespace()
        .map(|word| (word, word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()))
}

/// Returns the words of a prompt that name its subject; empty if there are none ("ok, go on").
pub(super) fn subject(prompt: &str) -> String {
    let named: Vec<&str> = words(prompt)
        .filter(|(_, word)| !word.is_empty() && !is_in(FILLERS, word) && !is_in(DECISIONS, word))
        .map(|(as_typed, _)| as_typed)
        .collect();
    named.join(" ")
}

/// Returns whether a query names nothing, or only asks for recent things.
pub(super) fn is_for_recent(query: &str) -> bool {
    words(query).all(|(_, word)| {
        word.is_empty() || is_in(GENERIC, &word) || is_in(FILLERS, &word) || is_stop_word(&word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_names_nothing_has_no_subject() {
        for prompt in ["", "ok go on", "Yes, please!", "thanks, that works!", "…"] {
            assert_eq!(subject(prompt), "", "{prompt}");
        }
        assert_eq!(subject("What does `E4711` mean?"), "`E4711`");
        assert_eq!(subject("Please rename the session cookie"), "rename session cookie");
    }

    #[test]
    fn a_question_for_a_decision_is_told_from_an_order() {
        for prompt in [
            "why did we choose sqlite?",
            "What did we decide about the cookie",
            "Why do we use Redis here?",
            "warum haben wir SQLite genommen?",
        ] {
            assert!(is_for_decision(prompt), "{prompt}");
        }
        for prompt in ["pick a colour", "why is the build red?", "we need a test"] {
            assert!(!is_for_decision(prompt), "{prompt}");
        }
        assert_eq!(subject("why did we choose sqlite?"), "sqlite?");
    }

    #[test]
    fn a_query_for_what_is_recent_is_told_from_one_for_a_subject() {
        for query in [
            "",
            " ",
            "recent project context",
            "What happened in the last session?",
            "latest changes",
            "everything you know",
            "?",
        ] {
            assert!(is_for_recent(query), "{query}");
        }
        for query in ["cookie", "recent cookie changes", "last release", "最近"] {
            assert!(!is_for_recent(query), "{query}");
        }
    }
}
