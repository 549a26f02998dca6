//! The commands that run given tests, by what the repository has. Names come from the repository: a
//! name that a shell or a runner might take for something else is in no command.

use std::collections::{BTreeMap, BTreeSet};

use super::{Tree, directories_around, directory, extension, file_name, join};

/// A test, a class of tests, or a file of tests.
#[derive(Debug, Clone, Copy)]
pub struct TestPlace<'a> {
    pub path: &'a str,
    /// The name with those around it; the path for a file.
    pub symbol: &'a str,
    /// First line of the definition; 0 for a file, any other number for a class.
    pub line: u32,
    pub is_function: bool,
    /// Lines of the uses, by which blocks are found.
    pub sites: &'a [u32],
}

/// The commands that run tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestCommands {
    pub run: Vec<String>,
    /// Number of tests that no command runs, because their names are not safe or their runner is
    /// unknown.
    pub n_left_out: usize,
    /// Number of further commands that are not listed.
    pub n_more: usize,
}

/// Maximum number of commands.
const MAX_COMMANDS: usize = 12;
/// Maximum number of bytes of the commands for one package. Instead of longer ones, one command runs
/// all tests of the package.
const MAX_BYTES: usize = 2_500;
/// Maximum number of files that a command names. Instead of more, it names their folders, if its
/// runner takes these.
const MAX_FILES: usize = 8;

/// The names that select tests, by the argument that they share. An argument without names selects
/// all that it stands for, and an empty map all tests of a package.
type Selected = BTreeMap<String, BTreeSet<String>>;

/// Returns the commands that run these tests and, as far as the runner can select them, no others.
#[must_use]
pub fn test_commands(tree: &Tree, tests: &[TestPlace]) -> TestCommands {
    let mut by_runner: BTreeMap<(usize, String), (Selected, BTreeSet<&str>)> = BTreeMap::new();
    // Manifests are read for each file, not for each test.
    let mut by_file: BTreeMap<&str, Option<(usize, String)>> = BTreeMap::new();
    let mut out = TestCommands::default();
    for test in tests {
        let runner = by_file.entry(test.path).or_insert_with(|| Runner::of(tree, test.path));
        let selected = runner.clone().and_then(|(runner, package)| {
            let (shared, names) = RUNNERS[runner].select(tree, &package, test)?;
            Some(((runner, package), shared, names))
        });
        let Some((runner, shared, names)) = selected else {
            out.n_left_out += 1;
            continue;
        };
        let (selected, files) = by_runner.entry(runner).or_default();
        selected.entry(shared).or_default().extend(names);
        files.insert(test.path);
    }
    for ((runner, package), (mut selected, files)) in by_runner {
        let runner = &RUNNERS[runner];
        if files.len() > MAX_FILES && runner.takes_folders {
            let folders = folders(files.iter().map(|path| below(path, &package)));
            // The folder of the package itself has no word: all tests run.
            let words: Option<Vec<String>> = folders.into_iter().map(shell).collect();
            selected = words.into_iter().flatten().map(|word| (word, BTreeSet::new())).collect();
        }
        let mut run = runner.commands(tree, &package, &selected);
        if run.len() > MAX_COMMANDS || run.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            // Nobody pastes such a list, and a reply has no room for it.
            run = runner.commands(tree, &package, &Selected::new());
        }
        out.run.extend(run);
    }
    out.n_more = out.run.len().saturating_sub(MAX_COMMANDS);
    out.run.truncate(MAX_COMMANDS);
    out
}

/// Returns the folders that hold these files, at most [`MAX_FILES`]; the outer ones of more.
fn folders<'p>(files: impl Iterator<Item = &'p str>) -> BTreeSet<&'p str> {
    let mut folders: BTreeSet<&str> = files.map(directory).collect();
    loop {
        let is_within = |inner: &str, outer: &str| {
            inner != outer
                && (outer.is_empty()
                    || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')))
        };
        let is_outer = |folder: &&str| !folders.iter().any(|other| is_within(folder, other));
        let outer: BTreeSet<&str> = folders.iter().copied().filter(is_outer).collect();
        if outer.len() <= MAX_FILES {
            return outer;
        }
        folders = outer.into_iter().map(directory).collect();
    }
}

/// The argument that tests share in a command, and the names that select a test beside it.
type Names = Option<(String, Vec<String>)>;

/// A program that runs tests.
struct Runner {
    /// The extensions of the files that it may run.
    extensions: &'static [&'static str],
    /// Returns the directory of the package that a file belongs to; `None` if the runner does not
    /// run this file.
    package: fn(&Tree, &str) -> Option<String>,
    program: Program,
    select: fn(&Tree, &Test) -> Names,
    arguments: Arguments,
    /// The arguments that run all tests of a package.
    all: &'static str,
    /// Whether a command runs the tests of a folder that it names.
    takes_folders: bool,
}

enum Program {
    /// Runs in the directory of the package.
    Within(&'static str),
    /// Runs in the root: made from the package, and the package as a word of a shell.
    InRoot(fn(&Tree, &str, &str) -> String),
}

/// The arguments for selected tests. A function makes text of the names beside a shared argument.
enum Arguments {
    /// One command for each shared argument.
    Each(fn(&[&str]) -> String),
    /// One command for all.
    Together(fn(&[&str]) -> String),
    /// The arguments of each command, made from the package as a word of a shell.
    By(fn(&str, &Selected) -> Vec<String>),
}

/// A test that a runner selects.
struct Test<'a> {
    place: &'a TestPlace<'a>,
    /// The path within the package.
    path: &'a str,
    /// The names of its symbol, from the outermost to its own. A file has none.
    names: Vec<&'a str>,
    /// The last of the names, and the one before it.
    name: Option<&'a str>,
    class: Option<&'a str>,
}

use Arguments::{By, Each, Together};
use Program::{InRoot, Within};

const SCRIPTS: &[&str] = &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];
/// The words of a manifest that name a runner of scripts.
const PLAYWRIGHT: &str = "\"@playwright/test\"";
const VITEST: &str = "vitest";
const JEST: &str = "jest";
const MOCHA: &str = "\"mocha\"";
const NODE: &str = "node --test";
const JAVA: &[&str] = &["java", "kt", "groovy", "scala"];
const PLACES: Arguments = Together(|places| places.join(" "));
const TITLES: Arguments = Each(|titles| format!(" -t '{}'", titles.join("|")));
const PATTERNS: Arguments = Each(|titles| format!(" -g '{}'", titles.join("|")));
const METHODS: Arguments = Each(|names| format!(" --filter '/::({})( |$)/'", names.join("|")));

/// The runners, in the order of their commands. The first one that knows the package of a file runs
/// it.
#[rustfmt::skip]
static RUNNERS: [Runner; 20] = [
    row(&["rs"], |t, p| nearest(t, p, &["Cargo.toml"]), InRoot(cargo), cargo_test,
        Each(|names| format!(" -- {}", names.join(" ")))),
    Runner { all: "./...", ..row(&["go"], |t, p| nearest(t, p, &["go.mod"]), InRoot(go), go_test,
        Each(|names| match names {
            [name] => format!(" -run '^{name}$'"),
            names => format!(" -run '^({})$'", names.join("|")),
        })) },
    Runner { takes_folders: true, ..row(&["py"], |t, _| is_pytest(t).then(String::new),
        InRoot(pytest), pytest_place, PLACES) },
    row(&["py"], |t, p| manage(t, p).is_none().then(String::new), Within("python -m unittest"),
        python_module, PLACES),
    row(&["py"], manage, Within("python manage.py test"), python_module, PLACES),
    Runner { takes_folders: true, ..row(SCRIPTS, |t, p| script_package(t, p, VITEST),
        Within("npx vitest run"), named_blocks, TITLES) },
    Runner { takes_folders: true, ..row(SCRIPTS, |t, p| script_package(t, p, JEST),
        Within("npx jest"), named_blocks, TITLES) },
    row(SCRIPTS, |t, p| script_package(t, p, PLAYWRIGHT),
        Within("npx playwright test"), named_blocks, PATTERNS),
    row(SCRIPTS, |t, p| script_package(t, p, MOCHA), Within("npx mocha"), named_blocks,
        PATTERNS),
    row(SCRIPTS, |t, p| script_package(t, p, NODE), Within(NODE), file, PLACES),
    row(JAVA, gradle_package, InRoot(gradle), gradle_test,
        Together(|names| format!("--tests {}", names.join(" --tests ")))),
    row(JAVA, pom, InRoot(|t, _, _| either(t, "mvnw", "./mvnw", "mvn")), java_class, By(maven)),
    Runner { takes_folders: true, ..row(&["rb"], |_, p| p.ends_with("_spec.rb").then(String::new),
        InRoot(|t, _, _| either(t, "Gemfile", "bundle exec rspec", "rspec")), lines_of_blocks,
        Together(sorted_lines)) },
    row(&["rb"], |t, _| (t.has)("bin/rails").then(String::new), Within("bin/rails test"),
        rails_test, PLACES),
    Runner { all: "rake test", ..row(&["rb"], |_, _| Some(String::new()), Within(""), ruby_test,
        Each(|names| format!(" -n '/^({})$/'", names.join("|")))) },
    row(&["php"], |t, p| (t.has)("tests/Pest.php").then(|| php(t, p)).flatten(),
        Within("vendor/bin/pest"), functions_of_file, METHODS),
    row(&["php"], php, Within("vendor/bin/phpunit"), functions_of_file, METHODS),
    row(&["exs"], |t, p| nearest(t, p, &["mix.exs"]), Within("mix test"), line_or_file, PLACES),
    row(&["cs"], |_, _| Some(String::new()), Within("dotnet test"), dotnet_test, Together(|names|
        format!("--filter 'FullyQualifiedName~{}'", names.join("|FullyQualifiedName~")))),
    Runner { all: "-lr t", ..row(&["t"], |_, _| Some(String::new()), Within("prove"), file,
        Together(|paths| format!("-l {}", paths.join(" ")))) },
];

const fn row(
    extensions: &'static [&'static str],
    package: fn(&Tree, &str) -> Option<String>,
    program: Program,
    select: fn(&Tree, &Test) -> Names,
    arguments: Arguments,
) -> Runner {
    Runner { extensions, package, program, select, arguments, all: "", takes_folders: false }
}

impl Runner {
    /// Returns the place among [`RUNNERS`] of the runner of a file, and the directory of the package
    /// that the file belongs to.
    fn of(tree: &Tree, path: &str) -> Option<(usize, String)> {
        let runs = |(_, runner): &(usize, &Self)| runner.extensions.contains(&extension(path));
        let mut known = RUNNERS.iter().enumerate().filter(runs);
        known.find_map(|(at, runner)| Some((at, (runner.package)(tree, path)?)))
    }

    /// Returns the argument that tests share, and the names that select this test.
    fn select(&self, tree: &Tree, package: &str, place: &TestPlace) -> Names {
        let path = below(place.path, package);
        let parts = place.symbol.split(['.', ':', '#', '\\']).filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.collect();
        let is_file = place.line == 0;
        // Only a path that is safe in a shell is in a command.
        shell(path)?;
        let test = Test {
            place,
            path,
            name: parts.last().copied().filter(|_| !is_file),
            class: parts.iter().rev().nth(1).copied(),
            names: if is_file { Vec::new() } else { parts },
        };
        (self.select)(tree, &test)
    }

    /// Returns the commands for the selected tests of a package; for all its tests if none are.
    fn commands(&self, tree: &Tree, package: &str, selected: &Selected) -> Vec<String> {
        let Some(at) = (if package.is_empty() { Some(String::new()) } else { shell(package) })
        else {
            return Vec::new();
        };
        let each = |to_text: fn(&[&str]) -> String| -> Vec<String> {
            let one = |(shared, names): (&String, &BTreeSet<String>)| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let names = if names.is_empty() { String::new() } else { to_text(&names) };
                format!("{shared}{names}")
            };
            selected.iter().map(one).collect()
        };
        let arguments = match self.arguments {
            By(make) => make(&at, selected),
            _ if selected.is_empty() => vec![self.all.to_string()],
            Each(to_text) => each(to_text),
            Together(to_text) => vec![each(to_text).join(" ")],
        };
        let (program, is_within) = match self.program {
            Within(program) => (program.to_string(), !at.is_empty()),
            InRoot(make) => (make(tree, package, &at), false),
        };
        let command = |arguments: String| {
            let command = format!("{program} {}", arguments.trim_start());
            let command = command.trim();
            if is_within { format!("(cd {at} && {command})") } else { command.to_string() }
        };
        arguments.into_iter().map(command).collect()
    }
}

/// Returns the nearest directory around a file that has one of these files.
fn nearest(tree: &Tree, path: &str, manifests: &[&str]) -> Option<String> {
    let has_one = |at: &&str| manifests.iter().any(|manifest| (tree.has)(&join(at, manifest)));
    directories_around(path).find(has_one).map(String::from)
}

fn says(tree: &Tree, file: &str, word: &str) -> bool {
    (tree.has)(file) && (tree.read)(file).is_some_and(|text| text.contains(word))
}

fn is_pytest(tree: &Tree) -> bool {
    let requires = |path: &&str| {
        let name = file_name(path);
        let may =
            matches!(name, "pyproject.toml" | "tox.ini" | "setup.cfg" | "setup.py" | "Pipfile")
                || (name.contains("requirements") && extension(name) == "txt");
        may && path.matches('/').count() <= 1 && says(tree, path, "pytest")
    };
    (tree.has)("pytest.ini")
        || tree.paths.iter().any(|path| file_name(path) == "conftest.py")
        || tree.paths.iter().any(requires)
}

/// Returns the package of a script whose manifest, or the nearest above it that names a runner, names
/// this one first. A runner that only the root names runs in the root.
fn script_package(tree: &Tree, path: &str, wanted: &str) -> Option<String> {
    let start = nearest(tree, path, &["package.json"])?;
    let mut at = &*start;
    loop {
        let text = (tree.read)(&join(at, "package.json")).unwrap_or_default();
        let is_used =
            |word: &str| word != PLAYWRIGHT || says(tree, path, PLAYWRIGHT.trim_matches('"'));
        let known = [PLAYWRIGHT, VITEST, JEST, MOCHA, NODE];
        let mut known = known.into_iter().filter(|word| text.contains(word));
        if let Some(word) = known.find(|word| is_used(word)) {
            let package = if at.is_empty() { String::new() } else { start.clone() };
            return (word == wanted).then_some(package);
        }
        if at.is_empty() {
            return None;
        }
        at = directory(at);
    }
}

fn manage(tree: &Tree, path: &str) -> Option<String> {
    nearest(tree, path, &["manage.py"])
}

fn pom(tree: &Tree, path: &str) -> Option<String> {
    nearest(tree, path, &["pom.xml"])
}

fn gradle_package(tree: &Tree, path: &str) -> Option<String> {
    let gradle = nearest(tree, path, &["build.gradle", "build.gradle.kts"])?;
    pom(tree, path).is_none_or(|maven| maven.len() <= gradle.len()).then_some(gradle)
}

fn php(tree: &Tree, path: &str) -> Option<String> {
    nearest(tree, path, &["composer.json", "phpunit.xml", "phpunit.xml.dist"])
}

fn either(tree: &Tree, file: &str, with: &str, without: &str) -> String {
    if (tree.has)(file) { with.into() } else { without.into() }
}

fn cargo(tree: &Tree, package: &str, _: &str) -> String {
    let name = package_name(tree, package);
    name.map_or("cargo test".into(), |name| format!("cargo test -p {name}"))
}

fn go(_: &Tree, _: &str, at: &str) -> String {
    if at.is_empty() { "go test".into() } else { format!("go -C {at} test") }
}

fn pytest(tree: &Tree, _: &str, _: &str) -> String {
    let poetry = || either(tree, "poetry.lock", "poetry run pytest", "pytest");
    if (tree.has)("uv.lock") { "uv run pytest".into() } else { poetry() }
}

fn gradle(tree: &Tree, _: &str, at: &str) -> String {
    let program = either(tree, "gradlew", "./gradlew", "gradle");
    let project = if at.is_empty() { String::new() } else { format!(":{}:", at.replace('/', ":")) };
    format!("{program} {project}test")
}

fn word(name: &str) -> Option<String> {
    is_word(name).then(|| name.to_string())
}

/// Returns an optional name as a list; `None` if it is not safe.
fn words(name: Option<&str>) -> Option<Vec<String>> {
    name.map(word).into_iter().collect()
}

/// Selects by names with dots between them, if they are safe.
fn dotted(place: String) -> Names {
    place.split('.').all(is_word).then(|| (String::new(), vec![place]))
}

fn file(_: &Tree, test: &Test) -> Names {
    Some((String::new(), vec![shell(test.path)?]))
}

fn cargo_test(_: &Tree, test: &Test) -> Names {
    let (target, module) = cargo_target(test.path);
    let target = match target {
        Some(name) => format!("--test {}", word(&name)?),
        None => String::new(),
    };
    let around = Some(&*module).filter(|module| !module.is_empty());
    let own = test.place.symbol.split("::").filter(|_| test.place.line > 0);
    let name = around.into_iter().chain(own).collect::<Vec<_>>().join("::");
    if name.is_empty() {
        return Some((target, Vec::new()));
    }
    name.split("::").all(is_word).then(|| (target, vec![name]))
}

fn go_test(_: &Tree, test: &Test) -> Names {
    let folder = shell(&format!("./{}", directory(test.path)))?;
    // A method of a suite is run by a function that has any name.
    let is_plain = test.place.is_function && test.class.is_none();
    let name = test.name.filter(|name| is_plain && !name.starts_with("Benchmark"));
    Some((folder.trim_end_matches('/').to_string(), words(name)?))
}

fn pytest_place(_: &Tree, test: &Test) -> Names {
    let place = [&[&*shell(test.path)?], &*test.names].concat().join("::");
    test.names.iter().copied().all(is_word).then(|| (String::new(), vec![place]))
}

fn python_module(_: &Tree, test: &Test) -> Names {
    let module = test.path.strip_suffix(".py")?.replace('/', ".");
    dotted([&[&*module], &*test.names].concat().join("."))
}

fn dotnet_test(_: &Tree, test: &Test) -> Names {
    dotted(if test.place.line > 0 { test.names.join(".") } else { stem(test.path).to_string() })
}

fn named_blocks(tree: &Tree, test: &Test) -> Names {
    let patterns = blocks(tree, test.place).into_values().map(|name| pattern(&name));
    Some((shell(test.path)?, patterns.filter(|name| !name.is_empty()).collect()))
}

/// Selects by the class of a test, which may have the name of its file, and the name of its method.
fn java_class(_: &Tree, test: &Test) -> Names {
    let (class, name) =
        if test.place.is_function { (test.class, test.name) } else { (test.name, None) };
    Some((word(class.unwrap_or_else(|| stem(test.path)))?, words(name)?))
}

fn gradle_test(tree: &Tree, test: &Test) -> Names {
    let (class, names) = java_class(tree, test)?;
    Some((String::new(), vec![[vec![class], names].concat().join(".")]))
}

/// Integration tests, whose classes end in `IT`, run in a later phase.
fn maven(at: &str, selected: &Selected) -> Vec<String> {
    let of = if at.is_empty() {
        String::new()
    } else {
        format!(" -pl {at} -am -Dsurefire.failIfNoSpecifiedTests=false")
    };
    let one = |(class, names): (&String, &BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if names.is_empty() { class.clone() } else { format!("{class}#{}", names.join("+")) }
    };
    let tests = |is_slow: bool| -> Vec<String> {
        let classes = selected.iter().filter(|(class, _)| class.ends_with("IT") == is_slow);
        classes.map(one).collect()
    };
    let (quick, slow) = (tests(false), tests(true));
    let mut run = Vec::new();
    if selected.is_empty() {
        run.push(format!("test{of}"));
    }
    if !quick.is_empty() {
        run.push(format!("test{of} -Dtest='{}'", quick.join(",")));
    }
    if !slow.is_empty() {
        run.push(format!("verify{of} -Dit.test='{}'", slow.join(",")));
    }
    run
}

fn line_or_file(_: &Tree, test: &Test) -> Names {
    let is_function = test.place.line > 0 && test.place.is_function;
    let line = if is_function { format!(":{}", test.place.line) } else { String::new() };
    Some((String::new(), vec![format!("{}{line}", shell(test.path)?)]))
}

fn lines_of_blocks(tree: &Tree, test: &Test) -> Names {
    let lines = blocks(tree, test.place).into_keys().map(|line| line.to_string());
    Some((shell(test.path)?, lines.collect()))
}

fn sorted_lines(lines: &[&str]) -> String {
    let mut lines: Vec<u32> = lines.iter().filter_map(|line| line.parse().ok()).collect();
    lines.sort_unstable();
    lines.iter().fold(String::new(), |place, line| format!("{place}:{line}"))
}

fn rails_test(tree: &Tree, test: &Test) -> Names {
    let (path, lines) = lines_of_blocks(tree, test)?;
    if lines.is_empty() || (test.place.line > 0 && test.place.is_function) {
        return line_or_file(tree, test);
    }
    Some((String::new(), lines.iter().map(|line| format!("{path}:{line}")).collect()))
}

fn functions_of_file(_: &Tree, test: &Test) -> Names {
    Some((shell(test.path)?, words(test.name.filter(|_| test.place.is_function))?))
}

fn ruby_test(tree: &Tree, test: &Test) -> Names {
    let (path, names) = functions_of_file(tree, test)?;
    Some((format!("ruby -Ilib -Itest {path}"), names))
}

/// Returns the integration test that a file of a crate belongs to, if it is one, and its module.
fn cargo_target(path: &str) -> (Option<String>, String) {
    let module = |parts: &[&str]| -> String {
        let mut parts: Vec<&str> = parts.to_vec();
        if let Some(last) = parts.pop() {
            let stem = last.trim_end_matches(".rs");
            if !matches!(stem, "mod" | "lib" | "main") {
                parts.push(stem);
            }
        }
        parts.join("::")
    };
    let parts: Vec<&str> = path.split('/').collect();
    match &*parts {
        ["tests", file] => (Some(file.trim_end_matches(".rs").to_string()), String::new()),
        ["tests", target, rest @ ..] => (Some((*target).to_string()), module(rest)),
        ["src", "bin", _, ..] => (None, String::new()),
        ["src", rest @ ..] => (None, module(rest)),
        _ => (None, String::new()),
    }
}

/// Returns the name of the package of a crate in a workspace.
fn package_name(tree: &Tree, package: &str) -> Option<String> {
    if package.is_empty() {
        return None;
    }
    let manifest: toml::Value = toml::from_str(&(tree.read)(&join(package, "Cargo.toml"))?).ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let is_safe = !name.starts_with('-')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    is_safe.then(|| name.to_string())
}

/// Returns the line and the name of the innermost block of tests around each use in a file:
/// `it("adds", () => {`, `describe "sums" do`. The name is empty if it is no text.
fn blocks(tree: &Tree, test: &TestPlace) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    if test.sites.is_empty() {
        return found;
    }
    let text = (tree.read)(test.path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for site in test.sites {
        let Some((line, name)) = blocks_around(&lines, *site as usize).into_iter().next() else {
            // A use outside of all blocks concerns the whole file.
            return BTreeMap::new();
        };
        found.insert(line, name);
    }
    found
}

/// Returns the lines and the names of the blocks of tests around a line of a file, innermost first.
#[must_use]
pub fn blocks_around(lines: &[&str], site: usize) -> Vec<(u32, String)> {
    const OPENERS: [&str; 12] = [
        "it", "test", "describe", "context", "specify", "scenario", "feature", "suite", "RSpec",
        "fit", "subtest", "example",
    ];
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (mut least, mut found) = (usize::MAX, Vec::new());
    for (at, line) in lines.iter().enumerate().take(site).rev() {
        if least == 0 {
            break;
        }
        if line.trim().is_empty() || indent(line) >= least {
            continue;
        }
        let code = line.trim_start();
        let end = code.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(code.len());
        let follows = code[end..].starts_with([' ', '(', '.']);
        if OPENERS.contains(&&code[..end]) && follows && !code[end..].trim_start().starts_with('=')
        {
            let name = quoted_text(&code[end..]).unwrap_or_default();
            found.push((u32::try_from(at + 1).unwrap_or(u32::MAX), name));
        }
        // The line of the use may be deeper than the lines below its block's head.
        least = indent(line);
    }
    found
}

/// Returns the first text in quotes.
fn quoted_text(code: &str) -> Option<String> {
    let start = code.find(['"', '\'', '`'])?;
    let quote = code[start..].chars().next()?;
    let rest = &code[start + 1..];
    Some(rest[..rest.find(quote)?].to_string())
}

/// Returns a regular expression for the beginning of a name of a test. Each character that a shell
/// or a regular expression may take for something else matches any one character; what is filled in
/// later ends the beginning.
fn pattern(name: &str) -> String {
    const MAX_CHARS: usize = 80;
    let fixed = name.split(['%', '$', '#']).next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || " _-,:/".contains(c) { c } else { '.' };
    let pattern: String = fixed.chars().take(MAX_CHARS).map(plain).collect();
    let is_said = pattern.chars().any(char::is_alphanumeric) && !pattern.starts_with('-');
    if is_said { pattern } else { String::new() }
}

/// Whether a name is an identifier, which no shell changes.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns a path as a word of a shell, in quotes if it needs them; `None` if quotes would not help
/// or a program may take it for an option.
fn shell(path: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+@,".contains(c);
    let is_quotable = |c: char| is_plain(c) || " ()[]{}=~&#".contains(c);
    if path.is_empty() || path.starts_with(['-', '~']) || !path.chars().all(is_quotable) {
        return None;
    }
    Some(if path.chars().all(is_plain) { path.to_string() } else { format!("'{path}'") })
}

fn below<'p>(path: &'p str, package: &str) -> &'p str {
    path.strip_prefix(package).map_or(path, |rest| rest.trim_start_matches('/'))
}

fn stem(path: &str) -> &str {
    file_name(path).split('.').next().unwrap_or_default()
}
