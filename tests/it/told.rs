//! Memories that prompts get: precision and recall over `tests/data/remembered.toml`.
//! `cargo test --test it -- told --nocapture` prints the figures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex::chunk::Cancel;
use cortex::embed::{Embedder, StaticModel};
use cortex::graph::Database;
use cortex::live::ChunkManager;
use cortex::memory::{
    Episode, EpisodeSource, Memory, MemoryFeed, MemoryHome, MemorySource, Recall, ResponseType,
    for_prompt, now,
};
use cortex::store::{IndexCache, Layout};
use serde::Deserialize;

#[derive(Deserialize)]
struct Set {
    project: Vec<Project>,
}

#[derive(Deserialize)]
struct Project {
    name: String,
    held_out: bool,
    memories: BTreeMap<String, String>,
    prompts: Vec<Prompt>,
}

#[derive(Deserialize)]
struct Prompt {
    ask: String,
    tell: Vec<String>,
}

fn set() -> Set {
    toml::from_str(include_str!("../data/remembered.toml")).unwrap()
}

fn remembered(key: &str, text: &str) -> Memory {
    let source = if key.starts_with("answer_") {
        MemorySource::ClaudeResponse { response_type: ResponseType::StopResponse }
    } else {
        MemorySource::Episode(Episode {
            source: EpisodeSource::Text,
            operation: None,
            origin_path: None,
            git_batch_id: None,
        })
    };
    Memory::new(text, source, "yesterday")
}

/// Numbers of memories that are returned, that should be, and both.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    told: usize,
    wanted: usize,
    right: usize,
}

impl Counts {
    fn precision(self) -> f64 {
        self.right as f64 / self.told.max(1) as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / self.wanted.max(1) as f64
    }
}

/// Runs the prompts of a project with these `memories`.
fn counted<'a>(
    project: &Project,
    memories: impl Iterator<Item = (&'a String, &'a String)>,
) -> Counts {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("project"), dir.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    let layout = Layout::at(&root).unwrap();
    layout.create().unwrap();
    let model: Arc<dyn Embedder> = StaticModel::bundled();
    let home = MemoryHome::of(
        layout.tree(),
        layout.own_place(),
        false,
        Some(&state),
        Database { path: layout.code_graph(), mark: layout.graph_mark() },
        model.clone(),
    );
    let opened = home.open(Duration::from_secs(5)).unwrap();
    let mut keys = BTreeMap::new();
    for (key, text) in memories {
        let memory = remembered(key, text);
        keys.insert(memory.id, key.clone());
        opened.capture.capture(memory).unwrap();
    }
    let feed =
        MemoryFeed::new(home, model.id(), Box::new(IndexCache::of_memories(&layout, model.id())));
    let facts = feed.facts();
    let manager = ChunkManager::new(vec![Box::new(feed)], model).unwrap();
    manager.reload(&Cancel::new(false)).unwrap();
    let snapshot = manager.current();
    let recall = Recall {
        corpus: &snapshot.feed("memory").unwrap().corpus,
        facts: &facts,
        store: &opened.store,
        embedder: manager.embedder(),
        root: layout.root(),
    };
    let mut counts = Counts::default();
    for Prompt { ask, tell } in &project.prompts {
        let (_, told) = for_prompt(&recall, ask, &[], now()).unwrap();
        let right = told.iter().filter(|id| tell.contains(&keys[id])).count();
        if right < told.len() || right < tell.len() {
            let told: Vec<&String> = told.iter().map(|id| &keys[id]).collect();
            println!("  {}: {ask:?} is told {told:?}, should be {tell:?}", project.name);
        }
        counts = Counts {
            told: counts.told + told.len(),
            wanted: counts.wanted + tell.len(),
            right: counts.right + right,
        };
    }
    counts
}

/// The memories of a project beside its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Among {
    Its,
    /// The memories of all projects.
    All,
    /// Answers about something else: the paragraphs of this repository's own documents.
    Crowd,
}

/// Returns paragraphs of this repository's documents as answers.
fn crowd() -> Vec<(String, String)> {
    let specs = concat!(env!("CARGO_MANIFEST_DIR"), "/specs");
    let mut files: Vec<_> = std::fs::read_dir(specs)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .collect();
    files.sort();
    let text: String =
        files.iter().map(|path| std::fs::read_to_string(path).unwrap() + "\n\n").collect();
    let long = text.split("\n\n").filter(|paragraph| (100..2_000).contains(&paragraph.len()));
    long.enumerate()
        .map(|(i, paragraph)| (format!("answer_crowd_{i}"), paragraph.to_string()))
        .collect()
}

/// Returns the figures of the projects that are, or are not, held out.
fn figures(held_out: bool, among: Among) -> Counts {
    let (set, crowd) = (set(), if among == Among::Crowd { crowd() } else { Vec::new() });
    let mut sum = Counts::default();
    // These documents are about the project "engine".
    for project in set
        .project
        .iter()
        .filter(|p| p.held_out == held_out && !(among == Among::Crowd && p.name == "engine"))
    {
        let remembers = |p: &&Project| among == Among::All || p.name == project.name;
        let own = set.project.iter().filter(remembers).flat_map(|p| &p.memories);
        let one = counted(project, own.chain(crowd.iter().map(|(key, text)| (key, text))));
        sum = Counts {
            told: sum.told + one.told,
            wanted: sum.wanted + one.wanted,
            right: sum.right + one.right,
        };
    }
    let of = if held_out { "held out" } else { "tuned on" };
    println!(
        "{of}, among {among:?} ({} more): precision {:.2}, recall {:.2}, {sum:?}",
        crowd.len(),
        sum.precision(),
        sum.recall()
    );
    sum
}

#[test]
fn prompts_are_told_what_helps_and_little_else() {
    for (held_out, among, precision, recall) in [
        (false, Among::Its, 0.95, 0.7),
        (false, Among::All, 0.85, 0.7),
        (false, Among::Crowd, 0.7, 0.65),
        (true, Among::Its, 0.95, 0.65),
        (true, Among::All, 0.95, 0.65),
        // The documents grow: of three dozen that are told, one more is a paragraph.
        (true, Among::Crowd, 0.62, 0.65),
    ] {
        let figures = figures(held_out, among);
        assert!(figures.precision() >= precision && figures.recall() >= recall, "{figures:?}");
    }
}
