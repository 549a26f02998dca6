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

/// A database that teams publish to.
struct Depot {
    port: u16,
    url: String,
}

impl Depot {
    fn create(port: u16, name: &str) -> Self {
        let of = |database: &str| format!("postgres://postgres@127.0.0.1:{port}/{database}");
        Self { port, url: of("postgres") }.sql(&format!("CREATE DATABASE {name}"));
        Self { port, url: of(name) }
    }

    /// Runs a statement past the program, and returns the rows that it gives.
    fn sql(&self, statement: &str) -> String {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("servers");
        let find = Command::new("find").arg(home).args(["-path", "*18/bin/psql"]).output().unwrap();
        let psql = String::from_utf8(find.stdout).unwrap();
        let mut psql = Command::new(psql.lines().next().unwrap());
        let psql = psql.args(["-qtA", "-v", "ON_ERROR_STOP=1", "-c", statement, &self.url]);
        run(psql).expect(0).stdout.trim().to_string()
    }

    /// Lets so much time pass that leases end, and that no question asks an old generation.
    fn wait_an_hour(&self) {
        self.sql(
            "UPDATE cortex.records SET body = regexp_replace(regexp_replace(body, \
             '\"until\":\\d+', '\"until\":1', 'g'), ',\\d{10}\\]', ',1]', 'g')",
        );
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
