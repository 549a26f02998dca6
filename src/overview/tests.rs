use std::collections::BTreeMap;

use super::*;

/// Asks about a repository with these files. Files of tests are not a part of its program.
fn with<T>(files: &[(&str, &str)], ask: impl Fn(&Tree) -> T) -> T {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let is_indexed = |path: &&str| extension(path) != "lock";
    let paths: Vec<&str> = files.keys().copied().filter(is_indexed).collect();
    ask(&Tree {
        paths: &paths,
        is_source: &|path| {
            !path.contains("test") && extension(path) != "md" && !file_name(path).starts_with("_a")
        },
        has: &|path| files.contains_key(path),
        read: &|path| files.get(path).map(|text| (*text).to_string()),
    })
}

fn lines(files: &[(&str, &str)]) -> Vec<String> {
    with(files, |tree| commands(tree, &packages(tree)))
        .into_iter()
        .map(|c| format!("{}: {}", c.from, c.run.join("; ")))
        .collect()
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
    let appeal = "# Pot\n\nPot lives from the money of its backers and of its many sponsors.\n\nTea is cooked by pots of every kind.\n";
    assert_eq!(
        about(&[("README.md", appeal)]),
        some("README.md", "Tea is cooked by pots of every kind.")
    );
    let later =
        "# Pot\n\nPot replaces your kettle with one of glass. Additionally, it provides a cup.\n";
    assert_eq!(
        about(&[("README.md", later)]),
        some("README.md", "Pot replaces your kettle with one of glass.")
    );
}

#[test]
fn a_module_of_go_begins_in_the_file_with_its_name() {
    for (module, file) in [("example.com/pot", "pot.go"), ("example.com/pot/v2", "pot.go")] {
        let manifest = format!("module {module}\n\ngo 1.22\n");
        let files = [("go.mod", &*manifest), (file, "package pot\n"), ("tea.go", "package pot\n")];
        let found = with(&files, |tree| entry_points(tree, &packages(tree), &[]));
        let rows: Vec<(&str, &str)> = found.iter().map(|e| (&*e.path, &*e.what)).collect();
        assert_eq!(rows, [("pot.go", "library")], "{module}");
    }
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
    let two = "[package]\nname = 'pot'\n[[bin]]\nname = 'lid'\n[[bin]]\nname = 'x; y'\n";
    let runs = |manifest: &str| lines(&[("Cargo.toml", manifest), ("src/main.rs", "")]);
    assert_eq!(runs(two), ["Cargo.toml: cargo build; cargo test; cargo run --bin pot"]);
    assert_eq!(
        runs(&two.replace("'pot'", "'pot'\ndefault-run = 'lid'")),
        ["Cargo.toml: cargo build; cargo test; cargo run"]
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
    let found = with(&files, |tree| entry_points(tree, &packages(tree), &mains));
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
fn applications_begin_where_their_manifests_and_commands_say() {
    let package = |main: &str, script: &str, depends: &str| {
        format!(
            "{{\"main\":\"{main}\",\"scripts\":{{\"start\":\"{script}\"}},\"dependencies\":{{\"{depends}\":\"1\"}}}}"
        )
    };
    let (web, worker) =
        (package("index.js", "next start", "next"), package("", "tsx index.ts", "a"));
    let android = "<manifest><application android:name=\".App\" a=\"b\"><activity android:name=\".Other\"/>\n<activity\n android:name=\".ui.Main\"><category android:name=\"android.intent.category.LAUNCHER\"/></activity></application></manifest>";
    let files = [
        (
            "Dockerfile",
            "FROM a\nCMD [\"sh\", \"-c\", \"cd /data/apps/worker && exec tsx worker.ts --schema=/data/apps/web/pages/schema.ts\"]",
        ),
        ("Procfile", "jobs: python -m jobs.run\n"),
        ("apps/web/package.json", &web),
        ("apps/web/pages/_app.tsx", ""),
        ("apps/web/pages/index.tsx", ""),
        ("apps/web/pages/schema.ts", ""),
        ("apps/web/components/EditSheet.tsx", ""),
        ("apps/web/scripts/migration/v2.6.1/index.js", ""),
        ("apps/worker/package.json", &worker),
        ("apps/worker/index.ts", ""),
        ("apps/worker/worker.ts", ""),
        ("jobs/run.py", ""),
        ("phone/build.gradle.kts", "android { namespace = \"org.pot\" }"),
        ("phone/src/main/AndroidManifest.xml", android),
        ("phone/src/main/java/org/pot/App.kt", ""),
        ("phone/src/main/java/org/pot/ui/Main.kt", ""),
        ("server/build.gradle", "application { mainClass = 'org.srv.ServerKt' }"),
        ("server/src/main/kotlin/org/srv/Server.kt", ""),
    ];
    let mains = [
        ("apps/web/components/EditSheet.tsx".to_string(), 5),
        ("apps/web/scripts/migration/v2.6.1/index.js".to_string(), 7),
    ];
    let found = with(&files, |tree| entry_points(tree, &packages(tree), &mains));
    let rows: Vec<String> = found.iter().map(|e| format!("{} {}", e.path, e.what)).collect();
    assert_eq!(
        rows,
        [
            "jobs/run.py jobs",
            "apps/worker/worker.ts program",
            "phone/src/main/java/org/pot/App.kt Android application",
            "phone/src/main/java/org/pot/ui/Main.kt Android activity",
            "server/src/main/kotlin/org/srv/Server.kt program",
            "apps/web/pages/_app.tsx next application",
            "apps/worker/index.ts program",
        ]
    );
}

#[test]
fn numbered_files_of_a_directory_of_migrations_are_migrations() {
    for (path, want) in [
        ("db/migrate/20240101_add_tags.rb", true),
        ("shop/migrations/0001_initial.py", true),
        ("src/main/resources/db/migration/V2__tags.sql", true),
        ("scripts/migration/v2.6.1/index.js", true),
        ("django/db/migrations/executor.py", false),
        ("src/feature/migration/list/Screen.kt", false),
        ("src/2048/game.rs", false),
    ] {
        assert_eq!(is_migration(path), want, "{path}");
    }
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
    let found = with(&files, |tree| modules(tree, &packages(tree), &|_| 1.0));
    let rows: Vec<(&str, usize, &str)> =
        found.iter().map(|m| (&*m.path, m.files, &*m.about)).collect();
    assert_eq!(
        rows,
        [
            ("store/disk", 2, ""),
            ("web", 2, "Package web serves pages."),
            ("store", 1, "This keeps what the pages show, for ever."),
        ]
    );
}

/// Files, the path and the name of a test with its line and the lines of uses, and the command.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str, u32, &'a [u32], &'a str);

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_kind_of_project_runs_its_tests_by_name() {
    let run = |files: &[(&str, &str)], path: &str, symbol: &str, line: u32, sites: &[u32]| {
        with(files, |tree| {
            let is_function = line > 0;
            test_commands(tree, &[TestPlace { path, symbol, line, is_function, sites }]).run
        })
    };
    let spec = "describe 'a' do\n  it 'adds' do\n    add\n  end\nend\n";
    let vitest = "describe('sums', () => {\n  it('adds two', () => {\n    add();\n  });\n});\n";
    let both = r#"{"devDependencies": {"@playwright/test": "1", "vitest": "1"}}"#;
    let page = "import { test } from '@playwright/test';\ntest('opens', () => {\n  go();\n});\n";
    let rows: [Case; 23] = [
        (&[("go.mod", "")], "a_test.go", "TestA", 3, &[], "go test . -run '^TestA$'"),
        (&[("sub/go.mod", "")], "sub/p/a_test.go", "Suite.TestA", 3, &[], "go -C sub test ./p"),
        (
            &[("manage.py", "")],
            "app/tests.py",
            "T.test_a",
            3,
            &[],
            "python manage.py test app.tests.T.test_a",
        ),
        (
            &[("uv.lock", ""), ("pytest.ini", "")],
            "tests/test_a.py",
            "test_a",
            3,
            &[],
            "uv run pytest tests/test_a.py::test_a",
        ),
        (
            &[("crates/a/Cargo.toml", "[package]\nname = 'a-b'"), ("Cargo.toml", "")],
            "crates/a/src/x/mod.rs",
            "tests::y",
            3,
            &[],
            "cargo test -p a-b -- x::tests::y",
        ),
        (
            &[("gradlew", ""), ("core/build.gradle.kts", "")],
            "core/src/test/java/ATest.java",
            "ATest.adds",
            3,
            &[],
            "./gradlew :core:test --tests ATest.adds",
        ),
        (
            &[("pom.xml", "")],
            "src/test/java/AIT.java",
            "AIT.adds",
            3,
            &[],
            "mvn verify -Dit.test='AIT#adds'",
        ),
        (
            &[("composer.json", "")],
            "tests/ATest.php",
            "ATest::testA",
            3,
            &[],
            "vendor/bin/phpunit tests/ATest.php --filter '/::(testA)( |$)/'",
        ),
        (
            &[("mix.exs", "")],
            "test/a_test.exs",
            "ATest.adds two",
            7,
            &[],
            "mix test test/a_test.exs:7",
        ),
        (
            &[("Gemfile", ""), ("spec/a_spec.rb", spec)],
            "spec/a_spec.rb",
            "spec/a_spec.rb",
            0,
            &[3],
            "bundle exec rspec spec/a_spec.rb:2",
        ),
        (
            &[("web/package.json", "{\"jest\": 1}")],
            "web/a.test.ts",
            "web/a.test.ts",
            0,
            &[],
            "(cd web && npx jest a.test.ts)",
        ),
        (
            &[("pkg.csproj", "")],
            "tests/ATests.cs",
            "N.ATests.Adds",
            3,
            &[],
            "dotnet test --filter 'FullyQualifiedName~N.ATests.Adds'",
        ),
        (&[("Cargo.toml", "")], "tests/it/x.rs", "adds", 3, &[], "cargo test --test it -- x::adds"),
        (&[], "tests/test_a.py", "T.test_a", 3, &[], "python -m unittest tests.test_a.T.test_a"),
        (
            &[("package.json", both), ("web/package.json", "{}"), ("web/a.test.ts", vitest)],
            "web/a.test.ts",
            "web/a.test.ts",
            0,
            &[3],
            "npx vitest run web/a.test.ts -t 'adds two'",
        ),
        (
            &[("package.json", both), ("e2e/a.spec.ts", page)],
            "e2e/a.spec.ts",
            "e2e/a.spec.ts",
            0,
            &[3],
            "npx playwright test e2e/a.spec.ts -g 'opens'",
        ),
        (&[("package.json", "\"mocha\"")], "a.test.js", "a.test.js", 0, &[], "npx mocha a.test.js"),
        (
            &[("package.json", "{\"test\": \"node --test\"}")],
            "a.test.js",
            "a.test.js",
            0,
            &[],
            "node --test a.test.js",
        ),
        (
            &[("mvnw", ""), ("core/pom.xml", "")],
            "core/src/test/java/ATest.java",
            "ATest.adds",
            3,
            &[],
            "./mvnw test -pl core -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest='ATest#adds'",
        ),
        (
            &[("bin/rails", "")],
            "test/a_test.rb",
            "ATest.test_adds",
            3,
            &[],
            "bin/rails test test/a_test.rb:3",
        ),
        (
            &[],
            "test/a_test.rb",
            "ATest.test_adds",
            3,
            &[],
            "ruby -Ilib -Itest test/a_test.rb -n '/^(test_adds)$/'",
        ),
        (
            &[("composer.json", ""), ("tests/Pest.php", "")],
            "tests/ATest.php",
            "ATest::adds",
            3,
            &[],
            "vendor/bin/pest tests/ATest.php --filter '/::(adds)( |$)/'",
        ),
        (&[], "t/a.t", "t/a.t", 0, &[], "prove -l t/a.t"),
    ];
    for (files, path, symbol, line, sites, want) in rows {
        assert_eq!(run(files, path, symbol, line, sites), [want], "{path}");
    }
}

#[test]
fn a_list_that_nobody_pastes_becomes_the_command_for_all_tests() {
    let paths: Vec<String> = (0..200).map(|i| format!("tests/test_number_{i}.py")).collect();
    let whole = |path| TestPlace { path, symbol: path, line: 0, is_function: false, sites: &[] };
    let places: Vec<TestPlace> = paths.iter().map(|path| whole(path)).collect();
    let run = with(&[("pytest.ini", "")], |tree| test_commands(tree, &places).run);
    assert_eq!(run, ["pytest tests"]);
}

/// A command of thirty files is one that nobody reads, and three of them would be a wrong one.
#[test]
fn many_files_are_run_by_their_folders() {
    let run = |files: &[(&str, &str)], paths: &[String]| {
        let whole =
            |path| TestPlace { path, symbol: path, line: 0, is_function: false, sites: &[] };
        let places: Vec<TestPlace> = paths.iter().map(|path| whole(path)).collect();
        with(files, |tree| test_commands(tree, &places).run)
    };
    let within = |folders: &[&str]| -> Vec<String> {
        let files = |n: u32| folders.iter().map(move |folder| format!("{folder}test_{n}.py"));
        (0..5).flat_map(files).collect()
    };
    let pytest = [("pytest.ini", "")];
    let few = within(&["t/"]);
    assert_eq!(
        run(&pytest, &few),
        ["pytest t/test_0.py t/test_1.py t/test_2.py t/test_3.py t/test_4.py"]
    );
    let many = within(&["t/unit/", "t/unit/app/", "t/smoke/a b/", "t/integration/"]);
    assert_eq!(run(&pytest, &many), ["pytest 't/smoke/a b' t/integration t/unit"]);
    let root = within(&["", "t/unit/"]);
    assert_eq!(run(&pytest, &root), ["pytest"]);
    let paths: Vec<String> = (0..9).map(|n| format!("src/a{n}/x.test.ts")).collect();
    let vitest = [("package.json", "{\"devDependencies\": {\"vitest\": \"1\"}}")];
    assert_eq!(run(&vitest, &paths), ["npx vitest run src"]);
}

#[test]
fn each_example_has_one_entry_where_it_begins() {
    let files = [
        ("demo.py", ""),
        ("examples/chat/app/index.ts", "examples"),
        ("examples/chat/util.ts", "examples"),
        ("examples/common.h", "examples"),
        ("examples/one.c", "examples"),
        ("examples/stream/audio.c", "examples"),
        ("examples/stream/stream.c", "examples"),
    ];
    let files = files.map(|(path, folder)| (folder, path));
    let mains = [("examples/one.c".to_string(), 4), ("examples/stream/stream.c".to_string(), 9)];
    let found = example_programs(&files, &mains);
    let rows: Vec<(&str, Option<u32>)> = found.iter().map(|e| (&*e.path, e.line)).collect();
    assert_eq!(
        rows,
        [
            ("demo.py", None),
            ("examples/chat/app/index.ts", None),
            ("examples/one.c", Some(4)),
            ("examples/stream/stream.c", Some(9)),
        ]
    );
    assert!(found.iter().all(|entry| entry.what == "example"));
}

/// The modules with their words, the largest first, of a repository with these files.
fn parts(files: &[(&str, &str)]) -> Vec<String> {
    let weight = |path: &str| if path.contains("small") { 1.0 } else { 100.0 };
    let found = with(files, |tree| modules(tree, &packages(tree), &weight));
    found.iter().map(|module| format!("{}: {}", module.path, module.about)).collect()
}

/// Files, and the modules that they make.
type Workspace<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

#[test]
fn the_packages_of_each_kind_of_workspace_are_the_modules() {
    let rows: [Workspace; 10] = [
        (
            &[
                ("Cargo.toml", "[workspace]\nmembers = ['crates/*', '../out', 'crates/*']"),
                (
                    "crates/a/Cargo.toml",
                    "[package]\nname = 'a'\ndescription = 'Cooks all the tea. Slow.'",
                ),
                ("crates/a/src/lib.rs", ""),
                ("crates/small/Cargo.toml", "[package]\nname = 's'"),
                ("crates/small/src/lib.rs", "//! Keeps the tea warm.\n"),
                ("crates/fuzz/Cargo.toml", "[package]\nname = 'f'"),
                ("crates/fuzz/src/main.rs", ""),
            ],
            &["crates/a: Cooks all the tea.", "crates/small: Keeps the tea warm."],
        ),
        (
            &[
                ("package.json", r#"{"workspaces": ["packages/*"], "name": "all"}"#),
                ("packages/a/package.json", r#"{"name": "@x/a", "dependencies": {"@x/b": "1"}}"#),
                ("packages/a/src/index.ts", ""),
                ("packages/b/package.json", r#"{"name": "@x/b"}"#),
                ("packages/b/src/small.ts", ""),
                ("packages/broken/package.json", "{"),
            ],
            &["packages/a: ", "packages/b: used by one other package"],
        ),
        (
            &[
                ("go.work", "use ./a\nuse ./b"),
                ("a/go.mod", "module x/a"),
                ("a/a.go", "\n// Package a cooks tea.\npackage a\n"),
                ("b/go.mod", "module x/b"),
                ("b/small.go", "\n// Package b keeps it warm.\npackage b\n"),
            ],
            &["a: Package a cooks tea.", "b: Package b keeps it warm."],
        ),
        (
            &[
                ("pom.xml", "<modules><module>a</module><module>../..</module></modules>"),
                (
                    "a/pom.xml",
                    "<parent><artifactId>p</artifactId><description>no</description></parent>\n<artifactId>a</artifactId><description>Cooks tea &amp; milk.</description>",
                ),
                ("a/src/A.java", ""),
            ],
            &["a: Cooks tea & milk."],
        ),
        (
            &[
                ("settings.gradle", "include(\"a\")\ninclude 'b:c',\n  'gone'\nincludeBuild 'no'"),
                (
                    "a/build.gradle",
                    "description = 'Cooks tea for all'\ndependencies { api(project(\":b:c\")) }",
                ),
                ("a/src/A.java", ""),
                ("b/c/src/small.java", ""),
            ],
            &["a: Cooks tea for all", "b/c: used by one other package"],
        ),
        (
            &[
                ("All.sln", ""),
                (
                    "src/Host/Host.csproj",
                    r#"<Project Sdk="Microsoft.NET.Sdk.Web"><ProjectReference Include="..\Core\Core.csproj" />"#,
                ),
                ("src/Host/Program.cs", ""),
                (
                    "src/Core/Core.csproj",
                    "<Project><Description>\n Cooks\n all tea.</Description></Project>",
                ),
                ("src/Core/small.cs", ""),
            ],
            &["src/Host: web application", "src/Core: Cooks all tea."],
        ),
        (
            &[
                ("mix.exs", "apps_path: \"apps\""),
                ("apps/a/mix.exs", "  description: \"Cooks the tea\",\n  {:b, in_umbrella: true}"),
                ("apps/a/lib/a.ex", ""),
                ("apps/b/mix.exs", ""),
                ("apps/b/lib/small.ex", ""),
            ],
            &["apps/a: Cooks the tea", "apps/b: used by one other package"],
        ),
        (
            &[
                (
                    "a/a.gemspec",
                    "Gem::Specification.new do |s|\n  s.summary = \"Cooks tea with fire\"\nend",
                ),
                ("a/lib/a.rb", ""),
                ("b/b.gemspec", ""),
                ("b/lib/small.rb", ""),
            ],
            &["a: Cooks tea with fire", "b: "],
        ),
        (
            &[
                ("CMakeLists.txt", "project(all)\nadd_subdirectory(a)\nadd_subdirectory(.)"),
                ("a/CMakeLists.txt", "project(a DESCRIPTION \"Cooks the tea\")"),
                ("a/a.c", ""),
            ],
            &["a: Cooks the tea"],
        ),
        (
            &[
                (
                    "README.md",
                    "# All\n\n| name | what |\n|---|---|\n| [`a`](a) | ![x](y) | The core of [all](z). |\n- **b**: Keeping\n",
                ),
                ("a/pyproject.toml", "[project]\nname = 'a'"),
                ("a/a.py", ""),
                ("b/pyproject.toml", "[project]\nname = 'b'"),
                ("b/small.py", ""),
            ],
            &["a: The core of all.", "b: Keeping"],
        ),
    ];
    for (files, want) in rows {
        assert_eq!(parts(files), want, "{:?}", files[0]);
    }
}

#[test]
fn a_folder_that_the_root_does_not_build_tells_its_commands() {
    let found = |files: &[(&str, &str)]| -> Vec<String> {
        let of = with(files, |tree| commands(tree, &packages(tree)));
        of.into_iter().map(|c| format!("{}|{}|{}", c.folder, c.from, c.run.join("; "))).collect()
    };
    let scripts = r#"{"name": "web", "scripts": {"dev": "vite", "test": "vitest"}}"#;
    assert_eq!(
        found(&[
            ("go.mod", "module pot"),
            ("cmd/pot/main.go", ""),
            ("web/package.json", scripts),
            ("web/pnpm-lock.yaml", ""),
            ("web/src/main.ts", ""),
        ]),
        [
            "|go.mod|go build ./...; go test ./...; go run ./cmd/pot",
            "web|web/package.json|pnpm test; pnpm dev",
        ]
    );
    let host =
        r#"<Project Sdk="Aspire.AppHost.Sdk/9"><ProjectReference Include="..\Api\Api.csproj" />"#;
    assert_eq!(
        found(&[
            ("Pot.slnx", ""),
            ("src/Api/Api.csproj", r#"<Project Sdk="Microsoft.NET.Sdk.Web">"#),
            ("src/Api/Program.cs", ""),
            ("src/Host/Host.csproj", host),
            ("src/Host/Program.cs", ""),
        ]),
        ["|Pot.slnx|dotnet build; dotnet test; dotnet run --project src/Host"]
    );
    let member = ("crates/a/Cargo.toml", "[package]\nname = 'a'");
    assert_eq!(
        found(&[("Cargo.toml", "[workspace]"), member, ("crates/a/src/main.rs", "")]),
        ["|Cargo.toml|cargo build; cargo test"]
    );
}

#[test]
fn what_starts_most_others_is_the_first_entry_and_stubs_of_platforms_are_none() {
    let host =
        r#"<Project Sdk="Aspire.AppHost.Sdk/9"><ProjectReference Include="..\Api\Api.csproj" />"#;
    let files = [
        ("bin/kettle", ""),
        ("bin/other", ""),
        ("fuzz/main.go", ""),
        ("kettle.gemspec", "s.executables = [\"kettle\"]"),
        ("pot/lib/pot/web_app.ex", ""),
        ("pot/mix.exs", "mod: {Pot.WebApp, []}"),
        ("src/Api/Api.csproj", r#"<Project Sdk="Microsoft.NET.Sdk.Web">"#),
        ("src/Api/Program.cs", ""),
        ("src/Phone/MauiProgram.cs", ""),
        ("src/Phone/Phone.csproj", "<UseMaui>true</UseMaui>"),
        ("src/Phone/Platforms/Tizen/Main.cs", ""),
        ("src/ZHost/Program.cs", ""),
        ("src/ZHost/ZHost.csproj", host),
        ("tools/gen/main.go", ""),
        ("vendor/x/main.go", ""),
        ("zoo/src/main/java/org/bench/Pot.java", ""),
    ];
    let is_main = |path: &&str| {
        path.ends_with("main.go") || path.contains("Tizen") || path.ends_with("Pot.java")
    };
    let mains = files.iter().map(|(path, _)| *path).filter(is_main);
    let mains: Vec<(String, u32)> = mains.map(|path| (path.to_string(), 3)).collect();
    let found = with(&files, |tree| entry_points(tree, &packages(tree), &mains));
    let rows: Vec<String> = found.iter().map(|e| format!("{} {}", e.path, e.what)).collect();
    assert_eq!(
        rows,
        [
            "src/ZHost/Program.cs ZHost, Aspire host that starts the others",
            "bin/kettle kettle",
            "pot/lib/pot/web_app.ex application",
            "src/Api/Program.cs Api, web application",
            "src/Phone/MauiProgram.cs Phone, MAUI application",
            "zoo/src/main/java/org/bench/Pot.java program",
            "tools/gen/main.go program",
        ]
    );
}

#[test]
fn a_hostile_manifest_ends() {
    let deep = "[".repeat(100_000);
    let files = [
        ("package.json", &*deep),
        ("Cargo.toml", "[package]\nname = 'a'\ndescription = \"a \\u001b[31m b c\""),
        ("a/pom.xml", "<artifactId><artifactId><description><dependencies>"),
        (
            "a/a.csproj",
            "<Description></Description><ProjectReference<ProjectReference Include=\"\"",
        ),
        ("a/settings.gradle", "include(\n\"\ninclude '../../..', ':::'"),
        ("a/a.java", ""),
        ("README.md", "- `\n| [\n- [a](\n- a: [b\n<p <a <h2\n"),
    ];
    with(&files, |tree| {
        let found = modules(tree, &packages(tree), &|_| 1.0);
        assert!(found.iter().all(|module| module.path == "a"));
        assert!(entry_points(tree, &packages(tree), &[]).is_empty());
        assert!(commands(tree, &packages(tree)).iter().all(|of| of.run.len() < 10));
        assert!(about(tree, ["a"]).is_some());
    });
}
