//! Starts and ends sessions.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::now;
use super::session::{Session, SessionStatus};
use super::sql::{MemoryStore, StorageError};
use crate::dir::{OwnedDir, PRIVATE_FILE};

/// A session without a memory for this long is ended, because hooks do not say which process it
/// belongs to.
const SILENCE: TimeDelta = TimeDelta::hours(24);

/// The file that names the current session.
const CURRENT: &str = "memory.session";
/// Larger files are not read; an id is much shorter.
const MAX_ID: u64 = 1 << 12;

/// Why a session was not started or ended.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the session {session_id} is under way: end it first")]
    AlreadyActive { session_id: String },
    #[error(transparent)]
    StorageFailed(#[from] StorageError),
    #[error(transparent)]
    FileFailed(#[from] io::Error),
}

/// Starts and ends sessions. A file holds the id of the current one.
#[derive(Debug, Clone)]
pub struct SessionManager {
    store: Arc<MemoryStore>,
    /// Directory of the file that names the current session.
    place: OwnedDir,
}

impl SessionManager {
    #[must_use]
    pub fn new(store: Arc<MemoryStore>, place: OwnedDir) -> Self {
        Self { store, place }
    }

    /// Starts a session for an agent that does not name its sessions, and returns its id.
    ///
    /// # Errors
    /// When a session is active, or the new one cannot be written.
    pub fn start_session(&self) -> Result<String, SessionError> {
        self.give_up_abandoned()?;
        if let Some(session_id) = self.current_session()?
            && self.store.session(&session_id)?.is_some_and(|s| s.status == SessionStatus::Active)
        {
            return Err(SessionError::AlreadyActive { session_id });
        }
        let id = Uuid::new_v4().to_string();
        self.begin(&id)?;
        Ok(id)
    }

    /// Makes the session with this id, which the agent chose, the current one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn resume(&self, id: &str) -> Result<(), SessionError> {
        self.give_up_abandoned()?;
        if self.store.session(id)?.is_some_and(|s| s.status == SessionStatus::Active) {
            return self.write_current(id);
        }
        self.begin(id)
    }

    fn begin(&self, id: &str) -> Result<(), SessionError> {
        let started_at = self.store.session(id)?.map_or_else(now, |s| s.started_at);
        self.store.put_session(&Session::begun(id, started_at))?;
        self.write_current(id)
    }

    fn write_current(&self, id: &str) -> Result<(), SessionError> {
        Ok(self.place.open()?.replace(CURRENT, id.as_bytes(), PRIVATE_FILE, false)?)
    }

    /// Ends a session. An unknown or ended session is left unchanged.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_session(&self, id: &str) -> Result<(), SessionError> {
        if let Some(session) = self.store.session(id)?.filter(|s| s.status == SessionStatus::Active)
        {
            self.end(session, SessionStatus::Completed)?;
        }
        if self.current_session()?.as_deref() == Some(id) {
            // Another session may still be active; the one that did something last is current.
            self.write_current(&self.store.latest_active_session()?.unwrap_or_default())?;
        }
        Ok(())
    }

    fn end(&self, session: Session, status: SessionStatus) -> Result<(), StorageError> {
        self.store.put_session(&Session { ended_at: Some(now()), status, ..session })
    }

    /// Returns the id of the current session.
    ///
    /// # Errors
    /// When the file that names it exists and cannot be read.
    pub fn current_session(&self) -> Result<Option<String>, SessionError> {
        Ok(current(&self.place)?)
    }

    /// Ends sessions without activity for [`SILENCE`]: the process of their agent has died.
    fn give_up_abandoned(&self) -> Result<(), SessionError> {
        for session in self.store.active_sessions()? {
            if Utc::now() - self.store.last_activity(&session)? > SILENCE {
                self.end(session, SessionStatus::Abandoned)?;
            }
        }
        Ok(())
    }
}

/// Reads the id of the current session.
pub(super) fn current(place: &OwnedDir) -> io::Result<Option<String>> {
    match place.open().and_then(|dir| dir.read_text(CURRENT, MAX_ID)) {
        Ok(id) => Ok(Some(id.trim().to_string()).filter(|id| !id.is_empty())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn manager(dir: &tempfile::TempDir) -> SessionManager {
        let store = Arc::new(MemoryStore::open(&dir.path().join("memory.db")).unwrap());
        SessionManager::new(
            store,
            OwnedDir::new(Arc::new(crate::dir::Dir::open(dir.path()).unwrap()), "."),
        )
    }

    #[test]
    fn a_session_begins_once_and_ends_as_often_as_one_likes() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = manager(&dir);
        assert_eq!(sessions.current_session().unwrap(), None);
        let id = sessions.start_session().unwrap();
        assert!(Uuid::parse_str(&id).is_ok());
        assert_eq!(sessions.current_session().unwrap().as_ref(), Some(&id));
        assert!(
            matches!(sessions.start_session(), Err(SessionError::AlreadyActive { session_id }) if session_id == id)
        );
        for _ in 0..2 {
            sessions.end_session(&id).unwrap();
            sessions.end_session("unknown").unwrap();
        }
        let ended = sessions.store.session(&id).unwrap().unwrap();
        assert!(ended.status == SessionStatus::Completed && ended.ended_at.is_some());
        assert_eq!(fs::read_to_string(dir.path().join(CURRENT)).unwrap(), "");
        assert_ne!(sessions.start_session().unwrap(), id);
    }

    #[test]
    fn a_session_of_which_nothing_is_heard_is_abandoned() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = manager(&dir);
        let id = sessions.start_session().unwrap();
        let silent = |hours: i32| {
            let session = sessions.store.session(&id).unwrap().unwrap();
            sessions.store.put_session(&session).unwrap();
            let c = rusqlite::Connection::open(dir.path().join("memory.db")).unwrap();
            c.execute("UPDATE sessions SET started_at = started_at - ?1 * 3600000", [hours])
                .unwrap();
        };
        silent(23);
        assert!(
            matches!(sessions.start_session(), Err(SessionError::AlreadyActive { .. })),
            "it may go on"
        );
        silent(2);
        assert_ne!(sessions.start_session().unwrap(), id);
        assert_eq!(sessions.store.session(&id).unwrap().unwrap().status, SessionStatus::Abandoned);
    }

    #[test]
    fn an_agent_names_its_sessions_and_comes_back_to_them() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = manager(&dir);
        sessions.resume("a").unwrap();
        let started_at = sessions.store.session("a").unwrap().unwrap().started_at;
        sessions.resume("b").unwrap();
        assert_eq!(sessions.current_session().unwrap().as_deref(), Some("b"));
        sessions.end_session("a").unwrap();
        assert_eq!(
            sessions.current_session().unwrap().as_deref(),
            Some("b"),
            "another one is under way"
        );
        sessions.resume("a").unwrap();
        let again = sessions.store.session("a").unwrap().unwrap();
        assert_eq!((again.started_at, again.status), (started_at, SessionStatus::Active));
    }
}
