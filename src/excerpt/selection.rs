//! Selects the code of many files that answers a call of several entries. Candidates are the regions
//! of the proposed chunks and of what the code graph knows around the best of them. Each has features,
//! whose weighted sum says how probable it is that an answer needs it; regions, and the parts of long
//! ones, are taken by worth for their bytes until the reply is full. specs/explore.md says how the
//! weights were found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::regions::{Region, is_type, regions};
use super::{Excerpt, Label};
use crate::chunk::{Chunk, ChunkType, is_callable};
use crate::embed::StaticModel;
use crate::languages::is_test_file;
use crate::search::{AskedWords, Fit, search_words};

/// The features of a region with their weights.
const FEATURES: [(&str, f64); 13] = [
    ("words", 2.65),
    ("entry", 3.5),
    ("names", 1.0),
    ("name_meaning", 2.2),
    ("name_words", 2.9),
    ("callers", 3.6),
    ("callees", 0.75),
    ("file", 0.3),
    ("test", -5.5),
    ("type", -2.0),
    ("bytes", 0.34),
    ("stub", -3.5),
    ("document", -0.65),
];
/// Positions of the features that are not known from the region alone.
const WORDS: usize = 0;
const ENTRY: usize = 1;
const CALLERS: usize = 5;
const CALLEES: usize = 6;
const FILE: usize = 7;
/// Number of best regions whose files count as near.
const NEAR: usize = 40;
/// A region of rank n counts 1 / (RANK + n).
const RANK: f64 = 3.0;
/// What a region is worth in addition that the call names.
const NAMED: f64 = 12.0;
/// The logarithm of how probable it is that an answer needs the region of rank n is this much of its
/// score, less that of LATER + n: the best are all needed, whatever their scores are.
const SCORE: f64 = 0.5;
const LATER: f64 = 10.0;
/// Fewer bytes than this do not make a region worth more.
const LEAST_COST: usize = 300;
/// How much the cost of a region counts against its worth.
const COST: f64 = 0.5;
/// A region of at most this many lines is shown whole or not at all.
const WHOLE: usize = 20;
/// So few lines that are missing in the shown code of a region are shown too: a reader who needs the
/// code would ask for them.
const MAX_GAP: usize = 5;
/// Share of its worth that a part of a long region has without any word or name of the call, and at
/// least that of its head.
const FLOOR: f64 = 0.05;
const HEAD: f64 = 0.5;
/// What a rare name counts as evidence for a line, compared with the idf of a word; and what the name of
/// the best other region does, which that of rank n does RANK / (RANK + n) times.
const NAME_IN_LINE: f64 = 8.0;
const OTHER_IN_LINE: f64 = 18.0;
/// Number of best regions whose names count in the lines of others, and the length of the shortest.
const OTHERS: usize = 60;
const LEAST_NAME: usize = 4;
/// Estimated bytes of the heading of a region, and of the number of a line.
const HEADING: usize = 60;
const NUMBER: usize = 5;
/// Most regions that a reply chooses from.
const MAX_REGIONS: usize = 150;

/// How a region is connected with one that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It calls or uses the other one.
    Caller,
    /// The other one calls it.
    Callee,
}

/// The regions that may answer a call.
pub struct Candidates {
    words: AskedWords,
    model: Arc<StaticModel>,
    entries: Vec<Vec<f32>>,
    /// Whether an entry is about tests. Otherwise they are seldom an answer.
    wants_tests: bool,
    all: Vec<Candidate>,
    known: BTreeSet<(Arc<str>, (u32, u32))>,
    /// Lines of files that the reply has anyway.
    given: BTreeMap<Arc<str>, BTreeSet<u32>>,
}

struct Candidate {
    path: Arc<str>,
    region: Region,
    fit: Fit,
    features: [f64; FEATURES.len()],
    /// How sure it is that the call names it, 0–1.
    named: f64,
    /// The wanted lines of a region that the call does not name, with how sure that is, 0–1.
    wanted: BTreeMap<u32, f64>,
}

/// A region by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    pub path: Arc<str>,
    /// First line of its symbol.
    pub line: u32,
}

impl Candidates {
    /// Creates an empty set of candidates. `entries` are the texts of the call.
    #[must_use]
    pub fn new(words: AskedWords, entries: &[String], wants_tests: bool) -> Self {
        let model = StaticModel::bundled();
        Self {
            words,
            entries: entries.iter().map(|entry| model.encode(entry)).collect(),
            wants_tests,
            model,
            all: Vec::new(),
            known: BTreeSet::new(),
            given: BTreeMap::new(),
        }
    }

    /// Adds the regions of a file that are not known yet. `parts` are chunks of it.
    pub fn add(&mut self, path: &Arc<str>, parts: Vec<Arc<Chunk>>) {
        let is_document = parts
            .iter()
            .any(|p| matches!(p.chunk_type, ChunkType::Documentation | ChunkType::Data));
        let parts: Vec<(Arc<Chunk>, f64)> = parts.into_iter().map(|part| (part, 0.0)).collect();
        for region in regions(&parts, None) {
            if self.known.insert((path.clone(), region.place())) {
                self.add_region(path, region, is_document);
            }
        }
    }

    fn add_region(&mut self, path: &Arc<str>, region: Region, is_document: bool) {
        let code = region.text();
        let name = &region.label.name;
        let fit = self.words.fit(&code);
        let vector = self.model.encode(&search_words(name).join(" "));
        let nearness =
            |entry: &Vec<f32>| f64::from(vector.iter().zip(entry).map(|(a, b)| a * b).sum::<f32>());
        let name_meaning = self.entries.iter().map(nearness).fold(0.0, f64::max);
        let flag = |is: bool| f64::from(u8::from(is));
        let is_test = is_test_file(path) || name.starts_with("tests") || name.starts_with("test::");
        let is_code = !region.is_between && !is_document;
        let features = [
            0.0,
            0.0,
            fit.names,
            name_meaning,
            self.words.precision_of(&format!("{path} {name}")),
            0.0,
            0.0,
            0.0,
            flag(is_test && !self.wants_tests),
            flag(is_code && is_type(&region.label.kind)),
            (code.len() as f64).ln_1p(),
            flag(region.is_stub),
            flag(is_document),
        ];
        self.all.push(Candidate {
            path: path.clone(),
            region,
            fit,
            features,
            named: 0.0,
            wanted: BTreeMap::new(),
        });
    }

    /// Compares the words of all regions. Call it when regions were added.
    pub fn compare(&mut self) {
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(1e-9, f64::max);
        let words = most(&mut self.all.iter().map(|c| c.fit.words));
        let entries: Vec<f64> = (0..self.entries.len())
            .map(|e| most(&mut self.all.iter().map(|c| c.fit.by_entry[e])))
            .collect();
        for candidate in &mut self.all {
            let shares: Vec<f64> =
                candidate.fit.by_entry.iter().zip(&entries).map(|(fit, most)| fit / most).collect();
            candidate.features[WORDS] = candidate.fit.words / words;
            candidate.features[ENTRY] = shares.into_iter().fold(0.0, f64::max);
        }
        let mut near: BTreeMap<Arc<str>, f64> = BTreeMap::new();
        for (rank, at) in self.ranked().into_iter().take(NEAR).enumerate() {
            *near.entry(self.all[at].path.clone()).or_default() += 1.0 / (RANK + rank as f64);
        }
        for candidate in &mut self.all {
            candidate.features[FILE] = near.get(&candidate.path).copied().unwrap_or_default();
        }
    }

    /// Returns the positions of all regions, best first; of equals, the first in the order of paths and
    /// lines.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<(f64, usize)> = self.all.iter().map(Candidate::score).zip(0..).collect();
        order.sort_by(|a, b| {
            let place = |at: usize| (&self.all[at].path, self.all[at].region.place());
            b.0.total_cmp(&a.0).then_with(|| place(a.1).cmp(&place(b.1)))
        });
        order.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the best functions, best first. What is around them may also answer.
    #[must_use]
    pub fn seeds(&self, n: usize) -> Vec<Seed> {
        let of = |at: usize| {
            let Candidate { path, region, .. } = &self.all[at];
            let line = region.label.lines.map_or(0, |lines| lines.0);
            let is_seed = is_callable(&region.label.kind) || is_type(&region.label.kind);
            is_seed.then(|| Seed { path: path.clone(), line })
        };
        self.ranked().into_iter().filter_map(of).take(n).collect()
    }

    /// Notes that the region at a line is connected with the seed of a rank. `confidence`: 0–1.
    pub fn link(&mut self, path: &str, line: u32, link: Link, rank: usize, confidence: f64) {
        let feature = match link {
            Link::Caller => CALLERS,
            Link::Callee => CALLEES,
        };
        let worth = confidence / (RANK + rank as f64);
        if let Some(candidate) = self.innermost(path, line) {
            candidate.features[feature] += worth;
        }
    }

    /// Whether a region has this line.
    #[must_use]
    pub fn holds(&self, path: &str, line: u32) -> bool {
        self.all.iter().any(|c| *c.path == *path && c.region.holds(line))
    }

    /// Marks the regions of a symbol that the call names; of a larger region only the lines of the symbol.
    /// `confidence`: less than 1 if the name has other symbols.
    pub fn name(&mut self, path: &str, (first, last): (u32, u32), confidence: f64) {
        for candidate in self.all.iter_mut().filter(|c| *c.path == *path) {
            let (start, end) = candidate.region.place();
            if first <= start && end <= last {
                candidate.named = candidate.named.max(confidence);
            } else if start <= first && last <= end {
                candidate.wanted.extend((first..=last).map(|line| (line, confidence)));
            }
        }
    }

    /// Notes that a line is wanted, as far as `confidence` says, 0–1.
    pub fn want(&mut self, path: &str, line: u32, confidence: f64) {
        if let Some(candidate) = self.innermost(path, line) {
            let known = candidate.wanted.entry(line).or_default();
            *known = known.max(confidence);
        }
    }

    /// Notes that the reply has lines anyway.
    pub fn give(&mut self, path: &str, (first, last): (u32, u32)) {
        self.given.entry(path.into()).or_default().extend(first..=last);
    }

    /// Returns the smallest region that has a line.
    fn innermost(&mut self, path: &str, line: u32) -> Option<&mut Candidate> {
        let is_it = |c: &&mut Candidate| *c.path == *path && c.region.holds(line);
        self.all.iter_mut().filter(is_it).min_by_key(|c| {
            let (first, last) = c.region.place();
            last - first
        })
    }

    /// Decides what a reply shows first.
    #[must_use]
    pub fn selected(mut self) -> Selection {
        let mut selection = Selection::default();
        let order: Vec<usize> = self.ranked().into_iter().take(MAX_REGIONS).collect();
        for (rank, at) in order.iter().take(OTHERS).enumerate() {
            let Region { label, .. } = &self.all[*at].region;
            let name = self.all[*at].region.short_name();
            if is_callable(&label.kind) && name.len() >= LEAST_NAME {
                self.words.add_other(name, OTHER_IN_LINE * RANK / (RANK + rank as f64));
            }
        }
        for (n, at) in order.iter().enumerate() {
            let candidate = &self.all[*at];
            let probable = SCORE * candidate.score() - (LATER + n as f64).ln();
            for (lines, share, cost) in parts(candidate, &mut self.words) {
                let against = COST * (cost.max(LEAST_COST) as f64).ln();
                // What is wanted of a region that is not named are some of its lines.
                let beside = SCORE * NAMED * (candidate.wanted() - candidate.wanted_in(&lines));
                let value = probable - beside + share.ln() - against;
                selection.steps.push(Step { region: n, lines, value, cost });
            }
        }
        // The sort is stable: of equals the better region, and of its parts the first, comes first.
        selection.steps.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut all: Vec<Option<Candidate>> = self.all.into_iter().map(Some).collect();
        let taken = order.into_iter().filter_map(|at| all[at].take());
        selection.regions = taken.map(|c| (c.path, c.region)).collect();
        selection.given = self.given;
        selection
    }
}

impl Candidate {
    /// Returns how sure it is that some of its lines are wanted.
    fn wanted(&self) -> f64 {
        self.wanted.values().copied().fold(self.named, f64::max)
    }

    /// Returns how sure it is that some of its lines, given by their positions, are wanted.
    fn wanted_in(&self, lines: &Range<usize>) -> f64 {
        let lines = self.region.lines[lines.clone()].iter();
        let wanted = lines.filter_map(|line| self.wanted.get(&line.0)).copied();
        wanted.fold(self.named, f64::max)
    }

    fn score(&self) -> f64 {
        let sum: f64 =
            self.features.iter().zip(FEATURES).map(|(value, (_, weight))| value * weight).sum();
        sum + NAMED * self.wanted()
    }
}

/// Returns the parts of a region that are shown together, with the share of its worth that each has, and
/// their estimated bytes.
fn parts(
    Candidate { region, wanted, .. }: &Candidate,
    words: &mut AskedWords,
) -> Vec<(Range<usize>, f64, usize)> {
    let bytes = |range: &Range<usize>| -> usize {
        let said = region.lines[range.clone()].iter().filter(|l| !l.1.trim().is_empty());
        said.map(|line| line.1.len() + 1 + NUMBER).sum()
    };
    if region.lines.len() <= WHOLE {
        let all = 0..region.lines.len();
        return vec![(all.clone(), 1.0, HEADING + bytes(&all))];
    }
    let pieces = region.pieces();
    let mut evidence = |range: &Range<usize>| {
        let lines: Vec<&str> = region.lines[range.clone()].iter().map(|l| &*l.1).collect();
        words.evidence(&lines.join("\n"), NAME_IN_LINE, region.short_name())
    };
    let said: Vec<f64> = pieces.iter().map(&mut evidence).collect();
    // The values of a list repeat its words: what they have in common chooses none of them.
    let least = if is_list(region) { said.iter().copied().fold(f64::MAX, f64::min) } else { 0.0 };
    let most = said.iter().copied().fold(least + 1e-9, f64::max);
    let part = |(i, (range, said)): (usize, (Range<usize>, f64))| {
        let is_wanted = region.lines[range.clone()].iter().any(|line| wanted.contains_key(&line.0));
        let share =
            if is_wanted { 1.0 } else { FLOOR + (1.0 - FLOOR) * (said - least) / (most - least) };
        let (share, heading) = if i == 0 { (share.max(HEAD), HEADING) } else { (share, 0) };
        let cost = heading + bytes(&range);
        (range, share, cost)
    };
    pieces.into_iter().zip(said).enumerate().map(part).collect()
}

/// Whether most of its lines are values of a list, such as an enum or a table.
fn is_list(region: &Region) -> bool {
    let code = region.lines.iter().zip(&region.comments).filter(|(_, is_comment)| !**is_comment);
    let said: Vec<&str> = code.map(|(l, _)| l.1.trim_end()).filter(|l| !l.is_empty()).collect();
    let n_values = said.iter().filter(|line| line.ends_with(',')).count();
    region.label.kind == "enum" || n_values * 10 >= said.len() * 9
}

/// Adds the lines between shown ones, and before and after them, where only few are missing.
fn add_gaps(shown: &mut BTreeSet<usize>, n_lines: usize) {
    let mut next = 0;
    for at in shown.clone().into_iter().chain([n_lines]) {
        if at - next <= MAX_GAP {
            shown.extend(next..at);
        }
        next = at + 1;
    }
}

/// The code that a reply may show, in the order in which it is added.
#[derive(Debug, Default)]
pub struct Selection {
    /// Best first.
    regions: Vec<(Arc<str>, Region)>,
    steps: Vec<Step>,
    /// Lines of files that the reply has anyway.
    given: BTreeMap<Arc<str>, BTreeSet<u32>>,
}

#[derive(Debug)]
struct Step {
    region: usize,
    lines: Range<usize>,
    value: f64,
    cost: usize,
}

/// The shown code of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileExcerpts {
    pub path: Arc<str>,
    /// In the order of their lines.
    pub excerpts: Vec<Excerpt>,
}

/// A region that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: Arc<str>,
    pub label: Label,
    /// First and last line.
    pub lines: (u32, u32),
}

impl Selection {
    /// Estimated bytes of everything that a reply can show.
    #[must_use]
    pub fn top(&self) -> usize {
        self.steps.iter().map(|step| step.cost).sum()
    }

    /// Returns the regions that may be shown, best first: path, first and last line.
    #[must_use]
    pub fn places(&self) -> Vec<(String, u32, u32)> {
        let place = |(path, region): &(Arc<str>, Region)| {
            let (first, last) = region.place();
            (path.to_string(), first, last)
        };
        self.regions.iter().map(place).collect()
    }

    /// Returns about `n_bytes` of code, the file with the best region first, and the best `n_left`
    /// regions that are not shown.
    #[must_use]
    pub fn at(&self, n_bytes: usize, n_left: usize) -> (Vec<FileExcerpts>, Vec<LeftOut>) {
        let mut left = n_bytes;
        let mut seen = self.given.clone();
        let mut shown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for step in &self.steps {
            let (path, region) = &self.regions[step.region];
            let seen = seen.entry(path.clone()).or_default();
            let is_new = |at: &usize| !seen.contains(&region.lines[*at].0);
            let lines: Vec<usize> = step.lines.clone().filter(is_new).collect();
            if step.cost <= left && !lines.is_empty() {
                left -= step.cost;
                seen.extend(lines.iter().map(|at| region.lines[*at].0));
                shown.entry(step.region).or_default().extend(lines);
            }
        }
        let mut files: Vec<FileExcerpts> = Vec::new();
        for (at, lines) in &shown {
            let (path, region) = &self.regions[*at];
            let around = region.enclosing(lines);
            let own: BTreeSet<usize> = lines.iter().copied().collect();
            let mut whole: BTreeSet<usize> = own.iter().copied().chain(around).collect();
            add_gaps(&mut whole, region.lines.len());
            let seen = seen.entry(path.clone()).or_default();
            whole.retain(|at| own.contains(at) || seen.insert(region.lines[*at].0));
            let excerpt = region.excerpt(whole.into_iter().collect());
            match files.iter_mut().find(|file| file.path == *path) {
                Some(file) => file.excerpts.push(excerpt),
                None => files.push(FileExcerpts { path: path.clone(), excerpts: vec![excerpt] }),
            }
        }
        for file in &mut files {
            file.excerpts.sort_by_key(|excerpt| excerpt.shown.first().map(|line| line.0));
        }
        let others = self.regions.iter().enumerate().filter(|(at, _)| !shown.contains_key(at));
        let left_out = |(_, (path, region)): (usize, &(Arc<str>, Region))| LeftOut {
            path: path.clone(),
            label: region.label.clone(),
            lines: region.place(),
        };
        (files, others.take(n_left).map(left_out).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Metadata, Name};

    fn function(path: &str, name: &str, text: &str) -> (Arc<str>, Vec<Arc<Chunk>>) {
        let last = u32::try_from(text.lines().count()).unwrap();
        let name = Name {
            name: name.into(),
            kind: "function".into(),
            start_line: 1,
            end_line: last,
            ..Name::default()
        };
        let chunk = Chunk {
            metadata: Metadata {
                file_path: Some(path.into()),
                start_line: Some(1),
                end_line: Some(last),
                names: vec![name],
                ..Metadata::default()
            },
            ..Chunk::new(format!("{path}#1"), ChunkType::Definitions, text)
        };
        (path.into(), vec![Arc::new(chunk)])
    }

    fn candidates(
        entries: &[&str],
        names: &[&str],
        files: &[(Arc<str>, Vec<Arc<Chunk>>)],
    ) -> Candidates {
        let texts: Vec<String> = entries.iter().map(ToString::to_string).collect();
        let words = AskedWords::of_words(entries, names);
        let mut candidates = Candidates::new(words, &texts, false);
        for (path, parts) in files {
            candidates.add(path, parts.clone());
        }
        candidates.compare();
        candidates
    }

    fn paths(selection: &Selection) -> Vec<String> {
        selection.places().into_iter().map(|place| place.0).collect()
    }

    #[test]
    fn a_caller_of_a_good_answer_comes_before_what_only_shares_words() {
        let files = [
            function("src/a.rs", "drain_tank", "fn drain_tank() {\n    open_valve();\n}"),
            function("src/b.rs", "on_alarm", "fn on_alarm() {\n    go();\n}"),
            function("src/c.rs", "paint", "fn paint() {\n    brush(the_wall);\n}"),
        ];
        let mut all = candidates(&["drain the tank"], &[], &files);
        assert_eq!(paths(&all.selected())[0], "src/a.rs");
        all = candidates(&["drain the tank"], &[], &files);
        assert_eq!(all.seeds(1), [Seed { path: "src/a.rs".into(), line: 1 }]);
        all.link("src/b.rs", 2, Link::Caller, 0, 1.0);
        assert_eq!(paths(&all.selected()), ["src/a.rs", "src/b.rs", "src/c.rs"]);
    }

    #[test]
    fn a_named_symbol_comes_first_and_a_test_last() {
        let text = "fn drain_tank() {\n    open_valve();\n}";
        let files = [
            function("tests/a.rs", "drain_tank", text),
            function("src/a.rs", "drain_tank", text),
            function("src/z.rs", "other", "fn other() {\n    wait();\n}"),
        ];
        let mut all = candidates(&["drain the tank"], &["drain_tank"], &files);
        all.name("src/z.rs", (1, 3), 1.0);
        let selection = all.selected();
        let (shown, left_out) = selection.at(2 * HEADING + 80, 9);
        assert_eq!(shown[0].path.as_ref(), "src/z.rs", "{shown:?}");
        assert_eq!(left_out.last().map(|left| &*left.path), Some("tests/a.rs"), "{left_out:?}");
    }

    #[test]
    fn of_a_long_function_whole_statements_with_the_names_are_shown() {
        let case = |n: usize| {
            format!(
                "        \"key_{n}\" => {{\n            check();\n            out.f{n} = value;\n            log();\n        }}\n"
            )
        };
        let cases: String = (0..50).map(case).collect();
        let text = format!("fn parse() {{\n    match name {{\n{cases}    }}\n}}");
        let files = [function("src/a.rs", "parse", &text)];
        let selection = candidates(&["where is it set"], &["key_33"], &files).selected();
        let (shown, _) = selection.at(600, 0);
        let lines: Vec<&str> =
            shown[0].excerpts[0].shown.iter().map(|line| line.1.trim()).collect();
        let at = |wanted: &str| lines.iter().position(|line| *line == wanted);
        let block = ["\"key_33\" => {", "check();", "out.f33 = value;", "log();"];
        let first = at(block[0]).unwrap_or_else(|| panic!("{lines:#?}"));
        assert_eq!(lines[first..first + 4], block, "{lines:#?}");
        assert_eq!((at("fn parse() {"), at("match name {")), (Some(0), Some(1)), "{lines:#?}");
        assert!(lines.len() < 30, "{lines:#?}");
    }
}
