//! Selects the code that a reply shows. A reply has few lines, so each must earn its place: regions
//! of the found files (functions, types, sections) are compared with the question by their words,
//! their names and their meaning, and their windows are ordered by worth for each byte. All front
//! ends show these lines below the place that they are of.

mod regions;
mod screen;
mod selection;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

pub use self::regions::Label;
use self::regions::{Line, NamedLines, Region, WHOLE, around, regions};
pub use self::regions::{NamesAround, members_of, says, symbols_named};
use self::screen::Asked;
pub use self::selection::{Candidates, FileExcerpts, LeftOut, Link, Seed, Selection};
use crate::chunk::{Entry, is_callable};
use crate::embed::StaticModel;
use crate::languages::is_test_path;
use crate::search::{Highlighter, Hit, QueryWords, Term, search_words};
use crate::text::{MAX_LINE, cut_around};

/// Number of best files of which code may be shown.
pub const MAX_FILES: usize = 15;
/// Number of best files of which the regions decide the order, and which may have several rows.
pub const MAX_SPREAD: usize = 5;
/// Most rows of a file.
const MAX_ROWS: usize = 4;
/// Temperature of the probability that a file is the right one, by its score.
const FILE_TEMPERATURE: f64 = 0.5;
/// Worth of the row of a file, compared with all its wanted lines.
const ROW: f64 = 1.0;
/// Fewer bytes than this do not make a region worth more, because one line seldom answers.
const LEAST_COST: usize = 300;
/// Estimated bytes of a row or heading.
const HEADING: usize = 90;

/// Weights of a region's features: the logarithm of how much more probable it is as the right one
/// of its file (specs/ranking.md).
const MEANING: f64 = 4.0;
const NAME_MEANING: f64 = 2.6;
const WORDS: f64 = 4.5;
const NAMES: f64 = 3.6;
/// The share of its own name that the question holds.
const NAME_PRECISION: f64 = 1.0;
const CHUNK: f64 = 0.3;
/// The logarithm of its bytes: the shortest functions seldom do what is asked.
const LENGTH: f64 = 0.33;
const DEFINES: f64 = 2.0;
/// The definition that the question names is the best region, whatever else its file holds.
const DEFINITION: f64 = 100.0;
const CONSTANT: f64 = -1.7;
/// A type without its functions.
const TYPE: f64 = -0.5;
/// Code between definitions, such as imports and the comment of a file.
const BETWEEN: f64 = -3.0;
/// Worth of a comment line, compared with a line of code.
const COMMENT: f64 = 0.3;
/// A row is worth at least this, so that a sure file does not hide the others.
const LEAST_ROW: f64 = 0.02;
/// Each further region of a file is worth this share of what its probability says, because a
/// reader who has seen the others can guess it.
const LATER: f64 = 0.75;
/// A further place of a file ranks this far behind its best one, and in addition by the logarithm of how
/// much less probable it is.
const FURTHER_PLACE: f64 = -1.5;
const LESS: f64 = -0.8;
/// What the score of its best region counts for a file of which several rows are shown.
const BEST_REGION: f64 = 0.1;
/// A declaration without a body, and one whose implementation is among the results.
const STUB: f64 = -1.5;
const IMPLEMENTED: f64 = -6.0;
/// A region of the kind that the question describes, as in "the class that …".
const DESCRIBED: f64 = 1.0;
/// Part of a region's worth that its head has.
const HEAD: f64 = 0.15;
/// Text outside symbols is shown whole up to this many lines.
const WHOLE_TEXT: usize = 40;
/// Number of adjacent lines that a longer region shows at a time.
const WINDOW: usize = 20;
/// The best region of a result that costs at most this many bytes is shown before those below it.
const SHORT: usize = 1200;
/// Number of windows of a longer region. The next step shows all of it.
const MAX_WINDOWS: usize = 2;
/// A mark for this many missing lines costs about as much as the lines.
const GAP: usize = 3;

/// The code that a reply may show of some results.
#[derive(Debug, Default)]
pub struct Excerpts {
    /// By result, the best one first.
    regions: Vec<Vec<Shown>>,
    /// What a reply shows, in this order, until it is full.
    steps: Vec<Step>,
    /// How probable each result is, 0–1.
    of_row: Vec<f64>,
    asked: Asked,
}

#[derive(Debug)]
struct Shown {
    region: Region,
    /// The lines, by their indexes, in the order in which they are added.
    order: Vec<usize>,
    /// The number of lines after each step.
    ends: Vec<usize>,
}

/// One addition to a reply.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The worth of each of its bytes.
    ratio: f64,
    /// Estimated bytes.
    cost: usize,
    what: Addition,
}

#[derive(Debug, Clone, Copy)]
enum Addition {
    /// The row of the next result.
    Row,
    /// The next lines of a region of a result.
    Lines(usize, usize),
}

/// Lines of one region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub label: Label,
    /// First and last line of the symbol, or of the region if it has none.
    pub lines: (u32, u32),
    /// The lines to show, in order: number and text.
    pub shown: Vec<(u32, String)>,
}

impl Excerpts {
    /// Compares the code of `hits` with a question. `wanted` are its words.
    #[must_use]
    pub fn new<'h>(
        hits: impl Iterator<Item = &'h Hit>,
        question: &str,
        wanted: &mut QueryWords,
    ) -> Self {
        let hits: Vec<&Hit> = hits.collect();
        let mut compared = Compared::default();
        compared.add(hits.iter().copied(), question, wanted);
        Self::of(&hits, compared, wanted)
    }

    /// Selects the lines of `hits`, of which the best were compared.
    #[must_use]
    pub fn of(hits: &[&Hit], compared: Compared, wanted: &mut QueryWords) -> Self {
        let mut lowest = f64::MAX;
        let of_row = probabilities(hits);
        let asked = Asked { words: wanted.clone(), vector: compared.question.clone() };
        let mut excerpts = Self { of_row: of_row.clone(), asked, ..Self::default() };
        let of_rows = compared.by_row(hits);
        let of_file = |file: (usize, Arc<str>)| -> f64 {
            hits.iter().zip(&of_row).filter(|(hit, _)| hit.file() == file).map(|(_, p)| p).sum()
        };
        let mut steps: Vec<Vec<Step>> = Vec::new();
        for (i, (scored, p)) in of_rows.into_iter().zip(&of_row).enumerate() {
            lowest = lowest.min(ROW * p.max(LEAST_ROW) / HEADING as f64);
            let mut of_row = vec![Step { ratio: lowest, cost: HEADING, what: Addition::Row }];
            let mut all = Vec::new();
            let p = of_file(hits[i].file());
            for (n, Scored { region, share, rank }) in scored.into_iter().enumerate() {
                let worth = p * share * LATER.powi(rank);
                let (shown, ratios) = Shown::new(region, worth, lowest, wanted);
                of_row.extend(ratios.into_iter().map(|(ratio, cost)| Step {
                    ratio,
                    cost,
                    what: Addition::Lines(i, n),
                }));
                all.push(shown);
            }
            excerpts.regions.push(all);
            steps.push(of_row);
        }
        better_first(&mut steps);
        excerpts.steps = steps.into_iter().flatten().collect();
        // The sort is stable, so that a row comes before its lines and a head before its body.
        excerpts.steps.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        excerpts
    }

    /// Cuts long lines whose first word of the question lies beyond what a reply shows of a line, so that
    /// the word is seen.
    #[must_use]
    pub fn with_words_in_view(mut self, question: &str) -> Self {
        let mut words = None;
        let regions = self.regions.iter_mut().flatten().map(|shown| &mut shown.region);
        for (_, line) in regions.flat_map(|region| &mut region.lines) {
            if line.len() > MAX_LINE {
                let words = words.get_or_insert_with(|| Highlighter::new(question));
                if let Some(first) = words.ranges(line).first() {
                    let seen = cut_around(line, first.start, MAX_LINE);
                    if seen.starts_with('…') {
                        *line = seen;
                    }
                }
            }
        }
        self
    }

    /// Returns the best lines of a result, all of its best region. Lines that say nothing do not
    /// count for `n_lines`, and without any other line only the place is returned.
    #[must_use]
    pub fn best(&self, row: usize, n_lines: usize) -> Option<Excerpt> {
        let shown = self.regions.get(row)?.first()?;
        let order = shown.order.iter().copied();
        let lines: Vec<usize> = order.filter(|i| shown.region.says[*i]).collect();
        let fits = |n: usize| {
            let excerpt = shown.region.excerpt(lines[..n].to_vec());
            excerpt.shown.iter().filter(|(_, line)| says(line)).count() <= n_lines
        };
        let (mut n, mut too_many) = (0, n_lines.min(lines.len()) + 1);
        while too_many - n > 1 {
            let middle = usize::midpoint(n, too_many);
            if fits(middle) { n = middle } else { too_many = middle }
        }
        Some(shown.region.excerpt(lines[..n].to_vec()))
    }

    /// Returns what a screen of about `n_lines` lines shows of each of the first results: at least one line
    /// of each, and more of those that answer. `named` has, for each of them, the line that the question
    /// names, and whether a definition begins there.
    #[must_use]
    pub fn screen(&self, named: &[(Option<u32>, bool)], n_lines: usize) -> Vec<Vec<Excerpt>> {
        let rows = self.regions.iter().zip(&self.of_row).zip(named);
        let rows: Vec<_> = rows
            .map(|((of, p), named)| (of.iter().map(|of| &of.region).collect(), *p, *named))
            .collect();
        let chosen = screen::screen(&rows, &self.asked, n_lines).into_iter().enumerate();
        let excerpt = |row: usize, (nth, lines): (usize, Vec<usize>)| {
            self.regions[row][nth].region.excerpt(lines)
        };
        chosen.map(|(row, of)| of.into_iter().map(|of| excerpt(row, of)).collect()).collect()
    }

    /// Estimated bytes of everything that a reply can show.
    #[must_use]
    pub fn top(&self) -> usize {
        self.steps.iter().map(|step| step.cost).sum()
    }

    /// Returns the excerpts of each row in about `n_bytes`. What does not fit is left out, and what
    /// is worth less but fits is shown in its place. The first row is always there.
    #[must_use]
    pub fn at(&self, n_bytes: usize) -> Vec<Vec<Excerpt>> {
        let (mut left, mut n_rows, mut is_full) = (n_bytes, 0, false);
        // The number of steps of each region, and whether another one follows.
        let mut taken: BTreeMap<(usize, usize), (usize, bool)> = BTreeMap::new();
        for step in &self.steps {
            let fits = step.cost <= left;
            match step.what {
                Addition::Row => {
                    is_full |= !fits && n_rows > 0;
                    n_rows += usize::from(!is_full);
                    if is_full {
                        continue;
                    }
                }
                Addition::Lines(row, region) => {
                    let (n, goes_on) = taken.entry((row, region)).or_insert((0, true));
                    *goes_on &= fits && row < n_rows;
                    *n += usize::from(*goes_on);
                    if !*goes_on {
                        continue;
                    }
                }
            }
            left = left.saturating_sub(step.cost);
        }
        let mut rows: Vec<Vec<Excerpt>> = vec![Vec::new(); n_rows];
        for ((row, region), (n, _)) in taken.into_iter().filter(|(_, (n, _))| *n > 0) {
            let shown = &self.regions[row][region];
            rows[row].push(shown.region.excerpt(shown.order[..shown.ends[n - 1]].to_vec()));
        }
        rows
    }
}

/// Moves the first lines of a better result before those of a worse one, if they are short or not
/// longer, so that no short function is only named while others below it are printed.
fn better_first(rows: &mut [Vec<Step>]) {
    let mut below: Vec<(usize, f64)> = Vec::new();
    for row in rows.iter_mut().rev() {
        let Some(first) = row.get_mut(1) else { continue };
        let longer = below.iter().filter(|(cost, _)| first.cost <= SHORT.max(*cost));
        first.ratio = longer.map(|(_, ratio)| *ratio).fold(first.ratio, f64::max);
        below.push((first.cost, first.ratio));
    }
}

impl Shown {
    /// Decides in which order the lines of a region are added, and returns for each step what each
    /// of its bytes is worth, and its bytes. A symbol that is not long, and a text that is not, is
    /// one step. Of others, the first step is the head with the window that answers best, and the
    /// last step is all that is left.
    fn new(
        region: Region,
        worth: f64,
        limit: f64,
        wanted: &mut QueryWords,
    ) -> (Self, Vec<(f64, usize)>) {
        let pieces = region.pieces();
        let weights: Vec<f64> = pieces.iter().map(|r| weight(&region, r, wanted)).collect();
        let bytes = |i: usize| if region.says[i] { region.lines[i].1.len() + 1 } else { 0 };
        let cost = |lines: &[usize]| lines.iter().map(|i| bytes(*i)).sum::<usize>();
        let sum: f64 = weights.iter().sum::<f64>().max(1e-9);
        let share = |i: usize| (1.0 - HEAD) * weights[i] / sum + if i == 0 { HEAD } else { 0.0 };
        let ratio =
            |i: &usize| share(*i) / (1 + cost(&pieces[*i].clone().collect::<Vec<_>>())) as f64;
        let mut best: Vec<usize> = (1..pieces.len()).collect();
        best.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)).then(a.cmp(b)));
        let n_lines = region.lines.len() - region.signature;
        let is_symbol = region.label.lines.is_some() && !region.is_section();
        let whole = if is_symbol { WHOLE as usize } else { WHOLE_TEXT };
        let is_short = n_lines <= whole;
        let mut is_free = vec![true; pieces.len()];
        let mut best = best.into_iter();
        let (mut window, mut lowest, mut extra) = (vec![0], limit, HEADING);
        let (mut order, mut ends, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let most = if is_short || ends.len() == MAX_WINDOWS { usize::MAX } else { WINDOW };
            while let Some(seed) = best.find(|i| is_free[*i]) {
                window.extend(grown(seed, &pieces, &mut is_free, most, ratio));
                if most == WINDOW {
                    break;
                }
            }
            if window.is_empty() {
                return (Self { region, order, ends }, ratios);
            }
            let worth = worth * window.iter().map(|i| share(*i)).sum::<f64>();
            let before = order.len();
            order.extend(window.drain(..).flat_map(|i| pieces[i].clone()));
            if most == WINDOW {
                let around = region.enclosing(&order[before..]);
                order.extend(around.into_iter().filter(|i| !order.contains(i)).collect::<Vec<_>>());
            }
            let cost = extra + cost(&order[before..]);
            lowest = lowest.min(worth / cost.max(LEAST_COST) as f64);
            ratios.push((lowest, cost));
            ends.push(order.len());
            extra = 0;
        }
    }
}

impl Region {
    /// Returns lines of the region, by their indexes, as windows that begin and end with lines that
    /// say something. Windows that are close to each other become one.
    fn excerpt(&self, mut wanted: Vec<usize>) -> Excerpt {
        let lines = &self.lines;
        let says = |i: &usize| self.says[*i];
        wanted.retain(says);
        wanted.sort_unstable();
        wanted.dedup();
        let n_says = |range: Range<usize>| range.filter(says).count();
        let mut shown: Vec<usize> = Vec::new();
        for i in wanted {
            match shown.last() {
                Some(last) if i - last <= 1 || n_says(last + 1..i) <= GAP => {
                    shown.extend(last + 1..=i);
                }
                _ => shown.push(i),
            }
        }
        if shown.iter().filter(|i| says(i)).count() == n_says(0..lines.len()) {
            shown = (0..lines.len()).collect();
        }
        let shown: Vec<Line> = shown.into_iter().map(|i| lines[i].clone()).collect();
        // Lines between them may be those of another symbol.
        let windows: Vec<&[Line]> = shown.chunk_by(|a, b| a.0 + 1 == b.0).collect();
        let shown = match &*windows {
            [_] => shown,
            _ => windows.into_iter().flat_map(without_idle_ends).cloned().collect(),
        };
        Excerpt { label: self.label.clone(), lines: self.place(), shown }
    }
}

/// Returns lines without those at both ends that say nothing.
fn without_idle_ends(lines: &[Line]) -> &[Line] {
    let first = lines.iter().position(|(_, line)| says(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|(_, line)| says(line)).map_or(first, |i| i + 1);
    &lines[first..last]
}

/// A region of a file.
struct Scored {
    region: Region,
    /// The probability that it is the right one of its file.
    share: f64,
    /// Number of better regions of its file.
    rank: i32,
}

/// The places of a file, best first. The parts of one symbol are one place.
#[derive(Default)]
struct Places {
    places: Vec<Vec<Scored>>,
    /// The score of the best region; `None` without regions.
    best: Option<f64>,
}

/// A file, and the line of it that the question names.
type Key = ((usize, Arc<str>), Option<u32>);

/// The code of files, compared with a question.
#[derive(Default)]
pub struct Compared {
    /// By file, and the line that the question names.
    files: BTreeMap<Key, Places>,
    /// Names of functions of these files that have a body.
    done: BTreeSet<String>,
    /// The vector of the question.
    question: Vec<f32>,
}

impl Compared {
    /// Compares the code of the best of some results, as far as it is not known yet. `wanted` are the
    /// words of the question.
    pub fn add<'h>(
        &mut self,
        hits: impl Iterator<Item = &'h Hit>,
        question: &str,
        wanted: &mut QueryWords,
    ) {
        let mut found: BTreeMap<Key, (Option<NamedLines>, Vec<Region>)> = BTreeMap::new();
        for hit in hits.take(MAX_FILES) {
            let key = (hit.file(), hit.line);
            if self.files.contains_key(&key) || found.contains_key(&key) {
                continue;
            }
            let chunk = |(entry, score): &(Arc<Entry>, f64)| Some((entry.chunk()?, *score));
            let parts: Vec<_> = hit.parts.iter().filter_map(chunk).collect();
            let named = hit.definition.zip(hit.line);
            let mut of_file = match hit.line.filter(|_| named.is_none()) {
                Some(line) => around(&parts, line).into_iter().collect(),
                None => regions(&parts, named),
            };
            // A field or a constant has no region of its own.
            let lacks = named.filter(|of| !of_file.iter().any(|region| region.is_named(*of)));
            if let Some(mut region) = lacks.and_then(|(_, line)| around(&parts, line)) {
                region.label.lines = hit.definition;
                of_file.insert(0, region);
            }
            found.insert(key, (named, of_file));
        }
        if found.is_empty() {
            return;
        }
        let model = StaticModel::bundled();
        let of_question = model.encode(question);
        self.question.clone_from(&of_question);
        let described = Described::new(question);
        let done = found.values().flat_map(|of| &of.1).filter(|region| region.is_done());
        self.done.extend(done.map(|region| region.short_name().to_string()));
        let mut score = |region: &Region| {
            let gives_way = region.is_stub && self.done.contains(region.short_name());
            described.score(region)
                + region_score(region, &model, &of_question, wanted)
                + if gives_way { IMPLEMENTED } else { 0.0 }
        };
        self.files.extend(found.into_iter().map(|(key, (named, regions))| {
            let named = |region: &Region| {
                let is_it = named.is_some_and(|lines| region.is_named(lines));
                if is_it { DEFINITION } else { 0.0 }
            };
            let scores: Vec<f64> = regions.iter().map(|r| score(r) + named(r)).collect();
            (key, places(regions, &scores))
        }));
    }

    /// Returns the rows of an answer, best first. What a place shows that the question names is not
    /// shown again. If the question is about functions and not about files, the best files have
    /// further rows: a row ranks as its file does, less what makes its place less probable than
    /// the best one. A row below the last result is left out if `is_cut`: other files may be
    /// between them.
    #[must_use]
    pub fn rows(&mut self, mut hits: Vec<Hit>, wants_places: bool, is_cut: bool) -> Vec<Hit> {
        let named = hits.iter().filter_map(|hit| Some((hit.file(), hit.line?)));
        let mut repeated = BTreeSet::new();
        for (file, line) in named.collect::<Vec<_>>() {
            if let Some(Places { places, .. }) = self.files.get_mut(&(file.clone(), None)) {
                places.retain(|place| !place.iter().any(|part| part.region.holds(line)));
                repeated.extend(places.is_empty().then_some(file));
            }
        }
        hits.retain(|hit| hit.line.is_some() || !repeated.contains(&hit.file()));
        let lowest = hits.last().filter(|_| is_cut).map_or(f64::MIN, |hit| hit.score);
        if wants_places {
            self.raise(&mut hits);
        }
        let files = hits.iter().filter(|hit| wants_places && hit.line.is_none()).take(MAX_SPREAD);
        let rows = files.flat_map(|hit| self.further_rows(hit));
        let further: Vec<Hit> = rows.filter(|row| row.score >= lowest).collect();
        hits.extend(further);
        // The sort is stable: among equal scores the better file stays first.
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits
    }

    /// Raises each of the best files by how well its best region answers, in comparison with the others of
    /// them, so that their order alone can change. The places that a question names stay first. A test
    /// repeats what a question says of the code that it tests.
    fn raise(&self, hits: &mut [Hit]) {
        let best = |hit: &Hit| {
            let places = self.files.get(&(hit.file(), None)).filter(|_| !is_test_path(&hit.path));
            places.and_then(|of| of.best)
        };
        let first: Vec<usize> = (0..hits.len()).filter(|i| hits[*i].line.is_none()).collect();
        let first = &first[..first.len().min(MAX_SPREAD)];
        let of_regions: Vec<Option<f64>> = first.iter().map(|i| best(&hits[*i])).collect();
        let least = of_regions.iter().flatten().copied().fold(f64::MAX, f64::min);
        let mut most: f64 = 0.0;
        let add = |hit: &mut Hit, value: f64| {
            let term = Term { feature: "best_region", value, weight: BEST_REGION };
            hit.score += term.contribution();
            hit.terms.push(term);
        };
        for (i, best) in first.iter().zip(of_regions) {
            if let Some(value) = best.map(|best| best - least).filter(|value| *value > 0.0) {
                most = most.max(value);
                add(&mut hits[*i], value);
            }
        }
        for hit in hits.iter_mut().filter(|hit| hit.line.is_some() && most > 0.0) {
            add(hit, most);
        }
    }

    /// Returns the rows of the second and further places of a file. Declarations without a body and
    /// code between definitions have none.
    fn further_rows(&self, hit: &Hit) -> Vec<Hit> {
        let places = self.files.get(&(hit.file(), hit.line)).map_or(&[][..], |of| &of.places);
        let share = |place: &[Scored]| place[0].share.max(f64::MIN_POSITIVE);
        let row = |(nth, place): (usize, &Vec<Scored>)| {
            let less = (share(&places[0]) / share(place)).ln();
            let behind = [("further_place", 1.0, FURTHER_PLACE), ("improbable_place", less, LESS)];
            let behind = behind.map(|(feature, value, weight)| Term { feature, value, weight });
            let score = hit.score + behind.iter().map(Term::contribution).sum::<f64>();
            let terms = hit.terms.iter().copied().chain(behind).collect();
            Hit { nth, score, terms, others: Vec::new(), ..hit.clone() }
        };
        let answers = |(_, place): &(usize, &Vec<Scored>)| {
            place.iter().any(|part| !part.region.is_stub && !part.region.is_between)
        };
        places.iter().enumerate().take(MAX_ROWS).skip(1).filter(answers).map(row).collect()
    }

    /// Returns the regions of each row, best first. The first row of a file has all regions but those
    /// of its other rows.
    fn by_row(mut self, hits: &[&Hit]) -> Vec<Vec<Scored>> {
        let mut rows: Vec<Vec<Scored>> = Vec::new();
        rows.resize_with(hits.len(), Vec::new);
        let mut of_file: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (i, hit) in hits.iter().enumerate() {
            of_file.entry((hit.file(), hit.line)).or_default().push(i);
        }
        for (key, of_file) in of_file {
            for (nth, place) in
                self.files.remove(&key).unwrap_or_default().places.into_iter().enumerate()
            {
                let own = of_file.iter().find(|row| hits[**row].nth == nth);
                if let Some(row) = own.or(of_file.first()) {
                    rows[*row].extend(place);
                }
            }
        }
        rows
    }
}

/// Returns the places of a file of which the regions have these scores.
fn places(regions: Vec<Region>, scores: &[f64]) -> Places {
    let mut scored: Vec<Scored> = regions
        .into_iter()
        .zip(softmax(scores))
        .map(|(region, share)| Scored { region, share, rank: 0 })
        .collect();
    // The sort is stable: of equals the first in the file comes first.
    scored.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut places: Vec<Vec<Scored>> = Vec::new();
    for (rank, scored) in (0..).zip(with_whole_types(scored)) {
        let scored = Scored { rank, ..scored };
        let same = |place: &&mut Vec<Scored>| place[0].region.label == scored.region.label;
        match places.iter_mut().find(same) {
            Some(place) => place.push(scored),
            None => places.push(vec![scored]),
        }
    }
    for place in &mut places {
        name_whole_section(place);
    }
    Places { places, best: scores.iter().copied().reduce(f64::max) }
}

/// Gives the parts of a section the lines of the section, as far as they are known.
fn name_whole_section(place: &mut [Scored]) {
    let lines = |part: &Scored| part.region.place();
    let (first, last) = (
        place.iter().map(|part| lines(part).0).min(),
        place.iter().map(|part| lines(part).1).max(),
    );
    for part in place.iter_mut().filter(|part| part.region.is_section()) {
        part.region.label.lines = first.zip(last);
    }
}

/// Joins the functions of a short type with it if the type itself is the best of its file. Otherwise
/// its functions are shown alone, because its other lines would show it in part.
fn with_whole_types(scored: Vec<Scored>) -> Vec<Scored> {
    let lines = |scored: &Scored| scored.region.label.lines;
    let places: Vec<(u32, u32)> = scored.iter().filter_map(lines).collect();
    let is_in = |a: (u32, u32), b: (u32, u32)| a != b && b.0 <= a.0 && a.1 <= b.1;
    let in_part = |scored: &Scored| {
        lines(scored).filter(|of_type| {
            scored.region.is_short_type() && places.iter().any(|place| is_in(*place, *of_type))
        })
    };
    let best = scored.first().and_then(in_part);
    let is_of_best = |s: &Scored| best.zip(lines(s)).is_some_and(|(b, s)| s == b || is_in(s, b));
    let (of_best, others): (Vec<Scored>, Vec<Scored>) = scored.into_iter().partition(is_of_best);
    let whole = of_best.into_iter().reduce(|mut whole, part| {
        whole.region.join(&part.region);
        Scored { share: whole.share + part.share, ..whole }
    });
    whole.into_iter().chain(others.into_iter().filter(|s| in_part(s).is_none())).collect()
}

/// Returns the probability of each file that it is the right one.
fn probabilities(hits: &[&Hit]) -> Vec<f64> {
    softmax(&hits.iter().map(|hit| hit.score / FILE_TEMPERATURE).collect::<Vec<_>>())
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    let all: Vec<f64> = scores.iter().map(|s| (s - best).exp()).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|x| x / sum).collect()
}

/// Scores a region by its code. Its comments do not count: a region with many comments holds more
/// words of any question, and it was chosen in place of the right one more often than not.
fn region_score(
    region: &Region,
    model: &StaticModel,
    of_question: &[f32],
    wanted: &mut QueryWords,
) -> f64 {
    let cosine = |text: &str| -> f64 {
        let vector = model.encode(text);
        f64::from(vector.iter().zip(of_question).map(|(a, b)| a * b).sum::<f32>())
    };
    let name = &region.label.name;
    let code = region.code();
    MEANING * cosine(&code)
        + NAME_MEANING * cosine(&search_words(name).join(" "))
        + WORDS * wanted.share_in(&code)
        + NAMES * wanted.share_in(name)
        + NAME_PRECISION * wanted.precision_of(name)
        + CHUNK * region.score
        + LENGTH * (code.len() as f64).ln_1p()
        + if wanted.names(name) { DEFINES } else { 0.0 }
        + if region.label.kind == "constant" { CONSTANT } else { 0.0 }
        + if regions::is_type(&region.label.kind) { TYPE } else { 0.0 }
        + if region.is_between { BETWEEN } else { 0.0 }
        + if region.is_stub { STUB } else { 0.0 }
}

/// Returns what lines of a region are worth: lines of code, and those with words of the question.
fn weight(region: &Region, lines: &Range<usize>, wanted: &mut QueryWords) -> f64 {
    let text: Vec<&str> = region.lines[lines.clone()].iter().map(|l| l.1.as_str()).collect();
    let comments = region.comments[lines.clone()].iter().filter(|c| **c).count() as f64;
    let n = lines.len() as f64 - (1.0 - COMMENT) * comments;
    n * (0.15 + wanted.share_in(&text.join("\n")))
}

/// Returns a piece and the free ones next to it, the better neighbour first, up to `most` lines.
/// They are free no more. The head, the first piece, is next to none.
fn grown(
    seed: usize,
    pieces: &[Range<usize>],
    is_free: &mut [bool],
    most: usize,
    ratio: impl Fn(&usize) -> f64,
) -> Vec<usize> {
    let (mut first, mut last, mut n) = (seed, seed, pieces[seed].len());
    let mut window = vec![seed];
    is_free[seed] = false;
    loop {
        let fits = |i: &usize| {
            *i > 0 && is_free.get(*i) == Some(&true) && n.saturating_add(pieces[*i].len()) <= most
        };
        let sides = [first - 1, last + 1];
        let next = sides.into_iter().filter(fits).max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let Some(next) = next else { return window };
        (first, last, n) = (first.min(next), last.max(next), n + pieces[next].len());
        is_free[next] = false;
        window.push(next);
    }
}

/// The kind of definition that a question describes: "the class that …", "function which …".
struct Described(Option<fn(&str) -> bool>);

impl Described {
    fn new(question: &str) -> Self {
        let lower = question.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().take(5).collect();
        let that = words.iter().position(|word| ["that", "which", "who", "whose"].contains(word));
        let noun = that.and_then(|at| words.get(at.checked_sub(1)?)).copied().unwrap_or_default();
        Self(match noun {
            "function" | "method" | "macro" | "helper" | "procedure" | "handler" => {
                Some(is_callable)
            }
            "class" | "struct" | "type" | "trait" | "interface" | "enum" | "iterator" | "model"
            | "object" | "wrapper" | "exception" | "error" => Some(regions::is_type),
            _ => None,
        })
    }

    fn score(&self, region: &Region) -> f64 {
        self.0.map_or(0.0, |is_it| if is_it(&region.label.kind) { DESCRIBED } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chunk::{Chunk, ChunkType, Metadata, Name};

    fn chunk(first: u32, names: &[(&str, u32, u32)], comments: &[(u32, u32)], text: &str) -> Chunk {
        let name = |(name, start_line, end_line): &(&str, u32, u32)| Name {
            name: (*name).into(),
            kind: "function".into(),
            start_line: *start_line,
            end_line: *end_line,
            ..Name::default()
        };
        Chunk {
            metadata: Metadata {
                file_path: Some("src/tank.rs".into()),
                start_line: Some(first),
                names: names.iter().map(name).collect(),
                comment_lines: comments.to_vec(),
                ..Metadata::default()
            },
            ..Chunk::new(format!("src/tank.rs#{first}"), ChunkType::Definitions, text)
        }
    }

    fn hit(parts: &[Arc<Chunk>]) -> Hit {
        Hit {
            part: 0,
            path: "src/tank.rs".into(),
            chunk: parts[0].clone(),
            lines: None,
            line: None,
            definition: None,
            note: None,
            nth: 0,
            parts: parts.iter().map(|c| (Arc::new(c.clone().into()), 1.0)).collect(),
            others: Vec::new(),
            score: 1.0,
            terms: Vec::new(),
            changed_by: None,
            coverage: 1.0,
        }
    }

    fn labels(hits: &[Hit], question: &str) -> Vec<Option<String>> {
        let excerpts = Excerpts::new(hits.iter(), question, &mut QueryWords::of_words(question));
        (0..hits.len()).map(|i| excerpts.best(i, 0).map(|best| best.label.name)).collect()
    }

    #[test]
    fn a_second_row_of_a_file_shows_another_function() {
        let text = "fn drain() {\n    open_valve();\n}\nfn fill() {\n    close_valve();\n}";
        let both = Arc::new(chunk(1, &[("drain", 1, 3), ("fill", 4, 6)], &[], text));
        let found = hit(&[both]);
        let mut wanted = QueryWords::of_words("drain");
        let mut compared = Compared::default();
        compared.add([&found].into_iter(), "drain", &mut wanted);
        let rows = compared.rows(vec![found], true, false);
        assert_eq!(labels(&rows, "drain"), [Some("drain".into()), Some("fill".into())]);
        let terms = rows[1].terms.iter().map(Term::contribution).sum::<f64>();
        assert!((rows[0].score + terms - rows[1].score).abs() < 1e-9, "{:?}", rows[1].terms);
    }

    #[test]
    fn of_the_first_files_the_one_whose_function_answers_comes_first_and_no_test() {
        let file = |path: &str, score: f64, text: &str| {
            let mut of = chunk(1, &[("f", 1, 3)], &[], text);
            of.metadata.file_path = Some(path.into());
            Hit { path: path.into(), score, ..hit(&[Arc::new(of)]) }
        };
        let right = "fn f() {\n    drain_water_when_the_lid_is_open();\n}";
        let wrong = "fn f() {\n    let kettle = 1;\n}";
        let hits = vec![
            file("src/a.rs", 1.02, wrong),
            file("tests/b.rs", 1.01, right),
            file("src/c.rs", 1.0, right),
        ];
        let first = |wants_places: bool| {
            let question = "drain the water when the lid is open";
            let mut compared = Compared::default();
            compared.add(hits.iter(), question, &mut QueryWords::of_words(question));
            let rows = compared.rows(hits.clone(), wants_places, false);
            rows.iter().map(|row| row.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(first(true), ["src/c.rs", "src/a.rs", "tests/b.rs"]);
        assert_eq!(first(false), ["src/a.rs", "tests/b.rs", "src/c.rs"]);
    }

    #[test]
    fn a_section_has_the_lines_of_all_its_parts() {
        let part = |first: u32, text: &str| {
            let mut of = chunk(first, &[], &[], text);
            of.chunk_type = ChunkType::Documentation;
            of.metadata.symbol = Some("Kettle > Lid".into());
            Arc::new(of)
        };
        let both = [part(3, "The lid opens.\nIt closes."), part(6, "Water boils.\nIt cools.")];
        let rows = [hit(&both)];
        let question = "when does water boil";
        let excerpts = Excerpts::new(rows.iter(), question, &mut QueryWords::of_words(question));
        let best = excerpts.best(0, 9).unwrap();
        assert_eq!((best.label.name.as_str(), best.lines), ("Kettle > Lid", (3, 7)));
        assert!(best.shown.iter().all(|(line, _)| *line >= 6), "{:?}", best.shown);
    }

    /// Returns the lines that a reply shows of a file, if all fit that are worth `n_bytes`.
    fn shown(
        text: &str,
        names: &[(&str, u32, u32)],
        question: &str,
        n_bytes: usize,
    ) -> Vec<String> {
        let rows = [hit(&[Arc::new(chunk(1, names, &[], text))])];
        let mut wanted = QueryWords::of_words(question);
        let excerpts = Excerpts::new(rows.iter(), question, &mut wanted).at(n_bytes);
        excerpts.into_iter().flatten().flat_map(|e| e.shown).map(|(_, line)| line).collect()
    }

    fn steps(indent: usize, n: usize) -> String {
        (0..n).fold(String::new(), |text, i| format!("{text}{:indent$}step_{i}();\n", ""))
    }

    #[test]
    fn no_part_of_a_short_function_is_shown() {
        let text = format!("fn fill() {{\n{}    open_valve();\n}}", steps(4, 57));
        let names = [("fill", 1, 60)];
        let n_lines = |n_bytes| shown(&text, &names, "open the valve", n_bytes).len();
        assert!((100..2000).step_by(100).all(|n| [0, 60].contains(&n_lines(n))));
        assert_eq!((n_lines(100), n_lines(2000)), (0, 60));
    }

    #[test]
    fn no_block_is_shown_without_its_header_and_no_else_alone() {
        let text = format!(
            "fn fill() {{\n{}    for tank in tanks {{\n{}        if tank.is_full() {{\n{}        }} else {{\n{}            open_valve();\n        }}\n    }}\n}}",
            steps(4, 40),
            steps(8, 40),
            steps(12, 40),
            steps(12, 40),
        );
        let last = u32::try_from(text.lines().count()).unwrap();
        let lines = shown(&text, &[("fill", 1, last)], "open the valve", 900);
        let at = |wanted: &str| lines.iter().position(|line| line.trim() == wanted);
        let headers = ["fn fill() {", "for tank in tanks {", "if tank.is_full() {", "} else {"];
        let places: Vec<Option<usize>> = headers.map(at).to_vec();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{lines:#?}");
        assert_eq!(lines[places[3].unwrap() + 1].trim(), "step_0();");
        assert!(at("open_valve();").is_some() && lines.len() < 60, "{lines:#?}");
    }

    #[test]
    fn a_hit_without_a_visible_connection_is_not_evident() {
        let text = "fn stop() {}\n";
        let weak = Hit { coverage: 0.0, ..hit(&[Arc::new(chunk(1, &[], &[], text))]) };
        let with = |feature, value| Hit {
            terms: vec![crate::search::Term { feature, value, weight: 1.0 }],
            ..weak.clone()
        };
        assert!(!weak.is_evident(1.0) && !with("meaning", 0.4).is_evident(1.0));
        assert!(with("meaning", 0.6).is_evident(1.0) && with("path", 1.0).is_evident(1.0));
    }

    #[test]
    fn a_comment_does_not_make_a_function_the_answer() {
        let text = "/// Not for the case that the level of the water rises.\nfn other() {\n    stop();\n}\nfn pump() {\n    watch(water.level);\n}";
        let chunk = chunk(1, &[("other", 1, 4), ("pump", 5, 7)], &[(1, 1)], text);
        let rows = [hit(&[Arc::new(chunk)])];
        assert_eq!(labels(&rows, "the level of the water rises"), [Some("pump".into())]);
    }
}
