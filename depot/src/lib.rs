//! A depot keeps the published repositories of a team in an existing engine. It proposes files for a
//! question and returns what is stored of them; it ranks nothing. This crate knows rows and
//! generations, and neither chunks nor words.
//!
//! Nothing is changed in place. Publishing generation `g` inserts rows that are born at `g` and marks
//! those that they replace as dead from `g` on; then one record of the repository is replaced, and
//! from that moment every question sees `g`. A question sees the rows with `born <= g < died`.

#[cfg(feature = "milvus")]
pub mod milvus;
#[cfg(feature = "objects")]
pub mod objects;
pub mod patient;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod shelf;

/// The end of a row that lives.
pub const LIVING: u64 = i64::MAX as u64;

/// The kind of the facts that are files: with such a fact the rows of its key live and die.
pub const FILE: u8 = 0;

/// Why a depot did not answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DepotError {
    /// The engine cannot be reached, or was too slow: the same call may succeed later.
    #[error("the engine does not answer: {0}")]
    Unavailable(String),
    /// The engine refused the call: it fails again.
    #[error("the engine refused: {0}")]
    Refused(String),
    /// What is stored is not what this program stores.
    #[error("what is stored cannot be read: {0}")]
    Damaged(String),
}

pub type Result<T> = std::result::Result<T, DepotError>;

/// One generation of one repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    /// The number under which it is stored: not negative. What is written under one number is not seen
    /// under another, so a publisher that may not have ended gets a number of its own.
    pub repository: i64,
    pub generation: u64,
}

/// The record of a repository. Its text is its publisher's; a depot replaces it as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub name: String,
    /// Grows by one each time that it is replaced; 0 before it is first stored.
    pub version: u64,
    pub text: String,
}

/// A sparse vector: pairs of a dimension below [`DIMENSIONS`] and a positive weight, by dimension, each once.
pub type Sparse = Vec<(u32, f32)>;

/// Number of dimensions of a [`Sparse`] vector.
pub const DIMENSIONS: u32 = 1_000_000_000;

/// By what a chunk is found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The key of its file.
    pub file: i64,
    /// The weights of its words.
    pub words: Sparse,
    /// `[f32; dimensions]` of norm 1; empty if it has none.
    pub vector: Vec<f32>,
    /// What it is found by without a score, such as the names that it defines: at most
    /// [`MAX_KEYS`], each once.
    pub keys: Vec<i32>,
}

/// Most keys of a row.
pub const MAX_KEYS: usize = 1_000;

/// Something that is stored of a repository, found by its kind and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub kind: u8,
    pub key: i64,
    /// Of its content: a fact with the same hash need not be stored again.
    pub hash: i64,
    /// At most [`MAX_FACT_BYTES`].
    pub data: Vec<u8>,
}

/// Largest fact, in bytes.
pub const MAX_FACT_BYTES: usize = 64 << 20;

/// The name of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactName {
    pub kind: u8,
    pub key: i64,
}

/// What a question asks a depot for. Each part proposes up to `limit` chunks of its own.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The chunks with the largest inner products with each of these.
    pub words: Vec<Sparse>,
    /// The chunks whose vectors have the largest inner products with it. Empty: none.
    pub vector: Vec<f32>,
    /// For each of these sets, chunks that hold one of its keys, in any order.
    pub keys: Vec<Vec<i32>>,
    /// Only chunks that hold at least one key of each of these sets are proposed.
    pub only: Vec<Vec<i32>>,
    pub limit: usize,
}

/// A file that is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Found {
    /// Its key.
    pub file: i64,
    /// The generation at which it was stored: a file that is born later is another one.
    pub born: u64,
}

/// The size of what is stored of a repository, of all generations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    pub rows: u64,
    pub facts: u64,
    /// Of the facts' data.
    pub bytes: u64,
}

/// How often one call was made since the program started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Meter {
    pub call: &'static str,
    /// Number of calls.
    pub n: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Sum of their durations.
    pub seconds: f64,
}

/// An engine that keeps published repositories. Calls block, and any number of threads may make
/// them at once.
pub trait Depot: Send + Sync {
    /// Creates what the engine needs, for vectors of this length. Does nothing if it is there.
    ///
    /// # Errors
    /// [`DepotError::Refused`] if the engine holds vectors of another length.
    fn prepare(&self, dimensions: usize) -> Result<()>;

    /// Returns the records of these repositories, or of all, by name. What was stored before the call
    /// is seen.
    ///
    /// # Errors
    /// As of every call: see [`DepotError`].
    fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>>;

    /// Replaces a record if the stored one has the version before that of `record`. Returns whether it
    /// did. Of several that try at once, one succeeds.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn replace(&self, record: &Record) -> Result<bool>;

    /// Returns the files whose chunks are proposed, each once.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<Found>>;

    /// Returns the facts of one kind with these keys, in any order; what is missing is left out.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>>;

    /// Returns the names and hashes of all facts of one kind.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>>;

    /// Inserts rows and facts that are born at a generation. When it returns, they are stored.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()>;

    /// Marks the living facts with these names, and the rows of files among them, as dead from a
    /// generation on, unless they are born at it.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn retire(&self, at: At, facts: &[FactName]) -> Result<()>;

    /// Undoes whatever was stored for generations after this one.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn undo(&self, at: At) -> Result<()>;

    /// Removes what was dead at a generation already. Returns the number of rows and facts.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn collect(&self, at: At) -> Result<u64>;

    /// Removes everything of a repository, with its record.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn remove(&self, repository: i64, name: &str) -> Result<()>;

    /// Returns the size of what is stored of a repository.
    ///
    /// # Errors
    /// See [`DepotError`].
    fn size(&self, repository: i64) -> Result<Size>;

    /// Returns what was measured of each call, if it is measured.
    fn meters(&self) -> Vec<Meter> {
        Vec::new()
    }
}
