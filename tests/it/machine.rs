//! The one server of a machine: many agents, many projects, one process.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::project::{NOBODY, Project, run};
use crate::server::{Server, initialize};
use crate::support::{missing, wait_until};

/// A user with several projects, each with a function of its own.
struct Machine {
    user: Project,
    names: Vec<String>,
}

/// An agent with its project.
struct Agent {
    server: Server,
    n_asked: u64,
}

impl Machine {
    fn with(names: &[&str]) -> Self {
        let this = Self {
            user: Project::new(),
            names: names.iter().map(|name| (*name).to_string()).collect(),
        };
        for name in names {
            this.write(name, "src/lib.rs", &content(name));
        }
        this
    }

    fn root(&self, name: &str) -> PathBuf {
        self.user.home().join("work").join(name)
    }

    fn write(&self, name: &str, path: &str, text: &str) {
        let file = self.root(name).join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(self.root(name).join(".git")).unwrap();
        fs::write(file, text).unwrap();
    }

    fn cortex(&self, args: &[&str]) -> Command {
        let mut command = self.user.cortex(args);
        command.env("CORTEX_LIVE_DEBOUNCE_MS", "50");
        command
    }

    fn agent(&self, name: &str) -> Agent {
        self.agent_with(name, &[])
    }

    fn agent_with(&self, name: &str, env: &[(&str, &str)]) -> Agent {
        let root = self.root(name);
        let mut command = self.cortex(&["mcp", "--project", root.to_str().unwrap()]);
        let mut server = Server::start(command.envs(env.iter().copied()));
        server.ask("initialize", &initialize("2025-06-18"));
        Agent { server, n_asked: 0 }
    }

    fn status(&self) -> Value {
        let out = run(&mut self.cortex(&["server", "status", "--json"]));
        serde_json::from_str(&out.stdout).unwrap()
    }

    /// Returns the process of the one server.
    fn server_process(&self) -> u64 {
        let status = self.status();
        assert_eq!(status["servers"].as_array().unwrap().len(), 1, "{status}");
        status["servers"][0]["pid"].as_u64().unwrap()
    }

    /// Returns the directory of the socket.
    fn sockets(&self) -> PathBuf {
        self.user.home().join(".local/state/cortex")
    }

    /// Returns the socket of the one server.
    fn socket(&self) -> PathBuf {
        let mut files = fs::read_dir(self.sockets()).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|ending| ending == "sock")).unwrap()
    }
}

fn content(name: &str) -> String {
    format!("/// Greets the people of {name}.\npub fn greet_{name}() -> u32 {{\n    1\n}}\n")
}

impl Agent {
    /// Asks a tool, and returns the text of its reply and whether that is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        self.n_asked += 1;
        let id = format!("call {}", self.n_asked);
        let params = json!({ "name": tool, "arguments": arguments });
        self.server
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        loop {
            let message: Value = serde_json::from_str(&self.server.line()).unwrap();
            if message["id"] == id.as_str() {
                let result = &message["result"];
                let text = result["content"][0]["text"].as_str();
                let text = text.unwrap_or_else(|| panic!("{message}"));
                return (text.to_string(), result["isError"] == true);
            }
        }
    }

    /// Searches for the function that each project has, and waits for the index.
    fn search(&mut self) -> String {
        let (text, is_error) =
            self.call("cortex_search", &json!({ "query": "greet the people", "wait_ms": 10_000 }));
        assert!(!is_error, "{text}");
        text
    }
}

/// Ends threads also when the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn agents_of_all_projects_share_one_server() {
    let machine = Machine::with(&["lisbon", "quito"]);
    let (mut first, mut second, mut other) =
        (machine.agent("lisbon"), machine.agent("lisbon"), machine.agent("quito"));
    for agent in [&mut first, &mut second] {
        let found = agent.search();
        assert!(found.contains("greet_lisbon") && !found.contains("quito"), "{found}");
    }
    let found = other.search();
    assert!(found.contains("greet_quito") && !found.contains("lisbon"), "{found}");

    let status = machine.status();
    assert_eq!(status["servers"].as_array().unwrap().len(), 1, "{status}");
    let projects = status["servers"][0]["projects"].as_array().unwrap();
    let agents = |name: &str| {
        let root = machine.root(name);
        let project = projects.iter().find(|p| Path::new(p["root"].as_str().unwrap()) == root);
        project.unwrap_or_else(|| panic!("{status}"))["agents"].as_u64().unwrap()
    };
    assert_eq!((agents("lisbon"), agents("quito")), (2, 1), "{status}");

    // What one agent remembers, the other one of the project knows, and no other project.
    first.call(
        "add_memory",
        &json!({ "name": "harbour", "episode_body": "the harbour is closed on Sundays" }),
    );
    let (known, _) = second.call("search_memory_nodes", &json!({ "query": "harbour" }));
    let (unknown, _) = other.call("search_memory_nodes", &json!({ "query": "harbour" }));
    assert!(known.contains("closed on Sundays"), "{known}");
    assert!(!unknown.contains("Sundays"), "{unknown}");

    let (search, read) = ("\"name\":\"cortex_search\"", "\"name\":\"cortex_read\"");
    // Each agent has the tools that it was configured with.
    let mut reader = machine.agent("lisbon");
    let listed = reader.server.ask("tools/list", &json!({}))["result"]["tools"].to_string();
    let root = machine.root("lisbon");
    let args = ["mcp", "--tools", "search", "--read-only", "--project", root.to_str().unwrap()];
    let mut narrow = Server::start(&mut machine.cortex(&args));
    narrow.ask("initialize", &initialize("2025-06-18"));
    let few = narrow.ask("tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(listed.contains(read) && !listed.contains(search), "{listed}");
    assert!(few.contains(read) && few.contains(search), "{few}");
    assert_eq!(machine.status()["servers"].as_array().unwrap().len(), 1);
}

/// Agents ask while their server is killed again and again: each call is answered from its own
/// project, or the reply says to call again.
#[test]
fn a_server_that_is_killed_loses_no_call() {
    let (n_agents, n_kills) = if std::env::var_os("STRESS").is_some() { (10, 200) } else { (4, 8) };
    let machine = Machine::with(&["lisbon", "quito", "oslo"]);
    let mut agents: Vec<(String, Agent)> = (0..n_agents)
        .map(|i| {
            let name = machine.names[i % machine.names.len()].clone();
            let mut agent = machine.agent(&name);
            agent.search();
            (name, agent)
        })
        .collect();
    let is_over = AtomicBool::new(false);
    let (answered, failed) = thread::scope(|scope| {
        let _end = SetOnDrop(&is_over);
        let asking: Vec<_> = agents
            .iter_mut()
            .map(|(name, agent)| {
                let is_over = &is_over;
                scope.spawn(move || {
                    let (mut answered, mut failed) = (0, 0);
                    while !is_over.load(Ordering::Relaxed) {
                        let arguments = json!({ "query": "greet the people" });
                        let (text, is_error) = agent.call("cortex_search", &arguments);
                        if is_error {
                            assert!(text.ends_with(": call again"), "{text}");
                            failed += 1;
                        } else {
                            assert!(text.contains(&format!("greet_{name}")), "{name}: {text}");
                            answered += 1;
                        }
                    }
                    (answered, failed)
                })
            })
            .collect();
        for _ in 0..n_kills {
            let mut pid = None;
            wait_until("a server runs", || {
                pid = machine.status()["servers"][0]["pid"].as_u64();
                pid.is_some()
            });
            thread::sleep(Duration::from_millis(fastrand::u64(0..400)));
            Command::new("kill").args(["-9", &pid.unwrap().to_string()]).status().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        let counts = asking.into_iter().map(|a| a.join().unwrap());
        counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    });
    eprintln!(
        "{n_kills} kills, {n_agents} agents: {answered} calls answered, {failed} to be repeated"
    );
    assert!(answered > 0, "{failed}");
    // Whoever was introduced to the first server is known to the last one.
    for (name, agent) in &mut agents {
        assert!(agent.search().contains(&format!("greet_{name}")));
    }
}

#[test]
fn a_change_that_a_dying_server_may_have_made_is_not_made_twice() {
    let machine = Machine::with(&["lisbon"]);
    let mut agent = machine.agent("lisbon");
    agent.search();
    let pid = machine.server_process().to_string();
    // The server gets the call and cannot answer it any more.
    Command::new("kill").args(["-STOP", &pid]).status().unwrap();
    let params = json!({ "name": "add_memory", "arguments": { "name": "tram", "episode_body": "it is red" } });
    agent
        .server
        .send(&json!({ "jsonrpc": "2.0", "id": "add", "method": "tools/call", "params": params }));
    agent.server.send(&json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" }));
    // It is too long to be kept and asked again.
    let params = json!({ "name": "cortex_search", "arguments": { "query": "x".repeat(2 << 20) } });
    agent
        .server
        .send(&json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params }));
    Command::new("kill").args(["-9", &pid]).status().unwrap();
    let (mut added, mut listed, mut long) = (None, None, None);
    while added.is_none() || listed.is_none() || long.is_none() {
        let message: Value = serde_json::from_str(&agent.server.line()).unwrap();
        match message["id"].as_str() {
            Some("add") => added = Some(message),
            Some("list") => listed = Some(message),
            Some("long") => long = Some(message),
            _ => {}
        }
    }
    let added = added.unwrap().to_string();
    assert!(added.contains("may be made or not") && added.contains("\"isError\":true"), "{added}");
    assert!(listed.unwrap()["result"]["tools"].is_array());
    let long = long.unwrap().to_string();
    assert!(long.contains(": call again") && long.contains("\"isError\":true"), "{long}");
}

#[test]
fn an_ordered_end_is_no_end_for_agents() {
    let machine = Machine::with(&["lisbon"]);
    let mut agent = machine.agent("lisbon");
    agent.search();
    let before = machine.server_process();
    let out = run(&mut machine.cortex(&["server", "stop"])).expect(0);
    assert_eq!(out.stdout, format!("stopped process {before}\n"));
    run(&mut machine.cortex(&["server", "status"])).expect(1);
    machine.write("lisbon", "src/late.rs", "pub fn greet_late_people() {}\n");
    assert!(agent.search().contains("greet_late_people"), "changes of the meantime are found");
    assert_ne!(machine.server_process(), before);
}

#[test]
fn other_settings_have_a_server_of_their_own() {
    let machine = Machine::with(&["lisbon"]);
    let mut usual = machine.agent("lisbon");
    let mut small = machine.agent_with("lisbon", &[("CORTEX_INDEX_MAX_FILE_BYTES", "10000")]);
    assert!(usual.search().contains("greet_lisbon") && small.search().contains("greet_lisbon"));
    let status = machine.status();
    assert_eq!(status["servers"].as_array().unwrap().len(), 2, "{status}");
    // One that shares nothing needs no server.
    let mut alone = machine.agent_with("lisbon", &[("CORTEX_SERVE_SHARED", "false")]);
    assert!(alone.search().contains("greet_lisbon"));
    assert_eq!(machine.status()["servers"].as_array().unwrap().len(), 2);
}

#[test]
fn a_project_that_nobody_asks_is_closed_and_follows_again() {
    let machine = Machine::with(&["lisbon"]);
    let env = [("CORTEX_SERVE_IDLE_MINUTES", "0")];
    let mut agent = machine.agent_with("lisbon", &env);
    agent.search();
    let is_open = || machine.status()["servers"][0]["projects"][0]["open"].clone();
    assert_eq!(is_open(), true);
    wait_until("the project is closed", || is_open() == false);
    machine.write("lisbon", "src/late.rs", "pub fn greet_late_people() {}\n");
    let (found, _) = agent.call("cortex_search", &json!({ "query": "greet late people" }));
    assert!(found.contains("greet_late_people"), "{found}");
    drop(agent);
    wait_until("the server ends without agents", || {
        machine.status()["servers"].as_array().unwrap().is_empty()
    });
}

/// Settings that change hold for the next question, as if each agent had a server of its own.
#[test]
fn changed_settings_hold_for_the_next_question() {
    let machine = Machine::with(&["lisbon"]);
    machine.write(
        "lisbon",
        "docs/guide.md",
        "# How to greet people\n\nThe greeting of the house.\n",
    );
    let mut agent = machine.agent("lisbon");
    assert!(agent.search().contains("docs/guide.md"));
    let settings = |text: &str| {
        fs::create_dir_all(machine.root("lisbon").join(".cortex")).unwrap();
        fs::write(machine.root("lisbon").join(".cortex/config.toml"), text).unwrap();
    };
    settings("[index]\nexclude = ['docs']\n");
    let found = agent.search();
    assert!(found.contains("src/lib.rs") && !found.contains("docs/guide.md"), "{found}");
    settings("[index\n");
    let found = agent.search();
    assert!(found.contains("src/lib.rs") && !found.contains("docs/guide.md"), "{found}");
    settings("");
    assert!(agent.search().contains("docs/guide.md"));
}

/// The name of a directory does not make a project.
#[test]
fn a_project_that_moves_or_is_replaced_answers_as_what_it_is() {
    let machine = Machine::with(&["lisbon", "quito"]);
    let mut agent = machine.agent("lisbon");
    agent.search();
    fs::rename(machine.root("lisbon"), machine.root("porto")).unwrap();
    let (gone, is_error) = agent.call("cortex_search", &json!({ "query": "greet the people" }));
    assert!(is_error && gone.contains("work/lisbon"), "{gone}");
    fs::rename(machine.root("quito"), machine.root("lisbon")).unwrap();
    let found = agent.search();
    assert!(found.contains("greet_quito") && !found.contains("greet_lisbon"), "{found}");
    // The same project by a link is the same project.
    std::os::unix::fs::symlink(machine.root("porto"), machine.root("link")).unwrap();
    let (mut moved, mut linked) = (machine.agent("porto"), machine.agent("link"));
    assert!(moved.search().contains("greet_lisbon") && linked.search().contains("greet_lisbon"));
    let status = machine.status();
    assert_eq!(status["servers"][0]["projects"].as_array().unwrap().len(), 2, "{status}");
}

#[test]
fn another_user_cannot_connect() {
    if !rustix::process::geteuid().is_root() {
        return missing("another user can be tried only by root");
    }
    let machine = Machine::with(&["lisbon"]);
    let mut agent = machine.agent("lisbon");
    agent.search();
    let (sockets, socket) = (machine.sockets(), machine.socket());
    assert_eq!(fs::metadata(&sockets).unwrap().permissions().mode() & 0o777, 0o700);
    let ask = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
               s.sendall(b'{\"want\":\"status\"}\\n')\nsys.stdout.write(s.makefile().read())\n";
    let as_user = |user: Option<u32>| {
        let mut python = Command::new("python3");
        python.args(["-c", ask]).arg(&socket).current_dir("/");
        if let Some(user) = user {
            python.uid(user).gid(user);
        }
        python.output().unwrap()
    };
    assert!(String::from_utf8_lossy(&as_user(None).stdout).contains("lisbon"));
    let refused = as_user(Some(NOBODY));
    assert!(!refused.status.success() && refused.stdout.is_empty(), "the directory is private");
    // Even if somebody opens the way, the server looks who it is.
    for path in socket.ancestors().take_while(|path| *path != Path::new("/tmp")) {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let refused = as_user(Some(NOBODY));
    assert!(refused.stdout.is_empty(), "{}", String::from_utf8_lossy(&refused.stdout));
    // And an agent does not trust a socket that others could have put there.
    let mut wary = machine.agent("lisbon");
    assert!(wary.search().contains("greet_lisbon"), "it serves alone");
    fs::set_permissions(&sockets, Permissions::from_mode(0o700)).unwrap();
    let projects = machine.status()["servers"][0]["projects"].clone();
    assert_eq!(projects[0]["agents"], 1, "{projects}");
}

/// What is not a message of an agent is refused, and the server goes on.
#[test]
fn a_hostile_program_of_the_same_user_harms_nobody() {
    let machine = Machine::with(&["lisbon"]);
    let mut agent = machine.agent("lisbon");
    agent.search();
    let socket = machine.socket();
    let long = vec![b'x'; 1 << 17];
    let gone = machine.root("gone");
    let gone = format!("{{\"want\":\"mcp\",\"root\":{gone:?},\"tools\":[],\"read_only\":false}}\n");
    let lines: [&[u8]; 4] = [b"\n", b"{\"want\":\"everything\"}\n", gone.as_bytes(), &long];
    let ask = |line: &[u8]| {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        let _ = stream.write_all(line);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    for line in lines {
        let answer = ask(line);
        assert!(answer.contains("error") || answer.is_empty(), "{answer}");
    }
    // A folder that is no project is not indexed; an agent there may ask other projects.
    let answer = ask(b"{\"want\":\"mcp\",\"root\":\"/\",\"tools\":[],\"read_only\":false}\n");
    assert_eq!(answer, "\"ok\"\n");
    assert!(!Path::new("/.cortex").exists());
    assert!(agent.search().contains("greet_lisbon"));
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(std::os::unix::net::UnixStream::connect(&socket).unwrap());
    }
    assert!(agent.search().contains("greet_lisbon"));
}

/// The server outlives the agent that started it, and its terminal.
#[test]
fn the_server_outlives_the_agent_that_started_it() {
    let machine = Machine::with(&["lisbon"]);
    let root = machine.root("lisbon");
    let script =
        format!("'{}' mcp --project '{}'", env!("CARGO_BIN_EXE_cortex"), root.to_str().unwrap());
    let mut shell = machine.user.command("bash");
    shell.env("CORTEX_LIVE_DEBOUNCE_MS", "50").args(["-c", &script]).stdin(Stdio::piped());
    let mut first = Agent { server: Server::start(&mut shell), n_asked: 0 };
    first.server.ask("initialize", &initialize("2025-06-18"));
    first.search();
    let pid = machine.server_process();
    first.server.signal("KILL");
    drop(first);
    assert!(machine.agent("lisbon").search().contains("greet_lisbon"));
    assert_eq!(machine.server_process(), pid);
}
