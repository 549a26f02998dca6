//! `cortex_files`: counts files, lines and bytes.

use super::budget::TokenBudget;
use super::reply::{Look, Reply, printable};
use super::tool::{Question, ToolGroup};
use crate::engine::{
    AnswerState, AskError, Call, CountBy, Engine, FileCount, FilesAnswer, FilesRequest, Mentions,
};
use crate::text::count;

impl Question for FilesRequest {
    const NAME: &'static str = "cortex_files";
    const TITLE: &'static str = "Count files, lines and bytes";
    const WHEN: &'static str = "number of files, lines and bytes by language or directory.";
    const DESCRIPTION: &'static str = "Count files, lines and bytes by language, directory or file, largest first. Use it instead of find and wc.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.paths);
    type Reply = FilesAnswer;

    fn answer(self, engine: &Engine, call: &Call, _: TokenBudget) -> Result<FilesAnswer, AskError> {
        engine.files(&self, call)
    }
}

impl Reply for FilesAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let line = |r: &FileCount, name: &str| {
            format!("{:>8} lines {:>10} bytes {:>6} files  {name}", r.lines, r.bytes, r.files)
        };
        let name = |r: &FileCount| match self.by {
            CountBy::Language => printable(&r.name),
            CountBy::Directory | CountBy::File => look.at(&r.name, 0),
        };
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(row, &name(row))).collect();
        let n_more = self.total_rows - self.rows.len();
        if n_more > 0 {
            let limit = look.advice("limit", "-n");
            lines.push(format!("and {}: raise {limit}", count(n_more, "more row")));
        }
        lines.push(line(&self.total, &self.total.name));
        lines
    }
}
