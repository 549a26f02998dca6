//! Tests of what is inferred, by language. Each is named after what was wrong.

use super::{Project, rows};
use crate::graph::Operation;

#[test]
fn rust_crates_of_a_workspace_are_named_without_use() {
    let p = Project::new(&[
        ("crates/store/Cargo.toml", "[package]\nname = \"my-store\"\n"),
        ("crates/store/src/lib.rs", "pub mod disk;\npub use disk::{open, Disk as Drive};\n"),
        (
            "crates/store/src/disk.rs",
            "pub struct Disk;\nimpl Disk { pub fn read(&self) {} }\npub fn open() -> Disk { Disk }\npub fn plain() {}\n",
        ),
        ("crates/app/Cargo.toml", "[package]\nname = \"app\"\n"),
        (
            "crates/app/src/main.rs",
            "pub extern crate my_store as storage;\nfn main() {\n    my_store::disk::plain();\n    my_store::open().read();\n    std::disk::plain();\n}\nfn two(d: &my_store::Drive) { d.read(); }\n",
        ),
        // A crate that hands the first one on.
        ("crates/all/Cargo.toml", "[package]\nname = \"every\"\n[lib]\nname = \"all\"\n"),
        ("crates/all/src/lib.rs", "pub extern crate my_store as store;\n"),
        ("crates/app/src/three.rs", "fn three() { all::store::disk::plain(); }\n"),
    ]);
    assert_eq!(
        p.callers("plain"),
        ["crates/app/src/main.rs main [3]", "crates/app/src/three.rs three [1]"]
    );
    assert_eq!(p.callers("open"), ["crates/app/src/main.rs main [4]"]);
    assert_eq!(
        p.callers("Disk::read"),
        ["crates/app/src/main.rs main [4]", "crates/app/src/main.rs two [7]"]
    );
}

#[test]
fn rust_targets_outside_of_src_have_modules_of_their_own() {
    let p = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"rg\"\n[[bin]]\npath = \"crates/core/main.rs\"\n"),
        ("crates/core/main.rs", "mod flags;\nfn main() { crate::flags::parse(); }\n"),
        ("crates/core/flags/mod.rs", "pub fn parse() {}\n"),
        ("crates/core/search.rs", "use crate::flags::parse;\nfn search() { parse(); }\n"),
        ("tests/suite/main.rs", "mod util;\nmod one;\n"),
        ("tests/suite/util.rs", "pub fn parse() {}\n"),
        ("tests/suite/one.rs", "use crate::util::parse;\nfn one() { parse(); }\n"),
    ]);
    assert_eq!(
        p.callers("crates/core/flags/mod.rs#parse"),
        ["crates/core/main.rs main [2]", "crates/core/search.rs search [2]"]
    );
    assert_eq!(p.callers("tests/suite/util.rs#parse"), ["tests/suite/one.rs one [2]"]);
}

#[test]
fn rust_modules_below_a_folder_named_tests_in_src_lose_their_callers() {
    let p = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"web\"\n"),
        ("src/lib.rs", "pub mod routing;\n"),
        (
            "src/routing/mod.rs",
            "pub struct Router;\nimpl Router { pub fn new() -> Self { Router } }\n",
        ),
        ("src/routing/tests/mod.rs", "use super::*;\nuse crate::routing::Router;\nmod nest;\n"),
        ("src/routing/tests/nest.rs", "use super::*;\nfn nests() { Router::new(); }\n"),
    ]);
    assert_eq!(p.callers("Router::new"), ["src/routing/tests/nest.rs nests [2]"]);
}

#[test]
fn a_chain_over_lines_counts_at_the_line_of_each_name() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub struct B;\nimpl B {\n    pub fn new() -> Self { B }\n    pub fn set(self) -> Self { self }\n    pub fn build(self) {}\n}\nfn f() {\n    B::new()\n        .set()\n        .set()\n        .build();\n}\nfn g() {\n    assert_eq!(\n        B::new()\n            .set()\n            .build(), ());\n}\n",
    )]);
    assert_eq!(p.callers("B::set"), ["src/lib.rs f [9, 10]", "src/lib.rs g [16]"]);
    assert_eq!(p.callers("B::build"), ["src/lib.rs f [11]", "src/lib.rs g [17]"]);
}

#[test]
fn rust_macros_within_macros_and_closures_in_them_are_not_seen() {
    let p = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"m\"\n"),
        ("tests/macros.rs", "macro_rules! eqnice {\n    ($a:expr) => { $a };\n}\n"),
        ("tests/util.rs", "pub struct Dir;\nimpl Dir { pub fn create(&self) {} }\n"),
        (
            "tests/feature.rs",
            "use crate::util::Dir;\nrgtest!(f1, |dir: Dir| {\n    dir.create();\n    eqnice!(1);\n});\n",
        ),
    ]);
    assert_eq!(p.callers("eqnice"), ["tests/feature.rs tests/feature.rs [4]"]);
    assert_eq!(p.callers("Dir::create"), ["tests/feature.rs tests/feature.rs [3]"]);
}

#[test]
fn a_glob_of_a_module_does_not_bring_in_the_variants_of_its_enums() {
    let p = Project::new(&[
        ("src/low.rs", "pub enum Mode { Some(u8), Other }\npub fn help() {}\n"),
        ("src/main.rs", "use crate::low::*;\nfn main() { Some(1); help(); }\n"),
    ]);
    assert_eq!(p.callers("Mode::Some"), Vec::<String>::new());
    assert_eq!(p.callers("help"), ["src/main.rs main [2]"]);
}

#[test]
fn python_fields_that_get_a_parameter_and_overloads() {
    let p = Project::new(&[
        (
            "pkg/wrap.py",
            "from typing import overload\nclass Wrapper:\n    @overload\n    def wrap(self, a: int) -> int: ...\n    @overload\n    def wrap(self, a: str) -> str: ...\n    def wrap(self, a):\n        return a\n",
        ),
        (
            "pkg/file.py",
            "from .wrap import Wrapper\nclass ConanFile:\n    def __init__(self, wrapper: Wrapper):\n        self.wrapper = wrapper\n        self.name = ''\n    def run(self):\n        self.wrapper.wrap(1)\n",
        ),
        // A constant of the package has the name of a module of it.
        ("pkg/__init__.py", ""),
        ("pkg/urls.py", "def quote(x): return x\n"),
        ("pkg/routes.py", "urls = []\n"),
        (
            "tests/test_urls.py",
            "from pkg import urls\ndef test_quote():\n    assert urls.quote(1)\n",
        ),
    ]);
    assert_eq!(p.callers("Wrapper.wrap"), ["pkg/file.py ConanFile.run [7]"]);
    assert_eq!(p.callers("quote"), ["tests/test_urls.py test_quote [3]"]);
}

#[test]
fn a_method_of_a_mixin_is_called_through_the_base_that_its_users_inherit_too() {
    let p = Project::new(&[
        (
            "fields.py",
            "class Field:\n    def make_xrefs(self): pass\n    def make_field(self):\n        self.make_xrefs()\n",
        ),
        (
            "domain.py",
            "from fields import Field\nclass Mixin:\n    def make_xrefs(self): pass\nclass PyField(Mixin, Field):\n    pass\n",
        ),
    ]);
    let answer = p.ask(Operation::Callers, "Mixin.make_xrefs", None, 1);
    assert_eq!(rows(&answer.results), Vec::<String>::new());
    assert_eq!(rows(&answer.candidates), ["fields.py Field.make_field [4]"]);
}

#[test]
fn typescript_names_are_handed_on_under_other_names() {
    let p = Project::new(&[
        ("packages/core/package.json", "{ \"name\": \"@my/core\" }"),
        ("packages/core/src/index.ts", "export * from './node';\n"),
        (
            "packages/core/src/node.ts",
            "function createBase(a: number) { return a }\nexport { createBase as createNode }\nexport function tick(fn?: () => void) {}\n",
        ),
        ("packages/core/src/node.test.ts", "function tick() {}\n"),
        ("packages/test/package.json", "{ \"name\": \"@my/test\" }"),
        ("packages/test/src/index.ts", "export * from '@my/core';\n"),
        (
            "app/main.ts",
            "import { createNode, tick } from '@my/test';\nfunction main() { createNode(1); tick(); }\n",
        ),
        // Another package of that name belongs to somebody else.
        ("app/other.ts", "import { tick } from '@their/core';\nfunction other() { tick(); }\n"),
        ("app/a.test.utils.ts", "export function mock() {}\n"),
        ("app/b.ts", "import { mock } from './a.test.utils';\nfunction b() { mock(); }\n"),
    ]);
    assert_eq!(p.callers("createBase"), ["app/main.ts main [2]"]);
    assert_eq!(p.callers("packages/core/src/node.ts#tick"), ["app/main.ts main [2]"]);
    assert_eq!(p.callers("mock"), ["app/b.ts b [2]"]);
}

#[test]
fn ruby_names_end_with_marks_and_calls_need_no_parentheses() {
    let p = Project::new(&[
        (
            "app/story.rb",
            "class Story\n  before_save :assign_hotness\n  def can_flag?\n    true\n  end\n  def save!\n  end\n  def save\n  end\n  def hotness\n    1\n  end\n  def assign_hotness\n    self.value = hotness\n    size = 3\n    puts size\n  end\n  def size\n  end\nend\n",
        ),
        ("app/user.rb", "def check\n  story = Story.new\n  story.can_flag?\n  story.save!\nend\n"),
    ]);
    assert_eq!(p.callers("can_flag?"), ["app/user.rb check [3]"]);
    assert_eq!(p.callers("save!"), ["app/user.rb check [4]"]);
    assert_eq!(p.callers("Story::save"), Vec::<String>::new());
    assert_eq!(p.callers("hotness"), ["app/story.rb Story::assign_hotness [14]"]);
    assert_eq!(p.callers("assign_hotness"), ["app/story.rb Story [2]"]);
    assert_eq!(p.callers("size"), Vec::<String>::new(), "a variable has that name");
}

#[test]
fn ruby_namespaces_that_many_files_open() {
    let p = Project::new(&[
        ("lib/a.rb", "module Jekyll\n  module Hooks\n    def self.trigger\n    end\n  end\nend\n"),
        (
            "lib/b.rb",
            "module Jekyll\n  class Site\n    def run\n      Jekyll::Hooks.trigger\n    end\n  end\nend\n",
        ),
    ]);
    assert_eq!(p.callers("trigger"), ["lib/b.rb Jekyll::Site::run [4]"]);
}

#[test]
fn go_fields_and_variables_named_like_their_package() {
    let p = Project::new(&[
        (
            "storage/storage.go",
            "package storage\n\ntype Storage interface {\n\tGarbageCollect(n int) error\n\tGet() error\n}\n\nfunc New() Storage { return nil }\n",
        ),
        (
            "server/server.go",
            "package server\n\nimport \"example.com/dex/storage\"\n\ntype Server struct {\n\tstorage storage.Storage\n}\n\ntype cached struct {\n\tstorage.Storage\n}\n\nfunc NewServer() *Server { return nil }\n\nfunc (s *Server) collect() {\n\ts.storage.GarbageCollect(1)\n}\n\nfunc (c cached) get() {\n\tc.Storage.Get()\n}\n",
        ),
        (
            "cmd/main.go",
            "package main\n\nimport \"example.com/dex/server\"\n\nfunc run() {\n\tserv := server.NewServer()\n\tif true {\n\t\tserver := serv\n\t\t_ = server\n\t}\n}\n",
        ),
    ]);
    assert_eq!(p.callers("Storage.GarbageCollect"), ["server/server.go Server.collect [16]"]);
    assert_eq!(p.callers("Storage.Get"), ["server/server.go cached.get [20]"]);
    assert_eq!(p.callers("NewServer"), ["cmd/main.go run [6]"]);
}

#[test]
fn kotlin_companions_are_named_by_their_type() {
    let p = Project::new(&[
        (
            "BackupJob.kt",
            "package app\nclass BackupJob {\n    companion object {\n        fun startNow() {}\n    }\n}\n",
        ),
        (
            "LibraryJob.kt",
            "package app\nclass LibraryJob {\n    companion object {\n        fun startNow() {}\n    }\n}\nfun main() {\n    BackupJob.startNow()\n}\n",
        ),
    ]);
    assert_eq!(p.callers("BackupJob.kt:4"), ["LibraryJob.kt main [8]"]);
    assert_eq!(p.callers("LibraryJob.kt:4"), Vec::<String>::new());
}

#[test]
fn c_functions_in_tables_have_no_caller() {
    let p = Project::new(&[
        (
            "src/cmds.c",
            "static int mkdir_cmd(int a)\n{\n\treturn a;\n}\nstruct cmd list[] = {\n\t{ .name = \"mkdir\", .handler = &mkdir_cmd },\n};\n",
        ),
        // What is static belongs to its file.
        ("src/other.c", "static int helper(void) { return 1; }\n"),
        ("src/third.c", "int run(void) { return helper(); }\n"),
    ]);
    let found = p.ask(Operation::Callers, "mkdir_cmd", None, 1).results;
    assert_eq!(rows(&found), ["src/cmds.c list [6]"]);
    assert!(found[0].is_value, "it is no call");
    assert_eq!(p.callers("helper"), Vec::<String>::new());
}

#[test]
fn cpp_tests_belong_to_their_fixture_and_classes_follow_macros() {
    let p = Project::new(&[
        (
            "port/port.h",
            "namespace port {\nclass LOCKABLE Mutex {\n public:\n  void Lock();\n};\n}\n",
        ),
        (
            "db/db_test.cc",
            "#include \"port/port.h\"\nclass DbTest : public testing::Test {\n public:\n  void Put(int a) { mu_.Lock(); }\n  port::Mutex mu_;\n};\nTEST_F(DbTest, Writes) {\n  Put(1);\n}\n",
        ),
    ]);
    assert_eq!(p.callers("DbTest::Put"), ["db/db_test.cc DbTest::DbTest, Writes [8]"]);
    assert_eq!(p.callers("Mutex::Lock"), ["db/db_test.cc DbTest::Put [4]"]);
}

#[test]
fn javascript_blocks_define_one_name_and_modules_export_without_a_name() {
    let p = Project::new(&[
        (
            "src/app.test.js",
            "describe('a', () => {\n  const App = () => 1;\n  render(App());\n});\ndescribe('b', () => {\n  const App = () => 2;\n});\n",
        ),
        (
            "lib/server.js",
            "function start() {}\nfunction server() { start(); }\nmodule.exports = server;\n",
        ),
        ("lib/server.d.ts", "export declare function Server(): void;\n"),
        ("main.js", "const Server = require('./lib/server');\nfunction main() { Server(); }\n"),
    ]);
    assert_eq!(p.callers("src/app.test.js:2"), ["src/app.test.js src/app.test.js [3]"]);
    assert_eq!(p.callers("src/app.test.js:6"), Vec::<String>::new());
    assert_eq!(
        p.callers("lib/server.js#server"),
        ["main.js main [2]", "lib/server.js lib/server.js [3]"],
        "the export takes it as a value"
    );
}

#[test]
fn rust_methods_named_like_a_field_end_the_chain() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub struct Test { justfile: Option<String>, hook: fn() }\nimpl Test {\n    pub fn new() -> Self { todo!() }\n    pub fn justfile(self, v: &str) -> Self { self }\n    pub fn stdout(self) {}\n}\nfn one() { Test::new().justfile(\"x\").stdout(); }\nfn two() { let t = Test::new().justfile(\"x\"); t.stdout(); }\n",
    )]);
    assert_eq!(p.callers("Test::stdout"), ["src/lib.rs one [7]", "src/lib.rs two [8]"]);
}

#[test]
fn rust_macros_are_taken_for_functions_of_their_name() {
    let p = Project::new(&[(
        "src/lib.rs",
        "fn format() {}\npub fn json() {}\nmacro_rules! check { () => {}; }\nfn check() {}\n#[proc_macro]\npub fn html(input: TokenStream) -> TokenStream { input }\nfn one() { let s = format!(\"x\"); web::json!(1); check!(); html!(<p>); vec![check!()]; }\nfn two() { format(); check(); vec![format()]; }\n",
    )]);
    assert_eq!(p.callers("format"), ["src/lib.rs two [8]"]);
    assert_eq!(p.callers("json"), Vec::<String>::new());
    assert_eq!(p.callers("src/lib.rs:3"), ["src/lib.rs one [7]"]);
    assert_eq!(p.callers("src/lib.rs:4"), ["src/lib.rs two [8]"]);
    assert_eq!(p.callers("html"), ["src/lib.rs one [7]"]);
}

#[test]
fn rust_results_are_taken_for_the_associated_type_of_their_name() {
    let p = Project::new(&[(
        "src/lib.rs",
        "use prelude::*;\npub struct T;\nimpl FromStr for T {\n    type Err = String;\n    fn from_str(s: &str) -> Result<Self, Self::Err> { Err(s.into()) }\n}\n",
    )]);
    assert_eq!(p.callers("src/lib.rs:4"), Vec::<String>::new());
}

#[test]
fn rust_names_imported_from_elsewhere_lose_to_those_of_the_crate() {
    let p = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"m\"\n"),
        ("src/lib.rs", "mod style;\nmod paint;\nmod fill;\nuse style::Style;\n"),
        ("src/style.rs", "pub struct Style;\nimpl Style { pub fn make() -> Self { Style } }\n"),
        ("src/paint.rs", "use {super::*, ansi::{Prefix, Style}};\nfn paint() { Style::make(); }\n"),
        ("src/fill.rs", "use super::*;\nfn fill() { Style::make(); }\n"),
    ]);
    assert_eq!(p.callers("Style::make"), ["src/fill.rs fill [2]"]);
}

#[test]
fn rust_variants_and_what_is_dereferenced_have_no_type() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub enum Kind { A, B(u8) }\nimpl Kind { pub fn exit(self) {} }\npub struct Token { n: Id }\nimpl Token { pub fn show(&self) {} }\npub struct Id;\nimpl Id { pub fn digits(&self) {} }\npub struct Name { token: Token }\nimpl Deref for Name {\n    type Target = Token;\n    fn deref(&self) -> &Token { &self.token }\n}\npub struct Show;\nimpl Show { pub fn exit(&self) {} pub fn show(&self) {} pub fn digits(&self) {} }\nfn one() { Kind::A.exit(); }\nfn two() { let k = Kind::B(1); k.exit(); }\nfn three(name: Name) { name.show(); name.n.digits(); }\nfn four() { println!(\"{}\", Token { n: Id }.show()); }\n",
    )]);
    assert_eq!(p.callers("Kind::exit"), ["src/lib.rs one [14]", "src/lib.rs two [15]"]);
    assert_eq!(p.callers("Token::show"), ["src/lib.rs three [16]", "src/lib.rs four [17]"]);
    assert_eq!(p.callers("Id::digits"), ["src/lib.rs three [16]"]);
}

#[test]
fn methods_that_call_the_same_of_what_they_wrap_call_themselves() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub struct Entry { inner: Inner }\nimpl Entry {\n    pub fn path(&self) -> &Path {\n        match &self.inner { Inner::Normal(e) => e.path(), Inner::Broken(p) => p }\n    }\n    pub fn depth(&self) { self.depth() }\n}\n",
    )]);
    let answer = p.ask(Operation::Callers, "Entry::path", None, 1);
    assert_eq!(rows(&answer.results), Vec::<String>::new());
    assert_eq!(p.callers("Entry::depth"), ["src/lib.rs Entry::depth [6]"]);
}

#[test]
fn cpp_functions_of_namespaces_have_neither_callers_nor_candidates() {
    let p = Project::new(&[
        (
            "bench.h",
            "#pragma once\nnamespace bench {\nint one(int x);\nnamespace inner { inline int two(int x) { return x; } class Mgr { public: Mgr(int x); }; }\n}\nnamespace p::q { inline int three(int x) { return x; } }\n",
        ),
        (
            "bench.cc",
            "#include \"bench.h\"\nnamespace bench {\nint one(int x) { return x; }\nint rel() { return inner::two(1); }\nint make() { inner::Mgr m(1); return 1; }\n}\n",
        ),
        (
            "main.cc",
            "#include \"bench.h\"\nnamespace bm = bench;\nint a() { return bench::one(1) + bench::inner::two(2); }\nint b() { return ::bench::one(1) + p::q::three(3); }\nint c() { return bm::one(1) + bm::inner::two(2); }\nint d() { return std::one(1) + std::two(2); }\n",
        ),
        // A specialization opens a namespace of the library.
        ("hash.h", "namespace std { template<> struct hash<int> {}; }\n"),
    ]);
    let all = ["main.cc a [3]", "main.cc b [4]", "main.cc c [5]"];
    assert_eq!(p.callers("one"), all);
    assert_eq!(p.callers("two"), ["bench.cc rel [4]", "main.cc a [3]", "main.cc c [5]"]);
    assert_eq!(p.callers("three"), ["main.cc b [4]"]);
    assert_eq!(p.callers("Mgr"), ["bench.cc make [5]"]);
}

#[test]
fn cpp_variables_of_inner_types_pointers_and_aliases_have_no_type() {
    let p = Project::new(&[
        (
            "p.h",
            "class Prog {\n public:\n  class Inst {\n   public:\n    int op() { return 1; }\n  };\n  Inst* inst(int i);\n};\nclass Rx {\n public:\n  void down() {}\n};\ntemplate <typename T> class Set {\n public:\n  void insert(int i) {}\n};\ntypedef Set<void> SetA;\nusing SetB = Set<int>;\nclass Other {\n public:\n  int op() { return 1; }\n  void down() {}\n  void insert(int i) {}\n};\n",
        ),
        (
            "p.cc",
            "#include \"p.h\"\nvoid a(Prog* prog) { Prog::Inst* ip = prog->inst(1); ip->op(); }\nvoid b() { Prog::Inst in; in.op(); }\nvoid c() { Rx* x; x->down(); }\nvoid d() { SetA s; s.insert(1); }\nvoid e() { SetB s; s.insert(1); }\n",
        ),
    ]);
    assert_eq!(p.callers("Inst::op"), ["p.cc a [2]", "p.cc b [3]"]);
    assert_eq!(p.callers("Rx::down"), ["p.cc c [4]"]);
    assert_eq!(p.callers("Set::insert"), ["p.cc d [5]", "p.cc e [6]"]);
}

#[test]
fn c_macros_and_functions_that_are_not_included_take_the_calls_of_the_library() {
    let p = Project::new(&[
        ("vendor/over.h", "#define malloc unity_malloc\n#define release(p) unity_free(p)\n"),
        ("vendor/use.c", "#include \"deep.h\"\nint used(void) { release(0); return 1; }\n"),
        ("vendor/deep.h", "#include <vendor/over.h>\n"),
        ("compat/unlink.h", "int unlink(const char *path);\nint other(int a);\n"),
        (
            "compat/unlink.c",
            "#include \"unlink.h\"\nint unlink(const char *path) { return 0; }\nint other(int a) { return unlink(0); }\nint hidden(int a) { return 0; }\n",
        ),
        (
            "pub.c",
            "#include <stdlib.h>\n#include \"pub.h\"\nint pub(void) { release(0); unlink(\"x\"); hidden(1); return 1; }\n",
        ),
        ("pub.h", "int pub(void);\n"),
        ("alone.c", "#include <stdlib.h>\nint alone(void) { release(0); return 1; }\n"),
        // A part of another file has the includes of that file.
        ("part.c", "int part(void) { release(0); return 1; }\n"),
    ]);
    assert_eq!(p.callers("release"), ["part.c part [1]", "vendor/use.c used [2]"]);
    assert_eq!(p.callers("unlink"), ["compat/unlink.c other [3]"]);
    assert_eq!(p.callers("hidden"), ["pub.c pub [3]"], "nothing declares it");
}

#[test]
fn cpp_macros_before_a_qualified_result_become_part_of_the_name() {
    let p = Project::new(&[
        (
            "name.h",
            "#include <string>\nclass BENCH_EXPORT Name {\n public:\n  std::string str() const;\n};\n",
        ),
        (
            "name.cc",
            "#include \"name.h\"\nBENCH_EXPORT\nstd::string Name::str() const { return \"\"; }\nBENCH_EXPORT std::vector<int> all() { return {}; }\nFILE_TYPE Name::parse() { return 1; }\n",
        ),
        ("main.cc", "#include \"name.h\"\nvoid a(Name n) { n.str(); all(); n.parse(); }\n"),
    ]);
    assert_eq!(p.callers("Name::str"), ["main.cc a [2]"]);
    assert_eq!(p.callers("all"), ["main.cc a [2]"]);
    assert_eq!(p.callers("Name::parse"), ["main.cc a [2]"]);
}
