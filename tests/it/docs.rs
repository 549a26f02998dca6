//! Checks the user documentation in `docs/`: its generated parts, its links, and its commands.
//!
//! A generated part is the lines between `<!-- generated: NAME -->` and `<!-- end -->`: an empty
//! line, the rows or items without an empty line between them, an empty line. The project's own
//! `.cortex/config.toml`, which is an example, has such parts in comments.
//! `UPDATE_SNAPSHOTS=1 cargo test --test it docs` writes the generated parts anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use cortex::agents::{self, Agent, AgentPart};
use cortex::config::{KEYS, SettingOrigin};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The pages.
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src");
/// The page that lists all others.
const SUMMARY: &str = "SUMMARY.md";
/// The names of the program.
const PROGRAMS: [&str; 2] = ["cortex", "cortex-codesearch"];
const END: &str = "<!-- end -->";

/// Returns the paths of all pages, relative to their folder, and their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![PathBuf::from(PAGES)];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let text = fs::read_to_string(&path).unwrap();
                out.push((path.strip_prefix(PAGES).unwrap().to_path_buf(), text));
            }
        }
    }
    out.sort();
    assert!(out.len() > 10, "the pages are not where this test looks");
    out
}

/// Returns the table of settings.
fn settings() -> String {
    let mut out =
        String::from("| setting | default | who may set it | meaning |\n|---|---|---|---|\n");
    for (key, origin, default, meaning) in KEYS {
        let default = if default.is_empty() { "empty".to_string() } else { format!("`{default}`") };
        let who = match origin {
            SettingOrigin::Project => "you, the project".to_string(),
            SettingOrigin::ProjectUpTo(most) => format!("you; the project up to {most}"),
            SettingOrigin::User => "you".to_string(),
        };
        // Outside of code, an asterisk would begin emphasis.
        let meaning = meaning.replace('|', "\\|").replace('*', "\\*");
        writeln!(out, "| `{key}` | {default} | {who} | {meaning} |").unwrap();
    }
    out
}

/// Returns the settings that a project may decide, or those that it may not, as comments in a file
/// of settings.
fn settings_file(of_project: bool) -> String {
    let mut out = String::new();
    let mut last = "";
    for (key, origin, default, meaning) in KEYS {
        let (section, name) = key.split_once('.').unwrap();
        if (*origin != SettingOrigin::User) == of_project {
            if section != last {
                writeln!(out, "# [{section}]").unwrap();
            }
            // A word is text, which TOML quotes.
            let is_text =
                default.starts_with(char::is_alphabetic) && default.parse::<bool>().is_err();
            let value = if is_text { format!("\"{default}\"") } else { (*default).to_string() };
            writeln!(out, "# {meaning}\n# {name} = {value}").unwrap();
            last = section;
        }
    }
    out
}

/// Returns the table of agents and their files.
fn agents_table() -> String {
    let mut out = String::from(
        "| agent | for `--agents` | files for you | files in a project |\n|---|---|---|---|\n",
    );
    for agent in agents::all() {
        let mut variables = BTreeSet::new();
        let user = files(&agent, |part| &part.user, &mut variables);
        let project = files(&agent, |part| &part.project, &mut variables);
        let user = [user, variables.into_iter().collect()].concat();
        let cell = |files: Vec<String>| {
            if files.is_empty() { "–".to_string() } else { files.join("<br>") }
        };
        let (user, project) = (cell(user), cell(project));
        writeln!(out, "| {} | `{}` | {user} | {project} |", agent.name, agent.id).unwrap();
    }
    out
}

/// Returns the files of an agent in one scope, each with its parts. Sentences about environment
/// variables that move the files are added to `variables`.
fn files(
    agent: &Agent,
    paths_of: impl Fn(&AgentPart) -> &Vec<String>,
    variables: &mut BTreeSet<String>,
) -> Vec<String> {
    let mut files: Vec<(String, Vec<&str>)> = Vec::new();
    for part in &agent.parts {
        let mut paths = Vec::new();
        for path in paths_of(part) {
            paths.push(format!("`{}`", shown(path, variables)));
        }
        if paths.is_empty() {
            continue;
        }
        let mut paths = paths.join(" or ");
        if part.only_existing {
            paths.push_str(" if it exists");
        }
        match files.iter_mut().find(|(known, _)| *known == paths) {
            Some((_, kinds)) => kinds.push(part.kind.name()),
            None => files.push((paths, vec![part.kind.name()])),
        }
    }
    files.into_iter().map(|(paths, kinds)| format!("{paths} ({})", kinds.join(", "))).collect()
}

/// Returns a path as a reader knows it: `{config}` and `{NAME|path}` are their usual values.
fn shown(path: &str, variables: &mut BTreeSet<String>) -> String {
    let Some((name, below)) = path.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return path.to_string();
    };
    let Some((variable, usual)) = name.split_once('|') else {
        assert_eq!(name, "config", "{path}");
        return format!("~/.config{below}");
    };
    variables.insert(format!("`{variable}` replaces `{usual}`"));
    format!("{usual}{below}")
}

/// Returns the list of what a user should know about single agents.
fn notes() -> String {
    let notes = agents::all()
        .into_iter()
        .filter_map(|agent| agent.note.map(|note| format!("- **{}**: {note}.\n", agent.name)));
    notes.collect()
}

/// Returns a page with its generated parts made anew. Adds their names to `made`.
fn renewed(page: &Path, text: &str, made: &mut BTreeSet<String>) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let name = line.trim_start_matches("# ").strip_prefix("<!-- generated: ");
        let name = name.and_then(|l| l.strip_suffix(" -->"));
        let Some(name) = name else { continue };
        let part = match name {
            "settings" => settings(),
            "settings of a project" => settings_file(true),
            "settings of a user" => settings_file(false),
            "agents" => agents_table(),
            "notes" => notes(),
            _ => panic!("{}: nothing generates `{name}`", page.display()),
        };
        let end = lines.find(|line| line.trim_start_matches("# ") == END);
        let end = end.unwrap_or_else(|| panic!("{}: `{name}` has no {END}", page.display()));
        write!(out, "\n{part}\n{end}\n").unwrap();
        made.insert(name.to_string());
    }
    out
}

#[test]
fn generated_parts_equal_the_program() {
    let mut made = BTreeSet::new();
    let example = PathBuf::from("../../.cortex/config.toml");
    let text = fs::read_to_string(Path::new(PAGES).join(&example)).unwrap();
    for (page, text) in pages().into_iter().chain([(example, text)]) {
        let now = renewed(&page, &text, &mut made);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() && now != text {
            fs::write(Path::new(PAGES).join(&page), &now).unwrap();
            continue;
        }
        let differs = now.lines().zip(text.lines()).find(|(a, b)| a != b);
        assert!(
            now == text,
            "docs/src/{} differs from the program: {differs:?}. Run UPDATE_SNAPSHOTS=1 cargo test --test it docs, and look at the difference",
            page.display()
        );
    }
    let made: Vec<&str> = made.iter().map(String::as_str).collect();
    assert_eq!(
        made,
        ["agents", "notes", "settings", "settings of a project", "settings of a user"]
    );
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Returns the relative paths that a page links to, shows as an image, or includes.
fn targets(text: &str) -> Vec<String> {
    let links = parser(text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.to_string())
        }
        _ => None,
    });
    let links = links.filter(|url| !url.contains("://") && !url.starts_with("mailto:"));
    let links = links.map(|url| url.split('#').next().unwrap_or_default().to_string());
    let included = text
        .lines()
        .filter_map(|line| line.strip_prefix("{{#include ")?.strip_suffix("}}").map(String::from));
    links.filter(|path| !path.is_empty()).chain(included).collect()
}

#[test]
fn links_lead_to_files() {
    for (page, text) in pages() {
        for target in targets(&text) {
            let file = Path::new(PAGES).join(&page).with_file_name(&target);
            assert!(file.is_file(), "docs/src/{}: {target} does not exist", page.display());
        }
    }
}

/// Collects the text of all Rust files below a folder.
fn rust_code(folder: &Path, out: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_code(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// Each promise of the page about security names the tests that hold it.
#[test]
fn tests_that_the_page_about_security_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("specs/security.md")).unwrap();
    let mut code = String::new();
    rust_code(&root.join("src"), &mut code);
    rust_code(&root.join("tests"), &mut code);
    // A sentence has at least four words.
    let is_sentence = |name: &&str| {
        name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && name.matches('_').count() >= 3
    };
    let names: BTreeSet<&str> = text.split('`').skip(1).step_by(2).filter(is_sentence).collect();
    assert!(names.len() > 50, "the test sees the names");
    for name in names {
        let is_test =
            code.contains(&format!("fn {name}(")) || code.contains(&format!("    {name}: |c|"));
        assert!(is_test, "specs/security.md names the test {name}, which does not exist");
    }
}

/// Everybody who adds a test looks for the file of its topic.
#[test]
fn every_file_of_tests_is_in_the_table_of_topics() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contributing = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let listed: BTreeSet<&str> = contributing
        .lines()
        .skip_while(|line| !line.starts_with("| topic |"))
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    let modules = fs::read_to_string(root.join("tests/it/main.rs")).unwrap();
    let there: BTreeSet<&str> = modules
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .filter(|name| !["support"].contains(name))
        .collect();
    assert!(there.len() > 60, "{there:?}");
    assert_eq!(listed, there);
}

#[test]
fn the_summary_lists_every_page() {
    let summary = fs::read_to_string(Path::new(PAGES).join(SUMMARY)).unwrap();
    let listed: BTreeSet<PathBuf> = targets(&summary).into_iter().map(PathBuf::from).collect();
    for (page, _) in pages() {
        let is_listed = page == Path::new(SUMMARY) || listed.contains(&page);
        assert!(is_listed, "docs/src/SUMMARY.md does not list {}", page.display());
    }
}

/// Splits a line of a shell into its commands, and those into words. Knows quotes, pipes, lists,
/// redirections and comments; that is all the pages use.
fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '&' | ';' | '<' | '>') => {
                words.extend(word.take());
                if c != ' ' {
                    commands.push(std::mem::take(&mut words));
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    commands.push(words);
    commands
}

/// Returns the command lines of this program in the console blocks of a page, as words.
fn commands_of(text: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut is_console = false;
    for event in parser(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) => {
                is_console = &*kind == "console";
            }
            Event::End(TagEnd::CodeBlock) => is_console = false,
            Event::Text(block) if is_console => {
                let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
                commands.extend(lines.flat_map(shell_commands));
            }
            _ => {}
        }
    }
    // `NAME=value` before a command sets a variable.
    let is_variable = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let without =
        |words: Vec<String>| words.into_iter().skip_while(is_variable).collect::<Vec<String>>();
    let commands = commands.into_iter().map(without);
    let is_ours = |words: &Vec<String>| words.first().is_some_and(|w| PROGRAMS.contains(&&**w));
    commands.filter(is_ours).collect()
}

#[test]
fn commands_of_the_pages_exist() {
    let mut n_commands = 0;
    for (page, text) in pages() {
        for words in commands_of(&text) {
            n_commands += 1;
            if let Err(e) = cortex::cli::command().try_get_matches_from(&words) {
                let is_answer =
                    matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
                assert!(is_answer, "docs/src/{}: {}\n{e}", page.display(), words.join(" "));
            }
        }
    }
    assert!(n_commands > 50, "only {n_commands} commands were found");
}

/// Text names commands as `cortex index`, without all of their arguments.
#[test]
fn commands_in_sentences_exist() {
    let root = cortex::cli::command();
    for (page, text) in pages() {
        for event in parser(&text) {
            let Event::Code(code) = event else { continue };
            let mut words = code.split_whitespace();
            if words.next() != Some(PROGRAMS[0]) {
                continue;
            }
            let Some(name) = words.next().filter(|word| !word.starts_with('-')) else { continue };
            let command = root.get_subcommands().find(|c| c.get_name() == name);
            let command = command.unwrap_or_else(|| {
                panic!("docs/src/{}: there is no command `{code}`", page.display())
            });
            let below = words.next().filter(|word| word.chars().all(|c| c.is_ascii_lowercase()));
            if let Some(below) = below.filter(|_| command.has_subcommands()) {
                assert!(
                    command.find_subcommand(below).is_some(),
                    "docs/src/{}: there is no command `{code}`",
                    page.display()
                );
            }
        }
    }
}

/// The texts that agents read teach commands in sentences and tables, too.
#[test]
fn commands_that_agents_are_taught_exist() {
    let mut n_explore = 0;
    for name in ["instructions", "skill", "subagent", "command"] {
        let path = format!("{}/src/agents/texts/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&path).unwrap();
        let in_sentences = parser(&text).filter_map(|event| match event {
            Event::Code(code) => Some(shell_commands(&code)),
            _ => None,
        });
        let commands = in_sentences.flatten().chain(commands_of(&text));
        // Without arguments, a command is only named.
        let is_whole = |words: &Vec<String>| words.len() > 2 && words[0] == PROGRAMS[0];
        for words in commands.filter(is_whole) {
            n_explore += usize::from(words[1] == "explore" && words.len() >= 6);
            let read = cortex::cli::command().try_get_matches_from(&words);
            assert!(read.is_ok(), "{path}: {}: {:?}", words.join(" "), read.err());
        }
        assert!(text.contains("cortex explore") && text.contains("cortex read"), "{path}");
    }
    assert!(n_explore >= 3, "{n_explore} explorations with a question and guesses");
}

#[test]
fn lines_of_a_shell_are_split_into_words() {
    let commands = shell_commands("a 2>&1 | X=1 b 'c d' \"e\" f'g' ''  # h");
    let last: Vec<&str> = commands.last().unwrap().iter().map(String::as_str).collect();
    assert_eq!(last, ["X=1", "b", "c d", "e", "fg", ""]);
}

/// The precision that answers state is that of the table of measurements.
#[test]
fn the_stated_precision_is_the_measured_one() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/specs/graph.md")).unwrap();
    let table = text.split("| repository | pairs | precision |").nth(1).unwrap();
    let mut measured: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for row in table.split("\n\n").next().unwrap().lines().skip(2) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let language = cells[1].split(['(', ')']).nth(1).unwrap();
        // `.97` or `1.00`
        let percent = cells[3].replace('.', "").parse::<u8>().unwrap();
        measured.entry(language.into()).or_default().push(percent);
    }
    assert!(measured.len() > 8, "{measured:?}");
    for (language, shares) in measured {
        let stated = cortex::languages::precision(&language).unwrap();
        let (lowest, highest) = (*shares.iter().min().unwrap(), *shares.iter().max().unwrap());
        assert_eq!(
            (stated.repositories, stated.lowest, stated.highest),
            (shares.len(), lowest, highest),
            "{language}"
        );
    }
    assert_eq!(cortex::languages::precision("elixir"), None);
}
