//! A symbol is renamed everywhere, and nothing else is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server, warnings};

const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"deck\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    (
        "src/lib.rs",
        "//! Deals cards; see `shuffle`.\npub mod game;\npub mod other;\n\npub use game::shuffle as mix;\n\npub trait Player {\n    fn draw(&self, n: u32) -> u32;\n    fn twice(&self) -> u32 {\n        self.draw(2) * 2\n    }\n}\n",
    ),
    (
        "src/game.rs",
        "use crate::Player;\n\n/// Shuffles once.\npub fn shuffle(n: u32) -> u32 {\n    n + 1\n}\n\npub struct Robot;\nimpl Player for Robot {\n    fn draw(&self, n: u32) -> u32 {\n        let shuffled = shuffle(n);\n        println!(\"shuffle {}\", shuffle(shuffled));\n        n\n    }\n}\n",
    ),
    (
        "src/other.rs",
        "use crate::game::{shuffle, Robot};\nuse crate::Player;\n\npub struct Canvas;\nimpl Canvas {\n    pub fn draw(&self, n: u32) -> u32 {\n        n\n    }\n}\n\npub fn play() -> u32 {\n    let all: Vec<u32> = vec![1].into_iter().map(shuffle).collect();\n    let c = Canvas;\n    let r = Robot;\n    // shuffle(3) is a comment\n    assert_eq!(shuffle(1), 2);\n    c.draw(1) + r.draw(2) + all[0] + crate::game::shuffle(3) + crate::mix(4)\n}\n",
    ),
    ("README.md", "# Deck\n\nCall `shuffle` first.\n"),
];

const PYTHON: &[(&str, &str)] = &[
    ("shop/__init__.py", "from .prices import total\n\n__all__ = [\"total\"]\n"),
    (
        "shop/prices.py",
        "\"\"\"Prices; total is the sum.\"\"\"\n\n\nclass Price:\n    def amount(self):\n        return 1\n\n    def double(self):\n        return self.amount() * 2\n\n\nclass Sale(Price):\n    def amount(self):\n        return super().amount() - 1\n\n\ndef total(prices):\n    # total of all\n    return sum(p for p in prices)\n",
    ),
    (
        "shop/till.py",
        "from .prices import Sale, total as sum_up\nfrom shop import prices\n\n\nclass Till:\n    def amount(self):\n        return 5\n\n\ndef close(total=0):\n    sale = Sale()\n    till = Till()\n    print(\"total\", total, sum_up([1]))\n    return prices.total([sale.amount(), till.amount()])\n",
    ),
    (
        "shop/report.py",
        "from shop import total\n\n\ndef report(things):\n    return [total(things), things.amount()]\n",
    ),
];

fn texts(p: &Project, files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(path, _)| ((*path).to_string(), p.read(path))).collect()
}

/// Returns the files with these lines changed, and everything else as it was.
fn with(files: &[(&str, &str)], changes: &[(&str, &[(&str, &str)])]) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> =
        files.iter().map(|(path, text)| ((*path).to_string(), (*text).to_string())).collect();
    for (path, lines) in changes {
        let text = out.get_mut(*path).unwrap();
        for (old, new) in *lines {
            assert_eq!(text.matches(old).count(), 1, "{path}: {old}");
            *text = text.replace(old, new);
        }
    }
    out
}

#[test]
fn a_function_of_rust_is_renamed_with_its_imports_and_nothing_else() {
    let p = Project::with(RUST);
    let shown = p.json(&["graph", "rename", "shuffle", "reorder"]);
    assert_eq!((&shown["applied"], &shown["total_places"]), (&json!(false), &json!(8)), "{shown}");
    assert_eq!((&shown["total_uncertain"], &shown["total_mentions"]), (&json!(null), &json!(4)));
    assert_eq!(texts(&p, RUST), with(RUST, &[]), "a preview changes nothing");

    let done = p.json(&["graph", "rename", "shuffle", "reorder", "--apply"]);
    assert_eq!((&done["applied"], &done["total_files"]), (&json!(true), &json!(3)), "{done}");
    let wanted = with(
        RUST,
        &[
            ("src/lib.rs", &[("game::shuffle as mix", "game::reorder as mix")]),
            (
                "src/game.rs",
                &[
                    ("pub fn shuffle(", "pub fn reorder("),
                    ("shuffled = shuffle(n)", "shuffled = reorder(n)"),
                    ("{}\", shuffle(shuffled)", "{}\", reorder(shuffled)"),
                ],
            ),
            (
                "src/other.rs",
                &[
                    ("game::{shuffle, Robot}", "game::{reorder, Robot}"),
                    (".map(shuffle)", ".map(reorder)"),
                    ("assert_eq!(shuffle(1)", "assert_eq!(reorder(1)"),
                    ("crate::game::shuffle(3)", "crate::game::reorder(3)"),
                ],
            ),
        ],
    );
    assert_eq!(texts(&p, RUST), wanted);
    let callers = p.json(&["graph", "callers", "reorder"]);
    let names: Vec<&str> = callers["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["symbol"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Robot::draw", "play"], "{callers}");
}

#[test]
fn a_method_is_renamed_with_its_trait_and_not_with_its_namesakes() {
    let p = Project::with(RUST);
    let error = p.run(&["graph", "rename", "draw", "pull"]).error();
    assert!(error.contains("several symbols") && error.contains("src/other.rs:6"), "{error}");
    p.json(&["graph", "rename", "Robot::draw", "pull", "--apply"]);
    let wanted = with(
        RUST,
        &[
            ("src/lib.rs", &[("fn draw(", "fn pull("), ("self.draw(2)", "self.pull(2)")]),
            ("src/game.rs", &[("fn draw(", "fn pull(")]),
            ("src/other.rs", &[("r.draw(2)", "r.pull(2)")]),
        ],
    );
    assert_eq!(texts(&p, RUST), wanted);
}

#[test]
fn a_function_of_python_is_renamed_with_its_aliases() {
    let p = Project::with(PYTHON);
    p.json(&["graph", "rename", "shop/prices.py#total", "add_up", "--apply"]);
    let wanted = with(
        PYTHON,
        &[
            (
                "shop/__init__.py",
                &[("import total", "import add_up"), ("[\"total\"]", "[\"add_up\"]")],
            ),
            ("shop/prices.py", &[("def total(", "def add_up(")]),
            (
                "shop/till.py",
                &[("total as sum_up", "add_up as sum_up"), ("prices.total(", "prices.add_up(")],
            ),
            (
                "shop/report.py",
                &[("shop import total", "shop import add_up"), ("[total(", "[add_up(")],
            ),
        ],
    );
    assert_eq!(texts(&p, PYTHON), wanted);
}

#[test]
fn lines_of_unknown_meaning_are_decided_by_the_caller() {
    let p = Project::with(PYTHON);
    let shown = p.json(&["graph", "rename", "Price::amount", "cents"]);
    let uncertain = &shown["uncertain"];
    assert_eq!(
        (&uncertain[0]["path"], &uncertain[0]["line"], &shown["total_uncertain"]),
        (&json!("shop/report.py"), &json!(5), &json!(1)),
        "{shown}"
    );
    let error = p.run(&["graph", "rename", "Price::amount", "cents", "--apply"]).error();
    assert!(error.contains("shop/report.py:5: return [total(things)"), "{error}");
    assert_eq!(texts(&p, PYTHON), with(PYTHON, &[]), "nothing is changed");

    let skipped = &[
        (
            "shop/prices.py",
            &[
                ("class Price:\n    def amount(", "class Price:\n    def cents("),
                ("self.amount()", "self.cents()"),
                ("class Sale(Price):\n    def amount(", "class Sale(Price):\n    def cents("),
                ("super().amount()", "super().cents()"),
            ][..],
        ),
        ("shop/till.py", &[("sale.amount()", "sale.cents()")][..]),
    ];
    p.json(&["graph", "rename", "Price::amount", "cents", "--apply", "--skip-uncertain"]);
    assert_eq!(texts(&p, PYTHON), with(PYTHON, skipped));

    let p = Project::with(PYTHON);
    let error = p
        .run(&[
            "graph", "rename", "Price::amount", "cents", "--apply", "--also", "shop/report.py:1",
        ])
        .error();
    assert!(error.contains("names no place") || error.contains("no uncertain place"), "{error}");
    p.json(&["graph", "rename", "Sale::amount", "cents", "--apply", "--also", "shop/report.py:5"]);
    let mut also = skipped.to_vec();
    also.push(("shop/report.py", &[("things.amount()", "things.cents()")]));
    assert_eq!(texts(&p, PYTHON), with(PYTHON, &also));
}

#[test]
fn a_name_that_is_taken_or_is_no_name_is_refused() {
    let p = Project::with(&[RUST, PYTHON].concat());
    for (target, new, why) in [
        ("shuffle", "play", "src/other.rs:11"),
        ("shuffle", "n", "src/game.rs:4"),
        ("shuffle", "Robot", "src/game.rs:8"),
        ("shuffle", "fn", "keyword"),
        ("shuffle", "a b", "not a valid name"),
        ("shuffle", "2b", "not a valid name"),
        ("shuffle", "", "not a valid name"),
        ("shuffle", "shuffle", "already"),
        ("Robot::draw", "twice", "src/lib.rs:9"),
        ("Price::amount", "double", "shop/prices.py:8"),
        ("shop/prices.py#total", "class", "keyword"),
        ("shop/prices.py#total", "report", "shop/report.py:4"),
        ("shop/prices.py", "x", "it is a file"),
        ("nothing_of_this_name", "x", "no symbol"),
    ] {
        let error = p.run(&["graph", "rename", target, new, "--apply"]).error();
        assert!(error.contains(why), "{target} → {new}: {error}");
    }
    assert_eq!(texts(&p, RUST), with(RUST, &[]));
    assert_eq!(texts(&p, PYTHON), with(PYTHON, &[]));
}

#[test]
fn files_that_must_not_be_changed_keep_all_others_from_change() {
    let p = Project::with(RUST);
    std::fs::hard_link(p.path("src/other.rs"), p.path("src/twin")).unwrap();
    let error = p.run(&["graph", "rename", "shuffle", "reorder", "--apply"]).error();
    assert!(error.contains("src/other.rs") && error.contains("hard links"), "{error}");
    assert_eq!(texts(&p, RUST), with(RUST, &[]));
    let names: Vec<String> = std::fs::read_dir(p.path("src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("tmp"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn an_agent_renames_and_the_next_question_knows_it() {
    let p = Project::with(RUST);
    p.index();
    let tools = ["serve", "--port", "0", "--watch", "--tools", "search,graph,edit"];
    // Only the rename itself updates the index: the watcher waits for an hour.
    let mut command = p.cortex(&tools);
    let server = Server::start(command.env("CORTEX_LIVE_DEBOUNCE_MS", "3600000"));
    let client = Client::new(&server.line());
    let arguments =
        json!({ "target": "shuffle", "new_name": "reorder", "apply": true, "wait_ms": 20_000 });
    let done = client.call("cortex_rename", &arguments);
    assert_eq!((&done["applied"], warnings(&done)), (&json!(true), String::new()), "{done}");
    let callers: Value =
        client.call("cortex_graph", &json!({ "operation": "callers", "target": "reorder" }));
    assert_eq!(callers["total"], 2, "{callers}");
    // Line ends and a byte order mark stay.
    p.write(
        "src/more.rs",
        "\u{feff}pub fn one_more() {}\r\npub fn uses() {\r\n    one_more();\r\n}\r\n",
    );
    let arguments =
        json!({ "target": "one_more", "new_name": "two_more", "apply": true, "wait_ms": 20_000 });
    client.call("cortex_rename", &arguments);
    assert_eq!(
        p.read("src/more.rs"),
        "\u{feff}pub fn two_more() {}\r\npub fn uses() {\r\n    two_more();\r\n}\r\n"
    );
}
