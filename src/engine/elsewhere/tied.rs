//! Finds the user's projects that the manifests of a project tie to it by a path.
//!
//! A manifest may name any path. One that does not lead into a project that the user has (see
//! [`crate::projects`]) changes nothing, and nothing there is opened.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use globset::GlobSet;

use crate::deps::Ties;
use crate::engine::door::project::Project;
use crate::engine::door::serving::Engine;
use crate::engine::door::serving::OpenProject;
use crate::engine::elsewhere::deps::Ecosystem;
use crate::engine::elsewhere::packages::left_out;
use crate::engine::{AskError, Call};
use crate::projects::{KnownProject, Projects};
use crate::text::chain;

/// Most tied projects that one answer opens.
const MAX_OPENED: usize = 4;
/// Why a name of a project that was not opened has no address.
const NOT_OPENED: &str = "not looked up: it is in one of too many projects";
/// Why a name of a project without an index has none: a question about another one makes no index.
const NO_INDEX: &str = "that project has no index: run `cortex index` there";

/// The projects that are tied to one project, opened for one answer.
pub(in crate::engine) struct TiedProjects<'a> {
    project: &'a Project,
    ties: Ties<'a>,
    /// Opens projects; `None` if the caller may ask one project only.
    others: Option<&'a dyn OpenProject>,
    known: OnceCell<Projects>,
    left_out: Arc<GlobSet>,
    opened: BTreeMap<PathBuf, Result<Arc<Engine>, String>>,
}

/// A folder of a project that a manifest ties as a dependency.
pub(in crate::engine) struct TiedFolder {
    /// The name of the project.
    pub(in crate::engine) name: String,
    /// The folder, relative to the root of the project; it ends with a slash, or is empty.
    pub(in crate::engine) within: String,
    /// Globs of the files in it that those who use it do not see.
    pub(in crate::engine) left_out: Arc<GlobSet>,
    /// The engine of the project, or why it is not asked.
    pub(in crate::engine) engine: Result<Arc<Engine>, String>,
}

impl<'a> TiedProjects<'a> {
    pub(in crate::engine) fn new(project: &'a Project, call: &'a Call) -> Result<Self, AskError> {
        Ok(Self {
            project,
            ties: Ties::new(project.layout.tree()),
            others: call.others.as_deref(),
            known: OnceCell::new(),
            left_out: Arc::new(left_out()?),
            opened: BTreeMap::new(),
        })
    }

    /// Returns the folder of another project of the user that a manifest around `file` ties as a
    /// dependency; `None` if there is none, or the caller may not ask it. `is_it` is asked about names
    /// of dependencies.
    pub(in crate::engine) fn of(
        &mut self,
        ecosystem: Ecosystem,
        file: &str,
        is_it: &dyn Fn(&str) -> bool,
    ) -> Option<TiedFolder> {
        let others = self.others?;
        let own = self.project.layout.root();
        let folder = self.ties.folder(ecosystem, file, is_it)?;
        if folder.starts_with(own) {
            return None;
        }
        let known = self.known.get_or_init(|| self.project.all());
        let around = known.there.iter().filter(|project| folder.starts_with(&project.root));
        let KnownProject { name, root } =
            around.max_by_key(|project| project.root.as_os_str().len())?;
        let mut within = folder.strip_prefix(root).ok()?.to_str()?.to_string();
        if !within.is_empty() {
            within.push('/');
        }
        let n_opened = self.opened.values().filter(|engine| engine.is_ok()).count();
        let engine = self.opened.entry(root.clone()).or_insert_with(|| {
            if n_opened >= MAX_OPENED {
                return Err(NOT_OPENED.to_string());
            }
            let project = Project::open(Some(root)).map_err(|e| chain(&e))?;
            if !project.layout.is_indexed() || project.layout.root() != root {
                return Err(NO_INDEX.to_string());
            }
            others.engine(root).map_err(|e| chain(&e))
        });
        let (name, left_out) = (name.clone(), self.left_out.clone());
        Some(TiedFolder { name, within, left_out, engine: engine.clone() })
    }
}
