//! Files that are not indexed, and how the user learns of them.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

/// A file that is left out is listed with its reason in `--verbose`, counted in the summary, and
/// never found.
#[test]
fn skipped_files_are_told_with_their_reason() {
    let p = Project::with(&[("kept.md", "# Kept\n\nmarzipan\n")]);
    let key = |kind: &str| {
        format!("-----BEGIN {kind}PRIVATE KEY-----\nmarzipan\n-----END {kind}PRIVATE KEY-----\n")
    };
    let cases: [(&str, Vec<u8>, &str); 14] = [
        ("image.png", b"\x89PNG\0\0marzipan".to_vec(), "binary"),
        ("large.txt", b"marzipan and more\n".repeat(60_000), "too large"),
        ("lib.min.js", b"marzipan()".to_vec(), "minified or generated"),
        ("bundle.js", b"var marzipan=1;".repeat(800), "minified or generated"),
        ("app.js.map", b"{\"marzipan\":1}".to_vec(), "minified or generated"),
        ("Cargo.lock", b"# marzipan\n".to_vec(), "lock file"),
        ("web/package-lock.json", b"{\"marzipan\":1}".to_vec(), "lock file"),
        ("go.sum", b"marzipan v1\n".to_vec(), "lock file"),
        ("prod.env", b"KEY=marzipan\n".to_vec(), "may hold secrets"),
        ("id_rsa", b"marzipan\n".to_vec(), "may hold secrets"),
        ("server.pem", b"marzipan\n".to_vec(), "may hold secrets"),
        ("credentials.json", b"{\"marzipan\":1}".to_vec(), "may hold secrets"),
        ("keys/deploy.txt", key("OPENSSH ").into_bytes(), "may hold secrets"),
        ("keys/other", format!("\n{}", key("")).into_bytes(), "may hold secrets"),
    ];
    for (path, content, _) in &cases {
        p.write(path, content);
    }
    let out = p.run(&["index", "--verbose"]).expect(0).stdout;
    for (path, _, reason) in &cases {
        assert!(
            out.lines().any(|l| l.starts_with(&format!("skipped {path}: {reason}"))),
            "{path} {reason}: {out}"
        );
    }
    assert!(out.contains("indexed 1 file in 1 chunk (skipped "), "{out}");
    assert!(
        out.contains("3 lock file")
            && out.contains("6 may hold secrets")
            && !out.contains("kept.md"),
        "{out}"
    );
    let summary = p.json(&["index", "--full"]);
    let counts = json!({"binary": 1, "lock file": 3, "may hold secrets": 6, "minified or generated": 3, "too large": 1});
    assert_eq!(summary["skipped"], counts);
    assert_eq!(summary["skipped_files"].as_array().map(Vec::len), Some(cases.len()));
    assert_eq!(p.index()["skipped"], counts, "an index that is up to date tells it as well");
    assert_eq!(p.json(&["status"])["skipped"], counts);
    assert_eq!(p.found(&["marzipan", "-n", "50"]), ["kept.md"]);
    assert_eq!(p.found(&["--exact", "marzipan", "-n", "50"]), ["kept.md"]);
    assert!(!p.chunks().iter().any(|c| c["id"] != "kept.md#Kept"));
}

/// A program about private keys is not a private key, and a long paragraph is not a bundle.
#[test]
fn files_that_only_resemble_the_skipped_are_indexed() {
    let p = Project::with(&[
        (
            "check.rs",
            "/// Rejects -----BEGIN RSA PRIVATE KEY----- in a file.\npub fn find_keys() {}\n",
        ),
        ("environment.py", "def read_environment():\n    pass\n"),
        ("lock.go", "package lock\n\nfunc Acquire() {}\n"),
    ]);
    p.write(
        "essay.md",
        format!("# Essay\n\n{}\n", "One sentence follows another without a break. ".repeat(300)),
    );
    let summary = p.index();
    assert_eq!((&summary["n_files"], &summary["skipped"]), (&json!(4), &json!({})), "{summary:#}");
}

/// Hidden files and those that ignore files name are not indexed: `.gitignore` (in subdirectories
/// too, and without a git repository), `.git/info/exclude`, `.cortexignore`. A new or removed rule
/// takes effect at the next search.
#[test]
fn ignore_files_are_obeyed() {
    for git in [false, true] {
        let p = Project::new();
        for path in [
            "kept.md", "build/out.md", "sub/private.md", "sub/kept.md", "drafts/idea.md",
            "local.md", ".hidden.md", ".env",
        ] {
            p.write(path, "# Page\n\nmarzipan\n");
        }
        for foreign in ["node_modules/left-pad/index.js", "venv/lib/site.py", "__pycache__/x.py"] {
            p.write(foreign, "marzipan = 1\n");
        }
        p.write("venv/pyvenv.cfg", "home = /usr\n");
        p.write(".gitignore", "/build/\n");
        p.write("sub/.gitignore", "private.md\n");
        p.write(".cortexignore", "drafts/\n");
        let mut want = vec!["kept.md", "sub/kept.md"];
        if git {
            crate::project::run(p.command("git").args(["init", "--quiet"])).expect(0);
            p.write(".git/info/exclude", "local.md\n");
        } else {
            want.insert(1, "local.md");
        }
        let found = || {
            let mut found = p.found(&["--exact", "marzipan", "-n", "50"]);
            found.sort();
            found
        };
        assert_eq!(found(), want, "git: {git}");
        p.write(".gitignore", "/build/\nsub/\n");
        want.retain(|f| !f.starts_with("sub/"));
        assert_eq!(found(), want, "git: {git}, a new rule");
        p.remove(".gitignore");
        p.remove(".cortexignore");
        want.extend(["build/out.md", "drafts/idea.md", "sub/kept.md"]);
        want.sort_unstable();
        assert_eq!(found(), want, "git: {git}, without rules");
    }
}

/// A file that becomes too large, binary or secret leaves the index, and returns once it is
/// ordinary text again.
#[test]
fn a_file_that_becomes_skipped_leaves_the_results() {
    let p = Project::with(&[("a.md", "# A\n\nmarzipan\n"), ("b.md", "# B\n\nnougat\n")]);
    let found = || p.found(&["--exact", "marzipan"]);
    assert_eq!(found(), ["a.md"]);
    for content in [
        b"marzipan\0".to_vec(),
        b"marzipan\n".repeat(150_000),
        b"-----BEGIN PRIVATE KEY-----\nmarzipan".to_vec(),
    ] {
        p.write("a.md", &content);
        assert_eq!(found(), Vec::<String>::new());
        p.write("a.md", "# A\n\nmarzipan again\n");
        assert_eq!(found(), ["a.md"]);
    }
    p.rename("a.md", "a.env");
    assert!(found().is_empty());
    assert_eq!(p.json(&["index"])["skipped_files"][0][0], Value::from("a.env"));
}

/// The size limit is a setting.
#[test]
fn the_size_limit_is_a_setting() {
    let p = Project::with(&[("long.txt", &"marzipan\n".repeat(100)), ("short.txt", "marzipan\n")]);
    p.write(".cortex/config.toml", "[index]\nmax_file_bytes = 500\n");
    assert_eq!(p.found(&["--exact", "marzipan"]), ["short.txt"]);
    p.remove(".cortex/config.toml");
    assert_eq!(p.found(&["--exact", "marzipan"]).len(), 2);
}

/// `cortex status -v` says of each file and folder that is not looked at which rule decides it.
#[test]
fn what_is_left_out_is_listed_with_its_rule() {
    let p = Project::with(&[
        (".gitignore", "# Built\n\n/out\n*.log\n!kept.log\n"),
        ("sub/.cortexignore", "notes.md\n"),
        (".git/info/exclude", "mine.md\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("a.md", "# A\n"),
        ("out/x/b.md", "# B\n"),
        ("sub/kept.log", "kept\n"),
        ("sub/x.log", "x\n"),
        ("sub/notes.md", "# N\n"),
        ("mine.md", "# M\n"),
        (".idea/c.md", "# C\n"),
        (".envrc", "x\n"),
        ("web/node_modules/d.js", "d()\n"),
        ("venv/pyvenv.cfg", "x\n"),
        ("venv/e.py", "e()\n"),
    ]);
    std::os::unix::fs::symlink("a.md", p.path("link.md")).unwrap();
    p.index();
    let rows = [
        ".envrc: hidden",
        ".gitignore: hidden",
        ".idea/: hidden",
        "link.md: a symbolic link",
        "mine.md: ignored by .git/info/exclude:1 (mine.md)",
        "out/: ignored by .gitignore:3 (/out)",
        "sub/.cortexignore: hidden",
        "sub/notes.md: ignored by sub/.cortexignore:1 (notes.md)",
        "sub/x.log: ignored by .gitignore:4 (*.log)",
        "venv/: marked by pyvenv.cfg",
        "web/node_modules/: dependencies or compiled files",
    ];
    let text = p.run(&["status", "-v"]).expect(0).stdout;
    let listed: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("left out")).collect();
    assert_eq!(listed[0], "left out    11 by name or by an ignore file", "{text}");
    assert_eq!(listed[1..], rows.map(|row| format!("  {row}")));
    assert!(!p.run(&["status"]).expect(0).stdout.contains("left out"));
    let left = &p.json(&["status"])["left_out"];
    assert_eq!((&left["total"], left["first"].as_array().map(Vec::len)), (&json!(11), Some(11)));
    let rule = json!({"path": ".gitignore", "line": 3, "glob": "/out"});
    assert_eq!(left["first"][5], json!({"path": "out/", "reason": "ignored", "rule": rule}));

    for i in 0..300 {
        p.write(format!("many/{i:03}.log"), "x\n");
    }
    let text = p.run(&["status", "-v"]).expect(0).stdout;
    assert!(text.contains("left out    311 by") && text.contains("\n  and 111 more\n"), "{text}");
    assert_eq!(p.json(&["status"])["left_out"]["first"].as_array().map(Vec::len), Some(200));
}

/// The user's settings include hidden files and dependencies, but neither what may hold secrets nor
/// what belongs to git. They stay included with every later update, and a project cannot set them.
#[test]
fn the_user_includes_what_is_left_out() {
    let p = Project::with(&[
        (".gitignore", "/out\n*.log\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[zucchini]\n"),
        ("a.md", "# A\n\nzucchini\n"),
        (".config/b.md", "# B\n\nzucchini\n"),
        (".c.md", "# C\n\nzucchini\n"),
        (".env", "zucchini=1\n"),
        (".ssh/config", "zucchini\n"),
        ("out/x/d.md", "# D\n\nzucchini\n"),
        ("out/e.md", "# E\n\nzucchini\n"),
        ("f.log", "zucchini\n"),
        ("node_modules/react/g.js", "zucchini();\n"),
        ("node_modules/react/node_modules/h/h.js", "zucchini();\n"),
        ("node_modules/vue/i.js", "zucchini();\n"),
        ("venv/pyvenv.cfg", "x\n"),
        ("venv/lib/requests/j.py", "zucchini()\n"),
        ("venv/lib/other/k.py", "zucchini()\n"),
    ]);
    let found = || {
        let mut found = p.found(&["--exact", "zucchini", "-n", "50"]);
        found.sort();
        found
    };
    let include = "include = ['node_modules/react/**', '.config', 'out/x/*.md', '*.log', 'venv/lib/requests']";
    let by_project = |settings: &str| p.write(".cortex/config.toml", settings);
    by_project(&format!("[index]\nhidden = true\n{include}\n"));
    assert_eq!(found(), ["a.md"], "a project does not decide it");
    by_project("");
    p.configure(format!("[index]\n{include}\n"));
    let included = [
        ".config/b.md",
        "a.md",
        "f.log",
        "node_modules/react/g.js",
        "node_modules/react/node_modules/h/h.js",
        "out/x/d.md",
        "venv/lib/requests/j.py",
    ];
    assert_eq!(found(), included);
    p.write("a.md", "# A\n\nzucchini, again\n");
    assert_eq!(found(), included, "they stay after an update");
    assert_eq!(p.json(&["files", "--by", "file"])["total"]["files"], 7, "each can be read");
    assert!(p.run(&["read", ".config/b.md"]).expect(0).stdout.contains("zucchini"));
    let left = p.run(&["status", "-v"]).expect(0).stdout;
    for row in [
        "  .c.md: hidden\n",
        "  node_modules/: dependencies or compiled files, except what index.include names\n",
        "  venv/: marked by pyvenv.cfg, except what index.include names\n",
        "  out/: ignored by .gitignore:1 (/out), except what index.include names\n",
    ] {
        assert!(left.contains(row), "{row}: {left}");
    }
    by_project("[index]\nexclude = ['*.log', 'venv']\n");
    assert_eq!(found(), included[..2].iter().chain(&included[3..6]).copied().collect::<Vec<_>>());

    by_project("");
    p.configure("[index]\nhidden = true\n");
    assert_eq!(found(), [".c.md", ".config/b.md", "a.md"], "neither .env nor .git nor .ssh");
    assert!(p.run(&["grep", "-l", "zucchini"]).expect(0).stdout.contains(".c.md"));
    p.configure("");
    assert_eq!(found(), ["a.md"]);
}

/// A hidden file that a rule keeps can be read and searched. One that nothing includes is not read,
/// whatever a chunk file says, nor is a file of git.
#[test]
fn a_hidden_file_is_read_only_if_a_rule_keeps_it() {
    let p = Project::with(&[
        (".cortexignore", "!.kept.md\n!.also/\n"),
        (".kept.md", "# Kept\n\nzucchini\n"),
        (".also/x.rs", "pub fn zucchini() {\n    other();\n}\n\npub fn other() {}\n"),
        (".hidden.md", "# Hidden\n\nzucchini\n"),
        (".git/HEAD", "ref: refs/heads/zucchini\n"),
    ]);
    p.index();
    for path in [".kept.md", ".also/x.rs"] {
        assert!(p.run(&["read", path]).expect(0).stdout.contains("zucchini"), "{path}");
    }
    assert_eq!(p.run(&["grep", "-l", "zucchini"]).expect(0).stdout, ".also/x.rs\n.kept.md\n");
    p.run(&["pattern", "other()", "-t", "rust"]).expect(0);
    assert!(p.run(&["graph", "callers", "other", "-C", "1"]).expect(0).stdout.contains("other();"));
    let named = |path: &str| json!({"id": path, "text": "nougat", "metadata": {"file_path": path, "start_line": 1, "end_line": 3, "language": "markdown"}});
    let chunks: Vec<Value> = [".hidden.md", ".git/HEAD", ".GIT/HEAD", ".kept.md"].map(named).into();
    p.write(".cortex/chunks/others.json", json!({"chunks": chunks}).to_string());
    for path in [".hidden.md", ".git/HEAD", ".GIT/HEAD"] {
        let out = p.run(&["read", path]).expect(2);
        assert!(out.stderr.contains("cannot read") && out.stdout.is_empty(), "{path}: {out:?}");
        let out = p.run(&["read", "--chunk-id", path]);
        assert!(!out.stdout.contains("zucchini"), "{path}: {out:?}");
    }
    assert_eq!(p.run(&["grep", "-l", "zucchini"]).expect(0).stdout, ".also/x.rs\n.kept.md\n");
    let files = p.run(&["files", "--by", "file"]).expect(0).stdout;
    assert!(!files.contains(".hidden.md") && !files.contains("HEAD"), "{files}");
}

/// One long line (an icon, the rows of an INSERT) does not hide the code beside it: chunks hold the
/// beginning of the line, and a search for lines and `read` see all of it.
#[test]
fn a_long_line_hides_nothing_of_its_file() {
    let icon = format!("ICON = \"{}zucchini_end\"", "iVBORw0KGgo".repeat(6000));
    let code: String =
        (0..40).map(|i| format!("def paint_{i}(colour):\n    return colour + {i}\n\n")).collect();
    let p = Project::new();
    p.write("icon.py", format!("{icon}\n\n{code}"));
    p.write("late.py", format!("{code}\n{icon}\n"));
    assert_eq!(p.index()["skipped"], json!({}));
    let found = p.found(&["--exact", "paint_39", "-n", "50"]);
    assert!(["icon.py", "late.py"].iter().all(|path| found.iter().any(|f| f == path)), "{found:?}");
    assert_eq!(p.run(&["grep", "-l", "zucchini_end"]).expect(0).stdout, "icon.py\nlate.py\n");
    let line = p.run(&["read", "icon.py", "--lines", "1-3"]).expect(0).stdout;
    assert!(line.contains("def paint_0"), "{line}");
    assert_eq!(p.json(&["read", "icon.py"])["changed"], false);
    for chunk in p.chunks().iter().filter(|chunk| chunk["metadata"]["file_path"] == "icon.py") {
        let text = chunk["text"].as_str().unwrap();
        assert!(text.lines().all(|line| line.len() <= 2000), "{text}");
    }
    let places: Vec<Value> = p.chunks().into_iter().map(|c| c["metadata"].clone()).collect();
    let of_last = |path: &str, line: u64| {
        places.iter().any(|m| {
            m["file_path"] == path
                && m["names"].as_array().is_some_and(|names| {
                    names.iter().any(|n| n["name"] == "paint_39" && n["start_line"] == line)
                })
        })
    };
    assert!(of_last("icon.py", 3 + 39 * 3) && of_last("late.py", 1 + 39 * 3), "{places:#?}");
}

/// A small file is what somebody wrote, though it be one line.
#[test]
fn small_files_of_one_line_are_indexed() {
    let words = |name: &str| format!("{name} {}", "more_of_it, ".repeat(170));
    let p = Project::with(&[("kept.md", "# Kept\n")]);
    let names = [
        "flags.json", "view.sql", "schema.graphql", "i18n.yml", "page.html", "row.csv", "rx.py",
        "deploy.sh", "words.txt", "Dockerfile", "app.css", "one.js",
    ];
    for name in names {
        p.write(name, words("zucchini"));
    }
    assert_eq!(p.index()["skipped"], json!({}));
    let mut found = p.run(&["grep", "-l", "zucchini"]).expect(0).stdout;
    assert_eq!(found.lines().count(), names.len(), "{found}");
    found = p.found(&["--exact", "zucchini", "-n", "50"]).join(" ");
    assert!(names.iter().all(|name| found.contains(name)), "{found}");
}

/// Text in UTF-16 with a byte order mark, as programs of Windows write it, is text.
#[test]
fn utf_16_is_read_as_text() {
    let bytes = |text: &str, to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(to_bytes).collect()
    };
    let p = Project::with(&[("kept.md", "# Kept\n")]);
    let class = "// Größe\r\nclass Zucchini16 {\r\n    void Peel() {}\r\n}\r\n";
    p.write("u16.cs", bytes(class, u16::to_le_bytes));
    p.write("deploy.ps1", bytes("function Start-Zucchini { 1 }\n", u16::to_be_bytes));
    p.write("nul.txt", bytes("zucchini \0", u16::to_le_bytes));
    assert_eq!(p.index()["skipped"], json!({"binary": 1}));
    let listed = p.run(&["grep", "-l", "-i", "zucchini"]).expect(0).stdout;
    assert_eq!(listed, "deploy.ps1\nu16.cs\n");
    assert_eq!(p.json(&["grep", "Größe"])["files"][0]["lines"][0]["text"], "// Größe");
    assert_eq!(p.found(&["--exact", "Peel"]), ["u16.cs"]);
    let read = p.run(&["read", "u16.cs"]).expect(0).stdout;
    assert!(read.contains("class Zucchini16 {"), "{read}");
    assert_eq!(p.json(&["index"])["changed"], false);
}

/// The ignore file of the user's git configuration holds in repositories, below their own rules.
#[test]
fn the_ignore_file_of_the_user_is_obeyed_in_repositories() {
    let default = ".config/git/ignore";
    for (place, config) in
        [(default, None), ("rules", Some("[user]\n\tname = x\n[core]\n\texcludesFile = ~/rules\n"))]
    {
        let p = Project::with(&[
            ("kept.md", "# Page\n\nmarzipan\n"),
            ("scratch.md", "# Page\n\nmarzipan\n"),
            ("sub/scratch.md", "# Page\n\nmarzipan\n"),
            ("sub/top.md", "# Page\n\nmarzipan\n"),
            ("top.md", "# Page\n\nmarzipan\n"),
            ("wanted.md", "# Page\n\nmarzipan\n"),
            (".gitignore", "!wanted.md\n"),
        ]);
        let file = p.home().join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "scratch.md\n\n/top.md\nwanted.md\n").unwrap();
        if let Some(config) = config {
            fs::write(p.home().join(".gitconfig"), config).unwrap();
        }
        let listed = || {
            p.index();
            p.run(&["grep", "-l", "marzipan"]).expect(0).stdout
        };
        assert_eq!(listed(), "kept.md\nsub/top.md\nwanted.md\n", "{place}");
        let text = p.run(&["status", "-v"]).expect(0).stdout;
        for (path, line, glob) in [("sub/scratch.md", 1, "scratch.md"), ("top.md", 3, "/top.md")] {
            let row = format!("  {path}: ignored by {}:{line} ({glob})\n", file.display());
            assert!(text.contains(&row), "{row}: {text}");
        }
        // Without a repository, rules of git are those of the folder alone.
        fs::remove_dir_all(p.path(".git")).unwrap();
        assert!(listed().contains("scratch.md"), "{place}");
    }
}

/// A search for lines that finds nothing says how many files it could not look at.
#[test]
fn a_search_without_a_line_names_the_files_that_are_skipped() {
    let p = Project::with(&[("src/kept.js", "marzipan();\n"), ("Cargo.lock", "zucchini\n")]);
    let none = |args: &[&str]| p.run(args).expect(1).stderr;
    assert!(!none(&["grep", "zucchini"]).contains("skips"));
    p.write("dist/app.min.js", "zucchini()");
    p.write("dist/bundle.js", "zucchini();".repeat(2000));
    p.write("large.txt", "zucchini\n".repeat(200_000));
    let said = none(&["grep", "zucchini"]);
    assert!(
        said.contains("in 3 files that the index skips (2 minified or generated, 1 too large)")
            && said.contains("cortex status --verbose"),
        "{said}"
    );
    let said = none(&["grep", "zucchini", "dist/**"]);
    assert!(said.contains("in 2 files that the index skips (2 minified or generated)"), "{said}");
    assert!(!none(&["grep", "zucchini", "src/**"]).contains("skips"));
    assert!(none(&["pattern", "zucchini()", "-t", "javascript"]).contains("in 3 files"));
    assert!(!p.run(&["grep", "marzipan"]).expect(0).stderr.contains("skips"));
}

/// A home directory may hold a `.gitignore` of `*` for its dotfiles.
#[test]
fn an_ignore_file_above_the_repository_does_not_count() {
    let p = Project::sample();
    fs::write(p.root().parent().unwrap().join(".gitignore"), "*\n").unwrap();
    assert_eq!(p.found(&["potatoes"])[0], "docs/guide.md");
}
