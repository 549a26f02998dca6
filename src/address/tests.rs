use super::*;

fn at(path: &str, first: u32, last: u32) -> Address {
    Address { path: path.into(), lines: Some((first, last)), ..Address::default() }
}

#[test]
fn one_address_is_read_as_people_write_it() {
    for (text, wanted) in [
        ("src/a.rs:10", at("src/a.rs", 10, 10)),
        ("src/a.rs:10-40", at("src/a.rs", 10, 40)),
        ("src/a.rs:10-", at("src/a.rs", 10, u32::MAX)),
        ("src/a.rs:10:5", at("src/a.rs", 10, 10)),
        ("src/a.rs:10:", at("src/a.rs", 10, 10)),
        ("./src/a.rs(10,5)", at("src/a.rs", 10, 10)),
        ("src/a.rs#L10-L20", at("src/a.rs", 10, 20)),
        ("src/a.rs#L10C3-L20C9", at("src/a.rs", 10, 20)),
        ("src/a.rs:0", at("src/a.rs", 1, 1)),
        ("`src\\a.cs:line 12`", at("src/a.cs", 12, 12)),
        ("file:///home/u/a.rs:3", at("/home/u/a.rs", 3, 3)),
        ("C:\\code\\a.ps1:3", at("C:/code/a.ps1", 3, 3)),
    ] {
        assert_eq!(Address::parse(text), wanted, "{text}");
    }
    let symbol = Address::parse("src/a.rs#Type::method");
    assert_eq!((&*symbol.path, symbol.symbol.as_deref()), ("src/a.rs", Some("Type::method")));
    for path in ["src/a.rs", "a b.md", "#readme#", "c#", "x:y.txt", ":", "", "a(1).txt"] {
        let address = Address::parse(path);
        assert_eq!((&*address.path, address.lines), (path, None), "{path}");
    }
}

#[test]
fn an_address_has_several_ranges() {
    for (text, wanted) in [
        ("src/a.rs:10-40,80-90", &[(10, 40), (80, 90)][..]),
        ("src/a.rs:10, 20-30,40-", &[(10, 10), (20, 30), (40, u32::MAX)]),
        ("src/a.rs#L10-L20,L30-L40", &[(10, 20), (30, 40)]),
        ("src/a.rs:10-40", &[(10, 40)]),
        ("src/a.rs:9,5-3,0", &[(9, 9), (5, 5), (1, 1)]),
    ] {
        let address = Address::parse(text);
        assert_eq!(
            (&*address.path, address.ranges().collect::<Vec<_>>()),
            ("src/a.rs", wanted.to_vec()),
            "{text}"
        );
    }
    for path in ["a,b.rs", "src/a.rs,5", "a.rs:1-2,x", "report 10,20.csv"] {
        assert_eq!(Address::parse(path).lines, None, "{path}");
    }
}

#[test]
fn a_symbol_follows_the_name_of_a_file_after_two_colons() {
    for (text, path, symbol) in [
        ("src/a.rs::Type::method", "src/a.rs", Some("Type::method")),
        ("tests/test_a.py::TestA::test_b", "tests/test_a.py", Some("TestA::test_b")),
        ("src\\a.cs::Type.Method", "src/a.cs", Some("Type.Method")),
        ("src/a.rs#Type.method", "src/a.rs", Some("Type.method")),
        ("std::vec::Vec", "std::vec::Vec", None),
        ("Type::method", "Type::method", None),
        ("App\\Models\\User::find", "App/Models/User::find", None),
        ("Type.method", "Type.method", None),
        ("src/a.rs::", "src/a.rs::", None),
    ] {
        let address = Address::parse(text);
        assert_eq!((&*address.path, address.symbol.as_deref()), (path, symbol), "{text}");
    }
}

#[test]
fn a_path_of_another_machine_fits_by_its_end() {
    let files = ["src/flask/sessions.py", "src/flask/json/tag.py", "tests/sessions.py", "main.py"];
    let fits = |path: &str| matching(path, files.into_iter());
    assert_eq!(fits("src/flask/sessions.py"), ["src/flask/sessions.py"]);
    assert_eq!(fits("/home/u/flask/src/flask/sessions.py"), ["src/flask/sessions.py"]);
    assert_eq!(fits("/app/flask/sessions.py"), ["src/flask/sessions.py"]);
    assert_eq!(fits("flask/sessions.py"), ["src/flask/sessions.py"]);
    assert_eq!(fits("sessions.py"), ["src/flask/sessions.py", "tests/sessions.py"]);
    assert_eq!(fits("/home/u/project/main.py"), ["main.py"]);
    assert!(fits("/usr/lib/python3.11/main.py").is_empty());
    assert!(fits("/usr/lib/python3/site-packages/werkzeug/sessions.py").is_empty());
    assert!(fits("xsessions.py").is_empty() && fits("/").is_empty() && fits("").is_empty());
}

#[test]
fn an_installed_package_of_the_project_itself_is_the_project() {
    let files = ["src/flask/app.py", "tests/test_app.py"];
    let path = "/venv/lib/python3.11/site-packages/flask/app.py";
    assert_eq!(matching(path, files.into_iter()), ["src/flask/app.py"]);
    let other = "/venv/lib/python3.11/site-packages/click/app.py";
    assert!(matching(other, files.into_iter()).is_empty());
}

/// The first place of each trace that is a file of the project is the one that a reader wants.
#[test]
fn the_first_frame_of_the_project_is_found_in_traces_of_many_languages() {
    let mut wrong = Vec::new();
    let traces: Vec<&str> = include_str!("traces.txt").split("\n@ ").collect();
    for trace in &traces {
        let (head, text) = trace.trim_start_matches("@ ").split_once('\n').unwrap();
        let (wanted, files) = head.split_once(" | ").unwrap();
        let first = addresses_in(text).into_iter().find_map(|address| {
            let found = matching(&address.path, files.split(' '));
            found.first().map(|file| format!("{file}:{}", address.lines.unwrap().0))
        });
        if first.as_deref() != Some(wanted) {
            wrong.push(format!("{wanted}: {first:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), traces.len());
}

#[test]
fn questions_rarely_name_places() {
    for text in [
        "how are sessions signed",
        "what listens on http://localhost:8080",
        "version 1.2.3:4",
        "at 10:30 the job ran",
        "std::vec::Vec",
        "foo.bar(12)",
    ] {
        let found = addresses_in(text);
        let files = ["src/session.rs", "bar.rs"];
        assert!(
            found.iter().all(|a| matching(&a.path, files.into_iter()).is_empty()),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_folder_with_the_name_of_a_project_may_have_a_version() {
    for (path, wanted) in [
        ("/home/ann/go/pkg/mod/example.com/depot@v1.2.0/a/b.go", Some("a/b.go")),
        ("/app/vendor/example.com/depot/a.go", Some("a.go")),
        ("/usr/lib/gems/depot-1.2.0/lib/depot/a.rb", Some("a.rb")),
        ("/usr/lib/gems/depot-extra-1.2.0/lib/a.rb", None),
        ("/usr/src/depots/a.rb", None),
        ("a.go", None),
    ] {
        assert_eq!(within(path, "depot"), wanted, "{path}");
    }
}
