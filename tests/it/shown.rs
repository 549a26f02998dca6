//! Which lines of a result are shown: those of the place in its heading, and few that say nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Server, initialize};

/// Names and comments of symbols in the corpus.
const QUESTIONS: [&str; 60] = [
    "Returns the path that a request means",
    "Splits a chain into the part before the last name, and that name",
    "Removes secrets and cuts the content to the length of a memory",
    "Opens a regular file",
    "Moves the content of SQLite's log into the database",
    "Returns the cursor of the next page",
    "Estimates the tokens of a text",
    "Replaces each secret in text",
    "Parses a query",
    "Returns the aliases under which imports use a name",
    "Announces to other processes how much waits to be indexed",
    "Sets a value at the pointer",
    "Returns the grammar of the language with this name",
    "Records which stashes were made and taken",
    "Returns why programs execute or trust a file",
    "Opens a path without following links anywhere in it",
    "Returns the values of a query string as JSON",
    "Starts to read in the background",
    "Finds everything that an exact query matches",
    "Returns the file of CI with the most checks, and its commands",
    "Returns a warning if the index changed since the previous page",
    "Writes the chunks of a deleted file with a mark",
    "Returns the last line of a node that is not blank",
    "Headings from the outermost to this section's own",
    "Prints lines below their files and symbols",
    "how long to wait until the logs of git are complete",
    "which process writes the index while others wait",
    "where is the score of a file computed from its features",
    "how are vectors saved and loaded",
    "what happens when a chunk file is damaged",
    "Excerpts::new",
    "WriteLock::acquire",
    "IndexedFile",
    "TokenBudget",
    "Highlighter",
    "softmax",
    "is_test_path",
    "with_named_places",
    "canonical_parts",
    "DEFAULT_TOKENS",
    "Logs a line and deploys",
    "Finds a node of the list",
    "Sums the areas of shapes",
    "A circle is something with an area",
    "A store that counts",
    "Package web serves pages: Server listens",
    "Start begins to listen",
    "A cache with a largest size",
    "Adds two numbers",
    "A client that sends requests",
    "Makes a store",
    "Listens to a counter",
    "A point with coordinates",
    "the model of a linear fit",
    "rows of a schema of orders and customers",
    "the card that shows a user",
    "Session of a user",
    "Functor map",
    "message of a shop with an item",
    "param of a module",
];

/// Corpus: the sources of this repository, and the samples of its languages.
fn corpus() -> Project {
    let p = Project::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap();
            let place = path.strip_prefix(root).unwrap();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                p.write(place, fs::read(&path).unwrap());
            } else if let Some(sample) = name.strip_suffix(".txt").filter(|n| n.contains('.')) {
                p.write(format!("samples/{sample}"), fs::read(&path).unwrap());
            }
        }
    }
    p
}

/// Lines that were printed below headings.
#[derive(Debug, Default)]
struct Counted {
    n_lines: usize,
    /// Lines of brackets, blank lines, and marks of gaps.
    n_idle: usize,
    n_places: usize,
    /// Lines that are not of the place in their heading.
    outside: Vec<String>,
}

impl Counted {
    fn line(&mut self, text: &str) {
        self.n_lines += 1;
        let closes = ["end", "end)", "end,", "end;", "fi", "done", "esac"];
        let is_idle = |text: &str| {
            text.chars().all(|c| "{}()[]<>;,".contains(c))
                || text.starts_with('…')
                || closes.contains(&text)
        };
        self.n_idle += usize::from(is_idle(text.trim()));
    }

    /// Reads what `cortex search` printed.
    fn terminal(&mut self, printed: &str) {
        let mut place = None;
        for line in printed.lines() {
            let number = line.get(..6).and_then(|number| number.trim().parse::<u32>().ok());
            if let Some(number) = number {
                self.line(line.get(7..).unwrap_or_default());
                // A heading with one line names the line that is meant, and shows those around it.
                if !place
                    .is_some_and(|(first, last)| first == last || (first..=last).contains(&number))
                {
                    self.outside.push(format!("{place:?}: {line}"));
                }
            } else if let Some(lines) = of_heading(line) {
                self.n_places += 1;
                place = Some(lines);
            }
        }
    }

    /// Reads a reply of the protocol, as text and as JSON.
    fn reply(&mut self, text: &str, results: &Value) {
        text.lines().filter(|line| line.starts_with(' ')).for_each(|line| self.line(line));
        for row in results.as_array().unwrap() {
            let excerpts: Vec<&Value> = row["excerpts"].as_array().into_iter().flatten().collect();
            self.n_places += excerpts.len();
            if let Some(first) = excerpts.first()
                && (first["start_line"] != row["start_line"]
                    || first["end_line"] != row["end_line"])
            {
                self.outside.push(format!("{row:#}"));
            }
            for excerpt in excerpts {
                let place = excerpt["start_line"].as_u64()..=excerpt["end_line"].as_u64();
                for window in excerpt["windows"].as_array().unwrap() {
                    let lines: Vec<&str> = window["text"].as_str().unwrap().split('\n').collect();
                    let first = window["start_line"].as_u64().unwrap();
                    let last = first + lines.len() as u64 - 1;
                    if !place.contains(&Some(first)) || !place.contains(&Some(last)) {
                        self.outside.push(format!("{excerpt:#}"));
                    }
                    let ends = [lines[0], lines[lines.len() - 1]];
                    assert!(!ends.iter().any(|line| line.trim().is_empty()), "{window:#}");
                }
            }
        }
    }

    #[track_caller]
    fn check(&self, n_places: usize) {
        assert!(self.n_places >= n_places && self.n_lines > n_places, "too few: {self:?}");
        assert!(self.outside.is_empty(), "lines of another place: {:#?}", self.outside);
        assert!(self.n_idle * 3 <= self.n_lines, "{} of {}", self.n_idle, self.n_lines);
    }
}

/// Returns the first and last line that a heading names: `src/a.rs:3-9  name`.
fn of_heading(line: &str) -> Option<(u32, u32)> {
    let (_, lines) = line.split("  ").next()?.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Results show lines of the place that their heading names, and few lines that say nothing,
/// wherever they are shown. With `STRESS=1`: for all questions.
#[test]
fn lines_shown_are_of_the_place_in_the_heading() {
    let p = corpus();
    p.index();
    let step = if std::env::var_os("STRESS").is_some() { 1 } else { 3 };
    let mut replies = Counted::default();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-06-18"));
    for question in QUESTIONS.iter().step_by(step) {
        let mut ask = |format: &str| {
            let arguments = json!({ "query": question, "format": format });
            let call = json!({ "name": "cortex_search", "arguments": arguments });
            server.ask("tools/call", &call)["result"].clone()
        };
        let text = ask("text")["content"][0]["text"].as_str().unwrap().to_string();
        let json = ask("json");
        assert!(json["structuredContent"]["results"].is_array(), "{question}: {json}");
        replies.reply(&text, &json["structuredContent"]["results"]);
    }
    drop(server);
    replies.check(300 / step);
    let mut printed = Counted::default();
    for question in QUESTIONS.iter().step_by(3 * step) {
        printed.terminal(&p.run(&["search", "--no-index", question]).expect(0).stdout);
    }
    printed.check(100 / step);
}

/// A file begins with prose and imports that hold the words of the question, and one of its
/// functions answers it: the function is printed, whole, and not the head of the file.
#[test]
fn the_function_that_answers_is_printed_and_not_the_head_of_its_file() {
    let p = Project::with(&[(
        "src/pump.rs",
        "//! Pumps water when the level rises above its limit.\n\nuse crate::level::Level;\nuse crate::limit::Limit;\nuse crate::water::Water;\n\n\
         fn start(level: Level, limit: Limit) -> Water {\n    if level > limit {\n        open_valve();\n    }\n\n    Water::new(level)\n}\n\n\
         fn stop() {\n    close_valve();\n}\n",
    )]);
    let out = p.run(&["search", "level of the water above the limit", "-n", "1"]).expect(0).stdout;
    let shown: Vec<&str> =
        out.lines().filter(|l| !l.starts_with("   also") && !l.is_empty()).collect();
    assert_eq!(
        shown[..8],
        [
            "src/pump.rs:7-13  function start",
            "     7 fn start(level: Level, limit: Limit) -> Water {",
            "     8     if level > limit {",
            "     9         open_valve();",
            "    10     }",
            "    11 ",
            "    12     Water::new(level)",
            "    13 }",
        ]
    );
    let out =
        run(p.cortex(&["search", "level of the water", "--json", "-n", "1"]).stdin(Stdio::null()));
    let row = &serde_json::from_str::<Value>(&out.stdout).unwrap()["results"][0];
    assert_eq!((&row["start_line"], &row["symbol"]), (&json!(7), &json!("start")));
    let text = row["excerpts"][0]["windows"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("fn start") && text.ends_with("Water::new(level)\n}"), "{text}");
}

/// A project in which a question has one reply, as an agent reads it.
fn reply(files: &[(&str, &str)], question: &str) -> String {
    let p = Project::with(files);
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let call = json!({ "name": "cortex_search", "arguments": { "query": question } });
    server.ask("tools/call", &call)["result"]["content"][0]["text"].as_str().unwrap().to_string()
}

/// Returns lines of a function that have nothing to do with any question.
fn filler(indent: &str, names: std::ops::Range<usize>) -> String {
    names.fold(String::new(), |text, i| {
        format!("{text}{indent}value_{i} = step_{i}(value_{i}, {i})\n")
    })
}

/// A function with a function inside it was cut at the deciding line: it is shown whole.
#[test]
fn a_function_is_not_cut_at_its_inner_function() {
    let text = format!(
        "def protect(scope):\n{}    def decorated(route):\n        check(scope)\n        return route\n{}    return decorated\n\n\ndef other():\n{}",
        filler("    ", 0..20),
        filler("    ", 20..40),
        filler("    ", 40..80),
    );
    let reply = reply(&[("guard.py", &text)], "protect a route by its scope");
    assert!(reply.starts_with("guard.py:1-45  function protect\n"), "{reply}");
    assert!(text.lines().take(45).all(|line| reply.contains(line)), "{reply}");
}

/// A long method was shown as many fragments: its signature and the block that answers are shown,
/// with the lines whose blocks enclose it.
#[test]
fn a_long_function_is_shown_as_the_block_that_answers_below_its_headers() {
    let text = format!(
        "def run(jobs):\n{}    for job in jobs:\n{}        if job.ready:\n{}            if job.valve.leaks:\n                close_the_valve(job)\n                continue\n{}    return jobs\n",
        filler("    ", 1000..1100),
        filler("        ", 2000..2100),
        filler("            ", 3000..3100),
        filler("    ", 4000..4100),
    );
    let other = filler("", 0..400);
    let files = [("run.py", &*text), ("other.py", &*other)];
    let reply = reply(&files, "close a valve that leaks");
    let shown = ["def run(jobs):", "    for job in jobs:", "        if job.ready:"];
    let block = ["if job.valve.leaks:", "close_the_valve(job)", "continue"];
    for line in shown.iter().chain(&block) {
        assert!(reply.contains(line), "{line} is missing: {reply}");
    }
    assert!(reply.matches("\n …\n").count() <= 4, "{reply}");
}

/// Stubs were shown in place of the function that they declare.
#[test]
fn overloads_are_not_shown_in_place_of_the_implementation() {
    let stubs: String = (0..4)
        .map(|i| {
            format!("@overload\ndef open_gate(key: Kind{i}, gate: Gate) -> Gate{i}: ...\n\n\n")
        })
        .collect();
    let text = format!(
        "{stubs}def open_gate(key, gate):\n    if not gate.fits(key):\n        raise WrongKey(key)\n    return gate.turn(key)\n"
    );
    let reply = reply(&[("gate.py", &text)], "open a gate with a key");
    assert!(reply.starts_with("gate.py:17-20  function open_gate\n"), "{reply}");
    assert!(reply.contains("return gate.turn(key)"), "{reply}");
}

/// A template was cut at the two lines that decide.
#[test]
fn a_template_is_shown_around_the_lines_that_match() {
    let rows = |names: std::ops::Range<usize>| {
        names.fold(String::new(), |text, i| format!("{text}  <p>paragraph {i}</p>\n"))
    };
    let text = format!(
        "PAGE = \"\"\"\n<html>\n{}  <form action=\"/pay\">\n    <input name=\"invoice\" value=\"{{number}}\">\n    <button>settle</button>\n  </form>\n{}</html>\n\"\"\"\n",
        rows(0..80),
        rows(80..160),
    );
    let reply = reply(&[("page.py", &text)], "where does the page settle an invoice");
    for line in ["<form action", "name=\"invoice\"", "settle"] {
        assert!(reply.contains(line), "{line} is missing: {reply}");
    }
}

/// Many files that answer a question about levels alike.
fn levels() -> Vec<(String, String)> {
    let level = |i| {
        (format!("src/level{i}.py"), format!("def level_{i}():\n{}", filler("    ", i..i + 50)))
    };
    (0..30).map(level).collect()
}

/// A limit of 18 files gave seven.
#[test]
fn a_limit_of_a_search_is_reached_and_each_result_is_a_file() {
    let files = levels();
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    let p = Project::with(&files);
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-06-18"));
    for limit in [3, 12, 18] {
        let arguments = json!({ "query": "level", "limit": limit });
        let call = json!({ "name": "cortex_search", "arguments": arguments });
        let reply = server.ask("tools/call", &call);
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        let places = text.lines().filter(|line| line.starts_with("src/"));
        let files: BTreeSet<&str> = places.filter_map(|line| line.split(':').next()).collect();
        assert_eq!(files.len(), limit, "{text}");
        assert!(text.contains("more: cursor"), "{text}");
        let limit = limit.to_string();
        let found = p.json(&["search", "level", "-n", &limit]);
        assert_eq!(found["results"].as_array().unwrap().len().to_string(), limit, "{found}");
        let listed = p.run(&["search", "-l", "level", "-n", &limit]).expect(0).stdout;
        assert_eq!(listed.lines().count().to_string(), limit, "{listed}");
    }
}

/// A reply ended in ten files that were only named.
#[test]
fn few_further_places_are_listed() {
    let files = levels();
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    let reply = reply(&files, "level");
    let lines: Vec<&str> = reply.lines().collect();
    let is_place = |line: &&str| line.starts_with("src/");
    let bare = lines.windows(2).filter(|w| is_place(&w[0]) && !w[1].starts_with(' ')).count();
    assert!((1..=5).contains(&bare), "{bare} in {reply}");
    assert!(reply.contains("more: cursor"), "{reply}");
}
