//! The code graph leads into the projects of the user that a manifest ties by their paths, and nowhere
//! else.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::server::{Server, initialize};
use crate::support::project::{Output, Project, run};

/// Runs the program in a folder of `p`.
fn at(p: &Project, folder: &str, args: &[&str]) -> Output {
    run(p.cortex(args).current_dir(p.path(folder)))
}

/// Makes an indexed project in a folder of `p`.
fn project(p: &Project, folder: &str, files: &[(&str, &str)]) {
    p.write(format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
    for (path, text) in files {
        p.write(format!("{folder}/{path}"), text);
    }
    at(p, folder, &["index"]);
}

/// Returns the places of the names that others define, in an answer in JSON.
fn places(answer: &Value) -> Vec<String> {
    let rows = answer["outside"].as_array().into_iter().flatten();
    rows.map(|row| row["address"].as_str().unwrap_or("nowhere").to_string()).collect()
}

/// Asks what a symbol of the project in a folder calls. Returns the places that others define.
fn callees(p: &Project, folder: &str, symbol: &str) -> Vec<String> {
    let out = at(p, folder, &["graph", "callees", symbol, "--json"]);
    assert!(!out.stderr.contains("panic"), "{}", out.stderr);
    places(&serde_json::from_str(&out.stdout).unwrap())
}

const KETTLE: &str = "/// Heats water.\npub fn boil() {}\n";
const TEA: &str = "pub fn tea() {\n    hot_kettle::boil();\n}\n";

/// A crate that is tied to `x/kettle`, beside other projects of which one has the same name.
fn tea() -> Project {
    let p = Project::new();
    project(
        &p,
        "x/kettle",
        &[
            ("src/lib.rs", KETTLE),
            ("tests/a.rs", "pub fn boil() {}\n"),
            ("src/cup.rs", "pub struct Cup;\nimpl Cup {\n    pub fn fill(&self) {}\n}\n"),
        ],
    );
    project(&p, "y/kettle", &[("src/lib.rs", "pub fn boil() {}\n"), ("src/tea.rs", TEA)]);
    project(&p, "x/app", &[("src/lib.rs", TEA)]);
    tie(&p, "../kettle");
    p
}

/// Writes the manifest of `x/app`.
fn tie(p: &Project, path: &str) {
    let dependency = format!("hot-kettle = {{ path = \"{path}\" }}");
    p.write(
        "x/app/Cargo.toml",
        format!("[package]\nname = \"app\"\n\n[dependencies]\n{dependency}\n"),
    );
}

#[test]
fn a_call_leads_into_the_project_that_a_manifest_ties() {
    let p = tea();
    p.write(
        "x/app/src/lib.rs",
        "use hot_kettle::{boil, Cup};\n\npub fn tea(cup: &Cup) {\n    boil();\n    cup.fill();\n}\n",
    );
    // The projects of one name are told apart, as an address has to be.
    let found = callees(&p, "x/app", "tea");
    assert_eq!(found, ["x/kettle:src/lib.rs:1-2", "x/kettle:src/cup.rs:3-3"]);
    let read = at(&p, "x/app", &["read", &found[0]]).expect(0);
    assert!(read.stdout.contains("Heats water"), "{}", read.stdout);
    let text = at(&p, "x/app", &["graph", "callees", "tea"]).expect(0).stdout;
    assert!(text.contains("boil 4 x/kettle:src/lib.rs:1-2"), "{text}");
    // The lines are those of the files as they are now.
    p.write("x/kettle/src/lib.rs", format!("//! A kettle.\n\n{KETTLE}"));
    assert_eq!(callees(&p, "x/app", "tea")[0], "x/kettle:src/lib.rs:3-4");
    // A project that is known and not tied answers nothing.
    assert!(callees(&p, "y/kettle", "tea").is_empty());
}

#[test]
fn packages_of_npm_are_tied_by_their_folders_and_by_links_of_a_workspace() {
    let p = Project::new();
    let pour = "// Pours tea.\nexport function pour(cups) {\n  return cups;\n}\n";
    let files = [("packages/pot/index.js", pour), ("other/pour.js", "export function pour() {}\n")];
    project(&p, "x/pots", &files);
    let serve = "import { pour } from '@tea/pot';\n\nexport function serve() {\n  pour(2);\n}\n";
    project(&p, "x/web", &[("app/src/tea.js", serve)]);
    let range = |range: &str| {
        let manifest = json!({ "dependencies": { "@tea/pot": range } });
        p.write("x/web/app/package.json", manifest.to_string());
        callees(&p, "x/web", "serve")
    };
    let pot = ["pots:packages/pot/index.js:1-4"];
    assert_eq!(range("file:../../pots/packages/pot"), pot);
    assert_eq!(range("link:../../pots/./none/../packages/pot"), pot);
    assert_eq!(range(&format!("file:{}", p.path("x/pots/packages/pot").display())), pot);
    assert_eq!(range("file:../../pots/pot"), ["nowhere"]);
    assert_eq!(range("^1.0.0"), ["nowhere"], "it is a package that is not installed");
    assert!(range("workspace:*").is_empty());
    std::fs::create_dir_all(p.path("x/web/app/node_modules/@tea")).unwrap();
    symlink("../../../../pots/packages/pot", p.path("x/web/app/node_modules/@tea/pot")).unwrap();
    assert_eq!(range("workspace:*"), pot);
}

#[test]
fn python_and_go_are_tied_by_sources_and_replacements() {
    let p = Project::new();
    project(
        &p,
        "kettle",
        &[
            ("src/hot_kettle/heat.py", "def boil(cups):\n    return cups\n"),
            ("heat/heat.go", "package heat\n\nfunc Boil(cups int) int {\n\treturn cups\n}\n"),
        ],
    );
    project(
        &p,
        "app",
        &[
            ("tea.py", "from hot_kettle.heat import boil\n\n\ndef tea():\n    return boil(2)\n"),
            (
                "main.go",
                "package main\n\nimport \"example.com/kettle/heat\"\n\nfunc Drink() {\n\theat.Boil(2)\n}\n",
            ),
            (
                "go.mod",
                "module example.com/app\n\ngo 1.22\n\nrequire example.com/kettle v1.0.0\n\nreplace example.com/kettle => ../kettle\n",
            ),
            (
                "pyproject.toml",
                "[project]\nname = \"app\"\ndependencies = [\"hot-kettle\"]\n\n[tool.uv.sources]\nhot-kettle = { path = \"../kettle\", editable = true }\n",
            ),
        ],
    );
    assert_eq!(callees(&p, "app", "tea"), ["kettle:src/hot_kettle/heat.py:1-2"]);
    assert_eq!(callees(&p, "app", "Drink"), ["kettle:heat/heat.go:3-5"]);
}

/// A manifest comes with a clone: it names no folder that is not one of the user's projects, whatever
/// is there, and no link leads to one.
#[test]
fn a_path_to_what_is_no_project_leads_nowhere() {
    let p = tea();
    p.write("x/secret/src/lib.rs", KETTLE);
    p.write("x/secret/.git/HEAD", "ref: refs/heads/main\n");
    symlink(p.path("x/kettle"), p.path("x/link")).unwrap();
    symlink("../kettle", p.path("x/app/inner")).unwrap();
    let long = "../".repeat(2000) + "kettle";
    for path in
        ["../secret", "../link", "inner", "../none", "..", "/", "", &long, "../kettle\\u0000"]
    {
        tie(&p, path);
        let out = at(&p, "x/app", &["graph", "callees", "tea", "--json"]);
        let answer: Value = serde_json::from_str(&out.stdout).unwrap();
        assert!(answer["outside"].is_null(), "{path}: {answer}");
        assert_eq!(answer["unknown"][0]["name"], "boil", "{path}: {answer}");
        assert!(!out.stderr.contains("secret"), "{path}: {}", out.stderr);
    }
    assert!(!p.path("x/secret/.cortex").exists());
    // A project whose index is gone is not indexed for a question about another one.
    tie(&p, "../kettle");
    std::fs::remove_dir_all(p.path("x/kettle/.cortex")).unwrap();
    assert_eq!(callees(&p, "x/app", "tea"), ["nowhere"]);
    assert!(!p.path("x/kettle/.cortex").exists());
}

/// An agent gets what it may ask for: an address that `cortex_read` takes, or nothing at all.
#[test]
fn agents_follow_ties_if_they_may_reach_other_projects() {
    let p = tea();
    let ask = |reaches: &str, tool: &str, arguments: &Value| {
        let mut mcp = p.cortex(&["mcp", "--alone"]);
        mcp.current_dir(p.path("x/app")).env("CORTEX_SERVE_OTHER_PROJECTS", reaches);
        let mut server = Server::start(&mut mcp);
        server.ask("initialize", &initialize("2025-06-18"));
        let reply = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
    };
    let callees = json!({ "operation": "callees", "target": "tea" });
    let found = ask("true", "cortex_graph", &callees);
    assert!(found.contains("boil 2 x/kettle:src/lib.rs:1-2"), "{found}");
    let read = ask("true", "cortex_read", &json!({ "path": "x/kettle:src/lib.rs:1-2" }));
    assert!(read.contains("Heats water"), "{read}");
    let alone = ask("false", "cortex_graph", &callees);
    assert!(alone.contains("of unknown meaning, with the line: boil 2"), "{alone}");
    assert!(!alone.contains("kettle:"), "{alone}");
}
