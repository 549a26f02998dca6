//! How a repository is built, run and tested: from its manifests, make files and CI.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::packages::Package;
use super::{Tree, directories_around, directory, extension, file_name, join};

/// The commands that one file tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Commands {
    /// The commands, build before test where it matters.
    pub run: Vec<String>,
    /// The file, relative to the root.
    pub from: String,
    /// The folder in which they run; empty for the root.
    pub folder: String,
}

/// Maximum number of folders beside the root whose commands are told.
const MAX_FOLDERS: usize = 5;
/// Maximum number of commands of one file.
const MAX_COMMANDS: usize = 6;
/// Maximum number of characters of a command of CI; longer ones are scripts.
const MAX_CI_CHARS: usize = 70;
/// Names of scripts and targets that people look for, in this order.
const WANTED: [&str; 14] = [
    "build", "test", "tests", "check", "lint", "run", "start", "dev", "serve", "install", "fmt",
    "format", "all", "docs",
];

/// Files in the root whose presence tells the commands.
const BY_PRESENCE: [(&str, &[&str]); 22] = [
    ("go.mod", &["go build ./...", "go test ./..."]),
    ("gradlew", &["./gradlew build", "./gradlew test"]),
    ("build.gradle", &["gradle build", "gradle test"]),
    ("build.gradle.kts", &["gradle build", "gradle test"]),
    ("mvnw", &["./mvnw package", "./mvnw test"]),
    ("pom.xml", &["mvn package", "mvn test"]),
    ("build.sbt", &["sbt compile", "sbt test"]),
    ("mix.exs", &["mix deps.get", "mix test"]),
    ("Package.swift", &["swift build", "swift test"]),
    ("build.zig", &["zig build", "zig build test"]),
    ("dune-project", &["dune build", "dune test"]),
    ("stack.yaml", &["stack build", "stack test"]),
    ("cabal.project", &["cabal build", "cabal test"]),
    ("pubspec.yaml", &["dart pub get", "dart test"]),
    ("meson.build", &["meson setup build", "meson compile -C build", "meson test -C build"]),
    ("CMakeLists.txt", &["cmake -B build", "cmake --build build"]),
    ("configure", &["./configure", "make"]),
    ("configure.ac", &["autoreconf -i", "./configure", "make"]),
    ("Gemfile", &["bundle install"]),
    ("tox.ini", &["tox"]),
    ("noxfile.py", &["nox"]),
    ("Project.toml", &["julia --project -e 'using Pkg; Pkg.test()'"]),
];

/// Returns the commands to build, run and test, by the files that tell them: those of the root, and
/// those of the packages that no manifest above them builds, or that start something themselves.
#[must_use]
pub fn commands(tree: &Tree, packages: &[Package]) -> Vec<Commands> {
    let mut out = of_folder(tree, "", packages);
    let of_root = out.iter().map(|of| (String::new(), tool_of(&of.from).to_string()));
    let mut known: BTreeSet<(String, String)> = of_root.collect();
    let mut nested: Vec<(bool, usize, Vec<Commands>)> = Vec::new();
    let mut by_depth: Vec<&Package> = packages.iter().collect();
    by_depth.sort_by_key(|package| package.directory.matches('/').count());
    for package in by_depth {
        let (folder, tool) = (&*package.directory, tool_of(&package.manifest).to_string());
        // The directory itself and all above it.
        let below = join(folder, "x");
        let is_built_above =
            directories_around(&below).any(|at| known.contains(&(at.to_string(), tool.clone())));
        known.insert((folder.into(), tool.clone()));
        if folder.is_empty() {
            continue;
        }
        let starts = |command: &String| {
            ["start", "dev", "serve"].iter().any(|script| command.ends_with(&format!(" {script}")))
        };
        let mut own = of_folder(tree, folder, packages);
        if is_built_above {
            own.retain(|of| tool == "package.json" && of.run.iter().any(starts));
        }
        if !own.is_empty() {
            let prefix = format!("{folder}/");
            let n_files = tree.paths.iter().filter(|path| path.starts_with(&prefix)).count();
            nested.push((is_built_above, n_files, own));
        }
    }
    nested.sort_by_key(|(is_built_above, n_files, _)| (*is_built_above, Reverse(*n_files)));
    out.extend(nested.into_iter().take(MAX_FOLDERS).flat_map(|(.., own)| own));
    if let Some((file, run)) = ci(tree) {
        out.push(Commands { run, from: file.into(), folder: String::new() });
    }
    out
}

/// Returns a name for the tool that reads a manifest.
fn tool_of(manifest: &str) -> &str {
    match (file_name(manifest), extension(manifest)) {
        (_, "csproj" | "fsproj" | "vbproj" | "sln" | "slnx") => "dotnet",
        (_, "gemspec") => "Gemfile",
        ("mvnw", _) => "pom.xml",
        (name, _) if name.starts_with("gradlew") || name.contains(".gradle") => "gradle",
        (name, _) => name,
    }
}

/// Returns the commands that the files in a folder tell.
fn of_folder(tree: &Tree, folder: &str, packages: &[Package]) -> Vec<Commands> {
    let mut out = Vec::new();
    let mut add = |file: &str, run: Vec<String>| {
        if !run.is_empty() {
            out.push(Commands { run, from: join(folder, file), folder: folder.into() });
        }
    };
    let has = |file: &str| (tree.has)(&join(folder, file));
    let says = |file: &str, words: &[&str]| {
        let text = has(file).then(|| (tree.read)(&join(folder, file))).flatten();
        text.is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    add("Cargo.toml", cargo(tree, folder));
    add("package.json", scripts_of_node(tree, folder));
    let composer = tree.manifest(&join(folder, "composer.json"));
    add("composer.json", scripts(composer.as_ref(), "composer"));
    add("pyproject.toml", python(tree, folder));
    if let Some((file, run)) = dotnet(tree, folder, packages) {
        add(file, run);
    }
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for (file, run) in BY_PRESENCE {
        // A wrapper comes before the tool that it wraps, so only the first file of a tool counts.
        let tool = run[0].trim_start_matches("./").trim_end_matches('w');
        let tool = &tool[..tool.find(['w', ' ']).unwrap_or(tool.len())];
        if has(file) && told.insert(tool) {
            let mut run: Vec<String> = run.iter().map(ToString::to_string).collect();
            let program = run[0].split(' ').next().unwrap_or_default().to_string();
            let start = match tool {
                "go" => go_program(tree, folder),
                "gradle" => {
                    let of = |words: &[&str]| {
                        ["build.gradle", "build.gradle.kts"].iter().any(|file| says(file, words))
                    };
                    if of(&["org.springframework.boot"]) {
                        Some(format!("{program} bootRun"))
                    } else {
                        let plugins = ["id 'application'", "id(\"application\")"];
                        of(&plugins).then(|| format!("{program} run"))
                    }
                }
                "mvn" => says("pom.xml", &["spring-boot-maven-plugin"])
                    .then(|| format!("{program} spring-boot:run")),
                "mix" => says("mix.exs", &["{:phoenix,"]).then(|| "mix phx.server".into()),
                "cmake" => says("CMakeLists.txt", &["enable_testing", "include(CTest)"])
                    .then(|| "ctest --test-dir build".into()),
                _ => None,
            };
            run.extend(start);
            add(file, run);
        }
    }
    for (file, tool) in
        [("Makefile", "make"), ("GNUmakefile", "make"), ("justfile", "just"), ("Rakefile", "rake")]
    {
        let targets = has(file).then(|| (tree.read)(&join(folder, file))).flatten();
        add(file, targets.map(|text| self::targets(&text, tool)).unwrap_or_default());
    }
    out
}

/// Returns the commands for a solution or a project of .NET, and its file.
fn dotnet<'t>(
    tree: &Tree<'t>,
    folder: &str,
    packages: &[Package],
) -> Option<(&'t str, Vec<String>)> {
    let mut files: Vec<&str> = tree
        .paths
        .iter()
        .copied()
        .filter(|path| directory(path) == folder)
        .filter(|path| matches!(extension(path), "sln" | "slnx" | "csproj" | "fsproj" | "vbproj"))
        .collect();
    files.sort_by_key(|path| (!extension(path).starts_with("sln"), path.len(), *path));
    let file = file_name(files.first()?);
    let is_safe = |path: &str| path.chars().all(|c| c.is_alphanumeric() || "_-./+".contains(c));
    let of = if files.len() > 1 && is_safe(file) { format!(" {file}") } else { String::new() };
    let mut run = vec![format!("dotnet build{of}"), format!("dotnet test{of}")];
    let programs = packages.iter().filter(|package| !package.kind.is_empty());
    let program = programs.max_by_key(|package| (package.uses, Reverse(&package.directory)));
    if let Some(program) = program.filter(|of| folder.is_empty() && is_safe(&of.directory)) {
        let at = &program.directory;
        run.push(if at.is_empty() {
            "dotnet run".into()
        } else {
            format!("dotnet run --project {at}")
        });
    }
    Some((file, run))
}

/// Returns the command that runs the program of a Go module, if it has one.
fn go_program(tree: &Tree, folder: &str) -> Option<String> {
    if tree.is_indexed(&join(folder, "main.go")) {
        return Some("go run .".into());
    }
    let commands = format!("{}/", join(folder, "cmd"));
    let is_plain =
        |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let mut programs = tree.paths.iter().filter_map(|path| path.strip_prefix(&commands));
    let mut programs = programs.by_ref().filter_map(|path| path.strip_suffix("/main.go"));
    let first = programs.find(is_plain)?;
    programs.next().is_none().then(|| format!("go run ./cmd/{first}"))
}

fn cargo(tree: &Tree, folder: &str) -> Vec<String> {
    let Some(manifest) = tree.manifest(&join(folder, "Cargo.toml")) else { return Vec::new() };
    let mut run = vec!["cargo build".to_string(), "cargo test".into()];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let name = |of: &Value| {
        let name = of.get("name")?.as_str()?;
        name.chars().all(is_plain).then(|| name.to_string())
    };
    let bins = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    let package = manifest.get("package").filter(|_| tree.is_indexed(&join(folder, "src/main.rs")));
    let mut programs: Vec<String> =
        package.and_then(name).into_iter().chain(bins.filter_map(name)).collect();
    programs.dedup();
    let default = manifest.pointer("/package/default-run").is_some();
    match &*programs {
        [] => {}
        [first, _, ..] if !default => run.push(format!("cargo run --bin {first}")),
        _ => run.push("cargo run".into()),
    }
    if manifest.get("workspace").is_some() && manifest.get("package").is_some() {
        run.iter_mut().take(2).for_each(|command| command.push_str(" --workspace"));
    }
    run
}

fn scripts_of_node(tree: &Tree, folder: &str) -> Vec<String> {
    let manager = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun run"),
        ("bun.lockb", "bun run"),
    ];
    // A workspace has one lock file, in its root.
    let below = join(folder, "x");
    let locked = |at: &str| manager.iter().find(|(lock, _)| (tree.has)(&join(at, lock)));
    let manager = directories_around(&below).find_map(locked).map_or("npm run", |(_, m)| *m);
    scripts(tree.manifest(&join(folder, "package.json")).as_ref(), manager)
}

/// Returns the scripts of a manifest that people look for.
fn scripts(manifest: Option<&Value>, runner: &str) -> Vec<String> {
    let scripts = manifest.and_then(|m| m.get("scripts")).and_then(Value::as_object);
    let names = scripts.into_iter().flat_map(|scripts| scripts.keys().map(String::as_str));
    wanted(names).map(|name| format!("{runner} {name}")).collect()
}

/// Returns the names that people look for, in the order of [`WANTED`].
fn wanted<'n>(names: impl Iterator<Item = &'n str>) -> impl Iterator<Item = &'n str> {
    let names: Vec<&str> = names.collect();
    let of = move |wanted: &str| names.iter().find(|name| **name == wanted).copied();
    WANTED.iter().filter_map(move |name| of(name)).take(MAX_COMMANDS)
}

fn python(tree: &Tree, folder: &str) -> Vec<String> {
    let is_indexed = |file: &str| tree.is_indexed(&join(folder, file));
    let is_old = is_indexed("setup.py") || is_indexed("setup.cfg");
    let Some(manifest) = tree.manifest(&join(folder, "pyproject.toml")) else {
        return if is_old { vec!["pip install -e .".into()] } else { Vec::new() };
    };
    let install = if (tree.has)(&join(folder, "uv.lock")) {
        "uv sync"
    } else if manifest.pointer("/tool/poetry").is_some() {
        "poetry install"
    } else if manifest.get("project").is_some() || manifest.get("build-system").is_some() || is_old
    {
        "pip install -e ."
    } else {
        return Vec::new();
    };
    let mut run = vec![install.to_string()];
    let has_pytest = manifest.pointer("/tool/pytest").is_some()
        || ["pytest.ini", "conftest.py", "tests/conftest.py"].iter().any(|file| is_indexed(file));
    if has_pytest {
        run.push(if install == "uv sync" { "uv run pytest" } else { "pytest" }.into());
    }
    run
}

/// Returns the targets of a make file that people look for.
fn targets(text: &str, tool: &str) -> Vec<String> {
    let name = |line: &str| -> Option<String> {
        if line.starts_with([' ', '\t', '#', '.']) || line.contains(":=") {
            return None;
        }
        let line = line.strip_prefix("task ").map_or(line, |rest| rest.trim_start_matches(':'));
        let end = line.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')?;
        let is_target = tool == "rake"
            || line[end..].trim_start().starts_with(':')
            || (tool == "just" && line.contains(':'));
        is_target.then(|| line[..end].to_string())
    };
    let names: Vec<String> = text.lines().filter_map(name).collect();
    wanted(names.iter().map(String::as_str)).map(|name| format!("{tool} {name}")).collect()
}

/// Returns the file of CI with the most checks, and its commands.
fn ci<'t>(tree: &Tree<'t>) -> Option<(&'t str, Vec<String>)> {
    let is_ci = |path: &str| {
        (path.starts_with(".github/workflows/") && path.ends_with(['l']))
            || [".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml", ".cirrus.yml"]
                .contains(&path)
    };
    let files = tree.paths.iter().copied().filter(|path| is_ci(path));
    let mut found: Vec<(&str, Vec<String>)> = files
        .filter_map(|path| Some((path, checks(&(tree.read)(path)?))))
        .filter(|(_, run)| !run.is_empty())
        .collect();
    let tests = |run: &[String]| run.iter().filter(|command| command.contains("test")).count();
    let is_usual = |path: &str| {
        let name = file_name(path);
        ["ci.", "test.", "tests.", "build.", "main."]
            .iter()
            .any(|usual| name.to_lowercase().starts_with(usual))
    };
    found.sort_by_key(|(path, run)| (!is_usual(path), Reverse((tests(run), run.len()))));
    let says = |(path, run): &(&str, Vec<String>)| is_usual(path) || tests(run) > 0;
    let (path, mut run) = found.into_iter().find(says)?;
    run.truncate(MAX_COMMANDS);
    Some((path, run))
}

/// Returns the commands in a file of CI that build or check something; tests come first.
fn checks(text: &str) -> Vec<String> {
    const TOOLS: &str = "cargo go make npm npx pnpm yarn bun pytest tox nox mypy ruff python \
        uv poetry hatch mvn ./mvnw gradle ./gradlew bundle rake mix dotnet swift sbt stack \
        cabal zig ctest cmake composer just";
    const CHECKS: [&str; 10] =
        ["test", "build", "check", "lint", "clippy", "fmt", "mypy", "ruff", "vet", "verify"];
    const OTHER: [&str; 9] =
        ["${{", "install", "$(", "echo", "GITHUB_", "&&", "||", "publish", "deploy"];
    let mut run: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        let line = line.strip_prefix("run:").unwrap_or(line).trim().trim_matches(['"', '\'']);
        let line = line.trim_end_matches('\\').trim_end();
        let mut words = line.split_whitespace();
        let is_tool = words.next().is_some_and(|first| TOOLS.split(' ').any(|tool| tool == first));
        let is_check = words.next().is_some() && CHECKS.iter().any(|check| line.contains(check));
        let is_other = OTHER.iter().any(|other| line.contains(other)) || line.contains(": ");
        let is_short = line.chars().count() <= MAX_CI_CHARS;
        if is_tool && is_check && !is_other && is_short && !run.iter().any(|known| known == line) {
            run.push(line.to_string());
        }
    }
    run.sort_by_key(|command| !command.contains("test"));
    run
}
