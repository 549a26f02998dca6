//! What is published to a depot.

use chrono::{DateTime, SecondsFormat};
use cortex_depot::{At, Depot, Record};
use serde::Serialize;

use super::stored::{Lease, RepositoryManifest, number};
use super::{Result, TeamError};

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
        let Ok(manifest) = RepositoryManifest::read(&record.name, &record.text) else { continue };
        let when = manifest.published.last().and_then(|(_, at)| DateTime::from_timestamp(*at, 0));
        let size = if with_sizes { Some(size(depot, &record.name, &manifest)?) } else { None };
        all.push(Repository {
            chunks: manifest.whole().map_or(0, |whole| whole.size.chunks()),
            name: record.name,
            generation: manifest.generation,
            commit: manifest.commit,
            published_at: when.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            publishing: manifest.lease.map(|lease| lease.who),
            size,
        });
    }
    Ok(all)
}

/// Returns the size of all namespaces of a repository.
fn size(depot: &dyn Depot, name: &str, manifest: &RepositoryManifest) -> Result<Size> {
    let mut sum = Size { rows: 0, facts: 0, bytes: 0 };
    for number in manifest.numbers(name) {
        let size = depot.size(number)?;
        sum.rows += size.rows;
        sum.facts += size.facts;
        sum.bytes += size.bytes;
    }
    Ok(sum)
}

/// Removes what no question can see: old generations, and what interrupted publications left. What a
/// publisher stores at `now`, in seconds since 1970, is left alone. Returns the number of rows and
/// facts of old generations.
///
/// # Errors
/// When the depot fails.
pub fn collect(depot: &dyn Depot, now: i64) -> Result<u64> {
    let mut n = 0;
    for record in depot.records(None)? {
        let Ok(manifest) = RepositoryManifest::read(&record.name, &record.text) else { continue };
        n += collect_one(depot, &record.name, &manifest, now)?;
        if let Some(lease) = manifest.lease.clone().filter(|lease| lease.until <= now) {
            if lease.until > 0 {
                // Its publisher may wake up: it must not complete what is removed here.
                let manifest = RepositoryManifest {
                    lease: Some(Lease { until: 0, ..lease.clone() }),
                    ..manifest.clone()
                };
                let version = record.version + 1;
                let record = Record { version, text: manifest.text(), ..record.clone() };
                if !depot.replace(&record)? {
                    continue;
                }
            }
            depot.undo(manifest.before(&lease, &record.name))?;
        }
    }
    Ok(n)
}

/// Removes the old generations of a repository, and the namespaces that are not used any more. This
/// is right at any later time, too: what is dead stays dead, and no namespace is used again.
pub(super) fn collect_one(
    depot: &dyn Depot,
    name: &str,
    manifest: &RepositoryManifest,
    now: i64,
) -> Result<u64> {
    for namespace in manifest.cleared(now) {
        depot.undo(At { repository: number(name, namespace), generation: 0 })?;
    }
    Ok(depot.collect(At { generation: manifest.oldest_in_use(now), ..manifest.at(name) })?)
}

/// Removes a repository. Returns whether there was one.
///
/// # Errors
/// When the depot fails, or a newer version of this program published the repository.
pub fn remove(depot: &dyn Depot, name: &str) -> Result<bool> {
    let record = depot.records(Some(&[name.to_string()]))?.pop();
    let manifest = record.as_ref().map(|record| RepositoryManifest::read(name, &record.text));
    let numbers = match manifest {
        Some(Ok(manifest)) => manifest.numbers(name),
        Some(Err(newer @ TeamError::Newer { .. })) => return Err(newer),
        // The first schema had one namespace.
        _ => [number(name, 0)].into(),
    };
    for number in numbers {
        depot.remove(number, name)?;
    }
    Ok(record.is_some())
}
