//! What `cortex` prints: on terminals, in pipes, as help.

use std::process::Stdio;

use crate::project::{Project, run};

const ESCAPE: char = '\u{1b}';

/// In a pipe or a file the output is plain text, the summary of the first index included.
#[test]
fn no_escape_codes_unless_on_a_terminal() {
    let p = Project::sample();
    for args in [
        &["search", "potatoes", "--explain"][..],
        &["search", "--exact", "hovercraft"],
        &["index", "--full", "--verbose"],
        &["status"],
        &["search"],
        &["search", "potatoes", "--project", "nowhere"],
        &["clean"],
    ] {
        let out = p.run(args);
        assert!(!out.stdout.contains(ESCAPE) && !out.stderr.contains(ESCAPE), "{args:?}: {out:?}");
    }
}

/// On a terminal results are coloured, unless `NO_COLOR` is set.
#[test]
#[cfg(target_os = "linux")]
fn colours_on_a_terminal_unless_no_color() {
    let p = Project::sample();
    p.index();
    let on_terminal = |no_color: bool| {
        // `script` runs a command on a terminal of its own.
        let mut c = p.command("script");
        c.env("TERM", "xterm").args([
            "--quiet",
            "--return",
            "--command",
            concat!(env!("CARGO_BIN_EXE_cortex"), " search potatoes"),
        ]);
        c.arg("/dev/null");
        if no_color {
            c.env("NO_COLOR", "1");
        }
        c
    };
    if !crate::support::has_script() {
        return;
    }
    let coloured = run(&mut on_terminal(false)).expect(0).stdout;
    assert!(coloured.contains(ESCAPE) && coloured.contains("docs/guide.md"), "{coloured:?}");
    let plain = run(&mut on_terminal(true)).expect(0).stdout;
    assert!(!plain.contains(ESCAPE) && plain.contains("docs/guide.md"), "{plain:?}");
}

/// On a terminal that shows links, printed paths are links. Pipes and terminals without colours get
/// none, and a file name adds nothing to a link that a terminal obeys.
#[test]
#[cfg(target_os = "linux")]
fn paths_are_links_on_terminals_that_show_them() {
    let p = Project::sample();
    p.write("sly \u{1b}]8;;evil\u{7}.md", "# Sly\n\nzucchini\n");
    p.index();
    let on_terminal = |arguments: &str, variables: &[(&str, &str)]| {
        let mut c = p.command("script");
        c.args(["--quiet", "--return", "--command"]);
        c.arg(format!("{} {arguments}", env!("CARGO_BIN_EXE_cortex"))).arg("/dev/null");
        c.env("TERM", "xterm").envs(variables.iter().copied());
        c
    };
    if !crate::support::has_script() {
        return;
    }
    let run_on = |arguments: &str, variables: &[(&str, &str)]| {
        run(&mut on_terminal(arguments, variables)).stdout
    };
    let guide = format!("{}/docs/guide.md", p.root().display());
    let kitty = &[("TERM", "xterm-kitty")][..];
    for arguments in [
        "search potatoes", "search potatoes -l", "grep potatoes", "grep -l potatoes",
        "files --by file", "outline",
    ] {
        let linked = run_on(arguments, kitty);
        let (start, end) = (
            linked.matches("\u{1b}]8;;file://").count(),
            linked.matches("\u{1b}]8;;\u{1b}\\").count(),
        );
        assert!(linked.contains(&guide) && start > 0 && start == end, "{arguments}: {linked:?}");
        let without: &[(&str, &[(&str, &str)])] = &[
            ("", &[]),
            ("--hyperlinks never", kitty),
            ("--color never", kitty),
            ("--hyperlinks always --color never", kitty),
            ("", &[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]),
        ];
        for (flags, variables) in without {
            let plain = run_on(&format!("{arguments} {flags}"), variables);
            assert!(
                !plain.contains("]8;;file") && plain.contains("guide.md"),
                "{flags}: {plain:?}"
            );
        }
        assert!(run_on(&format!("{arguments} --hyperlinks always"), &[]).contains("]8;;file://"));
        let mut piped = p.cortex(&arguments.split(' ').collect::<Vec<_>>());
        piped.args(["--hyperlinks", "always", "--color", "always"]).env("TERM", "xterm-kitty");
        assert!(!run(&mut piped).stdout.contains("\u{1b}]8"), "a pipe gets no links");
    }
    let sly = run_on("search zucchini", kitty);
    assert!(
        sly.contains("sly%20%1B%5D8%3B%3Bevil%07.md") && !sly.contains("\u{1b}]8;;evil"),
        "{sly:?}"
    );
}

/// Nothing in a repository can control the terminal: neither text, nor a heading, nor a file name.
#[test]
fn control_characters_of_the_repository_are_not_printed() {
    let p = Project::with(&[
        ("text.md", "# Plain\n\nzucchini \u{1b}]0;owned\u{7} \u{9b}31m\n"),
        ("heading.md", "# Sly \u{1b}[31m heading\n\nzucchini\n"),
        ("name\u{1b}[31m.md", "# Name\n\nzucchini\n"),
        ("bin\u{1b}[31m.md", "zucchini\0\n"),
        ("two\nlines.md", "# Lines\n\nzucchini\n"),
    ]);
    let search = p.run(&["search", "zucchini", "--explain"]).expect(0);
    let index = p.run(&["index", "--verbose"]).expect(0);
    let status = p.run(&["status", "--verbose"]).expect(0);
    for out in [&search, &index, &status] {
        let control =
            out.stdout.chars().chain(out.stderr.chars()).find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{out:?}");
    }
    assert_eq!(p.found(&["zucchini"]).len(), 4);
    assert!(!search.stdout.contains("two\n"), "a result's place is one line: {}", search.stdout);
}

/// `--lines` sets the number of shown lines: those that hold most words of the query, with their
/// numbers.
#[test]
fn context_sets_the_lines_shown() {
    let p = Project::new();
    let lines: String = (1..=40)
        .map(|n| format!("line {n}{}\n", if n == 30 { " with the zucchini" } else { "" }))
        .collect();
    p.write("notes.txt", lines);
    let shown = |n: &str| p.run(&["search", "zucchini", "--lines", n]).expect(0).stdout;
    assert_eq!(shown("0").trim_end(), "notes.txt:1-40");
    let three = shown("3");
    assert_eq!(three.lines().filter(|l| l.contains(" line ")).count(), 3, "{three}");
    assert!(three.contains("    30 line 30 with the zucchini"), "{three}");
}

/// A program with a long function, a type, and what uses them.
fn depot() -> Project {
    let p = Project::new();
    let steps = |from: usize, to: usize| -> String {
        (from..to).map(|n| format!("    step_{n}();\n")).collect()
    };
    p.write(
        "src/plan.rs",
        format!(
            "//! Plans the day.\n\n/// Sends parcels to shelves.\npub fn plan_day(parcels: &[Parcel]) {{\n{}    for parcel in parcels {{\n        // A frozen parcel waits for the cold truck.\n        if parcel.frozen && !truck.is_cold() {{\n            return wait_for(parcel, COLD);\n        }}\n    }}\n{}}}\n",
            steps(0, 40),
            steps(40, 80)
        ),
    );
    p.write(
        "src/parcel.rs",
        "//! Parcels.\n\n/// A thing to send.\npub struct Parcel {\n    pub frozen: bool,\n    weight: u32,\n}\n\nimpl Parcel {\n    pub fn weigh(&self) -> u32 {\n        self.weight\n    }\n\n    pub fn label(&self) -> String {\n        format!(\"parcel of {} kg for shelf {}\", self.weight, 7)\n    }\n}\n",
    );
    p.write(
        "src/event.rs",
        "pub enum Event {\n    Parcel(u32),\n    Truck,\n}\n\npub fn lost(shelf: u32, error: &str) {\n    log::warn!(\"shelf {shelf} lost its parcel after {} seconds: {error}\", 9);\n}\n",
    );
    p.write(
        "tests/parcel.rs",
        "fn lost() {\n    check(\"shelf 3 lost its parcel after 12 seconds: no answer\");\n}\n",
    );
    p
}

/// A question is answered by lines deep in a long function, as they stand in the file, on one screen.
#[test]
fn a_question_shows_the_lines_that_answer_it() {
    let p = depot();
    let out = p.run(&["search", "when does a frozen parcel wait for a truck"]).expect(0).stdout;
    let lines: Vec<&str> = out.lines().collect();
    assert!(out.contains("src/plan.rs:3-91  function plan_day\n"), "{out}");
    // Lines that have nothing to do with the question are left out.
    assert!(!out.contains("step_3();") && !out.contains("step_70();"), "{out}");
    for wanted in [
        "    45     for parcel in parcels {",
        "    47         if parcel.frozen && !truck.is_cold() {",
        "    48             return wait_for(parcel, COLD);",
    ] {
        assert!(lines.contains(&wanted), "{wanted} is not in {out}");
    }
    assert!(lines.len() <= 45, "{out}");
    // Each further result has a line of its own, with its place.
    assert!(lines.iter().any(|line| line.starts_with("src/parcel.rs:")), "{out}");
}

/// The definition of a name comes first, the type before a member of the same name, with what it consists
/// of and how much uses it.
#[test]
fn a_name_shows_its_definition_first() {
    let p = depot();
    let out = p.run(&["search", "Parcel"]).expect(0).stdout;
    assert!(
        out.starts_with(
            "src/parcel.rs:3-7  struct Parcel\n     3 /// A thing to send.\n     4 pub struct Parcel {\n"
        ),
        "{out}"
    );
    assert!(out.contains("\n   methods  weigh 10 · label 14\n"), "{out}");
    assert!(
        out.contains("\n   used     src/event.rs:2 · src/parcel.rs:9 · src/plan.rs:4\n"),
        "{out}"
    );
    assert!(out.contains("\nsrc/event.rs:2  Parcel(u32),\n"), "{out}");
    let function = p.run(&["search", "plan_day"]).expect(0).stdout;
    assert!(function.starts_with("src/plan.rs:3-91  function plan_day\n"), "{function}");
    assert!(function.contains("\n     4 pub fn plan_day(parcels: &[Parcel]) {\n"), "{function}");
    assert!(function.contains("callers: cortex graph callers plan_day"), "{function}");
    let method = p.run(&["search", "Parcel::label"]).expect(0).stdout;
    assert!(method.starts_with("src/parcel.rs:14-16  method Parcel::label\n"), "{method}");
}

/// A message from a log finds the line that writes it, before a test that quotes it, although the values
/// differ, the log adds a prefix that is longer than the message, and the literal has several lines.
#[test]
fn a_pasted_message_finds_the_line_that_writes_it() {
    let p = depot();
    p.write(
        "src/Shelf.swift",
        "enum ShelfError {\n  var text: String {\n    switch self {\n    case let .full(name, rest):\n      \"\"\"\n      No room on \\(name), \\\n      the rest is: \\(rest)\n      \"\"\"\n    }\n  }\n}\n",
    );
    p.write(
        "src/job.rb",
        "def bury(job)\n  logger.info(\"Burying lost #{job[:class]} job #{job[:id]}\")\nend\n",
    );
    p.write(
        "src/Depot.java",
        "class Depot {\n  void full(String name) {\n    throw new DepotException(\n        \"Depot \"\n            + name\n            + \" has two shelves named '\"\n            + this.last\n            + \"'; it is closed by \"\n            + this.owner);\n  }\n}\n",
    );
    p.write(
        "src/test/DepotTest.java",
        "class DepotTest {\n  void full() {\n    is(\"Depot east has two shelves named 'a'; it is closed by ann\");\n  }\n}\n",
    );
    p.write(
        "src/link.py",
        "RETRY = \"\"\"\\\nTrying again {when}... ({n}/{most})\\\n\"\"\"\n\nBROKEN = \"\"\"\\\nlink: Cannot reach %s: %s.\n%s\n\"\"\"\n",
    );
    p.write("src/settings.rs", "const ALL: &[&str] = &[\n    \"DEPOT_HOME\",\n];\n");
    p.write("src/home.rs", "fn home() {\n    std::env::var(\"DEPOT_HOME\");\n}\n");
    for (message, place) in [
        ("No room on east wing 4, the rest is: [3, 4]", "src/Shelf.swift:6"),
        (
            "2026-05-14T08:12:33.121Z pid=41 tid=2a1h INFO: Burying lost Depot::Sort job 9f3c1a77b2e04d5a",
            "src/job.rb:2",
        ),
        ("DEPOT_HOME", "src/home.rs:2"),
        (
            "a.b.DepotException: Depot west has two shelves named 'x y'; it is closed by bob",
            "src/Depot.java:6",
        ),
        (
            "[2026-08-08 20:15:20,113: ERROR/Main] link: Cannot reach amqp://guest@localhost: [Errno 111] Connection refused.\nTrying again in 2.00 seconds... (1/100)",
            "src/link.py:6",
        ),
    ] {
        let out = p.run(&["search", message]).expect(0).stdout;
        assert!(out.starts_with(place), "{message}: {out}");
    }
    for message in [
        "shelf 12 lost its parcel after 35 seconds: connection reset",
        "2026-01-02T03:04:05Z WARN depot::event: shelf 9 lost its parcel after 0 seconds: EOF",
    ] {
        let out = p.run(&["search", message]).expect(0).stdout;
        assert!(out.starts_with("src/event.rs:7  function lost\n"), "{message}: {out}");
        assert!(out.contains("\n>    7     log::warn!(\"shelf {shelf} lost"), "{out}");
    }
    let token = p.run(&["search", "parcel of {} kg"]).expect(0).stdout;
    assert!(token.contains("src/parcel.rs:15"), "{token}");
}

/// Each frame of a trace shows its line in the middle, and a frame that the file has outgrown says so
/// and shows the function that it names.
#[test]
fn a_trace_shows_each_frame_and_says_which_are_stale() {
    let p = depot();
    let trace = "thread 'main' panicked at src/parcel.rs:11:9:\nlost\nstack backtrace:\n   1: depot::Parcel::weigh\n             at ./src/parcel.rs:11:9\n   2: depot::Parcel::label\n             at ./src/parcel.rs:11:30\n   3: depot::plan_day\n             at ./src/plan.rs:400:5\n";
    let out = p.run(&["search", trace]).expect(0).stdout;
    assert!(out.starts_with("src/parcel.rs:11  method Parcel::weigh\n"), "{out}");
    assert!(out.contains("\n>   11         self.weight\n"), "{out}");
    let stale =
        "src/plan.rs:4  function plan_day\n   the trace says line 400: the file has 91 lines now\n";
    assert!(out.contains(stale), "{out}");
    assert!(out.contains("\n>    4 pub fn plan_day(parcels: &[Parcel]) {\n"), "{out}");
    let moved = p.run(&["search", "at Parcel::label (src/parcel.rs:11)"]).expect(0).stdout;
    assert!(
        moved.starts_with(
            "src/parcel.rs:14  method Parcel::label\n   the trace says line 11, which is in Parcel::weigh now\n"
        ),
        "{moved}"
    );
    // Package managers keep a copy of the project in a folder with its name and version.
    let name = p.root().file_name().unwrap().to_string_lossy().into_owned();
    for path in [
        format!("/home/ann/go/pkg/mod/example.com/{name}@v1.2.0/src/parcel.rs"),
        format!("/app/vendor/example.com/{name}/src/parcel.rs"),
        "/app/src/parcel.rs".into(),
    ] {
        let found = p.run(&["search", &format!("depot.plan_day()\n\t{path}:11 +0x1f")]);
        let found = found.expect(0).stdout;
        assert!(found.starts_with("src/parcel.rs:11  method Parcel::weigh\n"), "{path}: {found}");
    }
    let named_as_file = p.run(&["search", "at /app/src/plan.rs:20:3"]).expect(0).stdout;
    assert!(named_as_file.contains("\n>   20     step_15();\n"), "{named_as_file}");
    p.write("src/label.rs", "fn other() {\n    one();\n}\n\npub fn label() {\n    two();\n}\n");
    let own_name = p.run(&["search", "at /app/src/label.rs:2:3"]).expect(0).stdout;
    assert!(own_name.starts_with("src/label.rs:2  function other\n"), "{own_name}");
    // A message may name the file that the program read: its line writes no message.
    p.write("data/days.json", "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
    let message = "depot: (at days.json:2): shelf 12 lost its parcel after 35 seconds: no answer";
    let found = p.run(&["search", message]).expect(0).stdout;
    assert!(found.starts_with("src/event.rs:7  function lost\n"), "{found}");
}

/// `cortex search … | head -1`: a reader that closes the pipe early causes no error.
#[test]
fn a_closed_pipe_is_no_error() {
    let p = Project::sample();
    p.index();
    for args in [
        &["search", "water"][..],
        &["search", "water", "--json"],
        &["completions", "bash"],
        &["status", "--json"],
        &["index", "--json"],
        &["index", "--verbose"],
        &["clean"],
    ] {
        // The reader is gone before the program starts.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = run(p.cortex(args).stdout(Stdio::from(writer)));
        assert_eq!((out.code, out.stderr.as_str()), (0, ""), "{args:?}");
    }
}

/// Every command has help with an example.
#[test]
fn help_of_every_command_has_an_example() {
    let p = Project::new();
    let top = p.run(&["--help"]).expect(0).stdout;
    assert!(top.contains("Example"), "{top}");
    let commands: Vec<&str> = top
        .lines()
        .skip_while(|l| *l != "Commands:")
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|c| *c != "help")
        .collect();
    for expected in ["search", "index", "status", "clean", "completions"] {
        assert!(commands.contains(&expected), "{commands:?}");
    }
    for command in commands {
        let help = p.run(&[command, "--help"]).expect(0).stdout;
        assert!(
            help.contains("Example") && help.contains(&format!("cortex {command}")),
            "{command}: {help}"
        );
    }
    assert!(!p.path(".cortex").exists(), "help writes nothing");
}

/// `--version` names the program and the version of its package.
#[test]
fn version_is_the_packages() {
    let out = Project::new().run(&["--version"]).expect(0);
    assert_eq!(out.stdout, concat!("cortex ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// A shell accepts the completion script.
#[test]
fn completions_are_a_script_of_the_shell() {
    let p = Project::new();
    let script = p.run(&["completions", "bash"]).expect(0).stdout;
    assert!(script.contains("complete -F _cortex") && script.contains("--no-index"), "{script}");
    p.write("cortex.bash", &script);
    run(p.command("bash").args(["-n", "cortex.bash"])).expect(0);
    for shell in ["zsh", "fish"] {
        assert!(p.run(&["completions", shell]).expect(0).stdout.contains("cortex"));
    }
}

/// `status` shows what is indexed and whether it is up to date.
#[test]
fn status_tells_what_is_indexed() {
    let p = Project::sample();
    assert!(p.run(&["status"]).expect(1).stdout.contains("none yet: run `cortex index`"));
    p.write("lib/jquery.min.js", "x");
    p.index();
    let status = p.json(&["status"]);
    assert_eq!(
        (&status["index"]["generation"], &status["files"], &status["stale"]),
        (&1.into(), &4.into(), &false.into()),
        "{status:#}"
    );
    assert_eq!(
        status["languages"],
        serde_json::json!({"markdown": 1, "python": 1, "rust": 1, "toml": 1})
    );
    assert_eq!(status["skipped"], serde_json::json!({"minified or generated": 1}));
    p.remove("settings.toml");
    assert_eq!(p.json(&["status"])["stale"], true);
    let text = p.run(&["status"]).expect(0).stdout;
    assert!(text.contains("files changed since"), "{text}");
}

/// A program may close the standard error of a command before it writes there.
#[test]
fn a_message_that_nobody_reads_is_no_panic() {
    let p = Project::sample();
    p.index();
    let mut search = p.cortex(&["search", "--exact", "nothing_has_this_name"]);
    let mut child = search.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A question may come from another program, as a trace does.
#[test]
fn a_question_is_read_from_standard_input() {
    let p = Project::sample();
    p.index();
    p.write("trace.txt.log", "panicked at /home/ci/src/retry.rs:2:5:\nbroken\n");
    let mut search = p.cortex(&["search", "-", "-n", "1", "-l"]);
    let trace = std::fs::File::open(p.path("trace.txt.log")).unwrap();
    let out = run(search.stdin(trace)).expect(0);
    assert_eq!(out.stdout, "src/retry.rs\n");
}
