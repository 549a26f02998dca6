//! The types of the resolver, and its caches for one answer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::rows::{FileId, SymbolId, SymbolRow};
use super::scopes::{ExpectedKind, Scopes};
use crate::work::WorkBudget;

/// Largest depth of nested inferences.
pub(super) const MAX_INFERENCE: u8 = 6;
/// Largest number of levels of supertypes.
pub(super) const MAX_BASES: u8 = 6;

/// A symbol that a name may mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meaning {
    pub(super) symbol: SymbolId,
    /// Between 0 and 1.
    pub(super) confidence: f32,
}

/// The thing that an expression denotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entity {
    /// An instance of the type `of`, as written within the symbol `at`. (A type itself counts as an
    /// instance: its members are found in the same way.)
    Instance {
        of: String,
        at: SymbolId,
    },
    /// An instance of this type, or the type itself.
    Of(SymbolId),
    /// The supertypes of a type.
    Super(SymbolId),
    Module {
        name: String,
        file: i64,
    },
    /// Not defined in this project.
    Elsewhere,
    Unknown,
}

/// An entity with its confidence.
#[derive(Debug, Clone)]
pub(super) struct KnownEntity {
    pub(super) entity: Entity,
    pub(super) confidence: f32,
}

/// What a SCIP index says about the uses in a file, by line and name.
pub(super) type PreciseUses = HashMap<(u32, String), Vec<PreciseMeaning>>;

/// What one use means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PreciseMeaning {
    pub(super) means: Means,
    pub(super) is_called: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Symbol(SymbolId),
    /// A variable, a parameter, or something else in the project that is no symbol.
    Unlisted,
    /// Something that no file of the index defines.
    Elsewhere,
}

impl PreciseMeaning {
    pub(super) fn symbol(self) -> Option<SymbolId> {
        if let Means::Symbol(id) = self.means { Some(id) } else { None }
    }
}

/// Resolves names. The rules are in three files, because each needs the others: a bare name may be
/// a member of a supertype, a member needs the type of its receiver, and the type of a receiver
/// starts with a bare name.
///
/// - `resolve.rs`: what a name means.
/// - `infer.rs`: what an expression is.
/// - `members.rs`: what a type is, and its members.
///
/// `precise.rs` has what SCIP indexes say, which goes first.
pub(super) struct Resolver {
    pub(super) scopes: Scopes,
    pub(super) work: WorkBudget,
    pub(super) members: HashMap<(SymbolId, String), Arc<Vec<Meaning>>>,
    pub(super) bare: HashMap<(SymbolId, String, ExpectedKind), Arc<Vec<Meaning>>>,
    /// What modules hand on, by [`Handed`].
    pub(super) handed: HashMap<Handed, Vec<(f32, SymbolRow)>>,
    pub(super) known: HashMap<(SymbolId, String), KnownEntity>,
    /// Whether SCIP indexes are asked.
    pub(super) is_precise: bool,
    pub(super) precise: HashMap<FileId, Option<Arc<PreciseUses>>>,
    /// The files that a SCIP index describes as they are now.
    pub(super) described: Option<Arc<HashSet<FileId>>>,
}

/// A name that a module may hand on: the module, the file that names it, the name, the file that
/// asks, the kind, and through how many further modules. Modules that import all of each other would
/// be walked along every path.
pub(super) type Handed = (String, FileId, String, FileId, ExpectedKind, u8);

impl Resolver {
    pub(super) fn new(scopes: Scopes, work: WorkBudget) -> Self {
        Self {
            scopes,
            work,
            members: HashMap::new(),
            bare: HashMap::new(),
            handed: HashMap::new(),
            known: HashMap::new(),
            is_precise: true,
            precise: HashMap::new(),
            described: None,
        }
    }

    /// Forgets what was resolved, and keeps what was read.
    pub(super) fn forget(&mut self) {
        self.members.clear();
        self.bare.clear();
        self.handed.clear();
        self.known.clear();
    }

    /// Number of rows that it holds.
    pub(super) fn n_rows(&self) -> usize {
        let n_precise =
            |uses: &Option<Arc<PreciseUses>>| uses.as_ref().map_or(0, |uses| uses.len());
        self.scopes.n_rows() + self.precise.values().map(n_precise).sum::<usize>()
    }
}
