//! A temporary project in which tests run the real program.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

/// The chunk files, in the order of their types.
pub const CHUNK_FILES: [&str; 5] = [
    "code-symbols.json", "code-definitions.json", "code-data.json", "doc-chunks.json",
    "code-history.json",
];

/// A user and a group without privileges, on every system.
pub const NOBODY: u32 = 65534;

/// A directory of files beside an empty home directory; both are removed when this is dropped.
pub struct Project {
    base: TempDir,
}

/// The result of a run of the program.
#[derive(Debug, Clone)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// Fails the test unless the program ended with this exit code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code\nstdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Returns the error message of a run that must have failed.
    #[track_caller]
    pub fn error(self) -> String {
        let out = self.expect(2);
        assert!(!out.stderr.contains("panicked"), "{}", out.stderr);
        out.stderr
    }
}

impl Drop for Project {
    /// Ends the servers that agents of this user started: they would write while all is removed.
    fn drop(&mut self) {
        let sockets = fs::read_dir(self.home().join(".local/state/cortex"));
        let is_socket = |path: &Path| path.extension().is_some_and(|ending| ending == "sock");
        if sockets.is_ok_and(|mut files| files.any(|file| is_socket(&file.unwrap().path()))) {
            let _ = self.cortex(&["server", "stop"]).output();
        }
    }
}

impl Project {
    /// Creates an empty project: it holds `.git`, which is empty.
    pub fn new() -> Self {
        let p = Self::folder();
        fs::create_dir(p.path(".git")).unwrap();
        p
    }

    /// Creates an empty folder that is no project.
    pub fn folder() -> Self {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        fs::create_dir(base.path().join("project")).unwrap();
        Self { base }
    }

    /// Lets this test and the programs that it starts believe each other's indexes.
    pub fn share_key(&self) {
        static IN_PROCESS: Once = Once::new();
        IN_PROCESS.call_once(|| {
            // A directory that stays, because the key is read when it is first needed.
            let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
            write_key(&state);
            cortex::store::use_key_of(Some(state));
        });
        write_key(&self.home().join(".local/state"));
    }

    /// Creates a project of these files: path, text.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let p = Self::new();
        for (path, text) in files {
            p.write(path, text);
        }
        p
    }

    /// Two functions, a document and settings, in four languages; only `src/retry.rs` mentions
    /// retries.
    pub fn sample() -> Self {
        Self::with(&[
            (
                "src/retry.rs",
                "/// Waits longer after each failed attempt.\npub fn retry_with_backoff(attempts: u32) -> u32 {\n    attempts * 2\n}\n",
            ),
            (
                "tools/colours.py",
                "def paint_wall(colour):\n    \"\"\"Cover a wall with paint.\"\"\"\n    return colour\n",
            ),
            (
                "docs/guide.md",
                "# Guide\n\n## Kitchen\n\nBoil the potatoes in salted water.\n\n## Garden\n\nWater the tomatoes at dawn.\n",
            ),
            ("settings.toml", "[server]\nport = 8080\nhost = \"localhost\"\n"),
        ])
    }

    pub fn root(&self) -> PathBuf {
        self.base.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.base.path().join("home")
    }

    /// Returns the absolute path of a file of the project.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Sets the user's own settings.
    pub fn configure(&self, settings: impl AsRef<[u8]>) {
        let directory = self.home().join(".config/cortex");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), settings).unwrap();
    }

    pub fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Returns a chunk file as text.
    pub fn chunk_file(&self, name: &str) -> String {
        self.read(Path::new(".cortex/chunks").join(name))
    }

    /// Returns every chunk of every type.
    pub fn chunks(&self) -> Vec<Value> {
        let parse = |name: &&str| serde_json::from_str::<Value>(&self.chunk_file(name)).unwrap();
        CHUNK_FILES
            .iter()
            .map(parse)
            .flat_map(|f| f["chunks"].as_array().unwrap().clone())
            .collect()
    }

    /// Returns the chunk files without their time stamps.
    pub fn timeless(&self) -> Vec<String> {
        CHUNK_FILES
            .iter()
            .map(|f| self.chunk_file(f).lines().map(without_stamps).collect::<Vec<_>>().join("\n"))
            .collect()
    }

    /// Returns a command in this project, whose environment is only the search path and an empty
    /// home.
    pub fn command(&self, program: &str) -> Command {
        let mut c = Command::new(program);
        c.current_dir(self.root()).env_clear().env("HOME", self.home()).stdin(Stdio::null());
        c.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        c
    }

    /// Runs git in this project and returns what it prints.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let base = [
            "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-c",
            "gc.auto=0",
        ];
        run(self.command("git").args(base).args(args)).expect(0).stdout.trim().to_string()
    }

    /// Adds all files to git and commits them.
    #[track_caller]
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Returns a command that runs the program in this project.
    pub fn cortex(&self, args: &[&str]) -> Command {
        let mut c = self.command(env!("CARGO_BIN_EXE_cortex"));
        c.args(args);
        c
    }

    pub fn run(&self, args: &[&str]) -> Output {
        run(&mut self.cortex(args))
    }

    /// Runs with `--json`. The run must succeed and print one JSON value.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.run(&[args, &["--json"]].concat()).expect(0);
        serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", out.stdout))
    }

    /// Runs `cortex index` and returns its JSON summary.
    #[track_caller]
    pub fn index(&self) -> Value {
        self.json(&["index"])
    }

    /// Returns the files that a search finds, best first; "" for a chunk without a file.
    #[track_caller]
    pub fn found(&self, args: &[&str]) -> Vec<String> {
        let out = self.run(&[&["search", "--json"], args].concat());
        assert!(out.code < 2, "{}", out.stderr);
        let reply: Value = serde_json::from_str(&out.stdout).unwrap();
        reply["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["path"].as_str().unwrap_or_default().to_string())
            .collect()
    }

    /// Copies the files to another directory, without `.cortex`, for a fresh index.
    pub fn fresh_copy(&self) -> Self {
        let copy = Self::new();
        copy_tree(&self.root(), &copy.root());
        copy.index();
        copy
    }

    /// Returns a command that runs the program as a user without privileges, to whom file
    /// permissions apply.
    pub fn unprivileged(&self, args: &[&str]) -> Command {
        if fs::metadata(self.base.path()).unwrap().uid() != 0 {
            return self.cortex(args);
        }
        // The build directory may not be readable for others.
        let program = self.base.path().join("cortex");
        if !program.exists() {
            let original = env!("CARGO_BIN_EXE_cortex");
            if fs::hard_link(original, &program).is_err() {
                // Copied by another process: a child of another test could inherit our open file,
                // and a program that is open for writing cannot be run.
                let copied = Command::new("cp").arg(original).arg(&program).status();
                assert!(copied.unwrap().success(), "{original} is not copied");
            }
            fs::set_permissions(self.base.path(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut c = self.command(program.to_str().unwrap());
        c.args(args).uid(NOBODY).gid(NOBODY);
        c
    }

    /// Lets every user write to everything in the project.
    pub fn open_to_all(&self) {
        assert!(self.command("chmod").args(["-R", "a+rwX", "."]).status().unwrap().success());
    }

    /// Gives the key of [`Project::share_key`] to the user of [`Project::unprivileged`].
    pub fn give_key_to_nobody(&self) {
        if fs::metadata(self.base.path()).unwrap().uid() == 0 {
            let user = NOBODY.to_string();
            let mut chown = self.command("chown");
            assert!(
                chown
                    .args(["-R", &user])
                    .arg(self.home().join(".local"))
                    .status()
                    .unwrap()
                    .success()
            );
        }
    }

    /// Gives the files of an unprivileged run to the user of this test, because Cortex trusts no
    /// `.cortex` of another user.
    pub fn take_back(&self) {
        let own = fs::metadata(self.base.path()).unwrap().uid().to_string();
        assert!(self.command("chown").args(["-R", &own, "."]).status().unwrap().success());
    }

    /// Sets the permission bits of a file or directory.
    pub fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn set_modified(&self, path: impl AsRef<Path>, time: SystemTime) {
        File::options().write(true).open(self.path(path)).unwrap().set_modified(time).unwrap();
    }

    /// Makes a file look unchanged for long, so that its time stamp is trusted.
    pub fn age(&self, path: &str) {
        self.set_modified(path, SystemTime::now() - Duration::from_hours(1));
    }
}

/// Writes a key of indexes, the same for all, to a state directory.
fn write_key(state: &Path) {
    let directory = state.join("cortex");
    fs::create_dir_all(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let key = directory.join("index-key");
    fs::write(&key, "0123456789abcdef".repeat(4)).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Output {
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Output {
        code: out.status.code().unwrap_or(-1),
        stdout: text(out.stdout),
        stderr: text(out.stderr),
    }
}

/// Returns the line of a chunk without its time stamps.
pub fn without_stamps(line: &str) -> &str {
    // Within a string the quotes would be escaped, so this is the field at the end.
    line.find(",\"created_at\":\"").map_or(line, |i| &line[..i])
}

/// Copies a directory without its `.cortex`.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in
        fs::read_dir(from).unwrap().map(Result::unwrap).filter(|e| e.file_name() != ".cortex")
    {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Pseudo-random numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}
