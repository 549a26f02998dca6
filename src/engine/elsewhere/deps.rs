//! Lists what the project depends on, and where the sources lie on this machine.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::deps::{self, Machine};
use crate::dir::MachineWatch;
use crate::engine::door::project::Project;
use crate::engine::{AskError, Call};
use crate::source::{self, Scope};

pub use crate::deps::{Dependency, Ecosystem};

/// Asks for dependencies.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct DependenciesRequest {
    /// Only dependencies with one of these names, or that match one of these globs: `serde*`, `@types/*`
    #[serde(default)]
    pub names: Vec<String>,
    /// Only dependencies of these ecosystems.
    #[serde(default)]
    pub ecosystems: Vec<Ecosystem>,
    /// Only dependencies that a manifest of the project names.
    #[serde(default)]
    pub direct: bool,
    /// Only dependencies whose sources are not on this machine.
    #[serde(default)]
    pub missing: bool,
}

/// The dependencies of a project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DependenciesAnswer {
    /// By ecosystem, name and version.
    pub dependencies: Vec<Dependency>,
    /// Number of all dependencies of the project, with those that were not asked for.
    pub total: usize,
    /// What could not be read.
    pub warnings: Vec<String>,
}

impl Project {
    /// Lists the dependencies of the project. It reads the lock files as they are now, and no index.
    ///
    /// # Errors
    /// When a name is not a valid glob, or the call was cancelled.
    pub fn dependencies(
        &self,
        request: &DependenciesRequest,
        call: &Call,
    ) -> Result<DependenciesAnswer, AskError> {
        let names = named(&request.names)?;
        let machine = MachineWatch::begin();
        let tree = source::walk(self.layout.root(), &self.walk, &Scope::All);
        call.check()?;
        let is_own = |file: &&source::SourceFile| file.origin.vendored != Some(true);
        let own = tree.files.iter().filter(is_own).map(|file| &*file.path);
        // A file that is too large for the index is a lock file as well.
        let large = tree.skipped.iter().map(|(path, ..)| &**path);
        let files: Vec<&str> = own.chain(large).collect();
        let home = config::home();
        let place = Machine { home: home.as_deref(), variable: &|name| std::env::var_os(name) };
        let (mut dependencies, mut warnings) =
            deps::dependencies(self.layout.tree(), &files, place, call.work());
        call.check()?;
        if let Err(e) = machine.check(self.layout.root()) {
            warnings.push(format!("not all manifests could be read: {e}"));
        }
        let total = dependencies.len();
        dependencies.retain(|dependency| {
            (request.names.is_empty() || names.is_match(&dependency.name))
                && (request.ecosystems.is_empty()
                    || request.ecosystems.contains(&dependency.ecosystem))
                && (dependency.is_direct || !request.direct)
                && (dependency.missing.is_some() || !request.missing)
        });
        Ok(DependenciesAnswer { dependencies, total, warnings })
    }
}

/// Returns the names as globs, whose `*` also matches a slash.
fn named(names: &[String]) -> Result<GlobSet, AskError> {
    let mut set = GlobSetBuilder::new();
    for name in names {
        let glob = GlobBuilder::new(name).case_insensitive(true).build();
        set.add(glob.map_err(|e| AskError::Arguments(format!("`{name}`: {}", e.kind())))?);
    }
    set.build().map_err(|e| AskError::Arguments(e.to_string()))
}
