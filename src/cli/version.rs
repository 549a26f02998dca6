//! `cortex --version`.

use anyhow::Result;

use super::outcome::Outcome;
use super::render::line;
use crate::embed::{Embedder, StaticModel};
use crate::languages;

/// The commit of a release build; empty in a build for development.
const COMMIT: &str = env!("BUILD_COMMIT");

pub(super) fn run(verbose: bool) -> Result<Outcome> {
    line(&format!("cortex {}", env!("CARGO_PKG_VERSION")))?;
    if verbose {
        let commit = if COMMIT.is_empty() { "unknown (not a release build)" } else { COMMIT };
        line(&format!("commit    {commit}"))?;
        line(&format!("target    {}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
        line(&format!("model     {}", StaticModel::bundled().id()))?;
        line(&format!("languages {} parsed", languages::grammars().len()))?;
        let own = std::env::current_exe().map(|path| path.display().to_string());
        line(&format!("program   {}", own.unwrap_or_else(|e| e.to_string())))?;
    }
    Ok(Outcome::Done)
}
