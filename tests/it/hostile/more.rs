//! Further attacks: unexpected names, kinds of files, and sizes.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::sync::LazyLock;

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::*;

/// Every name below `.cortex` that Cortex reads or writes.
const NAMES: &[&str] = &[
    ".gitignore",
    "config.toml",
    "chunks/code-symbols.json",
    "chunks/code-definitions.json",
    "chunks/code-data.json.zst",
    "chunks/doc-chunks.json",
    "chunks/manifest.json",
    "chunks/manifest.json.next",
    "chunks/code-symbols.json.next",
    "cache/sources.json",
    "cache/run.json",
    "cache/queue.json",
    "cache/vectors-static.bin",
    "cache/index-0",
    "cache/memory",
    "graph/code-graph.db",
    "graph/code-graph.db-wal",
    "graph/code-graph.db-shm",
    "graph/code-graph.db-journal",
    "server.json",
    "write.lock",
    "leader.lock",
    "embed.lock",
    "memory.db",
    "memory.db-wal",
    "memory.db-shm",
    "memory.db-journal",
    "memory.log",
    "memory.session",
    "memory.spool",
];

fn each_name(c: &Clone, make: impl Fn(&Path)) {
    for name in NAMES {
        let path = c.path(".cortex").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        make(&path);
    }
}

/// The files below the `.cortex` of a clone that was indexed and searched.
static INDEXED: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let c = Clone::new(|_| {});
    assert!(c.cortex(&["index"]).output().unwrap().status.success());
    assert!(c.cortex(&["graph", "callers", "retry"]).output().unwrap().status.code().is_some());
    assert!(c.cortex(&["search", "harmless"]).output().unwrap().status.success());
    let (root, mut files) = (c.root(), Vec::new());
    every_file(&c.path(".cortex"), &mut |path| {
        files.push((path.strip_prefix(&root).unwrap().to_path_buf(), fs::read(path).unwrap()));
    });
    files
});

/// Gives the clone an index, so that there is something to damage.
fn indexed(c: &Clone) {
    INDEXED.iter().for_each(|(path, bytes)| c.write(path, bytes));
}

fn every_file(folder: &Path, each: &mut impl FnMut(&Path)) {
    walk(folder, &mut |path, meta| {
        if meta.is_file() {
            each(path);
        }
        true
    });
}

/// Creates `n` nested folders, deeper than any path can be.
fn deep(at: &Path, n: usize, file: &str) {
    fs::create_dir_all(at).unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder: OwnedFd = fs::File::open(at).unwrap().into();
    for _ in 0..n {
        mkdirat(&folder, "d", Mode::from_raw_mode(0o755)).unwrap();
        folder = openat(&folder, "d", flags, Mode::empty()).unwrap();
    }
    let end =
        openat(&folder, file, OFlags::WRONLY | OFlags::CREATE, Mode::from_raw_mode(0o644)).unwrap();
    fs::File::from(end).write_all(b"pub fn harmless() {}\n").unwrap();
}

fn packed_zeros(n_bytes: u64) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(b"{\"chunks\": [\n").unwrap();
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..n_bytes >> 20 {
        encoder.write_all(&spaces).unwrap();
    }
    encoder.finish().unwrap()
}

attacks! {
    names_of_cortex_that_are_pipes_are_not_waited_for: |c| each_name(c, |path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }), EVERY;
    names_of_cortex_that_are_sockets_are_not_waited_for: |c| each_name(c, |path| {
        // Paths of sockets are short.
        let short = c.base.path().join("s");
        drop(UnixListener::bind(&short).unwrap());
        fs::rename(short, path).unwrap();
    }), EVERY;
    names_of_cortex_that_are_directories_stop_nothing: |c| each_name(c, |path| fs::create_dir_all(path.join("in/it")).unwrap()), EVERY;
    names_of_cortex_that_are_empty_files_stop_nothing: |c| each_name(c, |path| fs::write(path, "").unwrap()), EVERY;
    names_of_cortex_that_are_binary_files_stop_nothing: |c| each_name(c, |path| {
        let noise: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        fs::write(path, noise).unwrap();
    }), EVERY;
    names_of_cortex_that_are_sparse_files_of_terabytes_do_not_eat_the_memory: |c| each_name(c, |path| {
        fs::File::create(path).unwrap().set_len(1 << 40).unwrap();
    }), EVERY;
    names_of_cortex_that_lead_nowhere_are_not_made_elsewhere: |c| each_name(c, |path| symlink(c.home().join("made"), path).unwrap()), EVERY;
    directories_of_cortex_that_are_files_stop_nothing: |c| {
        for name in ["chunks", "cache", "graph"] {
            c.write(format!(".cortex/{name}"), "x");
        }
    }, EVERY;
    a_cortex_that_is_a_file_stops_nothing: |c| c.write(".cortex", "x"), EVERY;
    a_cortex_that_is_a_pipe_is_not_waited_for: |c| c.pipe(".cortex"), EVERY;
    a_cortex_that_leads_to_the_system_is_not_written: |c| c.link(".cortex", "/proc/self/cwd"), FEW;
    an_index_that_was_blown_up_does_not_do_not_eat_the_memory: |c| {
        indexed(c);
        every_file(&c.path(".cortex"), &mut |path| {
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
        });
    }, EVERY;
    an_index_full_of_ones_stops_nothing: |c| {
        indexed(c);
        every_file(&c.path(".cortex"), &mut |path| fs::write(path, vec![0xff; fs::read(path).unwrap().len()]).unwrap());
    }, EVERY;
    an_index_that_was_cut_off_stops_nothing: |c| {
        indexed(c);
        every_file(&c.path(".cortex"), &mut |path| {
            let whole = fs::read(path).unwrap();
            fs::write(path, &whole[..whole.len() / 2]).unwrap();
        });
    }, EVERY;
    numbers_without_measure_stop_nothing: |c| {
        indexed(c);
        for (name, from) in [("chunks/manifest.json", "\"generation\""), ("cache/sources.json", "\"generation\"")] {
            let path = c.path(".cortex").join(name);
            let text = fs::read_to_string(&path).unwrap();
            let Some(at) = text.find(from) else { continue };
            let end = at + text[at..].find([',', '}', '\n']).unwrap();
            fs::write(&path, format!("{}{from}: 18446744073709551615{}", &text[..at], &text[end..])).unwrap();
        }
        for name in CHUNK_FILES {
            let path = c.path(".cortex/chunks").join(name);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("\"start_line\":1", "\"start_line\":18446744073709551615").replace("\"end_line\":", "\"end_line\":9")).unwrap();
        }
    }, EVERY;
    chunks_that_lie_about_lines_stop_nothing: |c| {
        let lie = |start: &str, end: &str| format!(
            "{{\"id\": \"src/retry.rs#{start}{end}\", \"text\": \"harmless\", \"chunk_type\": \"definitions\", \
             \"metadata\": {{\"file_path\": \"src/retry.rs\", \"start_line\": {start}, \"end_line\": {end}}}}}");
        let lies = [("1e400", "2"), ("-1", "5"), ("5", "1"), ("4294967295", "4294967295"), ("1.5", "2"), ("null", "[]"), ("0", "0"), ("1", "18446744073709551615")];
        let chunks: Vec<String> = lies.iter().map(|(start, end)| lie(start, end)).collect();
        c.write(".cortex/chunks/code-definitions.json", format!("{{\"chunks\": [\n{}\n]}}", chunks.join(",\n")));
    }, &["search harmless --no-index", "search harmless", "status", "mcp"];
    manifests_nested_without_end_stop_nothing: |c| {
        for name in ["chunks/manifest.json", "chunks/code-symbols.json", "cache/sources.json", "cache/run.json", "cache/queue.json", "server.json", "memory.spool"] {
            c.write(format!(".cortex/{name}"), format!("{{\"chunks\": {}", "[".repeat(2 << 20)));
        }
    }, EVERY;
    settings_nested_without_end_stop_nothing: |c| c.write(".cortex/config.toml", format!("a = {}", "[".repeat(60_000))), EVERY;
    settings_with_long_keys_stop_nothing: |c| c.write(".cortex/config.toml", format!("[{}]", vec!["a"; 30_000].join("."))), EVERY;
    settings_with_patterns_without_end_stop_nothing: |c| {
        c.write(".cortex/config.toml", format!("[index]\nexclude = [{}]\n", vec!["\"**/*a*{b,c}*{d,e}*\""; 2800].join(",")));
    }, &["index", "search harmless", "files", "status", "mcp"];
    settings_of_the_agent_nested_without_end_stop_nothing: |c| {
        c.write(".claude/settings.local.json", format!("{{\"hooks\": {}", "[".repeat(1 << 20)));
        c.write(".claude/settings.json", format!("{{\"hooks\": {}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20)));
    }, &["init --agents claude,codex,cursor --scope project --yes", "init --agents claude --scope project --remove --yes"];
    a_packed_chunk_file_does_not_become_gigabytes: |c| {
        c.write(".cortex/chunks/code-definitions.json.zst", packed_zeros(2 << 30));
    }, FEW;
    a_packed_chunk_file_of_megabytes_does_not_become_gigabytes: |c| {
        let frame = packed_zeros(100 << 20);
        c.write(".cortex/chunks/code-definitions.json.zst", frame.repeat((8 << 20) / frame.len()));
    }, FEW;
    an_ignore_file_of_many_rules_does_not_do_not_eat_the_memory: |c| {
        let rules: String = (0..).map(|i| format!("*{i}*/x{i}\n")).scan(0, |n, rule| { *n += rule.len(); (*n < 1 << 20).then_some(rule) }).collect();
        c.write(".gitignore", &rules);
        c.write("src/.cortexignore", &rules);
        c.write(".git/info/exclude", rules);
    }, &["index", "search harmless", "files", "status", "mcp"];
    an_ignore_file_of_one_endless_rule_does_not_do_not_eat_the_memory: |c| {
        c.write(".gitignore", format!("{}\n{}\n{}\n", "{a,b}".repeat(50_000), "**/".repeat(100_000), "{a,".repeat(50_000)));
        c.write("src/.gitignore", "[".repeat(500_000) + "\n" + &"*a".repeat(200_000));
    }, &["index", "search harmless", "files", "status", "mcp"];
    sources_of_terabytes_do_not_eat_the_memory: |c| {
        for name in ["src/a.rs", "docs/b.md", "c.json", "d.ipynb", "CLAUDE.md", "package.json", "src/none", "CACHEDIR.TAG"] {
            c.write(name, "pub fn harmless() {}\n");
            fs::OpenOptions::new().write(true).open(c.path(name)).unwrap().set_len(1 << 40).unwrap();
        }
    }, EVERY;
    sources_that_are_pipes_and_sockets_are_not_waited_for: |c| {
        for name in ["src/a.rs", "docs/b.md", "c.json", "CLAUDE.md", "package.json", "go.mod", "README.md", "pyvenv.cfg"] {
            c.pipe(name);
        }
        drop(UnixListener::bind(c.base.path().join("s")).unwrap());
        fs::rename(c.base.path().join("s"), c.path("src/socket.rs")).unwrap();
    }, EVERY;
    names_that_speak_to_the_terminal_are_survived: |c| {
        for name in [&b"src/\x1b[2Jharmless.rs"[..], b"docs/harm\nless.md", b"src/harmless\xff.rs", "src/\u{202e}sr.sselmrah.rs".as_bytes(), b"-rf.md", b"src/`touch x`$(touch y).rs"] {
            c.write(OsStr::from_bytes(name), "/// Harmless \x1b[31m text.\npub fn harmless() { retry(1) }\n");
        }
        c.write(format!("src/{}.rs", "n".repeat(252)), "pub fn harmless() {}\n");
        c.write(".cortex/config.toml", "[\"\\u001B[2J\"]\n\"\\u202E\" = 1\n");
        c.write(".git/HEAD", "ref: refs/heads/\x1b[2J\n");
    }, EVERY;
    submodules_and_alternates_that_lead_outside_are_not_read: |c| {
        c.write(".gitmodules", "[submodule \"a\"]\n\tpath = ../../.ssh\n\turl = ../../.ssh\n[submodule \"b\"]\n\tpath = /dev\n");
        c.write(".git/objects/info/alternates", format!("{}\n/dev/zero\n", c.home().join(".ssh").display()));
        c.write(".git/config", format!("[core]\n\tworktree = {}\n[include]\n\tpath = /dev/zero\n", c.home().display()));
        c.link(".git/refs/heads/main", c.home().join(".ssh/id"));
        c.link(".git/packed-refs", c.home().join(".bashrc"));
        c.link(".git/logs", c.home().join("notes"));
    }, EVERY;
    a_tree_that_is_deep_stops_nothing: |c| {
        deep(&c.path("src/deep"), 5000, "a.rs");
        deep(&c.path(".cortex/cache/deep"), 3000, "a");
        deep(&c.path(".cortex/graph"), 3000, "a");
    }, &["index", "files", "clean", "mcp"];
}

/// Files with a hard link outside, which archives may create, are not written into.
#[test]
fn hard_links_are_not_written_through() {
    for command in EVERY {
        let c = Clone::new(|c| {
            each_name(c, |path| fs::hard_link(c.home().join(".bashrc"), path).unwrap());
        });
        if *command == "mcp" {
            let mut server = Mcp::start(&c, EVERY_TOOL);
            for tool in [
                "cortex_status", "cortex_graph", "cortex_search", "add_memory",
                "search_memory_nodes",
            ] {
                for arguments in arguments(tool) {
                    server.call(tool, &arguments);
                }
            }
            server.end();
        } else {
            let ended = c.run(&command.split(' ').collect::<Vec<_>>(), SESSION);
            assert!(
                ended.code.is_some_and(|code| code < 100),
                "{command} crashes: {}",
                ended.stderr
            );
        }
        assert_eq!(c.look(), c.outside, "{command}");
    }
}

/// A hook reads the transcript that the agent names only if it is a file.
#[test]
fn a_transcript_without_end_is_not_waited_for() {
    let c = Clone::new(|c| c.pipe("pipe"));
    for transcript in ["pipe", "/dev/zero", "/dev/tty", "src", "../../.ssh/none"] {
        let input = json!({ "session_id": "s", "hook_event_name": "Stop", "transcript_path": transcript, "cwd": "." }).to_string();
        c.survives(&["hook", "stop"], &input);
    }
}
