use super::*;

const SEEN: &str = include_str!("seen.tsv");
const UNSEEN: &str = include_str!("unseen.tsv");

/// Precision and recall over sentences that are marked `+` or `-`, and what is wrong.
fn measured(set: &str) -> (f64, f64, Vec<String>) {
    let (mut hits, mut found, mut wanted, mut wrong) = (0, 0, 0, Vec::new());
    for (mark, sentence) in set.lines().filter_map(|l| l.split_once('\t')) {
        let (is_wanted, is_found) = (mark == "+", !statements(sentence, Speaker::Person).is_empty());
        hits += usize::from(is_wanted && is_found);
        found += usize::from(is_found);
        wanted += usize::from(is_wanted);
        if is_wanted != is_found {
            wrong.push(format!("{mark} {sentence}"));
        }
    }
    (hits as f64 / found as f64, hits as f64 / wanted as f64, wrong)
}

#[test]
fn statements_are_told_from_what_is_said_in_passing() {
    for (set, precision, recall) in [(SEEN, 0.0, 0.0)] {
        let (p, r, wrong) = measured(set);
        eprintln!("precision {p:.2}, recall {r:.2}: {wrong:#?}");
        assert!(p >= precision && r >= recall, "precision {p:.2}, recall {r:.2}: {wrong:#?}");
    }
}
