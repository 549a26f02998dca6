//! Tests of the search for unused symbols. Each is a family of symbols that looked unused and were not,
//! or the other way round.

use super::*;

/// Returns `symbol: reason` of what is listed, and what is not listed.
fn unused(files: &[(&str, &str)], is_library: bool) -> (Vec<String>, BTreeMap<Exempt, usize>) {
    let project = Project::new(files);
    let paths: Vec<&str> = project.files.keys().map(String::as_str).collect();
    let query = UnusedQuery {
        files: &paths,
        read: &|path| project.files.get(path).cloned(),
        is_asked: &|_| true,
        is_library: &|_, _| is_library,
        with_public: false,
    };
    let found = project.graph.unused(query, &work()).unwrap();
    assert!(!found.is_cut);
    let row = |symbol: &UnusedSymbol| format!("{}: {:?}", symbol.node.symbol, symbol.why);
    (found.results.iter().map(row).collect(), found.exempt)
}

fn listed(files: &[(&str, &str)]) -> Vec<String> {
    unused(files, false).0
}

#[test]
fn the_surest_reason_comes_first_and_parts_go_with_their_type() {
    let text = "\
fn main() {}

fn again(n: u8) {
    again(n - 1);
}

fn root() {
    leaf();
}

fn leaf() {}

/// As `spoken` did.
fn silent() {}

fn spoken() {}

struct Gone;

impl Gone {
    fn part(&self) -> Gone {
        Gone
    }
}
";
    let rows = listed(&[("src/main.rs", text), ("README.md", "`silent` is gone.\n")]);
    assert_eq!(
        rows,
        [
            "root: Nowhere",
            "again: OnlyItself",
            "Gone: OnlyItself",
            "silent: OnlyComments",
            "leaf: OnlyUnused(\"root\")",
            "spoken: OnlyUnused(\"silent\")",
        ]
    );
}

#[test]
fn any_other_text_that_has_the_name_keeps_a_symbol() {
    let python = "def by_string():\n    pass\n\n\ndef visit_node():\n    pass\n\n\ndef of_page():\n    pass\n\n\nclass Table:\n    def row_of(self):\n        pass\n";
    let rows = listed(&[
        ("a.py", python),
        (
            "b.py",
            "getattr(a, 'by_string')\ngetattr(a, 'visit_' + kind)()\nx = unknown.row_of\ny = Table\n",
        ),
        ("page.html", "<a href=\"{{ of_page }}\">a</a>\n"),
        ("src/UserCard.vue", "<script>\nexport default {}\n</script>\n"),
    ]);
    assert!(rows.is_empty(), "{rows:?}");
}

#[test]
fn what_is_called_from_outside_is_counted_and_not_listed() {
    let python = "\
import textwrap

@app.route('/x')
def page():
    pass

class Narrow(textwrap.TextWrapper):
    def _wrap_chunks(self):
        pass

    def __len__(self):
        return 1

class Plain:
    def dead_method(self):
        pass

Narrow, Plain
";
    let (rows, exempt) = unused(&[("a.py", python)], false);
    assert_eq!(rows, ["Plain.dead_method: Nowhere"]);
    assert_eq!(
        exempt.into_iter().collect::<Vec<_>>(),
        [(Exempt::Language, 1), (Exempt::Framework, 1), (Exempt::Overrides, 1)]
    );
    let rust = "\
struct Set;

impl std::ops::Deref for Set {
    type Target = u8;
    fn deref(&self) -> &u8 { &0 }
}

impl std::ops::Neg for [Set] {
    fn neg_all(&self) {}
}
";
    assert_eq!(listed(&[("src/a.rs", rust), ("src/b.rs", "use a::Set;\n")]), [""; 0]);
    let go = "package a\n\ntype set struct{}\n\nfunc (s set) Flush() {}\n\nfunc (s set) lost() {}\n\nvar S = set{}\n";
    assert_eq!(listed(&[("a.go", go)]), ["set.lost: Nowhere"]);
    let ts = "declare module 'x' {\n  interface Extended {}\n}\n\nexport const relations = 1\n";
    let db = "import * as schema from './schema'\nconnect({ schema })\nexport {}\n";
    assert_eq!(listed(&[("schema.ts", ts), ("db.ts", db)]), [""; 0]);
    let c = "enum kind { FIRST };\nstatic int dead(void) { return FIRST; }\n";
    assert_eq!(listed(&[("a.c", c)]), ["dead: Nowhere"]);
}

/// Before: bindings that a macro defines, additions to the types of a browser, and what only examples
/// or helpers of tests use were listed.
#[test]
fn what_a_macro_defines_or_an_example_holds_is_not_listed() {
    let rows = listed(&[
        (
            "app/bind.cc",
            "static int shim() { return 1; }\nPYBIND11_MODULE(_re2, module) {\n  module.def(shim);\n}\n",
        ),
        (
            "app/page.ts",
            "export {};\ndeclare global {\n    interface Window {\n        size: number;\n    }\n}\n",
        ),
        ("examples/shop.py", "def sell():\n    return 1\n"),
        ("app/testing.py", "def filled():\n    return 1\n"),
        ("app/core.py", "def alone():\n    return 1\n"),
    ]);
    assert_eq!(rows, ["alone: Nowhere"]);
}

#[test]
fn public_symbols_of_a_library_are_left_to_its_users() {
    let rust = "pub fn open() {}\n\npub(crate) fn inner() {}\n\nfn private() {}\n";
    let (rows, exempt) = unused(&[("src/lib.rs", rust)], true);
    assert_eq!(rows, ["inner: Nowhere", "private: Nowhere"]);
    assert_eq!(exempt[&Exempt::Public], 1);
}
