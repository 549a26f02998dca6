//! Prints text and JSON on stdout, fitted to the terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Once;

use anyhow::Result;
use console::{Style, Term, style};
use serde::Serialize;

use crate::engine::AnswerState;
use crate::search::Highlighter;
use crate::secrets::{MARKED, has_mark};
use crate::source::printable_json;
pub(super) use crate::text::count;
pub(super) use crate::tools::{printable, printable_code, shown_place};

/// Width if the output is not a terminal.
const PLAIN_WIDTH: usize = 120;

/// Returns the number of columns of a line.
pub(super) fn width() -> usize {
    Term::stdout().size_checked().map_or(PLAIN_WIDTH, |(_, columns)| usize::from(columns)).max(20)
}

/// Cuts a line to the width of the terminal; without a terminal it stays as it is.
pub(super) fn fitted(text: &str) -> Cow<'_, str> {
    if Term::stdout().is_term() {
        console::truncate_str(text, width(), "…")
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a path with `~` for the home directory.
pub(super) fn below_home(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / f64::from(1 << 20))
}

/// Prints one line of the answer. The first line in which a secret is replaced gives a warning.
pub(super) fn line(text: &str) -> Result<()> {
    static WARNED: Once = Once::new();
    if has_mark(text) {
        WARNED.call_once(|| tell!("warning: {MARKED}"));
    }
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Prints one line that matters less than those around it.
pub(super) fn faint(text: impl Display) -> Result<()> {
    line(&style(text).dim().to_string())
}

/// Version of the printed JSON. It grows when a key is removed or changes its meaning.
const SCHEMA: u32 = 2;

/// The JSON of `--json`.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    #[serde(flatten)]
    answer: &'a T,
}

/// Prints the answer, an object, as JSON.
pub(super) fn json(answer: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(&Versioned { schema: SCHEMA, answer })
        .map_err(std::io::Error::from)?;
    line(&printable_json(&text))
}

/// Prints the warnings of an answer on stderr.
pub(super) fn warnings(warnings: &[String]) {
    for warning in warnings {
        tell!("warning: {}", printable(warning));
    }
}

/// Prints the text of a tool, after its warnings: on stdout what is found, on stderr why nothing is. On
/// a terminal, lines are cut to its width, headings are bold, numbers of lines are dim, and changed
/// lines are coloured.
pub(super) fn told(state: &AnswerState, lines: &[String], is_found: bool) -> Result<()> {
    warnings(&state.warnings);
    for text in lines {
        if is_found {
            line(&fitted(&emphasised(text)))?;
        } else {
            tell!("{text}");
        }
    }
    Ok(())
}

fn emphasised(text: &str) -> String {
    // Text of the repository begins with a space.
    let Some(quoted) = text.strip_prefix(' ') else {
        let is_heading = text.starts_with("## ") || text.ends_with(':');
        return if is_heading { style(text).bold().to_string() } else { text.to_string() };
    };
    let numbered = text.trim_start_matches(' ');
    let (indent, _) = text.split_at(text.len() - numbered.len());
    let n_digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    let (number, code) = numbered.split_at(n_digits);
    if n_digits > 0 && (code.is_empty() || code.starts_with(' ')) {
        return format!("{indent}{}{code}", style(number).dim());
    }
    // A sign and one space begin an item of a list.
    let mut chars = quoted.chars();
    let (sign, next, after) = (chars.next(), chars.next(), chars.next());
    match sign {
        _ if next == Some(' ') && after != Some(' ') => text.to_string(),
        Some('+') => style(text).green().to_string(),
        Some('-') => style(text).red().to_string(),
        _ => text.to_string(),
    }
}

/// Formats a duration: `340 ms`, `12.3 s`.
pub(super) fn duration(ms: u64) -> String {
    if ms < 10_000 { format!("{ms} ms") } else { format!("{:.1} s", ms as f64 / 1000.0) }
}

/// Returns the number of columns that a number leaves for a line of code.
pub(super) fn room_of_code() -> usize {
    width().saturating_sub(8)
}

/// Returns a line of a file, cut to `room` columns, with the query's words marked.
pub(super) fn with_words(text: &str, room: usize, words: &mut Highlighter) -> String {
    marked(text, &words.ranges(text), room)
}

/// Returns a line of code. On a terminal it is cut to the width that a number leaves.
pub(super) fn code(line: &str) -> String {
    if !Term::stdout().is_term() {
        return printable_code(line);
    }
    marked(line, &[], room_of_code())
}

/// Number of columns of a tab at most.
const TAB: usize = 8;

/// Returns a line cut to `room` columns, with marked ranges in bold. Tabs stay, so that copied text is
/// that of the file.
fn marked(line: &str, marks: &[Range<usize>], room: usize) -> String {
    let bold = Style::new().bold().yellow();
    let (mut out, mut run, mut run_is_marked) = (String::new(), String::new(), false);
    let mut flush = |run: &mut String, is_marked: bool| {
        out.push_str(&if is_marked { bold.apply_to(&*run).to_string() } else { run.clone() });
        run.clear();
    };
    let mut used = 0;
    let is_plain = printable_code(line) == line;
    let mut chars = line.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let shown =
            if is_plain { c.to_string() } else { printable_code(c.encode_utf8(&mut [0; 4])) };
        let is_marked = marks.iter().any(|m| m.contains(&i));
        if is_marked != run_is_marked {
            flush(&mut run, run_is_marked);
            run_is_marked = is_marked;
        }
        used += if c == '\t' { TAB } else { console::measure_text_width(&shown) };
        if used > room.saturating_sub(usize::from(chars.peek().is_some())) {
            run.push('…');
            break;
        }
        run.push_str(&shown);
    }
    flush(&mut run, run_is_marked);
    out
}
