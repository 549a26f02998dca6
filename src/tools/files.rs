//! `cortex_files`: how much there is of what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::owned;
use super::{Asked, Group, Question, Reply, State, ToolError, Wait, count, filters, printable};
use crate::survey::{self, By, Sort};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// What is counted together.
    #[serde(default)]
    group_by: GroupBy,
    /// Of directories: levels.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    depth: usize,
    /// What comes first.
    #[serde(default)]
    sort: SortBy,
    /// Most rows.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 500))]
    top: usize,
    /// Only these languages: rust, python, markdown …
    #[serde(default)]
    languages: Vec<String>,
    /// Only files that match one of these globs: src/**, *.rs, docs
    #[serde(default)]
    paths: Vec<String>,
    #[serde(flatten)]
    wait: Wait,
}

fn one() -> usize {
    1
}

fn twenty() -> usize {
    20
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GroupBy {
    #[default]
    Language,
    Directory,
    File,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SortBy {
    #[default]
    Lines,
    Bytes,
    Files,
    Name,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FilesReply {
    /// What was asked for, in order.
    rows: Vec<Row>,
    /// Rows there are.
    total_rows: usize,
    /// Of all rows together.
    total: Row,
    #[serde(flatten)]
    state: State,
}

/// Files that are counted together.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// A language, directory or file.
    name: String,
    /// Files.
    files: u64,
    /// Lines of them.
    lines: u64,
    /// Bytes of them.
    bytes: u64,
}

impl Question for Args {
    const NAME: &'static str = "cortex_files";
    const TITLE: &'static str = "Count files, lines and bytes";
    const DESCRIPTION: &'static str = "Tell how large the project is: files, lines and bytes by language, by directory or by file, largest first. Use it \
to get to know a project, and instead of find and wc.";
    const GROUP: Group = Group::Graph;
    type Reply = FilesReply;

    fn answer(self, asked: Asked) -> Result<FilesReply, ToolError> {
        let filter = filters::of_paths(&self.paths)?;
        let taken = asked.take(&self.wait)?;
        let is_wanted = |path: &str, written: &str| {
            (self.languages.is_empty() || self.languages.iter().any(|l| l.eq_ignore_ascii_case(written)))
                && (filter.is_empty() || filter.is_match(path))
        };
        let chunks = taken.snapshot.code().corpus.chunks();
        let files: Vec<(String, String)> = chunks.written_in().filter(|(path, written)| is_wanted(path, written)).map(owned).collect();
        let sizes = survey::sizes(asked.context.layout.root(), &files);
        asked.call.check()?;
        let by = match self.group_by {
            GroupBy::Language => By::Language,
            GroupBy::Directory => By::Directory(self.depth),
            GroupBy::File => By::File,
        };
        let sort = match self.sort {
            SortBy::Lines => Sort::Lines,
            SortBy::Bytes => Sort::Bytes,
            SortBy::Files => Sort::Files,
            SortBy::Name => Sort::Name,
        };
        let row = |g: survey::Group| Row { name: g.name, files: g.files, lines: g.lines, bytes: g.bytes };
        let groups = survey::grouped(&sizes, by, sort);
        let (total_rows, total) = (groups.len(), row(survey::total(&groups)));
        let rows = groups.into_iter().take(self.top).map(row).collect();
        let state = State::new(taken.index.clone(), taken.warnings.clone());
        Ok(FilesReply { rows, total_rows, total, state })
    }
}

impl Reply for FilesReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let line = |r: &Row| format!("{:>8} lines {:>10} bytes {:>6} files  {}", r.lines, r.bytes, r.files, printable(&r.name));
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        let n_more = self.total_rows - self.rows.len();
        if n_more > 0 {
            lines.push(format!("and {}: raise top", count(n_more, "more row")));
        }
        lines.push(line(&self.total));
        lines
    }
}
