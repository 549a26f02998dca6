//! `cortex graph import`, with the indexers that people have. `tests/it/clients/install.sh` installs
//! them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::project::{Project, run};
use crate::support::clients::{SCIP_PYTHON, clients, node_program};

const SHAPES: &str = "export interface Shape { area(): number }\nexport class Square implements Shape { area() { return 1 } }\nexport class Circle implements Shape { area() { return 3 } }\nexport function shapes() { return { first: new Square(), second: new Circle() } }\n";
const MAIN: &str = "import { shapes } from './shapes';\nexport function total() {\n  const { first, second } = shapes();\n  first.area();\n  return second.area();\n}\n";

fn typescript() -> Project {
    Project::with(&[
        (
            "tsconfig.json",
            "{ \"compilerOptions\": { \"strict\": true, \"lib\": [\"es2020\"] }, \"include\": [\"src\"] }",
        ),
        ("package.json", "{ \"name\": \"shapes\", \"version\": \"1.0.0\" }"),
        ("src/shapes.ts", SHAPES),
        ("src/main.ts", MAIN),
    ])
}

/// Runs cortex with the indexers in PATH.
fn cortex(p: &Project, clients: &Path, args: &[&str]) -> Command {
    let mut command = p.cortex(args);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = [clients.join("node_modules/.bin"), clients.join("venv/bin")];
    let all = own.into_iter().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).unwrap());
    command
}

/// Returns `symbol confidence` of each caller.
fn callers(p: &Project, target: &str) -> Vec<String> {
    let answer = p.json(&["graph", "callers", target]);
    let rows = answer["results"].as_array().unwrap().iter();
    rows.map(|row| format!("{} {}", row["symbol"].as_str().unwrap(), row["confidence"])).collect()
}

#[test]
fn what_a_compiler_knows_goes_before_inference() {
    let Some(clients) = clients() else { return };
    let p = typescript();
    assert_eq!(callers(&p, "Circle.area"), Vec::<String>::new(), "nobody infers that");
    let imported = run(&mut cortex(&p, &clients, &["graph", "import", "--run"])).expect(0);
    assert!(
        imported.stdout.contains("scip-typescript.scip: 2 files, by scip-typescript"),
        "{}",
        imported.stdout
    );
    assert_eq!(callers(&p, "Circle.area"), ["total 1.0"]);
    assert_eq!(callers(&p, "Square.area"), ["total 1.0"]);
    // Nothing is left in the project.
    assert!(!p.path("index.scip").exists());

    // A changed file falls back to inference until the index is made anew.
    p.write("src/main.ts", format!("// moved\n{MAIN}"));
    assert_eq!(callers(&p, "Circle.area"), Vec::<String>::new());
    run(&mut cortex(&p, &clients, &["graph", "import", "--run"])).expect(0);
    assert_eq!(callers(&p, "Circle.area"), ["total 1.0"]);

    // The database is derived; the index is kept.
    fs::remove_dir_all(p.path(".cortex/graph")).unwrap();
    assert_eq!(callers(&p, "Circle.area"), ["total 1.0"]);

    let report = p.json(&["eval", "--graph"]);
    let counts = &report["languages"]["typescript"];
    assert!(counts["pairs"].as_u64() >= Some(3), "{report}");
    assert!(counts["without_caller"].as_u64() >= Some(2), "{report}");
}

#[test]
fn an_index_of_scip_python_is_read_from_a_file() {
    let Some(clients) = clients() else { return };
    let p = Project::with(&[
        (
            "shapes.py",
            "class Circle:\n    def area(self):\n        return 3\n\n\ndef make():\n    return {\"c\": Circle()}\n",
        ),
        ("main.py", "from shapes import make\n\n\ndef total():\n    return make()[\"c\"].area()\n"),
    ]);
    let mut index = node_program(&clients, &p, SCIP_PYTHON);
    let arguments = "index . --project-name shapes --project-version 1 --output out.scip";
    run(index.args(arguments.split(' '))).expect(0);
    let said = p.run(&["graph", "import", "out.scip"]).expect(0).stdout;
    assert!(said.contains("out.scip: 2 files, by scip-python"), "{said}");
    assert_eq!(callers(&p, "Circle.area"), ["total 1.0"]);

    p.write("main.py", "from shapes import make\n");
    let listed = p.run(&["graph", "import"]).expect(0).stdout;
    assert!(
        listed.contains("2 files, 1 of them changed since and resolved without it"),
        "{listed}"
    );
    let said = p.run(&["graph", "import", "--forget", "other.scip"]).error();
    assert!(said.contains("there is no index other.scip: give one of out.scip"), "{said}");
    p.run(&["graph", "import", "--forget", "out.scip"]).expect(0);
    p.run(&["graph", "import"]).expect(1);
}

/// A clone may bring a database with any rows, and an index that says anything.
#[test]
fn an_index_that_came_with_a_clone_is_not_believed() {
    let Some(clients) = clients() else { return };
    let p = typescript();
    run(&mut cortex(&p, &clients, &["graph", "import", "--run"])).expect(0);
    assert_eq!(callers(&p, "Circle.area"), ["total 1.0"]);
    // The same project for somebody who imported nothing.
    let mut other = p.cortex(&["graph", "callers", "Circle.area", "--json"]);
    let answer = run(other.env("XDG_STATE_HOME", p.home().join("other"))).stdout;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 0, "{answer}");
}

#[test]
fn what_is_no_index_is_refused_with_its_name() {
    let p = typescript();
    let said = p.run(&["graph", "import", "package.json"]).error();
    assert!(said.contains("cannot import package.json: it is no SCIP index"), "{said}");
    let said = p.run(&["graph", "import", "nowhere.scip"]).error();
    assert!(said.contains("nowhere.scip"), "{said}");
    let mut without = p.cortex(&["graph", "import", "--run"]);
    let said = run(without.env("PATH", p.home())).error();
    assert!(said.contains("install scip-typescript first"), "{said}");
    let said = p.run(&["graph", "callers", "x", "--run"]).error();
    assert!(said.contains("--run"), "{said}");
}
