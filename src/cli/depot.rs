//! Opens the depot that a URL names.

use anyhow::{Context as _, Result, bail};
use cortex_depot::Depot;
#[cfg(feature = "team")]
use cortex_depot::postgres::Options;
use cortex_depot::shelf::Shelf;

/// The depot of a team.
#[derive(clap::Args)]
pub(super) struct OfDepot {
    /// The depot: `postgres://user@host/database` or `milvus://host:port/database`. Other users can
    /// see command lines, so pass a password by the variable
    #[arg(
        long = "to",
        alias = "from",
        value_name = "URL",
        env = "CORTEX_TEAM_URL",
        hide_env_values = true
    )]
    url: Option<String>,
}

impl OfDepot {
    pub(super) fn open(&self) -> Result<Box<dyn Depot>> {
        let url = self.url.as_deref();
        open(url.context("name the depot of your team by --to URL, or in CORTEX_TEAM_URL")?)
    }
}

/// Opens a depot. `memory:` is one of this process.
pub(super) fn open(url: &str) -> Result<Box<dyn Depot>> {
    match url.split_once(':').unwrap_or_default().0 {
        "memory" => Ok(Box::new(Shelf::default())),
        #[cfg(feature = "team")]
        "postgres" | "postgresql" => {
            Ok(Box::new(cortex_depot::postgres::Postgres::new(url, &Options::default())?))
        }
        #[cfg(not(feature = "team"))]
        "postgres" | "postgresql" | "milvus" => bail!(
            "this program was built without the clients of team depots: the packages have them, and so has `cargo install cortex-codesearch --features team`"
        ),
        _ => bail!("a depot begins with `postgres://` or `milvus://`"),
    }
}
