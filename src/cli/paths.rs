//! Prints the paths of results, on many terminals as links to their files.

use std::fmt::{Display, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use console::{Term, style};

use super::render::{self, fitted, printable, printable_code, shown_place};
use crate::engine::Project;
use crate::platform::{host_name, name_bytes};
use crate::tools::{Look, Reply};

/// Whether printed paths are links. `use_links` decides it once, before anything is printed.
static HAS_LINKS: AtomicBool = AtomicBool::new(false);

/// Decides whether printed paths are links: `always`, `never` or, if the terminal is known to show
/// links, `auto`. Only coloured output on a terminal has links.
pub(super) fn use_links(when: &str) {
    let is_possible = Term::stdout().is_term() && console::colors_enabled();
    let is_wanted = match when {
        "always" => true,
        "never" => false,
        _ => shows_links(|name| std::env::var(name).ok()),
    };
    HAS_LINKS.store(is_possible && is_wanted, Ordering::Relaxed);
}

/// Whether the terminal that these variables describe is known to show links.
fn shows_links(variable: impl Fn(&str) -> Option<String>) -> bool {
    let number = |name: &str| variable(name).and_then(|value| value.parse::<u32>().ok());
    let is = |name: &str, known: &[&str]| variable(name).is_some_and(|v| known.contains(&&*v));
    let version = |name: &str| {
        let text = variable(name).unwrap_or_default();
        let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
        let mut parts = text.split('.').map(|part| digits(part).parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    };
    // Programs inside tmux inherit the variables of the terminal around it, and tmux decides.
    if variable("TMUX").is_some() {
        return is("TERM_PROGRAM", &["tmux"]) && version("TERM_PROGRAM_VERSION") >= (3, 4);
    }
    if variable("STY").is_some() || is("TERM", &["dumb", "linux"]) {
        return false;
    }
    number("VTE_VERSION").is_some_and(|version| version >= 5000)
        || number("KONSOLE_VERSION").is_some_and(|version| version >= 201_200)
        || is(
            "TERM_PROGRAM",
            &["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "Tabby", "rio"],
        )
        || is(
            "TERM",
            &["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "contour"],
        )
        || variable("WT_SESSION").is_some()
}

/// Prints paths relative to the working directory if that is in the project, so that a printed path
/// can be opened from there. Otherwise paths stay relative to the root.
#[derive(Clone)]
pub(super) struct Paths {
    root: PathBuf,
    host: String,
    /// The working directory relative to the root.
    folder: String,
    /// What results put before a path, if several projects are asked: `name:`.
    prefix: String,
}

impl Paths {
    pub(super) fn of(project: &Project) -> Self {
        Self {
            root: project.layout.root().to_path_buf(),
            host: host_name(),
            folder: project.folder.to_str().unwrap_or_default().to_string(),
            prefix: String::new(),
        }
    }

    /// Prints the paths of one of several projects, with its name before each.
    pub(super) fn of_named(project: &Project, name: &str) -> Self {
        Self { prefix: format!("{name}:"), folder: String::new(), ..Self::of(project) }
    }

    /// Prints the paths of a published repository, whose files are not on this machine.
    pub(super) fn of_published(name: &str) -> Self {
        let prefix = format!("{name}:");
        Self { root: PathBuf::new(), host: String::new(), folder: String::new(), prefix }
    }

    /// Whether the files are on this machine.
    pub(super) fn are_here(&self) -> bool {
        !self.root.as_os_str().is_empty()
    }

    /// Returns the full path of a file.
    pub(super) fn full(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns a path as it is printed. `path` is relative to the root.
    pub(super) fn shown(&self, path: &str) -> String {
        printable(&self.relative(path))
    }

    fn relative(&self, path: &str) -> String {
        format!("{}{}", self.prefix, relative(path, &self.folder))
    }

    /// Formats a place: `path:start-end`.
    pub(super) fn place(&self, lines: Option<(u32, u32)>, path: &str) -> String {
        let path = self.relative(path);
        shown_place(&match lines {
            Some((a, b)) if a != b => format!("{path}:{a}-{b}"),
            Some((a, _)) => format!("{path}:{a}"),
            None => path,
        })
    }

    /// Prints an answer after its warnings: on stdout what is found, on stderr why nothing is.
    pub(super) fn print(&self, answer: &impl Reply, is_found: bool) -> Result<()> {
        render::warnings(&answer.state().warnings);
        for text in answer.shown(self) {
            if is_found {
                render::line(&text)?;
            } else {
                tell!("{text}");
            }
        }
        Ok(())
    }

    /// Returns `text` as a link to a file, at a line if there is one. `path` is relative to the
    /// root. Without links, and for a path that leads out of the project, the text stays as it is.
    pub(super) fn linked(&self, path: &str, line: Option<u64>, text: impl Display) -> String {
        let is_file = self.are_here() && !path.is_empty() && is_inside(path);
        if !is_file || !HAS_LINKS.load(Ordering::Relaxed) {
            return text.to_string();
        }
        format!("\x1b]8;;{}\x1b\\{text}\x1b]8;;\x1b\\", self.url(path, line))
    }

    /// Returns the URL of a file. A file name may hold any bytes, so all that has a meaning in a URL
    /// or to a terminal is percent-encoded.
    fn url(&self, path: &str, line: Option<u64>) -> String {
        let mut url = String::from("file://");
        encode(self.host.as_bytes(), &mut url);
        encode(name_bytes(self.root.join(path).as_os_str()), &mut url);
        if let Some(line) = line {
            // Writing to a string cannot fail.
            let _ = write!(url, "#{line}");
        }
        url
    }
}

impl Look for Paths {
    fn lines(&self, path: &str, lines: &str) -> String {
        let first = lines.split(['-', ',']).next().and_then(|first| first.parse().ok());
        let lines = if lines.is_empty() { String::new() } else { format!(":{lines}") };
        let shown = shown_place(&format!("{}{lines}", self.relative(path)));
        self.linked(path, first, style(shown).cyan())
    }

    fn file(&self, path: &str, line: u32) -> String {
        let line = Some(u64::from(line)).filter(|line| *line > 0);
        self.linked(path, line, style(shown_place(&self.relative(path))).cyan())
    }

    fn name(&self, name: &str) -> String {
        style(printable(name)).green().to_string()
    }

    fn aside(&self, text: &str) -> String {
        style(text).dim().to_string()
    }

    fn row(&self, text: String) -> String {
        fitted(&text).into_owned()
    }

    fn code(&self, first: usize, text: &str) -> Vec<String> {
        (first..).zip(text.lines()).map(|(number, text)| self.numbered(number, text)).collect()
    }

    fn numbered(&self, number: usize, text: &str) -> String {
        format!("{} {}", style(format!("{number:>6}")).dim(), render::code(text))
    }

    fn found(&self, path: &str, line: u64, mark: char, text: &str) -> String {
        let number = style(format!("{line}{mark}")).dim();
        format!("{} {}", self.linked(path, Some(line), number), render::code(text))
    }

    fn change(&self, line: u32, sign: char, text: &str) -> String {
        let text = style(format!("{sign} {}", printable_code(text)));
        let text = if sign == '-' { text.red() } else { text.green() };
        self.row(format!("{line:>5} {text}"))
    }

    fn advice<'a>(&self, _call: &'a str, command: &'a str) -> &'a str {
        command
    }
}

fn encode(bytes: &[u8], url: &mut String) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
            url.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
}

/// Returns a path relative to a folder. Both are relative to the root. A path that another program
/// wrote may lead out of the project, and stays as it is.
fn relative(path: &str, folder: &str) -> String {
    if folder.is_empty() || path.is_empty() || !is_inside(path) {
        return path.to_string();
    }
    let path: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let folder: Vec<&str> = folder.split('/').collect();
    let n_shared = path.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - n_shared);
    let shown = up.chain(path[n_shared..].iter().copied()).collect::<Vec<_>>().join("/");
    if shown.is_empty() { ".".into() } else { shown }
}

/// Whether a path names something in the project, and not in a package: `NAME@VERSION/PATH`.
fn is_inside(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_of_package = |part: &str| part.find('@').is_some_and(|at| at > 0);
    !path.starts_with('/')
        && !path.split('/').any(|part| part == "..")
        && !folder.split('/').any(is_of_package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_holds_nothing_that_a_terminal_obeys() {
        let paths = Paths {
            root: "/home/a b".into(),
            host: "host;\x07".into(),
            folder: String::new(),
            prefix: String::new(),
        };
        assert_eq!(
            paths.url("src/é#?%\x1b\\\x07\u{9c}\n.rs", Some(7)),
            "file://host%3B%07/home/a%20b/src/%C3%A9%23%3F%25%1B%5C%07%C2%9C%0A.rs#7"
        );
        assert_eq!(paths.url("x.rs", None), "file://host%3B%07/home/a%20b/x.rs");
    }

    #[test]
    fn known_terminals_show_links() {
        for (variables, want) in [
            (&[("TERM", "xterm-256color")][..], false),
            (&[("TERM", "xterm-kitty")], true),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], true),
            (&[("VTE_VERSION", "4900")], false),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[("TERM_PROGRAM", "vscode")], true),
            (&[("TERM_PROGRAM", "vscode"), ("TERM", "dumb")], false),
            (&[("VTE_VERSION", "7600"), ("STY", "1.pts")], false),
            (&[("VTE_VERSION", "7600"), ("TMUX", "/tmp/tmux")], false),
            (&[("TMUX", "x"), ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.3a")], false),
            (&[("TMUX", "x"), ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.4")], true),
            (&[], false),
        ] {
            let value = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_string())
            };
            assert_eq!(shows_links(value), want, "{variables:?}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_folder() {
        for (path, folder, want) in [
            ("src/a.rs", "", "src/a.rs"),
            ("src/a.rs", "src", "a.rs"),
            ("src/in/a.rs", "src", "in/a.rs"),
            ("src/a.rs", "src/in", "../a.rs"),
            ("a.rs", "src/in", "../../a.rs"),
            ("srcs/a.rs", "src", "../srcs/a.rs"),
            ("src", "src", "."),
            (".", "src", ".."),
            ("", "src", ""),
            ("/etc/passwd", "src", "/etc/passwd"),
            ("../x", "src", "../x"),
            ("serde@1.0.2/src/de.rs", "src", "serde@1.0.2/src/de.rs"),
            ("src/@org/logo@2x.svg", "src", "@org/logo@2x.svg"),
        ] {
            assert_eq!(relative(path, folder), want, "{path} from {folder}");
        }
    }
}
