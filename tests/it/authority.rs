//! Which memories hold: what a person says outranks what an agent says, a correction what it corrects,
//! and an echo of what an agent was told is not news.

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::support::hooks::{contents, told};

/// A session of an agent.
struct Session<'a> {
    p: &'a Project,
    id: &'a str,
}

impl Session<'_> {
    fn begin(&self) -> String {
        told(self.p, "session-start", json!({ "session_id": self.id, "source": "startup" }))
    }

    fn ask(&self, prompt: &str) -> String {
        told(self.p, "prompt-submit", json!({ "session_id": self.id, "prompt": prompt }))
    }

    fn answer(&self, text: &str) {
        told(self.p, "stop", json!({ "session_id": self.id, "last_assistant_message": text }));
    }

    fn end(&self) {
        told(self.p, "session-end", json!({ "session_id": self.id }));
    }
}

fn found(p: &Project, query: &str) -> Vec<String> {
    let found = p.json(&["memory", "search", query]);
    let content = |one: &Value| one["memory"]["content"].as_str().unwrap().to_string();
    found["results"].as_array().unwrap().iter().map(content).collect()
}

/// What an agent proposes, what a person says of it, a later question, and the words of the proposal
/// that nobody is told any more.
const REFUSALS: [[&str; 4]; 5] = [
    [
        "I looked at the proxy. The right fix is to trust X-Forwarded-Proto.",
        "no, never trust X-Forwarded-Proto, clients can forge it",
        "Should the app trust X-Forwarded-Proto behind the proxy?",
        "fix is to trust",
    ],
    [
        "We always retry failed payments three times.",
        "Don't ever retry failed payments: customers are charged twice.",
        "how do we retry failed payments",
        "always retry",
    ],
    [
        "We decided to keep session tokens in Redis.",
        "No. Keep session tokens in Postgres instead.",
        "where do we keep session tokens?",
        "tokens in Redis",
    ],
    [
        "Wir haben beschlossen, die Preise als Float zu speichern.",
        "Nein, bitte speichere Preise immer als Decimal.",
        "Wie speichern wir Preise?",
        "als Float",
    ],
    [
        "Wir löschen den Thumbnail-Cache immer beim Start.",
        "Merke dir: den Thumbnail-Cache nie beim Start löschen.",
        "Thumbnail-Cache beim Start löschen?",
        "löschen den Thumbnail",
    ],
];

#[test]
fn what_a_person_refuses_is_not_told_again() {
    for [proposal, refusal, question, gone] in REFUSALS {
        let p = Project::sample();
        let one = Session { p: &p, id: "one" };
        one.ask("What do you propose for this?");
        one.answer(proposal);
        one.ask(refusal);
        one.end();
        let two = Session { p: &p, id: "two" };
        let rule = refusal.trim_start_matches("No. ");
        for text in [two.begin(), Session { p: &p, id: "three" }.ask(question)] {
            assert!(text.contains(rule) && !text.contains(gone), "{refusal}: {text}");
        }
        let all = found(&p, question);
        let at = |words: &str| all.iter().position(|text| text.contains(words));
        assert!(at(rule) < at(gone) || at(gone).is_none(), "{all:#?}");
        assert!(contents(&p).iter().any(|text| text == proposal), "it stays in the record");
    }
}

#[test]
fn an_agent_does_not_bring_back_what_a_person_refused() {
    let p = Project::sample();
    let one = Session { p: &p, id: "one" };
    one.ask("Never trust X-Forwarded-Proto.");
    one.end();
    let two = Session { p: &p, id: "two" };
    two.ask("The login page loops, look into it.");
    two.answer("It turned out that the fix is to trust X-Forwarded-Proto.");
    two.end();
    let text = Session { p: &p, id: "three" }.begin();
    assert!(text.contains("Never trust X-Forwarded-Proto."), "{text}");
    assert!(!text.contains("fix is to trust"), "{text}");
}

#[test]
fn what_was_struck_holds_again_when_the_rule_is_forgotten() {
    let p = Project::sample();
    let one = Session { p: &p, id: "one" };
    one.ask("What about payments?");
    one.answer("We always retry failed payments.");
    one.ask("Never retry failed payments.");
    one.end();
    let all = p.json(&["memory", "list", "--sources", "hook_description"]);
    let rule = all["memories"][0]["id"].as_str().unwrap();
    p.run(&["memory", "forget", rule]).expect(0);
    let text = Session { p: &p, id: "two" }.begin();
    assert!(text.contains("We always retry failed payments."), "{text}");
}

#[test]
fn equal_notes_are_one_and_a_correction_comes_first() {
    let p = Project::sample();
    let note = "The dog cache keeps wolves for ten minutes";
    p.run(&["memory", "add", note]).expect(0);
    for same in [note, "Please remember: the dog cache keeps wolves for ten minutes."] {
        let again = p.run(&["memory", "add", same]).expect(0);
        assert!(again.stdout.starts_with("already remembered as "), "{}", again.stdout);
    }
    assert_eq!(contents(&p), [note]);
    let correction = "Correction: the dog cache keeps wolves for twenty minutes, not ten";
    p.run(&["memory", "add", correction]).expect(0);
    assert_eq!(found(&p, "how long does the dog cache keep wolves"), [correction, note]);
    let shown = p.run(&["memory", "search", "how long does the dog cache keep wolves"]).expect(0);
    assert!(shown.stdout.contains("superseded by: Correction"), "{}", shown.stdout);
    let text = Session { p: &p, id: "one" }.begin();
    assert!(text.contains("twenty minutes") && !text.contains("for ten minutes"), "{text}");
    // Other facts stand beside it.
    p.run(&["memory", "add", "The cat cache keeps lions for ten minutes"]).expect(0);
    assert_eq!(contents(&p).len(), 3);
}

#[test]
fn an_echo_of_a_briefing_is_no_new_memory() {
    let p = Project::sample();
    let decision = "We decided to keep the cache in one file because renames are atomic.";
    p.run(&["memory", "add", decision]).expect(0);
    let one = Session { p: &p, id: "one" };
    assert!(one.begin().contains(decision));
    for echo in [
        format!("According to the notes: {decision}"),
        format!("Decided and noted:\n- {decision} (text, 2026-01-31)"),
    ] {
        one.answer(&echo);
    }
    let statements = p.run(&["memory", "list", "--sources", "message", "--json"]);
    assert!(!statements.stdout.contains("renames are atomic"), "{}", statements.stdout);
    let text = Session { p: &p, id: "two" }.ask("Why do we keep the cache in one file?");
    assert_eq!(text.matches("renames are atomic").count(), 1, "{text}");
    // News beside it is news.
    one.answer("We decided to keep the cache in two files because Windows locks the first.");
    assert!(contents(&p).iter().filter(|text| text.contains("Windows")).count() >= 2);
}

#[test]
fn a_question_for_a_decision_finds_it() {
    for (decision, question) in [
        ("We decided on SQLite because it is one file.", "why did we choose sqlite"),
        ("we go with SQLite", "why did we choose SQLite?"),
        ("We chose PostgreSQL over MySQL because of its JSON.", "why did we pick postgresql?"),
        ("Wir haben uns für GraphQL entschieden.", "Warum haben wir graphql gewählt?"),
    ] {
        let p = Project::sample();
        let one = Session { p: &p, id: "one" };
        one.ask(decision);
        one.answer("Good, I will set that up in the storage module.");
        one.end();
        p.run(&["memory", "add", "The kettle is red and stands in the kitchen."]).expect(0);
        assert!(found(&p, question).iter().any(|text| text == decision), "{question}");
        let text = Session { p: &p, id: "two" }.ask(question);
        assert!(text.contains(decision), "{question}: {text}");
    }
}

#[test]
fn working_trees_share_memories_that_outlive_them() {
    let p = Project::sample();
    p.git(&["init", "-q", "."]);
    p.commit("first");
    let tree = p.home().join("worktrees/1f/project");
    p.git(&["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
    let there = |args: &[&str]| run(p.cortex(args).current_dir(&tree)).expect(0).stdout;
    there(&["memory", "add", "Refunds are written twice on purpose"]);
    p.run(&["memory", "add", "Ledger entries are append only"]).expect(0);
    assert!(there(&["memory", "search", "ledger"]).contains("append only"));
    assert!(there(&["memory", "search", "refunds"]).contains("twice on purpose"));
    assert_eq!(p.git(&["status", "--porcelain"]), "", "the memories are not in git");
    p.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    assert!(p.run(&["memory", "search", "refunds"]).expect(0).stdout.contains("on purpose"));

    // An earlier version kept the memories of a linked tree in it.
    let (tree, aside) = (p.home().join("old"), p.home().join("aside"));
    std::fs::create_dir(&tree).unwrap();
    std::fs::create_dir(tree.join(".git")).unwrap();
    run(p.cortex(&["memory", "add", "Vouchers never expire"]).current_dir(&tree)).expect(0);
    std::fs::rename(tree.join(".cortex"), &aside).unwrap();
    std::fs::remove_dir_all(&tree).unwrap();
    p.git(&["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
    std::fs::rename(&aside, tree.join(".cortex")).unwrap();
    for _ in 0..2 {
        let all = run(p.cortex(&["memory", "list"]).current_dir(&tree)).expect(0).stdout;
        assert_eq!(all.matches("Vouchers never expire").count(), 1, "{all}");
    }
    p.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    assert!(p.run(&["memory", "search", "vouchers"]).expect(0).stdout.contains("never expire"));

    // A bare repository has no working tree of its own to keep them in.
    let bare = p.home().join("bare.git");
    p.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let trees = ["a", "b"].map(|name| p.home().join(name));
    for tree in &trees {
        let tree = tree.to_str().unwrap();
        p.git(&["-C", bare.to_str().unwrap(), "worktree", "add", "-q", "--detach", tree]);
    }
    let at =
        |tree: usize, args: &[&str]| run(p.cortex(args).current_dir(&trees[tree])).expect(0).stdout;
    at(0, &["memory", "add", "Invoices are numbered without gaps"]);
    std::fs::remove_dir_all(&trees[0]).unwrap();
    assert!(at(1, &["memory", "search", "invoices"]).contains("without gaps"));
}
