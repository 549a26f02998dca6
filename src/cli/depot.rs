//! Selects the depot of a team.

use std::sync::Arc;

use anyhow::{Context as _, Result};

use crate::config::{self, Config};
use crate::team::{self, Depot};

/// The depot of a team.
#[derive(clap::Args)]
pub(super) struct OfDepot {
    /// The depot: `postgres://user@host/database` or `milvus://host:port/database`. Other users can
    /// see command lines, so pass a password by `CORTEX_TEAM_URL` [default: `team.url` of your settings]
    #[arg(long = "to", visible_alias = "from", value_name = "URL")]
    url: Option<String>,
}

impl OfDepot {
    pub(super) fn open(&self) -> Result<Arc<dyn Depot>> {
        let user = config::user_file();
        let settings = Config::load_or_default(None, user.as_deref(), config::environment())?;
        let url = self.url.clone().or(settings.team_url);
        let advice = "name the depot of your team by --to URL, in CORTEX_TEAM_URL, or as team.url in ~/.config/cortex/config.toml";
        Ok(team::open(&url.context(advice)?)?)
    }
}
