//! The approximate tier: a graph of neighbours (HNSW) over the rows as they once were.
//!
//! Nothing is ever inserted in it or deleted from it; [`super::VectorTable`] knows which of its
//! answers have gone stale.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use instant_distance::{Builder, Search};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::super::Slot;
use super::scan::{Block, QuantizedRow, QuantizedRows, QueryVector};

/// How many a question finds. Recall and time grow with it: `specs/vector-search.md`.
const FOUND: usize = 300;
/// How many candidates a point chooses its neighbours from when the HNSW graph is built.
const CONSIDERED: usize = 200;
/// Any number: the same rows give the same HNSW graph.
const SEED: u64 = 7;
/// Begins the bytes of a HNSW graph, followed by the checksum of the rest.
const MAGIC: [u8; 8] = *b"CXHNSW\x01\0";

/// A HNSW graph over the vectors of a table at one moment. It holds their rows for as long as it
/// lives, and shares them with the table where they did not change.
pub struct Hnsw {
    hnsw: instant_distance::Hnsw<Point>,
    len: usize,
}

/// A vector in a HNSW graph that answers. Empty when the HNSW graph was read and its row is gone:
/// then nothing is near it.
#[derive(Clone, Serialize, Deserialize)]
struct Point {
    #[serde(skip)]
    place: OnceLock<(Slot, Arc<Block>)>,
}

/// The same while the HNSW graph is built.
#[derive(Clone, Copy, Serialize)]
struct Raw<'a> {
    #[serde(skip)]
    row: QuantizedRow<'a>,
    #[serde(skip)]
    cancel: &'a AtomicBool,
}

/// What a cancelled build throws.
struct Cancelled;

/// Further than any two vectors are from each other.
const NOWHERE: f32 = 3.0;

fn distance(a: QuantizedRow, b: QuantizedRow) -> f32 {
    1.0 - a.cosine(b)
}

impl instant_distance::Point for Raw<'_> {
    fn distance(&self, other: &Self) -> f32 {
        if self.cancel.load(Ordering::Relaxed) {
            // The only way out of a build; it calls no panic hook.
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
    /// Builds the HNSW graph of these rows on a thread of its own, and leaves the other cores to
    /// those who ask meanwhile. Minutes for a hundred thousand. `None` when it was cancelled, or no
    /// thread can be started.
    pub(super) fn build(rows: &QuantizedRows, cancel: &AtomicBool) -> Option<Self> {
        let points: Vec<Raw> =
            rows.slots().filter_map(|s| Some(Raw { row: rows.get(s)?.1, cancel })).collect();
        let builder = Builder::default().seed(SEED).ef_construction(CONSIDERED).ef_search(FOUND);
        // One thread also makes it the same HNSW graph each time.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
        let build = || pool.install(|| encode(&builder.build_hnsw(points).0, |p| Some(p.row)));
        let bytes = match catch_unwind(AssertUnwindSafe(build)) {
            Ok(bytes) => bytes?,
            Err(thrown) if thrown.is::<Cancelled>() => return None,
            Err(panic) => resume_unwind(panic),
        };
        // The way of every HNSW graph: what answers was once bytes.
        Self::from_bytes(&bytes, rows)
    }

    /// To be kept in a file: the links, and a fingerprint of each row, by which it is found again.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        encode(&self.hnsw, Point::row)
    }

    /// What [`Hnsw::to_bytes`] gave, over rows of which most are the same, at whatever slots.
    /// `None` when the bytes are not those of a HNSW graph.
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
            // Of equal rows each point takes one.
            let slot = slots.get_mut(wanted).and_then(Vec::pop);
            if let Some((slot, (block, _))) = slot.and_then(|s| Some((s, rows.get(s)?))) {
                point.place.get_or_init(|| (slot, block.clone()));
            }
        }
        Some(Self { hnsw, len: fingerprints.len() })
    }

    /// How many vectors were in it when it was built.
    #[must_use]
    pub fn n_vectors(&self) -> usize {
        self.len
    }

    /// The slots that stood in it, each with the block that holds its row of that time.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Slot, &Arc<Block>)> {
        self.hnsw.iter().filter_map(|(_, p)| p.place.get()).map(|(slot, block)| (*slot, block))
    }

    /// The slots whose rows of that time were nearest to a query, the nearest first.
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
    // A row that is gone will not be found again either.
    let fingerprints: Vec<u64> = hnsw.iter().map(|(_, p)| row(p).map_or(0, fingerprint)).collect();
    let body = postcard::to_allocvec(&(fingerprints, hnsw)).ok()?;
    Some([&MAGIC, &xxh3_64(&body).to_le_bytes(), &*body].concat())
}

/// Of a vector's exact components.
fn fingerprint(row: QuantizedRow) -> u64 {
    let bytes: Vec<u8> = row.components.iter().map(|c| c.cast_unsigned()).collect();
    xxh3_64_with_seed(&bytes, u64::from(row.scale.to_bits()))
}
