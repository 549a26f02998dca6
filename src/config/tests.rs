use std::path::PathBuf;
use std::time::Duration;

use super::SettingOrigin::User;
use super::table::env_name;
use super::values::folders_to;
use super::{Config, ConfigError, KEYS, Location, globs};
use crate::dir::{Dir, OwnedDir};

/// A temporary directory with a project's file and a user's file.
struct Files(tempfile::TempDir);

impl Files {
    fn new(project: &str, user: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(files.0.path().join(".cortex")).unwrap();
        std::fs::write(files.0.path().join(".cortex/config.toml"), project).unwrap();
        std::fs::write(files.user(), user).unwrap();
        files
    }

    fn user(&self) -> PathBuf {
        self.0.path().join("user.toml")
    }

    fn load(&self, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let place = OwnedDir::new(Dir::open(self.0.path()).unwrap().into(), ".cortex");
        Config::load(
            Some(&place),
            Some(&self.user()),
            env.iter().map(|(k, v)| (k.to_string(), v.to_string())),
        )
    }
}

/// Loads settings with this user's file and no project's file.
fn load(text: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Files::new("", text).load(env)
}

/// Returns what is ignored.
fn ignored(text: &str, env: &[(&str, &str)]) -> String {
    load(text, env).unwrap().ignored.join("\n")
}

/// Returns the text of a file that sets this key to a value other than its default.
fn changed(key: &str, default: &str) -> String {
    let (section, name) = key.split_once('.').unwrap();
    let value = match (key, default) {
        ("index.location", _) => "'cache'".into(),
        ("index.compress", _) => "true".into(),
        ("search.context", _) => "3".into(),
        ("index.cache_from", _) => "'/srv/indexes'".into(),
        ("embed.url", _) => "'http://192.0.2.1'\nmodel = 'm'\ndimensions = 8".into(),
        ("serve.address", _) => "'0.0.0.0'".into(),
        ("serve.tools", _) => "['edit']".into(),
        ("serve.editor", _) => "'zed'".into(),
        (_, "[]") => "['x']".into(),
        (_, "") => "'x'".into(),
        (_, "false") => "true".into(),
        (_, "true") => "false".into(),
        (_, number) => (number.parse::<u64>().unwrap() + 1).to_string(),
    };
    format!("[{section}]\n{name} = {value}\n")
}

#[test]
fn a_clone_sets_nothing_that_is_the_users_to_decide() {
    let plain = |mut config: Config| {
        let ignored = std::mem::take(&mut config.ignored);
        (format!("{config:?}"), ignored)
    };
    let (default, none) = plain(load("", &[]).unwrap());
    assert!(none.is_empty());
    for (key, origin, default_value, _) in KEYS {
        let text = changed(key, default_value);
        let (found, ignored) =
            plain(Files::new(&text, "").load(&[]).unwrap_or_else(|e| panic!("{text}: {e}")));
        if *origin == User {
            assert_eq!(found, default, "{key}");
            let told = ignored.iter().find(|i| i.contains(key)).unwrap();
            assert!(
                told.contains(".cortex/config.toml") && told.contains("/cortex/config.toml"),
                "{told}"
            );
        } else {
            assert!(found != default && ignored.is_empty(), "{key}: {ignored:?}");
        }
        let is_part = key.starts_with("embed.") && *key != "embed.url";
        let (users, ignored) = plain(load(&text, &[]).unwrap());
        assert!((is_part || users != default) && ignored.is_empty(), "{key}: {users}");
    }
    // Not even an invalid value of a setting that only the user decides is an error.
    assert_eq!(
        plain(Files::new("[serve]\nport = 'x'\naddress = 7", "").load(&[]).unwrap()).0,
        default
    );
}

#[test]
fn the_user_beats_the_project_and_the_environment_both() {
    let files = Files::new("[search]\nlimit = 3\ncontext = 3", "[search]\nlimit = 4");
    let config = files.load(&[]).unwrap();
    assert_eq!((config.limit, config.context), (4, Some(3)));
    assert_eq!(files.load(&[("CORTEX_SEARCH_LIMIT", "5")]).unwrap().limit, 5);
    assert_eq!(load("[index]\nlocation = 'cache'", &[]).unwrap().location, Location::Cache);
}

#[test]
fn a_clone_does_not_have_huge_files_indexed() {
    let text = "[index]\nmax_file_bytes = 9000000000";
    let config = Files::new(text, "").load(&[]).unwrap();
    assert_eq!(config.max_file_bytes, 16 << 20);
    assert!(config.ignored[0].contains("at most 16777216"), "{:?}", config.ignored);
    assert_eq!(load(text, &[]).unwrap().max_file_bytes, 9_000_000_000);
}

#[test]
fn links_pipes_and_giants_are_no_settings_of_a_project() {
    let files = Files::new("", "[search]\nlimit = 4");
    let file = files.0.path().join(".cortex/config.toml");
    let refused = |what: &str| {
        let e = files.load(&[]).unwrap_err().to_string();
        assert!(e.contains(what) && e.contains(".cortex"), "{e}");
        // With the index elsewhere, an unusable project's file is only a warning.
        let elsewhere = files.load(&[("CORTEX_INDEX_LOCATION", "cache")]).unwrap();
        assert!(elsewhere.limit == 4 && elsewhere.ignored[0].contains(what));
        let place = OwnedDir::new(Dir::open(files.0.path()).unwrap().into(), ".cortex");
        let anyway = Config::load_or_default(Some(&place), Some(&files.user()), []).unwrap();
        assert!(anyway.limit == 4 && anyway.ignored[0].contains(what), "{:?}", anyway.ignored);
    };
    std::fs::write(&file, "#".repeat(1 << 17)).unwrap();
    refused("larger");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    refused("symbolic link");
    std::fs::remove_file(&file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    refused("a named pipe");
    std::fs::remove_file(&file).unwrap();
    let cortex = files.0.path().join(".cortex");
    std::fs::remove_dir(&cortex).unwrap();
    std::os::unix::fs::symlink("..", &cortex).unwrap();
    refused("symbolic link");
}

#[test]
fn the_users_file_may_be_a_link_and_not_a_pipe() {
    let files = Files::new("", "");
    let (user, real) = (files.user(), files.0.path().join("real.toml"));
    std::fs::write(&real, "[search]\nlimit = 4").unwrap();
    std::fs::remove_file(&user).unwrap();
    assert_eq!(files.load(&[]).unwrap().limit, 10);
    std::os::unix::fs::symlink("real.toml", &user).unwrap();
    assert_eq!(files.load(&[]).unwrap().limit, 4);
    std::fs::remove_file(&real).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&real).status().unwrap().success());
    assert!(files.load(&[]).unwrap_err().to_string().contains("named pipe"));
}

#[test]
fn environment_beats_file_beats_default() {
    assert_eq!(load("", &[]).unwrap().limit, 10);
    assert_eq!(
        load("", &[("CORTEX_MEMORY_NOTES", "/a,b")]).unwrap().notes.len(),
        1,
        "a path may hold anything"
    );
    assert_eq!(load("[search]\nlimit = 3", &[]).unwrap().limit, 3);
    assert_eq!(
        load("[search]\nlimit = 3", &[("CORTEX_SEARCH_LIMIT", "7"), ("PATH", "x")]).unwrap().limit,
        7
    );
    let exclude = |value| load("", &[("CORTEX_INDEX_EXCLUDE", value)]).unwrap().exclude.patterns;
    assert_eq!(exclude("gen"), ["gen"]);
    assert_eq!(exclude("['a', 'b']"), ["a", "b"]);
}

#[test]
fn a_flag_may_be_left_to_the_size_of_the_project() {
    let files = Files::new("[index]\ncompress = true", "");
    let compress = |value| files.load(&[("CORTEX_INDEX_COMPRESS", value)]).unwrap().compress;
    assert_eq!(load("", &[]).unwrap().compress, None);
    assert_eq!(files.load(&[]).unwrap().compress, Some(true));
    assert_eq!((compress("false"), compress("automatic")), (Some(false), None));
    let config = files.load(&[("CORTEX_INDEX_COMPRESS", "maybe")]).unwrap();
    assert!(config.compress == Some(true) && config.ignored[0].contains("expected a boolean"));
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest() {
    let e = ignored("# x\n[search]\nlimitt = 3", &[]);
    assert!(e.contains("user.toml:3") && e.contains("did you mean `search.limit`"), "{e}");
    let e = ignored("", &[("CORTEX_SEARCH_LIMITS", "3")]);
    assert!(e.contains("did you mean `CORTEX_SEARCH_LIMIT`"), "{e}");
    let e = ignored("[colours]\nred = 1", &[]);
    assert!(e.contains("the settings are index.max_file_bytes"), "{e}");
}

#[test]
fn bad_values_are_told_and_all_others_count() {
    for (text, what) in [
        ("[search]\nlimit = 0", "from 1 to 1000"),
        ("[search]\nlimit = \"x\"", "invalid type"),
        ("[search]\nlimitt = 3", "did you mean `search.limit`"),
        ("[index]\ninclude = [\"a[\"]", "is not a glob"),
        ("[embed]\nurl = 7", "invalid type"),
    ] {
        let rest = "\n[live]\ndebounce_ms = 77\n[memory]\nwindow_ms = 'soon'";
        let config = load(&format!("{text}{rest}"), &[]).unwrap();
        assert_eq!((config.limit, config.debounce), (10, Some(Duration::from_millis(77))));
        assert!(config.ignored[0].contains(what), "{text}: {:?}", config.ignored);
        assert!(config.ignored[1].contains("memory.window_ms"), "{:?}", config.ignored);
    }
}

#[test]
fn a_bad_value_widens_no_access() {
    for (text, what) in [
        ("[index]\nexclude = [\"a[\"]", "is not a glob"),
        ("[index]\nexclude = 7", "index.exclude"),
        ("[serve]\ntoken = 7", "serve.token"),
        ("[serve]\naddress = 'here'", "is not an IP address"),
        ("[serve]\ntools = 7", "serve.tools"),
        ("[search\nlimit = 1", "user.toml:1"),
    ] {
        let e = load(text, &[]).unwrap_err().to_string();
        assert!(e.contains(what), "{text}: {e}");
    }
    // A clone excludes what it likes.
    let clone = Files::new("[index]\nexclude = 7", "").load(&[]).unwrap();
    assert!(clone.ignored[0].contains("index.exclude"), "{:?}", clone.ignored);
}

#[test]
fn a_server_for_vectors_is_checked() {
    let rest = "model = 'm'\ndimensions = 8\npassage_prefix = 'search_document: '";
    let model = |url: &str| load(&format!("[embed]\nurl = '{url}'\n{rest}"), &[]);
    assert!(load("[embed]\nmodel = 'm'", &[]).unwrap().remote_model.is_none());
    for url in [
        "http://localhost:11434", "http://127.0.0.1:8080/v1/", "http://[::1]:1/v1",
        "https://localhost/some/where",
    ] {
        let found = model(url).unwrap().remote_model.unwrap();
        assert!(
            found.is_local && url.starts_with(&found.url) && !found.url.ends_with("/v1"),
            "{found:?}"
        );
        assert_eq!(
            (found.is_plain, &*found.passage_prefix),
            (url.starts_with("http:"), "search_document: ")
        );
    }
    for (url, what) in [
        ("localhost:11434", "must begin with http"),
        ("ftp://localhost", "must begin with http"),
        ("http://", "must begin with http"),
        ("http://local host", "is not a valid URL"),
        ("http://user:secret@localhost", "embed.token"),
    ] {
        let config = model(url).unwrap();
        assert!(config.remote_model.is_none());
        let e = config.ignored.join("\n");
        assert!(e.contains(what), "{url}: {e}");
    }
    for url in ["http://localhost.example.com", "http://192.168.0.7:11434"] {
        assert!(!model(url).unwrap().remote_model.unwrap().is_local);
    }
    let elsewhere =
        load(&format!("[embed]\n{rest}"), &[("CORTEX_EMBED_URL", "http://example.com:80/v1")])
            .unwrap()
            .remote_model
            .unwrap();
    assert_eq!((&*elsewhere.authority, elsewhere.is_local), ("example.com:80", false));
    let refused = [("CORTEX_EMBED_URL", "")];
    assert!(
        load(&format!("[embed]\nurl = 'http://example.com'\n{rest}"), &refused)
            .unwrap()
            .remote_model
            .is_none()
    );
    let e = ignored("[embed]\nurl = 'http://localhost'\nmodel = 'm'", &[]);
    assert!(e.contains("embed.dimensions is 0"), "{e}");
}

#[test]
fn a_default_can_be_written_in_a_file_and_in_the_environment() {
    for (key, _, default, _) in KEYS {
        let (section, name) = key.split_once('.').unwrap();
        let is_bare = default.parse::<u64>().is_ok()
            || default.parse::<bool>().is_ok()
            || default.starts_with('[');
        let value = if is_bare { (*default).to_string() } else { format!("'{default}'") };
        for config in [
            load(&format!("[{section}]\n{name} = {value}"), &[]).unwrap(),
            load("", &[(env_name(key).as_str(), *default)]).unwrap(),
        ] {
            assert!(config.is_set(key) && config.ignored.is_empty(), "{key}: {config:?}");
        }
    }
}

#[test]
fn folders_lead_to_what_is_included() {
    let set = folders_to(
        &["node_modules/react/**", "/a/*/c/x.rs", "*.rs", "**/gen/*", "b/**/c"].map(String::from),
    )
    .unwrap();
    for (folder, want) in [
        ("node_modules", true),
        ("node_modules/react", true),
        ("node_modules/vue", false),
        ("web/node_modules", false),
        ("a/b", true),
        ("a/b/c", true),
        ("a/b/d", false),
        ("gen", true),
        ("x/gen", true),
        ("x", false),
        ("b/x/y", true),
    ] {
        assert_eq!(set.is_match(folder), want, "{folder}");
    }
}

#[test]
fn globs_match_files_and_folders() {
    let set =
        globs(&["src/live", "*.md", "gen", "a/*.rs", "/top", "/t*.c"].map(String::from)).unwrap();
    for (path, want) in [
        ("src/live/mod.rs", true),
        ("README.md", true),
        ("docs/x.md", true),
        ("x/gen/y.rs", true),
        ("a/b.rs", true),
        ("a/b/c.rs", false),
        ("src/lives.rs", false),
        ("top/x.rs", true),
        ("x/top/y.rs", false),
        ("t.c", true),
        ("x/t.c", false),
    ] {
        assert_eq!(set.is_match(path), want, "{path}");
    }
}
