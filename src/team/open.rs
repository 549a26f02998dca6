//! Opens the depot that a URL names.

use std::sync::Arc;

use cortex_depot::Depot;
#[cfg(feature = "team")]
use cortex_depot::patient::Patient;
use cortex_depot::shelf::Shelf;

use super::TeamError;

/// Opens a depot. It connects with the first call. `memory:` is one of this process.
///
/// # Errors
/// When the URL names no depot, or this program has no client for it.
pub fn open(url: &str) -> Result<Arc<dyn Depot>, TeamError> {
    match url.split_once(':').unwrap_or_default().0 {
        "memory" => Ok(Arc::new(Shelf::default())),
        #[cfg(feature = "team")]
        "postgres" | "postgresql" => {
            let options = cortex_depot::postgres::Options::default();
            Ok(Arc::new(Patient::new(cortex_depot::postgres::Postgres::new(url, &options)?)))
        }
        #[cfg(feature = "team")]
        "milvus" => {
            let options = cortex_depot::milvus::Options::default();
            Ok(Arc::new(Patient::new(cortex_depot::milvus::Milvus::new(url, &options)?)))
        }
        #[cfg(not(feature = "team"))]
        engine @ ("postgres" | "postgresql" | "milvus") => Err(TeamError::NoClient(engine.into())),
        _ => Err(TeamError::NoDepot),
    }
}
