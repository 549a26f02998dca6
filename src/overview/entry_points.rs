//! Where the programs and libraries of a repository begin.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::packages::{Package, package_of};
use super::{Tree, directory, extension, file_name, is_aside, join};
use crate::languages::go_module;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 24;
/// Maximum number of libraries.
const MAX_LIBRARIES: usize = 4;
/// Maximum number of examples.
const MAX_EXAMPLES: usize = 16;

/// A place where a program or a library begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntryPoint {
    /// Relative to the root.
    pub path: String,
    /// The line of its main function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `program`, `library`, `example`, or the name of a command or a package.
    pub what: String,
}

impl EntryPoint {
    /// Whether it helps to build or develop the repository, and is not what it is for.
    #[must_use]
    pub fn is_helper(&self) -> bool {
        is_helper(&self.path)
    }
}

/// Returns the entries that manifests name and those at usual places: programs before libraries,
/// those first whose package uses the most others, and tools that help to develop last.
/// `mains`: functions with which a program may begin, as path and line.
#[must_use]
pub fn entry_points(tree: &Tree, packages: &[Package], mains: &[(String, u32)]) -> Vec<EntryPoint> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut out: Vec<EntryPoint> = Vec::new();
    let mut add = |path: String, what: String| {
        let is_entry =
            tree.is_indexed(&path) && !is_migration(&path) && !is_aside(directory(&path));
        if is_entry && seen.insert(path.clone()) {
            let line = mains.iter().find(|(of, _)| *of == path).map(|(_, line)| *line);
            out.push(EntryPoint { path, line, what });
        }
    };
    // Frameworks call their files `_app.tsx` or `_layout.tsx`, as private ones are called elsewhere:
    // what a manifest names counts if the files beside it do.
    let is_beside_source = |path: &str| {
        let beside = |other: &&str| directory(other).starts_with(directory(path));
        (tree.is_source)(path) || tree.paths.iter().copied().filter(beside).any(tree.is_source)
    };
    for (path, command) in named(tree, packages) {
        if is_beside_source(&path) {
            add(path, command);
        }
    }
    let of_main = mains.iter().map(|(path, _)| &**path).filter(|path| is_main_file(path));
    let programs = tree.paths.iter().copied().filter(|path| is_program(path)).chain(of_main);
    let programs: Vec<&str> = programs.collect();
    let libraries = tree.paths.iter().copied().filter(|path| is_library(path)).collect();
    for (mut paths, what) in [(programs, "program"), (libraries, "library")] {
        paths.retain(|path| (tree.is_source)(path));
        paths.sort_by_key(|path| (path.matches('/').count(), *path));
        for path in paths {
            let name = if what == "program" { program_name(packages, path) } else { None };
            add(path.to_string(), name.unwrap_or(what).into());
        }
    }
    let is_variant: Vec<bool> = out.iter().map(|entry| is_platform_stub(&entry.path)).collect();
    if is_variant.contains(&false) {
        let mut is_variant = is_variant.into_iter();
        out.retain(|_| !is_variant.next().unwrap_or_default());
    }
    // What starts most others comes first, and so does what most others use.
    out.sort_by_cached_key(|entry| {
        let is_library = entry.what == "library";
        let of = |package: &Package| if is_library { package.users } else { package.uses };
        let rank = package_of(packages, &entry.path).map_or(0, of);
        (is_library, is_helper(&entry.path), Reverse(rank))
    });
    let mut n_libraries = 0;
    out.retain(|entry| {
        n_libraries += usize::from(entry.what == "library");
        entry.what != "library" || n_libraries <= MAX_LIBRARIES
    });
    out.truncate(MAX_ENTRIES);
    out
}

/// Returns the name of the program that a file at a usual place of a package begins.
fn program_name<'a>(packages: &'a [Package], path: &'a str) -> Option<&'a str> {
    let package = package_of(packages, path).filter(|package| !package.directory.is_empty());
    let is_main = |package: &&Package| path == join(&package.directory, "src/main.rs");
    let of_go = directory(path).strip_prefix("cmd/").filter(|_| file_name(path) == "main.go");
    package.filter(is_main).map(|package| &*package.name).or(of_go)
}

/// Whether a file starts an application on one platform, beside others for other platforms.
fn is_platform_stub(path: &str) -> bool {
    const PLATFORMS: &str = "android ios maccatalyst macos tizen windows linux tvos watchos";
    let mut parts = directory(path).split('/').rev();
    let platform = parts.next().unwrap_or_default().to_lowercase();
    let is_beside = parts.next().is_some_and(|folder| folder.eq_ignore_ascii_case("platforms"));
    is_beside && PLATFORMS.split(' ').any(|known| known == platform)
}

/// Whether a program helps to build or develop the repository, and is not what it is for.
fn is_helper(path: &str) -> bool {
    const FOLDERS: &str = "scripts script tools tool hack internal ci build buildsrc eng misc \
        contrib utils dev-tools devtools dist xtask docs doc gulpfile codemods";
    let stem = file_name(path).split('.').next().unwrap_or_default().to_lowercase();
    let mut folders = directory(path).split('/').map(str::to_lowercase);
    matches!(extension(path), "sh" | "bash")
        || stem.split(['-', '_']).any(|part| matches!(part, "gen" | "generate" | "generator"))
        || folders.any(|folder| FOLDERS.split_whitespace().any(|helper| helper == folder))
}

/// Returns the example programs, one for each folder or file in a folder of examples. `files`: the
/// files with code, each after the folder that holds the examples. `mains`: functions with which a
/// program may begin, as path and line, in order.
#[must_use]
pub fn example_programs(files: &[(&str, &str)], mains: &[(String, u32)]) -> Vec<EntryPoint> {
    // The first main function of a file counts.
    let lines: BTreeMap<&str, u32> =
        mains.iter().rev().map(|(path, line)| (&**path, *line)).collect();
    let mut best: BTreeMap<&str, (bool, bool, usize, &str)> = BTreeMap::new();
    for (folder, path) in files {
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let end = path[start..].find('/').map_or(path.len(), |end| start + end);
        let has_main = lines.contains_key(*path);
        // A file beside the examples may be one that they share.
        if end == path.len() && !has_main && !is_script(path) {
            continue;
        }
        let stem = file_name(path).split('.').next().unwrap_or_default().to_lowercase();
        let own = file_name(&path[..end]);
        let is_named = matches!(&*stem, "main" | "app" | "index" | "cli") || stem == own;
        let rank = (!has_main, !is_named, path.matches('/').count(), *path);
        let of_example = best.entry(&path[..end]).or_insert(rank);
        *of_example = rank.min(*of_example);
    }
    let mut found: Vec<_> = best.into_values().collect();
    found.sort_by_key(|(without_main, _, _, path)| (*without_main, *path));
    found.truncate(MAX_EXAMPLES);
    found.sort_by_key(|(.., path)| *path);
    let entry = |(.., path): (bool, bool, usize, &str)| EntryPoint {
        path: path.to_string(),
        line: lines.get(path).copied(),
        what: "example".into(),
    };
    found.into_iter().map(entry).collect()
}

/// Whether a file changes a database or stored data from one version to the next: it is numbered,
/// as `db/migrate/20240101_add_tags.rb`, below a directory of migrations.
#[must_use]
pub fn is_migration(path: &str) -> bool {
    // `0001_initial`, `V2__tags`, `m2024_add`, `v2.6.1`.
    let is_numbered = |part: &str| {
        let digits = part.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(part);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut parts = path.split('/');
    // Alembic gives each version a hash, which may begin with letters.
    ["alembic/versions/", "migrations/versions/"].iter().any(|folder| path.contains(folder))
        || parts.any(is_migration_folder) && parts.any(is_numbered)
}

/// Whether a directory of this name holds migrations.
#[must_use]
pub fn is_migration_folder(name: &str) -> bool {
    matches!(
        &*name.to_lowercase(),
        "migration" | "migrations" | "migrate" | "post_migrate" | "alembic"
    )
}

fn is_program(path: &str) -> bool {
    path.ends_with("src/main.rs")
        || (directory(path).ends_with("src/bin") && extension(path) == "rs")
        || matches!(file_name(path), "__main__.py" | "manage.py" | "config.ru")
}

/// Whether a file with a main function is one that a program begins with. In the languages where
/// any file may have such a function, only the usual names count.
fn is_main_file(path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let may_be_any = is_script(path) || extension(path) == "rs";
    !may_be_any || matches!(stem, "main" | "cli" | "app" | "index")
}

/// Whether a file is in a language whose programs begin with the first line.
fn is_script(path: &str) -> bool {
    const SCRIPTS: &str = "py rb js jsx mjs cjs ts tsx mts vue svelte php sh bash";
    SCRIPTS.split(' ').any(|known| known == extension(path))
}

fn is_library(path: &str) -> bool {
    let is_root = |name: &str| path == name || path == format!("src/{name}");
    path.ends_with("src/lib.rs")
        || ["index.ts", "index.js", "index.tsx", "index.mjs", "main.ts"]
            .iter()
            .any(|name| is_root(name))
        || (file_name(path) == "__init__.py" && {
            let package = directory(path);
            !package.is_empty() && matches!(directory(package), "" | "src")
        })
}

/// Returns the entries that manifests and files with commands name, each with the name of its
/// command. Those nearer to the root come first.
fn named(tree: &Tree, packages: &[Package]) -> Vec<(String, String)> {
    let mut directories: Vec<&str> = tree.paths.iter().map(|path| directory(path)).collect();
    directories.push("");
    directories.sort_by_key(|directory| (directory.split('/').count(), *directory));
    directories.dedup();
    let mut out = Vec::new();
    for directory in directories {
        let manifest = |name: &str| tree.manifest(&join(directory, name));
        out.extend(manifest("Cargo.toml").into_iter().flat_map(|m| of_cargo(directory, &m)));
        out.extend(manifest("package.json").into_iter().flat_map(|m| package(tree, directory, &m)));
        out.extend(
            manifest("pyproject.toml").into_iter().flat_map(|m| python(tree, directory, &m)),
        );
        out.extend(gradle(tree, directory));
        out.extend(go_library(tree, directory));
        out.extend(commands(tree, directory));
    }
    for package in packages {
        out.extend(match extension(&package.manifest) {
            "gemspec" => gem(tree, package),
            "exs" => mix(tree, package),
            _ => dotnet(tree, package),
        });
    }
    out
}

/// Returns the file of a module of Go that has its name: its package is what others import.
fn go_library(tree: &Tree, directory: &str) -> Option<(String, String)> {
    let path = Some(join(directory, "go.mod")).filter(|path| tree.is_indexed(path))?;
    let module = go_module(&(tree.read)(&path)?)?;
    let is_version = |part: &&str| part.strip_prefix('v').is_none_or(|v| v.parse::<u32>().is_err());
    let name = module.split('/').rfind(is_version)?;
    Some((join(directory, &format!("{name}.go")), "library".into()))
}

/// Returns the file with which a program of .NET begins.
fn dotnet(tree: &Tree, package: &Package) -> Vec<(String, String)> {
    const FILES: [&str; 6] =
        ["AppHost.cs", "Program.cs", "Program.fs", "Program.vb", "MauiProgram.cs", "App.xaml.cs"];
    let files = FILES.iter().map(|file| join(&package.directory, file));
    let found = files.filter(|_| !package.kind.is_empty()).find(|path| tree.is_indexed(path));
    let what = format!("{}, {}", package.name, package.kind);
    found.map(|path| (path, what)).into_iter().collect()
}

/// Returns the commands that a gem installs.
fn gem(tree: &Tree, package: &Package) -> Vec<(String, String)> {
    let text = (tree.read)(&package.manifest).unwrap_or_default();
    let is_command = |path: &&str| {
        let folder = directory(path);
        ["bin", "exe"].iter().any(|bin| folder == join(&package.directory, bin))
            && ['"', '\''].iter().any(|q| text.contains(&format!("{q}{}{q}", file_name(path))))
    };
    let found = tree.paths.iter().copied().filter(is_command);
    found.map(|path| (path.to_string(), file_name(path).to_string())).collect()
}

/// Returns the modules with which an application or a script of Mix begins.
fn mix(tree: &Tree, package: &Package) -> Vec<(String, String)> {
    let text = (tree.read)(&package.manifest).unwrap_or_default();
    let module = |mark: &str| {
        let name = text.split_once(mark)?.1.trim_start_matches([' ', '{']);
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').next()?;
        let path = join(&join(&package.directory, "lib"), &format!("{}.ex", snake(name)));
        // `My.CLI` may be in a file `my_cli.ex`.
        let flat = join(&join(&package.directory, "lib"), &snake(name).replace('/', "_"));
        [path, format!("{flat}.ex")].into_iter().find(|path| tree.is_indexed(path))
    };
    let application = module("mod: ").map(|path| (path, "application".to_string()));
    let script = module("main_module: ").map(|path| (path, "command".to_string()));
    application.into_iter().chain(script).collect()
}

/// Returns the path that a module of Elixir has by convention: `My.AppWeb` is `my/app_web`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '/';
    for c in name.chars() {
        let next = if c == '.' { '/' } else { c };
        if c.is_uppercase() && before.is_lowercase() {
            out.push('_');
        }
        out.extend(next.to_lowercase());
        before = next;
    }
    out
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(|path| path.trim_start_matches("./").to_string())
}

fn of_cargo(directory: &str, manifest: &Value) -> Vec<(String, String)> {
    let bins = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    let entry = |bin: &Value| {
        let name = bin.get("name").and_then(text).unwrap_or_else(|| "program".into());
        Some((join(directory, &bin.get("path").and_then(text)?), name))
    };
    bins.filter_map(entry).collect()
}

/// Extensions of a module that JavaScript names without one.
const MODULES: [&str; 9] = ["", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".astro"];

/// Where the applications of a framework begin: the package that a manifest depends on, and the
/// modules, of which the first that exists counts.
const FRAMEWORKS: &[(&str, &[&str])] = &[
    ("next", &["app/layout", "src/app/layout", "pages/_app", "src/pages/_app", "pages/index"]),
    ("nuxt", &["app", "app/app", "pages/index", "app/pages/index"]),
    ("expo-router", &["app/_layout", "src/app/_layout", "app/index"]),
    ("@sveltejs/kit", &["src/routes/+layout.svelte", "src/routes/+page.svelte"]),
    ("@remix-run/react", &["app/root"]),
    ("@react-router/dev", &["app/root"]),
    ("astro", &["src/pages/index"]),
    ("gatsby", &["src/pages/index"]),
    ("@angular/core", &["src/main"]),
    ("@nestjs/core", &["src/main"]),
    ("react-scripts", &["src/index"]),
    ("@vue/cli-service", &["src/main"]),
    ("vite", &["src/main", "src/index"]),
    ("react-native", &["index", "App", "src/App"]),
];

/// Returns the entries of a `package.json`: its commands, what its scripts start, the application of
/// a framework, its main module.
fn package(tree: &Tree, directory: &str, manifest: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut add = |module: Option<String>, what: &str| {
        out.extend(module.map(|path| (path, what.to_string())));
    };
    let module = |name: &str| {
        // What is built is not indexed; its source usually has the same name.
        let source = ["dist/", "lib/", "build/", "out/"]
            .iter()
            .find_map(|built| Some(format!("src/{}", name.strip_prefix(built)?)));
        let source = source.map(|path| match path.rsplit_once('.') {
            Some((stem, "js" | "mjs" | "cjs")) => stem.to_string(),
            _ => path,
        });
        [Some(name.to_string()), source].into_iter().flatten().find_map(|name| {
            let path = join(directory, &name);
            MODULES.iter().map(|ending| format!("{path}{ending}")).find(|p| tree.is_indexed(p))
        })
    };
    match manifest.get("bin") {
        Some(Value::Object(bins)) => {
            for (name, path) in bins {
                add(text(path).and_then(|path| module(&path)), name);
            }
        }
        bin => add(bin.and_then(text).and_then(|path| module(&path)), "program"),
    }
    for script in ["start", "serve", "dev"] {
        let run = manifest.pointer(&format!("/scripts/{script}")).and_then(Value::as_str);
        for path in run.into_iter().flat_map(|run| files_of(tree, directory, run)) {
            add(Some(path), "program");
        }
    }
    let depends = |name: &str| {
        let in_list = |list: &str| manifest.get(list).is_some_and(|list| list.get(name).is_some());
        in_list("dependencies") || in_list("devDependencies")
    };
    for (name, modules) in FRAMEWORKS.iter().filter(|(name, _)| depends(name)) {
        add(modules.iter().find_map(|path| module(path)), &format!("{name} application"));
    }
    add(manifest.get("main").and_then(text).and_then(|path| module(&path)), "library");
    out
}

fn python(tree: &Tree, directory: &str, manifest: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for pointer in ["/project/scripts", "/tool/poetry/scripts"] {
        let scripts = manifest.pointer(pointer).and_then(Value::as_object);
        for (name, target) in scripts.into_iter().flatten() {
            let path = target.as_str().and_then(|target| python_module(tree, directory, target));
            out.extend(path.map(|path| (path, name.clone())));
        }
    }
    out
}

/// Returns the file of a Python module, which may have the name of an object after it: `a.b:main`.
fn python_module(tree: &Tree, directory: &str, written: &str) -> Option<String> {
    let path = written.split(':').next()?.replace('.', "/");
    let roots = [directory.to_string(), join(directory, "src")];
    let mut places = roots.iter().flat_map(|root| {
        [".py", "/__main__.py", "/__init__.py"].map(|end| join(root, &format!("{path}{end}")))
    });
    places.find(|path| tree.is_indexed(path))
}

/// Returns the entries of a module that Gradle builds: its main class, or the application and the
/// first activity of an Android manifest.
fn gradle(tree: &Tree, directory: &str) -> Vec<(String, String)> {
    let build = ["build.gradle.kts", "build.gradle"].map(|name| join(directory, name));
    let Some(build) = build.into_iter().find(|path| (tree.has)(path)) else { return Vec::new() };
    let Some(build) = (tree.read)(&build) else { return Vec::new() };
    let setting = |name: &str| {
        let (_, rest) = build.split_once(name)?;
        let line = rest.lines().next()?;
        line.split(['"', '\'']).nth(1)
    };
    let class = |name: &str| {
        let package = setting("namespace").unwrap_or_default();
        let path = match name.strip_prefix('.') {
            Some(relative) => format!("{package}.{relative}"),
            None => name.to_string(),
        };
        let path = format!("/{}", path.replace('.', "/"));
        // Kotlin compiles the functions of `Main.kt` into a class `MainKt`.
        let stems = [Some(&*path), path.strip_suffix("Kt")];
        let is_file = |file: &&str| {
            let stem = file.rsplit_once('.').map_or(*file, |(stem, _)| stem);
            let is_below = directory.is_empty() || file.starts_with(&format!("{directory}/"));
            is_below && stems.iter().flatten().any(|path| stem.ends_with(path))
        };
        tree.paths.iter().copied().find(is_file).map(str::to_string)
    };
    let main = setting("mainClassName").or_else(|| setting("mainClass"));
    let mut out: Vec<(String, String)> =
        main.and_then(class).map(|path| (path, "program".to_string())).into_iter().collect();
    let manifest = (tree.read)(&join(directory, "src/main/AndroidManifest.xml"));
    let Some(manifest) = manifest else { return out };
    let application = manifest.split("<application").nth(1).unwrap_or_default();
    let own = application.split('>').next().and_then(name_in).and_then(class);
    out.extend(own.map(|path| (path, "Android application".to_string())));
    let launched = application.split("<activity").skip(1);
    let launched = launched.filter(|of| of.contains("android.intent.category.LAUNCHER"));
    for activity in launched {
        let tag = activity.split('>').next().unwrap_or_default();
        // An alias names the activity that it starts.
        let target = tag.split("android:targetActivity=\"").nth(1);
        let name = target.and_then(|rest| rest.split('"').next()).or_else(|| name_in(tag));
        let path = name.and_then(class);
        out.extend(path.map(|path| (path, "Android activity".to_string())));
    }
    out
}

/// Returns the name of an element of an Android manifest.
fn name_in(tag: &str) -> Option<&str> {
    tag.split("android:name=\"").nth(1)?.split('"').next()
}

/// Returns the files that a `Dockerfile` or a `Procfile` of a directory starts.
fn commands(tree: &Tree, directory: &str) -> Vec<(String, String)> {
    let read = |name: &str| {
        let path = join(directory, name);
        (tree.has)(&path).then(|| (tree.read)(&path)).flatten().unwrap_or_default()
    };
    let mut out = Vec::new();
    for line in read("Procfile").lines() {
        if let Some((process, run)) = line.split_once(": ") {
            let files = files_of(tree, directory, run);
            out.extend(files.into_iter().map(|path| (path, process.trim().to_string())));
        }
    }
    let is_start = |line: &&str| line.starts_with("CMD ") || line.starts_with("ENTRYPOINT ");
    for line in read("Dockerfile").lines().filter(is_start) {
        let files = files_of(tree, directory, line);
        out.extend(files.into_iter().map(|path| (path, "program".to_string())));
    }
    out
}

/// Returns the source files that a command starts: `cd /app/web && node server.js`,
/// `python -m pot.cli`, `gunicorn pot.wsgi:application`.
fn files_of(tree: &Tree, directory: &str, command: &str) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`[],;&|()\\".contains(c);
    let words: Vec<&str> = command.split(is_between).filter(|word| !word.is_empty()).collect();
    let (mut folder, mut out) = ("", Vec::new());
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        if word.starts_with('-') {
            continue;
        }
        if before == "cd" {
            folder = word;
            continue;
        }
        let found = if before == "-m" || word.contains(':') {
            python_module(tree, directory, word)
        } else if extension(word).is_empty() {
            None
        } else {
            // An image has the repository at a place of its own, such as `/app`.
            let path = join(folder, word.trim_start_matches("./"));
            let ends = std::iter::successors(Some(path.trim_start_matches('/')), |path| {
                path.split_once('/').map(|(_, rest)| rest)
            });
            let local = |end: &str| [join(directory, end), end.to_string()];
            ends.flat_map(local).find(|path| tree.is_indexed(path))
        };
        // A command names files with settings, too.
        out.extend(found.filter(|path| (tree.is_source)(path)));
    }
    out
}
