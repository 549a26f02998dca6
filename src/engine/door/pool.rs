//! Projects that one process serves. Each is open while it is asked, and is closed when it was not
//! for long, or when memory is short.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::config::{self, Config, SettingsFiles};
use crate::dir::Dir;
use crate::engine::door::project::{Project, ProjectError};
use crate::engine::door::serving::OpenProject;
use crate::engine::door::serving::{AnswerFrom, Engine};
use crate::live::resident_bytes;

/// A project that was asked within this time is not closed, whatever the memory.
const AT_WORK: Duration = Duration::from_secs(2);

/// Notifies all who follow a project that its state may have changed.
#[derive(Debug, Clone)]
pub struct Changes(watch::Sender<()>);

impl Default for Changes {
    fn default() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl Changes {
    /// Returns a function to call when the state may have changed, on any thread.
    #[must_use]
    pub fn callback(&self) -> Arc<dyn Fn() + Send + Sync> {
        let sender = self.0.clone();
        Arc::new(move || sender.send_replace(()))
    }

    /// Returns a receiver of all changes from now on.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}

/// How much a [`Pool`] may keep open.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Resident bytes of the process.
    pub bytes: u64,
    /// A project that was not asked for this long is closed.
    pub idle: Duration,
    /// Most projects that are open at a time: each has threads, watches and open files.
    pub open: usize,
}

/// The projects that a process serves.
pub struct Pool {
    limits: PoolLimits,
    projects: Mutex<HashMap<PathBuf, Arc<Pooled>>>,
}

/// A project whose engine may be closed between two questions.
pub struct Pooled {
    root: PathBuf,
    /// The memory budget of its engine in bytes; `None` if the settings of the project decide.
    budget: Option<u64>,
    changes: Changes,
    engine: Mutex<Option<Opened>>,
    asked: Mutex<Instant>,
    /// Whether the project had memories when its engine was open.
    remembers: AtomicBool,
}

/// An open engine.
struct Opened {
    engine: Arc<Engine>,
    /// The files of settings at that time, or those that were told to be of no use.
    settings: SettingsFiles,
}

impl Opened {
    fn new(engine: Arc<Engine>) -> Self {
        Self { settings: settings_of(&engine.project), engine }
    }
}

impl Pooled {
    /// Keeps an engine that is open, for ever. `changes` is what the engine notifies.
    #[must_use]
    pub fn open(engine: Arc<Engine>, changes: Changes) -> Self {
        Self {
            root: engine.project.layout.root().to_path_buf(),
            budget: None,
            changes,
            remembers: AtomicBool::new(engine.remembers()),
            engine: Mutex::new(Some(Opened::new(engine))),
            asked: Mutex::new(Instant::now()),
        }
    }

    fn closed(root: &Path, limits: &PoolLimits) -> Self {
        Self {
            root: root.to_path_buf(),
            budget: Some(limits.bytes),
            changes: Changes::default(),
            engine: Mutex::default(),
            asked: Mutex::new(Instant::now()),
            remembers: AtomicBool::new(false),
        }
    }

    /// Returns the root of the project.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what notifies of changes, also of those of a later engine.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns the engine, and opens it if it is closed, which may take a while. An engine whose
    /// directory was moved or replaced is closed first, so that no other project answers, and so is
    /// one whose settings have changed, unless the new ones cannot be used.
    ///
    /// # Errors
    /// When the project cannot be opened, for example because its directory is gone.
    pub fn engine(&self) -> Result<Arc<Engine>, ProjectError> {
        let mut open = self.engine.lock();
        self.touch();
        if let Some(opened) = &mut *open
            && (self.budget.is_none() || self.may_go_on(opened))
        {
            return Ok(opened.engine.clone());
        }
        close(open.take());
        let gone = || ProjectError::Gone(self.root.clone());
        Dir::open(&self.root).map_err(|_| gone())?;
        let engine = match Project::open(Some(&self.root)) {
            Err(why) if why.is_no_project() => {
                let project = Project::absent(Some(&self.root), &why)?;
                Engine::for_command(project, AnswerFrom::Index, Box::new(|_| ()))?
            }
            opened => {
                let mut project = opened?;
                if project.layout.root() != self.root {
                    return Err(gone());
                }
                project.config.memory_budget = self.budget;
                Engine::for_server(project, true, self.changes.callback())?
            }
        };
        let engine = Arc::new(engine);
        self.remembers.store(engine.remembers(), Ordering::Relaxed);
        *open = Some(Opened::new(engine.clone()));
        Ok(engine)
    }

    /// Whether an engine may go on: its directory is where it was, and so are its settings. Settings
    /// that cannot be used are told once, and the old ones hold.
    fn may_go_on(&self, Opened { engine, settings }: &mut Opened) -> bool {
        if engine.project.layout.tree().check_in_place().is_err() {
            return false;
        }
        if engine.project.is_absent().is_some() {
            return Project::open(Some(&self.root)).is_err();
        }
        let now = settings_of(&engine.project);
        if *settings == now {
            return true;
        }
        *settings = now;
        let opened = Project::open(Some(&self.root));
        if let Err(e) = &opened {
            tracing::warn!("{}: the old settings hold: {e}", self.root.display());
        }
        opened.is_err()
    }

    /// Returns the engine if it is open and nobody opens or closes it just now. This is no question:
    /// it keeps nothing open.
    #[must_use]
    pub fn engine_if_open(&self) -> Option<Arc<Engine>> {
        Some(self.engine.try_lock()?.as_ref()?.engine.clone())
    }

    /// Whether the project has memories; in a closed project, whether it had.
    #[must_use]
    pub fn remembers(&self) -> bool {
        if let Some(engine) = self.engine_if_open() {
            self.remembers.store(engine.remembers(), Ordering::Relaxed);
        }
        self.remembers.load(Ordering::Relaxed)
    }

    /// Whether the directory of the project is there, and is a project.
    #[must_use]
    pub fn is_there(&self) -> bool {
        match self.engine_if_open() {
            Some(engine) => {
                let Project { layout, .. } = &*engine.project;
                engine.project.is_absent().is_none() && layout.tree().check_in_place().is_ok()
            }
            None => Project::open(Some(&self.root)).is_ok_and(|p| p.layout.root() == self.root),
        }
    }

    /// Notes that somebody follows the project, as if they asked.
    pub fn touch(&self) {
        *self.asked.lock() = Instant::now();
    }

    /// Returns how long nobody has asked.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.asked.lock().elapsed()
    }

    /// Closes the engine, unless it is open for ever or somebody uses it. Returns whether it was closed.
    fn close(&self) -> bool {
        if self.budget.is_none() {
            return false;
        }
        let Some(mut open) = self.engine.try_lock() else { return false };
        let is_unused = open.as_ref().is_some_and(|o| Arc::strong_count(&o.engine) == 1);
        if is_unused {
            close(open.take());
        }
        is_unused
    }
}

fn settings_of(project: &Project) -> SettingsFiles {
    Config::files(&project.layout.own_place(), config::user_file().as_deref())
}

/// Ends an engine. What is loaded is saved, so that the next one begins with it.
fn close(opened: Option<Opened>) {
    if let Some(Opened { engine, .. }) = opened {
        engine.stop();
        engine.save(0.0);
    }
}

impl Pool {
    #[must_use]
    pub fn new(limits: PoolLimits) -> Self {
        Self { limits, projects: Mutex::default() }
    }

    /// Returns the project of this root. It is opened by the first question.
    #[must_use]
    pub fn project(&self, root: &Path) -> Arc<Pooled> {
        let mut projects = self.projects.lock();
        let new = || Arc::new(Pooled::closed(root, &self.limits));
        projects.entry(root.to_path_buf()).or_insert_with(new).clone()
    }

    /// Adds a project that is open already.
    #[must_use]
    pub fn with(self, project: Arc<Pooled>) -> Self {
        self.projects.lock().insert(project.root.clone(), project);
        self
    }

    /// Returns all projects that were asked, the last one first.
    #[must_use]
    pub fn projects(&self) -> Vec<Arc<Pooled>> {
        let mut projects: Vec<_> = self.projects.lock().values().cloned().collect();
        projects.sort_by_key(|project| project.idle());
        projects
    }

    #[must_use]
    pub fn limits(&self) -> PoolLimits {
        self.limits
    }

    fn has_room_for(&self, root: &Path) -> bool {
        let open: Vec<_> = self
            .projects()
            .into_iter()
            .filter(|project| project.engine_if_open().is_some())
            .collect();
        open.len() < self.limits.open || open.iter().any(|project| project.root == root)
    }

    /// Closes the projects that are gone, those that were not asked for long, those over the number that may be open, and
    /// one more if the process holds more than its budget. To be called again and again.
    pub fn tidy(&self) {
        let open = self.projects().into_iter().filter(|project| project.engine_if_open().is_some());
        let (mut kept, mut is_over) = (0, resident_bytes().is_some_and(|b| b > self.limits.bytes));
        let mut candidates = Vec::new();
        for project in open {
            let idle = project.idle();
            if !project.is_there() {
                tracing::debug!("closing {}, which is gone", project.root.display());
                is_over &= !project.close();
            } else if idle > self.limits.idle.max(AT_WORK)
                || kept >= self.limits.open && idle > AT_WORK
            {
                tracing::debug!("closing {}", project.root.display());
                is_over &= !project.close();
            } else {
                kept += 1;
                candidates.push(project);
            }
        }
        // The one that was asked last stays, whatever it holds.
        for project in candidates.into_iter().skip(1).rev() {
            if is_over && project.idle() > AT_WORK {
                tracing::debug!("closing {}, because memory is short", project.root.display());
                is_over = !project.close();
            }
        }
    }
}

impl OpenProject for Pool {
    /// A question may ask more projects than may be open. The rest is opened for this question alone,
    /// as a command does, without threads and watches.
    fn engine(&self, root: &Path) -> Result<Arc<Engine>, ProjectError> {
        if self.has_room_for(root) {
            return self.project(root).engine();
        }
        let project = Project::open(Some(root))?;
        Ok(Arc::new(Engine::for_command(project, AnswerFrom::Tree, Box::new(|_| ()))?))
    }
}
