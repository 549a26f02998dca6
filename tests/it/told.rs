//! What a prompt is told of what is remembered: precision and recall over `tests/data/remembered.toml`.
//!
//! `cargo test --test it -- told --nocapture` prints the figures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex::chunk::Cancel;
use cortex::embed::{Embedder, StaticModel};
use cortex::live::ChunkManager;
use cortex::memory::{Episode, EpisodeSource, Memory, MemoryFeed, MemoryHome, MemorySource, Recall, ResponseType, for_prompt, now};
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
        MemorySource::Episode(Episode { source: EpisodeSource::Text, operation: None, origin_path: None, git_batch_id: None })
    };
    Memory::new(text, source, "yesterday")
}

/// Memories that are told, that should be, and both.
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

/// Asks the prompts of a project that remembers `memories`.
fn counted<'a>(project: &Project, memories: impl Iterator<Item = (&'a String, &'a String)>) -> Counts {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("project"), dir.path().join("state"));
    std::fs::create_dir(&root).unwrap();
    let layout = Layout::at(&root).unwrap();
    layout.create().unwrap();
    let model: Arc<dyn Embedder> = StaticModel::bundled();
    let home = MemoryHome::of(layout.tree(), layout.own_place(), false, Some(&state), layout.code_graph(), model.clone());
    let opened = home.open(Duration::from_secs(5)).unwrap();
    let mut keys = BTreeMap::new();
    for (key, text) in memories {
        let memory = remembered(key, text);
        keys.insert(memory.id, key.clone());
        opened.capture.capture(memory).unwrap();
    }
    let feed = MemoryFeed::new(home, model.id(), Box::new(IndexCache::of_memories(&layout, model.id())));
    let facts = feed.facts();
    let manager = ChunkManager::new(vec![Box::new(feed)], model).unwrap();
    manager.reload(&Cancel::new(false)).unwrap();
    let snapshot = manager.current();
    let recall =
        Recall { corpus: &snapshot.code().corpus, facts: &facts, store: &opened.store, embedder: manager.embedder(), root: layout.root() };
    let mut counts = Counts::default();
    for Prompt { ask, tell } in &project.prompts {
        let (_, told) = for_prompt(&recall, ask, &[], now()).unwrap();
        let right = told.iter().filter(|id| tell.contains(&keys[id])).count();
        if right < told.len() || right < tell.len() {
            let told: Vec<&String> = told.iter().map(|id| &keys[id]).collect();
            println!("  {}: {ask:?} is told {told:?}, should be {tell:?}", project.name);
        }
        counts = Counts { told: counts.told + told.len(), wanted: counts.wanted + tell.len(), right: counts.right + right };
    }
    counts
}

/// Figures of the projects that are, or are not, held out; each with its own memories, or with those of all.
fn figures(held_out: bool, with_all: bool) -> Counts {
    let set = set();
    let mut sum = Counts::default();
    for project in set.project.iter().filter(|p| p.held_out == held_out) {
        let remembers = |p: &&Project| with_all || p.name == project.name;
        let one = counted(project, set.project.iter().filter(remembers).flat_map(|p| &p.memories));
        sum = Counts { told: sum.told + one.told, wanted: sum.wanted + one.wanted, right: sum.right + one.right };
    }
    let of = if held_out { "held out" } else { "tuned on" };
    let among = if with_all { "among the memories of all projects" } else { "among its own memories" };
    println!("{of}, {among}: precision {:.2}, recall {:.2} ({sum:?})", sum.precision(), sum.recall());
    sum
}

#[test]
fn prompts_are_told_what_helps_and_little_else() {
    for (held_out, with_all, precision, recall) in
        [(false, false, 0.95, 0.75), (false, true, 0.8, 0.75), (true, false, 0.95, 0.65), (true, true, 0.9, 0.65)]
    {
        let figures = figures(held_out, with_all);
        assert!(figures.precision() >= precision && figures.recall() >= recall, "{figures:?}");
    }
}
