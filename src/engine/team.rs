//! The published repositories of a team: which of them a caller may ask, and what is published of a
//! project.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_depot::{Depot, Record};
use globset::{Glob, GlobSet, GlobSetBuilder};
use parking_lot::Mutex;

use super::serving::Engine;
use super::{AskError, Call};
use crate::embed::Embedder;
use crate::search::{Corpus, Sketched, nearest};
use crate::team::{Cache, Manifest, Shared, TeamError};

/// Most repositories that are asked one question.
const MAX_ASKED: usize = 8;
/// How old the list of all repositories may be. One that is asked by its name is always as new as it is
/// published.
const LIST_AGE: Duration = Duration::from_secs(2);

/// A list of records, and when it was read.
type List = Option<(Instant, Arc<Vec<Record>>)>;

/// The published repositories that a caller may ask.
#[derive(Clone)]
pub struct Team {
    depot: Arc<dyn Depot>,
    cache: Arc<Cache>,
    list: Arc<Mutex<List>>,
    /// Which names the caller may see; `None` is all.
    allowed: Option<GlobSet>,
    /// Whether a question that names no repository is asked of all.
    pub asks_all: bool,
}

impl From<TeamError> for AskError {
    fn from(e: TeamError) -> Self {
        match e {
            TeamError::Unknown(_) => Self::NotFound(e.to_string()),
            TeamError::Search(e) => e.into(),
            e => Self::Failed(e.to_string()),
        }
    }
}

impl Team {
    /// Opens a depot. `cached`: bytes of what was read that may be kept.
    #[must_use]
    pub fn new(depot: Arc<dyn Depot>, cached: usize) -> Self {
        Self {
            depot,
            cache: Arc::new(Cache::new(cached)),
            list: Arc::default(),
            allowed: None,
            asks_all: false,
        }
    }

    /// Returns the same repositories for a caller who may see those alone whose names match one of some
    /// globs.
    ///
    /// # Errors
    /// When one is no glob.
    pub fn only(&self, globs: &[String]) -> Result<Self, globset::Error> {
        let mut allowed = GlobSetBuilder::new();
        for glob in globs {
            allowed.add(Glob::new(glob)?);
        }
        Ok(Self { allowed: Some(allowed.build()?), ..self.clone() })
    }

    fn may_see(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.is_match(name))
    }

    /// Returns the records of all repositories that the caller may see, by name.
    fn all(&self) -> Result<Vec<Record>, TeamError> {
        let list = &mut *self.list.lock();
        let records = match list {
            Some((read, records)) if read.elapsed() < LIST_AGE => records.clone(),
            _ => {
                let records = Arc::new(self.depot.records(None)?);
                *list = Some((Instant::now(), records.clone()));
                records
            }
        };
        let is_there = |record: &&Record| {
            self.may_see(&record.name)
                && Manifest::read(&record.text).is_some_and(|manifest| manifest.generation > 0)
        };
        Ok(records.iter().filter(is_there).cloned().collect())
    }

    /// Returns the names of the repositories that the caller may see.
    ///
    /// # Errors
    /// When the depot fails.
    pub fn names(&self) -> Result<Vec<String>, AskError> {
        Ok(self.all()?.into_iter().map(|record| record.name).collect())
    }

    /// Opens a repository by its name; `None` if the caller sees none of this name.
    pub(super) fn named(&self, name: &str) -> Result<Option<Shared<'_>>, TeamError> {
        if !self.may_see(name) {
            return Ok(None);
        }
        match Shared::open(&*self.depot, &self.cache, name) {
            Ok(shared) => Ok(Some(shared)),
            Err(TeamError::Unknown(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Opens the repositories that names or globs select, at most [`MAX_ASKED`]: of more, those that the
    /// question is about. Returns them, and the names that select none.
    pub(super) fn chosen(
        &self,
        wanted: &[String],
        question: &str,
    ) -> Result<(Vec<Shared<'_>>, Vec<String>), TeamError> {
        let (mut found, mut unknown): (Vec<Shared>, Vec<String>) = (Vec::new(), Vec::new());
        for name in wanted {
            let n = found.len();
            let is_glob = name.contains(['*', '?', '[', '{']);
            match Glob::new(name) {
                Ok(glob) if is_glob => {
                    let glob = glob.compile_matcher();
                    for record in self.all()?.iter().filter(|r| glob.is_match(&r.name)) {
                        let Record { name, text, .. } = record;
                        found.push(Shared::of_record(&*self.depot, &self.cache, name, text)?);
                    }
                }
                _ => found.extend(self.named(name)?),
            }
            if found.len() == n {
                unknown.push(name.clone());
            }
        }
        found.sort_by(|a, b| a.name().cmp(b.name()));
        found.dedup_by(|a, b| a.name() == b.name());
        if found.len() > MAX_ASKED {
            found = about(found, question)?;
        }
        Ok((found, unknown))
    }
}

/// Selects the repositories that a question is about.
fn about<'a>(all: Vec<Shared<'a>>, question: &str) -> Result<Vec<Shared<'a>>, TeamError> {
    let sketches: Vec<_> = all.iter().map(Shared::sketch).collect::<Result<_, _>>()?;
    let sketched: Vec<Sketched> = all
        .iter()
        .zip(&sketches)
        .map(|(shared, sketch)| Sketched {
            sketch,
            name: shared.name(),
            description: "",
            prior: 1.0,
        })
        .collect();
    let best: Vec<usize> =
        nearest(question, &sketched).into_iter().take(MAX_ASKED).map(|(at, _)| at).collect();
    let chosen = all.into_iter().enumerate().filter(|(at, _)| best.contains(at));
    Ok(chosen.map(|(_, shared)| shared).collect())
}

/// The code and documents of a project as they are indexed.
pub struct ToPublish {
    pub corpus: Corpus,
    /// The commit that is checked out.
    pub commit: Option<String>,
}

impl Engine {
    /// Returns what is published of the project.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn to_publish(&self, call: &Call) -> Result<ToPublish, AskError> {
        self.with_code(call, |view| {
            let commit = view.state.index.head.clone();
            Ok(ToPublish { corpus: view.code.corpus.clone(), commit })
        })
    }

    /// The embedder of the project.
    #[must_use]
    pub fn embedder(&self) -> &dyn Embedder {
        self.manager.embedder()
    }
}
