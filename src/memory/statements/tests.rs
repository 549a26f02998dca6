use super::*;

const SEEN: &str = include_str!("seen.tsv");
const UNSEEN: &str = include_str!("unseen.tsv");

fn texts(text: &str, speaker: Speaker) -> Vec<String> {
    statements(text, speaker)
}

/// Returns precision and recall over sentences that are marked `+` or `-`, and the errors.
fn measured(set: &str) -> (f64, f64, Vec<String>) {
    let (mut hits, mut found, mut wanted, mut wrong) = (0, 0, 0, Vec::new());
    for (mark, sentence) in set.lines().filter_map(|l| l.split_once('\t')) {
        let (is_wanted, is_found) =
            (mark == "+", !statements(sentence, Speaker::Person).is_empty());
        hits += usize::from(is_wanted && is_found);
        found += usize::from(is_found);
        wanted += usize::from(is_wanted);
        if is_wanted != is_found {
            wrong.push(format!("{mark} {sentence}"));
        }
    }
    let share = |n: usize, of: usize| n as f64 / of as f64;
    (share(hits, found), share(hits, wanted), wrong)
}

/// The first set was known when the rules were made. Both sets were written before the rules.
#[test]
fn decisions_are_recognised_in_prompts() {
    for (set, precision, recall) in [(SEEN, 0.95, 0.95), (UNSEEN, 0.95, 0.85)] {
        let (p, r, wrong) = measured(set);
        assert!(p >= precision && r >= recall, "precision {p:.2}, recall {r:.2}: {wrong:#?}");
    }
}

#[test]
fn every_line_of_the_rules_is_understood() {
    let kinds = [
        "decision", "rule", "order", "fact", "not", "not-rule", "not-fact", "chat", "opener",
        "leans", "dangles", "stands", "same", "label", "line", "refusal", "not-refusal",
        "substitutes", "replaces", "negation", "clause", "common",
    ];
    for line in include_str!("rules.tsv").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (kind, rule) = line.split_once('\t').unwrap();
        assert!(kinds.contains(&kind) && !rule.is_empty(), "{line}");
        let is_plain = kind == "line"
            || rule.split(' ').all(|p| !p.is_empty() && p.to_lowercase() == p && !p.contains('\''));
        assert!(is_plain, "{line}");
    }
}

#[test]
fn code_quotations_and_output_are_no_statements() {
    let text = "Here is what I saw:\n\n```\nWe decided to never do this.\n```\n\n> We agreed on something else.\n\n    Always indent code.\n\n\
<log>\nNever print this.\n</log>\nwarning: never do this\nThe page says \"we decided to close\" in red.\n| We chose | a table |\n\
- We settled on `serde` for all files.\n  It reads both formats.\n";
    assert_eq!(texts(text, Speaker::Person), ["We settled on `serde` for all files."]);
}

#[test]
fn an_agent_advises_and_a_person_decides() {
    let text =
        "Use `Decimal` instead of `float` everywhere. It turned out that carts hold strings.";
    assert_eq!(texts(text, Speaker::Person).len(), 2);
    assert_eq!(texts(text, Speaker::Agent), ["It turned out that carts hold strings."]);
}

#[test]
fn a_statement_that_leans_on_the_sentence_before_takes_it_along() {
    let text = "The login test was flaky. The reason is that the proxy closes idle connections.\n\nWe moved on. This is why we pin the port.";
    let found = texts(text, Speaker::Agent);
    assert_eq!(
        found[0],
        "The login test was flaky. The reason is that the proxy closes idle connections."
    );
    assert_eq!(found[1], "We moved on. This is why we pin the port.");
}

/// Bug: "Never go above." was told without its subject.
#[test]
fn a_statement_without_a_subject_takes_the_sentence_before_along_or_is_none() {
    for (text, want) in [
        ("The limit is 300 tokens. Never go above.", "The limit is 300 tokens. Never go above."),
        (
            "We decided on a limit of 300. Never exceed that.",
            "We decided on a limit of 300. Never exceed that.",
        ),
        ("Never go above 300 tokens.", "Never go above 300 tokens."),
        ("Never write to the cache below the lock.", "Never write to the cache below the lock."),
    ] {
        assert_eq!(texts(text, Speaker::Person).first().map(String::as_str), Some(want), "{text}");
    }
    for text in ["Never go above.", "Always do it like that.", "Never change this."] {
        assert_eq!(texts(text, Speaker::Person), [""; 0], "{text}");
    }
}

#[test]
fn a_decision_that_calls_itself_one_is_labelled_once() {
    for (text, want) in [
        ("Decision: we use one file.", "we use one file."),
        ("**Decision**: we use one file.", "we use one file."),
        ("Note: the cache is cold.", "the cache is cold."),
        ("The cache: we use one file.", "The cache: we use one file."),
    ] {
        assert_eq!(without_label(text), want);
    }
}

/// Any text gives only a few short statements.
#[test]
fn a_text_of_many_statements_gives_few() {
    let many: String = (0..50_000).map(|i| format!("Note that the thing {i} is odd. ")).collect();
    let all = statements(&format!("{many}We decided to stop."), Speaker::Person);
    assert_eq!(all.len(), MOST);
    let mixed: String = (0..50)
        .map(|i| format!("Note that the thing {i} is odd. "))
        .chain(["We decided to stop here.".into()])
        .collect();
    assert!(
        texts(&mixed, Speaker::Person).contains(&"We decided to stop here.".to_string()),
        "the strongest are kept"
    );
    let long = format!("We decided to {}.", "x".repeat(5_000));
    assert!(texts(&long, Speaker::Person).iter().all(|t| t.len() <= LONGEST));
    for odd in [
        "",
        "\u{0}",
        "```",
        "<a>",
        "we",
        "^ * ?",
        "“«`\"",
        &"`".repeat(1_000),
        &"never ".repeat(100_000),
    ] {
        let _ = statements(odd, Speaker::Agent);
    }
}

#[test]
fn nearly_equal_statements_are_one() {
    let same = [
        "We decided to never rename the cookie `sid`.",
        "please remember: We've decided to  never rename the cookie \"sid\"!",
    ];
    assert_eq!(id_of(same[0]), id_of(same[1]));
    for other in
        ["We decided to rename the cookie `sid`.", "We decided to never rename the cookie `pid`."]
    {
        assert_ne!(id_of(same[0]), id_of(other), "{other}");
    }
    assert_ne!(id_of("CI runs with 8 workers."), id_of("CI runs with 4 workers."));
    assert_ne!(id_of("Always use floats."), id_of("Never use floats."));
}
