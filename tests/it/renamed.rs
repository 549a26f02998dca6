//! In each language a rename changes the symbol and all its uses, and nothing else of that name. The
//! code still compiles, and the rename back leaves every file as it was.

use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::process::Command;

use crate::project::Project;

/// A project of one language, and what is renamed in it.
struct Case {
    language: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The target, its new name, and the target of the way back.
    renames: &'static [(&'static str, &'static str, &'static str)],
    /// Texts that must be in the files after all renames.
    after: &'static [&'static str],
    /// A command that compiles or runs the project: the program and its arguments.
    checked_by: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        language: "Rust: a module and a function share a name, a parameter hides it",
        files: &[
            ("Cargo.toml", "[package]\nname = \"deck\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (
                "src/lib.rs",
                "pub mod parse;\npub mod shape;\npub use parse::parse;\n\npub fn go(n: u32) -> u32 {\n    let parse_all = parse(n);\n    parse_all + parse::parse(1) + crate::parse::parse(2) + hidden(|n| n)\n}\n\nfn hidden(parse: impl Fn(u32) -> u32) -> u32 {\n    // parse is a parameter\n    parse(3)\n}\n\nfn bound(n: Option<u32>) -> u32 {\n    if let Some(parse) = n { parse } else { parse(4) }\n}\n\npub fn call() -> u32 {\n    bound(None) + shape::Shape::new(1).area()\n}\n",
            ),
            ("src/parse.rs", "pub fn parse(n: u32) -> u32 {\n    n + 1\n}\n"),
            (
                "src/shape.rs",
                "pub enum Kind {\n    Round,\n}\n\npub struct Shape {\n    area: u32,\n    pub kind: Kind,\n}\n\nimpl Shape {\n    pub fn new(n: u32) -> Self {\n        Self { area: n, kind: Kind::Round }\n    }\n\n    pub fn area(&self) -> u32 {\n        self.area\n    }\n}\n",
            ),
        ],
        renames: &[
            ("src/parse.rs:1", "read_all", "src/parse.rs#read_all"),
            ("Shape", "Form", "Form"),
            ("Kind::Round", "Circle", "Kind::Circle"),
        ],
        after: &[
            "pub use parse::read_all;",
            "read_all(n);\n    parse_all + parse::read_all(1) + crate::parse::read_all(2)",
            "    parse(3)",
            "{ parse } else { read_all(4) }",
            "shape::Form::new(1)",
        ],
        checked_by: &[
            "rustc", "--edition=2021", "--crate-type=lib", "--emit=metadata", "src/lib.rs",
        ],
    },
    Case {
        language: "Python: a module and a function share a name, __all__, aliases, comprehensions",
        files: &[
            (
                "shop/retry.py",
                "__all__ = [\"retry\", \"Policy\"]\n\n\ndef retry(times):\n    \"\"\"retry it\"\"\"\n    return times\n\n\nclass Policy:\n    retry_count = 3\n\n    def run(self):\n        return retry(self.retry_count)\n",
            ),
            ("shop/__init__.py", "from .retry import retry, Policy\n\n__all__ = [\"retry\"]\n"),
            (
                "main.py",
                "import shop\nimport shop.retry as module\nfrom shop.retry import retry as again, Policy\nfrom shop import retry\n\n\ndef hidden(retry):\n    return retry(1)\n\n\ndef caught():\n    try:\n        return [retry for retry in [1]]\n    except ValueError as retry:\n        return retry\n\n\ndef typed(policy: \"Policy\", *, run=None):\n    return policy.run()\n\n\nprint(retry(1), again(2), shop.retry(3), hidden(retry), caught(), typed(Policy()))\n",
            ),
        ],
        renames: &[
            ("shop/retry.py:4", "try_again", "try_again"),
            ("Policy", "Rule", "Rule"),
            ("Rule.run", "start", "Rule.start"),
        ],
        after: &[
            "from .retry import try_again, Rule",
            "import shop.retry as module",
            "from shop.retry import try_again as again, Rule",
            "def hidden(retry):\n    return retry(1)",
            "[retry for retry in [1]]",
            "__all__ = [\"try_again\", \"Rule\"]",
            "policy: \"Rule\", *, run=None",
        ],
        checked_by: &["python3", "main.py"],
    },
    Case {
        language: "TypeScript with JSX: a default export, re-exports, tags",
        files: &[
            (
                "src/Card.tsx",
                "export interface Size { wide: number }\nexport default function Card({ wide }: Size) { return <div>{wide}</div>; }\nexport function Badge(p: Size) { return <span>{p.wide}</span>; }\nexport enum Level { Low, High }\n",
            ),
            (
                "src/index.ts",
                "export { default as Card, Badge } from \"./Card\";\nexport * from \"./Card\";\n",
            ),
            (
                "src/App.tsx",
                "import Card from \"./Card\";\nimport { Badge as B, Badge, Level } from \"./Card\";\nimport { Card as Other } from \".\";\nimport * as all from \"./Card\";\n\nexport const App = () => <Card wide={1}><Badge wide={2}></Badge><B wide={Level.Low} /><all.Badge wide={3} /><Other wide={2} /></Card>;\nexport function hidden(Badge: () => number, { Level }: { Level: number }) { return Badge() + Level; }\n",
            ),
            ("README.md", "# Card\n\n`Badge` and Card.\n"),
        ],
        renames: &[
            ("src/Card.tsx#Card", "Panel", "src/Card.tsx#Panel"),
            ("Badge", "Mark", "Mark"),
            ("Level", "Grade", "Grade"),
        ],
        after: &[
            "import Panel from \"./Card\"",
            "<Panel wide={1}><Mark wide={2}></Mark><B wide={Grade.Low} /><all.Mark wide={3} />",
            "hidden(Badge: () => number, { Level }: { Level: number }) { return Badge() + Level; }",
            "`Badge` and Card.",
        ],
        checked_by: &[],
    },
    Case {
        language: "JavaScript: CommonJS, a module with the name of its function",
        files: &[
            ("package.json", "{ \"name\": \"x\" }\n"),
            (
                "debounce.js",
                "function debounce(f) { return f; }\nfunction throttle(f) { return debounce(f); }\nmodule.exports = { debounce, throttle };\n",
            ),
            (
                "main.js",
                "const { debounce, throttle } = require(\"./debounce\");\nconst all = require(\"./debounce\");\nfunction hidden(debounce) { return debounce(1); }\nconsole.log(debounce(1), throttle(2), all.debounce(3), hidden((x) => x));\n",
            ),
        ],
        renames: &[("debounce.js:1", "wait", "debounce.js#wait")],
        after: &[
            "module.exports = { wait, throttle }",
            "const { wait, throttle } = require(\"./debounce\")",
            "function hidden(debounce) { return debounce(1); }",
            "console.log(wait(1), throttle(2), all.wait(3)",
        ],
        checked_by: &["node", "main.js"],
    },
    Case {
        language: "Go: a package and a function share a name",
        files: &[
            ("go.mod", "module example.com/g\n\ngo 1.20\n"),
            (
                "trace/trace.go",
                "package trace\n\n// trace is private.\nfunc trace() int { return 1 }\n\ntype Span struct{ Size int }\n\nfunc (s *Span) Total(n int) int { return s.Size + n }\n\nfunc Use() int { return trace() }\n",
            ),
            (
                "main.go",
                "package main\n\nimport \"example.com/g/trace\"\n\nfunc hidden(Span func() int) int { return Span() }\n\nfunc main() {\n\ts := trace.Span{Size: 1}\n\tprintln(\"Span\", trace.Use(), s.Total(2))\n}\n",
            ),
        ],
        renames: &[
            ("trace/trace.go:4", "follow", "trace/trace.go#follow"),
            ("Span", "Range", "Range"),
            ("Range.Total", "Sum", "Range.Sum"),
        ],
        after: &[
            "package trace",
            "trace.Use(), s.Sum(2)",
            "trace.Range{Size: 1}",
            "hidden(Span func() int) int { return Span() }",
            "\"Span\"",
        ],
        checked_by: &["go", "vet", "./..."],
    },
    Case {
        language: "Java",
        files: &[
            (
                "shop/Basket.java",
                "package shop;\n\nclass Basket {\n    final int size;\n    Basket(int size) { this.size = size; }\n    int total(int n) { return n + size; }\n    static Basket empty() { return new Basket(0); }\n}\n\nenum Level { LOW, HIGH }\n",
            ),
            (
                "shop/Main.java",
                "package shop;\n\nimport static shop.Basket.empty;\n\npublic class Main {\n    // Basket.total\n    static int total = 1;\n    public static void main(String[] args) {\n        Basket basket = new Basket(1);\n        int total = basket.total(2);\n        Level level = Level.LOW;\n        switch (level) { case LOW: System.out.println(\"Basket \" + total + empty().total(1)); break; default: }\n    }\n}\n",
            ),
        ],
        renames: &[
            ("Basket", "Crate", "Crate"),
            ("Crate.total", "sum", "Crate.sum"),
            ("Level.LOW", "SMALL", "Level.SMALL"),
        ],
        after: &[
            "import static shop.Crate.empty;",
            "int total = basket.sum(2);",
            "case SMALL: System.out.println(\"Basket \" + total + empty().sum(1))",
            "Crate(int size) {",
        ],
        checked_by: &["javac", "-d", "out", "shop/Basket.java", "shop/Main.java"],
    },
    Case {
        language: "C: a header with the name of its function",
        files: &[
            (
                "hash.h",
                "struct hash { int size; };\nint hash(int a);\n#define TWICE(x) (hash(x) + hash(x))\n",
            ),
            ("hash.c", "#include \"hash.h\"\n\n/* hash */\nint hash(int a) { return a; }\n"),
            (
                "main.c",
                "#include \"hash.h\"\n#include <stdio.h>\n\nstatic int apply(int (*hash)(int), int n) { return hash(n); }\n\nint main(void) {\n    struct hash h = { 1 };\n    printf(\"hash %d\\n\", hash(1) + apply(hash, 2) + apply(&hash, TWICE(3)) + h.size);\n    return 0;\n}\n",
            ),
        ],
        renames: &[("hash.c:4", "digest", "hash.c#digest")],
        after: &[
            "#include \"hash.h\"",
            "int (*hash)(int), int n) { return hash(n); }",
            "struct hash h = { 1 };",
            "digest(1) + apply(digest, 2) + apply(&digest, TWICE(3))",
            "(digest(x) + digest(x))",
        ],
        checked_by: &["cc", "-c", "-Wall", "-Werror", "-o", "main.o", "main.c"],
    },
    Case {
        language: "C++",
        files: &[
            (
                "card.hpp",
                "#pragma once\nnamespace util {\nstruct Card { int size; int total(int n) const { return n + size; } };\nint shout(int a);\n}\n",
            ),
            (
                "card.cpp",
                "#include \"card.hpp\"\nnamespace util {\nint shout(int a) { return a; }\n}\n",
            ),
            (
                "main.cpp",
                "#include \"card.hpp\"\n#include <cstdio>\n\nint apply(int (*shout)(int), int n) { return shout(n); }\n\nint main() {\n    util::Card card{1};\n    std::printf(\"shout %d %d\\n\", util::shout(1), card.total(2));\n    return apply(util::shout, 2) + apply(&util::shout, 3);\n}\n",
            ),
        ],
        renames: &[
            ("card.cpp:3", "yell", "card.cpp#yell"),
            ("Card::total", "sum", "Card::sum"),
            ("Card", "Panel", "Panel"),
        ],
        after: &[
            "int (*shout)(int), int n) { return shout(n); }",
            "card.sum(2)",
            "util::Panel card{1}",
        ],
        checked_by: &["g++", "-c", "-o", "main.o", "main.cpp"],
    },
    Case {
        language: "C#",
        files: &[
            (
                "Retry.cs",
                "using System;\n\nnamespace Shop.Trace\n{\n    public enum Level { Low, High }\n\n    public class RetryPolicy\n    {\n        public int Attempts { get; set; }\n        public int Total(int n) { return n + Attempts; }\n        public static RetryPolicy Default() { return new RetryPolicy { Attempts = 3 }; }\n    }\n}\n",
            ),
            (
                "Program.cs",
                "using Shop.Trace;\n\nnamespace Shop\n{\n    class Program\n    {\n        // RetryPolicy\n        static void Main(string[] args)\n        {\n            RetryPolicy policy = RetryPolicy.Default();\n            var other = new Shop.Trace.RetryPolicy();\n            System.Console.WriteLine($\"RetryPolicy {policy.Total(1)}\" + other.Total(2) + (int)Level.High);\n        }\n        static int Hidden(System.Func<int, int> Total) { return Total(1); }\n    }\n}\n",
            ),
        ],
        renames: &[
            ("RetryPolicy", "Rule", "Rule"),
            ("Rule.Total", "Sum", "Rule.Sum"),
            ("Level.High", "Top", "Level.Top"),
            ("Rule.Attempts", "Tries", "Rule.Tries"),
        ],
        after: &[
            "Rule policy = Rule.Default()",
            "new Shop.Trace.Rule()",
            "$\"RetryPolicy {policy.Sum(1)}\" + other.Sum(2) + (int)Level.Top",
            "new Rule { Tries = 3 }",
            "Total) { return Total(1); }",
        ],
        checked_by: &[],
    },
    Case {
        language: "PHP",
        files: &[
            (
                "src/Slugger.php",
                "<?php\nnamespace App\\Text;\n\nclass Slugger\n{\n    const LIMIT = 10;\n    private $slug = '';\n    public static function make(): Slugger { return new self(); }\n    public function slugify(string $text): string { return strtolower($text); }\n}\nfunction slugify_all(array $xs) { return array_map(fn($x) => (new Slugger())->slugify($x), $xs); }\n",
            ),
            (
                "main.php",
                "<?php\nrequire __DIR__ . '/src/Slugger.php';\nuse App\\Text\\Slugger;\nuse function App\\Text\\slugify_all;\n// Slugger\n$slugger = new Slugger();\necho $slugger->slugify(\"A\"), Slugger::LIMIT;\n$slugify = \"x\";\nprint_r(slugify_all([\"A\"]));\nprint_r(\\App\\Text\\slugify_all([\"A\"]));\necho Slugger::class, Slugger::make()->slugify(\"B\");\n",
            ),
        ],
        renames: &[
            ("Slugger", "Namer", "Namer"),
            ("slugify_all", "name_all", "name_all"),
            ("Namer.slugify", "rename_it", "Namer.rename_it"),
            ("Namer.LIMIT", "MOST", "Namer.MOST"),
        ],
        after: &[
            "use App\\Text\\Namer;",
            "use function App\\Text\\name_all;",
            "\\App\\Text\\name_all([\"A\"])",
            "$slugger->rename_it(\"A\"), Namer::MOST",
            "$slugify = \"x\"",
            "'/src/Slugger.php'",
        ],
        checked_by: &["php", "main.php"],
    },
    Case {
        language: "Ruby",
        files: &[
            (
                "lib/greet.rb",
                "module Shop\n  class Basket\n    attr_reader :items\n    def initialize(items)\n      @items = items\n    end\n\n    def double\n      items.sum * 2\n    end\n  end\nend\n\ndef greet(name)\n  \"greet #{name}\"\nend\n",
            ),
            (
                "main.rb",
                "require_relative \"lib/greet\"\nbasket = Shop::Basket.new([1, 2])\ndef hidden(greet)\n  greet\nend\nputs \"greet #{greet(1)} #{basket.double}\"\nputs Shop::Basket.name, hidden(1)\n[1].each { |greet| puts greet }\n",
            ),
        ],
        renames: &[
            ("lib/greet.rb:14", "welcome", "lib/greet.rb#welcome"),
            ("Basket", "Crate", "Crate"),
            ("Crate.double", "twice", "Crate.twice"),
        ],
        after: &[
            "require_relative \"lib/greet\"",
            "\"greet #{welcome(1)} #{basket.twice}\"",
            "def hidden(greet)\n  greet\nend",
            "{ |greet| puts greet }",
        ],
        checked_by: &["ruby", "main.rb"],
    },
    Case {
        language: "Kotlin",
        files: &[
            (
                "Card.kt",
                "package shop.card\n\ndata class Card(val size: Int) {\n    fun total(n: Int): Int = n + size\n}\n\nfun shout(s: String): String = s.uppercase()\nfun String.loud(): String = shout(this)\n",
            ),
            (
                "Main.kt",
                "package shop\n\nimport shop.card.Card\nimport shop.card.loud\nimport shop.card.shout\n\nfun outer(shout: (String) -> String): String = shout(\"x\")\nfun main() {\n    val total = Card(1).total(2)\n    println(\"shout ${shout(\"a\")} ${\"b\".loud()} $total\")\n    listOf(\"x\").map(::shout)\n    val c: Card = Card(size = 3)\n}\n",
            ),
        ],
        renames: &[
            ("Card", "Panel", "Panel"),
            ("Panel.total", "sum", "Panel.sum"),
            ("shout", "yell", "yell"),
            ("loud", "noisy", "noisy"),
        ],
        after: &[
            "import shop.card.yell",
            "outer(shout: (String) -> String): String = shout(\"x\")",
            "val total = Panel(1).sum(2)",
            "\"shout ${yell(\"a\")} ${\"b\".noisy()} $total\"",
            "map(::yell)",
        ],
        checked_by: &[],
    },
    Case {
        language: "Swift",
        files: &[
            (
                "Card.swift",
                "struct Card {\n    let size: Int\n    func total(_ n: Int) -> Int { return n + size }\n}\nenum Level { case low, high }\nfunc shout(_ s: String) -> String { return s.uppercased() }\nextension String { func loud() -> String { return shout(self) } }\n",
            ),
            (
                "main.swift",
                "func outer(shout: (String) -> String) -> String { return shout(\"x\") }\nlet card = Card(size: 1)\nlet level: Level = .low\nprint(\"shout \\(shout(\"a\")) \\(card.total(2)) \\(\"b\".loud())\")\nlet xs = [\"a\"].map(shout)\n",
            ),
        ],
        renames: &[
            ("Card", "Panel", "Panel"),
            ("Panel.total", "sum", "Panel.sum"),
            ("shout", "yell", "yell"),
            ("Level.low", "small", "Level.small"),
        ],
        after: &[
            "\"shout \\(yell(\"a\")) \\(card.sum(2))",
            "outer(shout: (String) -> String) -> String { return shout(\"x\") }",
            "map(yell)",
            "= .small",
        ],
        checked_by: &[],
    },
    Case {
        language: "Scala: a package and an object share a name",
        files: &[
            (
                "Trace.scala",
                "package shop.trace\n\nobject Trace {\n  def trace(n: Int): Int = n\n  def twice(n: Int): Int = trace(trace(n))\n}\ncase class Point(x: Int, y: Int) {\n  def norm: Int = x + y\n}\n",
            ),
            (
                "Main.scala",
                "package shop\n\nimport shop.trace.Trace\nimport shop.trace.{Point => P, _}\n\nobject Main {\n  def run(trace: Int => Int): Int = trace(1) + Trace.trace(2)\n  def main(args: Array[String]): Unit = println(s\"trace ${Trace.twice(3)} ${Point(1, 2).norm}\")\n}\n",
            ),
        ],
        renames: &[
            ("Trace", "Path", "Path"),
            ("Path.trace", "follow", "Path.follow"),
            ("Point", "Spot", "Spot"),
            ("Spot.norm", "length", "Spot.length"),
        ],
        after: &[
            "import shop.trace.Path",
            "def run(trace: Int => Int): Int = trace(1) + Path.follow(2)",
            "{Spot => P, _}",
            "s\"trace ${Path.twice(3)} ${Spot(1, 2).length}\"",
        ],
        checked_by: &[],
    },
    Case {
        language: "Dart: a file with the name of its class",
        files: &[
            (
                "lib/card.dart",
                "class Card {\n  final int width;\n  Card(this.width);\n  int total(int n) => n + width;\n}\nString shout(String s) => s.toUpperCase();\n",
            ),
            (
                "lib/use.dart",
                "import 'card.dart';\nimport 'package:app/card.dart' as c;\n\nint go(String Function(String) shout) {\n  final card = Card(1);\n  final other = c.Card(2);\n  return shout(\"x\").length + card.total(2) + other.total(3);\n}\n\nvoid main() {\n  print('Card ${shout(\"x\")} ${c.shout(\"y\")}');\n}\n",
            ),
        ],
        renames: &[
            ("Card", "Panel", "Panel"),
            ("Panel.total", "sum", "Panel.sum"),
            ("shout", "yell", "yell"),
        ],
        after: &[
            "import 'card.dart';",
            "go(String Function(String) shout)",
            "card.sum(2) + other.sum(3)",
            "'Card ${yell(\"x\")} ${c.yell(\"y\")}'",
            "c.Panel(2)",
        ],
        checked_by: &[],
    },
    Case {
        language: "Elixir: a module and a function share a name",
        files: &[
            (
                "lib/retry.ex",
                "defmodule Shop.Retry do\n  @doc \"retry it\"\n  def retry(n) when n > 0, do: retry(n - 1)\n  def retry(0), do: :done\n\n  def total(list), do: Enum.sum(list)\nend\n",
            ),
            (
                "lib/use.ex",
                "defmodule Shop.Use do\n  alias Shop.Retry\n  import Shop.Retry, only: [total: 1]\n\n  def go(retry) do\n    x = retry\n    Retry.retry(x)\n    Shop.Retry.retry(2)\n    [1, 2] |> total()\n    &Retry.retry/1\n  end\nend\n",
            ),
        ],
        renames: &[
            ("lib/retry.ex#Shop.Retry.retry", "again", "again"),
            ("total", "sum_all", "sum_all"),
        ],
        after: &[
            "only: [sum_all: 1]",
            "def go(retry) do\n    x = retry\n    Retry.again(x)\n    Shop.Retry.again(2)\n    [1, 2] |> sum_all()\n    &Retry.again/1",
        ],
        checked_by: &[],
    },
    Case {
        language: "Lua: a file with the name of its function",
        files: &[
            (
                "trace.lua",
                "local M = {}\nfunction M.trace(x) return x end\nlocal function helper(x) return M.trace(x) end\nfunction M.run() return helper(1) end\nreturn M\n",
            ),
            (
                "main.lua",
                "local trace = require(\"trace\")\nprint(trace.trace(1), trace.run())\nlocal function f(helper) return helper(2) end\n",
            ),
        ],
        renames: &[
            ("trace.lua:2", "follow", "trace.lua:2"),
            ("helper", "help_it", "help_it"),
            ("trace.lua:4", "go", "trace.lua:4"),
        ],
        after: &[
            "local trace = require(\"trace\")",
            "trace.follow(1), trace.go()",
            "f(helper) return helper(2)",
        ],
        checked_by: &["lua", "main.lua"],
    },
    Case {
        language: "bash: a file with the name of its function",
        files: &[
            ("deploy.sh", "#!/bin/bash\ndeploy() { echo \"deploy $1\"; }\n"),
            (
                "main.sh",
                "#!/bin/bash\nset -e\nsource ./deploy.sh\ndeploy=1\ndeploy one\nx=$(deploy two)\necho \"$deploy $(deploy three)\"\ntrap deploy EXIT\n",
            ),
        ],
        renames: &[("deploy.sh:2", "ship", "deploy.sh#ship")],
        after: &[
            "source ./deploy.sh\ndeploy=1\nship one\nx=$(ship two)\necho \"$deploy $(ship three)\"\ntrap ship EXIT",
            "echo \"deploy $1\"",
        ],
        checked_by: &["bash", "main.sh"],
    },
    Case {
        language: "SQL",
        files: &[
            (
                "a.sql",
                "CREATE FUNCTION order_total(n integer) RETURNS integer AS $$ SELECT n + 1; $$ LANGUAGE sql;\nCREATE VIEW v AS SELECT order_total(1) AS total;\n",
            ),
            ("b.sql", "-- order_total\nSELECT order_total(2), 'order_total';\n"),
        ],
        renames: &[("order_total", "order_sum", "order_sum")],
        after: &["-- order_total\nSELECT order_sum(2), 'order_total';"],
        checked_by: &[],
    },
];

fn texts(p: &Project, case: &Case) -> BTreeMap<&'static str, String> {
    case.files.iter().map(|(path, _)| (*path, p.read(path))).collect()
}

/// Compiles or runs a project. A machine need not have every compiler, not even that of CI.
fn check(p: &Project, case: &Case) {
    let Some((program, arguments)) = case.checked_by.split_first() else { return };
    match Command::new(program).args(arguments).current_dir(p.path("")).output() {
        Ok(out) => assert!(
            out.status.success(),
            "{}: {}{}",
            case.language,
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ),
        Err(e) => {
            let what = format!("SKIPPED: {} is not compiled: {program}: {e}\n", case.language);
            stderr().write_all(what.as_bytes()).unwrap();
        }
    }
}

#[test]
fn renamed_code_compiles_and_the_way_back_leaves_no_trace() {
    let mut failed: Vec<String> = Vec::new();
    for case in CASES {
        let p = Project::with(case.files);
        check(&p, case);
        let mut run = |target: &str, new: &str| {
            let done = p.run(&["graph", "rename", target, new, "--apply"]);
            if done.code != 0 {
                failed.push(format!("{}: {target} → {new}: {}", case.language, done.stderr));
            }
        };
        for (target, new, _) in case.renames {
            run(target, new);
        }
        let after: String = texts(&p, case).into_values().collect();
        let lost: Vec<&&str> = case.after.iter().filter(|text| !after.contains(**text)).collect();
        let before: BTreeMap<&str, String> =
            case.files.iter().map(|(path, text)| (*path, (*text).to_string())).collect();
        if lost.is_empty() {
            check(&p, case);
        }
        for (target, _, back) in case.renames.iter().rev() {
            let name = target.rsplit([':', '.', '#']).next().unwrap();
            let old = if name.parse::<u32>().is_ok() { old_name(case, target) } else { name };
            run(back, old);
        }
        if !lost.is_empty() {
            failed.push(format!("{}: without {lost:?}:\n{after}", case.language));
        }
        for (path, text) in texts(&p, case) {
            if text != before[path] {
                failed.push(format!("{}: {path} is not as before:\n{text}", case.language));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns the name that a place `path:line` of a case defines.
fn old_name(case: &Case, target: &str) -> &'static str {
    let (path, line) = target.rsplit_once(':').unwrap();
    let text = case.files.iter().find(|(of, _)| *of == path).unwrap().1;
    let line = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
    let head = line.split('(').next().unwrap();
    head.rsplit([' ', '.']).next().unwrap()
}

#[test]
fn a_rename_that_cannot_decide_a_place_names_it_and_changes_nothing() {
    for (files, target, new, place) in [
        // An import may mean the module or the function.
        (
            &[
                (
                    "Cargo.toml",
                    "[package]\nname = \"deck\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
                ),
                ("src/lib.rs", "pub mod parse;\npub mod other;\npub use parse::parse;\n"),
                ("src/parse.rs", "pub fn parse() {}\n"),
                ("src/other.rs", "use crate::parse as p;\npub fn go() {\n    p::parse();\n}\n"),
            ][..],
            "src/parse.rs:1",
            "read_all",
            "src/other.rs:1",
        ),
        // A key and its value at once.
        (
            &[
                ("a.ts", "export class Basket {}\n"),
                ("b.ts", "import { Basket } from \"./a\";\nexport const all = { Basket };\n"),
            ],
            "Basket",
            "Crate",
            "b.ts:2",
        ),
        // The object may be of another library.
        (
            &[
                ("a.py", "def retry(n):\n    return n\n"),
                (
                    "b.py",
                    "from celery import Task\n\nclass Job(Task):\n    def run(self):\n        return self.retry(3)\n",
                ),
            ],
            "a.py:1",
            "again",
            "b.py:5",
        ),
        // The code loads the module while it runs.
        (
            &[
                ("a.ts", "export function load(n: number) { return n; }\n"),
                (
                    "b.ts",
                    "export async function f() {\n  const { load } = await import(\"./a\");\n  return load(1);\n}\n",
                ),
            ],
            "load",
            "fetch_it",
            "b.ts:2",
        ),
        (
            &[
                ("a.ts", "export function load(n: number) { return n; }\n"),
                (
                    "b.ts",
                    "export async function f() {\n  const m = await import(\"./a\");\n  return m.load(1);\n}\n",
                ),
            ],
            "load",
            "fetch_it",
            "b.ts:3",
        ),
        // An attribute of C# has two names.
        (
            &[
                ("A.cs", "class RetryAttribute : System.Attribute { }\n"),
                ("B.cs", "[Retry]\nclass Job { }\n"),
            ],
            "RetryAttribute",
            "AgainAttribute",
            "B.cs:1",
        ),
    ] {
        let p = Project::with(files);
        let error = p.run(&["graph", "rename", target, new, "--apply"]).error();
        assert!(error.contains(place), "{target}: {error}");
        for (path, text) in files {
            assert_eq!(p.read(path), *text, "{target}");
        }
    }
}

#[test]
fn a_public_class_of_java_says_that_its_file_should_be_renamed() {
    let p = Project::with(&[("shop/Basket.java", "package shop;\npublic class Basket {\n}\n")]);
    let done = p.run(&["graph", "rename", "Basket", "Crate", "--apply"]);
    assert!(done.stderr.contains("rename it to shop/Crate.java"), "{}", done.stderr);
}

#[test]
fn what_keeps_the_name_is_listed() {
    let p = Project::with(&[
        ("retry.py", "# retry\ndef retry(n):\n    return \"retry\"\n"),
        ("main.py", "from retry import retry\n\ndef f(retry):\n    return retry\n"),
        ("main.go", "package main\n\nfunc retry() {}\n"),
    ]);
    let done = p.json(&["graph", "rename", "retry.py:2", "again", "--apply"]);
    let left: Vec<(&str, u64, &str)> = done["mentions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| {
            (m["path"].as_str().unwrap(), m["line"].as_u64().unwrap(), m["what"].as_str().unwrap())
        })
        .collect();
    let wanted = [
        ("main.py", 1, "the name of a module or a file"),
        ("main.py", 3, "a variable or a parameter"),
        ("main.py", 4, "a variable or a parameter"),
        ("retry.py", 1, "a comment"),
        ("retry.py", 3, "a string"),
        ("main.go", 3, "another language"),
    ];
    assert_eq!(left, wanted, "{done}");
    assert_eq!(done["total_mentions"], 6);
}
