//! The conformance suite of the protocol (`@modelcontextprotocol/conformance`), against the server
//! over HTTP. `tests/it/clients/install.sh` installs it with the clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{Project, run};
use crate::support::clients::{CONFORMANCE, clients, node_program, project, serve};

/// The scenarios that do not apply to Cortex, by reason. A scenario may be followed by a colon and
/// one of its checks: then its other checks must pass.
const NOT_APPLICABLE: &[(&str, &[&str])] = &[
    (
        "only the example server of the suite has the tool that is called",
        &[
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-error",
            "tools-call-with-progress",
            "json-schema-2020-12",
            "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
        ],
    ),
    (
        "no tool of Cortex takes an argument from an HTTP header (x-mcp-header)",
        &["http-custom-header-server-validation"],
    ),
    (
        "only the example server of the suite has the resource that is read",
        &["resources-read-text", "resources-read-binary", "resources-templates-read"],
    ),
    (
        "Cortex has no prompts",
        &[
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
            "caching:sep-2549-prompts-list-caching-hints",
            "input-required-result-non-tool-request",
        ],
    ),
    ("Cortex completes no arguments", &["completion-complete"]),
    (
        "Cortex sends no log messages to its clients",
        &[
            "logging-set-level",
            "tools-call-with-logging",
            "server-stateless:sep-2575-server-no-log-without-loglevel",
        ],
    ),
    (
        "Cortex asks its clients for nothing: no sampling, no elicitation, no roots",
        &[
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-request-state",
            "input-required-result-multiple-input-requests",
            "input-required-result-multi-round",
            "input-required-result-missing-input-response",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "input-required-result-capability-check",
            "input-required-result-ignore-extra-params",
            "server-stateless:sep-2575-server-rejects-undeclared-capability",
            "server-stateless:sep-2575-missing-capability-http-400",
            "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
        ],
    ),
    (
        "Cortex has no sessions over HTTP, so a stream cannot be resumed",
        &[
            "server-session-lifecycle",
            "server-sse-polling",
            "server-sse-multiple-streams:server-sse-multiple-streams-session",
        ],
    ),
    (
        "Cortex takes subscriptions in revision 2026-07-28 only, where these methods are removed",
        &["resources-subscribe", "resources-unsubscribe"],
    ),
    (
        "Cortex has no tasks (an extension of the protocol)",
        &[
            "tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields",
            "tasks-request-state-removal", "tasks-mrtr-input", "tasks-request-headers",
            "tasks-dispatch-and-envelope", "tasks-status-notifications",
            "tasks-required-task-error", "tasks-mrtr-composition",
        ],
    ),
    (
        "Cortex has no skills (an extension of the protocol)",
        &["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"],
    ),
];

/// The check of every message against the schema of the protocol. No reason excuses it.
const SCHEMA: &str = "wire-schema-valid";
/// How often a scenario is run that does not pass. Some scenarios wait for less than a second, which
/// may be too short on a busy machine.
const ATTEMPTS: usize = 3;

/// The suite and the server that it tests.
struct Suite<'a> {
    clients: &'a Path,
    project: &'a Project,
    url: &'a str,
}

/// A run of the suite: for one revision of the protocol, or for the newest one of each scenario.
type Revision<'a> = Option<&'a str>;

impl Suite<'_> {
    /// Returns each scenario for servers, with the revisions of the protocol that it is for.
    fn scenarios(&self) -> BTreeMap<String, BTreeSet<String>> {
        let out =
            run(node_program(self.clients, self.project, CONFORMANCE).args(["list", "--server"]));
        let out = out.expect(0).stdout;
        let scenario = |line: &str| {
            let (name, revisions) = line.trim().strip_prefix("- ")?.split_once(" [")?;
            let revisions = revisions.strip_suffix(']')?.split(',').map(String::from);
            Some((name.to_string(), revisions.collect()))
        };
        let all: BTreeMap<_, _> = out.lines().filter_map(scenario).collect();
        assert!(all.len() > 30, "the list of scenarios cannot be read: {out}");
        all
    }

    /// Runs scenarios, and returns the checks of each. The suite writes them to a directory for each
    /// scenario, whose name ends with the time.
    fn run(&self, which: [&str; 2], revision: Revision) -> BTreeMap<String, Vec<Value>> {
        let results = tempfile::tempdir().unwrap();
        let mut command = node_program(self.clients, self.project, CONFORMANCE);
        command.args(["server", "--url", self.url]).args(which).arg("-o").arg(results.path());
        command.args(revision.iter().flat_map(|revision| ["--spec-version", revision]));
        // The exit code says that scenarios failed, which is judged here.
        let out = run(&mut command);
        let directories: Vec<PathBuf> =
            fs::read_dir(results.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!directories.is_empty(), "no results\n{}{}", out.stdout, out.stderr);
        directories
            .iter()
            .map(|directory| {
                let name = directory.file_name().unwrap().to_str().unwrap();
                let name = name.strip_prefix("server-").unwrap();
                let scenario = &name[..name.len() - "-2026-07-28T00-00-00-000Z".len()];
                let checks = fs::read_to_string(directory.join("checks.json")).unwrap();
                (scenario.to_string(), serde_json::from_str(&checks).unwrap())
            })
            .collect()
    }
}

/// What a table of exceptions excuses, and which of its entries were needed.
struct Excuses {
    entries: BTreeSet<&'static str>,
    needed: BTreeSet<&'static str>,
}

impl Excuses {
    fn new() -> Self {
        let entries: Vec<&str> =
            NOT_APPLICABLE.iter().flat_map(|(_, entries)| *entries).copied().collect();
        let set: BTreeSet<&str> = entries.iter().copied().collect();
        assert_eq!(set.len(), entries.len(), "an entry of the table is there twice");
        Self { entries: set, needed: BTreeSet::new() }
    }

    /// Returns whether a check of a scenario need not pass.
    fn excuse(&mut self, scenario: &str, check: &str) -> bool {
        let entry = self
            .entries
            .get(scenario)
            .or_else(|| self.entries.get(&*format!("{scenario}:{check}")))
            .filter(|_| check != SCHEMA);
        self.needed.extend(entry);
        entry.is_some()
    }

    /// Returns why a scenario does not pass; nothing if it passes or is excused.
    fn judge(&mut self, scenario: &str, checks: &[Value]) -> Vec<String> {
        let mut why = Vec::new();
        let (mut n_passed, mut n_excused) = (0, 0);
        for check in checks {
            let id = check["id"].as_str().unwrap();
            match check["status"].as_str().unwrap() {
                "SUCCESS" => n_passed += usize::from(id != SCHEMA),
                "INFO" | "SKIPPED" => {}
                _ if self.excuse(scenario, id) => n_excused += 1,
                status => {
                    why.push(format!("{scenario}:{id}: {status}: {}", check["errorMessage"]));
                }
            }
        }
        if why.is_empty() && n_passed + n_excused == 0 && !self.excuse(scenario, "") {
            why.push(format!("{scenario}: nothing was checked"));
        }
        why
    }
}

#[test]
fn every_scenario_of_the_conformance_suite_passes_or_does_not_apply() {
    let Some(clients) = clients() else { return };
    let p = project();
    p.index();
    let (_server, url) = serve(&p);
    let suite = Suite { clients: &clients, project: &p, url: &url };
    let scenarios = suite.scenarios();
    // Scenarios of extensions belong to no revision.
    let revisions: BTreeSet<Revision> = scenarios
        .values()
        .flatten()
        .map(|revision| Some(revision.as_str()).filter(|revision| *revision != "extension"))
        .collect();
    assert!(revisions.contains(&Some("2026-07-28")), "{revisions:?}");

    let (mut excuses, mut failures) = (Excuses::new(), Vec::new());
    for revision in revisions {
        let results = suite.run(["--suite", "all"], revision);
        let of_revision = |(_, revisions): &(&String, &BTreeSet<String>)| {
            revision.is_none_or(|revision| revisions.contains(revision))
        };
        for (scenario, _) in scenarios.iter().filter(of_revision) {
            let Some(checks) = results.get(scenario) else {
                failures.push(format!("{scenario}: it was not run (in {revision:?})"));
                continue;
            };
            let mut why = excuses.judge(scenario, checks);
            for _ in 1..ATTEMPTS {
                if !why.is_empty() {
                    let again = suite.run(["--scenario", scenario], revision);
                    why = excuses.judge(scenario, &again[scenario]);
                }
            }
            failures.extend(why.iter().map(|why| format!("{why} (in {revision:?})")));
        }
    }
    let unneeded: Vec<_> = excuses.entries.difference(&excuses.needed).collect();
    assert!(failures.is_empty(), "these scenarios do not pass: {failures:#?}");
    assert!(unneeded.is_empty(), "these entries pass, or do not exist any more: {unneeded:?}");
}
