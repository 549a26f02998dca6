//! The sources of dependencies are indexed once for a user, and read as those of the version that the
//! project uses.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::project::{Output, Project, run};

const TYPES: &str =
    "/** Heats water until it boils. */\nexport declare function boil(cups: number): number;\n";

/// Creates a project with one package of npm, whose author would like to decide what is read of it.
fn with_kettle() -> Project {
    let p = Project::with(&[
        ("package.json", r#"{"dependencies": {"kettle": "^1.0.0"}}"#),
        (
            "package-lock.json",
            r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"kettle": "^1.0.0"}}, "node_modules/kettle": {"version": "1.0.0"}}}"#,
        ),
        (".gitignore", "node_modules/\ndist/\n"),
        ("src/tea.js", "import { boil } from 'kettle';\nboil(2);\n"),
        (
            "node_modules/kettle/package.json",
            r#"{"name": "kettle", "version": "1.0.0", "description": "Water heater"}"#,
        ),
        ("node_modules/kettle/index.d.ts", TYPES),
        (
            "node_modules/kettle/dist/kettle.js",
            "exports.boil = function boil(cups) { return cups * 90; };\n",
        ),
        ("node_modules/kettle/tests/kettle.js", "boil(0);\n"),
        ("node_modules/kettle/lib/Tests/Kettle.js", "boil(1);\n"),
        ("node_modules/kettle/.gitignore", "*\n"),
        ("node_modules/kettle/.cortex/config.toml", "[index]\nexclude = [\"**\"]\n"),
        ("node_modules/kettle/.env", "TOKEN=1\n"),
        ("outside.txt", "not of the package\n"),
    ]);
    symlink("../../outside.txt", p.path("node_modules/kettle/linked.txt")).unwrap();
    p.git(&["init", "-q"]);
    p
}

/// Runs a command of the user `of` in a project.
fn cortex(of: &Project, p: &Project, args: &[&str]) -> Output {
    let mut command: Command = p.cortex(args);
    command.env("XDG_CACHE_HOME", of.home().join(".cache"));
    run(&mut command)
}

fn index(of: &Project, p: &Project) -> Value {
    let out = cortex(of, p, &["deps", "index", "--json"]).expect(0);
    serde_json::from_str(&out.stdout).unwrap()
}

#[test]
fn a_package_is_indexed_once_and_read_but_nothing_outside_of_it() {
    let p = with_kettle();
    let excluded = p.read(".git/info/exclude");
    let first = index(&p, &p);
    let package = &first["packages"][0];
    assert_eq!((&first["n_new"], &package["package"]), (&1.into(), &"kettle@1.0.0".into()));
    // The manifest, the types and the code; neither tests nor what is hidden.
    assert_eq!(package["n_files"], 3, "{package}");
    assert_eq!(index(&p, &p)["n_new"], 0);
    assert_eq!(p.read(".git/info/exclude"), excluded);

    let read = |address: &str| cortex(&p, &p, &["read", address, "--json"]);
    let found: Value =
        serde_json::from_str(&read("kettle@1.0.0/index.d.ts:2").expect(0).stdout).unwrap();
    assert_eq!(found["path"], "kettle@1.0.0/index.d.ts");
    assert_eq!(found["content"], TYPES.lines().nth(1).unwrap());
    let outline = cortex(&p, &p, &["outline", "kettle@1.0.0"]).expect(0).stdout;
    assert!(outline.contains("kettle@1.0.0/dist/kettle.js"), "{outline}");
    for (address, why) in [
        ("kettle@1.0.0/../../outside.txt", "leads out"),
        ("kettle@1.0.0/linked.txt", "not in the index"),
        ("kettle@1.0.0/.env", "not in the index"),
        ("kettle@2.0.0/index.d.ts", "this project uses kettle 1.0.0"),
        ("cup@1.0.0/index.d.ts", "not in the index"),
    ] {
        let error = read(address).error();
        assert!(error.contains(why), "{address}: {error}");
    }
}

#[test]
fn each_project_reads_its_own_package_also_after_an_install() {
    let (p, other) = (with_kettle(), with_kettle());
    other.write("node_modules/kettle/index.d.ts", "export declare function poison(): void;\n");
    assert_eq!((&index(&p, &p)["n_new"], &index(&p, &other)["n_new"]), (&1.into(), &1.into()));
    let outline =
        |of: &Project| cortex(&p, of, &["outline", "kettle@1.0.0/index.d.ts"]).expect(0).stdout;
    assert!(outline(&p).contains("boil") && !outline(&p).contains("poison"));
    assert!(outline(&other).contains("poison"));
    // A package manager removes the folder and makes a new one.
    fs::remove_dir_all(p.path("node_modules/kettle")).unwrap();
    p.write("node_modules/kettle/package.json", r#"{"name": "kettle", "version": "1.0.0"}"#);
    p.write("node_modules/kettle/index.d.ts", "export declare function descale(): void;\n");
    assert!(outline(&p).contains("descale"));
    assert_eq!(index(&p, &p)["packages"][0]["n_files"], 2);
}

#[test]
fn a_package_is_asked_by_its_name_and_removed_when_nobody_uses_it() {
    let p = with_kettle();
    let search = |repo: &str| cortex(&p, &p, &["search", "boil water", "--repo", repo, "--json"]);
    for repo in ["kettle", "kettle@1.0.0", "npm:kettle"] {
        let found: Value = serde_json::from_str(&search(repo).expect(0).stdout).unwrap();
        let paths: Vec<&str> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|r| r["path"].as_str())
            .collect();
        assert!(paths.contains(&"kettle@1.0.0/index.d.ts"), "{repo}: {paths:?}");
        assert!(paths.iter().all(|path| path.starts_with("kettle@1.0.0/")), "{repo}: {paths:?}");
        cortex(&p, &p, &["read", paths[0]]).expect(0);
    }
    assert!(search("teapot").error().contains("no project is called `teapot`"));
    // So do the commands that read.
    let ask = |args: &[&str]| cortex(&p, &p, args);
    for repo in ["kettle", "kettle@1.0.0", "npm:kettle"] {
        let read = ask(&["read", "index.d.ts:2", "--repo", repo, "--json"]).expect(0).stdout;
        let read: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(read["content"], TYPES.lines().nth(1).unwrap(), "{repo}");
        let lines = ask(&["grep", "boil", "--repo", repo, "-l"]).expect(0).stdout;
        assert!(lines.contains("index.d.ts\n") && !lines.contains("tea.js"), "{repo}: {lines}");
    }
    let unknown = ask(&["read", "index.d.ts", "--repo", "teapot"]).error();
    assert!(unknown.contains("no project is called `teapot`"), "{unknown}");
    // The sources of a package stay as they are.
    ask(&["graph", "rename", "boil", "cook", "--apply", "--repo", "kettle"]);
    assert_eq!(p.read("node_modules/kettle/index.d.ts"), TYPES);
    let clean = |days: &str| cortex(&p, &p, &["deps", "clean", "--unused", days]).expect(0).stdout;
    assert!(clean("1").starts_with("0 packages removed"), "it was used just now");
    assert!(clean("0").starts_with("1 package removed"));
    assert_eq!(index(&p, &p)["n_new"], 1);
}

/// Asks what a symbol calls. Returns the names that packages define, with package and address.
fn outside(p: &Project, symbol: &str) -> Vec<(String, String, Option<String>)> {
    let mut command = p.cortex(&["graph", "callees", symbol, "--json"]);
    command.env("XDG_CACHE_HOME", p.home().join(".cache"));
    command.env("CARGO_HOME", p.home().join(".cargo"));
    let answer: Value = serde_json::from_str(&run(&mut command).expect(0).stdout).unwrap();
    let text = |value: &Value| value.as_str().map(String::from);
    let row = |row: &Value| {
        (text(&row["name"]).unwrap(), text(&row["package"]).unwrap(), text(&row["address"]))
    };
    answer["outside"].as_array().map(|rows| rows.iter().map(row).collect()).unwrap_or_default()
}

#[test]
fn a_call_leads_to_the_definition_in_the_package_that_the_file_imports() {
    let p = with_kettle();
    let lock = r#"{"lockfileVersion": 3, "packages": {
        "": {"dependencies": {"kettle": "^1.0.0", "@tea/pot": "2.0.0", "a;\u001b[2Jb": "1.0.0", "b;id": "1.0.0"}},
        "node_modules/kettle": {"version": "1.0.0"},
        "node_modules/@tea/pot": {"version": "2.0.0"},
        "node_modules/events": {"version": "3.0.0"},
        "node_modules/b;id": {"version": "1.0.0"},
        "node_modules/a;\u001b[2Jb": {"version": "1.0.0"}}}"#;
    p.write("package-lock.json", lock);
    p.write("node_modules/@tea/pot/package.json", r#"{"name": "@tea/pot", "version": "2.0.0"}"#);
    p.write(
        "node_modules/@tea/pot/lib/pot.js",
        "// A pot.\nexport function boil(pot) { return pot; }\nexport class Pot {\n  fill() {}\n}\n",
    );
    p.write("node_modules/b;id/package.json", r#"{"name": "b;id", "version": "1.0.0"}"#);
    p.write("node_modules/b;id/main.js", "export function steep() {}\n");
    p.write(
        "src/tea.js",
        "import { steep } from 'b;id';\nimport { boil } from 'kettle';\nimport * as pot from '@tea/pot/lib/pot';\nimport { Pot as P } from '@tea/pot';\nimport { once } from 'events';\nimport evil from 'a;\u{1b}[2Jb';\n\nexport function tea(x) {\n  boil(2);\n  pot.boil(3);\n  const p = new P();\n  p.fill();\n  once(x);\n  x.boil();\n  evil();\n  steep();\n}\n",
    );
    let names = |rows: Vec<(String, String, Option<String>)>| -> Vec<(String, String)> {
        rows.into_iter()
            .map(|(name, package, address)| (name, address.unwrap_or(package)))
            .collect()
    };
    let pair = |name: &str, at: &str| (name.to_string(), at.to_string());
    // Without an index, the package is known. `events` is a module of Node.
    let before = names(outside(&p, "tea"));
    assert!(before.contains(&pair("boil", "kettle@1.0.0")), "{before:?}");
    assert!(before.contains(&pair("boil", "@tea/pot@2.0.0")), "{before:?}");
    assert!(!before.iter().any(|(name, _)| name == "once"), "{before:?}");
    let text = cortex(&p, &p, &["graph", "callees", "tea"]).expect(0);
    let said = format!("{}{}", text.stdout, text.stderr);
    // The command that is advised has no name that a shell would read as a command.
    assert!(said.contains("`cortex deps index`"), "{said}");
    assert!(said.contains("a;\\u{1b}[2Jb@1.0.0"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");

    index(&p, &p);
    let after = names(outside(&p, "tea"));
    let boil = "kettle@1.0.0/index.d.ts:1-2";
    assert!(after.contains(&pair("boil", boil)), "{after:?}");
    assert!(after.contains(&pair("boil", "@tea/pot@2.0.0/lib/pot.js:1-2")), "{after:?}");
    assert!(after.contains(&pair("fill", "@tea/pot@2.0.0/lib/pot.js:4-4")), "{after:?}");
    assert!(after.contains(&pair("steep", "b;id@1.0.0/main.js:1-1")), "{after:?}");
    // A value of unknown type is of no package.
    assert_eq!(after.iter().filter(|(name, _)| name == "boil").count(), 2, "{after:?}");
    assert!(cortex(&p, &p, &["read", boil]).expect(0).stdout.contains("Heats water"));
}

/// The lock file of Composer says which namespaces a package has. One may be inside of another one's,
/// and two packages may share one.
#[test]
fn a_class_of_php_leads_to_the_package_of_its_namespace() {
    let lock = r#"{"packages": [
        {"name": "tea/pot", "version": "1.0.0", "autoload": {"psr-4": {"Tea\\": "src/"}}},
        {"name": "tea/cups", "version": "1.0.0", "autoload": {"psr-4": {"Tea\\Cups\\": "src/"}}},
        {"name": "tea/saucers", "version": "1.0.0", "autoload": {"psr-4": {"Tea\\Cups\\": "src/"}}},
        {"name": "all/names", "version": "1.0.0", "autoload": {"psr-4": {"": "src/"}}}]}"#;
    let p = Project::with(&[
        (".gitignore", "vendor/\n"),
        ("composer.json", r#"{"require": {"tea/pot": "1"}}"#),
        ("composer.lock", lock),
        (
            "src/Table.php",
            "<?php\nnamespace App;\n\nuse Tea\\Cups\\{Cup, Saucer as Plate};\nuse Tea\\Pot;\nuse Coffee\\Mill;\n\nclass Table {\n    function serve(Pot $pot) {\n        $pot->pour();\n        new Cup();\n        Plate::wash();\n        new Mill();\n    }\n}\n",
        ),
        (
            "vendor/tea/pot/src/Pot.php",
            "<?php\nnamespace Tea;\nclass Pot {\n    function pour() {}\n}\n",
        ),
        ("vendor/tea/pot/src/Cup.php", "<?php\nnamespace Tea;\nclass Cup {}\n"),
        ("vendor/tea/cups/src/Cup.php", "<?php\nnamespace Tea\\Cups;\nclass Cup {}\n"),
        (
            "vendor/tea/saucers/src/Saucer.php",
            "<?php\nnamespace Tea\\Cups;\nclass Saucer {\n    static function wash() {}\n}\n",
        ),
        ("vendor/all/names/src/Mill.php", "<?php\nclass Mill {}\n"),
    ]);
    p.git(&["init", "-q"]);
    index(&p, &p);
    let found = outside(&p, "serve");
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, _, at)| (&**name, at.as_deref().unwrap_or_default())).collect();
    assert_eq!(
        found,
        [
            ("pour", "tea/pot@1.0.0/src/Pot.php:4-4"),
            ("Cup", "tea/cups@1.0.0/src/Cup.php:3-3"),
            ("wash", "tea/saucers@1.0.0/src/Saucer.php:4-4"),
        ]
    );
}

#[test]
fn a_path_of_rust_leads_to_the_crate_also_to_a_part_of_it() {
    let source = "registry+https://example.com/index";
    let lock = format!(
        "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\"hot-water\"]\n\n[[package]]\nname = \"hot-water\"\nversion = \"1.2.0\"\nsource = \"{source}\"\n\n[[package]]\nname = \"hot-water_core\"\nversion = \"1.2.1\"\nsource = \"{source}\"\n"
    );
    let p = Project::with(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
        ("Cargo.lock", &lock),
        (
            "src/lib.rs",
            "use hot_water::Kettle;\n\npub fn tea(std: &str) {\n    let k = Kettle::new();\n    k.pour();\n    hot_water::cold::boil(3);\n    std.boil();\n    String::new();\n}\n",
        ),
    ]);
    let put = |path: &str, text: &str| {
        let path = p.home().join(".cargo/registry/src/example.com-1").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("hot-water-1.2.0/src/lib.rs", "pub fn boil() {}\npub use hot_water_core::*;\n");
    put("hot-water-1.2.0/src/cold.rs", "//! Cold.\npub fn boil(n: u8) {}\nfn hidden() {}\n");
    put(
        "hot-water_core-1.2.1/src/lib.rs",
        "pub struct Kettle;\nimpl Kettle {\n    pub fn new() -> Self { Kettle }\n    pub fn pour(&self) {}\n}\npub struct Cup;\nimpl Cup {\n    pub fn new() -> Self { Cup }\n    pub fn pour(&self) {}\n}\n",
    );
    let mut command = p.cortex(&["deps", "index", "--json"]);
    command.env("XDG_CACHE_HOME", p.home().join(".cache"));
    command.env("CARGO_HOME", p.home().join(".cargo"));
    run(&mut command).expect(0);
    let found: Vec<(String, String)> = outside(&p, "tea")
        .into_iter()
        .map(|(name, _, address)| (name, address.unwrap_or_default()))
        .collect();
    let wanted = [
        ("new", "hot-water_core@1.2.1/src/lib.rs:3-3"),
        ("pour", "hot-water_core@1.2.1/src/lib.rs:4-4"),
        ("boil", "hot-water@1.2.0/src/cold.rs:2-2"),
    ];
    assert_eq!(found, wanted.map(|(name, at)| (name.to_string(), at.to_string())));
}
