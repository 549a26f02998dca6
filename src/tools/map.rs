//! `cortex_map`: tells what the project is.

use std::collections::HashMap;

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Reply, printable, quoted, shown_place};
use super::tool::Question;
use crate::engine::{AnswerState, AskError, Call, Engine, MapAnswer, MapRequest, Mentions};
use crate::text::count;

/// Maximum number of bytes of the row of a file, unless its path and one symbol are longer.
const MAX_ROW: usize = 100;
/// Maximum number of rows of entries, of modules and of files: a reader wants to begin somewhere.
const MAX_ENTRIES: usize = 10;
const MAX_MODULES: usize = 20;
const MAX_FILES: usize = 10;
/// Maximum number of symbols that are named for a file.
const MAX_SYMBOLS: usize = 4;

impl Question for MapRequest {
    const NAME: &'static str = "cortex_map";
    const TITLE: &'static str = "Explain what this repository is";
    const WHEN: &'static str =
        "what the repository is: purpose, commands, entry points, modules, main types.";
    const DESCRIPTION: &'static str = "Explain the repository in one reply: purpose, languages, how to build and test it, entry points, modules, and the files and types that matter. Call it first in a repository that you do not know.";
    const TOKENS: usize = 1500;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.focus);
    type Reply = MapAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<MapAnswer, AskError> {
        Ok(fitted(&engine.map(&self, call)?, budget))
    }
}

/// Returns the part of a map that fits.
fn fitted(map: &MapAnswer, budget: TokenBudget) -> MapAnswer {
    fit(budget, map.modules.len().max(map.files.len()) * 2, |level| map.first(level))
}

impl MapAnswer {
    /// Whether it says what the project is; with a focus, it has files only.
    fn has_overview(&self) -> bool {
        self.about.is_some() || self.total_modules > 0 || !self.entries.is_empty()
    }

    /// Returns the places of the first files, in order: at first only so many of each module, so that one large
    /// module does not hide the others.
    fn spread(&self, n_files: usize) -> Vec<usize> {
        const EACH: usize = 2;
        let mut of_module: HashMap<&str, usize> = HashMap::new();
        let is_within = |path: &str, module: &str| {
            path.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
        };
        let has_place = |at: &usize| {
            let file = &self.files[*at];
            let modules = self.modules.iter().map(|module| &*module.path);
            let around = modules.filter(|module| is_within(&file.path, module));
            let module = around.max_by_key(|module| module.len()).unwrap_or_default();
            let n = of_module.entry(module).or_default();
            *n += 1;
            *n <= EACH
        };
        let files = 0..self.files.len();
        let (mut first, others): (Vec<_>, Vec<_>) = files.partition(has_place);
        first.truncate(n_files);
        let n_free = n_files - first.len();
        first.extend(others.into_iter().take(n_free));
        first.sort_unstable();
        first
    }

    /// Returns the text of the part that fits into `max_tokens`, in lines.
    #[must_use]
    pub fn lines_within(&self, max_tokens: usize) -> Vec<String> {
        fitted(self, TokenBudget::of_text(max_tokens)).lines()
    }
}

/// Returns the first rows, and one that counts the others.
fn first(mut rows: Vec<String>, n_rows: usize, what: &str) -> Vec<String> {
    if rows.len() > n_rows + 1 {
        let n_more = rows.len() - n_rows;
        rows.truncate(n_rows);
        rows.push(more(n_more, what, std::iter::empty()));
    }
    rows
}

/// Returns a row that counts what is left out, with as many names as it has room for.
fn more<'n>(n_more: usize, what: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut row = count(n_more, &format!("more {what}"));
    let mut before = ": ";
    for name in names {
        if row.len() + before.len() + name.len() > 3 * MAX_ROW {
            row.push_str(", …");
            break;
        }
        row.push_str(before);
        row.push_str(name);
        before = ", ";
    }
    row
}

impl Reply for MapAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(about) = &self.about {
            lines.push(format!("{}: {}", shown_place(&about.from), printable(&about.text)));
        }
        let languages = self.languages.iter().map(|l| format!("{} {}", l.name, l.lines));
        let languages = languages.collect::<Vec<_>>().join(", ");
        let n_lines = self.total_lines;
        if self.total_files > 0 {
            let of = if languages.is_empty() { "" } else { ": " };
            let files = count(self.total_files, "file");
            lines.push(format!("{files}, {n_lines} lines{of}{languages}"));
        }
        let section = |lines: &mut Vec<String>, title: &str, rows: Vec<String>| {
            if !rows.is_empty() {
                lines.push(String::new());
                lines.push(title.to_string());
                lines.extend(rows.iter().map(|row| quoted(&printable(row))));
            }
        };
        let commands = self.commands.iter().map(|c| {
            let folder =
                if c.folder.is_empty() { String::new() } else { format!(", in {}/", c.folder) };
            let mut row = format!("{}{folder}:", c.from);
            for (at, command) in c.run.iter().enumerate() {
                let next = format!("{} `{command}`", if at > 0 { "," } else { "" });
                if at == 0 || row.len() + next.len() <= MAX_ROW {
                    row.push_str(&next);
                }
            }
            row
        });
        section(&mut lines, "commands that these files hold", commands.collect());
        let entries = self.entries.iter().map(|entry| {
            let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{}{line} {}", entry.path, entry.what)
        });
        section(&mut lines, "entry points", first(entries.collect(), MAX_ENTRIES, "entry point"));
        let modules = self.modules.iter().map(|module| {
            let about =
                if module.about.is_empty() { String::new() } else { format!(" {}", module.about) };
            format!("{}/ ({}){about}", module.path, count(module.files, "file"))
        });
        let mut modules: Vec<String> = modules.take(MAX_MODULES).collect();
        if modules.len() < self.total_modules {
            let others = self.modules.iter().skip(modules.len()).map(|module| &*module.path);
            modules.push(more(self.total_modules - modules.len(), "module", others));
        }
        section(&mut lines, "modules, the largest first", modules);
        let has_overview = self.has_overview();
        let shown =
            if has_overview { self.spread(MAX_FILES) } else { (0..self.files.len()).collect() };
        let n_files = shown.len();
        let files = shown.into_iter().map(|at| {
            let file = &self.files[at];
            let mut row = file.path.clone();
            for symbol in file.symbols.iter().take(MAX_SYMBOLS) {
                let next = format!(" {}:{}", symbol.name, symbol.line);
                if row.len() + next.len() <= MAX_ROW || row == file.path {
                    row.push_str(&next);
                }
            }
            row
        });
        section(
            &mut lines,
            "main files, by the references to them, with symbol:line",
            files.collect(),
        );
        if n_files < self.total_ranked {
            lines.push(format!(
                "{} more: the outline of a directory lists its files",
                count(self.total_ranked - n_files, "file")
            ));
        }
        lines
    }
}
