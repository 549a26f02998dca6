//! The engines of the user's other projects.

use std::path::Path;
use std::sync::Arc;

use globset::Glob;

use super::many::AskedProject;
use super::project::{Project, ProjectError};
use super::serving::{AnswerFrom, Engine};
use super::{AskError, FrontEnd};
use crate::projects::{KnownProject, Projects};

/// Opens engines of projects. It keeps none: each question opens the projects that it asks.
#[derive(Clone, Copy)]
pub struct Pool {
    look: AnswerFrom,
    front_end: FrontEnd,
}

impl Pool {
    /// Creates a pool whose engines answer from this state.
    #[must_use]
    pub fn new(look: AnswerFrom, front_end: FrontEnd) -> Self {
        Self { look, front_end }
    }

    /// Returns an engine of the project of `root`.
    ///
    /// # Errors
    /// When the project cannot be opened.
    pub fn engine(&self, root: &Path) -> Result<Arc<Engine>, ProjectError> {
        let mut project = Project::open(Some(root))?;
        project.front_end = self.front_end;
        Ok(Arc::new(Engine::for_command(project, self.look, Box::new(|_| ()))?))
    }

    /// Opens projects. One that cannot be opened is left out, and a warning says so.
    ///
    /// # Errors
    /// When none can be opened.
    pub fn open(
        &self,
        wanted: &[KnownProject],
    ) -> Result<(Vec<AskedProject>, Vec<String>), AskError> {
        let (mut asked, mut warnings) = (Vec::new(), Vec::new());
        for KnownProject { name, root } in wanted {
            match self.engine(root) {
                Ok(engine) => asked.push(AskedProject { name: name.clone(), engine }),
                Err(e) => warnings.push(format!("{name} is left out: {}", super::chain(&e))),
            }
        }
        if asked.is_empty() {
            return Err(AskError::Failed(warnings.join("; ")));
        }
        Ok((asked, warnings))
    }
}

/// Selects projects by names or globs of names; `*` selects all. Returns them in the order of their
/// names, and warnings.
///
/// # Errors
/// When a name is no project or several, or a glob matches none.
pub fn chosen(
    known: &Projects,
    wanted: &[String],
) -> Result<(Vec<KnownProject>, Vec<String>), AskError> {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for name in wanted {
        if !name.contains(['*', '?', '[', '{']) {
            let project = known.named(name).map_err(|e| AskError::Arguments(e.to_string()))?;
            found.push(project.clone());
            continue;
        }
        let glob = Glob::new(name)
            .map_err(|e| AskError::Arguments(format!("`{name}` is no glob: {e}")))?
            .compile_matcher();
        let n = found.len();
        found.extend(known.there.iter().filter(|project| glob.is_match(&project.name)).cloned());
        if found.len() == n {
            return Err(AskError::Arguments(format!("no project has a name like `{name}`")));
        }
        let gone =
            known.gone.iter().filter(|root| glob.is_match(root.file_name().unwrap_or_default()));
        warnings.extend(
            gone.map(|root| format!("{} is left out: it is no longer there", root.display())),
        );
    }
    found.sort();
    found.dedup();
    warnings.dedup();
    Ok((found, warnings))
}
