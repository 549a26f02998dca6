//! The approximate tier: an HNSW graph over the rows at the time of its build.
//! Nothing is inserted into it or deleted from it; [`super::VectorTable`] knows which of its
//! answers are stale.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use instant_distance::{Builder, Search};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::super::Slot;
use super::scan::{QuantizedRow, QuantizedRows, QueryVector, RowBatch};

/// Number of vectors that a query finds. Recall and time grow with it: `specs/vector-search.md`.
const FOUND: usize = 300;
/// Number of candidates from which a point chooses its neighbours during the build.
const CONSIDERED: usize = 200;
/// A fixed seed: equal rows give equal HNSW graphs.
const SEED: u64 = 7;
/// First bytes of a saved HNSW graph, followed by the checksum of the rest.
const MAGIC: [u8; 8] = *b"CXHNSW\x01\0";

/// An HNSW graph over the vectors of a table at one moment. It holds their rows while it lives, and
/// shares unchanged ones with the table.
pub struct Hnsw {
    hnsw: instant_distance::Hnsw<Point>,
    len: usize,
}

/// A point of an HNSW graph that answers queries. It is empty if its row was gone when the graph
/// was read; then it is far from every other point.
#[derive(Clone, Serialize, Deserialize)]
struct Point {
    #[serde(skip)]
    place: OnceLock<(Slot, Arc<RowBatch>)>,
}

/// A point during the build.
#[derive(Clone, Copy, Serialize)]
struct Raw<'a> {
    #[serde(skip)]
    row: QuantizedRow<'a>,
    #[serde(skip)]
    cancel: &'a AtomicBool,
}

/// The panic payload of a cancelled build.
struct Cancelled;

/// Greater than the distance of any two vectors.
const NOWHERE: f32 = 3.0;

fn distance(a: QuantizedRow, b: QuantizedRow) -> f32 {
    1.0 - a.cosine(b)
}

impl instant_distance::Point for Raw<'_> {
    fn distance(&self, other: &Self) -> f32 {
        if self.cancel.load(Ordering::Relaxed) {
            // Only a panic can abort a build; `resume_unwind` calls no panic hook.
            resume_unwind(Box::new(Cancelled));
        }
        distance(self.row, other.row)
    }
}

impl instant_distance::Point for Point {
    fn distance(&self, other: &Self) -> f32 {
        match (self.row(), other.row()) {
            (Some(a), Some(b)) => distance(a, b),
            _ => NOWHERE,
        }
    }
}

impl Point {
    fn row(&self) -> Option<QuantizedRow<'_>> {
        self.place.get().map(|(slot, block)| block.row(*slot))
    }
}

impl Hnsw {
    /// Builds the HNSW graph of these rows on one thread, which leaves the other cores to queries.
    /// It takes minutes per hundred thousand vectors. `None` if it was cancelled, or no thread
    /// could be started.
    pub(super) fn build(rows: &QuantizedRows, cancel: &AtomicBool) -> Option<Self> {
        let points: Vec<Raw> =
            rows.slots().filter_map(|s| Some(Raw { row: rows.get(s)?.1, cancel })).collect();
        let builder = Builder::default().seed(SEED).ef_construction(CONSIDERED).ef_search(FOUND);
        // With one thread, equal rows also give equal graphs.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
        let build = || pool.install(|| encode(&builder.build_hnsw(points).0, |p| Some(p.row)));
        let bytes = match catch_unwind(AssertUnwindSafe(build)) {
            Ok(bytes) => bytes?,
            Err(thrown) if thrown.is::<Cancelled>() => return None,
            Err(panic) => resume_unwind(panic),
        };
        // A built graph is read from its bytes like a saved one, so there is one code path.
        Self::from_bytes(&bytes, rows)
    }

    /// Returns the bytes to save: the links, and a fingerprint by which each row is found again.
    /// `None` if they cannot be serialised.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        encode(&self.hnsw, Point::row)
    }

    /// Reads the bytes of [`Hnsw::to_bytes`], over rows of which most are unchanged, in any slots.
    /// `None` if the bytes are not a valid HNSW graph.
    pub(super) fn from_bytes(bytes: &[u8], rows: &QuantizedRows) -> Option<Self> {
        let (check, body) = bytes.strip_prefix(&MAGIC)?.split_first_chunk()?;
        if u64::from_le_bytes(*check) != xxh3_64(body) {
            return None;
        }
        let (fingerprints, hnsw): (Vec<u64>, instant_distance::Hnsw<Point>) =
            postcard::from_bytes(body).ok()?;
        let mut slots: FxHashMap<u64, Vec<Slot>> = FxHashMap::default();
        for slot in rows.slots() {
            slots.entry(fingerprint(rows.get(slot)?.1)).or_default().push(slot);
        }
        for (wanted, (_, point)) in fingerprints.iter().zip(hnsw.iter()) {
            // Points with equal rows take different slots.
            let slot = slots.get_mut(wanted).and_then(Vec::pop);
            if let Some((slot, (block, _))) = slot.and_then(|s| Some((s, rows.get(s)?))) {
                point.place.get_or_init(|| (slot, block.clone()));
            }
        }
        Some(Self { hnsw, len: fingerprints.len() })
    }

    /// Returns the number of vectors at the build.
    #[must_use]
    pub fn n_vectors(&self) -> usize {
        self.len
    }

    /// Returns the slot of each point, with the block that holds its row at the build.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Slot, &Arc<RowBatch>)> {
        self.hnsw.iter().filter_map(|(_, p)| p.place.get()).map(|(slot, block)| (*slot, block))
    }

    /// Returns the slots whose rows at the build are nearest to a query, nearest first.
    pub(super) fn nearest(&self, question: &QueryVector) -> Vec<Slot> {
        let point = Point { place: OnceLock::from((0, Arc::new(question.to_block()))) };
        let mut search = Search::default();
        self.hnsw
            .search(&point, &mut search)
            .filter_map(|found| Some(found.point.place.get()?.0))
            .collect()
    }
}

fn encode<P: instant_distance::Point + Serialize>(
    hnsw: &instant_distance::Hnsw<P>,
    row: impl Fn(&P) -> Option<QuantizedRow<'_>>,
) -> Option<Vec<u8>> {
    // A row that is gone gets a fingerprint that matches no row later.
    let fingerprints: Vec<u64> = hnsw.iter().map(|(_, p)| row(p).map_or(0, fingerprint)).collect();
    let body = postcard::to_allocvec(&(fingerprints, hnsw)).ok()?;
    Some([&MAGIC, &xxh3_64(&body).to_le_bytes(), &*body].concat())
}

/// Hashes a vector's components.
fn fingerprint(row: QuantizedRow) -> u64 {
    let bytes: Vec<u8> = row.components.iter().map(|c| c.cast_unsigned()).collect();
    xxh3_64_with_seed(&bytes, u64::from(row.scale.to_bits()))
}
