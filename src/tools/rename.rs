//! `cortex_rename`: renames a symbol everywhere.

use super::budget::{TokenBudget, fit};
use super::graph::place;
use super::reply::{Look, Reply, printable, quoted};
use super::tool::{Effect, Question, ToolGroup};
use crate::engine::{
    AnswerState, AskError, Call, Engine, LineOfText, RenameAnswer, RenameRequest, RenamedFile,
};
use crate::text::count;

/// Maximum number of definitions that a reply names.
const MAX_TARGETS: usize = 20;

impl Question for RenameRequest {
    const NAME: &'static str = "cortex_rename";
    const TITLE: &'static str = "Rename a symbol";
    const WHEN: &'static str = "rename a function, method, type or constant in all files at once.";
    const DESCRIPTION: &'static str = "Rename a symbol with its uses, imports and overrides in all files, or in none. The first call is a preview; apply: true writes. Comments, strings and other symbols of that name stay. Lines that may mean it are listed, and you decide about each.";
    const GROUP: ToolGroup = ToolGroup::Edit;
    const EFFECT: Effect = Effect::Destroys;
    type Reply = RenameAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<RenameAnswer, AskError> {
        let answer = engine.rename(&self, call)?;
        Ok(fit(budget, answer.n_lines(), |n| answer.first(n)))
    }
}

fn line_of_text(look: &dyn Look, of: &LineOfText, what: &str) -> String {
    let what = look.aside(&format!("({})", printable(what)));
    look.row(format!("{}:{} {what}", look.at(&of.path, of.line), quoted(&of.text)))
}

fn changed(look: &dyn Look, file: &RenamedFile) -> Vec<String> {
    let head = format!("{} {}", look.at(&file.path, 0), count(file.places, "place"));
    let lines = file.lines.iter().flat_map(|line| {
        [look.change(line.line, '-', &line.old), look.change(line.line, '+', &line.new)]
    });
    std::iter::once(look.row(head)).chain(lines).collect()
}

impl Reply for RenameAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let what = if self.applied { "renamed" } else { "preview, nothing is changed:" };
        let mut text = vec![format!(
            "{what} {} to {}: {} in {}",
            printable(&self.old_name),
            printable(&self.new_name),
            count(self.total_places, "place"),
            count(self.total_files, "file")
        )];
        text.extend(
            self.targets.iter().take(MAX_TARGETS).map(|t| format!("of {}", place(look, t))),
        );
        if self.targets.len() > MAX_TARGETS {
            text.push(format!("of {} more", self.targets.len() - MAX_TARGETS));
        }
        if self.total_uncertain > 0 {
            let shown = match self.uncertain.len() {
                n if n < self.total_uncertain => format!(", {n} shown"),
                _ => String::new(),
            };
            let then = if self.applied {
                "keep the old name"
            } else {
                look.advice(
                    "name those to rename in `also`, and pass skip_uncertain: true to leave the others",
                    "--also renames those that it names, and --skip-uncertain leaves the others",
                )
            };
            text.push(format!(
                "uncertain: {} may mean it{shown} ({then})",
                count(self.total_uncertain, "line")
            ));
            let lines = self.uncertain.iter().map(|of| line_of_text(look, &of.place, &of.why));
            text.extend(lines);
        }
        text.extend(self.files.iter().flat_map(|file| changed(look, file)));
        if self.files.len() < self.total_files {
            text.push(format!("{} more", count(self.total_files - self.files.len(), "file")));
        }
        if self.total_mentions > 0 {
            let shown = match self.mentions.len() {
                n if n < self.total_mentions => format!(", {n} shown"),
                _ => String::new(),
            };
            text.push(format!(
                "not touched: {} with the name that are something else{shown}",
                count(self.total_mentions, "line")
            ));
            let lines = self.mentions.iter().map(|of| line_of_text(look, &of.place, &of.what));
            text.extend(lines);
        }
        if !self.applied && self.total_uncertain == 0 {
            text.push(look.advice("pass apply: true to write", "--apply writes it").into());
        }
        text
    }
}
