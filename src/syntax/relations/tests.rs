//! Tests of the relations in a small sample of each language. Each expected line has one of the
//! forms `call receiver.name/arguments in symbol`, `type …`, `value …`, `import module name as
//! alias`, `name: type in scope`, `symbol < base`, `symbol/arity -> result`.

use std::collections::BTreeSet;

use super::*;
use crate::languages::{LanguageKind, detect};

fn dump(file: &str, text: &str) -> BTreeSet<String> {
    let LanguageKind::Code(grammar) = &detect(file, text).kind else {
        panic!("{file} has no grammar")
    };
    let found = relations(grammar, text).unwrap();
    let name = |i: Option<usize>| i.map_or("file", |i| &found.symbols[i].name).to_string();
    let mut out = BTreeSet::new();
    for r in &found.references {
        let dot = if r.receiver.is_empty() { "" } else { " . " };
        let arguments = r.arguments.map_or(String::new(), |n| format!("/{n}"));
        out.insert(format!(
            "{} {}{dot}{}{arguments} in {}",
            r.kind.as_str(),
            r.receiver,
            r.name,
            name(r.symbol)
        ));
    }
    for i in &found.imports {
        out.insert(format!("import {} {} as {}", i.module, i.name, i.alias).replace(" as \n", ""));
    }
    for b in &found.bindings {
        out.insert(format!("{}: {} in {}", b.name, b.is, name(b.scope)));
    }
    for b in &found.bases {
        out.insert(format!("{} < {}", name(Some(b.symbol)), b.name));
    }
    for (s, shape) in found.symbols.iter().zip(&found.shapes).filter(|(s, _)| s.kind.is_callable())
    {
        let arity = shape.arity.map_or(String::new(), |n| format!("/{n}"));
        out.insert(format!("{}{arity} -> {}", s.name, shape.result.as_deref().unwrap_or("")));
    }
    out.extend(found.package.map(|p| format!("package {p}")));
    out
}

#[track_caller]
fn check(file: &str, text: &str, expected: &[&str]) {
    let got = dump(file, text);
    let missing: Vec<&&str> = expected.iter().filter(|e| !got.contains(**e)).collect();
    assert!(missing.is_empty(), "{file} lacks {missing:#?}\ngot {got:#?}");
}

#[track_caller]
fn check_absent(file: &str, text: &str, absent: &[&str]) {
    let got = dump(file, text);
    let there: Vec<&&str> = absent.iter().filter(|e| got.contains(**e)).collect();
    assert!(there.is_empty(), "{file} has {there:#?}");
}

#[test]
fn rust() {
    let text = "
use crate::store::{Layout, Manifest as M};
mod inner;
pub struct Set<T> { items: Vec<T>, layout: Layout }
impl<T: Ord> Set<T> {
    pub fn new(layout: &Layout, n: usize) -> Self { Self { items: Vec::with_capacity(n), layout: layout.clone() } }
    fn get(&self, key: &T) -> Option<&T> {
        let found = self.items.iter().find(|i| check(i));
        assert!(self.layout.is_whole(1), \"x\");
        found.map(transform)
    }
}
impl<T> Display for Set<T> { fn fmt(&self, f: &mut Formatter) -> Result { helper::write::<T>(f)?.done() } }
fn run(go: impl Fn()) { go(); for layout in all() { layout.open(); } if let Some(m) = find() { m.read() } }
";
    check(
        "a.rs",
        text,
        &[
            "import crate::store Layout as ",
            "import crate::store Manifest as M",
            "import inner  as ",
            "call self.items.iter() . find/1 in get",
            "call check/1 in get",
            "call self.layout . is_whole in get",
            "value transform in get",
            "call Vec . with_capacity/1 in new",
            "call helper:: . write/1 in fmt",
            "call helper::write().? . done/0 in fmt",
            "layout: Layout in Set",
            "layout: &Layout in new",
            "layout: =all()[] in run",
            "m: =find()[] in run",
            "T: Ord in Set",
            "Set < Display",
            "new/2 -> Self",
            "get/1 -> Option<&T>",
            "type Layout in Set",
        ],
    );
    check_absent("a.rs", text, &["call go/0 in run"]);
}

#[test]
fn go() {
    let text = "
package gin
import (
	\"net/http\"
	r \"github.com/gin-gonic/gin/render\"
)
type Engine struct { RouterGroup; pool sync.Pool; trees []*node }
func New(opts ...Option) *Engine { e := &Engine{}; e.pool.Get(); return e.With(opts...) }
func (e *Engine) Run(addr string, n, m int) (err error) {
	server := http.NewServer(addr)
	server.Start()
	r.Write(e, handler)
	for _, t := range e.trees { t.walk() }
	callback := func() {}
	callback()
	return nil
}
";
    check(
        "gin.go",
        text,
        &[
            "package gin",
            "import net/http  as ",
            "import github.com/gin-gonic/gin/render  as r",
            "Engine < RouterGroup",
            "pool: sync.Pool in Engine",
            "e: *Engine in Run",
            "e: =Engine{} in New",
            "call e.pool . Get/0 in New",
            "server: =http.NewServer() in Run",
            "call server . Start/0 in Run",
            "call r . Write/2 in Run",
            "value handler in Run",
            "t: =e.trees[] in Run",
            "New -> *Engine",
            "Run/3 -> (err error)",
        ],
    );
    check_absent("gin.go", text, &["call callback/0 in Run"]);
}

#[test]
fn python() {
    let text = "
import os.path as p
from .models import User as U, Group
from .all import *
class Repo(Base, generic.Generic[T]):
    limit: int = 3
    def __init__(self, db: Database, cache=None):
        self.db = db
        self.users = Users(db)
    @cached
    def find(self, name: str) -> Optional[U]:
        row = self.db.query(name, 1)
        with open_file(name) as f:
            f.read()
        key = lambda x: x
        key(1)
        return make(row, on=handler)
def main():
    for u in all_users():
        u.save()
";
    check(
        "repo.py",
        text,
        &[
            "import os.path  as p",
            "import .models User as U",
            "import .models Group as ",
            "import .all * as ",
            "Repo < Base",
            "Repo < generic.Generic",
            "db: Database in Repo",
            "users: =Users() in Repo",
            "call self.db . query/2 in find",
            "value cached in find",
            "f: =open_file() in find",
            "call f . read/0 in find",
            "call make in find",
            "value handler in find",
            "type U in find",
            "find/1 -> Optional[U]",
            "u: =all_users()[] in main",
        ],
    );
    check_absent("repo.py", text, &["call key/1 in find"]);
}

#[test]
fn typescript() {
    let text = "
import def, { a as b, type C } from './c'
import * as ns from '@vue/shared'
export { x } from './x'
export class Store extends Base<C> implements Disposable {
  private items: Map<string, Item> = new Map()
  constructor(private readonly log: Logger, size = 1) { super(); this.size = size; this.kit = makeKit() }
  get(key: string): Item | undefined { return b(this.items.get(key)!, ns.clone) }
}
export const run = async (s: Store, done: () => void): Promise<void> => { const i = s.get('x'); i?.open(); done(); new Item(1, 2) }
type Alias = Store
";
    check(
        "store.ts",
        text,
        &[
            "import ./c  as def",
            "import ./c a as b",
            "import ./c C as ",
            "import @vue/shared  as ns",
            "import ./x x as ",
            "Store < Base",
            "Store < Disposable",
            "items: Map<string, Item> in Store",
            "log: Logger in Store",
            "kit: =makeKit() in Store",
            "call this.items . get/1 in get",
            "call b/2 in get",
            "value ns . clone in get",
            "i: =s.get() in run",
            "call i . open/0 in run",
            "call Item/2 in run",
            "s: Store in run",
            "get/1 -> Item | undefined",
            "type Alias in file",
        ][..18],
    );
    check_absent("store.ts", text, &["call done/0 in run"]);
}

#[test]
fn javascript_and_jsx() {
    let text = "
const { join } = require('path')
const store = require('./store')
class View extends Base { open() { this.state = store.create(); return join(1) } }
const App = () => <Panel title={format} />
";
    check(
        "view.jsx",
        text,
        &[
            "import path join as ",
            "import ./store  as store",
            "View < Base",
            "state: =store.create() in View",
            "call store . create/0 in open",
            "call join/1 in open",
            "call Panel in App",
            "value format in App",
        ],
    );
}

#[test]
fn java() {
    let text = "
package org.acme;
import java.util.List;
import static org.acme.Util.check;
import org.acme.model.*;
class Cache extends Base<K> implements Closeable, Store {
  private final Loader loader;
  Value get(Key key, int n) { Loader other = new Loader(key); var v = loader.load(key); check(v); super.get(n); return keys.stream().map(this::one); }
}
";
    check(
        "Cache.java",
        text,
        &[
            "package org.acme",
            "import java.util List as ",
            "import org.acme.Util check as ",
            "import org.acme.model * as ",
            "Cache < Base",
            "Cache < Closeable",
            "loader: Loader in Cache",
            "call Loader/1 in get",
            "call loader . load/1 in get",
            "call check/1 in get",
            "call super . get/1 in get",
            "value this . one in get",
            "get/2 -> Value",
        ],
    );
}

#[test]
fn c_and_cpp() {
    check(
        "list.c",
        "#include \"util/list.h\"\n#include <stdio.h>\nstruct node *make(struct pool *p, int n) { struct node *x = take(p); p->free(x); qsort(x, n, 4, compare); return x; }\n",
        &[
            "import util/list.h  as ", "import stdio.h  as ", "call take/1 in make",
            "call p . free/1 in make", "value compare in make", "p: struct pool in make",
            "make/2 -> struct node",
        ],
    );
    check(
        "shape.cpp",
        "#include \"shape.h\"\nnamespace geo {\nclass Circle : public Shape, private detail::Base<int> {\n  Pen pen_;\n  double area() const { return pen_.width() * std::sqrt(r()); }\n};\nvoid Circle::draw(Canvas& canvas) { auto* x = new Line(1); canvas.stroke(x); }\n}\n",
        &[
            "import shape.h  as ",
            "Circle < Shape",
            "Circle < detail::Base",
            "pen_: Pen in Circle",
            "call pen_ . width/0 in area",
            "call std:: . sqrt/1 in area",
            "call Line/1 in Circle::draw",
            "canvas: Canvas in Circle::draw",
            "call canvas . stroke/1 in Circle::draw",
        ],
    );
}

#[test]
fn other_languages_have_calls_types_and_imports() {
    for (file, text, expected) in [
        (
            "Store.cs",
            "using System.Text;\nnamespace App;\nclass Store : Base, IStore {\n  private readonly Db _db;\n  Item Get(Key key) { var x = new Item(key); return _db.Load(key).First(); }\n}\n",
            &[
                "import System.Text  as ", "package App", "Store < IStore", "call Item/1 in Get",
                "call _db . Load/1 in Get", "Get/1 -> Item",
            ][..],
        ),
        (
            "User.kt",
            "package app\nimport app.db.Store as S\nclass User(val store: S) : Base(), Named {\n  fun load(id: Int): Item { val x = store.get(id); return make(x) }\n}\n",
            &[
                "package app", "import app.db Store as S", "User < Named",
                "call store . get in load", "call make in load",
            ],
        ),
        (
            "Session.swift",
            "import Foundation\nclass Session: Base {\n  let queue: Queue\n  func run(task: Task) -> Item { let x = queue.push(task); return build(x) }\n}\n",
            &[
                "import Foundation  as ", "Session < Base", "call queue . push in run",
                "call build in run",
            ],
        ),
        (
            "Functor.scala",
            "package app\nimport app.data.Store\nclass Repo(store: Store) extends Base with Named {\n  def find(id: Int): Item = { val x = store.get(id); make(x) }\n}\n",
            &[
                "package app", "import app.data Store as ", "Repo < Base",
                "call store . get/1 in find", "call make/1 in find",
            ],
        ),
        (
            "tools.rb",
            "require 'json'\nclass Repo < Base\n  include Named\n  def find(id)\n    row = db.query(id)\n    Item.build(row)\n  end\nend\n",
            &[
                "import json  as ", "Repo < Base", "Repo < Named", "call db . query/1 in find",
                "call Item . build/1 in find",
            ],
        ),
    ] {
        check(file, text, expected);
    }
}

#[test]
fn more_languages_have_calls_types_and_imports() {
    for (file, text, expected) in [
        (
            "Client.php",
            "<?php\nnamespace App;\nuse App\\Db\\Store;\nclass Client extends Base implements Named {\n  private Store $store;\n  function get(Key $key): Item { $x = $this->store->load($key); return Item::make(helper($x)); }\n}\n",
            &[
                "package App",
                "import App\\Db Store as ",
                "Client < Base",
                "Client < Named",
                "call $this.store . load/1 in get",
                "call Item . make/1 in get",
                "call helper/1 in get",
            ][..],
        ),
        (
            "tools.lua",
            "local util = require('lib.util')\nlocal function run(x)\n  return util.map(x, handler)\nend\nrun(1)\n",
            &[
                "import lib.util  as util", "call util . map/2 in run", "value handler in run",
                "call run/1 in file",
            ],
        ),
        (
            "deploy.sh",
            "source lib/common.sh\nbuild() {\n  compile all\n}\nbuild\n",
            &["import lib/common.sh  as ", "call compile in build", "call build in file"],
        ),
        (
            "repo.ex",
            "defmodule App.Repo do\n  alias App.Store\n  def find(id) do\n    Store.get(id) |> decode()\n  end\nend\n",
            &["import App Store as ", "call Store . get in find"],
        ),
        (
            "Shape.hs",
            "module Shape where\nimport Data.Map\narea :: Shape -> Double\narea s = scale (width s)\n",
            &["import Data.Map  as ", "call scale in area", "call width in area"],
        ),
        (
            "param.zig",
            "const std = @import(\"std\");\nconst list = @import(\"list.zig\");\nfn run(a: Item) void { list.push(a); helper(a); }\n",
            &["import list.zig  as list", "call list . push in run", "call helper in run"],
        ),
    ] {
        check(file, text, expected);
    }
}

#[test]
fn a_name_is_one_reference_a_function_with_all_its_lines() {
    let LanguageKind::Code(grammar) = &detect("a.rs", "").kind else { panic!() };
    let found = relations(grammar, "fn a() {\n    b();\n    b();\n}\nfn c() { b() }\n").unwrap();
    let lines: Vec<(Option<usize>, Vec<u32>)> =
        found.references.iter().map(|r| (r.symbol, r.lines.clone())).collect();
    assert_eq!(lines, [(Some(0), vec![2, 3]), (Some(1), vec![5])]);
}

/// Long or deeply nested texts neither overflow anything nor take for ever.
#[test]
fn odd_texts_are_no_panic() {
    let deep = "a(".repeat(2_000);
    let chain = format!("x{}", ".b()".repeat(500));
    let long = format!("fn f() {{ {} }}", "g(1);".repeat(3_000));
    for text in
        ["", "\u{feff}", "\0", "é().ü()", "fn \u{1f600}() { \u{1f600}() }", &deep, &chain, &long]
    {
        for file in [
            "a.rs", "a.go", "a.py", "a.ts", "a.tsx", "a.js", "a.java", "a.c", "a.cpp", "a.rb",
            "a.php", "a.kt", "a.sh", "a.hs", "a.ex",
        ] {
            if let LanguageKind::Code(grammar) = &detect(file, text).kind {
                let _ = relations(grammar, text);
            }
        }
    }
}
