//! Which agents a machine has, and where their files are.

#![expect(clippy::disallowed_methods, reason = "asks where agents and programs are")]

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::known::Agent;
use super::ours::PROGRAMS;
use super::part::{AgentPart, Scope};

/// The places that paths of agents begin with.
#[derive(Debug, Clone)]
pub struct Home {
    /// The user's home directory.
    pub home: PathBuf,
    /// The directory of configuration files: on macOS, that of applications.
    pub config: PathBuf,
    /// The root of the project. Where no project is, this is the home directory.
    pub project: PathBuf,
    /// The value of `PATH`.
    pub path: Option<OsString>,
}

impl Home {
    /// Returns the scopes that have files of their own here.
    #[must_use]
    pub fn scopes(&self) -> &'static [Scope] {
        if self.project == self.home { &[Scope::User] } else { &[Scope::User, Scope::Project] }
    }

    /// Returns the absolute path that a path of an agent means: `~`, `{config}` and `{NAME|path}`,
    /// the value of a variable, or else a path.
    fn full(&self, path: &str, scope: Scope) -> PathBuf {
        if let Some(rest) = path.strip_prefix('{')
            && let Some((name, after)) = rest.split_once('}')
        {
            let after = after.trim_start_matches('/');
            if let Some((variable, usual)) = name.split_once('|') {
                let set = env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
                return set.unwrap_or_else(|| self.full(usual, scope)).join(after);
            }
            return self.config.join(after);
        }
        match (path.strip_prefix("~/"), scope) {
            (Some(below), _) => self.home.join(below),
            (None, Scope::User) => self.home.join(path),
            (None, Scope::Project) => self.project.join(path),
        }
    }

    /// Returns the file of a part in a scope: the first that exists, else the last.
    #[must_use]
    pub fn file(&self, part: &AgentPart, scope: Scope) -> Option<PathBuf> {
        let paths: Vec<_> = part.paths(scope).iter().map(|p| self.full(p, scope)).collect();
        let existing = paths.iter().find(|p| p.exists());
        let chosen = existing.or(paths.last())?;
        (existing.is_some() || !part.only_existing).then(|| chosen.clone())
    }

    /// Returns the file of a part on a machine without any.
    pub(super) fn first_file(&self, part: &AgentPart, scope: Scope) -> Option<PathBuf> {
        Some(self.full(part.paths(scope).last()?, scope))
    }

    /// Returns why an agent is thought to be installed: its program, or a folder of its own.
    #[must_use]
    pub fn found(&self, agent: &Agent) -> Option<PathBuf> {
        let program = agent.binaries.iter().find_map(|name| self.on_path(name).next());
        program.or_else(|| {
            agent.folders.iter().map(|f| self.full(f, Scope::User)).find(|f| f.exists())
        })
    }

    /// Returns our second name, if it starts the program at `own`.
    #[must_use]
    pub fn second_name(&self, own: &Path) -> Option<&'static str> {
        let first = self.on_path(PROGRAMS[1]).next()?;
        (real(&first).parent() == real(own).parent()).then_some(PROGRAMS[1])
    }

    /// Returns the program that a word of a command starts, by its absolute path. A path that is
    /// relative, also by a relative folder in `PATH`, would mean a file of the project.
    pub(super) fn program(&self, word: &str) -> Result<PathBuf, String> {
        match Path::new(word) {
            path if path.is_absolute() => Ok(path.to_path_buf()),
            path if path.components().count() > 1 || word.contains('/') => Err(format!(
                "{word} is a relative path, which means another program in each project (write its absolute path)"
            )),
            _ => self.on_path(word).next().ok_or_else(|| format!("{word} is not on PATH")),
        }
    }

    /// Returns the programs of a name, in the order of `PATH`.
    fn on_path<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        let folders = self.path.iter().flat_map(env::split_paths).filter(|d| d.is_absolute());
        folders.map(move |folder| folder.join(name)).filter(|file| file.is_file())
    }
}

/// Programs on `PATH` that have a name of ours.
#[derive(Debug, Default)]
pub struct Others {
    /// The program that the name starts in a shell.
    pub first: Option<PathBuf>,
    /// Programs of the name `cortex` that are another one.
    pub foreign: Vec<PathBuf>,
}

/// Finds the programs with the names of this one. One with our second name beside it is a version
/// of this program.
#[must_use]
pub fn others_on_path(home: &Home, own: &Path) -> Others {
    let own = real(own);
    let is_own = |file: &PathBuf| {
        let file = real(file);
        file == own || file.with_file_name(PROGRAMS[1]).is_file()
    };
    let all: Vec<PathBuf> = home.on_path(PROGRAMS[0]).collect();
    Others {
        first: all.first().cloned(),
        foreign: all.into_iter().filter(|file| !is_own(file)).collect(),
    }
}

/// Returns the file that a path leads to; the path itself if it leads nowhere.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
