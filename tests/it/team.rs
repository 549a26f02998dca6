//! The repositories of a team in a real database: published, asked, shared, interrupted.

#[path = "../../depot/tests/it/server.rs"]
#[allow(dead_code, reason = "the tests of the depot use more of it")]
mod database;

mod access;
mod answers;
mod hostile;
mod publishers;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use cortex::team::Record;
use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Client, Server};
use database::Server as Database;

/// A new database of the server that all of these tests share; `None` if none can be started here.
fn depot(name: &str) -> Option<Depot> {
    static SERVER: OnceLock<Option<Database>> = OnceLock::new();
    let server = SERVER.get_or_init(|| Database::start("postgres")).as_ref()?;
    Some(Depot::create(server.port, name))
}

/// A new depot of an engine; `None` if it cannot be started here.
fn depot_of(engine: &str, name: &str) -> Option<Depot> {
    if engine == "postgres" {
        return depot(name);
    }
    let server = Database::start(engine)?;
    let url = format!("{engine}://127.0.0.1:{}", server.port);
    Some(Depot { url, _server: Some(server) })
}

/// A database that teams publish to.
struct Depot {
    url: String,
    /// Of its own.
    _server: Option<Database>,
}

impl Depot {
    fn create(port: u16, name: &str) -> Self {
        let of = |database: &str| format!("postgres://postgres@127.0.0.1:{port}/{database}");
        let at = |database: &str| Self { url: of(database), _server: None };
        at("postgres").sql(&format!("CREATE DATABASE {name}"));
        at(name)
    }

    /// Runs a statement past the program, and returns the rows that it gives.
    fn sql(&self, statement: &str) -> String {
        let mut psql = of_servers("*18/bin/psql");
        let psql = psql.args(["-qtA", "-v", "ON_ERROR_STOP=1", "-c", statement, &self.url]);
        run(psql).expect(0).stdout.trim().to_string()
    }

    /// Lets so much time pass that leases end, and that no question asks an old generation.
    fn wait_an_hour(&self) {
        self.change_records(|record| {
            for (_, left) in record.as_object_mut().unwrap() {
                for one in left.as_array_mut().into_iter().flatten() {
                    // Generations and when they were published; namespaces and until when they are read.
                    if one.get(1).is_some() {
                        one[1] = json!(1);
                    } else if one.get("until").is_some() {
                        one["until"] = json!(1);
                    }
                }
            }
            end_lease(record);
        });
    }

    /// Lets all leases end.
    fn end_leases(&self) {
        self.change_records(end_lease);
    }

    /// Changes the records past the program. In Milvus, a publisher that was killed may have left the
    /// claim to change one, which others wait for: it is removed.
    fn change_records(&self, change: impl Fn(&mut Value)) {
        if let Some(address) = self.url.strip_prefix("milvus://") {
            let remove = format!(
                "import pymilvus; c = pymilvus.MilvusClient(uri='http://{address}'); \
                 c.delete('cortex_records', filter='what in [1, 2]')"
            );
            run(of_servers("*milvus-lite*/bin/python").args(["-c", &remove])).expect(0);
        }
        let depot = cortex::team::open(&self.url).unwrap();
        let changed = |record: Record| {
            let mut text = serde_json::from_str(&record.text).unwrap();
            change(&mut text);
            let (version, text) = (record.version + 1, text.to_string());
            depot.replace(&Record { version, text, ..record }).unwrap()
        };
        // What a publisher sent before it was stopped may arrive meanwhile.
        while !depot.records(None).unwrap().into_iter().all(changed) {}
    }

    /// Returns whether a publisher is at work.
    fn is_publishing(&self) -> bool {
        let depot = cortex::team::open(&self.url).unwrap();
        depot.records(None).unwrap().iter().any(|record| record.text.contains("\"who\""))
    }

    /// Returns the command that publishes a project.
    fn publishing(&self, p: &Project, name: &str) -> Command {
        let mut command = p.cortex(&["publish", "--repo", name, "--json"]);
        command.env("CORTEX_TEAM_URL", &self.url).env("USER", "ann");
        command
    }

    /// Publishes a project, and returns what that did.
    #[track_caller]
    fn publish(&self, p: &Project, name: &str) -> Value {
        let out = run(&mut self.publishing(p, name)).expect(0);
        serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", out.stdout))
    }

    /// Serves what is published, with these arguments.
    fn serve(&self, p: &Project, args: &[&str]) -> (Server, String) {
        let args = [&["serve", "--from", &self.url, "--port", "0"], args].concat();
        let server = Server::start(&mut p.cortex(&args));
        let url = server.line();
        (server, url)
    }

    /// Lists the repositories with their sizes.
    fn repositories(&self, p: &Project) -> Value {
        let list = p.json(&["team", "repos", "--from", &self.url, "--sizes"]);
        list["repositories"].clone()
    }
}

/// Returns the command of a program that was installed with the servers.
fn of_servers(path: &str) -> Command {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("servers");
    let find = Command::new("find").arg(home).args(["-path", path]).output().unwrap();
    let found = String::from_utf8(find.stdout).unwrap();
    Command::new(found.lines().next().unwrap())
}

fn end_lease(record: &mut Value) {
    if record["lease"].is_object() {
        record["lease"]["until"] = json!(1);
    }
}

/// Returns a project with a commit of these files.
fn committed(files: &[(&str, &str)]) -> Project {
    let p = Project::with(files);
    p.git(&["init", "-q"]);
    p.commit("first");
    p
}

/// What differs in no way between equal answers: repository, place, score and its parts.
fn essence(results: &Value) -> Vec<Value> {
    let rows = results.as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |row: &Value| {
        let of = |key: &str| row[key].clone();
        json!([
            of("path"),
            of("chunk_id"),
            of("start_line"),
            of("end_line"),
            of("symbol"),
            of("score"),
            of("explain"),
            of("others")
        ])
    };
    rows.iter().map(row).collect()
}

/// Returns the paths of results.
fn paths(reply: &Value) -> Vec<String> {
    let rows = reply["results"].as_array().unwrap_or_else(|| panic!("{reply}"));
    rows.iter().filter_map(|row| row["path"].as_str().map(String::from)).collect()
}

/// Asks by HTTP for the files that are about a question, in one repository.
fn found(client: &Client, repo: &str, query: &str) -> Vec<String> {
    paths(&client.call("search", &json!({ "query": query, "repo": repo })))
}
