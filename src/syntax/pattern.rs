//! Finds code that matches a pattern of ast-grep (`$A` matches one node, `$$$A` any number) in the
//! syntax trees of this module.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Language, Node, Pattern as Shape};
use regex::Regex;

use super::outline::{nesting, tree};
use crate::languages::{Grammar, Lang, grammar, grammars};

/// Longest pattern. Matching recurses into it, and each level takes at least a byte.
const MAX_BYTES: usize = 2_000;
/// Most levels of the syntax tree of a pattern. A level takes about a kilobyte of the stack.
const MAX_NESTING: usize = 200;

/// A pattern in one language.
pub struct Pattern {
    grammar: &'static Grammar,
    /// What the pattern means in the places where it may stand; any of them matches.
    shapes: Vec<Shape>,
    /// The literal words of the pattern. A text without one of them need not be parsed.
    words: BTreeSet<String>,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error(
        "{language} has no grammar here, so patterns cannot match it; languages with a grammar: {known}"
    )]
    NotParsed { language: String, known: String },
    #[error(
        "no indexed file is written in a language with a grammar, so patterns match nothing here; languages with a grammar: {known}"
    )]
    NoCode { known: String },
    #[error(
        "`{pattern}` is not a valid {language} pattern: {message}; write it as code, with $NAME for one part and $$$NAME for any number of them"
    )]
    Malformed { language: String, pattern: String, message: String },
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When the language has no grammar here, or the pattern is not code in it.
    pub fn new(language: &str, pattern: &str) -> Result<Self, PatternError> {
        let Some(grammar) = grammar(language) else {
            let known =
                grammars().iter().map(|grammar| grammar.spec.name).collect::<Vec<_>>().join(", ");
            return Err(PatternError::NotParsed { language: language.into(), known });
        };
        let malformed = |message: &str| PatternError::Malformed {
            language: language.into(),
            pattern: pattern.trim().into(),
            message: message.into(),
        };
        let name = |c: char| c.is_alphanumeric() || c == '_';
        if pattern.trim().trim_start_matches('$').trim_start_matches(name).is_empty()
            && (pattern.trim().is_empty() || pattern.trim().starts_with('$'))
        {
            return Err(malformed("it holds nothing but a variable"));
        }
        if pattern.len() > MAX_BYTES {
            return Err(malformed("it is longer than 2 000 bytes"));
        }
        let lang = Lang(grammar);
        if nesting(grammar, &lang.pre_process_pattern(pattern.trim())) > MAX_NESTING {
            return Err(malformed("it nests more than 200 levels deep"));
        }
        // `{ $$$ }` stands for statements, which end with a semicolon in some languages.
        let ended = END.replace_all(pattern.trim(), "$1; }");
        let mut written = vec![pattern.trim().to_string()];
        written.extend((ended != pattern.trim()).then(|| ended.into_owned()));
        written.extend(with_nothing(pattern.trim()));
        let mut shapes: BTreeMap<(usize, u16), Shape> = BTreeMap::new();
        for (i, written) in written.iter().enumerate() {
            let processed = lang.pre_process_pattern(written);
            for context in std::iter::once(&PLACE).chain(grammar.spec.contexts) {
                if let Some((kind, shape)) = shape_in(lang, context, &processed) {
                    shapes.entry((i, kind)).or_insert(shape);
                }
            }
        }
        if shapes.is_empty() {
            return Err(malformed("it is neither an expression nor a statement nor a definition"));
        }
        let shapes = shapes.into_values().collect();
        Ok(Self { grammar, shapes, words: words(pattern) })
    }

    /// Returns the first and last line, 1-based, of every match, in order.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<(u32, u32)> {
        if self
            .words
            .iter()
            .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_none())
        {
            return Vec::new();
        }
        let Some((tree, _)) = tree(self.grammar, text) else { return Vec::new() };
        let document: StrDoc<Lang> =
            StrDoc { src: text.to_string(), lang: Lang(self.grammar), tree };
        let line = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        let root = AstGrep::doc(document);
        let mut found = BTreeMap::new();
        for shape in &self.shapes {
            found.extend(root.root().find_all(shape).map(|node| {
                let lines = (line(node.start_pos().line()), line(node.end_pos().line()));
                (node.range().start, lines)
            }));
        }
        found.into_values().collect()
    }
}

/// The end of a block that holds any number of statements.
static END: LazyLock<Regex> = LazyLock::new(|| {
    // The pattern is valid; the tests compile it.
    Regex::new(r"([{\s]\$\$\$[A-Z_0-9]*)\s*\}").expect("a valid regular expression")
});

/// Most variables beside commas for which the pattern without them is also searched.
const MAX_NOTHING: usize = 4;

/// Returns the pattern without each of the `$$$` beside a comma, and without several of them. They stand
/// for any number of parts, also for none, but the comma is a node of the shape.
fn with_nothing(pattern: &str) -> Vec<String> {
    static ANY: LazyLock<Regex> = LazyLock::new(|| {
        // The pattern is valid; the tests compile it.
        Regex::new(r"\$\$\$[A-Z_0-9]*").expect("a valid regular expression")
    });
    let is_beside = |found: &regex::Match| {
        pattern[..found.start()].trim_end().ends_with(',')
            || pattern[found.end()..].trim_start().starts_with(',')
    };
    let places: Vec<_> =
        ANY.find_iter(pattern).filter(is_beside).take(MAX_NOTHING).map(|m| m.range()).collect();
    let without = |chosen: usize| {
        let mut text = pattern.to_string();
        for (_, place) in places.iter().enumerate().rev().filter(|(i, _)| chosen & (1 << i) != 0) {
            let (before, after) = (text[..place.start].trim_end(), text[place.end..].trim_start());
            text = match before.strip_suffix(',') {
                Some(before) => format!("{before}{after}"),
                None => format!("{before}{}", after.strip_prefix(',').unwrap_or(after)),
            };
        }
        text
    };
    (1..1_usize << places.len()).map(without).collect()
}

/// Marks the place of a pattern in a context.
const PLACE: &str = "§";

/// Returns the shape of a pattern at its place in a context, and the kind of its node. Returns `None`
/// where the pattern does not parse there as one whole node.
fn shape_in(lang: Lang, context: &str, pattern: &str) -> Option<(u16, Shape)> {
    let start = context.find(PLACE)?;
    let text = context.replacen(PLACE, pattern, 1);
    let root = AstGrep::doc(StrDoc::try_new(&text, lang).ok()?);
    let whole = root.root();
    let range = start..start + pattern.len();
    // The smallest node of this range: an expression rather than the statement that holds only it.
    let mut node = whole.clone();
    loop {
        let covers =
            |child: &Node<_>| child.range().start <= range.start && range.end <= child.range().end;
        let Some(child) = node.children().find(covers) else { break };
        node = child;
    }
    // `return x` may be the beginning of `return x;`, where the context has the rest.
    let is_whole = node.range().start == range.start
        && text[range.end..node.range().end.max(range.end)].chars().all(|c| c == ';');
    (is_whole && !is_error(&whole)).then(|| {
        let kind = node.kind_id();
        let mut shape = Shape::from(node);
        shape.node = without_ends(shape.node);
        (kind, shape)
    })
}

/// Replaces statements that are nothing but `$$$;` by `$$$`, which stands for any number of statements.
fn without_ends(node: PatternNode) -> PatternNode {
    let PatternNode::Internal { kind_id, mut children } = node else { return node };
    let is_any = |node: &PatternNode| {
        matches!(
            node,
            PatternNode::MetaVar {
                meta_var: MetaVariable::Multiple | MetaVariable::MultiCapture(_)
            }
        )
    };
    let is_end = |node: &PatternNode| matches!(node, PatternNode::Terminal { text, .. } if text == ";" || text.is_empty());
    if children.first().is_some_and(is_any)
        && children.len() <= 2
        && children[1..].iter().all(is_end)
    {
        return children.swap_remove(0);
    }
    PatternNode::Internal { kind_id, children: children.into_iter().map(without_ends).collect() }
}

/// Whether a tree has an error or lacks something. The semicolon after the `$$$` of a block may be
/// missing.
fn is_error(root: &Node<StrDoc<Lang>>) -> bool {
    root.get_inner_node().has_error()
        && root.dfs().any(|node| {
            let inner = node.get_inner_node();
            inner.is_error() || inner.is_missing() && inner.kind() != ";"
        })
}

/// Returns the words of a pattern that are not variables.
fn words(pattern: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = BTreeSet::new();
    let mut rest = pattern;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |n| start + n);
        if !rest[..start].ends_with('$') {
            words.insert(rest[start..end].to_string());
        }
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::detect;

    fn find(file: &str, pattern: &str, text: &str) -> Result<Vec<(u32, u32)>, PatternError> {
        Ok(Pattern::new(detect(file, "").name, pattern)?.find(text))
    }

    #[test]
    fn code_of_a_shape_is_found_in_every_kind_of_language() {
        let rust = "fn main() {\n    let a = load(path).unwrap();\n    // load(path).unwrap()\n    load(\n        other,\n    ).unwrap();\n}\n";
        assert_eq!(
            find("a.rs", "load($A).unwrap()", rust),
            Ok(vec![(2, 2), (4, 6)]),
            "not in comments"
        );
        assert_eq!(find("a.rs", "fn $NAME($$$) { $$$ }", rust), Ok(vec![(1, 7)]));
        let python = "def f():\n    print(1, 2)\n    prints(1)\n    x.print(3)\n";
        assert_eq!(find("a.py", "print($$$A)", python), Ok(vec![(2, 2)]));
        assert_eq!(
            find(
                "a.go",
                "if err != nil { return $$$ }",
                "package a\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n"
            ),
            Ok(vec![(3, 5)])
        );
        assert_eq!(
            find("a.ts", "console.log($A)", "console.log('a');\nconsole.log(1, 2);\n"),
            Ok(vec![(1, 1)])
        );
        assert_eq!(
            find("a.tsx", "$A.map($B)", "const a = <div>{list.map(f)}</div>;\n"),
            Ok(vec![(1, 1)])
        );
    }

    #[test]
    fn any_number_of_parts_is_also_none() {
        for file in
            ["a.py", "a.ts", "a.rs", "a.go", "a.java", "a.c", "a.rb", "a.php", "a.kt", "a.cs"]
        {
            let calls = ["f()", "f(1)", "f(1, 2)", "f(1, 2, 3)"];
            let (before, after) = match file {
                "a.py" | "a.rb" | "a.ts" | "a.kt" => ("", ""),
                "a.php" => ("<?php\n", ""),
                "a.java" | "a.cs" => ("class A { void g() {\n", "} }\n"),
                "a.c" => ("void g() {\n", "}\n"),
                "a.go" => ("package a\nfunc g() {\n", "}\n"),
                _ => ("fn g() {\n", "}\n"),
            };
            let end = if matches!(file, "a.py" | "a.rb" | "a.kt" | "a.go") { "" } else { ";" };
            let calls = calls.map(|call| format!("{call}{end}\n")).concat();
            let text = format!("{before}{calls}{after}");
            for (pattern, n) in
                [("f($A, $$$B)", 3), ("f($$$A, 2)", 1), ("f($$$A, 2, $$$B)", 2), ("f($$$)", 4)]
            {
                let found = find(file, pattern, &text).map(|found| found.len());
                assert_eq!(found, Ok(n), "{file} {pattern}");
            }
        }
        let python = "f(k=1)\nf(0, k=1)\nf(k=1, j=2)\nf(0, k=1, j=2)\nf(0, j=2)\n";
        let found = find("a.py", "f($$$A, k=1, $$$B)", python);
        assert_eq!(found.map(|found| found.len()), Ok(4));
    }

    #[test]
    fn the_same_part_is_the_same() {
        assert_eq!(
            find("a.rs", "$A == $A", "fn f() {\n    a == b;\n    a.b == a.b;\n}\n"),
            Ok(vec![(3, 3)])
        );
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (file, pattern, why) in [
            ("a.md", "x", "languages with a grammar: bash, c,"),
            ("a.rs", "", "is not a valid rust pattern"),
            ("a.rs", "fn f( {", "is not a valid rust pattern"),
            ("a.rs", "$$$A", "is not a valid rust pattern"),
        ] {
            let e = find(file, pattern, "").unwrap_err().to_string();
            assert!(e.contains(why), "{pattern}: {e}");
        }
    }

    /// A file, its text, and patterns with the number of their matches.
    type Everyday = (&'static str, &'static str, &'static [(&'static str, usize)]);

    /// Everyday patterns with the number of lines that ripgrep finds for the same.
    const EVERYDAY: &[Everyday] = &[
        (
            "a.go",
            "package p\n\nimport \"errors\"\n\ntype T struct {\n\tName string\n}\n\nfunc (t *T) Do(a int) error {\n\tif a > 0 {\n\t\treturn errors.New(\"x\")\n\t}\n\tx := fmt.Errorf(\"%w\", err)\n\tgo run(x)\n\tdefer t.mu.Unlock()\n\treturn fmt.Errorf(\"a\")\n}\n",
            &[
                ("errors.New($A)", 1),
                ("fmt.Errorf($$$)", 2),
                ("go run($A)", 1),
                ("defer $X.Unlock()", 1),
                ("func ($R) Do($$$) error { $$$ }", 1),
                ("if $A > 0 { $$$ }", 1),
                ("Name string", 1),
            ],
        ),
        (
            "a.c",
            "#include <x.h>\nstruct s { int n; };\nint f(char *a) {\n\tfree(a);\n\tif (free(a) == 1)\n\t\treturn strcmp(a, \"b\");\n\tfor (i = 0; i < 3; i++) {\n\t\tp->n = 2;\n\t}\n\tint x = strlen(a);\n\treturn 0;\n}\n",
            &[
                ("free($A)", 2),
                ("free($A);", 1),
                ("strcmp($A, $B)", 1),
                ("$P->n = $V", 1),
                ("int $X = $V;", 1),
                ("return $A;", 2),
            ],
        ),
        (
            "a.cpp",
            "class A : public B {\npublic:\n  void f() { std::move(x); auto p = std::make_unique<T>(1); delete q; }\n  virtual int g() const;\n};\nint main() { std::move(y); throw E(1); }\n",
            &[
                ("std::move($A)", 2),
                ("delete $A", 1),
                ("std::make_unique<$T>($$$)", 1),
                ("throw $E", 1),
                ("auto $P = $V;", 1),
            ],
        ),
        (
            "A.java",
            "class A extends B {\n  @Override\n  public int f(String a) throws E {\n    System.out.println(a);\n    if (a == null) { throw new IllegalArgumentException(\"a\"); }\n    List<String> x = new ArrayList<>();\n    return a.length();\n  }\n}\n",
            &[
                ("System.out.println($A)", 1),
                ("throw new IllegalArgumentException($$$)", 1),
                ("new ArrayList<>()", 1),
                ("if ($A == null) { $$$ }", 1),
                ("$A.length()", 1),
            ],
        ),
        (
            "a.cs",
            "class A : B {\n  public int F(string a) {\n    Console.WriteLine(a);\n    var x = await G(a);\n    if (a == null) { throw new E(a); }\n    return a.Length;\n  }\n}\n",
            &[
                ("Console.WriteLine($A)", 1),
                ("await $A", 1),
                ("throw new E($A)", 1),
                ("var $X = $V;", 1),
                ("return $A;", 1),
            ],
        ),
        (
            "a.kt",
            "class A(val b: Int) {\n  fun f(a: String): Int {\n    println(a)\n    val x = a.length\n    return x ?: throw E(a)\n  }\n}\n",
            &[
                ("println($A)", 1),
                ("val $X = $V", 1),
                ("throw E($A)", 1),
                ("$A.length", 1),
                ("throw $A", 1),
            ],
        ),
        (
            "a.swift",
            "class A: B {\n  func f(a: String) -> Int {\n    print(a)\n    let x = a.count\n    guard let y = z else { return 0 }\n    return x\n  }\n}\n",
            &[
                ("print($A)", 1),
                ("let $X = $V", 1),
                ("$A.count", 1),
                ("return $A", 2),
                ("guard let $Y = $Z else { $$$ }", 1),
            ],
        ),
        (
            "a.scala",
            "class A extends B {\n  def f(a: String): Int = {\n    println(a)\n    val x = a.length\n    if (x > 0) g(x) else throw new E(a)\n  }\n}\n",
            &[
                ("println($A)", 1),
                ("val $X = $V", 1),
                ("throw new E($A)", 1),
                ("$A.length", 1),
                ("g($A)", 1),
            ],
        ),
        (
            "a.dart",
            "class A extends B {\n  int f(String a) {\n    print(a);\n    var x = a.length;\n    if (a == null) { throw E(a); }\n    return x;\n  }\n}\n",
            &[
                ("print($A);", 1),
                ("var $X = $V;", 1),
                ("return $A;", 1),
                ("throw $A", 1),
                ("if ($A == null) { $$$ }", 1),
            ],
        ),
        (
            "a.rs",
            "struct S { n: u32 }\nimpl S {\n    fn f(&self) -> R {\n        let x = g(1).unwrap();\n        println!(\"{x}\");\n        if let Some(y) = h() { return Err(E::new(y)); }\n        self.n + 1\n    }\n}\n",
            &[
                ("$A.unwrap()", 1),
                ("println!($$$)", 1),
                ("Err($A)", 1),
                ("self.$F + 1", 1),
                ("let $X = $V;", 1),
                ("n: u32", 1),
                ("fn f(&self) -> R { $$$ }", 1),
            ],
        ),
        (
            "a.php",
            "<?php\nclass A extends B {\n  public function f($a) {\n    echo strlen($a);\n    $x = new C($a);\n    return $this->g($x);\n  }\n}\n",
            &[
                ("strlen($A)", 1),
                ("new C($A)", 1),
                ("$this->g($A)", 1),
                ("return $A;", 1),
                ("echo $A;", 1),
            ],
        ),
        (
            "a.py",
            "import os\n\nclass A(B):\n    def f(self, a):\n        print(a)\n        x = os.environ.get('b')\n        if a is None:\n            raise ValueError(a)\n        return [y for y in x]\n",
            &[
                ("print($A)", 1),
                ("os.environ.get($A)", 1),
                ("raise ValueError($A)", 1),
                ("return $A", 1),
                ("class $C(B): $$$", 1),
                ("def f(self, $A): $$$", 1),
            ],
        ),
        (
            "a.js",
            "import x from 'x';\nclass A extends B {\n  f(a) { console.log(a); return this.g(a); }\n}\nconst h = async (a) => await fetch(a);\nmodule.exports = { h };\n",
            &[
                ("console.log($A)", 1),
                ("await fetch($A)", 1),
                ("this.g($A)", 1),
                ("import $X from 'x'", 1),
                ("module.exports = $A", 1),
            ],
        ),
        (
            "a.ts",
            "interface I { n: number }\nexport class A implements I {\n  n: number = 1;\n  f(a: string): void { console.log(a as any); throw new Error(a); }\n}\nconst x: string = y!;\n",
            &[
                ("console.log($A)", 1),
                ("$A as any", 1),
                ("throw new Error($A)", 1),
                ("const $X: string = $V", 1),
                ("interface I { $$$ }", 1),
            ],
        ),
        (
            "a.rb",
            "class A < B\n  has_many :links\n  def f(a)\n    puts a\n    raise E, a if a.nil?\n    x = a.map { |y| y.to_s }\n    x\n  end\nend\n",
            &[("puts $A", 1), ("$A.nil?", 1), ("has_many $A", 1), ("$A.to_s", 1), ("x = $A", 1)],
        ),
        (
            "a.lua",
            "local m = require('m')\nfunction f(a)\n  print(a)\n  if a == nil then return m.g(a) end\n  for i, v in ipairs(a) do m.h(v) end\nend\n",
            &[
                ("print($A)", 1),
                ("require($A)", 1),
                ("m.g($A)", 1),
                ("ipairs($A)", 1),
                ("local $X = $V", 1),
            ],
        ),
        (
            "a.ex",
            "defmodule A do\n  use B\n  def f(a) do\n    IO.puts(a)\n    Enum.map(a, &g/1)\n    raise \"x\"\n  end\nend\n",
            &[
                ("IO.puts($A)", 1),
                ("Enum.map($A, $B)", 1),
                ("use $A", 1),
                ("raise $A", 1),
                ("def f($A) do $$$ end", 1),
            ],
        ),
        (
            "a.sh",
            "set -e\nf() {\n  echo \"$1\"\n  if [ -z \"$x\" ]; then exit 1; fi\n  rm -rf build\n}\n",
            &[("echo $A", 1), ("exit 1", 1), ("rm -rf $A", 1), ("set -e", 1), ("exit $A", 1)],
        ),
        (
            "a.zig",
            "const std = @import(\"std\");\nfn f(a: u8) void {\n    const x = g(a);\n    std.debug.print(\"a\", .{x});\n    return x;\n}\n",
            &[
                ("@import($A)", 1),
                ("g($A)", 1),
                ("const $X = $V;", 2),
                ("std.debug.print($$$)", 1),
                ("return $A;", 1),
            ],
        ),
        (
            "a.r",
            "f <- function(a) {\n  print(a)\n  library(dplyr)\n  x <- mean(a)\n  return(x)\n}\n",
            &[
                ("print($A)", 1),
                ("library($A)", 1),
                ("$X <- mean($A)", 1),
                ("return($A)", 1),
                ("mean($A)", 1),
            ],
        ),
        (
            "a.jl",
            "function f(a)\n    println(a)\n    x = push!(a, 1)\n    return x\nend\nusing Base\n",
            &[
                ("println($A)", 1),
                ("push!($A, $B)", 1),
                ("return $A", 1),
                ("x = $A", 1),
                ("using $A", 1),
            ],
        ),
        (
            "a.hs",
            "module A where\nf a = do\n  putStrLn a\n  g (h a)\n",
            &[("putStrLn $A", 1), ("h $A", 1)],
        ),
        (
            "a.ml",
            "let f a =\n  print_endline a;\n  List.map g a\n",
            &[("print_endline $A", 1), ("List.map $A $B", 1)],
        ),
    ];

    #[test]
    fn ordinary_code_is_found_by_its_pattern() {
        let mut wrong = Vec::new();
        for (file, text, patterns) in EVERYDAY {
            for (pattern, n) in *patterns {
                match find(file, pattern, text) {
                    Ok(found) if found.len() == *n => {}
                    found => wrong.push(format!("{file} `{pattern}`: {n} expected, {found:?}")),
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_pattern_of_rubbish_is_refused() {
        for (file, pattern) in [
            ("a.go", "func ((("),
            ("a.rs", "$A.unwrap("),
            ("a.py", "def def"),
            ("a.c", "if ("),
            ("a.ts", "}{"),
            ("a.java", "class {"),
        ] {
            let e = find(file, pattern, "").unwrap_err().to_string();
            assert!(e.contains("is not a valid"), "{pattern}: {e}");
        }
    }

    #[test]
    fn garbage_holds_nobody_up() {
        let garbage = "f(x) {[(\"".repeat(50_000);
        assert!(find("a.rs", "f(x)", &garbage).is_ok());
    }

    #[test]
    fn words_of_a_pattern_are_those_that_are_no_variables() {
        assert_eq!(
            words("let $A = foo_bar($$$B, 1)").into_iter().collect::<Vec<_>>(),
            ["1", "foo_bar", "let"]
        );
    }
}
