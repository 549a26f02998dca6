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
fn a_name_comes_with_its_code_users_tests_and_calls() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["total"] }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has("shop/price.py:4-6  function total\n def total(items, rate=RATE):\n");
    has("used by 1:\nshop/order.py:5 pay:\n     return total(\n         order.items,\n");
    has("through these, 1: shop/order.py: checkout 11\n");
    has("tests 1:\ntests/test_price.py 5 test_total: calls it\n");
    has("run: pytest tests/test_price.py::test_total\n");
    has("of unknown meaning, 1:\nshop/other.py:2 show: return anything.total()\n");
}

/// A caller that changes a result wants to see what becomes of it; a caller of lines wants the lines.
#[test]
fn uses_come_with_the_lines_after_them_and_ranges_alone() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": ["pay"] }));
    assert!(text.contains("used by 1:\nshop/order.py:12 checkout:\n     pay(order)\n"), "{text}");
    let text = explore(json!({ "about": ["shop/order.py:4-8"] }));
    assert!(text.contains("shop/order.py:4-8  function pay\n def pay(order):\n"), "{text}");
    assert!(!text.contains("used by"), "{text}");
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
fn subjects_of_all_kinds_are_answered_together() {
    let p = shop();
    let mut explore = exploring(&p);
    let text = explore(json!({ "about": [
        "checkout", "total", "shop/other.py", "docs/guide.md#Prices", "how is a price doubled",
    ] }));
    let has = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    has("way: checkout (shop/order.py:11) → pay (shop/order.py:4) → total (shop/price.py:4)\n");
    has("about shop/other.py:\nshop/other.py  file\n 1 function show\n");
    has("about docs/guide.md#Prices:\ndocs/guide.md:3-5");
    has("The price of an order is doubled.");
    has("about how is a price doubled:\n");
    // One string is a list of one, and what is no symbol is a question.
    assert!(explore(json!({ "about": "doubled" })).contains("The price of an order is doubled."));
    assert!(explore(json!({ "about": [] })).contains("give from 1 to 8"));
}

/// A small limit keeps every subject, with the numbers of what is left out.
#[test]
fn a_small_limit_leaves_parts_out_and_says_so() {
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
    let text = explore(json!({ "about": ["run", "long"], "max_tokens": 300 }));
    assert!(text.contains("used by 40, 8 rows shown:"), "{text}");
    assert!(text.contains("core.py:5-105  function long (without its code)"), "{text}");
    assert!(text.len() < 1500, "{text}");
    let all = explore(json!({ "about": ["run", "long"] }));
    assert!(all.contains("used by 40:\n") && all.contains("\n     n += 1\n"), "{all}");
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
    assert!(at("store/store.go:4  method Store.Save") < at("Disk.Save"), "{text}");
    assert!(text.contains("store/store.go:8 Keep:\n \treturn s.Save(\"a\")"), "{text}");
}
