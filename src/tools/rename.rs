//! `cortex_rename`: renames a symbol everywhere.

use super::budget::{TokenBudget, fit};
use super::graph::place;
use super::reply::{Reply, printable, quoted, shown_place};
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

fn line_of_text(line: &LineOfText) -> String {
    format!("{}:{}", shown_place(&format!("{}:{}", line.path, line.line)), quoted(&line.text))
}

fn changed(file: &RenamedFile) -> Vec<String> {
    let head = format!("{} {}", shown_place(&file.path), count(file.places, "place"));
    let lines = file.lines.iter().flat_map(|line| {
        [
            format!(" {} -{}", line.line, quoted(&line.old)),
            format!(" {} +{}", line.line, quoted(&line.new)),
        ]
    });
    std::iter::once(head).chain(lines).collect()
}

impl Reply for RenameAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let what = if self.applied { "renamed" } else { "preview, nothing is changed:" };
        let mut text = vec![format!(
            "{what} {} to {}: {} in {}",
            printable(&self.old_name),
            printable(&self.new_name),
            count(self.total_places, "place"),
            count(self.total_files, "file")
        )];
        text.extend(self.targets.iter().take(MAX_TARGETS).map(|t| format!("of {}", place(t))));
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
                "name those to rename in `also`, and pass skip_uncertain: true to leave the others"
            };
            text.push(format!(
                "uncertain: {} may mean it{shown} ({then})",
                count(self.total_uncertain, "line")
            ));
            text.extend(
                self.uncertain
                    .iter()
                    .map(|line| format!("{} ({})", line_of_text(&line.place), line.why)),
            );
        }
        text.extend(self.files.iter().flat_map(changed));
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
            text.extend(
                self.mentions
                    .iter()
                    .map(|line| format!("{} ({})", line_of_text(&line.place), line.what)),
            );
        }
        if !self.applied && self.total_uncertain == 0 {
            text.push("pass apply: true to write".into());
        }
        text
    }
}
