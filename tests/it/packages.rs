//! The packages that `release/build.py` makes: they are made of the programs under test, then
//! installed and used without a network.

use std::collections::BTreeSet;
use std::env::consts::{ARCH, OS};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::project::{Project, run};
use crate::server::Server;
use crate::support::clients::{PYTHON, clients, node_program, project};
use crate::support::missing;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the platform that this test was built for.
fn target() -> String {
    let rest = match OS {
        "macos" => "apple-darwin",
        _ if cfg!(target_env = "musl") => "unknown-linux-musl",
        _ => "unknown-linux-gnu",
    };
    format!("{ARCH}-{rest}")
}

/// The directory of the packages.
struct Packages {
    dir: TempDir,
}

impl Packages {
    /// Makes the packages. `None`, with a message, if there is no Python that can.
    #[track_caller]
    fn make() -> Option<Self> {
        let able = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))";
        let python = Command::new("python3").args(["-c", able]).stderr(Stdio::null()).status();
        if !python.is_ok_and(|status| status.success()) {
            missing("there is no Python 3.9 with venv, which makes packages (python3-venv)");
            return None;
        }
        // Not the system's directory: what is unpacked takes a gigabyte.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let binaries = dir.path().join("binaries");
        fs::create_dir(&binaries).unwrap();
        for program in [env!("CARGO_BIN_EXE_cortex"), env!("CARGO_BIN_EXE_cortex-codesearch")] {
            let copy = binaries.join(Path::new(program).file_name().unwrap());
            fs::copy(program, &copy).unwrap();
            // Without it, only the packages are larger.
            let _ = Command::new("strip").arg(&copy).status();
        }
        let packages = Self { dir };
        let build = |offline: &str| {
            let mut build = Command::new("python3");
            build.arg(Path::new(ROOT).join("release/build.py")).arg("--binaries").arg(&binaries);
            build.args(["--level", "1", "--target", &target(), "--out"]).arg(packages.out());
            build.env("SOURCE_DATE_EPOCH", "1700000000").env("CARGO_NET_OFFLINE", offline);
            run(&mut build)
        };
        // Cargo describes crates that no build of this platform needs, and fetches them first.
        if build("true").code != 0 {
            let out = build("false");
            if out.stderr.contains("failed to download") {
                missing(
                    "the list of crates needs crates that only other platforms build, and there is no network",
                );
                return None;
            }
            out.expect(0);
        }
        fs::remove_dir_all(binaries).unwrap();
        Some(packages)
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// Returns the path of the only package whose name begins and ends so.
    #[track_caller]
    fn file(&self, start: &str, end: &str) -> PathBuf {
        let names = self.names();
        let fits = |name: &&String| name.starts_with(start) && name.ends_with(end);
        let found: Vec<&String> = names.iter().filter(fits).collect();
        assert_eq!(found.len(), 1, "{start}…{end}: {found:?} of {names:?}");
        self.out().join(found[0])
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.out()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn json(&self, start: &str, end: &str) -> Value {
        serde_json::from_slice(&fs::read(self.file(start, end)).unwrap()).unwrap()
    }

    /// Unpacks a zip or tar file and returns the directory.
    #[track_caller]
    fn unpack(&self, file: &Path, module: &str) -> PathBuf {
        let to = self.dir.path().join(format!("{}-unpacked", file.file_name().unwrap().display()));
        let mut python = Command::new("python3");
        run(python.args(["-m", module, "-e"]).arg(file).arg(&to)).expect(0);
        to
    }
}

fn hash(path: &Path) -> String {
    Sha256::digest(fs::read(path).unwrap()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Uses an installed program: it must be this version, find a file, and pass on the exit code.
#[track_caller]
fn works(start: impl Fn(&Project) -> Command) {
    let p = project();
    let run = |args: &[&str]| run(start(&p).args(args));
    assert_eq!(run(&["--version"]).expect(0).stdout, format!("cortex {VERSION}\n"));
    let found = run(&["search", "--json", "retry with backoff"]).expect(0).stdout;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["results"][0]["path"], "src/retry.rs", "{found}");
    run(&["grep", "no such text"]).expect(1);
}

#[test]
fn packages_install_and_run_without_a_network() {
    let Some(packages) = Packages::make() else { return };
    checksums_hold(&packages);
    descriptions_fit_together(&packages);
    the_crates_are_listed(&packages);
    the_tarball_runs(&packages);
    the_bundle_serves(&packages);
    the_wheel_installs(&packages);
    let plugins = the_plugins_are_whole(&packages);
    the_npm_packages_install(&packages, &plugins);
}

fn checksums_hold(packages: &Packages) {
    let sums = fs::read_to_string(packages.out().join("SHA256SUMS")).unwrap();
    let mut listed = BTreeSet::from(["SHA256SUMS".to_string()]);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        assert_eq!(hash(&packages.out().join(name)), sum, "{name}");
        listed.insert(name.to_string());
    }
    assert_eq!(listed, packages.names());
}

/// Checks what the registry of MCP servers checks: each package names the server that names it.
fn descriptions_fit_together(packages: &Packages) {
    let server = packages.json("server.json", "");
    let name = server["name"].as_str().unwrap();
    assert!(name.starts_with("io.github.") && name.ends_with("/cortex-codesearch"), "{name}");
    assert_eq!(server["version"], VERSION);
    let description = server["description"].as_str().unwrap();
    assert!((1..=100).contains(&description.len()), "{description}");

    let all = server["packages"].as_array().unwrap();
    let kinds: Vec<&str> = all.iter().map(|p| p["registryType"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pypi", "npm", "mcpb"]);
    for package in all {
        assert_eq!(package["transport"], json!({ "type": "stdio" }), "{package}");
    }
    let bundle = packages.file("cortex-codesearch-", ".mcpb");
    let url = all[2]["identifier"].as_str().unwrap();
    assert!(url.ends_with(bundle.file_name().unwrap().to_str().unwrap()), "{url}");
    assert_eq!(all[2]["fileSha256"], hash(&bundle));

    let launcher =
        packages.unpack(&packages.file(&format!("cortex-codesearch-{VERSION}"), ".tgz"), "tarfile");
    let package = fs::read(launcher.join("package/package.json")).unwrap();
    let package: Value = serde_json::from_slice(&package).unwrap();
    assert_eq!(package["mcpName"], name);
    let wheel = packages.unpack(&packages.file("cortex_codesearch-", ".whl"), "zipfile");
    let metadata = wheel.join(format!("cortex_codesearch-{VERSION}.dist-info")).join("METADATA");
    let metadata = fs::read_to_string(metadata).unwrap();
    assert!(metadata.contains(&format!("mcp-name: {name} ")), "{metadata}");
    assert!(!metadata.contains("](specs/"), "a link that leads nowhere outside of the repository");
}

fn the_crates_are_listed(packages: &Packages) {
    let bill = packages.json("cortex-codesearch-", ".cdx.json");
    let names: Vec<&str> = bill["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    for (name, is_linked) in [("tantivy", true), ("proptest", false), ("clap_derive", false)] {
        assert_eq!(names.contains(&name), is_linked, "{name}");
    }
}

fn the_tarball_runs(packages: &Packages) {
    let stem = format!("cortex-codesearch-{VERSION}-{}", target());
    let dir = packages.unpack(&packages.out().join(format!("{stem}.tar.gz")), "tarfile").join(stem);
    assert!(dir.join("README.md").exists() && dir.join("THIRD-PARTY-NOTICES").exists());
    works(|p| p.command(dir.join("cortex-codesearch").to_str().unwrap()));
}

/// Starts the server of the bundle as its manifest says.
fn the_bundle_serves(packages: &Packages) {
    let dir = packages.unpack(&packages.file("cortex-codesearch-", ".mcpb"), "zipfile");
    let manifest: Value =
        serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    for field in ["name", "description", "author", "license", "user_config"] {
        assert!(!manifest[field].is_null(), "{field}");
    }
    assert_eq!(
        (&manifest["manifest_version"], &manifest["version"]),
        (&json!("0.3"), &json!(VERSION))
    );
    assert_eq!(manifest["server"]["type"], "binary");
    let program = dir.join(manifest["server"]["entry_point"].as_str().unwrap());
    // Python's zipfile does not restore the mode.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();

    let p = project();
    let root = p.root();
    let fill = |text: &Value| {
        text.as_str()
            .unwrap()
            .replace("${__dirname}", dir.to_str().unwrap())
            .replace("${user_config.project}", root.to_str().unwrap())
    };
    let config = &manifest["server"]["mcp_config"];
    let mut command = p.command(&fill(&config["command"]));
    command.args(config["args"].as_array().unwrap().iter().map(fill)).current_dir("/");
    let mut server = Server::start(&mut command);
    let reply = server.ask("initialize", &crate::server::initialize("2025-06-18"));
    assert_eq!(reply["result"]["serverInfo"]["version"], VERSION, "{reply}");
}

fn the_wheel_installs(packages: &Packages) {
    let venv = packages.dir.path().join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).expect(0);
    let mut pip = Command::new(venv.join("bin/pip"));
    pip.args(["install", "--no-index", "--disable-pip-version-check"]);
    run(pip.arg(packages.file("cortex_codesearch-", ".whl"))).expect(0);
    for name in ["cortex", "cortex-codesearch"] {
        works(|p| p.command(venv.join("bin").join(name).to_str().unwrap()));
    }
    the_installed_program_connects_agents(&venv.join("bin"));
}

/// A user with a new home directory and five agents connects them with the installed program: every
/// file stays valid, a client that is started from the configuration gets an answer, and a removal
/// restores every byte.
fn the_installed_program_connects_agents(bin: &Path) {
    let p = project();
    let fixtures = Path::new(ROOT).join("tests/data/agents");
    for agent in ["claude", "codex", "cursor", "goose", "zed"] {
        copy_all(&fixtures.join(agent).join("user"), &p.home());
    }
    let before = all_files(&p.home());
    let init = |arguments: &str| {
        let mut command = p.command(bin.join("cortex").to_str().unwrap());
        command.arg("init").args(arguments.split_whitespace()).env("PATH", "/nowhere");
        run(&mut command).expect(0).stdout
    };
    let said = init("--yes");
    for name in ["Claude Code", "Codex", "Cursor", "Goose", "Zed"] {
        assert!(said.contains(name), "{said}");
    }
    assert!(said.contains("verified:"), "{said}");
    if let Some(clients) = clients() {
        let client = Path::new(ROOT).join("tests/it/clients/configured_client.py");
        for configuration in [".claude.json", ".cursor/mcp.json"] {
            let mut python = p.command(clients.join(PYTHON).to_str().unwrap());
            python.arg(&client).arg(p.home().join(configuration)).current_dir(p.root());
            let answer = run(&mut python).expect(0).stdout;
            assert!(
                answer.starts_with("src/retry.rs:1-4  function retry_with_backoff"),
                "{answer}"
            );
        }
    }
    init("--remove --yes");
    let after: Vec<_> = all_files(&p.home());
    let ours = |(path, _): &&(PathBuf, Vec<u8>)| {
        !path.starts_with(".local") && !path.starts_with(".cache")
    };
    assert_eq!(
        after.iter().filter(ours).collect::<Vec<_>>(),
        before.iter().filter(ours).collect::<Vec<_>>()
    );
}

/// Copies the files below a directory to another one.
fn copy_all(from: &Path, to: &Path) {
    for (path, bytes) in all_files(from) {
        fs::create_dir_all(to.join(&path).parent().unwrap()).unwrap();
        fs::write(to.join(path), bytes).unwrap();
    }
}

/// Returns the files below a directory, sorted, with what they hold.
fn all_files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.is_file() {
                found.push((
                    path.strip_prefix(directory).unwrap().to_path_buf(),
                    fs::read(&path).unwrap(),
                ));
            }
        }
    }
    found.sort();
    found
}

/// The files of plugins that describe them: the path, and what the agent's format requires.
const MANIFESTS: [(&str, &[&str]); 9] = [
    ("cortex-plugin/.claude-plugin/plugin.json", &["name", "version", "hooks", "mcpServers"]),
    ("cortex-plugin/.codex-plugin/plugin.json", &["name", "version", "interface", "mcpServers"]),
    ("cortex-plugin/plugin.json", &["name", "description", "hooks", "mcpServers"]),
    ("cortex-plugin/mcp_config.json", &["mcpServers"]),
    ("agent-plugin/plugin.json", &["$schema", "name", "version"]),
    ("agent-plugin/mcp.json", &["$schema", "mcpServers"]),
    ("gemini-extension/gemini-extension.json", &["name", "version", "mcpServers"]),
    (".claude-plugin/marketplace.json", &["name", "owner", "plugins"]),
    (".agents/plugins/marketplace.json", &["name", "plugins"]),
];

/// Checks the plugins against the formats of the agents and against `cortex init`, and returns
/// their directory.
fn the_plugins_are_whole(packages: &Packages) -> PathBuf {
    let plugins = packages.unpack(&packages.file("cortex-plugin-", ".zip"), "zipfile");
    for (path, fields) in MANIFESTS {
        let manifest = read_json(&plugins.join(path));
        for field in fields {
            assert!(!manifest[field].is_null(), "{path}: {field}");
        }
        let folder = plugins.join(path.split('/').next().unwrap());
        let lists = ["skills", "agents", "hooks"].map(|field| &manifest[field]);
        for file in lists.iter().flat_map(|l| l.as_array().map_or(vec![*l], |l| l.iter().collect()))
        {
            let Some(file) = file.as_str() else { continue };
            assert!(folder.join(file).exists(), "{path}: {file}");
        }
    }
    for path in [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"] {
        let source = &read_json(&plugins.join(path))["plugins"][0]["source"];
        let source = source.as_str().or(source["path"].as_str()).unwrap();
        assert!(plugins.join(source).join("plugin.json").exists(), "{path}: {source}");
    }

    // The standard refuses a package with other fields.
    let mut plugin = read_json(&plugins.join("agent-plugin/plugin.json"));
    let plugin = plugin.as_object_mut().unwrap();
    for field in ["$schema", "name", "version", "description", "author", "homepage", "repository"] {
        assert!(plugin.remove(field).is_some(), "{field}");
    }
    assert_eq!(plugin.keys().collect::<Vec<_>>(), ["keywords", "license"]);

    for path in ["cortex-plugin/claude", "cortex-plugin/codex", "cortex-plugin/copilot"]
        .into_iter()
        .chain(["agent-plugin/com.github.copilot/hooks", "gemini-extension/hooks"])
    {
        hooks_need_no_program(&read_json(&plugins.join(path).join("hooks.json")));
    }

    let p = project();
    let init = ["init", "--scope", "project", "--agents", "claude,copilot", "--yes", "--parts"];
    p.run(&[&init[..], &["skill,subagent"]].concat()).expect(0);
    for folder in ["cortex-plugin", "agent-plugin", "gemini-extension"] {
        let skill = fs::read_to_string(plugins.join(folder).join("skills/cortex/SKILL.md"));
        assert_eq!(skill.unwrap(), p.read(".claude/skills/cortex/SKILL.md"), "{folder}");
    }
    let subagent = fs::read_to_string(plugins.join("cortex-plugin/claude/cortex-search.md"));
    let as_written = subagent.unwrap().replace("mcp__plugin_cortex_cortex__", "mcp__cortex__");
    assert_eq!(as_written, p.read(".claude/agents/cortex-search.md"));
    let subagent = plugins.join("cortex-plugin/copilot/cortex-search.agent.md");
    let as_written = p.read(".github/agents/cortex-search.agent.md");
    assert_eq!(fs::read_to_string(subagent).unwrap(), as_written);
    plugins
}

/// Runs the hooks where no program is installed: the agent must not show an error.
fn hooks_need_no_program(hooks: &Value) {
    let mut commands = Vec::new();
    for event in hooks["hooks"].as_object().unwrap().values() {
        let entry = &event[0];
        let hook = if entry["hooks"].is_null() { entry } else { &entry["hooks"][0] };
        commands.push(hook["command"].as_str().unwrap());
    }
    assert!(commands.len() > 3, "{hooks}");
    for command in commands {
        assert!(command.starts_with("cortex-codesearch hook "), "{command}");
        let mut shell = Command::new("/bin/sh");
        let out =
            run(shell.args(["-c", command]).env_clear().env("PATH", Path::new(ROOT).join("none")));
        assert_eq!(out.expect(0).stdout, "", "{command}");
    }
}

fn read_json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Starts the server of each plugin as its agent does, and asks it something.
fn the_plugins_serve(plugins: &Path, start: impl Fn(&Project, &str) -> Command) {
    for (path, fields) in MANIFESTS {
        if !fields.contains(&"mcpServers") {
            continue;
        }
        let entry = &read_json(&plugins.join(path))["mcpServers"]["cortex"];
        let p = project();
        let mut command = start(&p, entry["command"].as_str().unwrap());
        let mut has_place = false;
        for arg in entry["args"].as_array().unwrap() {
            let arg = arg.as_str().unwrap();
            has_place |= arg.starts_with("${");
            command.arg(if arg.starts_with("${") { p.root() } else { arg.into() });
        }
        // Where the agent fills in the project, it may start the server in the plugin.
        command.current_dir(if has_place { plugins.to_path_buf() } else { p.root() });
        let mut server = Server::start(&mut command);
        server.ask("initialize", &crate::server::initialize("2025-06-18"));
        let call = json!({ "name": "cortex_search", "arguments": { "query": "retry backoff" } });
        let reply = server.ask("tools/call", &call);
        assert!(reply["result"].to_string().contains("src/retry.rs"), "{path}: {reply}");
    }
}

fn the_npm_packages_install(packages: &Packages, plugins: &Path) {
    let has_npm = Command::new("npm").arg("--version").output().is_ok_and(|o| o.status.success());
    // The clients of the protocol bring Node.js.
    let clients = if has_npm {
        None
    } else {
        let Some(clients) = clients() else { return };
        Some(clients)
    };
    let node = |p: &Project, program: &str| match &clients {
        Some(clients) => node_program(clients, p, program),
        None => p.command(program),
    };

    let home = Project::new();
    let prefix = packages.dir.path().join("npm");
    fs::create_dir(&prefix).unwrap();
    let mut npm = node(&home, if has_npm { "npm" } else { "venv/bin/npm" });
    npm.args(["install", "--global", "--offline", "--no-audit", "--no-fund"]);
    npm.arg("--prefix").arg(&prefix);
    let platform = if OS == "macos" { "darwin" } else { OS };
    npm.arg(packages.file(&format!("cortex-codesearch-{platform}-"), ".tgz"));
    npm.arg(packages.file(&format!("cortex-codesearch-{VERSION}"), ".tgz"));
    run(&mut npm).expect(0);
    let installed = |name: &str| prefix.join("bin").join(name);
    for name in ["cortex", "cortex-codesearch"] {
        works(|p| node(p, installed(name).to_str().unwrap()));
    }

    the_plugins_serve(plugins, |p, program| {
        let bin = if has_npm { "" } else { "venv/bin/" };
        let mut command = node(p, &format!("{bin}{program}"));
        command.env("npm_config_prefix", &prefix).env("npm_config_offline", "true");
        command
    });

    // A signal reaches the program, and its exit code comes back.
    let p = project();
    let mut serve = node(&p, installed("cortex").to_str().unwrap());
    let mut server = Server::start(serve.args(["serve", "--port", "0"]));
    server.line();
    server.signal("TERM");
    assert_eq!(server.ended().0, Some(0));
}

/// Returns the text of a file of this repository.
fn text(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns the paths of the files in a folder of this repository that have one of these endings.
fn files_in(folder: &str, endings: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let fits = |name: &String| endings.iter().any(|ending| name.ends_with(ending));
    names.filter(fits).map(|name| format!("{folder}/{name}")).collect()
}

/// Returns the commands in a text that compile the program: those that build this repository, and
/// those that install this package.
fn builds(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("cargo ") {
        let command = text[start..].split(['\n', '`', '#', ';', '&']).next().unwrap().trim();
        let words: Vec<&str> = command.split_whitespace().collect();
        let is_ours = match words.get(1) {
            Some(&("build" | "zigbuild")) => words.len() > 2,
            Some(&"install") => {
                words.contains(&"cortex-codesearch")
                    || words
                        .iter()
                        .any(|word| word.starts_with("--path") || word.starts_with("--git"))
            }
            _ => false,
        };
        if is_ours {
            found.push(command.to_string());
        }
    }
    found
}

#[test]
fn commands_that_compile_the_program_are_found_in_text() {
    let text = "`cargo install --path .` # cargo deny\ncargo install mdbook\n  cargo zigbuild --bins && x\ncargo build\n";
    assert_eq!(builds(text), ["cargo install --path .", "cargo zigbuild --bins"]);
}

/// The documentation promises the clients of a team's engines to everybody who installs a package.
/// A person who builds in a clone may leave them out.
#[test]
fn every_package_has_the_clients_of_teams() {
    let mut files = files_in(".github/workflows", &[".yml", ".yaml"]);
    files.extend(files_in("docs/src", &[".md"]));
    files.extend(files_in("release/npm", &[".js"]));
    for file in ["Dockerfile", "README.md", "release/README.md"] {
        files.push(file.into());
    }
    let of_clone = ["README.md", "docs/src/install.md"];
    let mut with_builds = BTreeSet::new();
    for file in &files {
        for command in builds(&text(file)) {
            let is_of_clone = command == "cargo install --locked --path .";
            let has_clients = command.contains("--features team");
            assert!(
                has_clients || is_of_clone && of_clone.contains(&file.as_str()),
                "{file}: {command}"
            );
            with_builds.insert(file.as_str());
        }
    }
    for file in [
        ".github/workflows/release.yml",
        "Dockerfile",
        "README.md",
        "release/README.md",
        "docs/src/install.md",
    ] {
        assert!(with_builds.contains(file), "{file} has no command that compiles the program");
    }
    let workflow = builds(&text(".github/workflows/release.yml"));
    assert_eq!(workflow.len(), 2, "one for Linux, one for the others: {workflow:?}");

    assert!(text("flake.nix").contains("buildFeatures = [ \"team\" ];"));
    let python: toml::Table = toml::from_str(&text("pyproject.toml")).unwrap();
    let features = python["tool"]["maturin"]["features"].as_array().unwrap();
    assert!(features.iter().any(|feature| feature.as_str() == Some("team")), "{features:?}");
    // The list of crates and the licences are those of the same program.
    assert!(text("release/build.py").contains("\"--features\", \"team\""));
}

#[test]
fn a_program_without_the_clients_of_teams_says_how_to_get_them() {
    for said in [
        cortex::team::TeamError::NoClient("postgres".into()).to_string(),
        cortex::archives::ArchiveError::NoClient("s3://indexes/shop".into()).to_string(),
    ] {
        assert!(said.starts_with("cannot open ") && said.contains("was built without"), "{said}");
        assert_eq!(builds(&said), ["cargo install --locked --path . --features team"]);
    }
}

/// The same in the program itself, which the tests have only without the feature.
#[cfg(not(feature = "team"))]
#[test]
fn commands_of_teams_name_the_feature_that_is_missing() {
    let p = Project::sample();
    p.index();
    for url in ["postgres://ci@db.example.com/shop", "milvus://db.example.com:19530/shop"] {
        let questions: [&[&str]; 3] = [
            &["publish", "--to", url, "--repo", "shop/api"],
            &["team", "repos", "--from", url],
            &["serve", "--from", url],
        ];
        for question in questions {
            let said = p.run(question).error();
            assert!(said.contains("--features team"), "{question:?}: {said}");
        }
    }
    let said = p.run(&["index", "--cache-to", "s3://indexes/shop"]).error();
    assert!(said.contains("--features team"), "{said}");
}

/// Docker sends only what `.dockerignore` lets through.
#[test]
fn the_image_gets_everything_that_a_build_reads() {
    let ignored = text(".dockerignore");
    let sent: BTreeSet<&str> = ignored.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let cargo: toml::Table = toml::from_str(&text("Cargo.toml")).unwrap();
    let strings = |value: &toml::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
    };
    let mut needed = BTreeSet::from(["Cargo.toml".to_string(), "Cargo.lock".into()]);
    needed.extend(strings(&cargo["workspace"]["members"]));
    for dependency in cargo["dependencies"].as_table().unwrap().values() {
        needed.extend(dependency.get("path").map(|path| path.as_str().unwrap().to_string()));
    }
    // Cargo looks for the files of benchmarks that the manifest names.
    if cargo.contains_key("bench") {
        needed.insert("benches".into());
    }
    for path in strings(&cargo["package"]["include"]) {
        let is_text_of_the_package = path.starts_with('!') || path == "/README.md";
        if !is_text_of_the_package {
            needed.insert(path.trim_start_matches('/').split('/').next().unwrap().to_string());
        }
    }
    for path in needed {
        let is_sent = sent.contains(path.as_str())
            || path.starts_with("LICENSE-") && sent.contains("LICENSE-*");
        assert!(is_sent, ".dockerignore lets no {path} through");
        assert!(Path::new(ROOT).join(&path).exists(), "{path}");
    }
    let of_the_image = text("Dockerfile");
    let copied = of_the_image.lines().filter_map(|line| line.strip_prefix("COPY --from=build "));
    for path in copied.flat_map(str::split_whitespace) {
        let Some(path) = path.strip_prefix("/build/") else { continue };
        let is_there = path.starts_with("target/dist/") || Path::new(ROOT).join(path).exists();
        assert!(is_there, "the Dockerfile copies {path}, which is not there");
    }
}

/// Both crates are published together, under one version and one repository.
#[test]
fn the_crates_of_a_release_agree() {
    let read = |path: &str| toml::from_str::<toml::Table>(&text(path)).unwrap();
    let (cargo, depot) = (read("Cargo.toml"), read("depot/Cargo.toml"));
    assert_eq!(cargo["package"]["version"].as_str(), Some(VERSION));
    assert_eq!(depot["package"]["version"].as_str(), Some(VERSION));
    assert_eq!(cargo["dependencies"]["cortex-depot"]["version"].as_str(), Some(VERSION));
    for key in ["repository", "license", "rust-version", "edition"] {
        assert_eq!(cargo["package"][key], depot["package"][key], "{key}");
    }
    // The image has a compiler that is new enough.
    let rust = cargo["package"]["rust-version"].as_str().unwrap();
    assert!(text("Dockerfile").contains(&format!("FROM rust:{rust}")), "{rust}");
}
