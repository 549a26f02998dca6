//! Tells what a test is: by the path of its file, and by the name and the attributes of a symbol.

/// What a symbol does for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum TestRole {
    #[default]
    Other,
    /// A test that a runner runs.
    Test,
    /// A function whose value tests receive by naming it as a parameter.
    Fixture,
    /// A function that runs before the tests next to it.
    Setup,
}

impl TestRole {
    const ALL: [Self; 4] = [Self::Other, Self::Test, Self::Fixture, Self::Setup];

    /// Returns the number that a database stores for it.
    #[must_use]
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Returns the role with this number; [`TestRole::Other`] if there is none.
    #[must_use]
    pub fn of_number(number: i64) -> Self {
        usize::try_from(number).ok().and_then(|n| Self::ALL.get(n).copied()).unwrap_or_default()
    }
}

/// A function, as [`test_role`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    pub language: &'a str,
    pub path: &'a str,
    pub name: &'a str,
    /// Its text before the body: comments, attributes and declaration.
    pub head: &'a str,
}

/// Whether a list, words with blanks between them, has `word`.
pub(super) fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// How a family of languages marks tests. Most lists are words with blanks between them.
struct Marks {
    languages: &'static [&'static str],
    /// Beginnings of the names of tests, in files of tests only.
    names: &'static [&'static str],
    /// Calls that define a test, which the outline takes as a function: `TEST(Suite, Name) { … }`.
    calls: &'static str,
    /// Last names of the attributes of tests.
    attributes: &'static str,
    /// Attributes of fixtures.
    fixtures: &'static str,
    /// Names and attributes of what runs before each test.
    setups: &'static str,
}

const MARKS: [Marks; 9] = [
    Marks {
        languages: &["java", "kotlin", "scala", "groovy", "csharp"],
        names: &["test"],
        calls: "",
        attributes: "Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Fact \
            Theory TestMethod TestCase",
        fixtures: "",
        setups: "setUp Before BeforeEach BeforeAll BeforeClass BeforeMethod BeforeTest SetUp \
            OneTimeSetUp TestInitialize",
    },
    Marks {
        languages: &["rust"],
        names: &[],
        calls: "",
        attributes: "test rstest test_case test_log quickcheck wasm_bindgen_test",
        fixtures: "fixture",
        setups: "",
    },
    Marks {
        languages: &["python"],
        names: &["test"],
        calls: "",
        attributes: "",
        fixtures: "fixture",
        setups: "setUp setUpClass setUpTestData asyncSetUp setup setup_method setup_class \
            setup_module",
    },
    Marks {
        languages: &["go"],
        names: &["Test", "Benchmark", "Example", "Fuzz"],
        calls: "",
        attributes: "",
        fixtures: "",
        setups: "SetupTest SetupSuite SetUpTest SetUpSuite",
    },
    Marks {
        languages: &["php"],
        names: &["test"],
        calls: "",
        attributes: "Test test DataProvider",
        fixtures: "",
        setups: "setUp setUpBeforeClass Before",
    },
    Marks {
        languages: &["ruby"],
        names: &["test_"],
        calls: "",
        attributes: "",
        fixtures: "",
        setups: "setup before_setup",
    },
    Marks {
        languages: &["elixir"],
        names: &[],
        calls: "test property",
        attributes: "",
        fixtures: "",
        setups: "",
    },
    Marks {
        languages: &["swift", "objc"],
        names: &["test"],
        calls: "",
        attributes: "Test",
        fixtures: "",
        setups: "setUp setUpWithError",
    },
    Marks {
        languages: &["c", "cpp"],
        names: &["test_"],
        calls: "TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE TEST_CASE_METHOD \
            TEMPLATE_TEST_CASE SCENARIO BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE TEST_METHOD \
            START_TEST Test Theory",
        attributes: "",
        fixtures: "",
        setups: "SetUp",
    },
];

/// Returns what a function does for tests.
#[must_use]
pub fn test_role(function: Function) -> TestRole {
    let Function { language, path, name, head } = function;
    let Some(marks) = MARKS.iter().find(|marks| marks.languages.contains(&language)) else {
        return TestRole::Other;
    };
    let attributes = attributes(head, language == "php");
    let has = |wanted: &str| attributes.iter().any(|one| is_listed(wanted, one));
    if has(marks.fixtures) {
        return TestRole::Fixture;
    }
    let called = |declaration: &str| {
        let end = declaration.find(|c: char| c != '_' && !c.is_alphanumeric());
        end.is_some_and(|end| {
            declaration[end..].starts_with(['(', ' '])
                && is_listed(marks.calls, &declaration[..end])
        })
    };
    let is_test = match language {
        _ if called(head.lines().last().unwrap_or_default().trim_start()) => true,
        "go" => path.ends_with("_test.go") && name != "TestMain" && starts_a_test(name, marks),
        _ => is_test_file(path) && starts_a_test(name, marks),
    };
    if is_test || has(marks.attributes) {
        TestRole::Test
    } else if has(marks.setups) || (is_test_file(path) && is_listed(marks.setups, name)) {
        TestRole::Setup
    } else {
        TestRole::Other
    }
}

/// Whether a name begins as those of tests do, and the beginning is a word: `test_a` and `testA`,
/// but not `testing` or `Testify`.
fn starts_a_test(name: &str, marks: &Marks) -> bool {
    marks.names.iter().any(|start| {
        name.strip_prefix(start).is_some_and(|rest| {
            start.ends_with('_') || !rest.starts_with(|c: char| c.is_ascii_lowercase())
        })
    })
}

/// Returns the last names of the attributes in the head of a definition: `test` of
/// `#[tokio::test]`, `fixture` of `@pytest.fixture(scope="module")`. Comments count only `in_comments`.
pub(super) fn attributes(head: &str, in_comments: bool) -> Vec<&str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '\\');
    let mut found = Vec::new();
    for line in head.lines().map(str::trim_start) {
        let is_comment = ["//", "*", "/*", "\"", "'"].iter().any(|start| line.starts_with(start));
        if is_comment && !in_comments {
            continue;
        }
        let starts = line
            .match_indices(['@', '['])
            .filter(|(at, mark)| *mark == "@" || *at == 0 || line[..*at].ends_with(['#', ']']));
        for (at, _) in starts {
            let rest = &line[at + 1..];
            let path = &rest[..rest.find(|c| !is_path(c)).unwrap_or(rest.len())];
            let last = path.rsplit([':', '.', '\\']).next().unwrap_or(path);
            found.extend(Some(last).filter(|last| !last.is_empty()));
        }
    }
    found
}

/// Whether the tests of a language are blocks, which are not symbols: `it("adds", () => …)`.
#[must_use]
pub fn has_test_blocks(language: &str) -> bool {
    matches!(
        language,
        "javascript"
            | "jsx"
            | "typescript"
            | "tsx"
            | "vue"
            | "svelte"
            | "ruby"
            | "dart"
            | "perl"
            | "groovy"
    )
}

/// Whether a path names a file of tests. Fixtures, mocks and benchmarks are none.
#[must_use]
pub fn is_test_file(path: &str) -> bool {
    const BESIDE: &str = "testdata __fixtures__ fixture fixtures mock mocks __mocks__ bench \
        benches benchmark benchmarks __snapshots__ snapshots";
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_test = is_test_path(path)
        || matches!(stem, "test" | "tests")
        || extension == "t"
        || (stem.len() > 2 && stem.ends_with("IT") && matches!(extension, "java" | "kt"));
    is_test && !folders.split('/').any(|folder| is_listed(BESIDE, &folder.to_lowercase()))
}

/// Whether a path names tests, fixtures, mocks or benchmarks.
#[must_use]
pub fn is_test_path(path: &str) -> bool {
    const FOLDERS: [&str; 21] = [
        "test", "tests", "__tests__", "spec", "specs", "testing", "testsuite", "unittests",
        "regress", "e2e", "testdata", "__fixtures__", "fixture", "fixtures", "mock", "mocks",
        "__mocks__", "bench", "benches", "benchmark", "benchmarks",
    ];
    const ENDINGS: [&str; 9] = [
        "_test", "_tests", "_spec", "_unittest", "_benchmark", ".test", ".spec", "_bench", "-test",
    ];
    const FOLDER_ENDINGS: [&str; 6] = ["_test", "_tests", "-test", "-tests", "Test", "Tests"];
    const CAMEL: [&str; 5] = ["Test", "Tests", "Spec", "Suite", "TestCase"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |(s, rest)| {
        if rest.contains('.') { &name[..name.rfind('.').unwrap_or(s.len())] } else { s }
    });
    let is_of_tests = |folder: &str| {
        FOLDERS.contains(&&*folder.to_lowercase())
            || FOLDER_ENDINGS.iter().any(|end| folder.ends_with(end))
    };
    // Perl's and Git's custom, and Celery's.
    let is_of_t = folders == "t" || folders.starts_with("t/");
    is_of_t
        || folders.split('/').any(is_of_tests)
        || stem.starts_with("test_")
        || stem == "conftest"
        || ENDINGS.iter().any(|e| stem.ends_with(e))
        || CAMEL.iter().any(|e| stem.len() > e.len() && stem.ends_with(e))
}

/// Whether a file of tests is named after a source file: `test_foo.py` and `tests/foo.rs` after
/// `foo`, `FooTest.java` after `Foo.java`.
#[must_use]
pub fn is_named_after(test: &str, source: &str) -> bool {
    if !is_test_file(test) || test == source || kind_of_file(test) != kind_of_file(source) {
        return false;
    }
    let source = plain(own_name(source));
    let own = own_name(test);
    // In such folders, and for a file that is called `tests` itself, the plain name says enough.
    let is_plain_enough = matches!(stem(test), "test" | "tests")
        || test.contains("__tests__/")
        || (kind_of_file(test) == "rs" && test.contains("tests/"));
    match subject(own) {
        Some(subject) => plain(subject) == source,
        None => is_plain_enough && plain(own) == source,
    }
}

/// Whether the name of a test begins with that of a function: `test_parse_line_twice`, `TestParseLine`
/// and `parse_line_of_comments` for `parse_line`.
#[must_use]
pub fn is_test_named_after(test: &str, function: &str) -> bool {
    /// Shorter names are too ambiguous.
    const LEAST: usize = 5;
    let function = function.trim_start_matches('_');
    let rest = ["test_", "Test_", "test", "Test"]
        .iter()
        .find_map(|start| test.strip_prefix(start))
        .unwrap_or(test);
    if function.len() < LEAST || !rest.is_char_boundary(function.len().min(rest.len())) {
        return false;
    }
    let (start, end) = rest.split_at(function.len().min(rest.len()));
    let is_word = !end.starts_with(|c: char| c.is_lowercase() || c.is_numeric());
    is_word && start.eq_ignore_ascii_case(function)
}

/// Returns the number of directories that two paths share, in any position. Of several files that
/// are named alike, the nearest one shares most.
#[must_use]
pub fn nearness(a: &str, b: &str) -> usize {
    let folders = |path: &str| -> Vec<String> {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        above.split('/').map(str::to_lowercase).filter(|f| !f.is_empty()).collect()
    };
    let others = folders(b);
    folders(a).iter().filter(|folder| others.contains(folder)).count()
}

/// Returns a file name without its last extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the stem of a file, or the name of its folder if the stem says nothing.
fn own_name(path: &str) -> &str {
    const NAMELESS: [&str; 8] =
        ["mod", "index", "init", "__init__", "main", "test", "tests", "lib"];
    let stem = stem(path);
    let folder = path.rsplit('/').nth(1).filter(|folder| !folder.is_empty());
    folder.filter(|_| NAMELESS.contains(&stem)).unwrap_or(stem)
}

/// Returns the name of a file of tests without the part that says so; `None` without such a part.
fn subject(stem: &str) -> Option<&str> {
    const STARTS: [&str; 3] = ["test_", "test-", "Test"];
    const ENDS: [&str; 13] = [
        "_test", "_tests", "_spec", "_unittest", ".test", ".spec", "-test", ".e2e", "Tests",
        "Test", "TestCase", "Spec", "IT",
    ];
    let end = ENDS.iter().find_map(|end| stem.strip_suffix(end));
    end.or_else(|| STARTS.iter().find_map(|start| stem.strip_prefix(start)))
        .filter(|subject| !subject.is_empty())
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the extension, one for all that a runner of tests takes together.
fn kind_of_file(path: &str) -> &str {
    match path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, e)| e) {
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => "js",
        "ex" | "exs" => "ex",
        "java" | "kt" | "groovy" | "scala" => "java",
        "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" => "c",
        "pl" | "pm" | "t" => "pl",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_paths() {
        for (path, want) in [
            ("tests/it/main.rs", true),
            ("src/a_test.go", true),
            ("src/a.test.ts", true),
            ("src/FooTest.java", true),
            ("test_x.py", true),
            ("regress/mode-kill.sh", true),
            ("t/unit/tasks.py", true),
            ("src/t/tasks.py", false),
            ("Source/AppTests/State.swift", true),
            ("api/e2e/login.ts", true),
            ("pkg/server-tests/a.js", true),
            ("src/Contests/Round.cs", false),
            ("stats/regression/linear.py", false),
            ("src/contest.rs", false),
            ("src/latest.py", false),
            ("src/testing_tools.rs", false),
            ("src/Test.java", false),
        ] {
            assert_eq!(is_test_path(path), want, "{path}");
        }
    }

    #[test]
    fn fixtures_and_benchmarks_are_no_files_of_tests() {
        assert!(is_test_file("t/basic.t") && is_test_file("app/tests.py"));
        assert!(is_test_file("src/test/java/a/FooIT.java"));
        assert!(!is_test_file("tests/fixtures/a.py") && !is_test_file("benches/a.rs"));
        assert!(!is_test_file("src/__fixtures__/a.js") && !is_test_file("Tests/Fixtures/A.cs"));
    }

    #[test]
    fn each_language_marks_its_tests() {
        let role = |language, path, name, head| test_role(Function { language, path, name, head });
        for (language, path, name, head, want) in [
            ("rust", "src/a.rs", "adds", "#[test]\nfn adds()", TestRole::Test),
            (
                "rust",
                "src/a.rs",
                "adds",
                "#[tokio::test(flavor = \"x\")]\nasync fn adds()",
                TestRole::Test,
            ),
            ("rust", "tests/a.rs", "test_project", "fn test_project()", TestRole::Other),
            ("rust", "src/a.rs", "f", "/// As `#[test]` does.\nfn f()", TestRole::Other),
            ("python", "tests/test_a.py", "test_a", "def test_a(client):", TestRole::Test),
            ("python", "tests/test_a.py", "testing_tools", "def testing_tools():", TestRole::Other),
            ("python", "app/a.py", "test_connection", "def test_connection():", TestRole::Other),
            (
                "python",
                "tests/conftest.py",
                "client",
                "@pytest.fixture\ndef client():",
                TestRole::Fixture,
            ),
            ("python", "tests/test_a.py", "setUp", "def setUp(self):", TestRole::Setup),
            ("go", "a_test.go", "TestA", "func TestA(t *testing.T)", TestRole::Test),
            ("go", "a.go", "TestA", "func TestA()", TestRole::Other),
            ("go", "a_test.go", "TestMain", "func TestMain(m *testing.M)", TestRole::Other),
            ("java", "src/test/java/ATest.java", "adds", "@Test\nvoid adds()", TestRole::Test),
            (
                "java",
                "src/test/java/ATest.java",
                "adds",
                "@org.junit.Test public void adds()",
                TestRole::Test,
            ),
            ("java", "src/test/java/ATest.java", "store", "private Store store()", TestRole::Other),
            (
                "java",
                "src/test/java/ATest.java",
                "init",
                "@BeforeEach\nvoid init()",
                TestRole::Setup,
            ),
            ("csharp", "ATests.cs", "Adds", "[Fact]\npublic void Adds()", TestRole::Test),
            (
                "php",
                "tests/ATest.php",
                "adds",
                "/** @test */\npublic function adds()",
                TestRole::Test,
            ),
            ("php", "tests/ATest.php", "testAdds", "public function testAdds()", TestRole::Test),
            ("ruby", "test/a_test.rb", "test_adds", "def test_adds", TestRole::Test),
            ("cpp", "src/a_test.cc", "Sum, Adds", "TEST_F(Sum, Adds)", TestRole::Test),
            ("cpp", "a.cpp", "TEST_CASE", "TEST_CASE(\"adds\", \"[sum]\")", TestRole::Test),
            ("cpp", "src/a_test.cc", "TESTER", "int TESTER(int x)", TestRole::Other),
            ("c", "tests/a.c", "adds", "START_TEST(adds)", TestRole::Test),
            ("elixir", "test/a_test.exs", "adds", "test \"adds\" do", TestRole::Test),
            ("elixir", "test/a_test.exs", "helper", "defp helper(x) do", TestRole::Other),
        ] {
            assert_eq!(role(language, path, name, head), want, "{path} {head}");
        }
    }

    #[test]
    fn files_of_tests_are_named_after_what_they_test() {
        for (test, source) in [
            ("tests/test_foo.py", "app/foo.py"),
            ("tests/foo_test.py", "app/foo.py"),
            ("src/test/java/a/FooTest.java", "src/main/java/a/Foo.java"),
            ("src/test/java/a/FooIT.java", "src/main/java/a/Foo.java"),
            ("tests/foo.rs", "src/foo.rs"),
            ("src/foo/tests.rs", "src/foo/mod.rs"),
            ("src/foo/tests.rs", "src/foo.rs"),
            ("pkg/foo_test.go", "pkg/foo.go"),
            ("src/foo.spec.ts", "src/foo.ts"),
            ("src/foo.test.tsx", "src/foo.tsx"),
            ("src/__tests__/foo.ts", "src/foo.ts"),
            ("spec/models/foo_spec.rb", "app/models/foo.rb"),
            ("tests/FooTest.php", "src/Foo.php"),
            ("test/foo_test.exs", "lib/foo.ex"),
        ] {
            assert!(is_named_after(test, source), "{test} {source}");
        }
        for (test, source) in [
            ("tests/test_foobar.py", "app/foo.py"),
            ("tests/test_foo.py", "app/foo.rs"),
            ("app/foo.py", "app/foo.py"),
        ] {
            assert!(!is_named_after(test, source), "{test} {source}");
        }
    }

    #[test]
    fn tests_are_named_after_functions() {
        assert!(is_test_named_after("test_parse_line_twice", "parse_line"));
        assert!(is_test_named_after("TestParseLine", "ParseLine"));
        assert!(!is_test_named_after("test_parse_lines", "parse_line"));
        assert!(!is_test_named_after("test_get_all", "get"));
        assert!(!is_test_named_after("testé", "tests"));
    }
}
