//! Tests with real files, the hostile cases first.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use tempfile::TempDir;

use super::root::TEMP;
use super::*;

/// A project, and next to it files that edits must not reach.
struct Project {
    directory: TempDir,
    root: Root,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir_all(directory.path().join("project/.git")).unwrap();
        fs::create_dir_all(directory.path().join("outside")).unwrap();
        fs::write(directory.path().join("outside/secret"), "outside\n").unwrap();
        fs::write(directory.path().join("project/.git/config"), "[core]\n").unwrap();
        fs::write(directory.path().join("project/.env"), "KEY=1\n").unwrap();
        let root = open_root(&directory.path().join("project"));
        let project = Self { directory, root };
        for (path, text) in files {
            fs::create_dir_all(project.at(path).parent().unwrap()).unwrap();
            fs::write(project.at(path), text).unwrap();
        }
        project
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join("project").join(path)
    }

    fn outside(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join("outside").join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn hash(&self, path: &str) -> String {
        self.root.view(path, None).unwrap().hash
    }

    fn edit(&self, path: &str, edit: Edit) -> Result<Edited, EditError> {
        self.root.edit(path, None, &edit)
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<Edited, EditError> {
        self.edit(path, Edit::Replace { old, new, all: false })
    }

    /// Returns all files with their contents, also those outside the project.
    fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        fn collect(directory: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let is_small_file = metadata.is_file() && metadata.len() < 20 << 20;
                out.insert(
                    path.display().to_string(),
                    if is_small_file { fs::read(&path).unwrap() } else { Vec::new() },
                );
                if metadata.is_dir() {
                    collect(&path, out);
                }
            }
        }
        let mut out = BTreeMap::new();
        collect(self.directory.path(), &mut out);
        out
    }

    /// Asserts that every way to touch the file fails at once with these words, and changes
    /// nothing.
    #[track_caller]
    fn assert_refused(&self, path: &str, words: &str) {
        let (before, start) = (self.everything(), Instant::now());
        let existing = Some("0123456789abcdef");
        let results = [
            self.root.view(path, None).map(|_| ()),
            self.root.get(path, "").map(|_| ()),
            self.replace(path, "a", "b").map(|_| ()),
            self.edit(path, Edit::Insert { after: 0, text: "x" }).map(|_| ()),
            self.edit(path, Edit::Set { pointer: "", value: "1" }).map(|_| ()),
            self.edit(path, Edit::Delete { pointer: "/a" }).map(|_| ()),
            self.edit(path, Edit::Append { pointer: "", value: "1" }).map(|_| ()),
        ];
        for result in results {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(words) && error.starts_with('`'), "{path:?}: {error}");
        }
        for expected in [None, existing] {
            assert!(
                self.root.edit(path, expected, &Edit::Create { text: "x" }).is_err(),
                "{path:?}"
            );
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{path:?}: {:?}", start.elapsed());
        assert_eq!(self.everything(), before, "{path:?}");
    }
}

fn open_root(path: &Path) -> Root {
    Root::new(path, |path| {
        let is_secret = path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"));
        is_secret.then(|| "it may hold secrets and is not touched".to_string())
    })
    .unwrap()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

#[test]
fn paths_that_lead_out_or_to_what_is_not_for_editing_are_refused() {
    let p = Project::new(&[
        ("a.txt", "a\n"),
        ("sub/.git", "gitdir: x\n"),
        ("sub/.env.local", "a"),
        ("sub/b", "b"),
    ]);
    let long = "a/".repeat(3000) + "b";
    for (path, words) in [
        ("../outside/secret", "`..` is not followed"),
        ("sub/../../outside/secret", "`..` is not followed"),
        ("sub/../a.txt", "`..` is not followed"),
        ("..", "`..` is not followed"),
        (p.outside("secret").to_str().unwrap(), "outside the project"),
        ("/etc/passwd", "outside the project"),
        (p.at("../outside/secret").to_str().unwrap(), "`..` is not followed"),
        (
            &format!("{}-other/x", p.at("").display().to_string().trim_end_matches('/')),
            "outside the project",
        ),
        ("a.txt\0", "NUL"),
        ("a\0b", "NUL"),
        (&long, "4096 bytes"),
        ("", "names a directory"),
        (".", "names a directory"),
        ("/", "outside the project"),
        ("sub/", "names a directory"),
        ("new/", "names a directory"),
        ("sub/.", "names a directory"),
        (p.at("").to_str().unwrap(), "names a directory"),
        ("sub", "a directory"),
        (".git/config", "`.git` belongs to a program"),
        ("./.git//config", "`.git` belongs to a program"),
        (".GIT/config", "`.GIT` belongs to a program"),
        (".git/hooks/pre-commit", "belongs to a program"),
        ("sub/.git", "belongs to a program"),
        (".cortex/config.toml", "belongs to a program"),
        (TEMP, "belongs to a program"),
        (".env", "may hold secrets"),
        ("sub/.env.local", "may hold secrets"),
        ("a.txt/b", "Not a directory"),
    ] {
        p.assert_refused(path, words);
    }
    for path in [&"x".repeat(300), &format!("sub/{}", "é".repeat(200))] {
        p.assert_refused(path, "File name too long");
    }
    for path in ["none", "none/of/these", "sub/none"] {
        assert!(matches!(p.root.view(path, None), Err(EditError::NotFound { .. })));
        assert!(matches!(p.replace(path, "a", "b"), Err(EditError::NotFound { .. })));
    }
}

#[test]
fn absolute_paths_and_odd_spellings_inside_are_the_same_file() {
    let p = Project::new(&[("sub/a.txt", "one\n")]);
    let link = p.directory.path().join("link");
    symlink(p.at(""), &link).unwrap();
    let by_link = open_root(&link);
    for path in [p.at("sub/a.txt"), p.at(".//sub/./a.txt"), link.join("sub/a.txt")] {
        assert_eq!(by_link.view(path.to_str().unwrap(), None).unwrap().path, "sub/a.txt");
    }
    assert_eq!(p.root.view("./sub//a.txt", None).unwrap().path, "sub/a.txt");
}

#[test]
fn links_inside_are_followed_and_stay_links() {
    let p = Project::new(&[("real/a.txt", "one\n")]);
    symlink("real/a.txt", p.at("file")).unwrap();
    symlink("real", p.at("dir")).unwrap();
    symlink(p.at("dir/a.txt"), p.at("absolute")).unwrap();
    for (path, new) in [("file", "two"), ("dir/a.txt", "three"), ("absolute", "four")] {
        let line = p.text("real/a.txt");
        assert_eq!(p.replace(path, line.trim(), new).unwrap().path, "real/a.txt");
        assert_eq!(p.text("real/a.txt"), format!("{new}\n"));
    }
    p.edit("dir/new/b.txt", Edit::Create { text: "b" }).unwrap();
    assert_eq!(p.text("real/new/b.txt"), "b");
    assert!(
        fs::symlink_metadata(p.at("file")).unwrap().is_symlink()
            && fs::symlink_metadata(p.at("dir")).unwrap().is_symlink()
    );
}

#[test]
fn links_that_lead_elsewhere_are_refused() {
    let p = Project::new(&[("a.txt", "a\n")]);
    for (link, to, path, words) in [
        ("out", "../outside/secret", "out", "leads out of the project"),
        ("absolute", "/etc/passwd", "absolute", "leads out of the project"),
        ("zero", "/dev/zero", "zero", "leads out of the project"),
        ("dir", "../outside", "dir/secret", "leads out of the project"),
        ("dir2", "../outside", "dir2/new", "leads out of the project"),
        ("up", "..", "up/outside/secret", "leads out of the project"),
        ("git", ".git", "git/config", "`.git` belongs to a program"),
        ("plain.txt", ".env", "plain.txt", "may hold secrets"),
        ("dangling", "../outside/none", "dangling", "leads nowhere"),
        ("dangling2", "none", "dangling2/x", "leads nowhere"),
        ("loop", "loop", "loop", "Too many levels"),
        ("self", ".", "self", "a directory"),
        (".env2", "a.txt", ".env2", "may hold secrets"),
    ] {
        symlink(to, p.at(link)).unwrap();
        p.assert_refused(path, words);
    }
    let bytes = std::ffi::OsStr::from_bytes(b"\xff");
    fs::write(p.at("").join(bytes), "x").unwrap();
    symlink(bytes, p.at("bytes")).unwrap();
    p.assert_refused("bytes", "not UTF-8");
}

#[test]
fn a_link_put_in_the_way_meanwhile_leads_nowhere() {
    let p = Project::new(&[("sub/secret", "inside\n"), ("file", "inside\n")]);
    // The directory is replaced before the file is written.
    let place = EditTarget::open(&p.root, "sub/secret", false).unwrap();
    let current = place.read().unwrap().unwrap();
    fs::rename(p.at("sub"), p.at("moved")).unwrap();
    symlink("../outside", p.at("sub")).unwrap();
    place.write(Some(&current), b"new\n").unwrap();
    assert_eq!(p.text("moved/secret"), "new\n");
    // The file is replaced by a link before it is written, or read.
    let place = EditTarget::open(&p.root, "file", false).unwrap();
    let current = place.read().unwrap().unwrap();
    fs::remove_file(p.at("file")).unwrap();
    symlink("../outside/secret", p.at("file")).unwrap();
    assert!(place.read().err().unwrap().to_string().contains("symbolic link by now"));
    assert!(
        place
            .write(Some(&current), b"new\n")
            .unwrap_err()
            .to_string()
            .contains("symbolic link by now")
    );
    assert_eq!(fs::read_to_string(p.outside("secret")).unwrap(), "outside\n");
    assert_eq!(fs::read_dir(p.outside("")).unwrap().count(), 1);
    // The directory is replaced by a link after its path was checked and before it is opened.
    assert!(file::open_directory(&p.root, "sub", None).is_err());
    assert!(fs::read_dir(p.at("")).unwrap().all(|e| e.unwrap().file_name() != TEMP));
}

#[test]
fn what_is_no_regular_file_is_refused_and_never_waited_for() {
    let p = Project::new(&[]);
    mknodat(CWD, p.at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    p.assert_refused("fifo", "it is a FIFO: only regular files");
    let _socket = UnixListener::bind(p.at("socket")).unwrap();
    p.assert_refused("socket", "it is a socket");
    if mknodat(
        CWD,
        p.at("zero"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o644),
        makedev(1, 5),
    )
    .is_ok()
    {
        p.assert_refused("zero", "it is a device");
    }
    // A FIFO that replaces a file after it was checked and before it is opened does not block,
    // either.
    let (done, is_done) = std::sync::mpsc::channel();
    let fifo = p.at("fifo");
    std::thread::spawn(move || {
        done.send(rustix::fs::open(&fifo, file::FILE, Mode::empty()).is_ok())
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(10)), Ok(true));
}

#[test]
fn large_files_are_neither_read_nor_written() {
    let p = Project::new(&[("small", &"a".repeat(6 << 20))]);
    let large = fs::File::create(p.at("large")).unwrap();
    large.set_len(100 << 20).unwrap();
    large.set_times(fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH)).unwrap();
    p.assert_refused("large", "larger than 10 MiB");
    // No byte of the file was read.
    assert_eq!(large.metadata().unwrap().accessed().unwrap(), SystemTime::UNIX_EPOCH);
    fs::File::create(p.at("over")).unwrap().set_len(MAX_BYTES + 1).unwrap();
    p.assert_refused("over", "larger than 10 MiB");
    let before = p.everything();
    let whole = "x".repeat(10 << 20);
    for edit in
        [Edit::Replace { old: "a", new: "bb", all: true }, Edit::Insert { after: 0, text: &whole }]
    {
        assert!(
            p.edit("small", edit).unwrap_err().to_string().contains("would be larger than 10 MiB")
        );
    }
    assert!(
        p.edit("new", Edit::Create { text: &(whole.clone() + "y") })
            .unwrap_err()
            .to_string()
            .contains("would be larger")
    );
    assert_eq!(p.everything(), before);
    p.edit("new", Edit::Create { text: &whole }).unwrap();
    assert_eq!(p.root.view("new", None).unwrap().text.len(), whole.len());
}

#[test]
fn what_is_no_text_is_refused() {
    let p = Project::new(&[("late", &format!("{}\0", "a\n".repeat(9000)))]);
    for (name, bytes, words) in [
        ("nul", &b"a\0b"[..], "NUL byte in line 1): binary"),
        ("utf16", b"\xff\xfea\0\n\0", "it is UTF-16, which is read but not edited"),
        ("latin1", b"ok\ncaf\xe9\n", "not UTF-8 (line 2): convert it"),
        ("cut", b"a\n\xf0\x9f\x98", "not UTF-8 (line 2)"),
    ] {
        fs::write(p.at(name), bytes).unwrap();
        p.assert_refused(name, words);
    }
    p.assert_refused("late", "NUL byte in line 9001");
    fs::write(p.at("ok"), "ok\n").unwrap();
    let before = p.everything();
    for edit in
        [Edit::Insert { after: 0, text: "a\0" }, Edit::Replace { old: "ok", new: "\0", all: false }]
    {
        assert!(p.edit("ok", edit).unwrap_err().to_string().contains("holds a NUL"));
    }
    assert!(
        p.edit("new", Edit::Create { text: "\0" }).unwrap_err().to_string().contains("holds a NUL")
    );
    assert_eq!(p.everything(), before);
}

#[test]
fn empty_files_and_names_of_any_script_are_files() {
    let p = Project::new(&[("empty", ""), ("empty.json", "")]);
    let view = p.root.view("empty", None).unwrap();
    assert_eq!((view.n_lines, view.text.as_str()), (0, ""));
    assert!(p.replace("empty", "a", "b").unwrap_err().to_string().contains("was not found"));
    p.edit("empty", Edit::Insert { after: 0, text: "x" }).unwrap();
    assert_eq!(p.text("empty"), "x\n");
    p.edit("empty.json", Edit::Set { pointer: "", value: "{}" }).unwrap();
    assert_eq!(p.text("empty.json"), "{}\n");
    for name in ["ünï/日本 😀.rs", " a b ", "new\nline", "-rf", "*?[", "~", "a\\b", "\u{202e}x"]
    {
        assert!(p.edit(name, Edit::Create { text: "a\n" }).unwrap().created, "{name}");
        assert_eq!(p.replace(name, "a", "é").unwrap().path, name);
        assert_eq!(p.text(name), "é\n");
    }
    assert!(!p.replace("new\nline", "?", "!").unwrap_err().to_string().contains('\n'));
}

#[test]
fn the_file_keeps_its_mode_and_owner() {
    let p = Project::new(&[("a", "a\n")]);
    for mode in [0o754, 0o600, 0o640, 0o777, 0o4755] {
        fs::set_permissions(p.at("a"), fs::Permissions::from_mode(mode)).unwrap();
        p.edit("a", Edit::Insert { after: 0, text: "x" }).unwrap();
        assert_eq!(fs::metadata(p.at("a")).unwrap().mode() & 0o7777, mode, "{mode:o}");
    }
    if is_root() {
        std::os::unix::fs::chown(p.at("a"), Some(1234), Some(5678)).unwrap();
        fs::set_permissions(p.at("a"), fs::Permissions::from_mode(0o2664)).unwrap();
        p.edit("a", Edit::Insert { after: 0, text: "x" }).unwrap();
        let metadata = fs::metadata(p.at("a")).unwrap();
        assert_eq!(
            (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777),
            (1234, 5678, 0o2664)
        );
    }
    p.edit("sub/new", Edit::Create { text: "" }).unwrap();
    fs::File::create(p.at("by another")).unwrap();
    let mode = |name| fs::metadata(p.at(name)).unwrap().mode();
    assert_eq!(mode("sub/new"), mode("by another"));
    fs::set_permissions(p.at("a"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = p.everything();
    assert!(
        p.edit("a", Edit::Insert { after: 0, text: "x" })
            .unwrap_err()
            .to_string()
            .contains("read-only")
    );
    assert_eq!(p.everything(), before);
    assert!(p.root.view("a", None).is_ok());
}

#[test]
fn a_file_with_two_names_is_not_parted() {
    let p = Project::new(&[("a", "a\n")]);
    fs::hard_link(p.at("a"), p.outside("b")).unwrap();
    let before = p.everything();
    assert!(p.replace("a", "a", "b").unwrap_err().to_string().contains("2 names (hard links)"));
    assert_eq!(p.everything(), before);
    assert_eq!(fs::metadata(p.at("a")).unwrap().nlink(), 2);
}

#[test]
fn marks_line_breaks_and_the_end_stay() {
    let p = Project::new(&[
        ("a", "\u{feff}one\r\ntwo\nthree"),
        ("crlf", "\u{feff}one\r\ntwo\r\n"),
        ("a.json", "\u{feff}{\r\n  \"a\": 1.0 // one\r\n}"),
    ]);
    p.replace("a", "one\ntwo", "one\nnew\ntwo").unwrap();
    assert_eq!(p.text("a"), "\u{feff}one\r\nnew\ntwo\nthree");
    p.edit("a", Edit::Insert { after: 0, text: "top" }).unwrap();
    assert_eq!(p.text("a"), "\u{feff}top\r\none\r\nnew\ntwo\nthree");
    p.edit("a", Edit::Insert { after: 5, text: "end\n" }).unwrap();
    assert_eq!(p.text("a"), "\u{feff}top\r\none\r\nnew\ntwo\nthree\nend");
    assert_eq!(p.root.view("a", Some((1, 2))).unwrap().text, "top\none");
    p.root.edit("crlf", Some(&p.hash("crlf")), &Edit::Create { text: "1\n2" }).unwrap();
    assert_eq!(p.text("crlf"), "\u{feff}1\r\n2");
    p.root.edit("crlf", Some(&p.hash("crlf")), &Edit::Create { text: "\u{feff}1\n2\r\n" }).unwrap();
    assert_eq!(p.text("crlf"), "\u{feff}1\n2\r\n");
    p.edit("a.json", Edit::Set { pointer: "/b", value: "12345678901234567890.10" }).unwrap();
    assert_eq!(
        p.text("a.json"),
        "\u{feff}{\r\n  \"a\": 1.0, // one\r\n  \"b\": 12345678901234567890.10\r\n}"
    );
    assert_eq!(p.root.get("a.json", "/b").unwrap().value, "12345678901234567890.10");
    assert_eq!(p.root.get("a.json", "").unwrap().last_line, 4);
    p.edit("bom", Edit::Create { text: "\u{feff}x" }).unwrap();
    assert_eq!(p.text("bom"), "\u{feff}x");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused() {
    let p = Project::new(&[("a", "one\n")]);
    let insert = Edit::Insert { after: 0, text: "x" };
    let hash = p.hash("a");
    assert_eq!(hash, sha256(b"one\n"));
    fs::write(p.at("a"), "two\n").unwrap();
    for edit in [
        insert,
        Edit::Create { text: "x" },
        Edit::Replace { old: "two", new: "x", all: true },
        Edit::Set { pointer: "", value: "1" },
    ] {
        assert!(matches!(p.root.edit("a", Some(&hash), &edit), Err(EditError::Changed { .. })));
    }
    for wrong in ["", "abc", "zzzzzzzzzz", &format!("{}00", p.hash("a")), "a\u{301}bcdefgh"] {
        assert!(p.root.edit("a", Some(wrong), &insert).is_err(), "{wrong}");
    }
    assert!(matches!(p.edit("a", Edit::Create { text: "x" }), Err(EditError::Exists { .. })));
    assert_eq!(p.text("a"), "two\n");
    let edited = p.root.edit("a", Some(&p.hash("a")[..8].to_uppercase()), &insert).unwrap();
    assert_eq!(edited.hash, p.hash("a"));
    let edited = p.root.edit("a", Some(&edited.hash), &Edit::Create { text: "new" }).unwrap();
    assert_eq!((p.text("a").as_str(), edited.created), ("new", false));
    assert!(matches!(
        p.root.edit("none", Some(&hash), &Edit::Create { text: "x" }),
        Err(EditError::NotFound { .. })
    ));
    assert!(!p.at("none").exists());
}

/// Changes that another program makes between our reading and our renaming are not lost.
#[test]
fn what_others_write_meanwhile_is_not_lost() {
    let p = Project::new(&[("a", "one\n"), ("gone", "one\n")]);
    let before = |name| {
        let place = EditTarget::open(&p.root, name, true).unwrap();
        let current = place.read().unwrap();
        (place, current)
    };
    let (place, current) = before("a");
    fs::write(p.at("a"), "theirs\n").unwrap();
    assert!(matches!(place.write(current.as_ref(), b"ours\n"), Err(EditError::Changed { .. })));
    let (place, current) = before("gone");
    fs::remove_file(p.at("gone")).unwrap();
    assert!(matches!(place.write(current.as_ref(), b"ours\n"), Err(EditError::Changed { .. })));
    let (place, current) = before("new/file");
    fs::write(p.at("new/file"), "theirs\n").unwrap();
    assert!(matches!(place.write(current.as_ref(), b"ours\n"), Err(EditError::Exists { .. })));
    assert_eq!((p.text("a").as_str(), p.text("new/file").as_str()), ("theirs\n", "theirs\n"));
    let (place, current) = before("new2/file");
    fs::remove_dir(p.at("new2")).unwrap();
    assert!(place.write(current.as_ref(), b"ours\n").is_err());
    assert!(
        !p.at("gone").exists()
            && !p.at("new2").exists()
            && p.everything().keys().all(|name| !name.ends_with(TEMP))
    );
}

#[test]
fn an_edit_that_fails_leaves_nothing_behind() {
    let p = Project::new(&[("a", "one\n"), ("full/b", "b\n")]);
    let before = p.everything();
    assert!(p.edit("x/y/z", Edit::Create { text: "\0" }).is_err());
    assert!(p.replace("x/y/z", "a", "b").is_err());
    assert!(p.replace("a", "none", "b").is_err());
    assert_eq!(p.everything(), before);
    // The new file cannot be written.
    fs::create_dir_all(p.at("full").join(TEMP)).unwrap();
    let before = p.everything();
    assert!(matches!(p.replace("full/b", "b", "c"), Err(EditError::Io { .. })));
    assert!(p.edit("full/new", Edit::Create { text: "c" }).is_err());
    assert_eq!(p.everything(), before);
    // The next edit removes the temporary file of a killed process.
    fs::write(p.at(TEMP), "half").unwrap();
    p.replace("a", "one", "two").unwrap();
    assert!(!p.at(TEMP).exists());
    symlink("../outside/secret", p.at(TEMP)).unwrap();
    p.replace("a", "two", "three").unwrap();
    assert_eq!(fs::read_to_string(p.outside("secret")).unwrap(), "outside\n");
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let p = Project::new(&[("a.json", "{\"a\": 1}")]);
    let inode = |name| fs::metadata(p.at(name)).unwrap().ino();
    let before = inode("a.json");
    let edited = p.edit("a.json", Edit::Set { pointer: "/a", value: "1" }).unwrap();
    assert_eq!((edited.lines, edited.hash), (None, p.hash("a.json")));
    assert_eq!(inode("a.json"), before);
}

#[test]
fn a_view_gives_lines_numbers_and_a_hash() {
    let p = Project::new(&[("a", "one\ntwo\r\nthree")]);
    let view = p.root.view("a", Some((2, 9))).unwrap();
    assert_eq!(
        (view.first_line, view.last_line, view.n_lines, view.text.as_str()),
        (2, 3, 3, "two\nthree")
    );
    assert_eq!(p.root.view("a", None).unwrap().text, "one\ntwo\nthree");
    for (lines, words) in [
        ((4, 5), "no line 4: it has 3"),
        ((3, 2), "before they begin"),
        ((0, 0), "before they begin"),
    ] {
        assert!(
            p.root.view("a", Some(lines)).unwrap_err().to_string().contains(words),
            "{lines:?}"
        );
    }
}

#[test]
fn the_report_shows_what_changed() {
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let p = Project::new(&[("a", &text), ("one", "x"), ("a.json", "{\n  \"a\": 1\n}\n")]);
    let edited = p.replace("a", "line 20\nline 21\n", "new\n").unwrap();
    assert_eq!(
        (edited.path.as_str(), edited.lines, edited.hash),
        ("a", Some((20, 20)), p.hash("a"))
    );
    assert_eq!(
        edited.preview,
        "   17 line 17\n   18 line 18\n   19 line 19\n   20 new\n   21 line 22\n   22 line 23\n   23 line 24\n"
    );
    // If lines were only removed, the report names the line that is now in their place.
    assert_eq!(p.replace("a", "line 39\nline 40\n", "").unwrap().lines, Some((37, 37)));
    assert_eq!(p.replace("one", "x", "").unwrap().lines, Some((1, 1)));
    assert_eq!(p.edit("a", Edit::Insert { after: 2, text: "x\ny" }).unwrap().lines, Some((3, 4)));
    assert_eq!(
        p.edit("a", Edit::Replace { old: "line", new: "row", all: true }).unwrap().lines,
        Some((1, 39))
    );
    assert_eq!(
        p.edit("a.json", Edit::Set { pointer: "/b", value: "2" }).unwrap().lines,
        Some((2, 3))
    );
    assert_eq!(p.edit("two", Edit::Create { text: "x\nx\n" }).unwrap().lines, Some((1, 2)));
    assert_eq!(p.edit("two", Edit::Insert { after: 2, text: "x\nx" }).unwrap().lines, Some((3, 4)));
    // Long changes and long lines are cut.
    let edited = p
        .edit("long", Edit::Create { text: &format!("{}\n{text}\u{1b}[31m", "é".repeat(5000)) })
        .unwrap();
    assert!(edited.created && edited.lines == Some((1, 42)));
    assert_eq!(edited.preview.lines().count(), 17, "{}", edited.preview);
    assert!(
        edited.preview.len() < 1000
            && edited.preview.contains("    …\n   35 line 34")
            && edited.preview.ends_with("\\u{1b}[31m\n")
    );
}

#[test]
fn edits_at_once_are_all_applied() {
    let p = Project::new(&[("a", ""), ("a.json", "[]")]);
    let (stop, whole) = (AtomicBool::new(false), "word ".repeat(2000));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|thread| {
                let (p, whole) = (&p, &whole);
                scope.spawn(move || {
                    for n in 0..10 {
                        p.edit(
                            "a",
                            Edit::Insert { after: 0, text: &format!("{thread} {n} {whole}end") },
                        )
                        .unwrap();
                        p.edit(
                            "a.json",
                            Edit::Append { pointer: "", value: &format!("\"{thread} {n}\"") },
                        )
                        .unwrap();
                    }
                })
            })
            .collect();
        // A concurrent reader only sees complete lines.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let text = p.text("a");
                assert!(
                    text.is_empty()
                        || text.ends_with("end\n") && text.lines().all(|l| l.ends_with("end"))
                );
                p.root.view("a", None).unwrap();
            }
        });
        let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    let lines: std::collections::BTreeSet<String> = p.text("a").lines().map(String::from).collect();
    assert_eq!(lines.len(), 60);
    assert_eq!(serde_json::from_str::<Vec<String>>(&p.text("a.json")).unwrap().len(), 60);
}

#[test]
fn of_edits_of_one_version_one_wins() {
    let p = Project::new(&[("a", "start\n")]);
    for _ in 0..10 {
        let (hash, start) = (p.hash("a"), Barrier::new(4));
        let n_won: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (p, hash, start) = (&p, &hash, &start);
                    scope.spawn(move || {
                        start.wait();
                        match p.root.edit(
                            "a",
                            Some(hash),
                            &Edit::Insert { after: 0, text: &format!("by {thread}") },
                        ) {
                            Ok(_) => 1,
                            Err(EditError::Changed { .. }) => 0,
                            Err(e) => panic!("{e}"),
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(n_won, 1);
    }
    assert_eq!(p.text("a").lines().count(), 11);
    // Only one of several processes creates a file, also in a directory that does not exist yet.
    let start = Barrier::new(4);
    let n_won = std::thread::scope(|scope| {
        let create = || {
            start.wait();
            usize::from(p.edit("x/y/new", Edit::Create { text: "x" }).is_ok())
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(create)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>()
    });
    assert_eq!((n_won, p.text("x/y/new").as_str()), (1, "x"));
}

#[test]
fn an_edit_waits_for_another_but_not_for_ever() {
    let p = Project::new(&[("a", "a\n"), ("sub/b", "b\n")]);
    let held = EditTarget::open(&p.root, "a", false).unwrap();
    held.lock(Duration::ZERO).unwrap();
    let other = EditTarget::open(&p.root, "a", false).unwrap();
    let error = other.lock(Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, EditError::Busy { .. }), "{error}");
    // Edits in other directories do not wait.
    p.replace("sub/b", "b", "c").unwrap();
    drop(held);
    p.replace("a", "a", "b").unwrap();
}

const CHILD: &str = "CORTEX_EDIT_TEST_CHILD";

/// Runs in each process that [`process`] starts: inserts lines at the top of a file.
#[test]
fn in_another_process() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let (root, name) = order.split_once('|').unwrap();
    let root = open_root(Path::new(root));
    let n_lines = if name == "endless" { usize::MAX } else { 15 };
    for n in 0..n_lines {
        root.edit(
            "a",
            None,
            &Edit::Insert { after: 0, text: &format!("{name} {n} {}end", "word ".repeat(5000)) },
        )
        .unwrap();
        if n % 50 == 49 {
            fs::write(root.path.join("a"), "").unwrap();
        }
    }
}

fn process(p: &Project, name: &str) -> Command {
    let test = format!("{}::in_another_process", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &test, "--nocapture"])
        .env(CHILD, format!("{}|{name}", p.at("").display()));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_file_of_somebody_else_needs_its_permission() {
    let p = Project::new(&[("a", "")]);
    if !is_root() {
        return;
    }
    for directory in [p.directory.path(), &p.at("")] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let closed = |directory: &&Path| fs::metadata(directory).unwrap().mode() & 0o001 == 0;
    if let Some(closed) = p.directory.path().ancestors().find(closed) {
        eprintln!("skipped: the user nobody may not enter {}", closed.display());
        return;
    }
    let by_nobody = |mode| {
        std::os::unix::fs::chown(p.at("a"), Some(1234), Some(1234)).unwrap();
        fs::set_permissions(p.at("a"), fs::Permissions::from_mode(mode)).unwrap();
        let status = process(&p, "nobody").uid(65534).gid(65534).status();
        let metadata = fs::metadata(p.at("a")).unwrap();
        // Without permission to run this program, the user nobody cannot be tested.
        status.ok().map(|status| (status.success(), metadata.uid(), metadata.mode() & 0o7777))
    };
    let Some(refused) = by_nobody(0o644) else { return };
    assert_eq!((refused, p.text("a").as_str()), ((false, 1234, 0o644), ""));
    // A process that may not restore the owner keeps the file, without its set-user-ID bit.
    assert_eq!(by_nobody(0o4666), Some((true, 65534, 0o666)));
    assert_eq!(p.text("a").lines().count(), 15);
}

#[test]
fn processes_lose_nothing_of_each_other() {
    let p = Project::new(&[("a", "")]);
    let children: Vec<Child> =
        (0..3).map(|n| process(&p, &format!("process{n}")).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = p.text("a");
    assert_eq!(text.lines().collect::<std::collections::BTreeSet<_>>().len(), 45);
    assert!(text.lines().all(|l| l.ends_with("end")));
}

#[test]
fn a_killed_process_leaves_a_whole_file_and_no_lock() {
    let p = Project::new(&[("a", "")]);
    for round in 0..8 {
        fs::write(p.at("a"), "").unwrap();
        let mut child = process(&p, "endless").spawn().unwrap();
        let start = Instant::now();
        while p.text("a").is_empty() {
            assert!(start.elapsed() < Duration::from_mins(1));
        }
        std::thread::sleep(Duration::from_millis(round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(p.text("a").lines().all(|l| l.ends_with("end")));
        p.edit("a", Edit::Insert { after: 0, text: "end" }).unwrap();
        assert!(!p.at(TEMP).exists());
    }
}

#[test]
fn several_files_change_together_or_not_at_all() {
    let project = Project::new(&[("a/x", "one\n"), ("a/y", "two one\r\n"), ("b/z", "one")]);
    let ranges = |at: usize| vec![(at..at + 3, "three".to_string())];
    let (first, second) = (ranges(0), ranges(4));
    let hash = |path: &str| project.root.exact(path).unwrap().hash;
    let hashes = [hash("a/x"), hash("a/y"), hash("b/z")];
    let edits = |last: &'static str| {
        [("b/z", &first, 2), ("a/x", &first, 0), (last, &second, 1)]
            .map(|(path, ranges, n)| FileEdit {
                path,
                expected: &hashes[n],
                edit: Edit::Splice { ranges },
            })
            .to_vec()
    };
    let before = || ["a/x", "a/y", "b/z"].map(|path| fs::read_to_string(project.at(path)).unwrap());
    let old = before();
    // The last file does not exist, is refused, or has another content.
    for last in ["a/none", ".env", "b/z"] {
        assert!(project.root.edit_all(&edits(last)).is_err(), "{last}");
        assert_eq!(before(), old, "{last}");
    }
    fs::hard_link(project.at("a/y"), project.at("twin")).unwrap();
    assert!(project.root.edit_all(&edits("a/y")).is_err());
    assert_eq!(before(), old);
    fs::remove_file(project.at("twin")).unwrap();

    let done = project.root.edit_all(&edits("a/y")).unwrap();
    assert_eq!(done.iter().map(|e| &*e.path).collect::<Vec<_>>(), ["a/x", "a/y", "b/z"]);
    assert_eq!(before(), ["three\n", "two three\r\n", "three"].map(String::from));
    let names = fs::read_dir(project.at("a")).unwrap().count();
    assert_eq!(names, 2, "no temporary file stays");
    assert!(project.root.edit_all(&edits("a/y")).is_err(), "the files are others now");
}
