//! One question to several projects.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::support::project::{Project, run};

/// Two projects named `app`, and one named `wall`, beside each other in the folder of `p`.
fn three() -> Project {
    let p = Project::new();
    for (folder, file, text) in [
        ("a/app", "src/lib.rs", "/// Waits longer after each failed attempt.\npub fn retry() {}\n"),
        ("b/app", "src/lib.rs", "/// Boils potatoes in salted water.\npub fn boil() {}\n"),
        ("b/wall", "src/lib.rs", "/// Covers a wall with paint.\npub fn paint() {}\n"),
    ] {
        p.write(format!("{folder}/{file}"), text);
        p.write(format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
        at(&p, folder, &["index"]);
    }
    p
}

/// Runs the program in a folder of `p`, and returns what it printed.
fn at(p: &Project, folder: &str, args: &[&str]) -> crate::support::project::Output {
    run(p.cortex(args).current_dir(p.path(folder)))
}

#[test]
fn a_question_to_several_projects_names_the_right_one() {
    let p = three();
    let first = |args: &[&str]| {
        let out = at(&p, "b/wall", &[&["search", "-n", "1", "--lines", "0"], args].concat());
        out.expect(0).stdout.lines().next().unwrap_or_default().to_string()
    };
    assert!(first(&["--all", "failed attempt"]).starts_with("a/app:src/lib.rs:1-2"));
    assert!(first(&["--all", "salted water"]).starts_with("b/app:src/lib.rs:1-2"));
    assert!(first(&["--repo", "b/app,wall", "paint"]).starts_with("wall:src/lib.rs:1-2"));
    // A link to a project is that project.
    symlink(p.path("a/app"), p.path("link")).unwrap();
    assert!(first(&["--repo", "../../link", "failed attempt"]).starts_with("a/app:src/lib.rs:1-2"));

    let found = at(&p, "b/wall", &["search", "--repo", "*/app", "--json", "retry"]).expect(0);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(
        (&found["results"][0]["repo"], &found["results"][0]["path"]),
        (&"a/app".into(), &"src/lib.rs".into())
    );

    let ambiguous = at(&p, "b/wall", &["search", "--repo", "app", "retry"]).error();
    assert!(ambiguous.contains("write a/app or b/app"), "{ambiguous}");

    // The project that is left has the short name, and the answer says what is missing.
    fs::rename(p.path("a"), p.path("moved")).unwrap();
    let rest = at(&p, "b/wall", &["search", "--all", "-l", "salted water"]).expect(0);
    assert!(rest.stdout.starts_with("app:src/lib.rs\n"), "{}", rest.stdout);
    assert!(rest.stderr.contains("a/app is left out: it is no longer there"), "{}", rest.stderr);
}

#[test]
fn a_workspace_file_inside_a_project_reaches_nothing_outside() {
    let p = three();
    let ask = |file: &str| at(&p, "b/wall", &["search", "--workspace", file, "-l", "salted water"]);
    p.write(
        "mine.code-workspace",
        "{ // an editor's\n \"folders\": [{\"path\": \"b/app\"}, {\"path\": \"b/wall\"},],\n}",
    );
    assert_eq!(ask("../../mine.code-workspace").expect(0).stdout, "b/app:src/lib.rs\n");
    p.write("mine.toml", "folders = [\"b/app\"]");
    assert_eq!(ask("../../mine.toml").expect(0).stdout, "b/app:src/lib.rs\n");

    p.write("b/wall/cortex.toml", "folders = [\".\", \"../app\"]");
    assert!(ask("cortex.toml").error().contains("it is inside the project"));
    p.write("b/wall/sub/x.code-workspace", "{\"folders\": [{\"path\": \"../../app\"}]}");
    assert!(ask("sub/x.code-workspace").error().contains("it is inside the project"));
    symlink(p.path("b/app"), p.path("b/wall/inner")).unwrap();
    p.write("b/wall/cortex.toml", "folders = [\"inner\"]");
    assert!(ask("cortex.toml").error().contains("it is inside the project"));
}
