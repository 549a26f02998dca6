//! Finds which files of a corpus use the definitions of other files, and the identifiers that each
//! file mentions.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, OnceLock};

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::files::{FileContribution, IndexedFile, Key, sorted};
use crate::chunk::{SaveWriter, SavedFiles};
use crate::languages::{Spec, grammars};

/// The saved file that holds the mentions of every file.
const MENTIONS: &str = "mentions.bin";

/// Identifiers that the code of a file mentions, sorted.
pub(super) type Mentions = Arc<[Key]>;

/// Collects the mentions of a file's chunks.
pub(super) fn mentions(pieces: &[FileContribution]) -> Mentions {
    sorted(pieces.iter().flat_map(|p| p.mentions.iter().copied())).into()
}

/// The mentions of all files. They are needed only for updates.
pub(super) enum AllMentions {
    /// By file.
    Here(Vec<Mentions>),
    Saved(Arc<dyn SavedFiles>),
}

impl AllMentions {
    /// Returns the mentions by file if they are loaded, else an empty slice.
    pub(super) fn known(&self) -> &[Mentions] {
        match self {
            Self::Here(all) => all,
            Self::Saved(_) => &[],
        }
    }

    /// Loads the mentions of `n_files` files.
    pub(super) fn load(&mut self, n_files: usize) -> io::Result<&mut Vec<Mentions>> {
        if let Self::Saved(saved) = self {
            let all: Vec<Mentions> = bitcode::decode(&saved.read(MENTIONS)?)
                .map_err(|e| io::Error::other(format!("cannot decode {MENTIONS}: {e}")))?;
            if all.len() != n_files {
                return Err(io::Error::other(format!(
                    "{MENTIONS} lists {} files, but the corpus has {n_files}",
                    all.len()
                )));
            }
            *self = Self::Here(all);
        }
        match self {
            Self::Here(all) => Ok(all),
            Self::Saved(_) => unreachable!("loaded above"),
        }
    }

    pub(super) fn save(&self, saving: &mut dyn SaveWriter) -> io::Result<()> {
        match self {
            Self::Here(all) => saving.put(MENTIONS, &bitcode::encode(all)),
            Self::Saved(saved) => saving.keep(MENTIONS, &**saved),
        }
    }
}

/// The references between the files of a corpus.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The files that define a name; a name with many definitions is left out.
    owners: FxHashMap<Key, Vec<u32>>,
    /// Files whose declarations are in a header of the same name, in order.
    with_header: Vec<u32>,
    /// By file: the result of [`References::used_by`], computed at the first call.
    uses: Vec<OnceLock<Vec<u32>>>,
}

/// The uses of every file, as they are saved.
#[derive(Debug, Encode, Decode)]
pub(super) struct AllReferences {
    with_header: Vec<u32>,
    uses: Vec<Vec<u32>>,
}

impl AllReferences {
    pub(super) fn new(with_header: Vec<u32>, uses: Vec<Vec<u32>>) -> Self {
        Self { with_header, uses }
    }

    /// Returns whether there is an entry for each of `n_files` files.
    pub(super) fn covers(&self, n_files: usize) -> bool {
        self.uses.len() == n_files && self.uses.iter().flatten().all(|f| (*f as usize) < n_files)
    }
}

impl From<AllReferences> for References {
    fn from(all: AllReferences) -> Self {
        let uses = all.uses.into_iter().map(OnceLock::from).collect();
        Self { owners: FxHashMap::default(), with_header: all.with_header, uses }
    }
}

/// A name that more files define is left out as ambiguous.
const MAX_OWNERS: usize = 2;

impl References {
    pub(super) fn new(files: &[Arc<IndexedFile>]) -> Self {
        let mut owners: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        let live = || (0u32..).zip(files).filter(|(_, f)| !f.parts.is_empty());
        for (at, file) in live() {
            for d in file.definitions.iter().filter(|d| d.can_own) {
                let owners = owners.entry(d.name).or_default();
                if owners.len() <= MAX_OWNERS && owners.last() != Some(&at) {
                    owners.push(at);
                }
            }
        }
        owners.retain(|_, owners| owners.len() <= MAX_OWNERS);
        let stem_if = |file: &'_ IndexedFile, extensions: fn(&Spec) -> &[&str]| {
            let (stem, extension) = file.path.rsplit('/').next()?.rsplit_once('.')?;
            grammars()
                .iter()
                .any(|g| extensions(&g.spec).contains(&extension))
                .then(|| stem.to_lowercase())
        };
        let headers: HashSet<String> =
            live().filter_map(|(_, f)| stem_if(f, |spec| spec.headers)).collect();
        let has_header = |f: &IndexedFile| {
            stem_if(f, |spec| spec.with_headers).is_some_and(|stem| headers.contains(&stem))
        };
        let with_header = live().filter(|(_, f)| has_header(f)).map(|(at, _)| at).collect();
        Self { owners, with_header, uses: files.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Computes the uses of every file.
    pub(super) fn all(&self, mentions: &[Mentions]) -> AllReferences {
        let uses = (0..u32::try_from(self.uses.len()).unwrap_or(u32::MAX)).into_par_iter();
        let uses = uses.map(|at| self.used_by(at, mentions).to_vec()).collect();
        AllReferences { with_header: self.with_header.clone(), uses }
    }

    /// Returns whether a file implements declarations of a header.
    pub(super) fn has_header(&self, at: u32) -> bool {
        self.with_header.binary_search(&at).is_ok()
    }

    /// Returns the other files whose definitions a file mentions, in order. `mentions`: those of
    /// all files; may be empty if all uses are computed already.
    pub(super) fn used_by(&self, at: u32, mentions: &[Mentions]) -> &[u32] {
        self.uses[at as usize].get_or_init(|| {
            let owners =
                mentions[at as usize].iter().filter_map(|m| self.owners.get(m)).flatten().copied();
            let mut out: Vec<u32> = owners.filter(|owner| *owner != at).collect();
            out.sort_unstable();
            out.dedup();
            out
        })
    }
}
