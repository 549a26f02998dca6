//! Checks `--help`, the README and the page of commands as a newcomer reads them: the texts equal
//! `help.txt`, and the examples give answers in this repository.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use cortex::config::KEYS;

use crate::project::Project;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Commands that only read, or change only the copy in which they run.
const RUN: &[&str] = &[
    "explore", "search", "outline", "read", "related", "graph", "map", "pattern", "files",
    "status", "index", "memory", "deps", "changes",
];
/// Parts of examples that need something that is not here: another directory, an id, a file.
const NEEDS_MORE: &[&str] =
    &["0199f1c2", ".jsonl", "--from", "~/", "export", "deps index", "deps clean", "s3://", "shop/"];

/// Returns the names of all commands, each followed by its subcommands.
fn commands() -> Vec<Vec<String>> {
    let mut out = vec![Vec::new()];
    let root = cortex::cli::command();
    for command in root.get_subcommands() {
        out.push(vec![command.get_name().to_string()]);
        out.extend(
            command
                .get_subcommands()
                .map(|sub| vec![command.get_name().to_string(), sub.get_name().to_string()]),
        );
    }
    out
}

fn help_of(command: &[String], columns: u32) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_cortex"))
        .args(command)
        .arg("--help")
        .env("COLUMNS", columns.to_string())
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// Options that override a setting: the command, the option and the key.
const OPTIONS_OF_SETTINGS: [(&str, &str, &str); 4] = [
    ("search", "limit", "search.limit"),
    ("search", "context", "search.context"),
    ("serve", "address", "serve.address"),
    ("serve", "port", "serve.port"),
];

#[test]
fn the_help_of_an_option_has_the_default_of_its_setting() {
    let root = cortex::cli::command();
    for (command, option, key) in OPTIONS_OF_SETTINGS {
        let command = root.find_subcommand(command).unwrap();
        let option = command.get_arguments().find(|a| a.get_id().as_str() == option).unwrap();
        let help = option.get_help().unwrap().to_string();
        let (_, _, default, _) = KEYS.iter().find(|(known, ..)| *known == key).unwrap();
        assert!(help.ends_with(&format!("[default: {default}]")), "{key}: {help}");
    }
}

#[test]
fn help_is_what_the_golden_file_says() {
    let mut now = String::new();
    for command in commands() {
        let _ = writeln!(now, "$ cortex {} --help\n{}", command.join(" "), help_of(&command, 80));
    }
    let path = Path::new(ROOT).join("tests/it/help.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().zip(then.lines()).find(|(a, b)| a != b);
    assert!(
        now == then,
        "the help changed: {differs:?}. If that is meant, run UPDATE_SNAPSHOTS=1 cargo test --test it help and look at tests/it/help.txt"
    );
    let long: Vec<&str> =
        now.lines().filter(|line| line.chars().count() > 80 && !line.contains("{\"")).collect();
    assert!(long.is_empty(), "a terminal of 80 columns breaks these lines: {long:#?}");
}

/// Returns the lines of a text that are commands of this program, without comments.
fn examples(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("Example:").trim());
    lines
        .filter(|line| line.starts_with("cortex ") && !line.contains("<COMMAND>"))
        .map(|line| line.split("  #").next().unwrap_or(line).trim().to_string())
        .collect()
}

/// Copies this repository, so that its own index stays unchanged.
fn copy_of_this_repository() -> Project {
    let p = Project::new();
    for name in ["README.md", "Cargo.toml", "Cargo.lock", "src", "specs", "tests"] {
        let status = Command::new("cp")
            .arg("-r")
            .arg(Path::new(ROOT).join(name))
            .arg(p.root())
            .status()
            .unwrap();
        assert!(status.success(), "{name} is not copied");
    }
    p
}

#[test]
fn examples_give_an_answer_in_this_repository() {
    let p = copy_of_this_repository();
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let page = fs::read_to_string(Path::new(ROOT).join("docs/src/commands.md")).unwrap();
    let mut all = examples(&readme);
    all.extend(examples(&page));
    all.extend(commands().iter().flat_map(|command| examples(&help_of(command, 300))));
    let is_run = |line: &String| {
        let command = line.split_whitespace().nth(1).unwrap_or_default();
        RUN.contains(&command) && !NEEDS_MORE.iter().any(|part| line.contains(part))
    };
    let wanted: Vec<&String> = all.iter().filter(|line| is_run(line)).collect();
    assert!(wanted.len() > 25, "only {} examples are found", wanted.len());
    // Examples about changes need a commit, one before it, and a difference.
    p.git(&["init", "-q"]);
    p.commit("import of this repository");
    for (path, is_committed) in [("src/store/lock.rs", true), ("src/live/manager.rs", false)] {
        p.write(path, p.read(path).replacen("pub fn ", "/// It is changed.\n    pub fn ", 1));
        if is_committed {
            p.commit("another comment");
        }
    }
    // Examples that read memories need one.
    p.run(&["memory", "add", "We keep the cache in one file: rename is atomic"]).expect(0);
    let directory = Path::new(env!("CARGO_BIN_EXE_cortex")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    for line in wanted {
        let mut shell = p.command("sh");
        let out = shell.args(["-c", line]).env("PATH", &path).output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(
            out.status.success() && !stdout.trim().is_empty(),
            "`{line}` gives no answer: {stdout}{stderr}"
        );
        let warned: Vec<&str> =
            stderr.lines().filter(|line| line.starts_with("warning:")).collect();
        assert!(warned.is_empty(), "`{line}` warns: {warned:?}");
    }
}

/// A query in the README finds the code that it asks for.
#[test]
fn questions_of_the_readme_find_code() {
    let p = copy_of_this_repository();
    for (question, file) in [
        ("which chunks changed between two sets", "src/chunk/delta.rs"),
        ("ChunkManager::reload", "src/live/manager.rs"),
    ] {
        assert_eq!(p.found(&[question]).first().map(String::as_str), Some(file), "{question}");
    }
}
