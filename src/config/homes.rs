//! The directories of the user, and what the environment says.

use std::path::PathBuf;

use super::table::{KEYS, env_name};

/// File name in `.cortex` of the project, and in `cortex` of the user's configuration directory.
pub(super) const FILE: &str = "config.toml";

/// Returns the path of the user's own settings: `$XDG_CONFIG_HOME/cortex/config.toml`.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    Some(config_home()?.join("cortex").join(FILE))
}

/// Returns the user's home directory, from the environment.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Returns the directory of the user's configuration files: `$XDG_CONFIG_HOME`, else `~/.config`.
#[must_use]
pub fn config_home() -> Option<PathBuf> {
    user_dir("XDG_CONFIG_HOME", ".config")
}

/// Returns the directory for files that may be deleted at any time:
/// `$XDG_CACHE_HOME`, else `~/.cache`.
#[must_use]
pub fn cache_home() -> Option<PathBuf> {
    user_dir("XDG_CACHE_HOME", ".cache")
}

/// Returns the directories for the sockets of running programs, the best first: the one that the
/// system makes for each user (`$XDG_RUNTIME_DIR`), and that for state.
#[must_use]
pub fn socket_homes() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|path| path.is_absolute()).into_iter().chain(state_home()).collect()
}

/// Returns the variables of the environment. Cortex has none that are not UTF-8.
#[must_use]
pub fn environment() -> Vec<(String, String)> {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Returns what the environment decides for all projects of the user: settings, and where the files
/// of the user are. Two programs with the same values answer alike.
#[must_use]
pub fn settings_of_environment() -> Vec<(String, String)> {
    const PLACES: [&str; 5] =
        ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];
    let settings = KEYS.iter().filter(|(key, ..)| *key != "serve.shared").map(|k| env_name(k.0));
    let names = settings.chain(PLACES.map(String::from));
    names.filter_map(|name| std::env::var(&name).ok().map(|value| (name, value))).collect()
}

/// Returns the directory for the state of programs: `$XDG_STATE_HOME`, else `~/.local/state`.
#[must_use]
pub fn state_home() -> Option<PathBuf> {
    user_dir("XDG_STATE_HOME", ".local/state")
}

/// Returns the directory of the variable, or else the one below the home directory. A relative path
/// in the variable is ignored, as the XDG base directory specification requires.
fn user_dir(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home()?.join(below_home)))
}
