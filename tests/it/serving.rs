//! Servers under load: chunk files are replaced and damaged, many servers run at once, and
//! processes are killed at any moment.
//! `STRESS=1` runs the full counts; otherwise each test runs about a tenth.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cortex::chunk::ChunkType;
use cortex::store::{ChunkWriter, Header, Layout, Manifest, Packing, WriteLock};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Project, Random};
use crate::server::{Client, LONG, Server, get, initialize, warnings};
use crate::support::wait_until;

/// Chunks of each type in one generation.
const N_CHUNKS: usize = 30;

fn is_stress() -> bool {
    std::env::var_os("STRESS").is_some()
}

/// Returns the number of repetitions, in the suite and with `STRESS=1`.
fn times(suite: usize, stress: usize) -> usize {
    if is_stress() { stress } else { suite }
}

/// Files of another program that arrive with longer pauses may not belong together
/// (specs/freshness.md).
const TOGETHER: Duration = Duration::from_millis(30);

/// Writes generations of chunk files: each adds chunks, deletes some and changes all others, and
/// every title and text names its era.
struct Publisher<'p> {
    p: &'p Project,
    /// Writes as our own program does; otherwise as another one, which knows no manifests.
    with_manifest: bool,
    /// Every third era of our own program is packed.
    packs: bool,
    era: usize,
    /// Eras whose files came so slowly that a reader cannot know that they belong together.
    slow: BTreeSet<usize>,
}

impl<'p> Publisher<'p> {
    /// Starts with era 1.
    fn new(p: &'p Project, with_manifest: bool) -> Self {
        p.share_key();
        Layout::at(&p.root()).unwrap().create().unwrap();
        let mut this = Self { p, with_manifest, packs: false, era: 0, slow: BTreeSet::new() };
        this.publish();
        this
    }

    fn chunks(&self, chunk_type: ChunkType) -> Vec<Value> {
        let (kind, era) = (chunk_type.as_str(), self.era);
        let chunk = |n: usize| {
            let line = format!(
                "The kitchen keeps sack {n} of the potatoes in a {} corner.\n",
                ["dark", "dry", "cool"][(n + era) % 3]
            );
            json!({
                "id": format!("{kind}-{n}"),
                "title": format!("Part {n}, era {era} end"),
                "text": format!("milestone of era {era} end\n{}", line.repeat(3 + (n + era) % 5)),
                "metadata": { "file_path": format!("{kind}/part{n}.rs"), "start_line": 1, "end_line": 9 },
            })
        };
        (3 * era..3 * era + N_CHUNKS).map(chunk).collect()
    }

    fn publish(&mut self) {
        self.era += 1;
        if !self.with_manifest {
            let path = |name: &str| format!(".cortex/chunks/{name}");
            for (name, chunk_type) in CHUNK_FILES.iter().zip(ChunkType::ALL) {
                self.p.write(
                    path(&format!("{name}.aside")),
                    json!({ "chunks": self.chunks(chunk_type) }).to_string(),
                );
            }
            let mut last = Instant::now();
            for name in CHUNK_FILES {
                // Slow as other programs are: readers run in between.
                thread::sleep(TOGETHER / 2);
                self.p.rename(&path(&format!("{name}.aside")), &path(name));
                if last.elapsed() >= TOGETHER {
                    self.slow.insert(self.era);
                }
                last = Instant::now();
            }
            return;
        }
        let layout = Layout::at(&self.p.root()).unwrap();
        let lock = WriteLock::acquire(&layout, LONG).unwrap();
        let packing =
            if self.packs && self.era.is_multiple_of(3) { Packing::Zstd } else { Packing::Plain };
        let mut writer =
            ChunkWriter::create(&layout, &lock, &Header::ours("none", 0), packing).unwrap();
        for chunk_type in ChunkType::ALL {
            self.chunks(chunk_type)
                .iter()
                .for_each(|c| writer.put(chunk_type, &c.to_string()).unwrap());
        }
        writer.publish(Manifest::read(&layout).unwrap().as_ref(), 1).unwrap();
    }
}

/// Returns the eras of the results of a reply; each result names one.
#[track_caller]
fn eras(reply: &Value) -> BTreeSet<usize> {
    let of = |result: &Value| {
        let text = result.to_string();
        let said: BTreeSet<usize> = text
            .split("era ")
            .skip(1)
            .map(|t| t.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(!said.is_empty(), "no era in {result}");
        said
    };
    reply["results"].as_array().unwrap().iter().flat_map(of).collect()
}

/// Returns the era of a reply.
#[track_caller]
fn era(reply: &Value) -> usize {
    let eras = eras(reply);
    assert_eq!(eras.len(), 1, "the eras {eras:?} in one reply: {reply:#}");
    eras.into_iter().next().unwrap()
}

/// Returns the query of the `n`-th call.
fn question(n: usize) -> (&'static str, Value) {
    match n % 4 {
        0 => ("search", json!({ "query": "milestone", "mode": "exact", "limit": 50 })),
        1 => ("search", json!({ "query": "milestone potatoes", "limit": 20 })),
        2 => (
            "search",
            json!({ "query": "potatoes in a dark corner of the kitchen", "mode": "semantic" }),
        ),
        _ => ("search", json!({ "query": "kitchen -absent", "mode": "exact" })),
    }
}

/// Returns the resident memory of a process in megabytes.
fn resident(server: &Server) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Starts a server that only serves, and reloads soon.
fn serve_only(p: &Project) -> (Server, Client) {
    let mut command = p.cortex(&["serve", "--port", "0", "--no-watch"]);
    let server = Server::start(command.env("CORTEX_LIVE_DEBOUNCE_MS", "50"));
    let client = Client::new(&server.line());
    (server, client)
}

/// What all clients of one server received.
#[derive(Default)]
struct Told {
    /// By generation of the index.
    eras: Mutex<BTreeMap<u64, BTreeSet<usize>>>,
    n_queries: AtomicUsize,
}

impl Told {
    /// Calls the server until the test is over.
    fn ask(&self, client: &Client, first: usize, over: &AtomicBool) {
        let mut last = 0;
        for n in first.. {
            if over.load(Ordering::Relaxed) {
                return;
            }
            let (tool, arguments) = question(n);
            let reply = client.call(tool, &arguments);
            assert_eq!(warnings(&reply), "");
            assert!(reply["total"].as_u64() > Some(0), "{tool} {arguments}: {reply}");
            let generation = reply["index"]["generation"].as_u64().unwrap();
            assert!(generation >= last, "generation {generation} after {last}");
            last = generation;
            self.eras.lock().entry(generation).or_default().extend(eras(&reply));
            self.n_queries.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Stops the threads of a test, also when it fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Pause between two generations under load.
const RHYTHM: Duration = Duration::from_millis(200);

/// Replaces the chunk files while clients search: for a minute and 300 reloads, or for 6 seconds.
/// Memory around reload 300 is at most a fifth above that around reload 30; in the suite, with few
/// reloads, at most twice that around reload 5.
fn replace_under_load(with_manifest: bool, n_clients: usize) {
    let p = Project::new();
    let mut publisher = Publisher::new(&p, with_manifest);
    publisher.packs = true;
    let (server, client) = serve_only(&p);
    let n_reloads =
        || usize::try_from(client.status()["reload"]["published"].as_u64().unwrap()).unwrap();
    wait_until("the first era", || n_reloads() == 1);
    let (told, over) = (Told::default(), AtomicBool::new(false));
    let (early, late, at_least) =
        (times(5, 30), times(0, 300), Duration::from_secs(times(6, 60) as u64));
    let start = Instant::now();
    let mut memory: Vec<(usize, f64)> = Vec::new();
    thread::scope(|scope| {
        let _over = Over(&over);
        for n in 0..n_clients {
            let (told, over, client) = (&told, &over, Client::new(&client.url));
            scope.spawn(move || told.ask(&client, n, over));
        }
        for beat in 1.. {
            thread::sleep((start + beat * RHYTHM).saturating_duration_since(Instant::now()));
            publisher.publish();
            memory.push((n_reloads(), resident(&server)));
            let enough = start.elapsed() >= at_least && memory.last().unwrap().0 >= late;
            if enough || start.elapsed() > 4 * at_least {
                break;
            }
        }
    });
    // If nothing says which files belong together, a slow machine may show two eras for a moment.
    wait_until("the last era is served", || {
        eras(&client.call("search", &question(0).1)) == BTreeSet::from([publisher.era])
    });
    let eras = told.eras.into_inner();
    let reloads = n_reloads();
    // The median of several reloads, because memory that queries hold for a moment is not growth.
    let around = |n: usize| {
        let mut near: Vec<f64> = memory
            .iter()
            .filter(|(reloads, _)| (n / 2..=n).contains(reloads))
            .map(|m| m.1)
            .collect();
        near.sort_by(f64::total_cmp);
        *near.get(near.len() / 2).unwrap_or_else(|| panic!("only {reloads} reloads"))
    };
    let steps: Vec<String> = memory
        .iter()
        .step_by(memory.len() / 15 + 1)
        .map(|(n, mb)| format!("{n}: {mb:.0}"))
        .collect();
    println!(
        "manifest {with_manifest}: {} queries, {} eras written, {reloads} reloads, {} generations seen, {:.0} s; MB after reload {}",
        told.n_queries.into_inner(),
        publisher.era,
        eras.len(),
        start.elapsed().as_secs_f64(),
        steps.join(", ")
    );
    let excused =
        |eras: &BTreeSet<usize>| eras.iter().skip(1).any(|era| publisher.slow.contains(era));
    let mixed: Vec<_> = eras.iter().filter(|(_, eras)| eras.len() > 1).collect();
    println!("slow eras {:?}, mixed {mixed:?}", publisher.slow);
    assert!(mixed.iter().all(|(_, eras)| excused(eras)), "eras are mixed: {mixed:?}");
    let statistics = &client.status()["reload"];
    assert_eq!(statistics["failed"], 0, "{statistics}");
    assert!(eras.len() > times(2, 100), "later generations do appear: {eras:?}");
    if with_manifest {
        assert!(
            eras.iter().all(|(generation, eras)| eras.iter().all(|era| *era as u64 == *generation)),
            "{eras:?}"
        );
    }
    let (before, after) = (around(early), around(reloads.max(late)));
    println!("{before:.0} MB until reload {early}, {after:.0} MB in the second half");
    assert!(
        after <= before * if is_stress() { 1.2 } else { 2.0 },
        "memory grows from {before} to {after} MB: {memory:?}"
    );
}

/// Nothing says which files of another program belong together; still no reply mixes generations.
#[test]
fn replacing_files_of_another_program_under_load() {
    replace_under_load(false, 32);
}

/// With one client the machine is so idle that hardly any era is slow: every reply must be
/// complete.
#[test]
fn replacing_files_of_another_program_beside_one_client() {
    replace_under_load(false, 1);
}

#[test]
fn replacing_our_files_under_load() {
    replace_under_load(true, 32);
}

/// A fault of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Garbage,
    Half,
    Empty,
    Directory,
    Forbidden,
    Gone,
    /// The file is written in place, slowly.
    Growing,
}

impl Fault {
    const ALL: [Self; 7] = [
        Self::Garbage,
        Self::Half,
        Self::Empty,
        Self::Directory,
        Self::Forbidden,
        Self::Gone,
        Self::Growing,
    ];

    fn strike(self, p: &Project, path: &str, good: &[u8]) {
        match self {
            Self::Garbage => p.write(path, "this is no chunk file"),
            Self::Half | Self::Growing => p.write(path, &good[..good.len() / 2]),
            Self::Empty => p.write(path, ""),
            Self::Directory => {
                p.remove(path);
                fs::create_dir(p.path(path)).unwrap();
            }
            Self::Forbidden => p.chmod(path, 0o000),
            Self::Gone => p.remove(path),
        }
    }

    /// Restores the file; `meanwhile` is called while it is incomplete.
    fn heal(self, p: &Project, path: &str, good: &[u8], meanwhile: impl Fn()) {
        match self {
            Self::Forbidden => p.chmod(path, 0o644),
            Self::Growing => {
                let mut file = File::options().append(true).open(p.path(path)).unwrap();
                for piece in good[good.len() / 2..].chunks(good.len() / 16) {
                    meanwhile();
                    file.write_all(piece).unwrap();
                }
            }
            _ => {
                if self == Self::Directory {
                    fs::remove_dir(p.path(path)).unwrap();
                }
                p.write(".cortex/aside", good);
                p.rename(".cortex/aside", path);
            }
        }
    }
}

/// Damages one file after the other under a server.
fn damage(with_manifest: bool) {
    let p = Project::new();
    let mut publisher = Publisher::new(&p, with_manifest);
    p.open_to_all();
    p.give_key_to_nobody();
    // File permissions do not apply to root.
    let mut command = p.unprivileged(&["serve", "--port", "0", "--no-watch"]);
    command.env("CORTEX_LIVE_DEBOUNCE_MS", "50").env("CORTEX_SERVE_TOKEN", "secret");
    let server = Server::start(&mut command);
    let client = Client::with_token(&server.line(), "secret");
    let search =
        || client.call("search", &json!({ "query": "milestone", "limit": 1, "mode": "exact" }));
    let is_well = |era_wanted: usize| {
        let reply = search();
        warnings(&reply).is_empty() && era(&reply) == era_wanted && reply["total"] == 4 * N_CHUNKS
    };
    wait_until("the first era", || is_well(1));
    let names: Vec<&str> =
        CHUNK_FILES.into_iter().chain(with_manifest.then_some("manifest.json")).collect();
    for (number, name) in names.iter().enumerate() {
        for fault in Fault::ALL {
            let without_meaning = match *name {
                // Files without a manifest belong to another program, and half a manifest counts as
                // none.
                "manifest.json" => matches!(fault, Fault::Gone | Fault::Growing),
                // Another program may have no chunks of a type.
                _ => !with_manifest && fault == Fault::Gone,
            };
            // Each kind of damage has the same effect on every chunk file.
            let is_repetition = !is_stress()
                && *name != "manifest.json"
                && fault as usize % CHUNK_FILES.len() != number;
            if without_meaning || is_repetition {
                continue;
            }
            let (path, what) = (format!(".cortex/chunks/{name}"), format!("{name} {fault:?}"));
            let good = fs::read(p.path(&path)).unwrap();
            let generation = search()["index"]["generation"].as_u64().unwrap();
            let as_before = |reply: &Value| {
                assert_eq!(
                    (era(reply), &reply["total"]),
                    (publisher.era, &json!(4 * N_CHUNKS)),
                    "{what}: {reply}"
                );
                assert_eq!(reply["index"]["generation"], generation, "{what}");
            };
            fault.strike(&p, &path, &good);
            wait_until(&format!("a warning of {what}"), || {
                let reply = search();
                as_before(&reply);
                warnings(&reply).contains(name)
            });
            let status = client.status();
            assert!(warnings(&status).contains(name), "{what}: {status:#}");
            assert!(
                status["reload"]["last_error"].as_str().is_some_and(|e| e.contains(name)),
                "{what}: {status:#}"
            );
            assert_eq!(status["chunks"], 4 * N_CHUNKS, "{what}");
            let token = ("authorization", "Bearer secret");
            let (code, body) = get(&format!("{}/readyz", client.url), &[token]);
            assert_eq!(code, 200, "{what}: {body}");
            fault.heal(&p, &path, &good, || as_before(&search()));
            wait_until(&format!("{what} is over"), || is_well(publisher.era));
            assert!(client.status()["reload"].get("last_error").is_none(), "{what}");
            publisher.publish();
            wait_until(&format!("a new era after {what}"), || is_well(publisher.era));
        }
    }
}

#[test]
fn damaged_files_of_another_program_leave_the_last_good_generation() {
    damage(false);
}

#[test]
fn our_damaged_files_leave_the_last_good_generation() {
    damage(true);
}

/// Nothing says that our chunk files are those of this user: the server says so, and serves none.
#[test]
fn a_server_starts_beside_an_unreadable_manifest() {
    let p = Project::new();
    let mut publisher = Publisher::new(&p, true);
    p.write(".cortex/chunks/manifest.json", "{\"generation\":");
    let (_server, client) = serve_only(&p);
    let search = || client.call("search", &question(0).1);
    wait_until("it says why", || warnings(&search()).contains("manifest.json"));
    assert_eq!(search()["results"], json!([]));
    publisher.publish();
    wait_until("it heals", || {
        let reply = search();
        reply["results"] != json!([]) && era(&reply) == 2 && warnings(&reply).is_empty()
    });
}

/// Another program removed all chunks of a type: that is an ordinary change.
#[test]
fn a_removed_file_of_another_program_is_an_empty_type() {
    let p = Project::new();
    let publisher = Publisher::new(&p, false);
    let (_server, client) = serve_only(&p);
    let total = || {
        client.call("search", &json!({ "query": "milestone", "mode": "exact" }))["total"]
            .as_u64()
            .unwrap()
    };
    wait_until("all", || total() == 4 * N_CHUNKS as u64);
    let good = p.chunk_file(CHUNK_FILES[3]);
    p.remove(&format!(".cortex/chunks/{}", CHUNK_FILES[3]));
    wait_until("all but one", || total() == 3 * N_CHUNKS as u64);
    p.write(".cortex/aside", good);
    p.rename(".cortex/aside", &format!(".cortex/chunks/{}", CHUNK_FILES[3]));
    wait_until("all again", || total() == 4 * N_CHUNKS as u64);
    assert_eq!(era(&client.call("search", &question(0).1)), publisher.era);
}

/// One of many servers of a project, over either transport.
struct Peer {
    server: Server,
    /// Over HTTP.
    client: Option<Client>,
}

impl Peer {
    fn start(p: &Project, over_http: bool) -> Self {
        let args: &[&str] = if over_http {
            &["serve", "--port", "0", "--watch"]
        } else {
            &["mcp", "--watch", "--alone"]
        };
        let server = Server::start(p.cortex(args).env("CORTEX_LIVE_DEBOUNCE_MS", "50"));
        Self { server, client: None }.greeted(over_http)
    }

    fn greeted(mut self, over_http: bool) -> Self {
        if over_http {
            self.client = Some(Client::new(&self.server.line()));
        } else {
            self.server.ask("initialize", &initialize("2025-06-18"));
        }
        self
    }

    fn status(&mut self) -> Value {
        match &self.client {
            Some(client) => client.status(),
            None => {
                let reply = self.server.ask(
                    "tools/call",
                    &json!({ "name": "cortex_status", "arguments": { "format": "json" } }),
                );
                reply["result"]["structuredContent"].clone()
            }
        }
    }
}

fn runs(statuses: &[Value]) -> u64 {
    statuses.iter().map(|s| s["indexing"]["runs"].as_u64().unwrap()).sum()
}

/// Waits until all serve this generation, and returns their states.
fn all_at(peers: &mut [Peer], generation: u64) -> Vec<Value> {
    let mut statuses = Vec::new();
    wait_until(&format!("generation {generation} everywhere"), || {
        statuses = peers.iter_mut().map(Peer::status).collect();
        statuses.iter().all(|s| s["index"]["generation"] == generation)
    });
    statuses
}

/// Returns the server that watches the tree; there is never more than one.
fn leader(statuses: &[Value]) -> Option<usize> {
    let leaders: Vec<usize> =
        (0..statuses.len()).filter(|i| statuses[*i]["indexing"]["leads"] == true).collect();
    assert!(leaders.len() < 2, "{leaders:?} lead");
    leaders.first().copied()
}

/// Fifty servers that start at once index a repository once, and every change once; when the leader
/// is killed, another one takes over.
#[test]
fn of_many_servers_one_indexes() {
    let n = times(8, 50);
    let p = Project::sample();
    let start = Instant::now();
    // All are started before the test waits for the first.
    let mut peers: Vec<Peer> = thread::scope(|scope| {
        let starting: Vec<_> = (0..n)
            .map(|i| {
                scope.spawn({
                    let p = &p;
                    move || Peer::start(p, i % 2 == 0)
                })
            })
            .collect();
        starting.into_iter().map(|s| s.join().unwrap()).collect()
    });
    let manifest = || {
        serde_json::from_str::<Value>(&p.read(".cortex/chunks/manifest.json")).unwrap()["generation"].clone()
    };
    let statuses = all_at(&mut peers, 1);
    println!("{n} servers serve generation 1 after {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!((runs(&statuses), manifest()), (1, json!(1)));

    let start = Instant::now();
    p.write("src/edited.rs", "fn edited() {}\n");
    let statuses = all_at(&mut peers, 2);
    println!("and generation 2 {:.1} s after an edit", start.elapsed().as_secs_f64());
    assert_eq!((runs(&statuses), manifest()), (2, json!(2)));

    let first = leader(&statuses).expect("a leader");
    let mut dead = peers.swap_remove(first);
    let runs_of_dead = dead.status()["indexing"]["runs"].as_u64().unwrap();
    dead.server.child.kill().unwrap();
    dead.server.child.wait().unwrap();
    let start = Instant::now();
    wait_until("another one leads", || {
        leader(&peers.iter_mut().map(Peer::status).collect::<Vec<_>>()).is_some()
    });
    println!("another leads {:.1} s after the first was killed", start.elapsed().as_secs_f64());
    p.write("src/edited.rs", "fn edited_again() {}\n");
    let statuses = all_at(&mut peers, 3);
    assert_eq!((runs_of_dead + runs(&statuses), manifest()), (3, json!(3)));
}

/// Writes every file of the tree again.
fn plant(p: &Project, generation: usize) {
    for i in 0..16 {
        let filler = "    // It takes some lines to fill a file.\n".repeat(10 + i + generation % 7);
        p.write(
            format!("part{i}.rs"),
            format!("/// milestone of tree {generation}\npub fn open_{i}() {{\n{filler}}}\n"),
        );
    }
}

/// The indexing process is killed (`kill -9`) at any moment: the others continue to answer, one of
/// them repairs the index, and in the end it equals the tree.
#[test]
fn killed_indexers_are_survived_and_repaired() {
    let n_kills = times(10, 100);
    let p = Project::new();
    plant(&p, 0);
    p.index();
    let start = || Peer::start(&p, true);
    let mut peers: Vec<Peer> = (0..3).map(|_| start()).collect();
    let url = |peer: &Peer| peer.client.as_ref().unwrap().url.clone();
    let alive: Mutex<BTreeSet<String>> = Mutex::new(peers.iter().map(url).collect());
    let (over, n_queries) = (AtomicBool::new(false), AtomicUsize::new(0));
    let ask = |first: usize| {
        let mut clients: BTreeMap<String, Client> = BTreeMap::new();
        for n in first.. {
            if over.load(Ordering::Relaxed) {
                return;
            }
            let asked = {
                let alive = alive.lock();
                alive.iter().nth(n % alive.len()).unwrap().clone()
            };
            let client = clients.entry(asked.clone()).or_insert_with(|| Client::new(&asked));
            let reply =
                client.try_call("search", &json!({ "query": "milestone", "mode": "exact" }));
            if !alive.lock().contains(&asked) {
                continue;
            }
            let (code, body) = reply.expect("a server that lives answers");
            let reply: Value = serde_json::from_str(&body).unwrap();
            assert!(code == 200 && reply["total"].as_u64() > Some(0), "{code} {body}");
            n_queries.fetch_add(1, Ordering::Relaxed);
        }
    };
    let began = Instant::now();
    let mut random = Random(7);
    thread::scope(|scope| {
        let _over = Over(&over);
        for n in 0..3 {
            scope.spawn(move || ask(n));
        }
        for n in 1..=n_kills {
            let mut leading = None;
            wait_until("one leads", || {
                leading = leader(&peers.iter_mut().map(Peer::status).collect::<Vec<_>>());
                leading.is_some()
            });
            plant(&p, n);
            let moment = Duration::from_millis(random.below(150) as u64);
            if n % 4 == 0 {
                let mut index = p.cortex(&["index", "--quiet"]).spawn().unwrap();
                thread::sleep(moment);
                index.kill().unwrap();
                index.wait().unwrap();
                continue;
            }
            // The leader starts once the tree was quiet for 50 ms.
            thread::sleep(Duration::from_millis(40) + moment);
            let mut dead = peers.swap_remove(leading.unwrap());
            alive.lock().remove(&url(&dead));
            dead.server.child.kill().unwrap();
            dead.server.child.wait().unwrap();
            let next = start();
            alive.lock().insert(url(&next));
            peers.push(next);
        }
    });
    println!(
        "{n_kills} kills, {} queries, {:.1} s",
        n_queries.into_inner(),
        began.elapsed().as_secs_f64()
    );
    let fresh = p.fresh_copy().timeless();
    wait_until("the index is that of the tree", || p.timeless() == fresh);
    let generation = serde_json::from_str::<Value>(&p.read(".cortex/chunks/manifest.json"))
        .unwrap()["generation"]
        .as_u64()
        .unwrap();
    all_at(&mut peers, generation);
    for peer in &mut peers {
        let status = peer.status();
        assert_eq!(warnings(&status), "", "{status:#}");
    }
    assert!(p.timeless() == fresh);
}

/// A tree whose indexing takes a while.
fn large_tree() -> Project {
    let p = Project::new();
    for i in 0..times(60, 600) {
        let functions: String = (0..40)
            .map(|n| {
                format!(
                    "/// Opens door {n} of house {i}.\npub fn door_{n}_{i}() {{ let x = {n}; }}\n"
                )
            })
            .collect();
        p.write(format!("house{i}/doors.rs"), functions);
    }
    p
}

/// Searches without waiting.
fn doors(client: &Client) -> Value {
    client.call("search", &json!({ "query": "open a door", "min_generation": 0 }))
}

/// A call that says nothing about waiting waits a while for the first index.
#[test]
fn the_first_question_after_the_start_finds_what_is_there() {
    let p = Project::sample();
    let (_server, client) = follow(&p);
    let reply = client.call("search", &json!({ "query": "retry with backoff" }));
    assert_eq!(reply["results"][0]["path"], "src/retry.rs", "{reply}");
    assert_eq!(warnings(&reply), "");
}

fn follow(p: &Project) -> (Server, Client) {
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    (server, client)
}

/// A server of a tree without an index answers at once, reports its progress, and then finds
/// something.
#[test]
fn a_server_answers_before_there_is_an_index() {
    let p = large_tree();
    let start = Instant::now();
    let (_server, client) = follow(&p);
    assert_eq!(get(&format!("{}/healthz", client.url), &[]).0, 200);
    let up = start.elapsed();
    let first = doors(&client);
    let answered = start.elapsed();
    assert!(answered < Duration::from_secs(3), "{answered:?}");
    assert!(warnings(&first).contains("the index is being built"), "{first}");
    assert_eq!(get(&format!("{}/readyz", client.url), &[]).0, 503);
    let mut progress = BTreeSet::new();
    wait_until("there are results", || {
        let reply = doors(&client);
        progress.extend(
            warnings(&reply).lines().filter(|w| w.contains("files are done")).map(str::to_string),
        );
        !reply["results"].as_array().unwrap().is_empty()
    });
    println!(
        "up after {up:?}, answered after {answered:?}, results after {:?}; said meanwhile {} times how far it is",
        start.elapsed(),
        progress.len()
    );
    assert!(!progress.is_empty(), "it says how far it is");
    wait_until("nothing is left to say", || warnings(&doors(&client)).is_empty());
    assert_eq!(get(&format!("{}/readyz", client.url), &[]).0, 200);
}

/// A server that is told to end while it indexes ends soon; the next run completes the index.
#[test]
fn a_server_ends_while_it_indexes() {
    let p = large_tree();
    let (mut server, client) = follow(&p);
    wait_until("it indexes", || warnings(&doors(&client)).contains("files are done"));
    server.signal("TERM");
    let (code, took) = server.ended();
    println!("ended after {took:?}");
    assert!(code == Some(0) && took < Duration::from_secs(3), "{code:?} {took:?}");
    let (_server, client) = follow(&p);
    wait_until("the next one has results", || {
        !doors(&client)["results"].as_array().unwrap().is_empty()
    });
    assert!(p.timeless() == p.fresh_copy().timeless());
}
