//! Publishes a repository: what changed since the last generation is stored, and then one record says
//! that the next generation is there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use cortex_depot::{At, Depot, Fact, FactName, Record, Row};
use rayon::prelude::*;

use super::stored::{
    COUNTS, FILE, Lease, NAME_BLOCKS, NAMES, Pack, RepositoryManifest, SKETCH, Segment, USES, Uses,
    WithVector, commit, compressed, key, pack, unpack,
};
use super::{Result, TeamError, repositories};
use crate::search::{
    Corpus, NameBlock, PreparedFile, Preparer, SearchRow, Sketch, Whole, WordCounts,
};

/// How long a publisher may be silent before another one takes over, in seconds.
const LEASE: i64 = 60;
/// Number of changes of counts that are kept beside the counts of all files.
const MAX_SEGMENTS: usize = 16;
/// Most words of a sketch. A server holds those of all repositories: 24 KB each.
const SKETCHED: usize = 4_000;
/// Number of published commits that a record names.
const MAX_COMMITS: usize = 32;
/// Words in one block of counts, about.
const WORDS_PER_BLOCK: usize = 512;
/// Rows that are stored in one call.
const BATCH: usize = 2_000;

/// What is published.
pub struct Publication<'a> {
    pub name: &'a str,
    pub commit: &'a str,
    pub embedder: &'a str,
    pub corpus: &'a Corpus,
    /// Who publishes, for people.
    pub who: &'a str,
}

/// What a publication did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Published {
    pub generation: u64,
    /// Files and commits that were stored.
    pub stored: usize,
    /// Files and commits that are gone or were replaced.
    pub retired: usize,
    /// Files and commits of the generation.
    pub all: usize,
    /// Rows that were stored: one for each chunk.
    pub rows: usize,
    /// Bytes of facts that were stored.
    pub bytes: u64,
    /// Rows and facts of old generations that were removed.
    pub collected: u64,
}

/// Publishes to one depot.
pub struct Publisher<'a> {
    depot: &'a dyn Depot,
    /// Returns the seconds since 1970.
    clock: &'a dyn Fn() -> i64,
    /// Is told how many files of how many are stored.
    progress: &'a dyn Fn(usize, usize),
}

/// A file or a commit of the corpus that is published.
struct Item {
    path: Arc<str>,
    data: Vec<u8>,
    hash: i64,
    is_commit: bool,
}

impl Item {
    fn name(&self) -> FactName {
        FactName { kind: FILE, key: key(&self.path) }
    }

    fn chunks(&self, name: &str) -> Result<Vec<WithVector>> {
        chunks(&self.data, name)
    }
}

/// Unpacks the chunks of a stored file.
fn chunks(data: &[u8], name: &str) -> Result<Vec<WithVector>> {
    let chunks = unpack::<Pack>(data).and_then(|pack| pack.chunks());
    chunks.ok_or_else(|| TeamError::Damaged("a file", name.into()))
}

/// The right to publish, as long as it is renewed.
struct Held<'a> {
    publisher: &'a Publisher<'a>,
    record: Record,
    manifest: RepositoryManifest,
    lease: Lease,
}

impl Held<'_> {
    /// Stores a manifest in the place of the one that this publisher stored last.
    fn store(&mut self, manifest: RepositoryManifest) -> Result<()> {
        let version = self.record.version + 1;
        let record = Record { version, text: manifest.text(), ..self.record.clone() };
        if !self.publisher.depot.replace(&record)? {
            return Err(TeamError::Lost);
        }
        (self.record, self.manifest) = (record, manifest);
        Ok(())
    }

    /// Returns the last generation that is whole where this publisher stores.
    fn before(&self, name: &str) -> At {
        self.manifest.before(&self.lease, name)
    }

    /// Keeps the right if a third of its time is over. A publisher that lost it finds that out here, or
    /// at last when it stores its manifest: what it stored until then is in no namespace of others.
    fn renew(&mut self) -> Result<()> {
        let now = (self.publisher.clock)();
        if self.lease.until - now > LEASE * 2 / 3 {
            return Ok(());
        }
        self.lease.until = now + LEASE;
        let manifest =
            RepositoryManifest { lease: Some(self.lease.clone()), ..self.manifest.clone() };
        self.store(manifest)
    }
}

impl<'a> Publisher<'a> {
    /// Creates a publisher. `clock` returns the seconds since 1970; `progress` is told how many files
    /// of how many are stored.
    #[must_use]
    pub fn new(
        depot: &'a dyn Depot,
        clock: &'a dyn Fn() -> i64,
        progress: &'a dyn Fn(usize, usize),
    ) -> Self {
        Self { depot, clock, progress }
    }

    /// Publishes a corpus as the next generation of a repository, unless nothing changed. What is not
    /// finished is not seen, and the next publication removes it.
    ///
    /// # Errors
    /// When another publisher is at work, what is stored was made by another embedder or version, or
    /// the depot fails.
    pub fn publish(&self, of: &Publication) -> Result<Published> {
        let whole = of.corpus.whole();
        self.depot.prepare(whole.dimensions as usize)?;
        let items = items(of.corpus);
        let mut held = self.hold(of)?;
        let done = self.publish_held(of, &items, &whole, &mut held);
        match done {
            Ok(mut done) => {
                let (manifest, now) = (&held.manifest, (self.clock)());
                done.collected = repositories::collect_one(self.depot, of.name, manifest, now)?;
                return Ok(done);
            }
            // The one that took over does not use what this one stored.
            Err(TeamError::Lost) => drop(self.depot.undo(held.before(of.name))),
            // The next one need not wait. If this fails, too, it waits for the end of the lease.
            Err(_) => {
                let lease = Some(Lease { until: 0, ..held.lease.clone() });
                let _ = held.store(RepositoryManifest { lease, ..held.manifest.clone() });
            }
        }
        done
    }

    /// Takes the right to publish.
    fn hold(&self, of: &Publication) -> Result<Held<'_>> {
        let name = of.name.to_string();
        let record = self.depot.records(Some(std::slice::from_ref(&name)))?.pop();
        let record = record.unwrap_or(Record { name, version: 0, text: String::new() });
        let mut manifest = if record.version == 0 {
            RepositoryManifest::new(of.embedder)
        } else {
            RepositoryManifest::read(of.name, &record.text)?
        };
        if manifest.embedder != of.embedder {
            return Err(TeamError::Other {
                name: of.name.into(),
                found: format!("vectors of {}", manifest.embedder),
                ours: format!("a project with those of {}", of.embedder),
            });
        }
        let now = (self.clock)();
        let interrupted = manifest.lease.take();
        if let Some(lease) = interrupted.as_ref().filter(|lease| lease.until > now) {
            return Err(TeamError::Busy {
                name: of.name.into(),
                who: lease.who.clone(),
                seconds: lease.until.saturating_sub(now),
            });
        }
        let goes_on = manifest.generation > 0 && interrupted.is_none();
        let namespace = if goes_on { manifest.namespace } else { fastrand::u64(..) };
        if let Some(lease) = interrupted.filter(|lease| lease.namespace != manifest.namespace) {
            manifest.leave(lease.namespace, now, false);
        }
        let lease = Lease { who: of.who.into(), namespace, until: now + LEASE };
        manifest.lease = Some(lease.clone());
        let mut held = Held { publisher: self, record, manifest: manifest.clone(), lease };
        held.store(manifest).map_err(|error| match error {
            TeamError::Lost => {
                TeamError::Busy { name: of.name.into(), who: "another one".into(), seconds: LEASE }
            }
            error => error,
        })?;
        Ok(held)
    }

    fn publish_held(
        &self,
        of: &Publication,
        items: &[Item],
        whole: &Whole,
        held: &mut Held,
    ) -> Result<Published> {
        let old = held.before(of.name);
        let new = At { generation: held.manifest.generation + 1, ..old };
        let stored: HashMap<FactName, i64> = self.depot.names(old, FILE)?.into_iter().collect();
        let changed: Vec<&Item> =
            items.iter().filter(|item| stored.get(&item.name()) != Some(&item.hash)).collect();
        let here: BTreeSet<FactName> = items.iter().map(Item::name).collect();
        let gone = stored.keys().filter(|name| !here.contains(name));
        let replaced = changed.iter().map(|item| item.name()).filter(|n| stored.contains_key(n));
        let retired: Vec<FactName> = gone.copied().chain(replaced).collect();
        let is_first = old.generation == 0;
        if changed.is_empty()
            && retired.is_empty()
            && held.manifest.commit == of.commit
            && !is_first
        {
            held.store(RepositoryManifest { lease: None, ..held.manifest.clone() })?;
            return Ok(Published {
                generation: old.generation,
                all: items.len(),
                ..Published::default()
            });
        }
        let mut done = Published {
            generation: new.generation,
            stored: changed.len(),
            retired: retired.len(),
            all: items.len(),
            ..Published::default()
        };
        let mut manifest = held.manifest.clone();
        if is_first {
            // The counts are in another namespace.
            manifest.counts.clear();
        }
        self.put_counts(of, held, items, &changed, &retired, &mut manifest, &mut done)?;
        let mut n_done = 0;
        // As many files as have about a batch of chunks.
        for files in changed.chunks(BATCH / 10) {
            let rows = |preparer: &mut Preparer, item: &&Item| {
                Ok(rows(preparer, item, item.chunks(of.name)?, whole))
            };
            let rows = files.par_iter().map_init(Preparer::default, rows);
            let rows: Vec<Vec<Row>> = rows.collect::<Result<_>>()?;
            let rows: Vec<Row> = rows.into_iter().flatten().collect();
            let fact = |item: &&Item| Fact {
                kind: FILE,
                key: key(&item.path),
                hash: item.hash,
                data: item.data.clone(),
            };
            let mut facts: Vec<Fact> = files.iter().map(fact).collect();
            for rows in rows.chunks(BATCH) {
                self.put(held, new, rows, &std::mem::take(&mut facts), &mut done)?;
            }
            self.put(held, new, &[], &facts, &mut done)?;
            n_done += files.len();
            (self.progress)(n_done, changed.len());
        }
        // It may have been stopped for longer than the lease lasts.
        held.renew()?;
        self.depot.retire(new, &retired)?;
        let at = (old, new);
        self.exchange(held, at, USES, uses(of.corpus), &mut done)?;
        self.exchange(held, at, NAMES, names(items, of.name)?, &mut done)?;
        let sketch = compressed(&Sketch::of(of.corpus)?.with(SKETCHED).bytes());
        self.exchange(held, at, SKETCH, BTreeMap::from([(0, sketch)]), &mut done)?;
        let now = (self.clock)();
        if manifest.namespace != held.lease.namespace && manifest.generation > 0 {
            manifest.leave(manifest.namespace, now, true);
        }
        manifest.namespace = held.lease.namespace;
        manifest.generation = new.generation;
        manifest.commit = of.commit.into();
        if !of.commit.is_empty() {
            manifest.commits.retain(|commit| commit != of.commit);
            manifest.commits.push(of.commit.into());
            if manifest.commits.len() > MAX_COMMITS {
                manifest.commits.remove(1);
            }
        }
        manifest.set_whole(whole);
        manifest.published.push((new.generation, now));
        let oldest = manifest.oldest_in_use(now);
        manifest.published.retain(|(generation, _)| *generation >= oldest);
        manifest.lease = None;
        held.store(manifest)?;
        Ok(done)
    }

    /// Stores rows and facts, as long as no other publisher took over.
    fn put(
        &self,
        held: &mut Held,
        at: At,
        rows: &[Row],
        facts: &[Fact],
        done: &mut Published,
    ) -> Result<()> {
        if rows.is_empty() && facts.is_empty() {
            return Ok(());
        }
        held.renew()?;
        done.rows += rows.len();
        done.bytes += facts.iter().map(|fact| fact.data.len() as u64).sum::<u64>();
        Ok(self.depot.insert(at, rows, facts)?)
    }

    /// Replaces the facts of one kind by others; those with equal hashes stay.
    fn exchange(
        &self,
        held: &mut Held,
        (old, new): (At, At),
        kind: u8,
        facts: BTreeMap<i64, (Vec<u8>, i64)>,
        done: &mut Published,
    ) -> Result<()> {
        let stored: BTreeMap<i64, i64> =
            self.depot.names(old, kind)?.into_iter().map(|(name, hash)| (name.key, hash)).collect();
        let is_other = |key: &i64| facts.get(key).map(|fact| fact.1) != stored.get(key).copied();
        let retired: Vec<FactName> = stored
            .keys()
            .filter(|key| is_other(key))
            .map(|key| FactName { kind, key: *key })
            .collect();
        let changed: BTreeSet<i64> = facts.keys().copied().filter(|key| is_other(key)).collect();
        let facts: Vec<Fact> = facts
            .into_iter()
            .filter(|(key, _)| changed.contains(key))
            .map(|(key, (data, hash))| Fact { kind, key, hash, data })
            .collect();
        self.put(held, new, &[], &facts, done)?;
        Ok(self.depot.retire(new, &retired)?)
    }

    /// Stores the counts of words: what changed, or from time to time all of them.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one publication")]
    fn put_counts(
        &self,
        of: &Publication,
        held: &mut Held,
        items: &[Item],
        changed: &[&Item],
        retired: &[FactName],
        manifest: &mut RepositoryManifest,
        done: &mut Published,
    ) -> Result<()> {
        let old = held.before(of.name);
        let new = At { generation: manifest.generation + 1, ..old };
        if changed.is_empty() && retired.is_empty() && !manifest.counts.is_empty() {
            return Ok(());
        }
        let anew = manifest.counts.is_empty()
            || manifest.counts.len() >= MAX_SEGMENTS
            || 4 * changed.len() > items.len();
        let counts = if anew {
            counts(items.iter().map(|item| (item.path.clone(), item.data.as_slice())), of.name)?
        } else {
            let mut sum = counts(
                changed.iter().map(|item| (item.path.clone(), item.data.as_slice())),
                of.name,
            )?;
            for names in retired.chunks(BATCH / 10) {
                held.renew()?;
                let keys: Vec<i64> = names.iter().map(|name| name.key).collect();
                let facts = self.depot.facts(old, FILE, &keys)?;
                if facts.len() != keys.len() {
                    return Err(TeamError::Damaged("a file", of.name.into()));
                }
                let path = |fact: &Fact| unpack::<Pack>(&fact.data).map(|pack| pack.path.into());
                let files = facts.iter().map(|fact| (path(fact).unwrap_or_default(), &*fact.data));
                sum.add(&counts(files, of.name)?, -1);
            }
            sum
        };
        let number = manifest.counts.last().map_or(0, |last| last.number + 1);
        let bits = (counts.len() / WORDS_PER_BLOCK).max(1).ilog2().min(16);
        let segment = Segment { number, bits };
        if anew {
            let names = self.depot.names(old, COUNTS)?.into_iter().map(|(name, _)| name);
            self.depot.retire(new, &names.collect::<Vec<_>>())?;
            manifest.counts.clear();
        }
        manifest.counts.push(segment);
        let fact = |(block, bytes): (usize, Vec<u8>)| {
            let (data, hash) = compressed(&bytes);
            Fact { kind: COUNTS, key: segment.key(block), hash, data }
        };
        let facts: Vec<Fact> = counts.blocks(bits).into_iter().enumerate().map(fact).collect();
        self.put(held, new, &[], &facts, done)
    }
}

/// Returns the files and the commits of a corpus.
fn items(corpus: &Corpus) -> Vec<Item> {
    let item = |path: &Arc<str>, chunks: &[WithVector], is_commit| {
        let (data, hash) = pack(&Pack::new(path, chunks));
        Item { path: path.clone(), data, hash, is_commit }
    };
    let files = PreparedFile::all_of(corpus);
    let files = files.par_iter().filter_map(|(path, slots)| {
        Some(item(path, &PreparedFile::chunks_of(corpus, slots)?, false))
    });
    let mut items: Vec<Item> = files.collect();
    let commits = corpus
        .chunks()
        .commits()
        .par_iter()
        .filter_map(|entry| Some(item(&entry.id, &[(entry.chunk()?, None)], true)));
    items.par_extend(commits);
    items
}

/// Counts the words of packed files and commits.
fn counts<'d>(files: impl Iterator<Item = (Arc<str>, &'d [u8])>, name: &str) -> Result<WordCounts> {
    let files: Vec<_> = files.collect();
    let of_some = |preparer: &mut Preparer, files: &[(Arc<str>, &[u8])]| {
        let mut counts = WordCounts::default();
        for (path, data) in files {
            let chunks = chunks(data, name)?;
            match commit(&chunks) {
                Some(commit) => counts.add_commit(preparer, commit),
                None => drop(counts.add_file(preparer, path, chunks)),
            }
        }
        Ok(counts)
    };
    let parts: Vec<WordCounts> =
        files.par_chunks(64).map_init(Preparer::default, of_some).collect::<Result<_>>()?;
    let mut sum = WordCounts::default();
    for part in &parts {
        sum.add(part, 1);
    }
    Ok(sum)
}

/// Returns by what the chunks of a file are found.
fn rows(preparer: &mut Preparer, item: &Item, chunks: Vec<WithVector>, whole: &Whole) -> Vec<Row> {
    let rows = match commit(&chunks) {
        Some(commit) => vec![preparer.commit_row(commit, &whole.size)],
        None => preparer.rows(&item.path, chunks, &whole.size),
    };
    let file = key(&item.path);
    let row = |SearchRow { words, vector, keys }| Row { file, words, vector, keys };
    rows.into_iter().map(row).collect()
}

/// Returns which files each file uses, packed, with its hash.
fn uses(corpus: &Corpus) -> BTreeMap<i64, (Vec<u8>, i64)> {
    let packed = |(path, files, has_header): (&str, Vec<&str>, bool)| {
        let uses = Uses { files: files.into_iter().map(key).collect(), has_header };
        (uses != Uses::default()).then(|| (key(path), pack(&uses)))
    };
    corpus.relations().filter_map(packed).collect()
}

/// Returns the names of all files, in blocks, packed, with their hashes.
fn names(items: &[Item], name: &str) -> Result<BTreeMap<i64, (Vec<u8>, i64)>> {
    let files = items.iter().filter(|item| !item.is_commit);
    let chunks: Vec<WithVector> = files
        .map(|item| item.chunks(name))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let blocks = NameBlock::of(chunks.iter().map(|(chunk, _)| &**chunk), NAME_BLOCKS);
    Ok((0..).zip(blocks.iter().map(|block| compressed(&block.bytes()))).collect())
}
