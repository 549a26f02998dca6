//! The commands that run given tests, by what the repository has. Names come from the repository: a
//! name that a shell or a runner might take for something else is in no command.

use std::collections::{BTreeMap, BTreeSet};

use super::{Tree, directory, extension, file_name, join};

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

/// Arguments by command. The name of a test selects it; a file without names runs as a whole.
type Selected = BTreeMap<String, BTreeSet<String>>;

/// Returns the commands that run these tests and, as far as the runner can select them, no others.
#[must_use]
pub fn test_commands(tree: &Tree, tests: &[TestPlace]) -> TestCommands {
    let mut by_runner: BTreeMap<(Runner, String), (Selected, BTreeSet<&str>)> = BTreeMap::new();
    let mut out = TestCommands::default();
    for test in tests {
        let selected = Runner::of(tree, test.path).and_then(|(runner, package)| {
            let (head, names) = runner.select(tree, &package, test)?;
            Some(((runner, package), head, names))
        });
        let Some((runner, head, names)) = selected else {
            out.n_left_out += 1;
            continue;
        };
        let (selected, files) = by_runner.entry(runner).or_default();
        selected.entry(head).or_default().extend(names);
        files.insert(test.path);
    }
    for ((runner, package), (mut selected, files)) in by_runner {
        if files.len() > MAX_FILES && runner.takes_folders() {
            let folders = folders(files.iter().map(|path| below(path, &package)));
            selected = runner.select_folders(&folders).unwrap_or_else(|| runner.everything());
        }
        let mut run = runner.commands(tree, &package, &selected);
        if run.len() > MAX_COMMANDS || run.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            // Nobody pastes such a list, and a reply has no room for it.
            run = runner.commands(tree, &package, &runner.everything());
        }
        out.run.extend(run.into_iter().map(|command| command.trim_end().to_string()));
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

/// A program that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Runner {
    Cargo,
    Go,
    Pytest,
    Unittest,
    Django,
    Vitest,
    Jest,
    Playwright,
    Mocha,
    Node,
    Gradle,
    Maven,
    Rspec,
    Rails,
    Minitest,
    Phpunit,
    Pest,
    Mix,
    Dotnet,
    Prove,
}

impl Runner {
    /// Returns the runner of a file, and the directory of the package that the file belongs to.
    fn of(tree: &Tree, path: &str) -> Option<(Self, String)> {
        let nearest = |manifests: &[&str]| -> Option<String> {
            let mut at = directory(path);
            loop {
                if manifests.iter().any(|manifest| (tree.has)(&join(at, manifest))) {
                    return Some(at.to_string());
                }
                if at.is_empty() {
                    return None;
                }
                at = directory(at);
            }
        };
        let says = |file: &str, word: &str| {
            (tree.has)(file) && (tree.read)(file).is_some_and(|text| text.contains(word))
        };
        match extension(path) {
            "rs" => Some((Self::Cargo, nearest(&["Cargo.toml"])?)),
            "go" => Some((Self::Go, nearest(&["go.mod"])?)),
            "py" => {
                let is_pytest = (tree.has)("pytest.ini")
                    || tree.paths.iter().any(|path| file_name(path) == "conftest.py")
                    || tree.paths.iter().any(|path| {
                        let name = file_name(path);
                        let may = matches!(
                            name,
                            "pyproject.toml" | "tox.ini" | "setup.cfg" | "setup.py" | "Pipfile"
                        ) || (name.contains("requirements") && extension(name) == "txt");
                        may && path.matches('/').count() <= 1 && says(path, "pytest")
                    });
                let runner = match (is_pytest, nearest(&["manage.py"])) {
                    (false, Some(at)) => return Some((Self::Django, at)),
                    (true, _) => Self::Pytest,
                    (false, None) => Self::Unittest,
                };
                Some((runner, String::new()))
            }
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => {
                let mut at = nearest(&["package.json"])?;
                let start = at.clone();
                loop {
                    let manifest = join(&at, "package.json");
                    let text = (tree.read)(&manifest).unwrap_or_default();
                    let is_browser = says(path, "@playwright/test");
                    let known = [
                        ("\"@playwright/test\"", Self::Playwright),
                        ("vitest", Self::Vitest),
                        ("jest", Self::Jest),
                        ("\"mocha\"", Self::Mocha),
                        ("node --test", Self::Node),
                    ];
                    let known = known.iter().find(|(word, runner)| {
                        text.contains(word) && (is_browser || *runner != Self::Playwright)
                    });
                    if let Some((_, runner)) = known {
                        return Some((*runner, if at.is_empty() { at } else { start }));
                    }
                    if at.is_empty() {
                        return None;
                    }
                    at = directory(&at).to_string();
                }
            }
            "java" | "kt" | "groovy" | "scala" => {
                let gradle = nearest(&["build.gradle", "build.gradle.kts"]);
                let maven = nearest(&["pom.xml"]);
                match (gradle, maven) {
                    (Some(gradle), maven)
                        if maven.as_ref().is_none_or(|m| m.len() <= gradle.len()) =>
                    {
                        Some((Self::Gradle, gradle))
                    }
                    (_, Some(maven)) => Some((Self::Maven, maven)),
                    _ => None,
                }
            }
            "rb" if file_name(path).ends_with("_spec.rb") => Some((Self::Rspec, String::new())),
            "rb" if (tree.has)("bin/rails") => Some((Self::Rails, String::new())),
            "rb" => Some((Self::Minitest, String::new())),
            "php" => {
                let is_pest = (tree.has)("tests/Pest.php");
                Some((
                    if is_pest { Self::Pest } else { Self::Phpunit },
                    nearest(&["composer.json", "phpunit.xml", "phpunit.xml.dist"])?,
                ))
            }
            "exs" => Some((Self::Mix, nearest(&["mix.exs"])?)),
            "cs" => Some((Self::Dotnet, String::new())),
            "t" => Some((Self::Prove, String::new())),
            _ => None,
        }
    }

    /// Returns the part of the command that tests share, and the names that select this test.
    #[expect(clippy::too_many_lines, reason = "one arm for each runner")]
    fn select(self, tree: &Tree, package: &str, test: &TestPlace) -> Option<(String, Vec<String>)> {
        let path = below(test.path, package);
        let shown = shell(path)?;
        let parts: Vec<&str> =
            test.symbol.split(['.', ':', '#', '\\']).filter(|part| !part.is_empty()).collect();
        let name = parts.last().copied().filter(|_| test.line > 0);
        let class = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied();
        let words = |name: &str| is_word(name).then(|| name.to_string());
        match self {
            Self::Cargo => {
                let (target, module) = cargo_target(path);
                let module = test.symbol.split("::").filter(|_| test.line > 0).fold(
                    module,
                    |module, part| {
                        if module.is_empty() { part.into() } else { format!("{module}::{part}") }
                    },
                );
                let target =
                    target.map(|name| words(&name)).map_or(Some(String::new()), |name| {
                        name.map(|name| format!(" --test {name}"))
                    })?;
                if module.is_empty() {
                    return Some((target, Vec::new()));
                }
                let is_safe = module.split("::").all(is_word);
                is_safe.then(|| (target, vec![module]))
            }
            Self::Go => {
                let folder = shell(&format!("./{}", directory(path)))?;
                let folder = folder.trim_end_matches('/').to_string();
                // A method of a suite is run by a function that has any name.
                let is_plain = test.is_function && class.is_none();
                let names = name.filter(|name| is_plain && !name.starts_with("Benchmark"));
                Some((
                    folder,
                    match names {
                        Some(name) => vec![words(name)?],
                        None => Vec::new(),
                    },
                ))
            }
            Self::Pytest => {
                let names: Vec<&str> = if test.line > 0 { parts.clone() } else { Vec::new() };
                if !names.iter().copied().all(is_word) {
                    return None;
                }
                let place = [&[&*shown], &*names].concat().join("::");
                Some((String::new(), vec![place]))
            }
            Self::Unittest | Self::Django => {
                let module = path.strip_suffix(".py")?.replace('/', ".");
                let names: Vec<&str> = if test.line > 0 { parts.clone() } else { Vec::new() };
                let place = [&[&*module], &*names].concat().join(".");
                place.split('.').all(is_word).then(|| (String::new(), vec![place]))
            }
            Self::Vitest | Self::Jest | Self::Playwright | Self::Mocha => {
                let blocks = blocks(tree, test);
                Some((
                    shown,
                    blocks
                        .into_values()
                        .map(|name| pattern(&name))
                        .filter(|name| !name.is_empty())
                        .collect(),
                ))
            }
            Self::Node | Self::Prove => Some((String::new(), vec![shown])),
            Self::Gradle => {
                let class = if test.is_function { class } else { name };
                let class = class.unwrap_or_else(|| stem(path));
                let mut place = words(class)?;
                if let Some(name) = name.filter(|_| test.is_function) {
                    place = format!("{place}.{}", words(name)?);
                }
                Some((String::new(), vec![place]))
            }
            Self::Maven => {
                let class = if test.is_function { class } else { name };
                let class = words(class.unwrap_or_else(|| stem(path)))?;
                let names = match name.filter(|_| test.is_function) {
                    Some(name) => vec![words(name)?],
                    None => Vec::new(),
                };
                Some((class, names))
            }
            Self::Rspec => {
                let lines = blocks(tree, test).into_keys().map(|line| line.to_string());
                Some((shown, lines.collect()))
            }
            Self::Rails | Self::Mix => {
                let place = if test.line > 0 && test.is_function {
                    format!("{shown}:{}", test.line)
                } else {
                    let lines: Vec<_> = blocks(tree, test)
                        .into_keys()
                        .map(|line| format!("{shown}:{line}"))
                        .collect();
                    if !lines.is_empty() && self == Self::Rails {
                        return Some((String::new(), lines));
                    }
                    shown
                };
                Some((String::new(), vec![place]))
            }
            Self::Minitest | Self::Phpunit | Self::Pest => {
                let names = name.filter(|_| test.is_function);
                Some((
                    shown,
                    match names {
                        Some(name) => vec![words(name)?],
                        None => Vec::new(),
                    },
                ))
            }
            Self::Dotnet => {
                let place = if test.line > 0 { parts.join(".") } else { stem(path).to_string() };
                place.split('.').all(is_word).then(|| (String::new(), vec![place]))
            }
        }
    }

    /// Whether a command runs the tests of a folder that it names.
    fn takes_folders(self) -> bool {
        matches!(self, Self::Pytest | Self::Vitest | Self::Jest | Self::Rspec)
    }

    /// Selects all tests of folders of a package. Returns `None` if they are the whole package, or a
    /// name is not safe in a shell.
    fn select_folders(self, folders: &BTreeSet<&str>) -> Option<Selected> {
        let folders: BTreeSet<String> = folders.iter().map(|f| shell(f)).collect::<Option<_>>()?;
        Some(match self {
            Self::Pytest => Selected::from([(String::new(), folders)]),
            _ => folders.into_iter().map(|folder| (folder, BTreeSet::new())).collect(),
        })
    }

    /// Selects all tests of a package.
    fn everything(self) -> Selected {
        let head = if self == Self::Go { "./..." } else { "" };
        Selected::from([(head.to_string(), BTreeSet::new())])
    }

    /// Returns the commands for the selected tests of a package.
    #[expect(clippy::too_many_lines, reason = "one arm for each runner")]
    fn commands(self, tree: &Tree, package: &str, selected: &Selected) -> Vec<String> {
        let Some(at) = (if package.is_empty() { Some(String::new()) } else { shell(package) })
        else {
            return Vec::new();
        };
        let within = |command: String| {
            if at.is_empty() { command } else { format!("(cd {at} && {command})") }
        };
        let has = |file: &str| (tree.has)(file);
        let all: Vec<String> = selected.values().flatten().cloned().collect();
        let each = |make: &dyn Fn(&str, &[String]) -> String| -> Vec<String> {
            selected
                .iter()
                .map(|(head, names)| make(head, &names.iter().cloned().collect::<Vec<_>>()))
                .collect()
        };
        let either = |names: &[String]| names.join("|");
        match self {
            Self::Cargo => {
                let of = package_name(tree, package)
                    .map(|name| format!(" -p {name}"))
                    .unwrap_or_default();
                each(&|target, names| {
                    let names = if names.is_empty() {
                        String::new()
                    } else {
                        format!(" -- {}", names.join(" "))
                    };
                    format!("cargo test{of}{target}{names}")
                })
            }
            Self::Go => {
                let at = if at.is_empty() { String::new() } else { format!(" -C {at}") };
                each(&|folder, names| match names {
                    [] => format!("go{at} test {folder}"),
                    [name] => format!("go{at} test {folder} -run '^{name}$'"),
                    names => format!("go{at} test {folder} -run '^({})$'", either(names)),
                })
            }
            Self::Pytest => {
                let runner = if has("uv.lock") {
                    "uv run pytest"
                } else if has("poetry.lock") {
                    "poetry run pytest"
                } else {
                    "pytest"
                };
                vec![format!("{runner} {}", all.join(" "))]
            }
            Self::Unittest => vec![format!("python -m unittest {}", all.join(" "))],
            Self::Django => vec![within(format!("python manage.py test {}", all.join(" ")))],
            Self::Vitest | Self::Jest | Self::Playwright | Self::Mocha => {
                let (runner, option) = match self {
                    Self::Vitest => ("npx vitest run", "-t"),
                    Self::Jest => ("npx jest", "-t"),
                    Self::Playwright => ("npx playwright test", "-g"),
                    _ => ("npx mocha", "-g"),
                };
                let commands = each(&|path, names| match names {
                    [] => format!("{runner} {path}"),
                    names => format!("{runner} {path} {option} '{}'", either(names)),
                });
                commands.into_iter().map(within).collect()
            }
            Self::Node => vec![within(format!("node --test {}", all.join(" ")))],
            Self::Gradle => {
                let gradle = if has("gradlew") { "./gradlew" } else { "gradle" };
                let task = if package.is_empty() {
                    "test".to_string()
                } else {
                    format!(":{}:test", at.replace('/', ":"))
                };
                let tests: Vec<String> = all.iter().map(|test| format!("--tests {test}")).collect();
                vec![format!("{gradle} {task} {}", tests.join(" "))]
            }
            Self::Maven => {
                let maven = if has("mvnw") { "./mvnw" } else { "mvn" };
                let of = if at.is_empty() {
                    String::new()
                } else {
                    format!(" -pl {at} -am -Dsurefire.failIfNoSpecifiedTests=false")
                };
                let tests = |is_slow: bool| -> Vec<String> {
                    let classes =
                        selected.iter().filter(|(class, _)| class.ends_with("IT") == is_slow);
                    classes
                        .map(|(class, names)| {
                            if names.is_empty() {
                                class.clone()
                            } else {
                                format!(
                                    "{class}#{}",
                                    names.iter().cloned().collect::<Vec<_>>().join("+")
                                )
                            }
                        })
                        .collect()
                };
                let (quick, slow) = (tests(false), tests(true));
                let mut run = Vec::new();
                if quick == [""] {
                    run.push(format!("{maven} test{of}"));
                } else if !quick.is_empty() {
                    run.push(format!("{maven} test{of} -Dtest='{}'", quick.join(",")));
                }
                if !slow.is_empty() {
                    run.push(format!("{maven} verify{of} -Dit.test='{}'", slow.join(",")));
                }
                run
            }
            Self::Rspec => {
                let runner = if has("Gemfile") { "bundle exec rspec" } else { "rspec" };
                let places = selected.iter().map(|(path, lines)| {
                    let mut lines: Vec<u32> =
                        lines.iter().filter_map(|line| line.parse().ok()).collect();
                    lines.sort_unstable();
                    lines.iter().fold(path.clone(), |place, line| format!("{place}:{line}"))
                });
                vec![format!("{runner} {}", places.collect::<Vec<_>>().join(" "))]
            }
            Self::Rails => vec![format!("bin/rails test {}", all.join(" "))],
            Self::Mix => vec![within(format!("mix test {}", all.join(" ")))],
            Self::Minitest if selected.contains_key("") => vec!["rake test".into()],
            Self::Minitest => each(&|path, names| {
                let only = if names.is_empty() {
                    String::new()
                } else {
                    format!(" -n '/^({})$/'", either(names))
                };
                format!("ruby -Ilib -Itest {path}{only}")
            }),
            Self::Phpunit | Self::Pest => {
                let runner =
                    if self == Self::Pest { "vendor/bin/pest" } else { "vendor/bin/phpunit" };
                let commands = each(&|path, names| {
                    let only = if names.is_empty() {
                        String::new()
                    } else {
                        format!(" --filter '/::({})( |$)/'", either(names))
                    };
                    format!("{runner} {path}{only}")
                });
                commands.into_iter().map(within).collect()
            }
            Self::Dotnet => {
                let tests: Vec<String> =
                    all.iter().map(|test| format!("FullyQualifiedName~{test}")).collect();
                if tests.is_empty() {
                    vec!["dotnet test".into()]
                } else {
                    vec![format!("dotnet test --filter '{}'", tests.join("|"))]
                }
            }
            Self::Prove if all.is_empty() => vec!["prove -lr t".into()],
            Self::Prove => vec![format!("prove -l {}", all.join(" "))],
        }
    }
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
