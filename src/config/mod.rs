//! Settings: flags override `CORTEX_*`, which override the user's own file, which overrides
//! `.cortex/config.toml`. They are resolved and checked once.
//!
//! Only `table.rs` lists the settings: their keys, types, defaults and meaning, and who may set
//! them. Readers, environment variables and the documentation follow from it. A project's file comes
//! with the code, from strangers: it may choose what is indexed and how results look, and nothing
//! else.

mod homes;
mod model;
mod read;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use homes::{
    cache_home, config_home, environment, home, settings_of_environment, socket_homes, state_home,
    user_file,
};
pub use read::{ConfigError, SettingsFiles};
pub use table::{Config, KEYS, SettingOrigin};
pub use values::{Globs, Location, MAX_LIMIT, RemoteModel, address, globs};
