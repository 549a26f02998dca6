//! `cortex_explore`: one call answers what otherwise takes several.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Server, initialize};

/// A server, and a function that explores with it.
fn exploring(project: &Project) -> impl FnMut(Value) -> String {
    let mut server = Server::start(&mut project.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-11-25"));
    move |arguments| {
        let call = json!({ "name": "cortex_explore", "arguments": arguments });
        let reply = server.ask("tools/call", &call);
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
    }
}

fn shop() -> Project {
    Project::with(&[
        (
            "shop/price.py",
            "RATE = 2\n\n\ndef total(items, rate=RATE):\n    \"\"\"Adds the prices.\"\"\"\n    return sum(items) * rate\n",
        ),
        (
            "shop/order.py",
            "from shop.price import total\n\n\ndef pay(order):\n    return total(\n        order.items,\n        rate=3,\n    )\n\n\ndef checkout(order):\n    pay(order)\n",
        ),
        ("shop/other.py", "def show(anything):\n    return anything.total()\n"),
        (
            "tests/test_price.py",
            "from shop.price import total\n\n\ndef test_total():\n    assert total([1]) == 2\n",
        ),
        ("pyproject.toml", "[project]\nname = \"shop\"\n\n[tool.pytest.ini_options]\n"),
        ("docs/guide.md", "# Guide\n\n## Prices\n\nThe price of an order is doubled.\n"),
    ])
}

#[test]
fn a_name_comes_with_its_code_users_and_tests() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["total"] }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has("shop/price.py:4 function total\n1 user outside of tests");
    has("in the code below: pay 5\n");
    has("tests: 1 in 1 file");
    has("run: pytest tests/test_price.py::test_total\n");
    has("## shop/price.py\n4-6 function total\n 4 def total(items, rate=RATE):\n");
    // Its caller is on the way, and has no word of the call.
    has("4-8 function pay\n 4 def pay(order):\n");
    let twice = explore(json!({ "about": ["total", "`total`", "total("] }));
    assert!(!twice.contains("run: "), "tests are told if one asks for them\n{twice}");
    assert_eq!(twice.matches("1 user outside of tests").count(), 1, "{twice}");
}

/// A caller of lines wants the lines, and nothing else.
#[test]
fn places_are_read_and_nothing_is_added() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["shop/order.py:4,11-12", "shop/price.py:1"] }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has(
        "shop/order.py:4-4,11-12 of 12 lines\n    4 def pay(order):\n    …\n   11 def checkout(order):\n",
    );
    has("shop/price.py:1-1 of 6 lines\n    1 RATE = 2\n");
    assert!(!text.contains("## ") && !text.contains("further places"), "{text}");
}

/// Below the code that a search shows, one line says what is around it, as soon as the graph is
/// built; no search waits for that.
#[test]
fn a_search_says_what_is_around_the_code_that_it_shows() {
    let p = shop();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-11-25"));
    let mut call = |name: &str, arguments: Value| {
        let reply = server.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
    };
    // This question builds the graph.
    call("cortex_graph", json!({ "operation": "callers", "target": "total" }));
    let text = call("cortex_search", json!({ "query": "adds the prices" }));
    assert!(text.contains("* rate\nused by pay · tests test_total\n"), "{text}");
}

#[test]
fn entries_of_all_kinds_are_answered_together() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": [
        "how is a price doubled", "checkout", "totals", "docs/guide.md#Prices", "shop/other.py",
    ] }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has("shop/order.py:11 function checkout\n");
    has("totals: not found; near: `total` (shop/price.py:4)\n");
    has("    5 The price of an order is doubled.\n");
    has("shop/other.py:1-2 of 2 lines\n");
    has("4-6 function total\n");
    // One string is a list of one.
    assert!(explore(json!({ "about": "doubled" })).contains("The price of an order is doubled."));
    assert!(explore(json!({ "about": [] })).contains("give from 1 to 16"));
}

#[test]
fn a_small_limit_leaves_places_without_their_code() {
    let mut files: Vec<(String, String)> = (0..40)
        .map(|n| {
            (
                format!("src/user_{n}.py"),
                format!("from core import run\n\n\ndef use_{n}():\n    run({n})\n"),
            )
        })
        .collect();
    files.push((
        "core.py".into(),
        format!("def run(n):\n    return n\n\n\ndef long(n):\n{}", "    n += 1\n".repeat(100)),
    ));
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    let p = Project::with(&files);
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["run", "long"], "max_tokens": 600 }));
    assert!(text.contains("40 users outside of tests, through at most 1 step, 4 shown"), "{text}");
    assert!(text.contains("further places, without their code:\n"), "{text}");
    assert!(text.len() < 2400, "{text}");
    let all = explore(json!({ "about": ["run", "long"] }));
    assert!(all.contains("\n 105     n += 1\n") && all.contains("16 shown"), "{all}");
}

/// Of a long function, the lines are wanted that hold the names and keys of the call, with the branches
/// around them.
#[test]
fn of_a_long_function_the_lines_with_the_names_are_shown() {
    let case = |n: usize| {
        format!(
            "        case \"key_{n}\":\n            if (ok) {{\n                out.field{n} = read{n}(value);\n                count += {n};\n            }}\n            break;\n"
        )
    };
    let cases: String = (0..60).map(case).collect();
    let p = Project::with(&[(
        "src/settings.js",
        &*format!("function parse(name, value, out) {{\n    switch (name) {{\n{cases}    }}\n}}\n"),
    )]);
    let text = exploring(&p)(json!({
        "about": ["where does the setting go", "`key_41`", "field41"], "max_tokens": 700,
    }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has(" function parse(name, value, out) {\n");
    has("         case \"key_41\":\n");
    has("                 out.field41 = read41(value);\n");
    assert!(!text.contains("key_12\""), "{text}");
}

#[test]
fn a_question_for_the_reason_is_answered_by_commits() {
    let p = shop();
    p.git(&["init", "-q"]);
    p.commit("prices: double each total\n\nThe rate doubles totals because suppliers bill twice.");
    let mut explore = exploring(&p);
    let about = ["why does the rate double totals", "total"];
    let text = explore(json!({ "about": about, "wait_ms": 20_000 }));
    assert!(text.contains("suppliers bill twice") && text.contains("## shop/price.py"), "{text}");
    let text = explore(json!({ "about": ["where are totals doubled"] }));
    assert!(!text.contains("suppliers bill twice"), "{text}");
}

/// The method of an interface has the users; the definitions of its name only implement it.
#[test]
fn of_many_definitions_the_used_one_is_shown_first() {
    let implementation = |name: &str| {
        format!(
            "package store\n\ntype {name} struct{{}}\n\nfunc (s *{name}) Save(key string) error {{\n\treturn nil\n}}\n"
        )
    };
    let [disk, memory] = [implementation("Disk"), implementation("Memory")];
    let p = Project::with(&[
        ("go.mod", "module shop\n"),
        ("store/disk.go", &disk),
        ("store/memory.go", &memory),
        (
            "store/store.go",
            "package store\n\ntype Store interface {\n\tSave(key string) error\n}\n\nfunc Keep(s Store) error {\n\treturn s.Save(\"a\")\n}\n",
        ),
    ]);
    let text = exploring(&p)(json!({ "about": ["Save"] }));
    let at = |place: &str| text.find(place).unwrap_or_else(|| panic!("{place} is not in\n{text}"));
    assert!(
        at("store/store.go:4 method Store.Save") < at("also named Save: store/disk.go"),
        "{text}"
    );
    assert!(text.contains("in the code below: Keep 8\n"), "{text}");
}

/// Nothing of this is left for a search by text.
#[test]
fn each_named_symbol_has_its_users_and_each_key_its_lines() {
    let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
    let define = |name: &&str| format!("def {name}_step(n):\n    return n + 1\n\n\n");
    let code: String = names.iter().map(define).collect();
    let uses: Vec<String> = names.iter().map(|name| format!("{name}_step(1)")).collect();
    let user = format!("from steps import *\n\n\ndef run():\n    return {}\n", uses.join(" + "));
    let p = Project::with(&[
        ("steps.py", &code),
        ("run.py", &user),
        ("settings.ini", "[queue]\nqueue.retry-limit = 3\n"),
        ("load.py", "def load(options):\n    return options[\"queue.retry-limit\"]\n"),
        ("docs/big.md", &"The queue.retry-limit is explained.\n".repeat(70)),
    ]);
    let mut explore = exploring(&p);
    let mut about = vec!["how is the limit of the queue applied".to_string()];
    about.extend(names.iter().map(|name| format!("{name}_step")));
    about.push("queue.retry-limit".into());
    let text = explore(json!({ "about": about }));
    assert_eq!(text.matches("in the code below: run 5\n").count(), names.len(), "{text}");
    assert!(text.contains("queue.retry-limit: 72 lines in 3 files\n"), "{text}");
    assert!(text.contains("docs/big.md 70"), "{text}");
    let few = explore(json!({ "about": ["how is it loaded", "/retry.limit.\\]/"] }));
    assert!(few.contains("/retry.limit.\\]/: 1 line in 1 file\n"), "{few}");
    assert!(few.contains("load.py:2"), "{few}");
}

/// A reader pays for each line once.
#[test]
fn a_line_is_shown_once() {
    let values: String = (0..200).map(|n| format!("    STATE_{n},\n")).collect();
    let header = format!("enum machine_state {{\n{values}}};\n");
    let p = Project::with(&[
        ("src/machine.h", &header),
        ("src/run.c", "#include \"machine.h\"\n\nint\nrun(void)\n{\n\treturn STATE_150;\n}\n"),
    ]);
    let mut explore = exploring(&p);
    let about = ["which state does the machine run", "STATE_150", "src/machine.h:1-5", "run"];
    let text = explore(json!({ "about": about }));
    assert!(text.contains(" 152     STATE_150,\n"), "{text}");
    for n in [0, 1, 148, 150, 199] {
        assert!(text.matches(&format!("STATE_{n},\n")).count() <= 1, "{n}\n{text}");
    }
}

/// The name of a function in C may stand below its type. That line is no use of it.
#[test]
fn a_function_whose_type_is_on_a_line_of_its_own_has_all_its_users() {
    let p = Project::with(&[(
        "src/run.c",
        "static int\nstep(int n)\n{\n\treturn n + 1;\n}\n\nint\nrun(void)\n{\n\treturn step(1);\n}\n",
    )]);
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["step"] }));
    assert!(text.contains("complete: every line of code that uses the name step"), "{text}");
    assert!(!text.contains("not complete"), "{text}");
}

/// A guess that is wrong costs nothing.
#[test]
fn an_entry_that_is_no_regular_expression_leaves_the_others_their_answer() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["what does an order cost", "total", "/total(/"] }));
    assert!(text.contains("## shop/price.py\n"), "{text}");
    let note = text.lines().find(|line| line.starts_with("/total(/: ")).unwrap_or_default();
    assert!(note.contains("unclosed group"), "{text}");
}
