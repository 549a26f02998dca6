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
    let clean = |days: &str| cortex(&p, &p, &["deps", "clean", "--unused", days]).expect(0).stdout;
    assert!(clean("1").starts_with("0 packages removed"), "it was used just now");
    assert!(clean("0").starts_with("1 package removed"));
    assert_eq!(index(&p, &p)["n_new"], 1);
}
