//! Which files of a corpus use the definitions of which others, and the identifiers that each file
//! mentions.

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

/// What the chunks of a file mention.
pub(super) fn mentions(pieces: &[FileContribution]) -> Mentions {
    sorted(pieces.iter().flat_map(|p| p.mentions.iter().copied())).into()
}

/// What each file mentions, which nobody asks before something changes.
pub(super) enum AllMentions {
    /// By file.
    Here(Vec<Mentions>),
    Saved(Arc<dyn SavedFiles>),
}

impl AllMentions {
    /// Those that were loaded.
    pub(super) fn known(&self) -> &[Mentions] {
        match self {
            Self::Here(all) => all,
            Self::Saved(_) => &[],
        }
    }

    /// Those of so many files.
    pub(super) fn load(&mut self, n_files: usize) -> io::Result<&mut Vec<Mentions>> {
        if let Self::Saved(saved) = self {
            let all: Vec<Mentions> = bitcode::decode(&saved.read(MENTIONS)?)
                .map_err(|e| io::Error::other(e.to_string()))?;
            if all.len() != n_files {
                return Err(io::Error::other(format!(
                    "{MENTIONS} is of {} files, not of {n_files}",
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

/// How the files of a corpus refer to each other.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The files that define a name; names that many define are left out.
    owners: FxHashMap<Key, Vec<u32>>,
    /// Files whose declarations stand in a header of the same name, in order.
    with_header: Vec<u32>,
    /// By file: what [`References::used_by`] gives, found when it is first asked for.
    uses: Vec<OnceLock<Vec<u32>>>,
}

/// The same with every file asked.
#[derive(Debug, Encode, Decode)]
pub(super) struct AllReferences {
    with_header: Vec<u32>,
    uses: Vec<Vec<u32>>,
}

impl AllReferences {
    /// Whether there is one for each of so many files.
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

/// A name that more files define does not say which of them is meant.
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

    /// Asks every file.
    pub(super) fn all(&self, mentions: &[Mentions]) -> AllReferences {
        let uses = (0..u32::try_from(self.uses.len()).unwrap_or(u32::MAX)).into_par_iter();
        let uses = uses.map(|at| self.used_by(at, mentions).to_vec()).collect();
        AllReferences { with_header: self.with_header.clone(), uses }
    }

    /// Whether it implements what a header declares.
    pub(super) fn has_header(&self, at: u32) -> bool {
        self.with_header.binary_search(&at).is_ok()
    }

    /// The other files whose definitions a file mentions, in order. `mentions`: of all files, where
    /// not every file was asked.
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
