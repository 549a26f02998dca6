//! Searches the packages that a project depends on, beside the project.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::door::serving::Engine;
use crate::engine::elsewhere::deps::DependenciesRequest;
use crate::engine::elsewhere::many::{AskedEngine, search_all};
use crate::engine::elsewhere::packages::{Package, Shelf, index_all};
use crate::engine::read::search::{SearchAnswer, SearchRequest};
use crate::engine::{AskError, Call};
use crate::search::{Sketch, Sketched, nearest};
use crate::store::PackageRecord;
use crate::text::{chain, count};

/// Most packages that are asked one question.
const MAX_ASKED: usize = 6;
/// How long a question indexes packages that have no index.
const TIME: Duration = Duration::from_secs(8);
/// The share of the score of a package that no manifest of the project names.
const INDIRECT: f64 = 0.7;

/// What a sketch says of a package, for as long as its index is the same.
struct KnownPackage {
    record: PackageRecord,
    sketch: Sketch,
}

/// The packages that a question is about.
struct About {
    /// The best first, with their labels.
    packages: Vec<(String, Arc<Engine>)>,
    /// Number of packages that are not indexed yet.
    n_missing: usize,
    warnings: Vec<String>,
}

impl Engine {
    /// Chooses the packages that a question is about, at most [`MAX_ASKED`]. It first indexes what is
    /// missing, direct dependencies first, until `deadline`.
    ///
    /// # Errors
    /// When the dependencies cannot be listed, or the call was cancelled.
    fn packages_about(
        &self,
        question: &str,
        deadline: Instant,
        call: &Call,
    ) -> Result<About, AskError> {
        let found = self.project.dependencies(&DependenciesRequest::default(), call)?;
        let shelf = Shelf::open()?;
        let mut packages: Vec<Package> =
            found.dependencies.into_iter().filter_map(|d| shelf.package(d).ok()).collect();
        packages.sort_by_key(|package| !package.dependency.is_direct);
        // Once there is no time left, only those that are indexed are opened.
        let results = index_all(&packages, Some(deadline), call, &|_| ());
        call.check()?;
        let mut warnings = found.warnings;
        let mut known: Vec<(Package, KnownPackage)> = Vec::new();
        let mut n_missing = 0;
        for (package, result) in packages.into_iter().zip(results) {
            let record = match result {
                Some(Ok((record, _))) => Some(record),
                Some(Err(e)) => {
                    warnings.push(format!("{}: {}", package.label(), chain(&e)));
                    continue;
                }
                None => package.record(),
            };
            match record.and_then(|record| Some(KnownPackage { sketch: package.sketch()?, record }))
            {
                Some(entry) => known.push((package, entry)),
                None => n_missing += 1,
            }
        }
        let sketched: Vec<Sketched> = known
            .iter()
            .map(|(package, known)| Sketched {
                sketch: &known.sketch,
                name: &package.dependency.name,
                description: &known.record.description,
                prior: if package.dependency.is_direct { 1.0 } else { INDIRECT },
            })
            .collect();
        let mut packages = Vec::new();
        for (at, score) in nearest(question, &sketched).into_iter().take(MAX_ASKED) {
            let package = &known[at].0;
            tracing::debug!("{} {score:.2}", package.label());
            packages.push((package.label(), self.engine_of(package, call)?));
        }
        Ok(About { packages, n_missing, warnings })
    }
}

impl Engine {
    /// Searches the project and the packages that the question is about.
    ///
    /// # Errors
    /// When the request is not valid, or the dependencies cannot be listed.
    pub(in crate::engine) fn search_with_packages(
        &self,
        request: &SearchRequest,
        call: &Call,
    ) -> Result<SearchAnswer, AskError> {
        let about = self.packages_about(&request.query, Instant::now() + TIME, call)?;
        let own = AskedEngine { name: "", engine: self, is_package: false };
        let packages = about.packages.iter().map(|(name, engine)| AskedEngine {
            name,
            engine,
            is_package: true,
        });
        let asked: Vec<AskedEngine> = std::iter::once(own).chain(packages).collect();
        let mut answer = search_all(&asked, Vec::new(), request, call)?;
        answer.state.warnings.extend(about.warnings);
        if about.n_missing > 0 {
            answer.notes.push(format!(
                "{} not searched, because they are not indexed yet: `cortex deps index` indexes them",
                count(about.n_missing, "package")
            ));
        }
        self.with_memories(answer, request, call)
    }
}
