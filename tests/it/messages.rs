//! Messages name the commands of the front end, and give the reason that is known.

use crate::project::Project;

#[test]
fn errors_of_the_command_line_name_commands_and_not_tools() {
    let p = Project::sample();
    p.index();
    let questions: [&[&str]; 4] = [
        &["read", "zzzz"],
        &["read", "src/retry.rs#zzzzzzzz"],
        &["related", "--chunk-id", "nobody"],
        &["graph", "callers", "zzzzzzzz"],
    ];
    for question in questions {
        let said = p.run(question).stderr;
        assert!(said.contains("cortex outline") || said.contains("cortex search"), "{said}");
        assert!(!said.contains("cortex_"), "{said}");
    }
}

#[test]
fn a_path_that_is_not_indexed_gets_the_reason_and_its_rule() {
    let p = Project::with(&[
        ("a.rs", "fn a() {}\n"),
        ("yarn.lock", "lock\n"),
        ("out/b.rs", "fn b() {}\n"),
        (".gitignore", "# built\nout\n"),
    ]);
    p.index();
    for (path, why) in [
        ("yarn.lock", "skipped (lock file)"),
        ("out/b.rs", "ignored by .gitignore:2 (out)"),
        ("gone.rs", "there is no such file"),
    ] {
        let said = p.run(&["read", path]).error();
        assert!(said.contains(why), "{path}: {said}");
    }
}

#[test]
fn a_project_that_cannot_be_opened_is_one_error() {
    let p = Project::sample();
    let missing = p.path("missing").display().to_string();
    let said = p.run(&["search", "x", "--project", &missing]).error();
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}

#[test]
fn words_that_neither_the_project_nor_a_language_knows_find_nothing() {
    let p = Project::sample();
    p.index();
    p.run(&["search", "qwxzv blorptak zzyqx"]).expect(1);
    p.run(&["search", "flurbo grontik snazzle"]).expect(1);
}

/// Bug: `outline 'Pump#start'` listed the whole file.
#[test]
fn the_outline_of_a_symbol_has_only_its_own_symbols() {
    let p = Project::with(&[(
        "pump.py",
        "class Pump:\n    def start(self):\n        def inner():\n            return 1\n        return inner\n\nclass Valve:\n    pass\n",
    )]);
    p.index();
    for symbol in ["Pump#start", "pump.py#Pump.start"] {
        let answer = p.json(&["outline", symbol]);
        let symbols = answer["symbols"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let shown: Vec<_> =
            symbols.iter().map(|s| (s["name"].as_str(), s["depth"].as_u64())).collect();
        assert_eq!(shown, [(Some("start"), Some(0)), (Some("inner"), Some(1))], "{symbol}");
    }
}

/// "No indexed file matches" left open why, although a rule left the folder out.
#[test]
fn a_glob_of_a_folder_that_is_left_out_names_the_rule() {
    let p = Project::with(&[
        ("src/a.rs", "fn a() {}\n"),
        (".templates/page.txt", "fn a() {}\n"),
        ("generated/b.rs", "fn a() {}\n"),
        (".gitignore", "generated/\n"),
    ]);
    for (glob, why) in [
        (".templates/**", "(it is left out (hidden); `grep -rn TEXT .templates` searches it once"),
        ("generated/*.rs", "(it is left out (ignored by .gitignore:1 (generated/)); `grep -rn"),
    ] {
        let out = p.run(&["grep", "fn a", glob]).expect(1);
        let said = out.stderr + &out.stdout;
        assert!(said.contains(&format!("no indexed file matches {glob} {why}")), "{said}");
    }
}

#[test]
fn a_syntax_error_is_named_and_hides_no_other_definition() {
    let p = Project::with(&[
        (
            "shop.py",
            "def price():\n    return 1\n\ndef broken(:\n    return (((price()\n\ndef total():\n    return price()\n",
        ),
        (
            "Shop.java",
            "class Shop {\n  int cost() { return 1; }\n  int broken( { return ;\n  int sum() { return cost(); }\n}\n",
        ),
        ("whole.py", "def whole():\n    return 1\n"),
    ]);
    p.index();
    for (file, lines, symbol, user) in
        [("shop.py", "lines 4-5", "price", "total"), ("Shop.java", "line 3", "cost", "sum")]
    {
        let outline = p.json(&["outline", file]);
        let names: Vec<_> =
            outline["symbols"].as_array().unwrap().iter().map(|s| s["name"].clone()).collect();
        assert!(names.contains(&user.into()) && names.contains(&"broken".into()), "{outline}");
        let said = format!("`{file}` has syntax errors: {lines} could not be parsed");
        assert!(outline["warnings"].to_string().contains(&said), "{outline}");
        let shown = p.run(&["outline", file]).expect(0);
        assert!(shown.stderr.contains(&said), "{}", shown.stderr);
        let callers = p.run(&["graph", "callers", symbol]).expect(0).stdout;
        assert!(callers.contains(user), "{callers}");
    }
    let outline = p.json(&["outline", "whole.py"]).to_string();
    assert!(!outline.contains("syntax error"), "{outline}");
}
