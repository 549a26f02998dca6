//! One question to several projects.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::server::{Client, Server, initialize};
use crate::support::project::{Project, run};
use crate::support::wait_until;

/// Two projects named `app`, and one named `wall`, beside each other in the folder of `p`.
fn three() -> Project {
    let p = Project::new();
    for (folder, file, text) in [
        ("a/app", "src/lib.rs", "/// Waits longer after each failed attempt.\npub fn retry() {}\n"),
        ("b/app", "src/lib.rs", "/// Boils potatoes in salted water.\npub fn boil() {}\n"),
        ("b/wall", "src/lib.rs", "/// Covers a wall with paint.\npub fn paint() {}\n"),
    ] {
        p.write(format!("{folder}/{file}"), text);
        p.write(format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
        at(&p, folder, &["index"]);
    }
    p
}

/// Runs the program in a folder of `p`, and returns what it printed.
fn at(p: &Project, folder: &str, args: &[&str]) -> crate::support::project::Output {
    run(p.cortex(args).current_dir(p.path(folder)))
}

#[test]
fn a_question_to_several_projects_names_the_right_one() {
    let p = three();
    let first = |args: &[&str]| {
        let out = at(&p, "b/wall", &[&["search", "-n", "1", "--lines", "0"], args].concat());
        out.expect(0).stdout.lines().next().unwrap_or_default().to_string()
    };
    assert!(first(&["--all", "failed attempt"]).starts_with("a/app:src/lib.rs:1-2"));
    assert!(first(&["--all", "salted water"]).starts_with("b/app:src/lib.rs:1-2"));
    assert!(first(&["--repo", "b/app,wall", "paint"]).starts_with("wall:src/lib.rs:1-2"));
    // A link to a project is that project.
    symlink(p.path("a/app"), p.path("link")).unwrap();
    assert!(first(&["--repo", "../../link", "failed attempt"]).starts_with("a/app:src/lib.rs:1-2"));

    let found = at(&p, "b/wall", &["search", "--repo", "*/app", "--json", "retry"]).expect(0);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(
        (&found["results"][0]["repo"], &found["results"][0]["path"]),
        (&"a/app".into(), &"src/lib.rs".into())
    );

    // A question that names a project prefers it.
    let args = ["search", "--all", "--json", "--explain", "where does wall cover things"];
    let found: Value = serde_json::from_str(&at(&p, "b/wall", &args).expect(0).stdout).unwrap();
    for row in found["results"].as_array().unwrap() {
        let is_named = row["explain"].to_string().contains("project_name");
        assert_eq!(is_named, row["repo"] == "wall", "{row}");
    }
    assert_eq!(found["results"][0]["repo"], "wall");

    let ambiguous = at(&p, "b/wall", &["search", "--repo", "app", "retry"]).error();
    assert!(ambiguous.contains("write a/app or b/app"), "{ambiguous}");

    // The project that is left has the short name, and the answer says what is missing.
    fs::rename(p.path("a"), p.path("moved")).unwrap();
    let rest = at(&p, "b/wall", &["search", "--all", "-l", "salted water"]).expect(0);
    assert!(rest.stdout.starts_with("app:src/lib.rs\n"), "{}", rest.stdout);
    assert!(rest.stderr.contains("a/app is left out: it is no longer there"), "{}", rest.stderr);
}

#[test]
fn a_workspace_file_inside_a_project_reaches_nothing_outside() {
    let p = three();
    let ask = |file: &str| at(&p, "b/wall", &["search", "--workspace", file, "-l", "salted water"]);
    p.write(
        "mine.code-workspace",
        "{ // an editor's\n \"folders\": [{\"path\": \"b/app\"}, {\"path\": \"b/wall\"},],\n}",
    );
    assert_eq!(ask("../../mine.code-workspace").expect(0).stdout, "b/app:src/lib.rs\n");
    p.write("mine.toml", "folders = [\"b/app\"]");
    assert_eq!(ask("../../mine.toml").expect(0).stdout, "b/app:src/lib.rs\n");
    p.write("mine.toml", "folders = []");
    assert!(ask("../../mine.toml").error().contains("name a folder"));

    p.write("b/wall/cortex.toml", "folders = [\".\", \"../app\"]");
    assert!(ask("cortex.toml").error().contains("it is inside the project"));
    p.write("b/wall/sub/x.code-workspace", "{\"folders\": [{\"path\": \"../../app\"}]}");
    assert!(ask("sub/x.code-workspace").error().contains("it is inside the project"));
    symlink(p.path("b/app"), p.path("b/wall/inner")).unwrap();
    p.write("b/wall/cortex.toml", "folders = [\"inner\"]");
    assert!(ask("cortex.toml").error().contains("it is inside the project"));
}

/// Agents of one machine's server reach the user's other projects through it, and an address that a
/// reply prints is understood by the next call.
#[test]
fn tools_understand_the_addresses_that_replies_print() {
    let p = three();
    let mut machine = Agents { p: &p, agents: Vec::new() };
    machine.start("b/wall", &[]);
    machine.start("b/wall", &["--alone"]);
    for agent in 0..2 {
        let mut ask = |tool: &str, arguments: Value| machine.ask(agent, tool, &arguments);
        let found = ask("cortex_search", json!({ "query": "failed attempt", "repos": ["*"] }));
        assert!(found.starts_with("a/app:src/lib.rs:1-2  function retry"), "{found}");
        // A generation of several projects means nothing.
        assert!(found.ends_with("\n3 projects"), "{found}");
        let read = ask("cortex_read", json!({ "path": "a/app:src/lib.rs:2" }));
        assert!(read.contains("2 pub fn retry() {}") && read.ends_with(" · in a/app"), "{read}");
        let outline = ask("cortex_outline", json!({ "path": "b/app:src/lib.rs" }));
        assert!(outline.contains("function boil 1-2"), "{outline}");
        let lines = ask("cortex_grep", json!({ "pattern": "pub fn", "paths": ["a/app:src/**"] }));
        assert!(lines.contains("retry") && !lines.contains("paint"), "{lines}");
        let map = ask("cortex_map", json!({ "repo": "b/app" }));
        assert!(map.ends_with(" · in b/app"), "{map}");
        // The agent's own project has a name, too.
        let own = ask("cortex_read", json!({ "path": "wall:src/lib.rs" }));
        assert!(own.contains("paint") && !own.contains(" · in "), "{own}");
        let two = ask("cortex_grep", json!({ "pattern": "x", "paths": ["a/app:a", "b/app:b"] }));
        assert!(two.contains("is in b/app, and the question is about a/app"), "{two}");
        // What is remembered stays in the project where the agent works.
        let remembered = ask("search_memory_nodes", json!({ "query": "x", "repo": "b/app" }));
        assert!(remembered.contains("there is no argument `repo`"), "{remembered}");
    }
    drop(machine);
    let out = at(&p, "b/wall", &["read", "a/app:src/lib.rs:2"]).expect(0);
    assert!(out.stdout.contains("pub fn retry"), "{}", out.stdout);
    let out = at(&p, "b/wall", &["outline", "--repo", "../app", "src/lib.rs"]).expect(0);
    assert!(out.stdout.contains("boil"), "{}", out.stdout);
    let out = at(&p, "b/wall", &["grep", "--repo", "b/app", "pub fn"]).expect(0);
    assert!(out.stdout.contains("boil") && !out.stdout.contains("paint"), "{}", out.stdout);
}

/// Each argument of a tool that names files or symbols may name their project, too.
#[test]
fn every_argument_that_names_a_place_reaches_the_project_of_the_place() {
    let p = three();
    fs::remove_dir_all(p.path("a/app/.git")).unwrap();
    for args in [&["init", "-q"][..], &["add", "src"], &["commit", "-qm", "Add retry"]] {
        let base = ["-C", "a/app", "-c", "user.name=t", "-c", "user.email=t@t"];
        run(p.command("git").args(base).args(args)).expect(0);
    }
    at(&p, "a/app", &["index"]).expect(0);
    let mut machine = Agents { p: &p, agents: Vec::new() };
    machine.start("b/wall", &["--alone"]);
    let (file, line, glob) = ("a/app:src/lib.rs", "a/app:src/lib.rs:2", "a/app:src/**");
    for (tool, arguments) in [
        ("read", json!({ "path": file })),
        ("read", json!({ "places": [line, "/retry/"] })),
        ("outline", json!({ "path": file })),
        ("grep", json!({ "pattern": "pub fn", "paths": [glob] })),
        ("search", json!({ "query": "attempt", "paths": [glob] })),
        ("explore", json!({ "about": [line] })),
        ("explore", json!({ "about": ["attempt"], "paths": [glob] })),
        ("why", json!({ "at": line })),
        ("history", json!({ "query": "add", "paths": [glob] })),
        ("changes", json!({ "path": "a/app:src" })),
        ("map", json!({ "focus": "a/app:src" })),
        ("related", json!({ "path": file })),
        ("graph", json!({ "operation": "callers", "target": line })),
        ("graph", json!({ "operation": "path", "target": "retry", "to": line })),
        ("impact", json!({ "files": [file] })),
        ("pattern", json!({ "pattern": "retry", "languages": ["rust"], "paths": [glob] })),
        ("files", json!({ "paths": [glob] })),
        ("status", json!({ "repo": "a/app" })),
    ] {
        let reply = machine.ask(0, &format!("cortex_{tool}"), &arguments);
        assert!(reply.ends_with(" · in a/app"), "{tool} {arguments}: {reply}");
    }
    // A colon in a pattern is not behind a name.
    for (tool, argument) in [("cortex_read", "places"), ("cortex_explore", "about")] {
        let reply = machine.ask(0, tool, &json!({ argument: ["/app:x|paint/"] }));
        assert!(reply.contains("pub fn paint") && !reply.contains(" · in "), "{tool}: {reply}");
    }
}

/// A search of several projects says and shows what a search of one does.
#[test]
fn a_search_of_several_projects_takes_the_steps_of_a_search_of_one() {
    let p = three();
    p.write("a/app/src/queue.rs", "pub fn push() {}\n\npub fn pop() -> u32 {\n    0\n}\n");
    p.write("b/app/tool.py", "def boil():\n    return 100\n");
    let ask = |args: &[&str]| at(&p, "b/wall", &[&["search", "--all"], args].concat());
    // The place of a stack trace comes first, though another file has the words.
    let trace = "panicked at src/queue.rs:4:5:\nboils potatoes in salted water";
    let first = |query: &str| ask(&["-l", "-n", "1", query]).expect(0).stdout;
    assert_eq!(first(trace), "a/app:src/queue.rs\n");
    // Each project has this file; the absolute path says which one it is.
    let inside = format!("failed attempt at {}:2:8", p.path("b/wall/src/lib.rs").display());
    assert_eq!(first(&inside), "wall:src/lib.rs\n");

    let unknown = "no indexed file is written in klingon; the languages are python, rust";
    let nowhere = "no indexed file matches nowhere/**";
    for (args, warning) in [(["-t", "klingon"], unknown), (["--paths", "nowhere/**"], nowhere)] {
        let said = ask(&[&["boil"], &args[..]].concat()).stderr;
        assert!(said.contains(warning), "{args:?}: {said}");
    }
    // One project that has it is enough.
    for args in [["-t", "python"], ["--paths", "*.py"], ["--paths", "./src"]] {
        let out = ask(&[&["boil"], &args[..]].concat()).expect(0);
        assert!(!out.stderr.contains("no indexed file"), "{args:?}: {}", out.stderr);
    }
}

/// Copies of a file in several projects have one path and one score.
#[test]
fn results_of_one_score_are_in_the_order_of_their_projects() {
    let p = Project::new();
    let names: Vec<String> = (0..12).map(|n| format!("p{n:02}")).collect();
    for name in &names {
        p.write(
            format!("{name}/src/lib.rs"),
            "/// Waits after a failed attempt.\npub fn retry() {}\n",
        );
        p.write(format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        at(&p, name, &["index"]).expect(0);
    }
    let out = at(&p, "p05", &["search", "--all", "-l", "-n", "20", "failed attempt"]).expect(0);
    let found: Vec<&str> = out.stdout.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(found, names);
}

/// Arguments of a search that name projects. Both of a pair are answered, or an error says why not and
/// what to do.
#[test]
fn no_argument_of_a_search_of_several_projects_is_left_out_silently() {
    let p = three();
    let note = "We decided that a failed attempt waits twice as long.";
    at(&p, "b/wall", &["memory", "add", note]).expect(0);
    let mut machine = Agents { p: &p, agents: Vec::new() };
    machine.start("b/wall", &["--alone"]);
    let mut ask = |arguments: Value| machine.ask(0, "cortex_search", &arguments);
    let query = "failed attempt";
    for repos in [json!(["*"]), json!(["a/app", "wall"]), json!(["a/app"]), json!("a/app")] {
        let refused = ask(json!({ "query": query, "repos": repos, "deps": true }));
        assert!(refused.contains("`deps` searches what one project depends on"), "{refused}");
        assert!(refused.contains("ask one project with `deps`"), "{refused}");
        for repo in ["b/app", "wall", "kettle"] {
            let refused = ask(json!({ "query": query, "repos": repos, "repo": repo }));
            let why = format!("`repo` (`{repo}`) and `repos` cannot be combined");
            assert!(refused.contains(&why), "{refused}");
        }
        for (place, name) in [("b/app:src/**", "b/app"), ("wall:src/lib.rs", "wall")] {
            let refused = ask(json!({ "query": query, "repos": repos, "paths": [place] }));
            let why = format!("`{place}` is in {name}, and `repos` names the projects to ask");
            assert!(refused.contains(&why), "{refused}");
        }
        let remembered = ask(json!({ "query": query, "repos": repos, "memories": 3 }));
        assert!(remembered.contains("function retry"), "{remembered}");
        assert!(remembered.contains("> remembered: ") && remembered.contains("twice as long"));
    }
    for repos in [json!(["*"]), json!(["a/app", "wall"])] {
        let refused = ask(json!({ "query": query, "repos": repos, "min_generation": 1 }));
        assert!(refused.contains("`min_generation` is a generation of one project"), "{refused}");
    }
    // What names one project is answered.
    for arguments in [
        json!({ "query": query, "repos": ["a/app"], "min_generation": 0, "paths": ["src/**"] }),
        json!({ "query": query, "repo": "a/app", "deps": true }),
        json!({ "query": query, "paths": ["a/app:src/**"], "deps": true }),
        json!({ "query": query, "repos": [], "repo": "a/app" }),
    ] {
        let found = ask(arguments.clone());
        assert!(found.contains("function retry"), "{arguments}: {found}");
    }
    drop(machine);

    p.write("all.code-workspace", "{\"folders\": [{\"path\": \"a/app\"}, {\"path\": \"b/wall\"}]}");
    for chosen in
        [&["--all"][..], &["--repo", "a/app"], &["--workspace", "../../all.code-workspace"]]
    {
        let search = |args: &[&str]| at(&p, "b/wall", &[&["search", query], chosen, args].concat());
        let refused = search(&["--deps"]).error();
        assert!(refused.contains("`deps` searches what one project depends on"), "{refused}");
        let found = search(&["--memories", "3", "--json"]).expect(0).stdout;
        let found: Value = serde_json::from_str(&found).unwrap();
        assert_eq!(found["results"][0]["repo"], "a/app", "{found}");
        assert!(found["memories"].to_string().contains("twice as long"), "{found}");
    }
}

/// Other users of the machine reach a port, so a server over HTTP answers for its project alone.
#[test]
fn a_server_over_http_reaches_no_other_project() {
    let p = three();
    let mut serve = p.cortex(&["serve", "--port", "0"]);
    let server = Server::start(serve.current_dir(p.path("b/wall")));
    let url =
        server.line().split_whitespace().find(|word| word.starts_with("http")).unwrap().to_string();
    let client = Client::new(url.trim_end_matches('/'));
    for arguments in [
        json!({ "query": "failed attempt", "repos": ["*"] }),
        json!({ "query": "failed attempt", "repo": "a/app" }),
    ] {
        let (status, body) = client.try_call("search", &arguments).unwrap();
        assert_eq!(status, 400, "{body}");
        assert!(body.contains("answers for one project only") && !body.contains("a/app"), "{body}");
    }
    let (_, body) = client.try_call("read", &json!({ "path": "a/app:src/lib.rs" })).unwrap();
    assert!(!body.contains("retry"), "{body}");
}

#[test]
fn a_project_that_cannot_answer_costs_only_its_own_answers() {
    let p = three();
    p.write("a/app/.cortex/config.toml", "[index\n");
    fs::remove_dir_all(p.path("b/app")).unwrap();
    let all = || at(&p, "b/wall", &["search", "--all", "-l", "paint a wall"]).expect(0);
    let out = all();
    assert_eq!(out.stdout, "wall:src/lib.rs\n");
    assert!(
        out.stderr.contains("app is left out: ") && out.stderr.contains("cortex doctor"),
        "{}",
        out.stderr
    );
    assert!(out.stderr.contains("run `cortex index` in its new place"), "{}", out.stderr);
    // A project that is gone is forgotten once it was said.
    assert!(!all().stderr.contains("new place"));
}

/// A repository inside of a project is a part of it, and follows its checkouts; another work tree of
/// the same repository is not, since it would answer everything twice.
#[test]
fn repositories_inside_of_a_project_are_followed() {
    let p = Project::with(&[("src/a.rs", "pub fn outer() {}\n")]);
    let at = |folder: &str, args: &[&str]| {
        let base = [
            "-C", folder, "-c", "protocol.file.allow=always", "-c", "user.name=t", "-c",
            "user.email=t@t",
        ];
        run(p.command("git").args(base).args(args)).expect(0);
    };
    p.write("lib/lib.rs", "pub fn library_one() {}\n");
    p.write("lib/.gitignore", "made.rs\n");
    at("lib", &["init", "-q", "-b", "one"]);
    at("lib", &["add", "."]);
    at("lib", &["commit", "-qm", "first"]);
    at("lib", &["checkout", "-q", "-b", "two"]);
    p.write("lib/lib.rs", "pub fn library_two() {}\n");
    at("lib", &["commit", "-qam", "second"]);
    at("lib", &["checkout", "-q", "one"]);
    p.git(&["init", "-q"]);
    p.git(&["add", "src"]);
    p.git(&["commit", "-qm", "outer"]);
    at(".", &["submodule", "--quiet", "add", "./lib", "sub"]);
    p.git(&["worktree", "add", "-q", "trees/w", "-b", "w"]);
    p.write("lib/made.rs", "pub fn made() {}\n");

    let lines = |pattern: &str| p.run(&["grep", pattern]).stdout;
    assert_eq!(
        lines("pub fn"),
        "lib/lib.rs:1:pub fn library_one() {}\nsrc/a.rs:1:pub fn outer() {}\nsub/lib.rs:1:pub fn library_one() {}\n"
    );
    let status = p.run(&["status", "-v"]).stdout;
    assert!(status.contains("nested      lib, sub: "), "{status}");
    assert!(status.contains("trees/w/: another work tree of this repository"), "{status}");

    // A server sees an edit in the one and a checkout in the other.
    let mut mcp = p.cortex(&["mcp", "--alone"]);
    let mut server = Server::start(mcp.env("CORTEX_LIVE_DEBOUNCE_MS", "50"));
    server.ask("initialize", &initialize("2025-06-18"));
    let mut finds = |name: &str| {
        let arguments = json!({ "query": name, "mode": "exact" });
        let params = json!({ "name": "cortex_search", "arguments": arguments });
        let reply = server.ask("tools/call", &params)["result"]["content"][0]["text"].to_string();
        reply.contains(&format!("pub fn {name}"))
    };
    wait_until("the index is loaded", || finds("library_one"));
    p.write("lib/lib.rs", "pub fn library_edited() {}\n");
    at("sub", &["checkout", "-q", "origin/two"]);
    wait_until("both are seen", || {
        finds("library_edited") && finds("library_two") && !finds("library_one")
    });
}

/// Agents that work in folders of `p`. Their server ends with them.
struct Agents<'a> {
    p: &'a Project,
    agents: Vec<Server>,
}

impl Agents<'_> {
    fn start(&mut self, folder: &str, args: &[&str]) {
        let mut command = self.p.cortex(&[&["mcp"], args].concat());
        let mut server = Server::start(command.current_dir(self.p.path(folder)));
        server.ask("initialize", &initialize("2025-06-18"));
        self.agents.push(server);
    }

    /// Asks a tool, and returns the text of its reply.
    fn ask(&mut self, agent: usize, tool: &str, arguments: &Value) -> String {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.agents[agent].ask("tools/call", &params);
        let text = reply["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{reply}")).to_string()
    }
}

impl Drop for Agents<'_> {
    fn drop(&mut self) {
        self.agents.clear();
        self.p.run(&["server", "stop"]);
    }
}
