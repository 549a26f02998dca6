//! Tests of the code graph on small projects of several files.

mod inferred;
mod precise;
mod unused;

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use std::sync::Arc;

use super::*;
use crate::work::WorkBudget;

fn database(path: PathBuf) -> Database {
    Database { path, mark: 1 }
}

/// A project in memory with its graph.
struct Project {
    directory: tempfile::TempDir,
    files: BTreeMap<String, String>,
    graph: CodeGraph,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let graph = CodeGraph::open(&database(directory.path().join("code-graph.db"))).unwrap();
        let files = files.iter().map(|(p, t)| ((*p).to_string(), (*t).to_string())).collect();
        let project = Self { directory, files, graph };
        project.update();
        project
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join("code-graph.db")
    }

    fn update(&self) -> Updated {
        update(&self.graph, &self.files)
    }

    fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path.into(), text.into());
        self.update();
    }

    fn ask(
        &self,
        operation: Operation,
        target: &str,
        to: Option<&str>,
        depth: usize,
    ) -> GraphAnswer {
        self.graph.answer(GraphQuery { operation, target, to, depth, limit: 100 }, &work()).unwrap()
    }

    /// Returns `file symbol reason` of each test.
    fn tests(&self, target: &str) -> Vec<String> {
        let query =
            GraphQuery { operation: Operation::Tests, target, to: None, depth: 3, limit: 100 };
        let found = self.graph.tests(query, &work()).unwrap();
        let shown = |test: &FoundTest| {
            format!("{} {} {:?}", test.neighbour.node.file, test.neighbour.node.symbol, test.reason)
        };
        found.results.iter().map(shown).collect()
    }

    /// Returns `file symbol sites` of each result.
    fn results(&self, operation: Operation, target: &str) -> Vec<String> {
        rows(&self.ask(operation, target, None, 1).results)
    }

    fn callers(&self, target: &str) -> Vec<String> {
        self.results(Operation::Callers, target)
    }
}

fn rows(found: &[Neighbour]) -> Vec<String> {
    found.iter().map(|f| format!("{} {} {:?}", f.node.file, f.node.symbol, f.sites)).collect()
}

fn update(graph: &CodeGraph, files: &BTreeMap<String, String>) -> Updated {
    let hashes = files.iter().map(|(path, text)| (path.clone(), hash(text)));
    let read = |path: &str| files.get(path).map(|text| (text.clone(), hash(text)));
    graph.update(hashes, read, |_, _| ()).unwrap()
}

fn hash(text: &str) -> String {
    format!("{:x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

const STORE: &str = "pub struct Store { pool: Pool }\nimpl Store {\n    pub fn new() -> Self { Self { pool: Pool::new() } }\n    pub fn get(&self) -> u8 { self.pool.take() }\n}\n";
const POOL: &str = "pub struct Pool;\nimpl Pool {\n    pub fn new() -> Self { Pool }\n    pub fn take(&self) -> u8 { 1 }\n}\n";
const MAIN: &str = "use crate::store::Store;\nfn main() {\n    let store = Store::new();\n    store.get();\n    store.get();\n}\n";

fn rust() -> Project {
    Project::new(&[
        ("src/store.rs", STORE),
        ("src/pool.rs", &format!("use crate::x::Y;\n{POOL}")),
        ("src/main.rs", MAIN),
        (
            "src/other.rs",
            "struct Map;\nimpl Map { fn get(&self) -> u8 { 2 } }\nfn f(m: &Map) { m.get(); }\n",
        ),
    ])
}

fn work() -> WorkBudget {
    WorkBudget::new(Arc::default())
}

#[test]
fn types_tell_methods_of_one_name_apart() {
    let p = rust();
    assert_eq!(p.callers("Store::get"), ["src/main.rs main [4, 5]"]);
    assert_eq!(p.callers("Map::get"), ["src/other.rs f [3]"]);
    assert_eq!(
        p.results(Operation::Callees, "main"),
        ["src/store.rs Store::new [3]", "src/store.rs Store::get [4, 5]"]
    );
}

#[test]
fn paths_from_here_numbered_members_and_packages_without_a_name() {
    let p = Project::new(&[
        ("src/ext.rs", "mod chain;\nfn merge_hints(left: u8) -> u8 {\n    left\n}\n"),
        (
            "src/ext/chain.rs",
            "pub struct Half(u8, Whole);\npub struct Whole;\nimpl Whole { pub fn read(&self) {} }\nimpl Half {\n    fn go(&self) {\n        self.1.read();\n        super::merge_hints(1);\n    }\n}\n",
        ),
        (
            "kit/env.go",
            "package kit\n\ntype Env struct{}\n\nfunc (e *Env) Open(path string) {}\n\nfunc Run(f func(env *Env)) {}\n",
        ),
        (
            "use/use_test.go",
            "package use\n\nimport . \"example.com/m/kit\"\n\nfunc TestOpen() {\n\tRun(func(env *Env) {\n\t\tenv.Open(\"a\")\n\t})\n}\n",
        ),
    ]);
    assert_eq!(p.callers("merge_hints"), ["src/ext/chain.rs Half::go [7]"]);
    assert_eq!(p.callers("Whole::read"), ["src/ext/chain.rs Half::go [6]"]);
    assert_eq!(p.callers("Env.Open"), ["use/use_test.go TestOpen [7]"]);
}

#[test]
fn changing_the_file_of_a_callee_keeps_its_callers() {
    let mut p = rust();
    p.write("src/store.rs", &format!("// A comment.\n\n{STORE}"));
    assert_eq!(p.callers("Store::get"), ["src/main.rs main [4, 5]"]);
    p.write("src/store.rs", &STORE.replace("get", "read"));
    assert!(
        p.callers("Store::read").is_empty()
            && p.ask(Operation::Callers, "Store::get", None, 1).targets.is_empty()
    );
    p.write("src/store.rs", STORE);
    assert_eq!(p.callers("Store::get"), ["src/main.rs main [4, 5]"]);
}

#[test]
fn only_what_differs_is_read() {
    let mut p = rust();
    assert_eq!(p.update().n_parsed, 0);
    p.files.insert("src/main.rs".into(), MAIN.replace("store.get();", ""));
    p.files.remove("src/other.rs");
    let updated = p.update();
    assert_eq!((updated.n_parsed, updated.n_removed), (1, 1));
    assert!(p.callers("Store::get").is_empty());
    assert!(p.ask(Operation::Callers, "Map::get", None, 1).targets.is_empty());
}

#[test]
fn methods_of_libraries_are_no_calls_of_the_only_symbol_of_that_name() {
    let p = Project::new(&[
        ("a.rs", "pub struct Set;\nimpl Set { pub fn push(&self, x: u8) {} }\n"),
        (
            "b.rs",
            "fn f(v: Vec<u8>) { v.push(1); }\nfn g() { each(|set| set.push(1)); \"\".push(2); }\n",
        ),
    ]);
    let answer = p.ask(Operation::Callers, "Set::push", None, 1);
    assert!(answer.results.is_empty(), "{:?}", answer.results);
    assert_eq!(
        rows(&answer.candidates),
        ["b.rs g [2]"],
        "the unknown receiver is a candidate, the vector and the text are none"
    );
}

#[test]
fn go_packages_interfaces_and_receivers() {
    let p = Project::new(&[
        (
            "render/json.go",
            "package render\ntype Render interface {\n\tWrite(w Writer) error\n\tKind() string\n}\ntype JSON struct{}\nfunc (j JSON) Write(w Writer) error { return encode(w) }\nfunc (j JSON) Kind() string { return \"\" }\n",
        ),
        ("render/help.go", "package render\nfunc encode(w Writer) error { return nil }\n"),
        ("other/help.go", "package other\nfunc encode(w Writer) error { return nil }\n"),
        (
            "gin.go",
            "package gin\nimport (\n\t\"net/http\"\n\t\"example.com/gin/render\"\n)\nfunc Run() {\n\tj := render.JSON{}\n\tj.Write(nil)\n\thttp.Write(nil)\n}\n",
        ),
    ]);
    assert_eq!(p.callers("render/help.go:2"), ["render/json.go JSON.Write [7]"]);
    assert_eq!(p.callers("JSON.Write"), ["gin.go Run [8]"]);
    assert!(p.callers("other/help.go:2").is_empty());
    assert_eq!(p.results(Operation::Implementations, "Render"), ["render/json.go JSON []"]);
}

#[test]
fn python_classes_imports_and_aliases() {
    let p = Project::new(&[
        (
            "app/models.py",
            "class Base:\n    def save(self): pass\nclass User(Base):\n    def __init__(self, name): self.name = name\n    def rename(self):\n        self.save()\ndef load(key): return User(key)\n",
        ),
        (
            "app/views.py",
            "from .models import User as U, load as fetch\nfrom app import models\ndef show():\n    u = U('x')\n    u.save()\n    fetch(1)\n    models.load(2)\n    open('f').save()\n",
        ),
        ("app/__init__.py", ""),
    ]);
    assert_eq!(p.callers("Base.save"), ["app/models.py User.rename [6]", "app/views.py show [5]"]);
    assert_eq!(p.callers("load"), ["app/views.py show [6, 7]"]);
    assert_eq!(p.callers("User.__init__"), ["app/models.py load [7]", "app/views.py show [4]"]);
    assert_eq!(p.results(Operation::Implementations, "Base"), ["app/models.py User [3]"]);
    assert_eq!(
        p.results(Operation::Dependents, "app/models.py"),
        ["app/views.py app/views.py [1, 2, 4, 5, 6, 7]"]
    );
    assert_eq!(
        p.results(Operation::Dependencies, "app/views.py")[1..],
        ["app/models.py app/models.py [1, 2, 4, 5, 6, 7]"]
    );
}

#[test]
fn typescript_imports_and_fields() {
    let p = Project::new(&[
        (
            "src/log.ts",
            "export class Logger { write(s: string): void {} }\nexport default function make(): Logger { return new Logger() }\n",
        ),
        (
            "src/app.ts",
            "import make, { Logger as L } from './log'\nimport * as log from './log'\nexport class App {\n  constructor(private logger: L) {}\n  run() { this.logger.write('a'); make().write('b'); new log.Logger().write('c') }\n}\n",
        ),
    ]);
    assert_eq!(p.callers("Logger.write"), ["src/app.ts App.run [5]"]);
    assert_eq!(p.callers("make"), ["src/app.ts App.run [5]"]);
    assert_eq!(
        p.results(Operation::TypeUsages, "Logger"),
        ["src/app.ts App.constructor [4]", "src/app.ts App.run [5]", "src/log.ts make [2]"]
    );
}

#[test]
fn a_call_through_an_interface_may_be_one_of_each_implementation() {
    let p = Project::new(&[
        ("Store.java", "package a;\npublic interface Store { void put(Key k); }\n"),
        ("Disk.java", "package a;\nclass Disk implements Store { public void put(Key k) {} }\n"),
        ("Main.java", "package a;\nclass Main { void run(Store s) { s.put(null); } }\n"),
    ]);
    assert_eq!(p.callers("Store.put"), ["Main.java Main.run [2]"]);
    let answer = p.ask(Operation::Callers, "Disk.put", None, 1);
    assert_eq!(
        (answer.results.len(), rows(&answer.candidates)),
        (0, vec!["Main.java Main.run [2]".to_string()])
    );
    assert_eq!(p.results(Operation::Implementations, "Store.put"), ["Disk.java Disk.put []"]);
}

/// a → b → c → a, and a calls itself.
fn cycle() -> Project {
    Project::new(&[(
        "a.py",
        "def a():\n    a()\n    b()\ndef b():\n    c()\ndef c():\n    a()\ndef d():\n    a()\n",
    )])
}

#[test]
fn cycles_end_and_depth_is_kept() {
    let p = cycle();
    assert_eq!(p.results(Operation::Callees, "a"), ["a.py a [2]", "a.py b [3]"]);
    assert_eq!(p.callers("a"), ["a.py a [2]", "a.py c [7]", "a.py d [9]"]);
    let deep = p.ask(Operation::Callers, "a", None, 10);
    let depths: Vec<(String, usize)> =
        deep.results.iter().map(|f| (f.node.name.clone(), f.depth)).collect();
    assert_eq!(depths, [("a".into(), 1), ("c".into(), 1), ("d".into(), 1), ("b".into(), 2)]);
    assert_eq!(p.ask(Operation::Impact, "c", None, 2).results.len(), 2);
}

#[test]
fn truncation_is_told() {
    let p = cycle();
    let question =
        GraphQuery { operation: Operation::Callers, target: "a", to: None, depth: 1, limit: 2 };
    let answer = p.graph.answer(question, &work()).unwrap();
    assert_eq!((answer.results.len(), answer.total, answer.truncated), (2, 3, true));
    assert!(!p.ask(Operation::Callers, "a", None, 1).truncated);
}

#[test]
fn a_path_is_the_shortest_one() {
    let p = cycle();
    let names = |from, to| {
        p.ask(Operation::Path, from, Some(to), 10)
            .results
            .iter()
            .map(|f| f.node.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("d", "c"), ["d", "a", "b", "c"]);
    assert!(names("c", "d").is_empty());
}

/// A path ended at the interface, although every call of its method runs an implementation. The
/// implementation may be in a type far below the one that states the interface.
#[test]
fn a_path_goes_through_an_interface() {
    let p = Project::new(&[
        ("App.java", "class App {\n  Door door;\n  void enter() { door.open(); }\n}\n"),
        ("Door.java", "interface Door {\n  void open();\n}\n"),
        ("Base.java", "abstract class Base implements Door {\n}\n"),
        (
            "Steel.java",
            "class Steel extends Base {\n  public void open() { turn(); }\n  void turn() {}\n}\n",
        ),
    ]);
    let found = p.ask(Operation::Path, "App.enter", Some("Steel.turn"), 10);
    let names: Vec<&str> = found.results.iter().map(|f| &*f.node.symbol).collect();
    assert_eq!(names, ["App.enter", "Door.open", "Steel.open", "Steel.turn"]);
}

#[test]
fn targets_are_names_places_and_files() {
    let p = rust();
    let kinds = |target| {
        p.ask(Operation::Callers, target, None, 1)
            .targets
            .iter()
            .map(|t| t.symbol.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("Store::get"), ["Store::get"]);
    assert_eq!(kinds("src/store.rs#Store::get"), ["Store::get"]);
    assert_eq!(kinds("store.rs:4"), ["Store::get"]);
    assert_eq!(kinds("src/store.rs"), ["src/store.rs"]);
    assert_eq!(kinds("get").len(), 2);
    assert!(kinds("nothing").is_empty() && kinds("").is_empty() && kinds("none.rs:7").is_empty());
}

/// The graph accounts for the lines of its answer, for definitions, and for uses of other symbols.
#[test]
fn uses_with_an_unknown_receiver_are_not_accounted_for() {
    let owners: String =
        (0..60).map(|i| format!("class C{i}:\n    def fetch(self): pass\n")).collect();
    let p = Project::new(&[
        ("lib.py", owners.as_str()),
        (
            "a.py",
            "from lib import C7, C8\ndef sure():\n    C7().fetch()\ndef open(x):\n    x.fetch()\n    C8().fetch()\n",
        ),
    ]);
    let (operation, target) = (Operation::Callers, "C7.fetch");
    let query = GraphQuery { operation, target, to: None, depth: 1, limit: 100 };
    let answer = p.graph.answer(query, &work()).unwrap();
    let callers: Vec<&str> = answer.results.iter().map(|f| &*f.node.symbol).collect();
    assert_eq!(callers, ["sure"]);
    let uses = answer.name_uses;
    let is_accounted = |line: u32| uses.accounted.contains(&("a.py".to_string(), line));
    assert_eq!([3, 5, 6].map(is_accounted), [true, false, false]);
    let of_others: Vec<(u32, &str)> =
        uses.of_others.iter().map(|((_, line), node)| (*line, &*node.symbol)).collect();
    assert_eq!(of_others, [(6, "C8.fetch")]);
    assert!(uses.names.iter().eq(["fetch"]));
}

#[test]
fn the_map_ranks_what_is_used_most() {
    let p = Project::new(&[
        ("lib.py", "def used(): pass\ndef unused(): pass\ndef near(): pass\n"),
        ("a.py", "from lib import *\ndef main(): used()\n"),
        ("b.py", "from lib import *\ndef bee():\n    used()\n    near()\n"),
        ("test_lib.py", "from lib import *\ndef test():\n    unused()\n    unused()\n"),
    ]);
    let map = |focus: &[String]| {
        let counts = |path: &str| !path.starts_with("test");
        p.graph.map(MapQuery { focus, counts: &counts }, &work()).unwrap()
    };
    let rank = |map: &Map, name| {
        map.files.iter().flat_map(|f| &f.symbols).find(|s| s.name == name).map_or(0.0, |s| s.rank)
    };
    let all = map(&[]);
    assert_eq!(all.files[0].path, "lib.py");
    let names: Vec<&str> = all.files[0].symbols.iter().map(|s| &*s.name).collect();
    assert_eq!(names, ["used", "near", "unused"]);
    assert_eq!(all.mains, [("a.py".to_string(), 2)]);
    assert!(all.files.iter().all(|f| f.path != "test_lib.py"));
    let focused = map(&["b.py".to_string()]);
    assert!(rank(&focused, "near") > rank(&all, "near"));
}

/// A call of `len` of a library type counted for the only function `len` of the project.
#[test]
fn the_map_counts_resolved_references_only() {
    let p = Project::new(&[
        (
            "src/lib.rs",
            "pub struct Ring { items: Vec<u8> }\nimpl Ring {\n    pub fn len(&self) -> usize { 0 }\n}\npub struct Gate;\n",
        ),
        (
            "src/a.rs",
            "use crate::Gate;\npub fn a(g: Gate, s: String) -> usize { s.len() + s.trim().len() }\npub fn b(_: &Gate, v: Vec<u8>) -> usize { v.len() }\n",
        ),
    ]);
    let found = p.graph.map(MapQuery { focus: &[], counts: &|_| true }, &work()).unwrap();
    let lib = found.files.iter().find(|f| f.path == "src/lib.rs").unwrap();
    let names: Vec<&str> = lib.symbols.iter().map(|s| &*s.name).collect();
    assert_eq!(names, ["Gate", "Ring"]);
}

#[test]
fn what_is_no_program_has_no_rows_and_is_not_read_again() {
    let mut p = Project::new(&[
        ("a.md", "# call()"),
        ("b.rs", "\u{fffd}\u{fffd}("),
        ("min.js", &"a(".repeat(5_000)),
        ("c.rs", "fn c() { d() }\nfn d() {}\n"),
    ]);
    assert_eq!(p.update().n_parsed, 0);
    assert_eq!(p.callers("d"), ["c.rs c [1]"]);
    // A file that cannot be read is left out, and tried again later.
    p.files.insert("gone.rs".into(), String::new());
    let hashes: Vec<(String, String)> =
        p.files.keys().map(|k| (k.clone(), "other".into())).collect();
    let read = |path: &str| {
        let text = p.files.get(path).filter(|_| path != "gone.rs")?;
        Some((text.clone(), "other".into()))
    };
    p.graph.update(hashes.clone(), read, |_, _| ()).unwrap();
    assert_eq!(p.graph.update(hashes, |_| None, |_, _| ()).unwrap().n_parsed, 1);
}

#[test]
fn an_edit_between_the_index_and_a_question_that_is_undone_leaves_no_rows() {
    let p = rust();
    let before = p.callers("Store::get");
    let listed: Vec<(String, String)> =
        p.files.iter().map(|(path, text)| (path.clone(), hash(text))).collect();
    let edited = |text: &str| text.replace("    store.get();\n", "");
    // The list of files is older than the text.
    p.graph.update([], |_| None, |_, _| ()).unwrap();
    let read = |path: &str| {
        let text = edited(&p.files[path]);
        Some((text.clone(), hash(&text)))
    };
    p.graph.update(listed, read, |_, _| ()).unwrap();
    assert_eq!(p.callers("Store::get"), Vec::<String>::new());
    p.update();
    assert_eq!(p.callers("Store::get"), before);
    assert!(!before.is_empty());
}

#[test]
fn a_damaged_or_foreign_database_is_made_anew() {
    let p = rust();
    let path = p.database();
    for spoil in [&b"this is no database, however long it may be........................................................"[..], b""] {
        std::fs::write(&path, spoil).unwrap();
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
        let graph = CodeGraph::open(&database(path.clone())).unwrap();
        assert_eq!(update(&graph, &p.files).n_parsed, p.files.len());
    }
    // The largest version that SQLite stores. Ours is a hash, so any smaller number could be below
    // it.
    let largest = i32::MAX as usize;
    assert_eq!(migrated_to(&path, largest), largest);
    let graph = CodeGraph::open(&database(path.clone())).unwrap();
    assert_eq!(update(&graph, &p.files).n_parsed, p.files.len());
}

fn migrated_to(path: &Path, version: usize) -> usize {
    let mut connection = crate::sqlite::open(path, std::time::Duration::from_secs(1)).unwrap();
    crate::sqlite::migrate(&mut connection, version, |_| &[]).unwrap();
    crate::sqlite::version(&connection).unwrap()
}

/// Most pages are overwritten. Reading detects that, and the next update rebuilds everything. The text
/// of the schema has to fit into the first page, which is kept: a schema that is damaged is found when
/// the database is opened.
#[test]
fn damage_that_is_found_later_is_repaired() {
    let p = rust();
    let path = p.database();
    p.graph.tables.settle();
    let mut bytes = std::fs::read(&path).unwrap();
    let n = bytes.len();
    bytes[4096..n].fill(0xab);
    std::fs::write(&path, bytes).unwrap();
    let graph = CodeGraph::open(&database(path.clone())).unwrap();
    assert!(
        graph
            .answer(
                GraphQuery {
                    operation: Operation::Callers,
                    target: "get",
                    to: None,
                    depth: 1,
                    limit: 1,
                },
                &work()
            )
            .is_err()
    );
    assert_eq!(update(&graph, &p.files).n_parsed, p.files.len());
    assert_eq!(graph.tables.dump(), rust().graph.tables.dump());
}

#[test]
fn many_may_bring_it_up_to_date_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("code-graph.db");
    let files: BTreeMap<String, String> = (0..60)
        .map(|i| (format!("f{i}.py"), format!("def f{i}():\n    f{}()\n", (i + 1) % 60)))
        .collect();
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| update(&CodeGraph::open(&database(path.clone())).unwrap(), &files));
        }
    });
    let graph = CodeGraph::open(&database(path.clone())).unwrap();
    assert_eq!(update(&graph, &files).n_parsed, 0);
    let fresh = CodeGraph::open(&database(directory.path().join("fresh.db"))).unwrap();
    update(&fresh, &files);
    assert_eq!(graph.tables.dump(), fresh.tables.dump());
}

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, usize),
    Delete(usize),
    Update,
}

const TEXTS: [(&str, &str); 7] = [
    ("rs", MAIN),
    ("rs", STORE),
    ("py", "from a import b\nclass C(B):\n    x: int = 1\n    def f(self): return b(self.x)\n"),
    (
        "go",
        "package p\nimport \"fmt\"\ntype T struct { U }\nfunc (t *T) F() { fmt.Println(t.g()) }\n",
    ),
    ("ts", "import { a } from './b'\nexport class X implements Y { z: Z = a() }\n"),
    ("md", "# Nothing\n"),
    (
        "py",
        "from f2 import C\nx = y\ny = x.f()\nx = C()\nclass D(C):\n    def f(self): return x.f()\ndef b(): return y.f()\n",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// After any changes, the rows equal those of a fresh build.
    #[test]
    fn updated_equals_fresh(edits in prop::collection::vec(prop_oneof![
        4 => (0..8usize, 0..TEXTS.len()).prop_map(|(f, t)| Edit::Write(f, t)),
        1 => (0..8usize).prop_map(Edit::Delete),
        2 => Just(Edit::Update),
    ], 1..24)) {
        let mut p = Project::new(&[]);
        for edit in edits {
            match edit {
                // A path may get the text of another language. Its name decides how it is parsed.
                Edit::Write(f, t) => _ = p.files.insert(format!("f{f}.{}", TEXTS[f % TEXTS.len()].0), TEXTS[t].1.to_string()),
                Edit::Delete(f) => _ = p.files.remove(&format!("f{f}.{}", TEXTS[f % TEXTS.len()].0)),
                Edit::Update => _ = p.update(),
            }
        }
        p.update();
        let fresh = CodeGraph::open(&database(p.directory.path().join("fresh.db"))).unwrap();
        update(&fresh, &p.files);
        prop_assert_eq!(p.graph.tables.dump(), fresh.tables.dump());
    }
}

const ASKED: [&str; 7] = ["Store::get", "Store", "b", "C", "T::F", "f0.rs", "f2.py"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A graph that keeps what it read for one answer gives the next one as a graph that keeps nothing,
    /// whoever changed the rows in between.
    #[test]
    fn what_is_kept_changes_no_answer(steps in prop::collection::vec((
        0..TEXTS.len(), 0..TEXTS.len(), any::<bool>(), 0..Operation::ALL.len(), 0..ASKED.len()
    ), 1..16)) {
        let mut p = Project::new(&[("f0.rs", STORE), ("f6.rs", MAIN)]);
        for (file, text, is_other, operation, target) in steps {
            p.files.insert(format!("f{file}.{}", TEXTS[file].0), TEXTS[text].1.to_string());
            let other = CodeGraph::open(&database(p.database())).unwrap();
            update(if is_other { &other } else { &p.graph }, &p.files);
            let (operation, target) = (Operation::ALL[operation], ASKED[target]);
            let asked = [
                AskedMeaning::Name { file: "f0.rs".into(), line: 4, receiver: "self.pool".into(), name: "take".into() },
                AskedMeaning::Name { file: "f6.rs".into(), line: 4, receiver: "store".into(), name: "get".into() },
            ];
            let answers = |graph: &CodeGraph| {
                let query = GraphQuery { operation, target, to: Some("Store"), depth: 2, limit: 100 };
                let answer = graph.answer(query, &work()).unwrap();
                let around = graph.around(&ASKED.map(String::from), &work()).unwrap();
                let tests = graph.tests(query, &work()).unwrap();
                let named = graph.named(&ASKED.map(String::from), &work()).unwrap();
                format!("{answer:?} {around:?} {tests:?} {named:?} {:?}", graph.meant(&asked, &work()).unwrap())
            };
            let kept = answers(&p.graph);
            prop_assert_eq!(&kept, &answers(&p.graph));
            prop_assert_eq!(kept, answers(&CodeGraph::open(&database(p.database())).unwrap()));
        }
    }
}

#[test]
fn a_database_with_the_schema_of_somebody_else_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.db");
    let files = BTreeMap::from([("a.rs".to_string(), "fn a() { b() }\nfn b() {}\n".to_string())]);
    let built = || {
        let graph = CodeGraph::open(&database(path.clone())).unwrap();
        update(&graph, &files);
        graph.tables.dump()
    };
    let ours = built();
    for spoil in [
        "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END",
        "ALTER TABLE symbols RENAME TO away;
         CREATE VIEW symbols AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS name FROM n",
        "DROP TABLE refs",
        "ALTER TABLE files ADD COLUMN more DEFAULT 1",
        "PRAGMA user_version = -5",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = x'00' WHERE name = 'files'",
    ] {
        rusqlite::Connection::open(&path).unwrap().execute_batch(spoil).unwrap();
        assert_eq!(built(), ours, "{spoil}");
    }
}

/// The schema of a foreign database runs nothing, and a link to a database elsewhere is not
/// followed.
#[test]
fn triggers_views_and_links_of_a_database_do_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("a.db"), directory.path().join("link.db"));
    let theirs = "CREATE TABLE a(n); CREATE TABLE log(n); CREATE VIEW v AS SELECT n FROM a; INSERT INTO a VALUES(zeroblob(100000000));
        CREATE TRIGGER t AFTER DELETE ON a BEGIN INSERT INTO log VALUES(1); END";
    rusqlite::Connection::open(&path).unwrap().execute_batch(theirs).unwrap();
    let open = |path| crate::sqlite::open(path, std::time::Duration::from_secs(1));
    let connection = open(&path).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |r| r.get::<_, usize>(0));
    assert!(
        connection.query_row("SELECT n FROM a", [], |r| r.get::<_, Vec<u8>>(0)).is_err(),
        "too large a value"
    );
    assert!(count("SELECT count(*) FROM v").is_err());
    connection.execute_batch("DELETE FROM a").unwrap();
    assert_eq!(count("SELECT count(*) FROM log").unwrap(), 0);
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(open(&link).is_err());
    drop(connection);
    std::fs::hard_link(&path, directory.path().join("second.db")).unwrap();
    assert!(open(&path).unwrap_err().to_string().contains("hard link"));
    std::fs::remove_file(&path).unwrap();
    std::fs::hard_link(directory.path().join("second.db"), directory.path().join("new.db-shm"))
        .unwrap();
    assert!(open(&directory.path().join("new.db")).is_err());
}

/// A clone may bring any database.
#[test]
fn symbols_that_enclose_each_other_in_a_forged_database_have_an_end() {
    let p = rust();
    let names: Vec<String> = p.callers("get");
    p.graph.tables.forge("UPDATE symbols SET parent = n");
    p.callers("get");
    p.graph.tables.forge("UPDATE symbols SET parent = (n + 1) % 3");
    p.callers("get");
    p.graph.tables.forge("UPDATE refs SET lines = replace(hex(zeroblob(4000000)), '00', '1 ')");
    let sites = p.ask(Operation::Callers, "get", None, 1).results;
    assert!(sites.iter().all(|found| found.sites.len() <= 10_000));
    assert!(!names.is_empty());
}

#[test]
fn a_name_with_very_many_definitions_is_cut() {
    let each: String =
        (0..100).map(|_| "function run(x) {\n    return run(run(x));\n}\n").collect();
    let files: Vec<(String, &str)> = (0..6).map(|i| (format!("m{i}.js"), &*each)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let p = Project::new(&files);
    let found = p.ask(Operation::Callers, "run", None, 1);
    assert!(found.is_cut && found.truncated, "nobody is told that all were found");
    let cancelled = WorkBudget::new(Arc::new(true.into()));
    let query =
        GraphQuery { operation: Operation::Impact, target: "run", to: None, depth: 10, limit: 100 };
    let nothing = p.graph.answer(query, &cancelled).unwrap();
    assert!(nothing.results.is_empty() && nothing.is_cut, "a cancelled call works on");
}

/// A name that hundreds of symbols have is cut early, and one symbol of that name is not.
#[test]
fn a_common_name_is_cut_and_one_symbol_of_it_is_not() {
    let class = |n: usize| {
        let uses: String =
            (0..20).map(|i| format!("def f{n}_{i}(c: C{n}):\n    return c.get({i})\n\n")).collect();
        format!("class C{n}:\n    def get(self, k):\n        return k\n\n{uses}")
    };
    let files: Vec<(String, String)> = (0..60).map(|n| (format!("m{n}.py"), class(n))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let p = Project::new(&files);
    let all = p.ask(Operation::Callers, "get", None, 1);
    assert!(all.is_cut && all.truncated && all.total > 500, "{} results", all.total);
    let one = p.ask(Operation::Callers, "C59.get", None, 1);
    assert!(!one.is_cut && one.total == 20, "{} results", one.total);
}

/// Bug: a search for a path that was cut looked like one that had searched everything.
#[test]
fn a_path_that_is_not_found_in_time_is_cut() {
    let p = Project::new(&[(
        "m.py",
        "def a():\n    b()\n\ndef b():\n    c()\n\ndef c():\n    pass\n\ndef d():\n    pass\n",
    )]);
    let path = |to, is_cancelled: bool| {
        let query = GraphQuery {
            operation: Operation::Path,
            target: "a",
            to: Some(to),
            depth: 1,
            limit: 100,
        };
        let answer =
            p.graph.answer(query, &WorkBudget::new(Arc::new(is_cancelled.into()))).unwrap();
        assert_eq!(answer.truncated, answer.is_cut, "{answer:?}");
        (answer.results.len(), answer.is_cut)
    };
    assert_eq!(path("c", false), (3, false));
    assert_eq!(path("d", false), (0, false), "there is none");
    assert_eq!(path("c", true), (0, true), "nobody knows whether there is one");
    assert_eq!(path("a", true), (1, false), "it is found without a search");
}

#[test]
fn tests_use_a_symbol_directly_through_others_and_through_fixtures() {
    let p = Project::new(&[
        (
            "app/store.py",
            "def load(key):\n    return key\n\ndef show(key):\n    return load(key)\n",
        ),
        (
            "tests/conftest.py",
            "import pytest\nfrom app.store import show\n\n@pytest.fixture\ndef shown():\n    return show(1)\n",
        ),
        (
            "tests/test_store.py",
            "from app.store import load\n\ndef helper():\n    return load(2)\n\ndef test_direct():\n    load(1)\n\ndef test_helper():\n    helper()\n\ndef test_other():\n    pass\n",
        ),
        ("tests/test_views.py", "def test_fixture(client, shown):\n    assert shown\n"),
        ("other/test_views.py", "def test_no_fixture(shown):\n    pass\n"),
    ]);
    assert_eq!(
        p.tests("load"),
        [
            "tests/test_store.py test_direct Direct",
            "tests/test_store.py test_helper Through { symbol: \"helper\", steps: 2 }",
            "tests/test_views.py test_fixture Fixture(\"shown\")",
        ]
    );
}

/// Before: the first tests of one file filled the list, and other files were never named.
#[test]
fn a_short_list_names_tests_of_many_files() {
    let test = |n: usize| format!("def test_{n}():\n    double({n})\n");
    let many: Vec<String> = (0..5).map(test).collect();
    let p = Project::new(&[
        ("app.py", "def double(x):\n    return x + x\n"),
        ("test_a.py", &format!("from app import double\n{}", many.concat())),
        ("test_b.py", &format!("from app import double\n{}", test(7))),
    ]);
    let query =
        GraphQuery { operation: Operation::Tests, target: "double", to: None, depth: 3, limit: 3 };
    let found = p.graph.tests(query, &work()).unwrap();
    let names: Vec<&str> = found.results.iter().map(|t| &*t.neighbour.node.name).collect();
    assert_eq!(names, ["test_0", "test_1", "test_7"]);
    assert_eq!((found.total, found.truncated), (6, true));
}

#[test]
fn what_runs_before_tests_leads_to_all_tests_beside_it() {
    let p = Project::new(&[
        ("src/main/java/a/Store.java", "package a;\npublic class Store { public Store() {} }\n"),
        (
            "src/test/java/a/CartTest.java",
            "package a;\nclass CartTest {\n  Store store;\n  @BeforeEach\n  void init() { store = new Store(); }\n  @Test\n  void adds() {}\n  private void helper() {}\n}\n",
        ),
    ]);
    assert_eq!(
        p.tests("Store.Store"),
        [
            "src/test/java/a/CartTest.java CartTest.adds Through { symbol: \"CartTest.init\", steps: 2 }"
        ]
    );
}

#[test]
fn code_outside_of_functions_does_not_lead_to_all_that_import_its_file() {
    let p = Project::new(&[
        ("app/a.py", "def register(f):\n    return f\n"),
        ("app/b.py", "from app.a import register\nregister(1)\ndef unrelated():\n    pass\n"),
        ("tests/test_b.py", "from app.b import unrelated\ndef test_b():\n    unrelated()\n"),
    ]);
    assert!(p.tests("register").is_empty());
}

#[test]
fn blocks_count_for_their_file_and_test_modules_for_theirs() {
    let p = Project::new(&[
        ("src/sum.ts", "export function sum(a: number) { return a }\nexport function none() {}\n"),
        (
            "src/sum.test.ts",
            "import { sum } from './sum'\ndescribe('sum', () => {\n  it('adds', () => {\n    const got = sum(1)\n  })\n})\n",
        ),
        (
            "src/lib.rs",
            "pub fn twice(x: u8) -> u8 { x }\npub fn unused() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn doubles() { assert_eq!(twice(1), 2); }\n}\n",
        ),
    ]);
    assert_eq!(p.tests("sum"), ["src/sum.test.ts src/sum.test.ts Direct"]);
    assert_eq!(p.tests("none"), ["src/sum.test.ts src/sum.test.ts Name"]);
    assert_eq!(p.tests("twice"), ["src/lib.rs tests::doubles Direct"]);
    assert_eq!(p.tests("unused"), ["src/lib.rs tests SameFile"]);
}

#[test]
fn tests_are_found_by_their_names_where_no_use_leads_to_them() {
    let p = Project::new(&[
        ("cart.go", "package a\nfunc ParseLine(s string) {}\nfunc Run() {}\n"),
        ("cart_test.go", "package a\nfunc TestOther(t *testing.T) {}\n"),
        ("all_test.go", "package a\nfunc TestParseLineTwice(t *testing.T) { table() }\n"),
    ]);
    assert_eq!(
        p.tests("ParseLine"),
        ["cart_test.go cart_test.go Name", "all_test.go TestParseLineTwice Name"]
    );
    assert_eq!(p.tests("Run"), ["cart_test.go cart_test.go Name"]);
}

/// Bug: the tests of a crate name it as other crates do, and their uses of it led nowhere.
#[test]
fn integration_tests_import_their_own_crate_by_its_name() {
    let p = Project::new(&[
        ("Cargo.toml", "[workspace]\n[package]\nname = \"ad-der\"\n"),
        ("src/lib.rs", "pub mod sum;\n"),
        ("src/sum.rs", "pub fn total(x: u8) -> u8 { x }\n"),
        (
            "tests/all.rs",
            "use ad_der::sum::total;\nuse other::sum;\n#[test]\nfn sums() { total(1); }\n",
        ),
        ("tests/no.rs", "use other::sum::total;\n#[test]\nfn no_sums() { total(1); }\n"),
    ]);
    assert_eq!(p.tests("total"), ["tests/all.rs sums Direct"]);
}

/// Bug: a function beside the tests of its file was taken for one of them, and left out of the users.
#[test]
fn code_beside_tests_of_its_file_is_no_test() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub fn twice(x: u8) -> u8 { x }\npub fn four(x: u8) -> u8 { twice(twice(x)) }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    fn help() { twice(3); }\n    #[test]\n    fn doubles() { assert_eq!(twice(1), 2); }\n}\n",
    )]);
    let query =
        GraphQuery { operation: Operation::Callers, target: "twice", to: None, depth: 1, limit: 1 };
    let found = p.graph.affected(query, 3, &work()).unwrap();
    let rows: Vec<(&str, bool)> =
        found.answer.results.iter().map(|f| (&*f.node.symbol, f.is_test)).collect();
    assert_eq!(rows, [("four", false), ("tests::help", true), ("tests::doubles", true)]);
    let targets = [ImpactTarget::Written("twice".into())];
    let query = ImpactQuery { targets: &targets, depth: 1, test_depth: 3 };
    let users = p.graph.impact(query, &work()).unwrap().users;
    assert_eq!(users.iter().map(|f| &*f.node.symbol).collect::<Vec<_>>(), ["four"]);
}

#[test]
fn callers_from_which_no_step_leads_to_a_test_are_named() {
    let p = Project::new(&[
        ("app/a.py", "def load():\n    return 1\n\ndef show():\n    return load()\n"),
        (
            "app/b.py",
            "from app.a import load, show\n\ndef lone():\n    load()\n\ndef far():\n    show()\n",
        ),
        (
            "tests/test_a.py",
            "from app.a import show\n\ndef helper():\n    show()\n\ndef test_a():\n    helper()\n",
        ),
    ]);
    let untested = |depth| -> Vec<String> {
        let query =
            GraphQuery { operation: Operation::Tests, target: "load", to: None, depth, limit: 9 };
        let found = p.graph.tests(query, &work()).unwrap();
        found.untested.into_iter().map(|node| node.symbol).collect()
    };
    assert_eq!(untested(3), ["lone", "far"]);
    assert!(untested(1).is_empty(), "their callers were not looked for");
}
