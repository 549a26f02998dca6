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
fn rust_modules_below_a_folder_named_tests_in_src_keep_their_callers() {
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
fn rust_macros_within_macros_and_closures_in_them_are_seen() {
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
fn c_functions_in_tables_are_used_by_the_table() {
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
fn php_variables_have_a_type_and_parent_is_a_receiver() {
    let p = Project::new(&[
        (
            "src/Stack.php",
            "<?php\nnamespace Acme;\nclass Stack {\n    public function push($x) {}\n}\nfunction size() {}\n",
        ),
        (
            "src/Other.php",
            "<?php\nnamespace Acme;\nclass Other {\n    public function push($x) {}\n}\n",
        ),
        (
            "src/Use.php",
            "<?php\nnamespace Acme;\nclass Leaf extends Stack {\n    public function push($x) {\n        parent::push($x);\n    }\n}\nfunction typed(Stack $s) { $s->push(1); }\nfunction made() { $s = new Stack(); $s->push(1); }\nfunction named() { $size = size(); }\nfunction variable() { $size(); }\n",
        ),
    ]);
    assert_eq!(
        p.callers("Stack::push"),
        ["src/Use.php Leaf::push [5]", "src/Use.php typed [8]", "src/Use.php made [9]"]
    );
    assert_eq!(p.callers("Other::push"), Vec::<String>::new());
    assert_eq!(p.callers("size"), ["src/Use.php named [10]"], "a variable has that name, too");
}

#[test]
fn typescript_names_of_a_package_for_its_own_modules() {
    let p = Project::new(&[
        (
            "package.json",
            "{ \"name\": \"m\", \"imports\": { \"#utils\": { \"types\": \"./dist/utils.d.ts\", \"default\": \"./src/utils.ts\" }, \"#deep/*\": \"./src/deep/*.ts\" } }",
        ),
        ("src/utils.ts", "export function subpath() {}\nexport * as Validation from \"./valid\"\n"),
        ("src/valid.ts", "export function validate() {}\n"),
        ("src/deep/a.ts", "export function deep() {}\n"),
        (
            "src/use.ts",
            "import { subpath, Validation } from \"#utils\"\nimport { deep } from \"#deep/a\"\nfunction one() { subpath() }\nfunction two() { deep() }\nfunction three() { Validation.validate() }\n",
        ),
    ]);
    assert_eq!(p.callers("subpath"), ["src/use.ts one [3]"]);
    assert_eq!(p.callers("deep"), ["src/use.ts two [4]"]);
    assert_eq!(p.callers("validate"), ["src/use.ts three [5]"]);
}

#[test]
fn typescript_names_with_a_dollar_parameter_properties_and_derived_types() {
    let p = Project::new(&[
        (
            "a.ts",
            "export class Kind {\n  $patch() {}\n  rel() {}\n}\nexport class Other {\n  $patch() {}\n  rel() {}\n}\nexport function $top() { return new Kind() }\n",
        ),
        (
            "b.ts",
            "import { Kind, $top } from './a'\nexport function one(k: Kind) { k.$patch() }\nexport function two() { const $k = new Kind(); $k.rel(); $top() }\nclass Holder {\n  constructor(readonly kind: Kind) {}\n  three() { this.kind.rel() }\n}\nfunction four(o: Pick<Kind, \"rel\">) { o.rel() }\n",
        ),
    ]);
    assert_eq!(p.callers("Kind.$patch"), ["b.ts one [2]"]);
    assert_eq!(p.callers("$top"), ["b.ts two [3]"]);
    assert_eq!(p.callers("Kind.rel"), ["b.ts two [3]", "b.ts Holder.three [6]", "b.ts four [8]"]);
    assert_eq!(p.callers("Other.rel"), Vec::<String>::new());
}

#[test]
fn go_modules_with_a_version_and_packages_named_lib() {
    let p = Project::new(&[
        ("go.mod", "module github.com/acme/chi/v5 // comment\n\ngo 1.20\n"),
        ("chi.go", "package chi\n\nfunc NewRouter() {}\n"),
        ("lib/lib.go", "package lib\n\nfunc Help() {}\n"),
        ("other/chi/chi.go", "package chi\n\nfunc NewRouter() {}\n"),
        (
            "mw/a.go",
            "package mw\n\nimport (\n\t\"github.com/acme/chi/v5\"\n\t\"github.com/acme/chi/v5/lib\"\n)\n\nfunc use() {\n\tchi.NewRouter()\n\tlib.Help()\n}\n",
        ),
        // A package of that name that belongs to somebody else.
        (
            "mw/b.go",
            "package mw\n\nimport \"github.com/their/lib\"\n\nfunc other() {\n\tlib.Help()\n}\n",
        ),
    ]);
    assert_eq!(p.callers("chi.go#NewRouter"), ["mw/a.go use [9]"]);
    assert_eq!(p.callers("other/chi/chi.go#NewRouter"), Vec::<String>::new());
    assert_eq!(p.callers("Help"), ["mw/a.go use [10]"]);
}

#[test]
fn parameters_of_closures_do_not_hide_the_variables_around_them() {
    let p = Project::new(&[
        (
            "a.go",
            "package x\n\ntype Router interface {\n\tGet()\n}\ntype Mux struct{}\n\nfunc (m *Mux) Get() {}\n\nfunc (m *Mux) Route(f func(r Router)) {}\n\nfunc NewMux() *Mux { return &Mux{} }\n\nfunc use() {\n\tr := NewMux()\n\tr.Route(func(r Router) {\n\t\tq := r\n\t\tr.Get()\n\t\tq.Get()\n\t})\n\tr.Get()\n}\n",
        ),
        (
            "a.ts",
            "class Red { paint() {} }\nclass Blue { paint() {} }\nfunction use(c: Red) {\n  run((c: Blue) => {\n    c.paint()\n  })\n  c.paint()\n}\n",
        ),
    ]);
    assert_eq!(p.callers("Router.Get"), ["a.go use [18, 19]"]);
    assert_eq!(p.callers("Mux.Get"), ["a.go use [21]"]);
    assert_eq!(p.callers("Red.paint"), ["a.ts use [7]"]);
    assert_eq!(p.callers("Blue.paint"), ["a.ts use [5]"]);
}

#[test]
fn javascript_modules_export_a_name_without_it_and_methods_return_their_object() {
    let p = Project::new(&[
        (
            "lib/node.js",
            "class MimeNode {\n  static from() { return new MimeNode(); }\n  set(k) { if (k) { return this; } return this; }\n  build() { [1].map(() => { return 1; }); }\n}\nmodule.exports = MimeNode;\n",
        ),
        ("lib/zed.js", "export class Zed {\n  set() {}\n  build() {}\n}\n"),
        ("lib/fn.js", "function real() { return 1; }\nmodule.exports = real;\n"),
        ("lib/head.js", "class Head {\n  static from() {}\n}\nexport default Head;\n"),
        (
            "use.js",
            "import Hd from './lib/head.js';\nconst Mime = require('./lib/node');\nconst renamed = require('./lib/fn');\nfunction one() { const m = new Mime(); m.build(); }\nfunction two() { Mime.from().set(1).set(2).build(); }\nfunction three() { renamed(); }\nfunction four() { Hd.from(); }\n",
        ),
    ]);
    assert_eq!(p.callers("MimeNode.build"), ["use.js one [4]", "use.js two [5]"]);
    assert_eq!(p.callers("MimeNode.set"), ["use.js two [5]"]);
    assert_eq!(p.callers("Zed.set"), Vec::<String>::new());
    assert!(p.callers("real").contains(&"use.js three [6]".to_string()));
    assert_eq!(p.callers("Head.from"), ["use.js four [7]"]);
}

#[test]
fn ruby_values_of_new_fields_and_functions_of_a_module() {
    let p = Project::new(&[
        (
            "lib/api.rb",
            "module Side\n  def self.logger\n  end\n  class Queue\n    def size\n    end\n  end\n  class Stack\n    def size\n    end\n  end\nend\nmodule Other\n  def logger\n  end\nend\n",
        ),
        (
            "test/t.rb",
            "class T\n  def setup\n    @q = Side::Queue.new\n  end\n  def one\n    q = Side::Queue.new(1)\n    q.size\n  end\n  def two\n    Side::Queue.new.size\n  end\n  def three\n    @q.size\n    Side.logger\n  end\nend\n",
        ),
    ]);
    assert_eq!(
        p.callers("Queue::size"),
        ["test/t.rb T::one [7]", "test/t.rb T::two [10]", "test/t.rb T::three [13]"]
    );
    assert_eq!(p.callers("Stack::size"), Vec::<String>::new());
    assert_eq!(p.callers("Side::logger"), ["test/t.rb T::three [14]"]);
}

#[test]
fn javascript_methods_of_an_object_have_callers() {
    let p = Project::new(&[
        (
            "lib/resp.js",
            "module.exports = {\n  get(f) {\n    return 1\n  },\n  set(f) {\n    this.get(f)\n  },\n  fun: function (f) {\n    return 2\n  },\n}\n",
        ),
        ("lib/other.js", "export class Other {\n  get() {}\n  fun() {}\n}\n"),
        (
            "use.js",
            "const resp = require('./lib/resp')\nconst { fun } = require('./lib/resp')\nfunction one() { resp.get(1) }\nfunction two() { fun(1); resp.fun(2) }\nconst own = {\n  run() {},\n}\nfunction three() { own.run() }\nconst made = new Made({\n  run() {},\n})\nclass Made { start() {} }\nfunction four() { made.start() }\n",
        ),
    ]);
    assert_eq!(
        p.callers("lib/resp.js:2"),
        ["lib/resp.js module.exports.set [6]", "use.js one [3]"]
    );
    assert_eq!(p.callers("lib/resp.js:8"), ["use.js two [4]"]);
    assert_eq!(p.callers("use.js:6"), ["use.js three [8]"]);
    assert_eq!(p.callers("start"), ["use.js four [13]"]);
}

#[test]
fn java_types_in_a_type_are_named_like_those_in_its_interface() {
    let p = Project::new(&[
        (
            "a/Conn.java",
            "package a;\npublic interface Conn {\n    interface Req {\n        int proxy();\n    }\n}\n",
        ),
        (
            "a/Http.java",
            "package a;\npublic class Http implements Conn {\n    public static class Req implements Conn.Req {\n        public int proxy() { return 1; }\n        public int own() { return 1; }\n    }\n}\n",
        ),
        (
            "a/Use.java",
            "package a;\nclass Use {\n    static void one(Http.Req req) { req.own(); req.proxy(); }\n}\n",
        ),
    ]);
    assert_eq!(p.callers("own"), ["a/Use.java Use.one [3]"]);
    assert_eq!(p.callers("a/Http.java:4"), ["a/Use.java Use.one [3]"]);
}

#[test]
fn the_search_for_a_supertype_whose_path_begins_at_the_type_itself_ends() {
    let p = Project::new(&[(
        "a.rb",
        "class Foo < Foo::Bar\n  def one\n    two\n  end\n  def two\n  end\nend\n",
    )]);
    assert_eq!(p.callers("two"), ["a.rb Foo::one [3]"]);
}

#[test]
fn rust_methods_named_like_a_field_continue_the_chain() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub struct Test { justfile: Option<String>, hook: fn() }\nimpl Test {\n    pub fn new() -> Self { todo!() }\n    pub fn justfile(self, v: &str) -> Self { self }\n    pub fn stdout(self) {}\n}\nfn one() { Test::new().justfile(\"x\").stdout(); }\nfn two() { let t = Test::new().justfile(\"x\"); t.stdout(); }\n",
    )]);
    assert_eq!(p.callers("Test::stdout"), ["src/lib.rs one [7]", "src/lib.rs two [8]"]);
}

#[test]
fn rust_macros_are_told_from_functions_of_their_name() {
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
fn rust_results_are_told_from_the_associated_type_of_their_name() {
    let p = Project::new(&[(
        "src/lib.rs",
        "use prelude::*;\npub struct T;\nimpl FromStr for T {\n    type Err = String;\n    fn from_str(s: &str) -> Result<Self, Self::Err> { Err(s.into()) }\n}\n",
    )]);
    assert_eq!(p.callers("src/lib.rs:4"), Vec::<String>::new());
}

#[test]
fn rust_names_imported_from_elsewhere_are_not_those_of_the_crate() {
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
fn rust_variants_and_what_is_dereferenced_have_a_type() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub enum Kind { A, B(u8) }\nimpl Kind { pub fn exit(self) {} }\npub struct Token { n: Id }\nimpl Token { pub fn show(&self) {} }\npub struct Id;\nimpl Id { pub fn digits(&self) {} }\npub struct Name { token: Token }\nimpl Deref for Name {\n    type Target = Token;\n    fn deref(&self) -> &Token { &self.token }\n}\npub struct Show;\nimpl Show { pub fn exit(&self) {} pub fn show(&self) {} pub fn digits(&self) {} }\nfn one() { Kind::A.exit(); }\nfn two() { let k = Kind::B(1); k.exit(); }\nfn three(name: Name) { name.show(); name.n.digits(); }\nfn four() { println!(\"{}\", Token { n: Id }.show()); }\n",
    )]);
    assert_eq!(p.callers("Kind::exit"), ["src/lib.rs one [14]", "src/lib.rs two [15]"]);
    assert_eq!(p.callers("Token::show"), ["src/lib.rs three [16]", "src/lib.rs four [17]"]);
    assert_eq!(p.callers("Id::digits"), ["src/lib.rs three [16]"]);
}

#[test]
fn methods_that_call_the_same_of_what_they_wrap_do_not_call_themselves() {
    let p = Project::new(&[(
        "src/lib.rs",
        "pub struct Entry { inner: Inner }\nimpl Entry {\n    pub fn path(&self) -> &Path {\n        match &self.inner { Inner::Normal(e) => e.path(), Inner::Broken(p) => p }\n    }\n    pub fn depth(&self) { self.depth() }\n}\n",
    )]);
    let answer = p.ask(Operation::Callers, "Entry::path", None, 1);
    assert_eq!(rows(&answer.results), Vec::<String>::new());
    assert_eq!(p.callers("Entry::depth"), ["src/lib.rs Entry::depth [6]"]);
}

#[test]
fn cpp_functions_of_namespaces_have_their_callers() {
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
fn cpp_variables_of_inner_types_pointers_and_aliases_have_a_type() {
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
fn c_macros_and_functions_that_are_not_included_take_no_calls_of_the_library() {
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
fn cpp_macros_before_a_qualified_result_are_no_part_of_the_name() {
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
