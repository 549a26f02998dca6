//! Finds the uses of a name that an answer of the code graph does not contain, in the text of the
//! files: the graph may not know them, or not what they mean.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::query::{
    GraphNode, MAX_TEXT, NameUse, NamedLines, Namesake, USES_BESIDE, UsesInFile,
};
use crate::engine::read::grep::own_matcher;
use crate::engine::{AskError, Call};
use crate::excerpt::NamesAround;
use crate::graph::{self, GraphQuery, Operation};
use crate::languages::{LanguageKind, detect, is_test_file};
use crate::scan::LineCounts;
use crate::syntax::{PlaceKind, Places, is_longer_name};
use crate::text::cut;
use crate::work::WorkBudget;

/// Most files whose lines are looked at one by one. In the others, each line counts.
const MAX_READ: usize = 150;
/// Most bytes of these files that are parsed, to tell uses from comments and strings, if the uses are
/// only beside results. The first files are parsed whatever their size.
const MAX_BYTES_BESIDE: usize = 512 << 10;
const LEAST_PARSED: usize = 8;
/// Most targets whose files are looked at for a default export.
const MAX_DEFAULTS: usize = 4;
/// Most files with uses that an answer lists beside results, and most lines of each.
const MAX_FILES: usize = 5;
const MAX_LINES: usize = 3;

/// The uses of a name that are not in an answer.
#[derive(Debug, Default)]
pub(in crate::engine) struct OtherUses {
    /// Uses whose meaning is unknown: calls first, then those nearest to the target.
    pub(in crate::engine) uses: Vec<NameUse>,
    /// Number of such uses, listed or not.
    pub(in crate::engine) total: usize,
    /// The files with most of them, those of tests last.
    pub(in crate::engine) in_files: Vec<UsesInFile>,
    /// Most used first.
    pub(in crate::engine) namesakes: Vec<Namesake>,
    pub(in crate::engine) named: NamedLines,
}

impl OtherUses {
    /// Whether every line of code with the name was looked at, and none has an unknown meaning.
    pub(in crate::engine) fn is_complete(&self) -> bool {
        self.total == 0 && !self.named.is_partial && self.named.n_unread == 0
    }
}

impl Engine {
    /// Finds the uses of the names in the text that are not accounted for, at most `limit`; 0 searches
    /// nothing. `near` is the file of the target.
    pub(in crate::engine) fn other_uses(
        &self,
        known: &graph::NameUses,
        near: &str,
        limit: usize,
        work: &WorkBudget,
        call: &Call,
    ) -> Result<OtherUses, AskError> {
        let names: Vec<String> = known.names.iter().map(|name| regex::escape(name)).collect();
        if names.is_empty() || limit == 0 {
            return Ok(OtherUses::default());
        }
        let matcher = own_matcher(names.join("|"), true)?;
        // The answer has waited as the call asks.
        let View { code, .. } =
            self.view(&Call { cancel: call.cancel.clone(), ..Call::default() })?;
        let is_code = |path: &str| {
            !matches!(detect(path, "").kind, LanguageKind::Document(_) | LanguageKind::Notebook)
        };
        let files: Vec<&str> = code.corpus.chunks().files().filter(|path| is_code(path)).collect();
        let LineCounts { files: mut found, unread, .. } = self.lines_in(&files, &matcher, work);
        let mut named = NamedLines { is_partial: unread.n() > 0, ..NamedLines::default() };
        found.retain(|(at, _)| self.project.may_read(files[*at]));
        found.sort_by_key(|(at, _)| (Reverse(in_common(near, files[*at])), files[*at]));
        let max_bytes = if limit > USES_BESIDE { usize::MAX } else { MAX_BYTES_BESIDE };
        let (mut ranked, mut total, mut n_bytes) = (Vec::new(), 0, 0);
        let mut namesakes: BTreeMap<(String, u32), Namesake> = BTreeMap::new();
        let mut in_files: BTreeMap<&str, (usize, Vec<u32>)> = BTreeMap::new();
        for (n, (at, n_lines)) in found.into_iter().enumerate() {
            let path = files[at];
            let is_read = n < MAX_READ && work.goes_on();
            let Some(text) = is_read.then(|| self.project.read_text(path).ok()).flatten() else {
                let n_unknown = n_lines.saturating_sub(known.known_in(path));
                total += n_unknown;
                named.n += n_unknown;
                named.n_unread += 1;
                in_files.entry(path).or_default().0 += n_unknown;
                continue;
            };
            let is_parsed = n < LEAST_PARSED || n_bytes < max_bytes;
            n_bytes += text.len();
            let language = detect(path, &text);
            let places = match language.kind {
                LanguageKind::Code(grammar) if is_parsed => Places::new(grammar, &text),
                _ => None,
            };
            let mut last = 0;
            for line in matcher.lines(&text) {
                let number = u32::try_from(line.line).unwrap_or(u32::MAX);
                let key = (path.to_string(), number);
                if known.accounts_for(&key, std::mem::replace(&mut last, number)) {
                    continue;
                }
                let is_other =
                    |range: &Range<usize>| is_longer_name(language.name, &line.text[range.end..]);
                let ranges = matcher.ranges(&line.text);
                if ranges.iter().all(is_other) {
                    continue;
                }
                named.n += 1;
                if known.of_target.contains(&key) {
                    named.n_plain += 1;
                    continue;
                }
                if let Some(other) = known.of_others.get(&key) {
                    add_namesake(&mut namesakes, other);
                    continue;
                }
                let uses = ranges.into_iter().filter(|range| {
                    !is_other(range)
                        && places.as_ref().is_none_or(|places| {
                            places.kind(number, range.start) == PlaceKind::Code
                        })
                });
                let Some(is_call) =
                    uses.map(|range| line.text[range.end..].trim_start().starts_with('(')).max()
                else {
                    continue;
                };
                let is_elsewhere = known.elsewhere.contains(&key);
                named.n_elsewhere += usize::from(is_elsewhere);
                // Without results, even an unlikely use is worth a look.
                if is_elsewhere && limit <= USES_BESIDE {
                    continue;
                }
                total += 1;
                let (n_uses, lines) = in_files.entry(path).or_default();
                *n_uses += 1;
                lines.push(number);
                ranked.push((!is_call, n, number, path, line.text));
            }
        }
        ranked.sort_by_key(|(is_no_call, n, line, ..)| (*is_no_call, *n, *line));
        let uses = ranked.into_iter().take(limit).map(|(_, _, line, path, text)| {
            let chunks = code.corpus.chunks().read_file(path);
            NameUse {
                path: path.into(),
                line,
                symbol: NamesAround::new(&chunks).at(line),
                text: cut(text.trim(), MAX_TEXT),
            }
        });
        let uses = uses.collect();
        let mut namesakes: Vec<Namesake> = namesakes.into_values().collect();
        namesakes.sort_by_key(|namesake| Reverse(namesake.uses));
        named.is_partial |= work.is_spent();
        let in_files = most_used(in_files);
        Ok(OtherUses { uses, total, in_files, namesakes, named })
    }

    /// Adds the lines that import the files whose default exports the targets are: they name them as
    /// they like. Returns a note about the first such target.
    pub(in crate::engine) fn add_default_imports(
        &self,
        other: &mut OtherUses,
        names: &BTreeSet<String>,
        targets: &[graph::Node],
        limit: usize,
        call: &Call,
    ) -> Result<Option<String>, AskError> {
        let work = call.work();
        for target in targets.iter().filter(|target| target.line > 0).take(MAX_DEFAULTS) {
            let LanguageKind::Code(grammar) = &detect(&target.file, "").kind else { continue };
            if grammar.spec.names.family != "ecmascript" {
                continue;
            }
            let Ok(text) = self.project.read_text(&target.file) else { continue };
            let Some(name) = names.iter().find(|name| is_default_export(&text, name)) else {
                continue;
            };
            let query = GraphQuery {
                operation: Operation::Dependents,
                target: &target.file,
                to: None,
                depth: 1,
                limit: limit.max(USES_BESIDE),
            };
            let (found, _) = self.ask_graph(call, |graph| graph.answer(query, &work))?;
            let mut is_imported = false;
            for importer in &found.results {
                let path = &importer.node.file;
                let Ok(text) = self.project.read_text(path) else { continue };
                let lines: Vec<&str> = text.lines().collect();
                for line in &importer.sites {
                    let Some(written) = lines.get((*line as usize).saturating_sub(1)) else {
                        continue;
                    };
                    let is_listed = other.uses.iter().any(|u| u.path == *path && u.line == *line);
                    if is_listed || !DEFAULT_IMPORT.is_match(written) {
                        continue;
                    }
                    is_imported = true;
                    other.total += 1;
                    if other.uses.len() < limit {
                        other.uses.push(NameUse {
                            path: path.clone(),
                            line: *line,
                            symbol: None,
                            text: cut(written.trim(), MAX_TEXT),
                        });
                    }
                }
            }
            if is_imported {
                return Ok(Some(format!(
                    "`{name}` is the default export of `{}`, so the listed imports may give it another name",
                    target.file
                )));
            }
        }
        Ok(None)
    }
}

fn add_namesake(namesakes: &mut BTreeMap<(String, u32), Namesake>, other: &graph::Node) {
    let node = GraphNode::new(other);
    let at = (node.path.clone(), node.line);
    namesakes.entry(at).or_insert(Namesake { node, uses: 0 }).uses += 1;
}

/// Returns the files with most uses, those of tests last.
fn most_used(files: BTreeMap<&str, (usize, Vec<u32>)>) -> Vec<UsesInFile> {
    let mut files: Vec<UsesInFile> = files
        .into_iter()
        .filter(|(_, (uses, _))| *uses > 0)
        .map(|(path, (uses, mut lines))| {
            lines.truncate(MAX_LINES);
            UsesInFile { path: path.into(), uses, lines }
        })
        .collect();
    files.sort_by_key(|file| (is_test_file(&file.path), Reverse(file.uses)));
    files.truncate(MAX_FILES);
    files
}

/// An import that may bring the default export of a module, on one line.
static DEFAULT_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\bimport\s+(?:type\s+)?[\w$]+\s*(?:,|=|from\b)|\bdefault\b|\*\s*as\b|\b(?:require|import)\s*\(",
    )
    .expect("the pattern is valid")
});

/// Whether a text exports a name as the default of its module.
fn is_default_export(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let head = r"(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?\s*|class\s+)?";
    let exported = format!(
        r"\b(?:export\s+default\s+|module\.exports\s*=\s*|export\s*=\s*){head}{name}\b|\b{name}\s+as\s+default\b"
    );
    Regex::new(&exported).is_ok_and(|exported| exported.is_match(text))
}

/// Returns the number of leading names that two paths have in common.
fn in_common(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}
