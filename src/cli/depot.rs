//! Opens the depot that a URL names.

use anyhow::{Result, bail};
use cortex_depot::Depot;
use cortex_depot::shelf::Shelf;

/// Opens a depot. `memory:` is one of this process.
pub(super) fn open(url: &str) -> Result<Box<dyn Depot>> {
    match url.split(':').next().unwrap_or_default() {
        "memory" => Ok(Box::new(Shelf::default())),
        scheme => bail!("`{scheme}:` is no depot: it begins with `postgres://` or `milvus://`"),
    }
}
