//! Reads settings from their sources, and says which of them cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use toml::Value;

use super::homes::{FILE, user_file};
use super::table::SettingOrigin::{self, Project, ProjectUpTo, User};
use super::table::{Config, KEYS, SetValues, check, env_name, narrows};
use super::values::{Location, written};
use crate::dir::{Dir, OwnedDir, Stat, if_there};

/// Largest file of settings that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The state of the files of settings at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFiles([Option<Stat>; 2]);

/// A setting or a file that cannot be used. The message names the place and says what is valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigError {
    place: String,
    message: String,
}

impl ConfigError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl Config {
    /// Reads the settings: the file in the project's `.cortex`, overridden by the file of the
    /// `user`, overridden by the variables of `env` (name, value).
    ///
    /// A setting that cannot be used is left out, and [`Config::ignored`] says so.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the user's value of a setting that narrows access
    /// cannot be used: its default would widen it.
    pub fn load(
        project: Option<&OwnedDir>,
        user: Option<&Path>,
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut said = MergedSettings::default();
        let unreadable = match project.map(text_of_project).transpose() {
            Ok(Some(Some((path, text)))) => said.project(&path, &text).map(|()| None)?,
            Ok(_) => None,
            Err(e) => Some(e),
        };
        if let Some((path, text)) = user.map(text_of_user).transpose()?.flatten() {
            for (key, _, value) in parse(&path, &text, &mut said.ignored)? {
                said.set(key, value, path.display().to_string(), true)?;
            }
        }
        for (name, value) in env {
            if let Some((key, value)) = from_env(&name, &value, &mut said.ignored) {
                said.set(key, value, name, true)?;
            }
        }
        let mut config = said.resolve()?;
        match unreadable {
            // With the index in the user's cache, an unusable project's file is only a warning.
            Some(e) if config.location == Location::Cache => config.ignored.push(e.to_string()),
            Some(e) => return Err(e),
            None => {}
        }
        Ok(config)
    }

    /// Returns the state of the two files: equal states mean equal settings.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the user's own file, which may be a link")]
    pub fn files(project: &OwnedDir, user: Option<&Path>) -> SettingsFiles {
        let of_user = user.and_then(|path| {
            let real = std::fs::canonicalize(path).ok()?;
            Dir::open(real.parent()?).ok()?.stat(real.file_name()?).ok()?
        });
        let of_project = project.open().ok().and_then(|dir| dir.stat(FILE).ok()?);
        SettingsFiles([of_project, of_user])
    }

    /// Loads the settings for a command that must work even with unusable ones: files that cannot be
    /// used are left out, and [`Config::ignored`] says so.
    ///
    /// # Errors
    /// Only if the defaults are invalid, which is a bug.
    pub fn load_or_default(
        project: Option<&OwnedDir>,
        user: Option<&Path>,
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let env: Vec<_> = env.into_iter().collect();
        Self::load(project, user, env.clone()).or_else(|e| {
            let rest = Self::load(None, user, env).or_else(|_| Self::load(None, None, []));
            rest.map(|mut config| {
                config.ignored.push(format!("ignored settings that cannot be used: {e}"));
                config
            })
        })
    }
}

/// The settings of all sources, merged. A source that is added later overrides the ones before.
#[derive(Default)]
struct MergedSettings {
    values: SetValues,
    ignored: Vec<String>,
    /// The project's file, and its settings that only the user may decide.
    foreign: (String, Vec<&'static str>),
}

impl MergedSettings {
    /// Adds the settings of the project's file that a project may decide, and warns about the
    /// others.
    fn project(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let file = path.display().to_string();
        let (mut not_its_own, mut too_large) = (Vec::new(), Vec::new());
        for (key, origin, value) in parse(path, text, &mut self.ignored)? {
            let n = value.as_integer().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            match origin {
                User => not_its_own.push(key),
                ProjectUpTo(most) if n > most => {
                    too_large.push(format!("{key} (at most {most})"));
                    let most = Value::Integer(i64::try_from(most).unwrap_or(i64::MAX));
                    self.set(key, most, file.clone(), false)?;
                }
                Project | ProjectUpTo(_) => self.set(key, value, file.clone(), false)?,
            }
        }
        if !too_large.is_empty() {
            let what = too_large.join(", ");
            self.ignored.push(format!(
                "{file}: ignored {what}, which only you may set higher; {}",
                set_it()
            ));
        }
        self.foreign = (file, not_its_own);
        Ok(())
    }

    /// Sets a value, if it has the right type and can be used.
    fn set(
        &mut self,
        key: &'static str,
        value: Value,
        place: String,
        is_users: bool,
    ) -> Result<(), ConfigError> {
        match check(key, value.clone()) {
            Ok(()) => {
                self.values.insert(key, (value, place));
            }
            Err(why) if is_users && narrows(key) => {
                return Err(ConfigError::new(place, format!("{key}: {why}")));
            }
            // What an earlier source said of the setting counts, or else its default.
            Err(why) => {
                self.ignored.push(format!("{place}: {key}: {why}. This setting is ignored"));
            }
        }
        Ok(())
    }

    fn resolve(mut self) -> Result<Config, ConfigError> {
        // The file comes with the code, so the user has to confirm these settings.
        let (file, keys) = &self.foreign;
        if !keys.is_empty() {
            let is_decided = keys.iter().all(|key| self.values.contains_key(key));
            let what = keys.join(", ");
            let rest = if is_decided { "yours counts".into() } else { set_it() };
            self.ignored.push(format!("{file}: ignored {what}, which only you may set; {rest}"));
        }
        // The values were checked when they were set.
        let mut config =
            Config::read(self.values).map_err(|why| ConfigError::new("settings", why))?;
        config.ignored = self.ignored;
        match config.model() {
            Ok(model) => config.remote_model = model,
            Err(why) => {
                let place =
                    config.set.get("embed.url").map_or("settings", |(_, place)| place.as_str());
                config.ignored.push(format!("{place}: {why}. The bundled model is used"));
            }
        }
        Ok(config)
    }
}

/// Says where the user sets what a project may not.
fn set_it() -> String {
    let own = user_file().map_or_else(|| "your own settings".into(), |f| f.display().to_string());
    format!("if you want it, set it in {own}")
}

/// Reads the project's file; `None` if it does not exist.
fn text_of_project(place: &OwnedDir) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let text = place.open().and_then(|dir| dir.read_text(FILE, MAX_BYTES));
    found(text).map(|text| Some((place.path().join(FILE), text?)))
}

/// Reads the user's own file; `None` if it does not exist. It may be a link,
/// since dotfile managers create links.
#[expect(clippy::disallowed_methods, reason = "the user's own file, which may be a link")]
fn text_of_user(file: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let read = |real: PathBuf| {
        Dir::open(real.parent().unwrap_or(&real))?
            .read_text(real.file_name().unwrap_or_default(), MAX_BYTES)
    };
    found(std::fs::canonicalize(file).and_then(read)).map(|text| Some((file.to_path_buf(), text?)))
}

fn found(text: io::Result<String>) -> Result<Option<String>, ConfigError> {
    if_there(text).map_err(|e| ConfigError::new("cannot read the settings", e.to_string()))
}

/// Returns the settings of a file, in the order of [`KEYS`]. Unknown keys are added to `ignored`.
fn parse(
    file: &Path,
    text: &str,
    ignored: &mut Vec<String>,
) -> Result<Vec<(&'static str, SettingOrigin, Value)>, ConfigError> {
    let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        let line =
            e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ConfigError::new(format!("{}:{line}", file.display()), e.message())
    })?;
    for (section, value) in &table {
        let keys: Vec<String> = match value.as_table() {
            Some(inner) => inner.keys().map(|k| format!("{section}.{k}")).collect(),
            None => vec![section.clone()],
        };
        for key in keys.iter().filter(|k| !KEYS.iter().any(|(known, ..)| known == k)) {
            let place = format!("{}:{}", file.display(), line_of(text, key));
            let why = unknown(key, KEYS.iter().map(|k| k.0.to_string()));
            ignored.push(format!("{place}: {why}"));
        }
    }
    let mut value = |key: &str| {
        let (section, name) = key.split_once('.')?;
        table.get_mut(section)?.as_table_mut()?.remove(name)
    };
    Ok(KEYS.iter().filter_map(|(key, origin, ..)| Some((*key, *origin, value(key)?))).collect())
}

/// Returns the number of the line that sets a key: `limit = …` under `[search]`, `search.limit =
/// …`, or the header of the section.
fn line_of(text: &str, key: &str) -> usize {
    let mut section = String::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            section = format!("{}.", name.trim());
        }
        let name = line.split('=').next().unwrap_or_default().trim().trim_matches('"');
        if format!("{section}{name}") == key || name == key || section.trim_end_matches('.') == key
        {
            return i + 1;
        }
    }
    1
}

fn unknown(key: &str, known: impl Iterator<Item = String>) -> String {
    let last = |s: &str| s.rsplit('.').next().unwrap_or(s).to_string();
    // Number of edits beyond what a typing error explains.
    let excess =
        |a: &str, b: &str| strsim::damerau_levenshtein(a, b).saturating_sub(1 + a.len() / 3);
    let far = |k: &String| excess(key, k).min(excess(&last(key), &last(k)));
    let distance = |k: &String| (far(k), strsim::damerau_levenshtein(key, k));
    let all: Vec<String> = known.collect();
    match all.iter().min_by_key(|k| distance(k)).filter(|k| far(k) == 0) {
        Some(near) => format!("there is no setting `{key}`; did you mean `{near}`?"),
        None => format!("there is no setting `{key}`; the settings are {}", all.join(", ")),
    }
}

/// Parses an environment variable: `CORTEX_SEARCH_LIMIT=5` sets `search.limit`. Returns `None`
/// if the variable is not a setting; a name that may be a misspelt setting is added to `ignored`.
fn from_env(name: &str, value: &str, ignored: &mut Vec<String>) -> Option<(&'static str, Value)> {
    const NOT_SETTINGS: [&str; 1] = ["CORTEX_LOG"];
    if !name.starts_with("CORTEX_") || NOT_SETTINGS.contains(&name) {
        return None;
    }
    let Some((key, _, default, _)) = KEYS.iter().find(|(known, ..)| env_name(known) == name) else {
        ignored.push(format!("environment: {}", unknown(name, KEYS.iter().map(|k| env_name(k.0)))));
        return None;
    };
    Some((key, written(key, default, value)))
}
