use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use super::*;

/// A project and the home directory of its user.
struct TestProject(tempfile::TempDir);

impl TestProject {
    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.0.path().join("project")).unwrap();
        fs::create_dir(place.0.path().join("home")).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// Writes a file. `path` begins with `home/`, or is relative to the project.
    fn write(&self, path: &str, text: &str) {
        let path = self.full(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn full(&self, path: &str) -> std::path::PathBuf {
        let project = if path.starts_with("home/") { "" } else { "project" };
        self.0.path().join(project).join(path)
    }

    fn found(&self) -> (Vec<Dependency>, Vec<String>) {
        fn collect(root: &Path, path: &str, out: &mut Vec<String>) {
            for entry in fs::read_dir(root.join(path)).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let below = folder::join(path, &name);
                // The project does not own what a package manager installs.
                let is_installed = ["node_modules", ".venv", "vendor", "deps", ".build", ".yarn"];
                if is_installed.contains(&&*name) {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    collect(root, &below, out);
                } else {
                    out.push(below);
                }
            }
        }
        let (root, home) = (self.0.path().join("project"), self.0.path().join("home"));
        let mut files = Vec::new();
        collect(&root, "", &mut files);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let none = |_: &str| -> Option<OsString> { None };
        let machine = Machine { home: Some(&home), variable: &none };
        let work = WorkBudget::new(Arc::default());
        dependencies(&Dir::open(&root).unwrap(), &files, machine, work)
    }

    /// Returns one line for each dependency: `*` if it is direct, its name and version, and its
    /// place, relative to the project or its user.
    fn lines(&self) -> Vec<String> {
        let (found, warnings) = self.found();
        assert_eq!(warnings, Vec::<String>::new());
        let top = self.0.path();
        let relative = |path: &Path| path.strip_prefix(top).unwrap().display().to_string();
        let line = |d: &Dependency| {
            let mark = if d.is_direct { "*" } else { "" };
            let place = match (&d.root, &d.archive, &d.missing) {
                (Some(root), None, None) if d.parts.is_empty() => relative(root),
                (Some(root), None, None) => format!("{}: {}", relative(root), d.parts.join(" ")),
                (None, Some(archive), None) => relative(archive),
                (None, None, Some(why)) => why.split(':').next().unwrap().to_string(),
                _ => panic!("{d:?}"),
            };
            format!("{mark}{} {} {place}", d.name, d.version)
        };
        found.iter().map(line).collect()
    }
}

const CARGO: &str = r#"
version = 4
[[package]]
name = "own"
version = "0.1.0"
dependencies = ["a", "b 2.0.0", "gitted", "absent", "local"]
[[package]]
name = "local"
version = "0.1.0"
[[package]]
name = "a"
version = "1.0.0"
source = "registry+https://one.example/index"
dependencies = ["b 1.0.0"]
[[package]]
name = "b"
version = "1.0.0"
source = "registry+https://one.example/index"
[[package]]
name = "b"
version = "2.0.0"
source = "registry+https://two.example/index"
[[package]]
name = "absent"
version = "1.0.0"
source = "registry+https://one.example/index"
[[package]]
name = "gitted"
version = "0.3.0"
source = "git+https://git.example/them/Repo.git?branch=main#0123456789abcdef"
"#;

#[test]
fn cargo_finds_registries_checkouts_and_copies() {
    let place = TestProject::with(&[
        ("Cargo.toml", ""),
        ("Cargo.lock", CARGO),
        ("home/.cargo/registry/src/one.example-1/a-1.0.0/x", ""),
        ("home/.cargo/registry/src/one.example-1/b-2.0.0/x", ""),
        ("home/.cargo/registry/src/two.example-1/b-2.0.0/x", ""),
        ("vendor/b/Cargo.toml", "[package]\nname = \"b\"\nversion = \"1.0.0\""),
        ("home/.cargo/git/checkouts/repo-5/fedcba9/Cargo.toml", "[package]\nname = \"gitted\""),
        ("home/.cargo/git/checkouts/repo-5/0123456/Cargo.toml", "[workspace]"),
        (
            "home/.cargo/git/checkouts/repo-5/0123456/crates/g/Cargo.toml",
            "[package]\nname = \"gitted\"",
        ),
    ]);
    assert_eq!(
        place.lines(),
        [
            "*a 1.0.0 home/.cargo/registry/src/one.example-1/a-1.0.0",
            "*absent 1.0.0 not downloaded",
            "b 1.0.0 project/vendor/b",
            "*b 2.0.0 home/.cargo/registry/src/two.example-1/b-2.0.0",
            "*gitted 0.3.0 home/.cargo/git/checkouts/repo-5/0123456/crates/g",
        ]
    );
}

fn package(version: &str) -> String {
    format!("{{\"version\": \"{version}\"}}")
}

#[test]
fn npm_reads_all_its_formats() {
    let manifest = r#"{"dependencies": {"a": "^1.0.0"}, "devDependencies": {"@s/b": "^2.0.0"}}"#;
    let (one, two, old) = (package("1.0.0"), package("2.0.0"), package("0.9.0"));
    let flat = [
        ("package.json", manifest),
        ("node_modules/a/package.json", &*one),
        ("node_modules/a/node_modules/c/package.json", &*two),
        ("node_modules/@s/b/package.json", &*old),
    ];
    let want = [
        "*@s/b 2.0.0 version 0.9.0 is installed",
        "*a 1.0.0 project/node_modules/a",
        "c 2.0.0 project/node_modules/a/node_modules/c",
    ];
    for (name, lock) in [
        (
            "package-lock.json",
            r#"{"lockfileVersion": 3, "packages": {
                "": {"dependencies": {"a": "^1.0.0", "w": "*"}, "devDependencies": {"@s/b": "^2.0.0"}},
                "w": {"version": "1.0.0"}, "node_modules/w": {"resolved": "w", "link": true},
                "node_modules/a": {"version": "1.0.0"}, "node_modules/@s/b": {"version": "2.0.0"},
                "node_modules/a/node_modules/c": {"version": "2.0.0"}}}"#,
        ),
        (
            "package-lock.json",
            r#"{"lockfileVersion": 1, "dependencies": {"w": {"version": "file:w"}, "@s/b": {"version": "2.0.0"},
                "a": {"version": "1.0.0", "dependencies": {"c": {"version": "2.0.0"}}}}}"#,
        ),
        (
            "yarn.lock",
            "# yarn lockfile v1\n\n\"@s/b@^2.0.0\":\n  version \"2.0.0\"\n\na@^1.0.0:\n  version \"1.0.0\"\n  dependencies:\n    version \"^2\"\n\nc@*, c@2:\n  version \"2.0.0\"\n",
        ),
        (
            "yarn.lock",
            "__metadata:\n  version: 8\n\n\"@s/b@npm:^2.0.0\":\n  version: 2.0.0\n  resolution: \"@s/b@npm:2.0.0\"\n\n\"a@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n\n\"c@npm:*\":\n  version: 2.0.0\n  resolution: \"c@npm:2.0.0\"\n\n\"own@workspace:.\":\n  version: 0.0.0\n  resolution: \"own@workspace:.\"\n",
        ),
    ] {
        let place = TestProject::with(&flat);
        place.write(name, lock);
        assert_eq!(place.lines(), want, "{name}: {lock}");
    }
    // Without a lock file, what is installed decides.
    assert_eq!(
        TestProject::with(&flat).lines(),
        ["*@s/b 0.9.0 project/node_modules/@s/b", "*a 1.0.0 project/node_modules/a"]
    );
    // Workspaces find what is installed above them.
    let place = TestProject::with(&flat[1..2]);
    place.write("w/package.json", r#"{"dependencies": {"a": "^1.0.0", "own": "workspace:*"}}"#);
    assert_eq!(place.lines(), ["*a 1.0.0 project/node_modules/a"]);
}

#[test]
fn pnpm_and_archives_of_yarn_are_found() {
    let v9 = "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      a:\n        specifier: ^1\n        version: 1.0.0(p@3.0.0)\n      w:\n        specifier: workspace:*\n        version: link:w\npackages:\n  a@1.0.0:\n    resolution: {}\n  '@s/b@2.0.0':\n    resolution: {}\n";
    let v6 = "lockfileVersion: '6.0'\ndependencies:\n  a:\n    specifier: ^1\n    version: 1.0.0(p@3.0.0)\npackages:\n  /a@1.0.0(p@3.0.0):\n    resolution: {}\n  /@s/b@2.0.0:\n    resolution: {}\n";
    let v5 = "lockfileVersion: 5.4\ndependencies:\n  a: 1.0.0_p@3.0.0\npackages:\n  /a/1.0.0_p@3.0.0:\n    resolution: {}\n  /@s/b/2.0.0:\n    resolution: {}\n";
    for lock in [v9, v6, v5] {
        let place = TestProject::with(&[
            ("package.json", "{}"),
            ("pnpm-lock.yaml", lock),
            ("node_modules/.pnpm/a@1.0.0-beta/node_modules/a/x", ""),
            ("node_modules/.pnpm/a@1.0.0_p@3.0.0/node_modules/a/x", ""),
            ("node_modules/.pnpm/@s+b@2.0.0/node_modules/@s/b/x", ""),
        ]);
        assert_eq!(
            place.lines(),
            [
                "@s/b 2.0.0 project/node_modules/.pnpm/@s+b@2.0.0/node_modules/@s/b",
                "*a 1.0.0 project/node_modules/.pnpm/a@1.0.0_p@3.0.0/node_modules/a",
            ],
            "{lock}"
        );
    }
    let place = TestProject::with(&[
        ("package.json", "{}"),
        ("yarn.lock", "\"@s/b@npm:^2\":\n  version: 2.0.0\n  resolution: \"@s/b@npm:2.0.0\"\n"),
        (".yarn/cache/@s-b-npm-2.0.0-0123456789-abc.zip", ""),
    ]);
    assert_eq!(place.lines(), ["@s/b 2.0.0 project/.yarn/cache/@s-b-npm-2.0.0-0123456789-abc.zip"]);
}

const SITE: &str = ".venv/lib/python3.12/site-packages";

/// Writes installed packages: name, version, and the list of files.
fn install(place: &TestProject, packages: &[(&str, &str, &[&str])]) {
    for (name, version, files) in packages {
        let record: String = files.iter().map(|file| format!("{file},sha256=x,1\n")).collect();
        place.write(&format!("{SITE}/{name}-{version}.dist-info/RECORD"), &record);
        for file in files.iter().filter(|file| !file.starts_with("..")) {
            place.write(&format!("{SITE}/{file}"), "");
        }
    }
}

#[test]
fn python_finds_the_folders_of_distributions() {
    let uv = "[[package]]\nname = \"own\"\nversion = \"0.1\"\nsource = { editable = \".\" }\ndependencies = [{ name = \"pyyaml\" }, { name = \"Flask-Thing\" }]\n[[package]]\nname = \"pyyaml\"\nversion = \"6.0\"\n[[package]]\nname = \"flask-thing\"\nversion = \"1.0\"\n[[package]]\nname = \"six\"\nversion = \"1.17.0\"\n[[package]]\nname = \"nsa\"\nversion = \"1\"\n[[package]]\nname = \"old\"\nversion = \"2\"\n";
    let poetry = uv.replace("source = { editable = \".\" }", "source = { type = \"directory\" }");
    let requirements = "# pinned\npyyaml==6.0 \\\n    --hash=sha256:0\nFlask.Thing[x]==1.0; python_version > '3'\n-r more.txt\nold==2\nhttps://x.example/y.whl\n";
    for (lock, text) in
        [("uv.lock", uv), ("poetry.lock", &*poetry), ("requirements.txt", requirements)]
    {
        let manifest = "[project]\ndependencies = [\"pyyaml>=5\", \"flask_thing\"]\n";
        let place = TestProject::with(&[("pyproject.toml", manifest), (lock, text)]);
        install(
            &place,
            &[
                (
                    "PyYAML",
                    "6.0",
                    &["yaml/__init__.py", "yaml/x/y.py", "_yaml/z.py", "../../bin/x"],
                ),
                ("flask_thing", "1.0", &["flask_thing/__init__.py", "__pycache__/z.pyc"]),
                ("six", "1.17.0", &["six.py"]),
                ("nsa", "1", &["ns/a/__init__.py", "ns/a/b.py"]),
                ("old", "1", &["old/__init__.py"]),
            ],
        );
        let old_mark = if lock == "requirements.txt" { "*" } else { "" };
        let mut want = vec![
            format!("nsa 1 project/{SITE}/ns/a"),
            format!("{old_mark}old 2 version 1 is installed"),
            format!("*pyyaml 6.0 project/{SITE}: _yaml yaml"),
            format!("six 1.17.0 project/{SITE}: six.py"),
        ];
        let flask = if lock == "requirements.txt" { "Flask.Thing" } else { "flask-thing" };
        want.push(format!("*{flask} 1.0 project/{SITE}/flask_thing"));
        want.sort_by_key(|line| line.trim_start_matches('*').to_string());
        assert_eq!(place.lines(), want, "{lock}");
    }
}

#[test]
fn go_spells_names_as_its_cache_does() {
    let manifest = "module m\n\ngo 1.16\n\nrequire (\n\tx.example/Big/Mod v1.0.0\n\tx.example/b v1.0.0 // indirect\n)\nrequire x.example/c v1.0.0\nrequire x.example/own v1.0.0\nreplace x.example/own => ./own\nreplace x.example/c v1.0.0 => x.example/fork v1.1.0\n";
    let place = TestProject::with(&[
        ("go.mod", manifest),
        (
            "go.sum",
            "x.example/d v1.0.0 h1:x\nx.example/d v1.1.0/go.mod h1:x\nx.example/b v1.0.0 h1:x\n",
        ),
        ("home/go/pkg/mod/x.example/!big/!mod@v1.0.0/x.go", ""),
        ("home/go/pkg/mod/x.example/fork@v1.1.0/x.go", ""),
        ("vendor/modules.txt", "# x.example/b v1.0.0\n## explicit\nx.example/b\n"),
        ("vendor/x.example/b/b.go", ""),
    ]);
    assert_eq!(
        place.lines(),
        [
            "*x.example/Big/Mod v1.0.0 home/go/pkg/mod/x.example/!big/!mod@v1.0.0",
            "x.example/b v1.0.0 project/vendor/x.example/b",
            "x.example/d v1.0.0 not in the module cache",
            "*x.example/fork v1.1.0 home/go/pkg/mod/x.example/fork@v1.1.0",
        ]
    );
}

#[test]
fn maven_and_gradle_find_archives() {
    let parent = "<project><groupId>own</groupId><version>1</version><properties><v>2.0</v></properties><dependencyManagement><dependencies><dependency><groupId>g.h</groupId><artifactId>b</artifactId><version>${v}</version></dependency></dependencies></dependencyManagement></project>";
    let child = "<project xmlns=\"x\"><parent><groupId>own</groupId><version>1</version></parent><dependencies><dependency><groupId>g.h</groupId><artifactId>b</artifactId></dependency><dependency><groupId>own</groupId><artifactId>lib</artifactId><version>${project.version}</version></dependency><dependency><groupId>g</groupId><artifactId>c</artifactId></dependency></dependencies></project>";
    let place = TestProject::with(&[
        ("pom.xml", parent),
        ("m/pom.xml", child),
        ("home/.m2/repository/g/h/b/2.0/b-2.0-sources.jar", ""),
        ("gr/build.gradle", "implementation 'g.h:d:3'"),
        ("gr/gradle.lockfile", "# x\ng.h:d:3=compileClasspath\ng.h:e:4=compileClasspath\nempty=\n"),
        ("home/.gradle/caches/modules-2/files-2.1/g.h/d/3/abc/d-3-sources.jar", ""),
    ]);
    assert_eq!(
        place.lines(),
        [
            "*g.h:b 2.0 home/.m2/repository/g/h/b/2.0/b-2.0-sources.jar",
            "*g.h:d 3 home/.gradle/caches/modules-2/files-2.1/g.h/d/3/abc/d-3-sources.jar",
            "g.h:e 4 no archive of its sources",
            "*g:c  its version is in a manifest that is not in this project",
        ]
    );
}

#[test]
fn other_managers_find_their_folders() {
    let place = TestProject::with(&[
        ("composer.json", "{\"require\": {\"php\": \"^8\", \"v/a\": \"^1\"}}"),
        (
            "composer.lock",
            "{\"packages\": [{\"name\": \"v/a\", \"version\": \"v1.0.0\"}], \"packages-dev\": [{\"name\": \"v/b\", \"version\": \"2\"}]}",
        ),
        (
            "vendor/composer/installed.json",
            "{\"packages\": [{\"name\": \"v/b\", \"version\": \"1\"}]}",
        ),
        ("vendor/v/a/x", ""),
        ("vendor/v/b/x", ""),
        ("Gemfile", ""),
        (
            "Gemfile.lock",
            "GIT\n  remote: x\n  revision: 0123456789ab\n  specs:\n    gitted (0.1)\n\nPATH\n  remote: .\n  specs:\n    own (1)\n\nGEM\n  specs:\n    rack (3.0)\n      other (>= 1)\n    noko (1.0-x86_64-linux)\n\nDEPENDENCIES\n  gitted!\n  rack (~> 3)\n",
        ),
        ("home/.gem/ruby/3.3.0/gems/rack-3.0/x", ""),
        ("vendor/bundle/ruby/3.3.0/gems/noko-1.0-x86_64-linux/x", ""),
        ("vendor/bundle/ruby/3.3.0/bundler/gems/them-0123456789ab/x", ""),
        ("mix.exs", "[{:jason, \"~> 1.0\"}]"),
        (
            "mix.lock",
            "%{\n  \"jason\": {:hex, :jason, \"1.4.0\", \"hash\", [:mix], [], \"hexpm\", \"x\"},\n  \"plug\": {:hex, :plug, \"1.0.0\", \"hash\", [:mix], [], \"hexpm\", \"x\"},\n}\n",
        ),
        ("deps/jason/hex_metadata.config", "{<<\"version\">>,<<\"1.4.0\">>}."),
        ("deps/plug/hex_metadata.config", "{<<\"version\">>,<<\"0.9.0\">>}."),
        (
            "Package.swift",
            ".package(url: \"https://g.example/Apple/swift-log.git\", from: \"1.0.0\")",
        ),
        (
            "Package.resolved",
            "{\"pins\": [{\"identity\": \"swift-log\", \"location\": \"https://g.example/apple/swift-log.git\", \"state\": {\"version\": \"1.5.0\"}}], \"version\": 2}",
        ),
        (".build/checkouts/swift-log/x", ""),
    ]);
    assert_eq!(
        place.lines(),
        [
            "*v/a v1.0.0 project/vendor/v/a",
            "v/b 2 version 1 is installed",
            "*gitted 0.1 project/vendor/bundle/ruby/3.3.0/bundler/gems/them-0123456789ab",
            "noko 1.0-x86_64-linux project/vendor/bundle/ruby/3.3.0/gems/noko-1.0-x86_64-linux",
            "*rack 3.0 home/.gem/ruby/3.3.0/gems/rack-3.0",
            "*jason 1.4.0 project/deps/jason",
            "plug 1.0.0 version 0.9.0 is installed",
            "*swift-log 1.5.0 project/.build/checkouts/swift-log",
        ]
    );
}

/// The folder of a gem that comes with Ruby is empty: its files lie where Ruby loads its own.
#[test]
fn gems_that_come_with_ruby_are_found_by_their_names() {
    let ruby = "home/.rbenv/versions/3.3.1/lib/ruby";
    let at = |path: &str| format!("{ruby}/{path}");
    let files = [
        at("gems/3.3.0/gems/net-http-0.4/exe/x"),
        at("gems/3.3.0/specifications/default/net-http-0.4.gemspec"),
        at("gems/3.3.0/specifications/default/strscan-3.0.gemspec"),
        at("gems/3.3.0/specifications/default/..-..-1.gemspec"),
        at("gems/3.3.0/specifications/default/io-wait-0.3.gemspec"),
        "home/.rubies/3.3.1/lib/ruby/gems/3.3.0/gems/io-wait-0.3/x".to_string(),
        at("gems/3.3.0/gems/rake-13.0/x"),
        at("gems/3.3.0/specifications/rake-13.0.gemspec"),
        at("3.3.0/net/http.rb"),
        at("3.3.0/net/http/request.rb"),
        at("3.3.0/net/smtp.rb"),
        at("3.3.0/rake.rb"),
    ];
    let mut all: Vec<(&str, &str)> = files.iter().map(|path| (&**path, "")).collect();
    let lock = "GEM\n  specs:\n    ..-.. (1)\n    io-wait (0.3)\n    net-http (0.4)\n    net-smtp (0.4)\n    rake (13.0)\n    strscan (3.0)\n";
    all.extend([("Gemfile", ""), ("Gemfile.lock", lock)]);
    assert_eq!(
        TestProject::with(&all).lines(),
        [
            "..-.. 1 installed, but without a Ruby file of its name".to_string(),
            "io-wait 0.3 home/.rubies/3.3.1/lib/ruby/gems/3.3.0/gems/io-wait-0.3".into(),
            format!("net-http 0.4 {ruby}/3.3.0: net/http net/http.rb"),
            "net-smtp 0.4 not installed".into(),
            format!("rake 13.0 {ruby}/gems/3.3.0/gems/rake-13.0"),
            "strscan 3.0 installed, but without a Ruby file of its name".into(),
        ]
    );
}

/// A lock file may name any path. Nothing is found outside of the project and the caches.
#[test]
fn hostile_lock_files_lead_nowhere() {
    let place = TestProject::with(&[
        ("Cargo.toml", ""),
        ("package.json", "{}"),
        ("go.mod", "module m\ngo 1.20\nrequire ../../../../secret v1\nrequire /etc v1\n"),
        ("requirements.txt", "../secret==1\nlinked==1\n"),
        ("composer.lock", "{\"packages\": [{\"name\": \"../../secret\", \"version\": \"1\"}]}"),
        ("composer.json", "{}"),
        ("mix.exs", ""),
        ("mix.lock", "\"../../secret\": {:git, \"u\", \"c\", []}\n"),
        ("Package.swift", ""),
        (
            "Package.resolved",
            "{\"pins\": [{\"identity\": \"x\", \"location\": \"https://x/..\", \"state\": {}}]}",
        ),
        ("Gemfile.lock", "GEM\n  specs:\n    ../../../../../secret (1)\n"),
        ("gradle.lockfile", "..:..:1=x\n../../../../../secret:a:1=x\n"),
        ("vendor/x", ""),
        ("deps/x", ""),
        (".build/checkouts/x", ""),
        ("home/secret/x", ""),
        ("home/secret/package.json", "{\"version\": \"1\"}"),
        ("home/.cargo/registry/src/r-1/x", ""),
        ("home/.gem/ruby/3/gems/x", ""),
        ("home/go/pkg/mod/x", ""),
        ("home/.m2/repository/x", ""),
    ]);
    place.write("Cargo.lock", "[[package]]\nname = \"../../../../secret\"\nversion = \"1\"\nsource = \"registry+x\"\n[[package]]\nname = \"a/b\"\nversion = \"1\"\nsource = \"git+x#0123456789\"\n[[package]]\nname = \"linked\"\nversion = \"1\"\nsource = \"registry+x\"\n");
    place.write(
        "package-lock.json",
        r#"{"packages": {
        "node_modules/../../home/secret": {"version": "1"}, "/node_modules/x": {"version": "1"},
        "node_modules/linked": {"version": "1"},
        "node_modules/u": {"version": "git+https://user:pass@x.example/y@z.git#1"}}}"#,
    );
    fs::create_dir(place.full("node_modules")).unwrap();
    symlink(place.full("home/secret"), place.full("node_modules/linked")).unwrap();
    symlink(place.full("home/secret"), place.full("home/.cargo/registry/src/r-1/linked-1"))
        .unwrap();
    install(&place, &[("linked", "1", &["../../../../home/secret/x.py"])]);
    symlink(place.full("home/secret"), place.full(&format!("{SITE}/secret"))).unwrap();
    let (found, _) = place.found();
    assert!(found.len() > 12, "{found:#?}");
    for dependency in &found {
        assert!(
            dependency.root.is_none()
                && dependency.archive.is_none()
                && dependency.missing.is_some(),
            "{dependency:?}"
        );
    }
    let url = found.iter().find(|d| d.name == "u").unwrap();
    assert_eq!(url.version, "git+https://x.example/y@z.git#1", "nobody sees the password");
}

#[test]
fn broken_and_huge_lock_files_are_named_and_cost_little() {
    let deep = "[".repeat(100_000);
    let place = TestProject::with(&[
        ("Cargo.toml", ""),
        ("Cargo.lock", "[[package"),
        ("package.json", "{}"),
        ("package-lock.json", &deep),
        ("w/package.json", "{}"),
        ("w/pnpm-lock.yaml", &deep),
        ("uv.lock", &format!("a = {deep}")),
        ("pyproject.toml", ""),
        ("pom.xml", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><project>&a;</project>"),
        ("m/pom.xml", &"<a>".repeat(100_000)),
    ]);
    let start = std::time::Instant::now();
    let (found, warnings) = place.found();
    assert_eq!(found, []);
    for name in
        ["Cargo.lock", "package-lock.json", "w/pnpm-lock.yaml", "uv.lock", "pom.xml", "m/pom.xml"]
    {
        assert!(
            warnings.iter().any(|w| w.starts_with(&format!("{name}: not valid"))),
            "{warnings:?}"
        );
    }
    let many: String = (0..60_000)
        .map(|n| format!("[[package]]\nname = \"p{n}\"\nversion = \"1\"\nsource = \"x\"\n"))
        .collect();
    place.write("Cargo.lock", &many);
    let (found, warnings) = place.found();
    assert!(found.len() <= 50_000 && warnings.iter().any(|w| w.contains("is cut")), "{warnings:?}");
    assert!(start.elapsed().as_secs() < 30);
}

/// A manifest ties what its package manager would take, and each path is only text: none of the folders
/// is there.
#[test]
fn the_nearest_manifest_that_names_a_dependency_ties_it() {
    let place = TestProject::with(&[
        (
            "Cargo.toml",
            "[workspace.dependencies]\nshared = { path = \"../shared\" }\n[dependencies]\nouter = { path = \"../outer\" }\n[patch.crates-io]\npatched = { path = \"/src/./patched\" }\n",
        ),
        (
            "crates/a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\npatched = \"1\"\nplain = \"1\"\nshared = { workspace = true }\n[target.'cfg(unix)'.dev-dependencies]\nunix = { path = \"../../../x/../unix\" }\n",
        ),
        (
            "web/package.json",
            r#"{"devDependencies": {"a": "file:../../a", "b": "file:b.tgz", "@c/../../d": "workspace:*"}}"#,
        ),
        ("web/in/package.json", r#"{"dependencies": {"a": "^1.0.0"}}"#),
        (
            "py/pyproject.toml",
            "[tool.poetry.group.x.dependencies]\na = { path = \"../../a\" }\n[tool.uv.sources]\nb = [{ git = \"x\" }, { path = \"../../b\" }]\n",
        ),
        (
            "go.mod",
            "module m\nreplace (\n e.com/a => ../a\n e.com/a/b v1.0.0 => ../b\n e.com/c => e.com/d v1.0.0\n)\n",
        ),
        ("torn/Cargo.toml", "[dependencies\n"),
    ]);
    let root = Dir::open(&place.full("")).unwrap();
    let mut ties = Ties::new(&root);
    let around = root.path().parent().unwrap().to_path_buf();
    for (ecosystem, file, name, tied) in [
        (Ecosystem::Cargo, "crates/a/src/lib.rs", "shared", Some("shared")),
        (Ecosystem::Cargo, "crates/a/src/lib.rs", "unix", Some("unix")),
        (Ecosystem::Cargo, "crates/a/src/lib.rs", "patched", Some("/src/patched")),
        (Ecosystem::Cargo, "crates/a/src/lib.rs", "plain", None),
        (Ecosystem::Cargo, "crates/a/src/lib.rs", "outer", None),
        (Ecosystem::Cargo, "src/lib.rs", "outer", Some("outer")),
        (Ecosystem::Cargo, "torn/lib.rs", "outer", Some("outer")),
        (Ecosystem::Npm, "web/a.js", "a", Some("a")),
        (Ecosystem::Npm, "web/a.js", "b", None),
        (Ecosystem::Npm, "web/a.js", "@c/../../d", None),
        (Ecosystem::Npm, "web/in/a.js", "a", None),
        (Ecosystem::Python, "py/a.py", "a", Some("a")),
        (Ecosystem::Python, "py/a.py", "b", Some("b")),
        (Ecosystem::Go, "x/a.go", "e.com/a", Some("a")),
        (Ecosystem::Go, "x/a.go", "e.com/a/b", Some("b")),
        (Ecosystem::Go, "x/a.go", "e.com/c", None),
    ] {
        let found = ties.folder(ecosystem, file, &|named| named == name);
        assert_eq!(found, tied.map(|tied| around.join(tied)), "{file}: {name}");
    }
}
