//! Selects the code of many files that answers a call of several entries. Candidates are the regions
//! of the proposed chunks and of what the code graph knows around the best of them. Each has features,
//! whose weighted sum says how probable it is that an answer needs it; regions, and the parts of long
//! ones, are taken by worth for their bytes until the reply is full. specs/explore.md says how the
//! weights were found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::regions::{Region, is_callable, is_type, regions};
use super::{Excerpt, Label};
use crate::chunk::{Chunk, ChunkType};
use crate::embed::StaticModel;
use crate::languages::is_test_file;
use crate::search::{AskedWords, Fit, search_words};

/// The features of a region with their weights.
pub const FEATURES: [(&str, f64); 13] = [
    ("words", 2.0),
    ("entry", 2.9),
    ("names", 1.4),
    ("name_meaning", 1.65),
    ("name_words", 3.6),
    ("callers", 5.4),
    ("callees", 0.8),
    ("file", 0.65),
    ("test", -4.7),
    ("type", -2.1),
    ("bytes", 0.37),
    ("stub", -1.0),
    ("document", -0.45),
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
const NAMED: f64 = 8.0;
/// Fewer bytes than this do not make a region worth more.
const LEAST_COST: usize = 300;
/// How much the cost of a region counts against its worth.
const COST: f64 = 0.5;
/// A region of at most this many lines is shown whole or not at all.
const WHOLE: usize = 30;
/// Share of its worth that a part of a long region has without any word or name of the call, and at
/// least that of its head.
const FLOOR: f64 = 0.1;
const HEAD: f64 = 0.7;
/// What a rare name counts as evidence for a line, compared with the idf of a word.
const NAME_IN_LINE: f64 = 8.0;
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
}

struct Candidate {
    path: Arc<str>,
    region: Region,
    fit: Fit,
    features: [f64; FEATURES.len()],
    /// How sure it is that the call names it, 0–1.
    named: f64,
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
        }
    }

    /// Adds the regions of a file that are not known yet. `parts` are chunks of it.
    pub fn add(&mut self, path: &Arc<str>, parts: Vec<Arc<Chunk>>) {
        let is_document = parts
            .iter()
            .any(|p| matches!(p.chunk_type, ChunkType::Documentation | ChunkType::Data));
        let parts: Vec<(Arc<Chunk>, f64)> = parts.into_iter().map(|part| (part, 0.0)).collect();
        for region in regions(&parts) {
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
        self.all.push(Candidate { path: path.clone(), region, fit, features, named: 0.0 });
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
        let is_it = |c: &&mut Candidate| *c.path == *path && c.region.holds(line);
        if let Some(candidate) = self.all.iter_mut().filter(is_it).min_by_key(|c| {
            let (first, last) = c.region.place();
            last - first
        }) {
            candidate.features[feature] += worth;
        }
    }

    /// Whether a region has this line.
    #[must_use]
    pub fn holds(&self, path: &str, line: u32) -> bool {
        self.all.iter().any(|c| *c.path == *path && c.region.holds(line))
    }

    /// Marks the regions of a symbol that the call names. `confidence`: less than 1 if the name has
    /// other symbols.
    pub fn name(&mut self, path: &str, (first, last): (u32, u32), confidence: f64) {
        for candidate in self.all.iter_mut().filter(|c| *c.path == *path) {
            let (start, end) = candidate.region.place();
            if first <= start && end <= last || start <= first && last <= end {
                candidate.named = candidate.named.max(confidence);
            }
        }
    }

    /// Returns the features of all regions, for the search of weights: path, first and last line, kind.
    #[must_use]
    pub fn features(&self) -> Vec<(&str, (u32, u32), &str, &[f64])> {
        self.all
            .iter()
            .map(|c| (&*c.path, c.region.place(), &*c.region.label.kind, &c.features[..]))
            .collect()
    }

    /// Decides what a reply shows first.
    #[must_use]
    pub fn select(mut self) -> Selection {
        let mut selection = Selection::default();
        let order: Vec<usize> = self.ranked().into_iter().take(MAX_REGIONS).collect();
        for (n, at) in order.iter().enumerate() {
            let candidate = &self.all[*at];
            let score = candidate.score() + NAMED * candidate.named;
            for (lines, share, cost) in parts(&candidate.region, &mut self.words) {
                let against = COST * (cost.max(LEAST_COST) as f64).ln();
                let value = score + share.ln() - against;
                selection.steps.push(Step { region: n, lines, value, cost });
            }
        }
        // The sort is stable: of equals the better region, and of its parts the first, comes first.
        selection.steps.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut all: Vec<Option<Candidate>> = self.all.into_iter().map(Some).collect();
        let taken = order.into_iter().filter_map(|at| all[at].take());
        selection.regions = taken.map(|c| (c.path, c.region)).collect();
        selection
    }
}

impl Candidate {
    fn score(&self) -> f64 {
        self.features.iter().zip(FEATURES).map(|(value, (_, weight))| value * weight).sum()
    }
}

/// Returns the parts of a region that are shown together, with the share of its worth that each has, and
/// their estimated bytes.
fn parts(region: &Region, words: &mut AskedWords) -> Vec<(Range<usize>, f64, usize)> {
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
        words.evidence(&lines.join("\n"), NAME_IN_LINE)
    };
    let said: Vec<f64> = pieces.iter().map(&mut evidence).collect();
    let most = said.iter().copied().fold(1e-9, f64::max);
    let part = |(i, (range, said)): (usize, (Range<usize>, f64))| {
        let share = FLOOR + (1.0 - FLOOR) * said / most;
        let (share, heading) = if i == 0 { (share.max(HEAD), HEADING) } else { (share, 0) };
        let cost = heading + bytes(&range);
        (range, share, cost)
    };
    pieces.into_iter().zip(said).enumerate().map(part).collect()
}

/// The code that a reply may show, in the order in which it is added.
#[derive(Debug, Default)]
pub struct Selection {
    /// Best first.
    regions: Vec<(Arc<str>, Region)>,
    steps: Vec<Step>,
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

    /// Returns about `n_bytes` of code, the file with the best region first, and the best `n_left`
    /// regions that are not shown.
    #[must_use]
    pub fn at(&self, n_bytes: usize, n_left: usize) -> (Vec<FileExcerpts>, Vec<LeftOut>) {
        let mut left = n_bytes;
        let mut shown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for step in &self.steps {
            if step.cost <= left {
                left -= step.cost;
                shown.entry(step.region).or_default().extend(step.lines.clone());
            }
        }
        let mut files: Vec<FileExcerpts> = Vec::new();
        for (at, lines) in &shown {
            let (path, region) = &self.regions[*at];
            let around = region.enclosing(lines);
            let lines = lines.iter().copied().chain(around).collect();
            let excerpt = region.excerpt(lines);
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
