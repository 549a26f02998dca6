//! The engines of the user's other projects.

use std::path::Path;
use std::sync::Arc;

use super::FrontEnd;
use super::project::{Project, ProjectError};
use super::serving::{AnswerFrom, Engine, OpenProject};

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
}

impl OpenProject for Pool {
    fn engine(&self, root: &Path) -> Result<Arc<Engine>, ProjectError> {
        let mut project = Project::open(Some(root))?;
        project.front_end = self.front_end;
        Ok(Arc::new(Engine::for_command(project, self.look, Box::new(|_| ()))?))
    }
}
