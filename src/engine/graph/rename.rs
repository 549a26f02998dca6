//! Renames a symbol: its definitions, its uses and the imports that name it, in all files or in none.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::{Edit, EditError, ExactText, FileEdit};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::query::{GraphNode, NO_SOURCES};
use crate::engine::read::grep::own_matcher;
use crate::engine::{AskError, Call, is_zero};
use crate::graph::{NamedIn, OTHER_LANGUAGE, RenamePlan, Verdict};
use crate::languages::{LanguageKind, detect};
use crate::store::SourceTable;
use crate::syntax::{Occurrences, may_be_renamed, occurrences, plain_occurrences};
use crate::text::{count, cut};
use crate::work::WorkBudget;

/// The arguments of a change of a name.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct RenameRequest {
    /// The symbol: a name, `Type::method` or `file.rs:line`.
    pub target: String,
    /// Its new name, without a path.
    pub new_name: String,
    /// Write the files. Without it the reply is a preview, and nothing changes.
    #[serde(default)]
    pub apply: bool,
    /// Uncertain places to rename, too, as the preview lists them: path:line.
    #[serde(default)]
    pub also: Vec<String>,
    /// Leave the uncertain places that `also` does not name as they are.
    #[serde(default)]
    pub skip_uncertain: bool,
}

/// What a change of a name does, or did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RenameAnswer {
    /// The definitions that are renamed together.
    pub targets: Vec<GraphNode>,
    /// The name before the change.
    pub old_name: String,
    /// The name after it.
    pub new_name: String,
    /// Whether the files are written.
    pub applied: bool,
    /// The changed files.
    pub files: Vec<RenamedFile>,
    /// Number of changed files, listed or not.
    pub total_files: usize,
    /// Number of places with the new name.
    pub total_places: usize,
    /// Lines that may mean the symbol and keep the old name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub uncertain: Vec<UncertainLine>,
    /// Number of such lines, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_uncertain: usize,
    /// Lines that keep the old name: comments, strings, modules and other symbols of that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub mentions: Vec<LeftLine>,
    /// Number of such lines, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub total_mentions: usize,
    /// Whether lines are left out.
    pub truncated: bool,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A file and its changed lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RenamedFile {
    /// Relative to the root.
    pub path: String,
    /// Number of places in the file.
    pub places: usize,
    /// The changed lines.
    pub lines: Vec<RenamedLine>,
}

/// A line before and after.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RenamedLine {
    /// 1-based.
    pub line: u32,
    /// The line before, without its indentation.
    pub old: String,
    /// The line after.
    pub new: String,
}

/// A line that may mean the symbol.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UncertainLine {
    #[serde(flatten)]
    pub place: LineOfText,
    /// How sure it is that the line means the symbol, 0 to 1; 0 if nothing is known.
    pub confidence: f64,
    /// Why that is not known.
    pub why: String,
}

/// A line with the old name that stays as it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftLine {
    #[serde(flatten)]
    pub place: LineOfText,
    /// What has the name there: a comment, a string, a module, another symbol, …
    pub what: String,
}

/// A line of a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineOfText {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// The line, without its indentation.
    pub text: String,
}

/// Most lines of each kind that an answer lists.
const MAX_LISTED: usize = 500;
const MAX_MENTIONS: usize = 10;
/// Most characters of a line that an answer shows.
const MAX_TEXT: usize = 160;
/// Most lines that an error names.
const MAX_NAMED: usize = 20;
/// Most files with the name that are read.
const MAX_FILES: usize = 5_000;

/// A file that has the name.
struct Read {
    /// The file to the byte; an error if it may not be changed.
    exact: Result<ExactText, String>,
    /// The text as it is shown, without secrets.
    shown: String,
}

/// The files with the name, by their paths.
type Files = BTreeMap<String, Read>;

impl Engine {
    /// Renames a symbol, or says what that would change.
    ///
    /// # Errors
    /// When there is no such symbol or more than one, the new name cannot be used, a file is not as
    /// indexed or must not be changed, or a change would leave out places that may mean the symbol.
    pub fn rename(&self, request: &RenameRequest, call: &Call) -> Result<RenameAnswer, AskError> {
        let RenameRequest { new_name: new, .. } = request;
        let target = &*self.graph_target(&request.target, call);
        let mut state = self.state(call)?;
        let files: RefCell<(Files, Vec<NamedIn>)> = RefCell::default();
        let failed: RefCell<Option<AskError>> = RefCell::default();
        let find = |name: &str, work: &WorkBudget| match self.places_of(name, new, work, call) {
            Ok((read, named)) => {
                *files.borrow_mut() = (read, named.clone());
                named
            }
            Err(e) => {
                *failed.borrow_mut() = Some(e);
                Vec::new()
            }
        };
        let (plan, has_sources, _) = self.ask_graph_in_time(call, |graph, work| {
            graph.rename(target, new, &|name| find(name, work), work)
        })?;
        call.check()?;
        if let Some(e) = failed.into_inner() {
            return Err(e);
        }
        let (files, named) = files.into_inner();
        if plan.targets.is_empty() {
            return Err(AskError::NotFound(if has_sources {
                self.unknown_symbol(&request.target, call)?
            } else {
                NO_SOURCES.into()
            }));
        }
        check_plan(&plan, new)?;
        let mut draft = Draft::new(&plan, &files, &named, request)?;
        self.check_files(&draft, &files)?;
        check_name(&plan, &files, &draft, new)?;
        if !plan.outside.is_empty() {
            state.warnings.push(format!(
                "the type extends {}, which is not in the project: if that declares `{}`, the new name no longer overrides it",
                plan.outside.join(", "),
                plan.name
            ));
        }
        state.warnings.extend(files_of_types(&plan, &files, new));
        if plan.is_cut {
            draft.is_cut = true;
            state.warnings.push(
                "the search for uses was cut after ten seconds: there may be more places".into(),
            );
        }
        let mut answer = draft.answer(&plan, &files, new, state);
        if request.apply {
            draft.check_complete(&answer)?;
            let warning = self.write(&draft, &files, call)?;
            answer.applied = true;
            let now = self.state(&Call { cancel: call.cancel.clone(), ..Call::default() });
            answer.state.index = now.unwrap_or_default().index;
            answer.state = answer.state.warning_first(warning).in_brief(call);
        }
        Ok(answer)
    }

    /// Finds the places of a name in all files of the index.
    fn places_of(
        &self,
        name: &str,
        new: &str,
        work: &WorkBudget,
        call: &Call,
    ) -> Result<(Files, Vec<NamedIn>), AskError> {
        let matcher = own_matcher(regex::escape(name), true)?;
        // The answer has waited as the call asks.
        let View { code, .. } =
            self.view(&Call { cancel: call.cancel.clone(), ..Call::default() })?;
        let paths: Vec<&str> = code.corpus.chunks().files().collect();
        let mut found = self.lines_in(&paths, &matcher, work).files;
        found.retain(|(at, _)| self.project.may_read(paths[*at]));
        found.sort_by_key(|(at, _)| paths[*at]);
        if found.len() > MAX_FILES {
            return Err(AskError::Arguments(format!(
                "{} have the name `{name}`: that is too common to rename",
                count(found.len(), "file")
            )));
        }
        let root = self.changeable()?;
        let (mut files, mut named) = (Files::new(), Vec::new());
        for (at, _) in found {
            call.check()?;
            let path = paths[at];
            let Ok(shown) = self.project.read_text(path) else { continue };
            let exact = root.exact(path).map_err(|e: EditError| e.to_string());
            let text = exact.as_ref().map_or(&*shown, |exact| &*exact.text);
            let language = detect(path, text);
            let places = match language.kind {
                LanguageKind::Code(grammar) => occurrences(grammar, text, name, new),
                _ => None,
            };
            let Occurrences { places, taken } =
                places.unwrap_or_else(|| plain_occurrences(text, name));
            if !places.is_empty() {
                named.push(NamedIn { file: path.to_string(), places, taken });
                files.insert(path.to_string(), Read { exact, shown });
            }
        }
        Ok((files, named))
    }

    /// Checks that the files may be changed, and are as they were indexed.
    fn check_files(&self, draft: &Draft, files: &Files) -> Result<(), AskError> {
        let table = SourceTable::read(&self.project.layout).filter(|_| {
            // No index of ours describes the files of such a project.
            !self.project.layout.is_foreign()
        });
        for path in draft.ranges.keys() {
            let exact = files[path].exact.as_ref().map_err(|e| AskError::Arguments(e.clone()))?;
            let indexed = table.as_ref().and_then(|table| table.files.get(path));
            if indexed.is_some_and(|entry| entry.sha256 != exact.hash) {
                return Err(AskError::NotYet(format!(
                    "`{}` changed since it was indexed, so its uses are not known: call again in a moment",
                    cut(path, 300)
                )));
            }
        }
        Ok(())
    }

    /// Writes all files, and indexes them. Returns a warning if they may not be indexed.
    fn write(&self, draft: &Draft, files: &Files, call: &Call) -> Result<Option<String>, AskError> {
        call.check()?;
        let exact = |path: &String| files[path].exact.as_ref().ok();
        let edits: Vec<FileEdit> = draft
            .ranges
            .iter()
            .filter_map(|(path, ranges)| {
                let expected = &exact(path)?.hash;
                Some(FileEdit { path, expected, edit: Edit::Splice { ranges } })
            })
            .collect();
        let written = self.changeable()?.edit_all(&edits)?;
        let paths: Vec<&str> = written.iter().map(|edited| &*edited.path).collect();
        // The files are written now, so a problem from here on is a warning and not an error.
        Ok(self.index_now(&paths, call))
    }
}

/// Returns what to do about files with the name of a renamed type, where a compiler or a loader finds
/// a type by the name of its file.
fn files_of_types(plan: &RenamePlan, files: &Files, new: &str) -> Vec<String> {
    let renamed = plan.targets.iter().filter_map(|target| {
        let (folder, file) = match target.file.rsplit_once('/') {
            Some((folder, file)) => (format!("{folder}/"), file),
            None => (String::new(), &*target.file),
        };
        let end = file.strip_prefix(&*plan.name)?;
        let text = &files.get(&target.file)?.shown;
        let line = text.lines().nth((target.line as usize).checked_sub(1)?)?;
        let who = match end {
            ".java" if line.contains("public") => "Java",
            ".php" => "an autoloader",
            _ => return None,
        };
        let is_type = matches!(&*target.kind, "class" | "interface" | "enum" | "record" | "trait");
        is_type.then(|| {
            let path = &target.file;
            format!("{path} keeps its name, by which {who} finds the type: rename it to {folder}{new}{end}")
        })
    });
    renamed.collect()
}

/// Refuses a plan that cannot be carried out.
fn check_plan(plan: &RenamePlan, new: &str) -> Result<(), AskError> {
    let place = |file: &str, line: u32| format!("{}:{line}", cut(file, 300));
    if !plan.others.is_empty() {
        let all = plan.targets.iter().chain(&plan.others).take(MAX_NAMED);
        let list: Vec<String> =
            all.map(|n| format!("{} ({})", place(&n.file, n.line), n.symbol)).collect();
        let more = if plan.targets.len() + plan.others.len() > list.len() { ", …" } else { "" };
        return Err(AskError::Arguments(format!(
            "several symbols have this name: give one of these as the target: {}{more}",
            list.join(", ")
        )));
    }
    let what = plan.targets.first().map_or("", |target| &target.symbol);
    if let Some(why) = &plan.refused {
        return Err(AskError::Arguments(format!("`{}` is not renamed: {why}", cut(what, 100))));
    }
    if plan.name == new {
        return Err(AskError::Arguments(format!("`{}` has this name already", cut(what, 100))));
    }
    if !plan.collisions.is_empty() {
        let list: Vec<String> = plan
            .collisions
            .iter()
            .take(MAX_NAMED)
            .map(|((file, line), why)| format!("{} ({why})", place(file, *line)))
            .collect();
        let more = if plan.collisions.len() > list.len() { ", …" } else { "" };
        return Err(AskError::Arguments(format!(
            "the name `{}` is taken: {}{more}. Nothing is changed: choose another name",
            cut(new, 100),
            list.join(", ")
        )));
    }
    Ok(())
}

/// Checks that the new name is one in the language of every changed file.
fn check_name(plan: &RenamePlan, files: &Files, draft: &Draft, new: &str) -> Result<(), AskError> {
    let mut is_checked: BTreeSet<&str> = BTreeSet::new();
    for (path, ranges) in &draft.ranges {
        let (Some(Ok(exact)), Some((at, _))) =
            (files.get(path).map(|file| &file.exact), ranges.first())
        else {
            continue;
        };
        let language = detect(path, &exact.text);
        let LanguageKind::Code(grammar) = language.kind else { continue };
        let is_of_target = plan.targets.iter().any(|target| target.file == *path);
        if !is_checked.insert(language.name) && !is_of_target {
            continue;
        }
        if !may_be_renamed(grammar, &exact.text, at.clone(), new) {
            return Err(AskError::Arguments(format!(
                "`{}` is not a valid name in {}, or is a keyword: give a name that may stand in place of `{}`",
                cut(new, 100),
                language.name,
                plan.name
            )));
        }
    }
    Ok(())
}

/// The places that get the new name, and the lines that do not.
struct Draft {
    ranges: BTreeMap<String, Vec<(Range<usize>, String)>>,
    /// Each with its confidence, and why it is uncertain.
    uncertain: BTreeMap<(String, u32), (f32, &'static str)>,
    /// Each with what it is.
    mentions: BTreeMap<(String, u32), &'static str>,
    is_skipping: bool,
    is_cut: bool,
}

impl Draft {
    fn new(
        plan: &RenamePlan,
        files: &Files,
        named: &[NamedIn],
        request: &RenameRequest,
    ) -> Result<Self, AskError> {
        let mut also: HashMap<(String, u32), bool> = HashMap::new();
        for written in &request.also {
            let place = written
                .trim()
                .rsplit_once(':')
                .and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?)))
                .filter(|(path, _)| files.contains_key(*path));
            let (path, line) = place.ok_or_else(|| {
                AskError::Arguments(format!(
                    "`also` names no place of the preview: `{}`. Give path:line, as the preview lists it",
                    cut(written, 200)
                ))
            })?;
            also.insert((path.to_string(), line), false);
        }
        let mut draft = Self {
            ranges: BTreeMap::new(),
            uncertain: BTreeMap::new(),
            mentions: BTreeMap::new(),
            is_skipping: request.skip_uncertain,
            is_cut: false,
        };
        for (NamedIn { file, places, .. }, verdicts) in named.iter().zip(&plan.verdicts) {
            for (place, verdict) in places.iter().zip(verdicts) {
                let line = (file.clone(), place.line);
                let wanted = also.get_mut(&line);
                let is_renamed = match verdict {
                    Verdict::Renamed => true,
                    Verdict::Uncertain(..) | Verdict::Left(_) if wanted.is_some() => true,
                    Verdict::Uncertain(confidence, why) => {
                        let known = draft.uncertain.entry(line).or_insert((*confidence, why));
                        known.0 = known.0.max(*confidence);
                        false
                    }
                    Verdict::Left(why) => {
                        draft.mentions.entry(line).or_insert(why);
                        false
                    }
                };
                if is_renamed {
                    if let Some(is_used) = wanted {
                        *is_used = true;
                    }
                    let ranges = draft.ranges.entry(file.clone()).or_default();
                    ranges.push((place.range.clone(), request.new_name.clone()));
                }
            }
        }
        let mut unused: Vec<String> = also
            .into_iter()
            .filter(|(_, is_used)| !is_used)
            .map(|((path, line), _)| format!("{}:{line}", cut(&path, 200)))
            .collect();
        unused.sort();
        if let Some(first) = unused.first() {
            return Err(AskError::Arguments(format!(
                "`also` names {first}, which has no uncertain place: leave it out"
            )));
        }
        Ok(draft)
    }

    /// Refuses a change that would leave out places that may mean the symbol.
    fn check_complete(&self, answer: &RenameAnswer) -> Result<(), AskError> {
        if self.is_cut {
            return Err(AskError::Failed(
                "the search for uses did not end within ten seconds, so nothing is changed".into(),
            ));
        }
        if self.uncertain.is_empty() || self.is_skipping {
            return Ok(());
        }
        let list: Vec<String> = answer
            .uncertain
            .iter()
            .take(MAX_NAMED)
            .map(|UncertainLine { place, why, .. }| {
                format!("{}:{}: {} ({why})", place.path, place.line, place.text)
            })
            .collect();
        let more = if self.uncertain.len() > list.len() { "\n…" } else { "" };
        Err(AskError::Arguments(format!(
            "nothing is changed, because {} may mean `{}`: name those to rename in `also`, and leave the others with `skip_uncertain`\n{}{more}",
            count(self.uncertain.len(), "line"),
            cut(&answer.old_name, 100),
            list.join("\n")
        )))
    }

    fn answer(
        &self,
        plan: &RenamePlan,
        files: &Files,
        new: &str,
        state: AnswerState,
    ) -> RenameAnswer {
        let changed = self.ranges.iter().map(|(path, ranges)| RenamedFile {
            path: path.clone(),
            places: ranges.len(),
            lines: changed_lines(&files[path], ranges),
        });
        let line_of = |path: &str, line: u32| {
            let text = files
                .get(path)
                .and_then(|file| file.shown.lines().nth((line as usize).checked_sub(1)?));
            LineOfText { path: path.into(), line, text: cut(text.unwrap_or("").trim(), MAX_TEXT) }
        };
        let uncertain = self.uncertain.iter().take(MAX_LISTED);
        // Another language is what tells the reader least.
        let mut mentions: Vec<_> = self.mentions.iter().collect();
        mentions.sort_by_key(|(_, what)| **what == OTHER_LANGUAGE);
        let mentions = mentions.into_iter().take(MAX_MENTIONS);
        let files: Vec<RenamedFile> = changed.collect();
        RenameAnswer {
            targets: plan.targets.iter().map(GraphNode::new).collect(),
            old_name: plan.name.clone(),
            new_name: new.to_string(),
            applied: false,
            total_files: files.len(),
            total_places: files.iter().map(|file| file.places).sum(),
            uncertain: uncertain
                .map(|((path, line), (confidence, why))| UncertainLine {
                    place: line_of(path, *line),
                    confidence: (f64::from(*confidence) * 100.0).round() / 100.0,
                    why: (*why).to_string(),
                })
                .collect(),
            total_uncertain: self.uncertain.len(),
            mentions: mentions
                .map(|((path, line), what)| LeftLine {
                    place: line_of(path, *line),
                    what: (*what).to_string(),
                })
                .collect(),
            total_mentions: self.mentions.len(),
            truncated: self.uncertain.len() > MAX_LISTED || self.mentions.len() > MAX_MENTIONS,
            files,
            state,
        }
    }
}

/// Returns the lines that change. A line with a secret is shown without it.
fn changed_lines(file: &Read, ranges: &[(Range<usize>, String)]) -> Vec<RenamedLine> {
    let Ok(ExactText { text, .. }) = &file.exact else { return Vec::new() };
    let shown: Vec<&str> = file.shown.lines().collect();
    let mut out: Vec<RenamedLine> = Vec::new();
    let (mut number, mut counted) = (1_usize, 0);
    let mut done = 0;
    while done < ranges.len() {
        let at = ranges[done].0.start;
        number += text[counted..at].matches('\n').count();
        counted = at;
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let here = ranges[done..].iter().take_while(|(range, _)| range.start < end).count();
        let old = text[start..end].trim_end_matches('\r');
        let mut new = old.to_string();
        for (range, name) in ranges[done..done + here].iter().rev() {
            new.replace_range(range.start - start..range.end - start, name);
        }
        let is_shown = shown
            .get(number - 1)
            .is_some_and(|line| *line == old || *line == old.trim_start_matches('\u{feff}'));
        let (old, new) = if is_shown { (old, &*new) } else { ("…", "…") };
        out.push(RenamedLine {
            line: u32::try_from(number).unwrap_or(u32::MAX),
            old: cut(old.trim(), MAX_TEXT),
            new: cut(new.trim(), MAX_TEXT),
        });
        done += here;
    }
    out
}

impl RenameAnswer {
    /// Returns the number of lines that the answer lists.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        let changed: usize = self.files.iter().map(|file| file.lines.len()).sum();
        changed + self.files.len() + self.uncertain.len() + self.mentions.len()
    }

    /// Returns a copy with the first `n` lines: the uncertain ones come first, because the caller
    /// decides about them.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let mut left = n;
        let mut take = |wanted: usize| {
            let taken = wanted.min(left);
            left -= taken;
            taken
        };
        let uncertain = self.uncertain[..take(self.uncertain.len())].to_vec();
        let mut files = Vec::new();
        for file in &self.files {
            if take(1) == 0 {
                break;
            }
            let lines = file.lines[..take(file.lines.len())].to_vec();
            files.push(RenamedFile { lines, ..file.clone() });
        }
        let mentions = self.mentions[..take(self.mentions.len())].to_vec();
        Self {
            uncertain,
            files,
            mentions,
            truncated: self.truncated || n < self.n_lines(),
            ..self.clone()
        }
    }
}
