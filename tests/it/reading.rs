//! Places and texts in one read: an entry `/regex/` stands for every line that matches it.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Server, initialize};

const QUEUE: &str = "const RETRY_LIMIT: u32 = 3;\n\npub fn push(job: Job) {\n    if job.tries > RETRY_LIMIT {\n        drop(job);\n    }\n}\n";
const LIB: &str = "mod queue;\n\n/// Starts the workers.\npub fn start() {\n    work(5);\n}\n";
const TEST: &str = "#[test]\nfn it_ends() {\n    assert_eq!(RETRY_LIMIT, 3);\n}\n";

fn project() -> Project {
    let many = |name: &str| -> String {
        (0..60).map(|n| format!("let {name}_{n} = many_places({n});\n")).collect()
    };
    let p = Project::with(&[
        ("src/queue.rs", QUEUE),
        ("src/lib.rs", LIB),
        ("tests/queue.rs", TEST),
        ("scripts/first.js", &many("first")),
        ("scripts/second.js", &many("second")),
    ]);
    p.index();
    p
}

/// Calls `cortex_read`.
struct Reader(Server);

impl Reader {
    fn new(p: &Project) -> Self {
        let mut server = Server::start(&mut p.cortex(&["mcp"]));
        server.ask("initialize", &initialize("2025-06-18"));
        Self(server)
    }

    fn call(&mut self, arguments: &Value) -> Value {
        let call = json!({ "name": "cortex_read", "arguments": arguments });
        self.0.ask("tools/call", &call)["result"].clone()
    }

    fn text(&mut self, arguments: &Value) -> String {
        let answer = self.call(arguments);
        assert_ne!(answer["isError"], true, "{arguments}: {answer}");
        answer["content"][0]["text"].as_str().unwrap().to_string()
    }

    fn json(&mut self, mut arguments: Value) -> Value {
        arguments["format"] = json!("json");
        let answer = self.call(&arguments);
        assert_ne!(answer["isError"], true, "{arguments}: {answer}");
        answer["structuredContent"].clone()
    }
}

/// Checks that the parts are in a text, in this order.
#[track_caller]
fn has_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("`{part}` is not next in {text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn one_read_gives_places_and_the_lines_of_patterns() {
    let p = project();
    let parts = [
        "src/lib.rs:3-4",
        "pub fn start() {\n",
        "/RETRY_\\w+/: 3 matching lines in 2 files\nsrc/queue.rs\n",
        "1: const RETRY_LIMIT: u32 = 3;\n",
        " in push\n4:     if job.tries > RETRY_LIMIT {\n",
        "tests: 1 line in 1 file: tests/queue.rs\ncomplete: 3 lines in 2 files\n",
        "/work\\(/: 1 matching line in 1 file\nsrc/lib.rs\n",
        "5:     work(5);\ncomplete: 1 line in 1 file\n",
    ];
    let entries = ["/RETRY_\\w+/", "src/lib.rs:3-4", "/work\\(/"];
    let out = p.run(&["read", entries[0], entries[1], entries[2]]).expect(0).stdout;
    has_in_order(&out, &parts);
    let mut reader = Reader::new(&p);
    let text = reader.text(&json!({ "places": entries }));
    has_in_order(&text, &parts);
    assert_eq!(text.matches("generation ").count(), 1, "{text}");

    // A program gets every line, and no field if no pattern is asked for.
    let answer = reader.json(json!({ "places": entries }));
    assert_eq!(answer["places"][0]["path"], "src/lib.rs", "{answer}");
    let found = &answer["patterns"][0];
    assert_eq!((&found["asked"], &found["total"]), (&json!(entries[0]), &json!(3)), "{answer}");
    assert_eq!(found["files"][0]["lines"][1]["symbol"], "push", "{answer}");
    assert_eq!(found["files"][1]["path"], "tests/queue.rs", "{answer}");
    assert!(reader.json(json!({ "places": ["src/lib.rs"] })).get("patterns").is_none());
}

#[test]
fn a_pattern_needs_no_place_and_may_hold_signs_of_places() {
    let p = project();
    for (pattern, line) in [
        ("/RETRY_LIMIT: u32/", "1: const RETRY_LIMIT: u32 = 3;"),
        ("/u32 = 3|a, b{1,2}/", "1: const RETRY_LIMIT: u32 = 3;"),
        ("/^\\/\\/\\/ Starts/", "3: /// Starts the workers."),
        ("//// S/", "3: /// Starts the workers."),
    ] {
        let out = p.run(&["read", pattern]).expect(0).stdout;
        has_in_order(&out, &[pattern, ": 1 matching line in 1 file\n", line, "\ncomplete: 1 line"]);
        // A list of one may come as a text.
        let mut reader = Reader::new(&p);
        has_in_order(&reader.text(&json!({ "places": pattern })), &[line, "\ncomplete: 1 line"]);
        let json = p.json(&["read", pattern]);
        assert_eq!(json["patterns"][0]["total"], 1, "{json}");
        assert!(json.get("places").is_none() && json.get("content").is_none(), "{json}");
    }
    // Case counts.
    assert!(p.run(&["read", "/retry_limit/"]).error().contains("no line matches `/retry_limit/`"));
    p.run(&["read", "/(?i)retry_limit/"]).expect(0);
    let error = p.run(&["read", "/RETRY_LIMIT/", "--lines", "1-2"]).error();
    assert!(error.contains("only a pattern"), "{error}");
}

#[test]
fn a_path_of_a_file_is_a_place_also_between_slashes() {
    let p = project();
    let written = format!("{}/src/lib.rs/", p.root().canonicalize().unwrap().display());
    let json = p.json(&["read", &written, "/work\\(/"]);
    assert_eq!(json["places"][0]["path"], "src/lib.rs", "{json}");
    assert_eq!(json["patterns"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn a_pattern_that_finds_nothing_loses_no_other_entry() {
    let p = project();
    let out = p.run(&["read", "src/lib.rs:1", "/nowhere_at_all/", "/(open/"]).expect(0).stdout;
    has_in_order(
        &out,
        &[
            "mod queue;\n",
            "/nowhere_at_all/: no line matches in ",
            "/(open/: not a valid regular expression",
        ],
    );
    let json = p.json(&["read", "src/lib.rs:1", "/nowhere_at_all/", "/(open/"]);
    assert_eq!(json["patterns"][0]["total"], 0, "{json}");
    assert!(json["patterns"][0].get("error").is_none(), "{json}");
    assert!(json["patterns"][1]["error"].to_string().contains("not a valid"), "{json}");
    // Nor does a place that is not there.
    let out = p.run(&["read", "src/nowhere.rs", "/work\\(/"]).expect(0).stdout;
    has_in_order(
        &out,
        &["src/nowhere.rs: `src/nowhere.rs` is not in", "/work\\(/: 1 matching line"],
    );

    // Alone, each is an error.
    assert!(p.run(&["read", "/nowhere_at_all/"]).error().contains("no line matches"));
    assert!(p.run(&["read", "/(open/"]).error().contains("not a valid regular expression"));
    let error = p.run(&["read", "/(open/", "src/nowhere.rs"]).error();
    assert!(
        error.contains("/(open/: not a valid") && error.contains("src/nowhere.rs: "),
        "{error}"
    );
}

#[test]
fn many_lines_of_a_pattern_are_counted_by_file() {
    let p = project();
    let parts = [
        "/many_places/: 120 matching lines in 2 files, 80 shown\nscripts/first.js\n",
        "\nscripts/second.js\n",
        "40 more lines: scripts/second.js 40; all of them: ",
    ];
    let out = p.run(&["read", "src/lib.rs:1", "/many_places/"]).expect(0).stdout;
    has_in_order(&out, &[&parts[..], &["cortex grep -e 'many_places'\n"]].concat());
    assert!(!out.contains("complete: ") && !out.contains("cursor"), "{out}");
    let mut reader = Reader::new(&p);
    let places = json!({ "places": ["src/lib.rs:1", "/many_places/"] });
    let call = "cortex_grep {\"pattern\":\"many_places\",\"regex\":true}\n";
    has_in_order(&reader.text(&places), &[&parts[..], &[call]].concat());

    let found = p.json(&["read", "src/lib.rs:1", "/many_places/"])["patterns"][0].clone();
    assert_eq!(found["total"], 120, "{found}");
    let lines = |at: usize| found["files"][at]["lines"].as_array().unwrap().len();
    assert_eq!((lines(0), lines(1)), (60, 20), "{found}");
    assert_eq!(found["left_in"], json!([{ "path": "scripts/second.js", "lines": 40 }]), "{found}");
}

/// Two tokens are counted as seven bytes.
#[test]
fn patterns_keep_within_the_limit_of_the_caller() {
    let p = project();
    let mut reader = Reader::new(&p);
    let places = ["scripts/first.js:1-30", "/many_places/", "/RETRY_LIMIT/", "/second_1\\d/"];
    for limit in [200, 300, 500, 900, 5000] {
        let asked = json!({ "places": places, "max_tokens": limit });
        let text = reader.text(&asked);
        assert!((text.len() * 2).div_ceil(7) <= limit, "{limit}: {text}");
        assert!(text.contains("scripts/first.js:1-"), "{limit}: {text}");
        assert!(text.contains("/many_places/: 120 matching lines in 2 files"), "{limit}: {text}");
        let json = reader.json(asked).to_string();
        assert!((json.len() * 2).div_ceil(7) <= limit, "{limit}: {json}");
    }
    // Without a limit, all of them are shown.
    let text = reader.text(&json!({ "places": places }));
    has_in_order(&text, &["scripts/first.js:1-30 of 60 lines", "80 shown", "second_19 ="]);
}

/// The values of a long enum are divided between chunks.
#[test]
fn the_lines_of_a_long_enum_are_those_of_the_index() {
    let value = |n: usize| {
        format!(
            "    /// The value of number {n}, which says at some length what it stands for and when.\n    ///\n    /// ## Resolution\n    #[error(\"of number {n}\")]\n    Value{n} {{ at: usize }},\n\n"
        )
    };
    let values: String = (0..200).map(value).collect();
    let code = format!("pub enum Reason {{\n{values}}}\n");
    let p = Project::with(&[("src/reason.rs", &code)]);
    let answer = p.json(&["read", "src/reason.rs:2-1100"]);
    assert_eq!(answer["changed"], false, "{}", answer["warnings"]);
}

/// A prototype has no code.
#[test]
fn the_name_of_a_function_means_its_definition() {
    let p = Project::with(&[
        ("run.h", "int step(int);\n"),
        ("run.c", "#include \"run.h\"\n\nint\nstep(int n)\n{\n\treturn n + 1;\n}\n"),
    ]);
    let answer = p.json(&["read", "step"]);
    assert_eq!(answer["path"], "run.c", "{answer}");
    assert!(answer["content"].as_str().unwrap().contains("return n + 1;"), "{answer}");
}

/// A request for a file elsewhere never shows a file of this project without saying so.
#[test]
fn another_file_is_not_read_in_silence() {
    let p = Project::with(&[
        ("README.md", "# Frost\n"),
        ("src/pump.rs", "pub fn pump() {}\n"),
        ("target.log.md", "# ignored\n"),
        (".gitignore", "target.log.md\n"),
    ]);
    std::fs::write(p.root().parent().unwrap().join("README.md"), "# Other\n").unwrap();
    let outside = p.root().parent().unwrap().join("README.md");
    let outside = outside.to_str().unwrap();
    for path in ["../README.md", outside] {
        assert!(
            p.run(&["read", path]).error().contains("out of the project")
                || p.run(&["read", path]).error().contains("outside the project"),
            "{path}"
        );
    }
    for path in ["/nonexistent/README.md", "../other/README.md", "docs/README.md"] {
        assert!(p.run(&["read", path]).error().contains("README.md"), "{path}");
    }
    assert!(p.run(&["read", "target.log.md"]).error().contains("is not in the index"));
    let guessed = p.run(&["read", "/build/frost/src/pump.rs:1"]).expect(0);
    assert!(guessed.stdout.contains("pub fn pump"), "{}", guessed.stdout);
    let note = "`/build/frost/src/pump.rs` does not exist: this is src/pump.rs";
    assert!(guessed.stderr.lines().next().unwrap().contains(note), "{}", guessed.stderr);
    assert_eq!(p.run(&["read", "pump.rs"]).expect(0).stderr, "");
}
