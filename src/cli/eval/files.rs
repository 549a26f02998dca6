//! Reads and writes files that the user names.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

/// Reads a file.
pub(super) fn read_file(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// A file of JSON lines that is being written.
pub(super) struct JsonLinesWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl JsonLinesWriter {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let out =
            File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self { path: path.to_path_buf(), out: BufWriter::new(out) })
    }

    pub(super) fn put(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)?;
        writeln!(self.out, "{text}")
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.out.flush().with_context(|| format!("{} cannot be written", self.path.display()))
    }
}
