//! A running server keeps the index equal to the tree, and of several servers exactly one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use cortex::chunk::Cancel;
use cortex::config::globs;
use cortex::embed::{EmbedError, Embedder, Passage, StaticModel};
use cortex::index::{Indexer, IndexingService, Mode, Watching};
use cortex::live::ChunkManager;
use cortex::search::{Filter, Query, Searcher};
use cortex::source::{Included, OriginSettings, Scope, WalkOptions};
use cortex::store::{Activity, ChunkFiles, Layout, Packing};
use cortex::worker::Pace;

use crate::project::{Project, run};
use crate::server::{Client, Server, warnings};
use crate::support::tree::Tree;
use crate::support::wait_until;

const QUIET: Duration = Duration::from_millis(20);

const HISTORY: &str = "code-history.json";

/// Runs a server's indexing in this process.
fn follow(p: &Project) -> IndexingService {
    IndexingService::spawn(indexer(p, StaticModel::bundled()), Pace::new(Some(QUIET)), |_| ())
        .unwrap()
}

/// Does the same with settings that include what the tree leaves out.
fn follow_also(p: &Project, included: Included) -> IndexingService {
    let mut indexer = indexer(p, StaticModel::bundled());
    indexer.walk.included = included;
    IndexingService::spawn(indexer, Pace::new(Some(QUIET)), |_| ()).unwrap()
}

fn indexer(p: &Project, embedder: Arc<dyn Embedder>) -> Indexer {
    Indexer {
        layout: Layout::at(&p.root()).unwrap(),
        walk: WalkOptions {
            max_file_bytes: 1 << 20,
            exclude: globs(&[]).unwrap(),
            exclude_patterns: Vec::new(),
            included: Included::default(),
            origins: OriginSettings::default(),
            package: None,
        },
        embedder,
        packing: Some(Packing::Plain),
        keep_deleted: false,
        history: true,
        lock_wait: Duration::from_secs(10),
        cancel: Arc::default(),
        journal: None,
        relations: None,
        known: None,
        archives: None,
    }
}

fn indexed(p: &Project, path: &str) -> bool {
    let needle = format!("\"file_path\":\"{path}\"");
    p.path(".cortex/chunks/manifest.json").exists()
        && crate::project::CHUNK_FILES.iter().any(|f| p.chunk_file(f).contains(&needle))
}

/// A look and the run after it need one walk. What changes between them is not lost, whoever changes it.
#[test]
fn a_run_takes_the_plan_of_a_look_unless_the_index_was_written_since() {
    let p = Project::sample();
    let writer = indexer(&p, StaticModel::bundled());
    let look = || writer.look(&Scope::All);
    let run = |found| writer.run_after(found, Mode::Incremental, &Scope::All, &|_| ()).unwrap();
    run(None);
    assert!(look().found.is_none(), "nothing changed");

    p.write("src/first.rs", "fn first() {}\n");
    let first = look();
    assert!(first.is_stale);
    p.write("src/first.rs", "fn first_and_more() {}\n");
    run(first.found);
    let holds = |name: &&str| p.chunk_file(name).contains("first_and_more");
    assert!(crate::project::CHUNK_FILES.iter().any(holds), "the text is read after the look");
    assert!(!look().is_stale);

    p.write("src/second.rs", "fn second() {}\n");
    let second = look();
    p.write("src/third.rs", "fn third() {}\n");
    run(second.found);
    assert!(indexed(&p, "src/second.rs") && !indexed(&p, "src/third.rs"), "there is one walk");
    let third = look();
    assert!(third.is_stale, "the next look finds what came after the walk");

    p.remove("src/first.rs");
    run(None);
    p.write("src/fourth.rs", "fn fourth() {}\n");
    run(third.found);
    assert!(!indexed(&p, "src/first.rs") && indexed(&p, "src/third.rs"));
    assert!(indexed(&p, "src/fourth.rs"), "a plan that is older than the index is not taken");
    assert!(!look().is_stale);
}

#[test]
fn random_changes_are_followed_by_events_alone() {
    let mut tree = Tree::new(7, 12);
    let service = follow(&tree.project);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    for _ in 0..8 {
        for _ in 0..6 {
            tree.change();
        }
        let fresh = tree.project.fresh_copy().timeless();
        wait_until("the index is that of the tree", || tree.project.timeless() == fresh);
    }
    assert!(service.status().leads);
    wait_until("nothing is pending", || {
        Activity::read(&Layout::at(&tree.project.root()).unwrap()).pending() == 0
    });
}

#[test]
fn new_directories_are_watched_also_when_they_come_filled() {
    let p = Project::sample();
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    p.write("new/deep/er/first.rs", "fn first() {}\n");
    wait_until("a file of a new directory", || indexed(&p, "new/deep/er/first.rs"));
    p.write("new/deep/er/second.rs", "fn second() {}\n");
    wait_until("a file that came to it later", || indexed(&p, "new/deep/er/second.rs"));
    p.rename("new/deep", "moved");
    wait_until("a renamed directory", || {
        indexed(&p, "moved/er/first.rs") && !indexed(&p, "new/deep/er/first.rs")
    });
    p.write("moved/er/third.rs", "fn third() {}\n");
    wait_until("a file that came to it after", || indexed(&p, "moved/er/third.rs"));
    p.write("moved/.gitignore", "er/\n");
    wait_until("an ignored directory", || !indexed(&p, "moved/er/first.rs"));
    p.remove("moved/.gitignore");
    wait_until("one that is not ignored any more", || indexed(&p, "moved/er/third.rs"));
    p.write("moved/er/fourth.rs", "fn fourth() {}\n");
    wait_until("and is watched again", || indexed(&p, "moved/er/fourth.rs"));
}

/// Hidden files that people mean, or that a rule keeps, are followed like others.
#[test]
fn hidden_files_that_are_indexed_are_followed() {
    let p = Project::sample();
    p.write(".cortexignore", "!.notes.md\n");
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    p.write(".github/workflows/ci.yml", "on: push\n");
    wait_until("a hidden folder that people mean", || indexed(&p, ".github/workflows/ci.yml"));
    p.write(".notes.md", "# Notes\n\nnougat\n");
    wait_until("a hidden file that a rule keeps", || indexed(&p, ".notes.md"));
    p.remove(".notes.md");
    wait_until("its removal", || !indexed(&p, ".notes.md"));
}

/// What the settings of the user include is followed like all other files.
#[test]
fn included_files_are_followed() {
    let p = Project::sample();
    p.write("node_modules/react/index.js", "export function render() {}\n");
    p.write("node_modules/vue/index.js", "export function render() {}\n");
    let patterns = ["node_modules/react/**".to_string()];
    let service = follow_also(
        &p,
        Included {
            hidden: true,
            files: globs(&patterns).unwrap(),
            folders: globs(&["node_modules".into()]).unwrap(),
            patterns: patterns.into(),
        },
    );
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    wait_until("a dependency", || indexed(&p, "node_modules/react/index.js"));
    p.write("node_modules/react/new.js", "export function hydrate() {}\n");
    wait_until("a new file of it", || indexed(&p, "node_modules/react/new.js"));
    p.write(".idea/notes.md", "# Notes\n");
    wait_until("a hidden folder", || indexed(&p, ".idea/notes.md"));
    p.write(".idea/later.md", "# Later\n");
    wait_until("a file that came to it later", || indexed(&p, ".idea/later.md"));
    assert!(!indexed(&p, "node_modules/vue/index.js") && !indexed(&p, ".git/HEAD"));
}

/// Bug: the system continued to watch the directory that was removed.
#[test]
fn a_directory_that_is_made_again_at_once_is_watched() {
    let p = Project::sample();
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    for n in 0..3 {
        std::fs::remove_dir_all(p.path("src")).unwrap();
        p.write("src/again.rs", format!("fn again_{n}() {{}}\n"));
        wait_until("its first file", || {
            p.chunk_file("code-definitions.json").contains(&format!("again_{n}"))
        });
        wait_until("nothing is pending", || {
            Activity::read(&Layout::at(&p.root()).unwrap()).pending() == 0
        });
        p.write(format!("src/later_{n}.rs"), "fn later() {}\n");
        wait_until("a file that came to it later", || indexed(&p, &format!("src/later_{n}.rs")));
    }
}

#[test]
fn a_leader_whose_lock_was_removed_leads_again() {
    let p = Project::sample();
    let first = follow(&p);
    wait_until(
        "the first leads",
        || matches!(first.status().watching, Watching::Events(n) if n > 0),
    );
    // The server may still be writing there.
    wait_until("it is removed", || std::fs::remove_dir_all(p.path(".cortex")).is_ok());
    let second = follow(&p);
    let asked = (first.sync(), second.sync());
    let deadline = Instant::now() + Duration::from_secs(30);
    assert!(
        first.handle().wait(asked.0, deadline, &false.into())
            && second.handle().wait(asked.1, deadline, &false.into())
    );
    wait_until("one of them leads", || first.status().leads != second.status().leads);
    p.write("src/after.rs", "fn after() {}\n");
    wait_until("it indexes", || indexed(&p, "src/after.rs"));
}

#[test]
fn what_a_dead_process_said_counts_no_more() {
    let p = Project::sample();
    p.index();
    // A killed run and a killed leader leave these files.
    p.write(".cortex/cache/run.json", r#"{"done":3,"total":99}"#);
    p.write(".cortex/cache/queue.json", "7");
    let layout = Layout::at(&p.root()).unwrap();
    assert_eq!(Activity::read(&layout).pending(), 0, "nobody holds a lock");
    let service = follow(&p);
    wait_until("it leads", || service.status().leads && service.status().has_looked);
    assert_eq!(Activity::read(&layout).pending(), 0, "the new leader has nothing to do");
    let _lock = cortex::store::WriteLock::acquire(&layout, Duration::from_secs(10)).unwrap();
    assert_eq!(Activity::read(&layout).pending(), 0, "nor who writes next");
}

/// Switches between two branches that differ in a few hundred files.
#[test]
fn a_checkout_is_followed() {
    let p = Project::new();
    let git = |args: &[&str]| {
        let out = p
            .command("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args)
            .output()
            .unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    let write = |n: usize, what: &str| {
        p.write(
            format!("src/part_{}/file_{n}.rs", n % 20),
            format!("/// {what}.\nfn {what}_{n}() {{}}\n"),
        );
    };
    (0..200).for_each(|n| write(n, "old"));
    git(&["init", "-q", "-b", "old"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "old"]);
    git(&["checkout", "-q", "-b", "new"]);
    (100..350).for_each(|n| write(n, "new"));
    (0..60).for_each(|n| p.remove(&format!("src/part_{}/file_{n}.rs", n % 20)));
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "new"]);
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    let fresh = ["old", "new"].map(|branch| {
        git(&["checkout", "-q", branch]);
        p.fresh_copy().timeless()
    });
    for n in 0..if std::env::var_os("STRESS").is_some() { 20 } else { 2 } {
        git(&["checkout", "-q", ["old", "new"][n % 2]]);
        wait_until("the index is that of the branch", || p.timeless() == fresh[n % 2]);
    }
}

/// A commit changes no file of the tree, and its message still enters the index.
#[test]
fn the_message_of_a_commit_is_followed() {
    let p = Project::sample();
    let git = |args: &[&str]| {
        let base = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        run(p.command("git").args(base).args(args)).expect(0);
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "initial import"]);
    let service = follow(&p);
    let is_watched = || matches!(service.status().watching, Watching::Events(n) if n > 0);
    wait_until("the first index", is_watched);
    git(&["commit", "-q", "--amend", "-m", "drain the tank"]);
    wait_until("the message is indexed", || p.chunk_file(HISTORY).contains("drain the tank"));
    assert!(!p.chunk_file(HISTORY).contains("initial import"));
}

/// The file is hidden and not indexed, and it still changes what is known of others.
#[test]
fn gitattributes_are_followed() {
    let p = Project::sample();
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    let is_marked = || p.chunk_file("code-definitions.json").contains("\"origin\":\"vendored\"");
    p.write("src/.gitattributes", "*.rs linguist-vendored\n");
    wait_until("the files are vendored", is_marked);
    p.remove("src/.gitattributes");
    wait_until("they are not any more", || !is_marked());
}

#[test]
fn what_is_pending_is_told_before_it_is_indexed() {
    let p = Project::sample();
    let service = follow(&p);
    wait_until(
        "the first index",
        || matches!(service.status().watching, Watching::Events(n) if n > 0),
    );
    let layout = Layout::at(&p.root()).unwrap();
    // While this lock is held, the change cannot be indexed.
    let lock = cortex::store::WriteLock::acquire(&layout, Duration::from_secs(10)).unwrap();
    p.write("src/late.rs", "fn late() {}\n");
    wait_until("the change is told", || Activity::read(&layout).pending() == 1);
    drop(lock);
    wait_until("it is indexed", || indexed(&p, "src/late.rs"));
    wait_until("nothing is pending", || Activity::read(&layout).pending() == 0);
}

#[test]
fn another_takes_over_when_the_leader_is_gone() {
    let p = Project::sample();
    let first = follow(&p);
    wait_until(
        "the first leads",
        || matches!(first.status().watching, Watching::Events(n) if n > 0),
    );
    let second = follow(&p);
    let asked = second.sync();
    assert!(second.handle().wait(asked, Instant::now() + Duration::from_secs(30), &false.into()));
    assert!(!second.status().leads);
    assert_eq!((first.status().n_runs, second.status().n_runs), (1, 0), "it was indexed once");
    drop(first);
    wait_until(
        "the second leads",
        || matches!(second.status().watching, Watching::Events(n) if n > 0),
    );
    p.write("src/after.rs", "fn after() {}\n");
    wait_until("it indexes", || indexed(&p, "src/after.rs"));
}

#[test]
fn one_that_stands_by_indexes_when_it_is_asked_to() {
    let p = Project::sample();
    // This process leads, but does not watch.
    let _leader =
        cortex::store::LeaderLock::try_acquire(&Layout::at(&p.root()).unwrap()).unwrap().unwrap();
    let service = follow(&p);
    for n in 0..3 {
        p.write("src/asked.rs", format!("fn asked_{n}() {{}}\n"));
        let ticket = service.sync();
        assert!(service.handle().wait(
            ticket,
            Instant::now() + Duration::from_secs(30),
            &false.into()
        ));
        assert!(p.chunk_file("code-definitions.json").contains(&format!("asked_{n}")));
    }
    assert!(!service.status().leads);
}

#[test]
fn chunk_files_of_another_program_are_left_alone() {
    let p = Project::sample();
    let foreign = r#"{"chunks":[{"id":"x","text":"written elsewhere"}]}"#;
    p.write(".cortex/chunks/doc-chunks.json", foreign);
    let service = follow(&p);
    let ticket = service.sync();
    assert!(service.handle().wait(ticket, Instant::now() + Duration::from_secs(30), &false.into()));
    assert_eq!(p.chunk_file("doc-chunks.json"), foreign);
    assert_eq!(service.status().last_error, None, "that is no failure");
}

/// A mock of an embedding server, which would cost money and time: it makes no vectors until it is
/// reachable.
struct Remote {
    model: Arc<StaticModel>,
    reachable: AtomicBool,
}

impl Embedder for Remote {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn is_immediate(&self) -> bool {
        false
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if !self.reachable.load(Ordering::SeqCst) {
            return Err(EmbedError {
                embedder: "remote".into(),
                message: "there is no connection".into(),
            });
        }
        self.model.embed_passages(passages)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        self.model.embed_query(query)
    }
}

#[test]
fn an_embedder_that_takes_its_time_holds_up_nothing() {
    let p = Project::sample();
    let remote =
        Arc::new(Remote { model: StaticModel::bundled(), reachable: AtomicBool::new(false) });
    let service =
        IndexingService::spawn(indexer(&p, remote.clone()), Pace::new(Some(QUIET)), |_| ())
            .unwrap();
    let feed = ChunkFiles::new(Layout::at(&p.root()).unwrap(), remote.id(), remote.dimensions());
    let manager = ChunkManager::new(vec![Box::new(feed)], remote.clone()).unwrap();
    let reload = || manager.reload(&Cancel::new(false)).unwrap();
    let found = |query: &str, words: bool| {
        let vector = remote.embed_query(query).unwrap();
        let query = Query::new(if words { query } else { "" });
        let results = Searcher::new(&manager.current().feed("code").unwrap().corpus)
            .search(&query, &vector, &Filter::default(), 1)
            .unwrap();
        results.hits.first().map(|h| h.path.to_string())
    };
    wait_until("the files are indexed", || indexed(&p, "src/retry.rs"));
    reload();
    let n_chunks = manager.current().feed("code").unwrap().corpus.chunks().len();
    assert_eq!(manager.current().feed("code").unwrap().n_without_vectors, n_chunks);
    assert_eq!(found("potatoes", true).as_deref(), Some("docs/guide.md"), "by words");
    assert_eq!(found("cooking vegetables", false), None, "not yet by meaning");
    wait_until("it is told why", || {
        service.status().embed_error.is_some_and(|e| e.contains("no connection"))
    });
    assert_eq!(service.status().last_error, None, "the index itself is well");

    remote.reachable.store(true, Ordering::SeqCst);
    wait_until("the vectors come", || {
        reload();
        manager.current().feed("code").unwrap().n_without_vectors == 0
    });
    assert_eq!(found("cooking vegetables", false).as_deref(), Some("docs/guide.md"), "by meaning");
    wait_until("no complaint is left", || service.status().embed_error.is_none());
}

/// A server that does not follow the tree stays in the state right after an edit.
#[test]
fn a_symbol_is_read_at_its_former_lines_after_an_edit() {
    let p = Project::with(&[(
        "src/pump.rs",
        "pub fn first() {\n    one();\n}\n\npub fn second() {\n    two();\n}\n",
    )]);
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    client.call("search", &json!({ "query": "second" }));
    p.write("src/pump.rs", "// A line.\n// Another.\n// A third.\npub fn first() {\n    one();\n}\n\npub fn second() {\n    two();\n}\n\npub fn third() {}\n");
    for path in ["src/pump.rs#second", "second"] {
        let read = client.call("read", &json!({ "path": path }));
        assert_eq!(read["content"], "pub fn second() {\n    two();\n}", "{read}");
        assert!(warnings(&read).contains("changed since it was indexed"), "{read}");
    }
    let read = client.call("read", &json!({ "path": "src/pump.rs#third" }));
    assert_eq!(read["content"], "pub fn third() {}");
    let outline = client.call("outline", &json!({ "path": "src/pump.rs" }));
    assert_eq!(outline["symbols"][1]["start_line"], 8, "{outline}");
    p.remove("src/pump.rs");
    let found = client.call("search", &json!({ "query": "second" }));
    assert_eq!(found["results"][0]["deleted"], true, "{found}");
}
