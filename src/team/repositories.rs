//! What is published to a depot.

use chrono::{DateTime, SecondsFormat};
use cortex_depot::{At, Depot};
use serde::Serialize;

use super::Result;
use super::stored::{Manifest, number};

/// A published repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repository {
    pub name: String,
    pub generation: u64,
    /// Empty outside git.
    pub commit: String,
    pub chunks: u64,
    /// In RFC 3339; `None` before the first generation is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// Who publishes it at this moment, or did when it was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publishing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// What is stored of a repository, of all generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    pub rows: u64,
    pub facts: u64,
    /// Of the facts.
    pub bytes: u64,
}

/// Lists the repositories of a depot, by name.
///
/// # Errors
/// When the depot fails.
pub fn repositories(depot: &dyn Depot, with_sizes: bool) -> Result<Vec<Repository>> {
    let mut all = Vec::new();
    for record in depot.records(None)? {
        let Some(manifest) = Manifest::read(&record.text) else { continue };
        let when = manifest.published.last().and_then(|(_, at)| DateTime::from_timestamp(*at, 0));
        let size = if with_sizes { Some(depot.size(number(&record.name))?) } else { None };
        all.push(Repository {
            chunks: manifest.whole().map_or(0, |whole| whole.size.chunks()),
            name: record.name,
            generation: manifest.generation,
            commit: manifest.commit,
            published_at: when.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            publishing: manifest.lease.map(|lease| lease.who),
            size: size.map(|size| Size { rows: size.rows, facts: size.facts, bytes: size.bytes }),
        });
    }
    Ok(all)
}

/// Removes what no question can see: old generations, and what interrupted publications left. A
/// repository that is being published at `now`, in seconds since 1970, is left alone. Returns the
/// number of rows and facts of old generations.
///
/// # Errors
/// When the depot fails.
pub fn collect(depot: &dyn Depot, now: i64) -> Result<u64> {
    let mut n = 0;
    for record in depot.records(None)? {
        let Some(manifest) = Manifest::read(&record.text) else { continue };
        if manifest.lease.as_ref().is_some_and(|lease| lease.until > now) {
            continue;
        }
        let repository = number(&record.name);
        depot.undo(At { repository, generation: manifest.generation })?;
        n += depot.collect(At { repository, generation: manifest.oldest_in_use(now) })?;
    }
    Ok(n)
}

/// Removes a repository. Returns whether there was one.
///
/// # Errors
/// When the depot fails.
pub fn remove(depot: &dyn Depot, name: &str) -> Result<bool> {
    let is_there = !depot.records(Some(&[name.to_string()]))?.is_empty();
    depot.remove(number(name), name)?;
    Ok(is_there)
}
