use std::collections::BTreeMap;

use super::*;

/// Asks about a repository with these files. Files of tests are not a part of its program.
fn with<T>(files: &[(&str, &str)], ask: impl Fn(&Tree) -> T) -> T {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let is_indexed = |path: &&str| extension(path) != "lock";
    let paths: Vec<&str> = files.keys().copied().filter(is_indexed).collect();
    ask(&Tree {
        paths: &paths,
        is_source: &|path| !path.contains("test") && extension(path) != "md",
        has: &|path| files.contains_key(path),
        read: &|path| files.get(path).map(|text| (*text).to_string()),
    })
}

fn lines(files: &[(&str, &str)]) -> Vec<String> {
    with(files, commands).into_iter().map(|c| format!("{}: {}", c.from, c.run.join("; "))).collect()
}

#[test]
fn the_description_comes_from_readme_manifest_or_main_directory() {
    let about = |files: &[(&str, &str)]| {
        with(files, |tree| about(tree, ["core"])).map(|a| (a.from, a.text))
    };
    let some = |from: &str, text: &str| Some((from.to_string(), text.to_string()));
    let readme = "# Pot\n\nInstall it with your package manager, which is called so.\n\nPot is a tool that cooks tea.\n";
    assert_eq!(about(&[("README.md", readme)]), some("README.md", "Pot is a tool that cooks tea."));
    let install = "# Pot\n\nInstall it with your package manager, please and thanks.\n";
    let cargo = "[package]\nname = 'pot'\ndescription = 'Cooks all the tea'\n";
    assert_eq!(
        about(&[("README.md", install), ("Cargo.toml", cargo)]),
        some("Cargo.toml", "Cooks all the tea")
    );
    assert_eq!(
        about(&[("README.md", install), ("core/Cargo.toml", cargo)]),
        some("core/Cargo.toml", "Cooks all the tea")
    );
    assert_eq!(
        about(&[("README.md", install)]),
        some("README.md", "Install it with your package manager, please and thanks.")
    );
    assert_eq!(about(&[("a.rs", "")]), None);
}

#[test]
fn commands_come_from_manifests_make_files_and_ci() {
    assert_eq!(
        lines(&[
            ("Cargo.toml", "[package]\nname = 'pot'\n"),
            ("src/main.rs", ""),
            ("Makefile", "CC := gcc\n.PHONY: test\ntest: all\n\tcargo test\nlint:\n\tx\n"),
            (
                ".github/workflows/ci.yml",
                "on: push\njobs:\n  a:\n    steps:\n      - run: cargo build --release\n      - run: |\n          cargo test --all\n          cargo publish test\n      - run: cargo test ${{ matrix.x }}\n"
            ),
        ]),
        [
            "Cargo.toml: cargo build; cargo test; cargo run",
            "Makefile: make test; make lint",
            ".github/workflows/ci.yml: cargo test --all; cargo build --release",
        ]
    );
    assert_eq!(
        lines(&[
            ("package.json", r#"{"scripts": {"test": "x", "release": "y", "build": "z"}}"#),
            ("yarn.lock", ""),
        ]),
        ["package.json: yarn build; yarn test"]
    );
    assert_eq!(
        lines(&[
            ("pyproject.toml", "[project]\nname = 'pot'\n[tool.pytest.ini_options]\n"),
            ("uv.lock", ""),
        ]),
        ["pyproject.toml: uv sync; uv run pytest"]
    );
    // One tool is told once, and a manifest that is not valid tells nothing.
    assert_eq!(
        lines(&[("gradlew", ""), ("build.gradle", ""), ("package.json", "{")]),
        ["gradlew: ./gradlew build; ./gradlew test"]
    );
    assert!(lines(&[("a.c", "")]).is_empty());
}

#[test]
fn entries_are_named_by_manifests_or_at_usual_places() {
    let files = [
        ("pyproject.toml", "[project.scripts]\npot = 'pot.cli:main'\n"),
        ("src/pot/__init__.py", ""),
        ("src/pot/cli.py", ""),
        ("src/pot/deep/__init__.py", ""),
        ("tool/main.go", ""),
        ("tests/main.c", ""),
    ];
    let mains = [
        ("src/pot/cli.py".to_string(), 7),
        ("tool/main.go".to_string(), 3),
        ("tests/main.c".to_string(), 1),
    ];
    let found = with(&files, |tree| entries(tree, &mains));
    let rows: Vec<(&str, Option<u32>, &str)> =
        found.iter().map(|e| (&*e.path, e.line, &*e.what)).collect();
    assert_eq!(
        rows,
        [
            ("src/pot/cli.py", Some(7), "pot"),
            ("tool/main.go", Some(3), "program"),
            ("src/pot/__init__.py", None, "library"),
        ]
    );
}

#[test]
fn modules_are_the_main_directories_with_their_own_words() {
    let files = [
        ("main.go", ""),
        ("web/web.go", "// Copyright us.\n\n// Package web serves pages. And more.\npackage web\n"),
        ("web/a.go", "package web\n"),
        ("store/README.md", "# Store\n\nThis keeps what the pages show, for ever.\n"),
        ("store/a.go", "package store\n"),
        ("store/disk/disk.go", "package disk\n"),
        ("store/disk/b.go", "package disk\n"),
        ("tests/a.go", ""),
    ];
    let found = with(&files, |tree| modules(tree, &|_| 1.0));
    let rows: Vec<(&str, usize, &str)> =
        found.iter().map(|m| (&*m.path, m.files, &*m.about)).collect();
    assert_eq!(
        rows,
        [
            ("store", 1, "This keeps what the pages show, for ever."),
            ("store/disk", 2, ""),
            ("web", 2, "Package web serves pages."),
        ]
    );
}
