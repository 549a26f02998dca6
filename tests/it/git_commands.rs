//! Git reads a repository that another person configured: it runs no program that the configuration
//! names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::project::Project;

#[test]
fn no_command_of_a_repository_with_a_promisor_remote_hooks_and_fsmonitor_is_run() {
    let p = Project::sample();
    let (script, marker) = (p.home().join("script"), p.home().join("marker"));
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexit 1\n", marker.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = script.to_str().unwrap();
    p.git(&["init", "-q"]);
    p.git(&["add", "."]);
    p.git(&["commit", "-q", "-m", "feat: walls are painted by a visitor"]);
    p.write("tools/colours.py", "def paint_wall(colour):\n    return colour.lower()\n");
    p.git(&["commit", "-q", "-am", "fix: colours are written in lower case"]);
    // As in a partial clone: the tree of the first commit is on the server.
    let tree = p.git(&["rev-parse", "HEAD~1^{tree}"]);
    let (folder, name) = tree.split_at(2);
    p.remove(Path::new(".git/objects").join(folder).join(name).to_str().unwrap());
    for hook in [
        "post-index-change", "post-checkout", "pre-auto-gc", "reference-transaction",
        "fsmonitor-watchman",
    ] {
        fs::create_dir_all(p.path(".git/hooks")).unwrap();
        fs::copy(&script, p.path(".git/hooks").join(hook)).unwrap();
    }
    p.write(".git/info/attributes", "* filter=run diff=run\n");
    let origin = p.root().display().to_string();
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = {run}\n\tsshCommand = {run}\n\tpager = {run}\n\taskPass = {run}\n\
         [extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true\n\tuploadpack = {run}\n\turl = ORIGIN\n\
         [protocol \"ext\"]\n\tallow = always\n[protocol \"file\"]\n\tallow = always\n[log]\n\tshowSignature = true\n\
         [gpg]\n\tprogram = {run}\n[credential]\n\thelper = {run}\n[diff]\n\texternal = {run}\n\
         [diff \"run\"]\n\ttextconv = {run}\n\tcommand = {run}\n[filter \"run\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired = true\n"
    );
    for url in [
        &*origin,
        &format!("file://{origin}"),
        &format!("\"ext::{run}\""),
        "ssh://nowhere.invalid/x",
    ] {
        p.write(".git/config", config.replace("ORIGIN", url));
        for args in [
            &["index"][..],
            &["search", "paint"],
            &["memory", "add", "The walls are painted in lower case."],
            &["memory", "search", "walls"],
            &["status"],
            &["graph", "impact", "--diff"],
            &["changes"],
            &["changes", "HEAD"],
            &["eval", "--self"],
        ] {
            let out = p.run(args);
            assert!(out.code <= 2, "{args:?}: {}", out.stderr);
            assert!(!marker.exists(), "{args:?} with the remote {url}: {}", out.stderr);
        }
        p.write("src/retry.rs", format!("// {url}\npub fn again() {{}}\n"));
    }
}
