//! Messages name the commands of the front end, and give the reason that is known.

use crate::project::Project;

#[test]
fn errors_of_the_command_line_name_commands_and_not_tools() {
    let p = Project::sample();
    p.index();
    let questions: [&[&str]; 4] = [
        &["read", "zzzz"],
        &["read", "src/retry.rs#zzzzzzzz"],
        &["related", "--chunk-id", "nobody"],
        &["graph", "callers", "zzzzzzzz"],
    ];
    for question in questions {
        let said = p.run(question).stderr;
        assert!(said.contains("cortex outline") || said.contains("cortex search"), "{said}");
        assert!(!said.contains("cortex_"), "{said}");
    }
}

#[test]
fn a_path_that_is_not_indexed_gets_the_reason_and_its_rule() {
    let p = Project::with(&[
        ("a.rs", "fn a() {}\n"),
        ("yarn.lock", "lock\n"),
        ("out/b.rs", "fn b() {}\n"),
        (".gitignore", "# built\nout\n"),
    ]);
    std::fs::create_dir_all(p.path(".git")).unwrap();
    p.index();
    for (path, why) in [
        ("yarn.lock", "skipped (lock file)"),
        ("out/b.rs", "ignored by .gitignore:2 (out)"),
        ("gone.rs", "there is no such file"),
    ] {
        let said = p.run(&["read", path]).error();
        assert!(said.contains(why), "{path}: {said}");
    }
}

#[test]
fn a_project_that_cannot_be_opened_is_one_error() {
    let said = Project::sample().run(&["search", "x", "--project", "/nonexistent"]).error();
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}

#[test]
fn words_that_neither_the_project_nor_a_language_knows_find_nothing() {
    let p = Project::sample();
    p.index();
    p.run(&["search", "qwxzv blorptak zzyqx"]).expect(1);
    p.run(&["search", "flurbo grontik snazzle"]).expect(1);
}
