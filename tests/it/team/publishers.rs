//! Publishers that meet, that are killed, and that work while many ask.

use std::collections::HashMap;
use std::env;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Depot, committed, depot, depot_of, essence};
use crate::project::{Project, Random, run};
use crate::server::Client;

/// Number of files of a tree.
const N_FILES: usize = 24;

fn is_stress() -> bool {
    env::var_os("STRESS").is_some()
}

/// Writes every file again with the number of its tree, and commits. Returns the commit.
fn plant(p: &Project, tree: usize) -> String {
    for i in 0..N_FILES {
        let filler = "    // It takes some lines to fill a file.\n".repeat(i + tree % 7);
        let text = match i % 3 {
            0 => format!(
                "/// milestone tree {tree} end\npub fn open_{i}_of_{tree}() {{\n{filler}}}\n"
            ),
            1 => format!("# part_{i}_of_{tree}\n\nmilestone tree {tree} end\n\n{filler}\n"),
            _ => format!(
                "# milestone tree {tree} end\ndef part_{i}_of_{tree}():\n    return {tree}\n"
            ),
        };
        p.write(format!("part{i}.{}", ["rs", "md", "py"][i % 3]), text);
    }
    p.commit("planted");
    p.git(&["rev-parse", "HEAD"])
}

/// Returns the numbers of trees that a text names.
fn trees(text: &str, before: &str) -> Vec<usize> {
    let number = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    text.split(before).skip(1).filter_map(number).collect()
}

fn spawn(depot: &Depot, p: &Project) -> Child {
    let mut command = depot.publishing(p, "zzz");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Asks for all files of the tree, and returns the generation that answers, its commit and its tree.
/// All files must be of one.
fn look(client: &Client, by_grep: bool) -> (u64, String, usize) {
    let reply = if by_grep {
        let request = json!({ "pattern": "milestone tree", "repo": "zzz", "max_matches": 100, "max_tokens": 20_000 });
        client.call("grep", &request)
    } else {
        let request = json!({ "query": "milestone tree", "repo": "zzz", "mode": "exact", "limit": 100, "max_tokens": 20_000 });
        client.call("search", &request)
    };
    let mut trees = trees(&reply.to_string(), if by_grep { "milestone tree " } else { "_of_" });
    assert!(trees.len() >= N_FILES, "{} files: {reply}", trees.len());
    trees.dedup();
    assert_eq!(trees.len(), 1, "a mixed generation: {trees:?}");
    let state = &reply["published"][0];
    let commit = state["commit"].as_str().unwrap().to_string();
    (state["generation"].as_u64().unwrap(), commit, trees[0])
}

/// Fails unless the published repository answers as the same project published for the first time.
fn assert_as_fresh(depot: &Depot, p: &Project, client: &Client) {
    depot.wait_an_hour();
    depot.publish(p, "zzz");
    depot.publish(p, "fresh");
    depot.wait_an_hour();
    run(&mut p.cortex(&["team", "gc", "--from", &depot.url])).expect(0);
    for query in ["milestone", "open_3", "how is a file filled with lines", "part_5", "opne_6"] {
        let ask = |repo: &str| {
            let request = json!({ "query": query, "repo": repo, "explain": true, "limit": 50 });
            let reply = client.call("search", &request);
            (essence(&reply["results"]), reply["total"].clone())
        };
        assert_eq!(ask("zzz"), ask("fresh"), "{query}");
    }
    let sizes = depot.repositories(p);
    let rows = |name: &str| {
        let list = sizes.as_array().unwrap();
        list.iter().find(|one| one["name"] == name).unwrap()["size"]["rows"].clone()
    };
    assert_eq!(rows("zzz"), rows("fresh"), "{sizes}");
}

#[test]
fn one_publishes_at_a_time_and_the_other_is_told_who() {
    let Some(depot) = depot("two") else { return };
    let p = committed(&[("a.rs", "pub fn a() {}\n")]);
    plant(&p, 1);
    depot.publish(&p, "zzz");
    let (mut first, _) = stopped(&depot, &p, 2, Duration::ZERO);
    let error = run(&mut depot.publishing(&p, "zzz")).error();
    let who = format!("ann (process {})", first.id());
    assert!(error.contains(&format!("{who} publishes `zzz` at this moment")), "{error}");
    let listed = depot.repositories(&p);
    assert_eq!(listed[0]["publishing"], who, "{listed}");
    signal(&first, "CONT");
    assert!(first.wait().unwrap().success());
    assert_eq!(depot.publish(&p, "zzz")["stored"], 0);
}

fn signal(child: &Child, name: &str) {
    run(Command::new("kill").args(["-s", name, &child.id().to_string()])).expect(0);
}

/// Publishes trees from this one on, until a publisher was stopped at its work, some time after it
/// began. Returns it and its tree.
fn stopped(depot: &Depot, p: &Project, first: usize, mut after: Duration) -> (Child, usize) {
    for tree in first..first + 100 {
        plant(p, tree);
        p.index();
        let mut child = spawn(depot, p);
        while child.try_wait().unwrap().is_none() && !depot.is_publishing() {}
        thread::sleep(after);
        if child.try_wait().unwrap().is_none() {
            signal(&child, "STOP");
            if depot.is_publishing() {
                return (child, tree);
            }
            signal(&child, "CONT");
            child.wait().unwrap();
        }
        // Its work took less time.
        after /= 2;
    }
    panic!("no publisher was at work");
}

/// A publisher is stopped, its lease ends, and another one publishes. The first one does not know that
/// time has passed, and goes on.
fn one_that_comes_back_changes_nothing(depot: &Depot) {
    let p = committed(&[("a.rs", "pub fn a() {}\n")]);
    plant(&p, 0);
    depot.publish(&p, "zzz");
    let (_server, url) = depot.serve(&p, &[]);
    let client = Client::new(&url);
    let mut random = Random(11);
    let mut tree = 0;
    for round in 0..if is_stress() { 20 } else { 2 } {
        let after = Duration::from_millis(random.below(30 * (1 + round)) as u64);
        let (mut sleeper, slept) = stopped(depot, &p, tree + 1, after);
        depot.end_leases();
        // Its last request may have arrived after it was stopped. In Milvus, it may also be told that its
        // record was stored when it was replaced at once: its claim was removed.
        let is_lost = depot.is_publishing() && !depot.url.starts_with("milvus");
        tree = slept + 1;
        plant(&p, tree);
        depot.publish(&p, "zzz");
        signal(&sleeper, "CONT");
        let status = sleeper.wait().unwrap();
        let (_, _, is) = look(&client, round % 2 == 0);
        assert_eq!(is, tree, "the one of tree {slept} came back: {status}");
        assert!(!(is_lost && status.success()), "it had lost its lease");
    }
    assert_as_fresh(depot, &p, &client);
}

#[test]
fn a_publisher_that_was_stopped_changes_nothing_of_what_another_one_published() {
    let Some(depot) = depot("stopped") else { return };
    one_that_comes_back_changes_nothing(&depot);
}

#[test]
fn a_publisher_that_was_stopped_changes_nothing_in_milvus() {
    let Some(depot) = depot_of("milvus", "stopped") else { return };
    one_that_comes_back_changes_nothing(&depot);
}

#[test]
fn a_publisher_that_is_killed_leaves_the_old_generation_whole() {
    let Some(depot) = depot("killed") else { return };
    let p = committed(&[("a.rs", "pub fn a() {}\n")]);
    plant(&p, 0);
    let start = Instant::now();
    depot.publish(&p, "zzz");
    let longest = usize::try_from(start.elapsed().as_millis()).unwrap();
    let (_server, url) = depot.serve(&p, &[]);
    let client = Client::new(&url);
    let mut random = Random(7);
    let mut last = 0;
    for tree in 1..if is_stress() { 100 } else { 6 } {
        plant(&p, tree);
        p.index();
        let mut child = spawn(&depot, &p);
        thread::sleep(Duration::from_millis(random.below(longest) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, _, is) = look(&client, tree % 2 == 0);
        assert!(is == last || is == tree, "{is} after {last}, and {tree} was interrupted");
        depot.wait_an_hour();
        last = is;
    }
    assert_as_fresh(&depot, &p, &client);
}

/// Publishers work and are killed while clients ask. Each reply is of one generation, and no client
/// sees an older one after a newer one.
#[test]
fn clients_see_whole_generations_in_their_order() {
    let Some(depot) = depot("consistent") else { return };
    let (n_clients, n_trees, least) =
        if is_stress() { (16, 50, Duration::from_mins(1)) } else { (4, 8, Duration::ZERO) };
    clients_see_whole_generations(&depot, n_clients, n_trees, least);
}

/// The same at a tenth of the size.
#[test]
fn clients_see_whole_generations_in_milvus() {
    let Some(depot) = depot_of("milvus", "consistent") else { return };
    let (n_trees, least) =
        if is_stress() { (5, Duration::from_secs(6)) } else { (2, Duration::ZERO) };
    clients_see_whole_generations(&depot, 2, n_trees, least);
}

fn clients_see_whole_generations(depot: &Depot, n_clients: usize, n_trees: usize, least: Duration) {
    let p = committed(&[("a.rs", "pub fn a() {}\n")]);
    // Which tree each commit holds.
    let planted = Mutex::new(HashMap::from([(plant(&p, 0), 0)]));
    let start = Instant::now();
    depot.publish(&p, "zzz");
    let longest = usize::try_from(start.elapsed().as_millis()).unwrap();
    let (_first, url) = depot.serve(&p, &[]);
    let (_second, other) = depot.serve(&p, &[]);
    let (is_over, n_asked, n_killed) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let mut clients = Vec::new();
        for at in 0..n_clients {
            // Each asks both servers in turn, as behind a load balancer.
            let servers = [Client::new(&url), Client::new(&other)];
            let (is_over, n_asked, planted) = (&is_over, &n_asked, &planted);
            clients.push(scope.spawn(move || {
                let mut newest = 0;
                let mut n = at;
                while !is_over.load(Ordering::Relaxed) {
                    let (generation, commit, tree) = look(&servers[n % 2], n % 3 == 0);
                    assert!(generation >= newest, "{generation} after {newest}");
                    assert_eq!(planted.lock().unwrap()[&commit], tree, "generation {generation}");
                    newest = generation;
                    n += 1;
                    n_asked.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        let over = SetOnDrop(&is_over);
        let mut random = Random(3);
        let start = Instant::now();
        let mut tree = 0;
        let mut n_published = 0;
        let is_done = |n_published: usize| {
            n_published >= n_trees
                && n_killed.load(Ordering::Relaxed) >= n_trees.div_ceil(3)
                && start.elapsed() >= least
        };
        while !is_done(n_published) {
            assert!(clients.iter().all(|client| !client.is_finished()), "a client failed");
            tree += 1;
            let commit = plant(&p, tree);
            planted.lock().unwrap().insert(commit, tree);
            p.index();
            if random.below(2) == 0 {
                let mut child = spawn(depot, &p);
                thread::sleep(Duration::from_millis(random.below(longest) as u64));
                child.kill().unwrap();
                child.wait().unwrap();
                n_killed.fetch_add(1, Ordering::Relaxed);
                // Its lease ends. What others may still ask is kept.
                depot.end_leases();
            } else {
                depot.publish(&p, "zzz");
                n_published += 1;
            }
        }
        drop(over);
    });
    let (asked, killed) = (n_asked.into_inner(), n_killed.into_inner());
    assert!(asked > n_trees * 2 && killed > 0, "{asked} questions, {killed} killed");
    eprintln!(
        "{asked} questions of {n_clients} clients, {n_trees} or more published, {killed} killed, {:?}",
        start.elapsed()
    );
    let before = rows(&depot.repositories(&p));
    assert_as_fresh(depot, &p, &Client::new(&url));
    let after = rows(&depot.repositories(&p));
    eprintln!("rows before {before}, after {after}");
    assert!(after < before, "{before} rows, and {after} after they were collected");
}

/// Returns the rows that are stored of `zzz`.
fn rows(repositories: &Value) -> u64 {
    let list = repositories.as_array().unwrap();
    list.iter().find(|one| one["name"] == "zzz").unwrap()["size"]["rows"].as_u64().unwrap()
}

/// Ends the clients also when the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
