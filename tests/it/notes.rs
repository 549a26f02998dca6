//! The notes of running servers, and commands that ask for a server while one runs.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use crate::project::{Project, run};
use crate::server::{Server, get};

/// What a server is asked for that it may not give: arguments, variables, a setting.
type Asked = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);

const ASKED: [Asked; 9] = [
    (&["--token", "T"], &[], ""),
    (&["--port", "9"], &[], ""),
    (&["--address", "127.0.0.2"], &[], ""),
    (&["--tools", "search"], &[], ""),
    (&[], &[("CORTEX_SERVE_TOKEN", "T")], ""),
    (&[], &[("CORTEX_SERVE_TOOLS", "search")], ""),
    (&[], &[("CORTEX_SERVE_PORT", "9")], ""),
    (&[], &[], "[serve]\ntoken = \"T\"\n"),
    (&[], &[], "[serve]\ntools = [\"search\"]\n"),
];

#[test]
fn a_server_that_runs_gives_what_is_asked_for_or_it_is_an_error() {
    let p = Project::sample();
    p.index();
    let url = p.run(&["serve", "--detach", "--port", "0"]).expect(0).stdout;
    let again = |args: &[&str]| p.run(args).expect(0).stdout;
    assert_eq!(again(&["serve", "--detach"]), url);
    assert!(again(&["open", "--print"]).starts_with(url.trim()));
    for (flags, variables, settings) in ASKED {
        p.configure(settings);
        for command in [&["serve", "--detach"][..], &["open", "--print"]] {
            let what = format!("{command:?} {flags:?} {variables:?} {settings}");
            let mut command = p.cortex(&[command, flags].concat());
            let error = run(command.envs(variables.iter().copied())).error();
            assert!(
                error.contains("cannot serve") && error.contains(url.trim()),
                "{what}: {error}"
            );
            assert!(error.contains("cortex server stop"), "{what}: {error}");
        }
        p.configure("");
    }
    for flag in ["--read-only", "--no-watch", "--edit-trusted-files"] {
        let error = p.run(&["open", "--print", flag]).error();
        assert!(error.contains(flag) && error.contains("cortex server stop"), "{error}");
    }
    assert_eq!(get(&format!("{}/api/search?query=potatoes", url.trim()), &[]).0, 200);
    // After the end of that one, all of it is given.
    p.run(&["server", "stop"]).expect(0);
    let wanted = ["serve", "--detach", "--token", "T", "--port", "0", "--tools", "search"];
    let url = again(&wanted);
    assert_eq!(again(&wanted), url, "it gives just that");
    assert_eq!(again(&["serve", "--detach"]), url, "nothing else is asked for");
    let api = format!("{}/api/search?query=potatoes", url.trim());
    assert_eq!(get(&api, &[]).0, 401);
    assert_eq!(get(&api, &[("authorization", "Bearer T")]).0, 200);
    let error = p.run(&["serve", "--detach", "--token", "OTHER"]).error();
    assert!(error.contains("another token"), "{error}");
}

#[test]
fn a_server_in_a_terminal_is_named_with_the_way_to_end_it() {
    let p = Project::sample();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--read-only"]));
    let url = server.line();
    assert_eq!(p.run(&["serve", "--detach"]).expect(0).stdout.trim(), url);
    assert!(p.run(&["open", "--print", "--read-only"]).expect(0).stdout.starts_with(&url));
    let error = p.run(&["serve", "--detach", "--token", "T"]).error();
    let pid = server.child.id();
    assert!(error.contains(&url) && error.contains(&format!("kill {pid}")), "{error}");
}

/// A server that crashed leaves its note, and any user of the machine can take its port.
#[test]
fn nothing_is_told_to_a_program_that_took_the_port_of_a_dead_server() {
    for token in ["", "MYTOKEN"] {
        let p = Project::sample();
        p.index();
        let mut server =
            Server::start(p.cortex(&["serve", "--port", "0"]).env("CORTEX_SERVE_TOKEN", token));
        let url = server.line();
        let port = url.rsplit(':').next().unwrap().to_string();
        assert!(p.run(&["open", "--print"]).expect(0).stdout.starts_with(&url));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let squatter = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
        let heard = Arc::new(Mutex::new(String::new()));
        let root = p.root().canonicalize().unwrap();
        let body = format!("{{\"root\":{root:?},\"ticket\":\"STOLEN\",\"key\":\"STOLEN\"}}");
        let hears = heard.clone();
        thread::spawn(move || {
            for stream in squatter.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut request) {
                    hears.lock().push_str(&String::from_utf8_lossy(&request[..n]));
                    let head = "HTTP/1.1 200 OK\r\ncortex-proof: 00\r\ncontent-length";
                    let _ = write!(stream, "{head}: {}\r\n\r\n{body}", body.len());
                }
            }
        });
        for args in [
            &["open", "--print"][..],
            &["serve", "--detach"],
            &["serve", "--detach", "--token", "MYTOKEN"],
            &["open", "--print", "--read-only", "--port", "0"],
        ] {
            // The last one serves in the foreground.
            if args.contains(&"--read-only") {
                let line = Server::start(&mut p.cortex(args)).line();
                assert!(!line.contains(&format!(":{port}")), "{args:?}: {line}");
                continue;
            }
            let out = p.run(args);
            assert!(!out.stdout.contains(&format!(":{port}")), "{args:?}: {out:?}");
            assert!(!out.stdout.contains("STOLEN"), "{args:?}: {out:?}");
            p.run(&["server", "stop"]);
            // The note of the dead server is there again.
            let state = p.home().join(".local/state/cortex");
            let _ = fs::create_dir_all(&state);
        }
        let heard = heard.lock().clone();
        assert!(!heard.contains("uthorization") && !heard.contains("MYTOKEN"), "{heard}");
    }
}
