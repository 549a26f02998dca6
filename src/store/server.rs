//! The file that tells other programs where the HTTP server of a project listens.

use std::io;
use std::process;

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::Layout;
use super::layout::SERVER;

/// Largest such file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 12;

/// `.cortex/server.json`. Dropping it removes the file, unless another server has overwritten it in
/// the meantime.
#[derive(Debug)]
pub struct ServerFile {
    layout: Layout,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Listening {
    url: String,
    pid: u32,
    started_at: String,
}

impl ServerFile {
    /// Writes that this process listens at `url`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(layout: &Layout, url: &str) -> io::Result<Self> {
        let started_at = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let listening = Listening { url: url.into(), pid: process::id(), started_at };
        layout.replace(SERVER, &serde_json::to_vec(&listening)?)?;
        Ok(Self { layout: layout.clone() })
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        let says = self
            .layout
            .read(SERVER, MAX_BYTES)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Listening>(&bytes).ok());
        if says.is_some_and(|l| l.pid == process::id()) {
            let _ = self.layout.remove(SERVER);
        }
    }
}
