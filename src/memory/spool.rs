//! What could not be stored in time: redacted, a line each, in a file that the next one drains who opens the database.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::capture::{CaptureError, MemoryCaptureService, without_secrets};
use super::{Memory, Session, SessionStatus};

/// Keeps a memory for later.
///
/// # Errors
/// When the file cannot be written.
pub fn append(spool: &Path, memory: Memory) -> io::Result<()> {
    let (memory, _) = without_secrets(memory);
    let mut line = serde_json::to_string(&memory)?;
    line.push('\n');
    // One write, so that lines of several processes do not mix.
    OpenOptions::new().create(true).append(true).mode(0o600).open(spool)?.write_all(line.as_bytes())
}

/// Stores what was kept, also by one who died while draining. Returns how many memories that were. What cannot be stored stays
/// for the next one; a line that was cut off is dropped, with a warning.
///
/// # Errors
/// When the database refuses.
pub fn drain(spool: &Path, capture: &MemoryCaptureService) -> Result<usize, CaptureError> {
    let mut n = 0;
    for file in taken(spool) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            let memory: Memory = match serde_json::from_str(line) {
                Ok(memory) => memory,
                Err(e) => {
                    tracing::warn!("{}: a memory was not written to its end, and is lost: {e}", file.display());
                    continue;
                }
            };
            if !memory.session_id.is_empty() && capture.store().session(&memory.session_id)?.is_none() {
                let (id, started_at) = (memory.session_id.clone(), memory.created_at);
                let session = Session { id, started_at, ended_at: None, status: SessionStatus::Active, memory_count: 0, process: None };
                capture.store().put_session(&session)?;
            }
            match capture.capture(memory) {
                Ok(_) => n += 1,
                Err(CaptureError::EmptyContent) => {}
                Err(e) => return Err(e),
            }
        }
        let _ = fs::remove_file(&file);
    }
    Ok(n)
}

/// The files of what was kept, taken away from those who keep more.
fn taken(spool: &Path) -> Vec<PathBuf> {
    let own = spool.with_extension(format!("spool-{}", std::process::id()));
    let _ = fs::rename(spool, &own);
    let Some((directory, name)) = spool.parent().zip(spool.file_name().and_then(|n| n.to_str())) else { return Vec::new() };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|e| e.path());
    let is_taken = |p: &PathBuf| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&format!("{name}-")));
    let mut all: Vec<PathBuf> = entries.filter(is_taken).collect();
    all.sort();
    all
}
