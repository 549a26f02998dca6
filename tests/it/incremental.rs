//! After many edits, an index equals a fresh index of the same tree.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::project::{Project, Random};

/// A known tree: by path, the definitions of each file with the lengths of their bodies.
pub struct Tree {
    pub project: Project,
    files: BTreeMap<String, Vec<(String, usize)>>,
    random: Random,
}

/// Names that sort differently as strings and as paths.
const DIRECTORIES: [&str; 6] = ["", "a/", "a-b/", "a/b/", "a.d/", "Ünï/"];
const EXTENSIONS: [&str; 12] =
    ["rs", "py", "js", "ts", "go", "java", "rb", "c", "sh", "md", "toml", "txt"];
const WORDS: [&str; 8] =
    ["valve", "kettle", "garden", "window", "engine", "letter", "bridge", "pillow"];

impl Tree {
    pub fn new(seed: u64, n_files: usize) -> Self {
        let mut tree =
            Self { project: Project::new(), files: BTreeMap::new(), random: Random(seed) };
        (0..n_files).for_each(|_| tree.create());
        tree
    }

    fn new_path(&mut self) -> String {
        let (d, e, n) = (self.random.below(6), self.random.below(12), self.random.below(1000));
        format!("{}{}{n}.{}", DIRECTORIES[d], WORDS[n % 8], EXTENSIONS[e])
    }

    /// Few names, so that some occur twice in a file; lengths from one line to several chunks.
    fn new_item(&mut self) -> (String, usize) {
        let (word, n) = (WORDS[self.random.below(8)], self.random.below(5));
        let lines = [1, 2, 8, 20, 60][self.random.below(5)];
        (format!("{word}_{n}"), lines)
    }

    fn some_path(&mut self) -> Option<String> {
        let n = self.files.len();
        (n > 0).then(|| self.random.below(n)).and_then(|i| self.files.keys().nth(i).cloned())
    }

    fn save(&self, path: &str) {
        let extension = path.rsplit('.').next().unwrap();
        self.project.write(
            path,
            self.files[path]
                .iter()
                .map(|(name, lines)| item(extension, name, *lines))
                .collect::<String>(),
        );
    }

    fn create(&mut self) {
        let path = self.new_path();
        let n = self.random.below(5);
        let items = (0..n).map(|_| self.new_item()).collect();
        self.files.insert(path.clone(), items);
        self.save(&path);
    }

    /// Makes one random change of the tree.
    pub fn change(&mut self) {
        let Some(path) = self.some_path() else { return self.create() };
        let item = self.new_item();
        let at = self.random.below(self.files[&path].len() + 1);
        match self.random.below(10) {
            0 => return self.create(),
            1 => {
                self.project.remove(&path);
                self.files.remove(&path);
                return;
            }
            2 => {
                let to = self.new_path();
                self.project.rename(&path, &to);
                let items = self.files.remove(&path).unwrap();
                // The file gets the text of another language, as after a rename.
                let saved = self.project.read(&to);
                self.files.insert(to.clone(), items);
                return self.project.write(&to, saved);
            }
            3 => {
                // An ignore rule is added or removed.
                let rule = if self.random.below(2) == 0 { "/a/\n" } else { "*.md\n" };
                return if self.project.path(".gitignore").exists() {
                    self.project.remove(".gitignore");
                } else {
                    self.project.write(".gitignore", rule);
                };
            }
            4 => return self.project.write(&path, b"\0binary"),
            5 => self.files.get_mut(&path).unwrap().clear(),
            6 => {
                let items = self.files.get_mut(&path).unwrap();
                items.truncate(at);
            }
            _ => self.files.get_mut(&path).unwrap().insert(at, item),
        }
        self.save(&path);
    }
}

/// Returns a definition in the language of an extension.
fn item(extension: &str, name: &str, lines: usize) -> String {
    let body = |prefix: &str| {
        (0..lines).fold(String::new(), |mut s, i| {
            let _ = writeln!(
                s,
                "{prefix}the {name} number {i} has to be looked at before it is closed"
            );
            s
        })
    };
    match extension {
        "rs" => format!(
            "/// Opens the {name}.\npub fn {name}() {{\n{}}}\n\nconst {}: u32 = 1;\n\n",
            body("    // "),
            name.to_uppercase()
        ),
        "py" => format!(
            "def {name}(x):\n    \"\"\"Open the {name}.\"\"\"\n{}    return x\n\n",
            body("    # ")
        ),
        "js" => format!("export function {name}() {{\n{}}}\n\n", body("  // ")),
        "ts" => format!("export interface {name} {{\n{}  size: number;\n}}\n\n", body("  // ")),
        "go" => format!("// Opens.\nfunc {name}() {{\n{}}}\n\n", body("\t// ")),
        "java" => format!("class {name} {{\n  void open() {{\n{}  }}\n}}\n\n", body("    // ")),
        "rb" => {
            format!("class {}\n  def open\n{}  end\nend\n\n", name.to_uppercase(), body("    # "))
        }
        "c" => format!("static int {name}(void) {{\n{}    return 0;\n}}\n\n", body("    // ")),
        "sh" => format!("{name}() {{\n{}  true\n}}\n\n", body("  # ")),
        "md" => format!("## {name}\n\n{}\n", body("")),
        "toml" => format!("[{name}]\n{}size = 1\n\n", body("# ")),
        _ => format!("{name}\n\n{}\n", body("")),
    }
}

/// Returns the results of some queries, with scores.
fn answers(p: &Project) -> Vec<Value> {
    let queries = ["where is a window closed", "kettle_3"];
    queries
        .iter()
        .map(|q| p.json(&["search", "--explain", "-n", "20", q])["results"].clone())
        .collect()
}

/// After any sequence of edits, deletions, renames and changed ignore rules, the chunk files equal
/// those of a fresh index byte for byte, apart from time stamps, and searches give the same results
/// with the same scores.
#[test]
fn an_incremental_index_equals_a_full_one() {
    let stress = std::env::var_os("STRESS").is_some();
    let (n_seeds, n_rounds) = if stress { (20, 20) } else { (2, 3) };
    for seed in 1..=n_seeds {
        let mut tree = Tree::new(seed, 40);
        for round in 0..n_rounds {
            for _ in 0..5 {
                for _ in 0..=tree.random.below(3) {
                    tree.change();
                }
                tree.project.index();
            }
            let fresh = tree.project.fresh_copy();
            for (a, b) in tree.project.timeless().iter().zip(fresh.timeless()) {
                let difference = a.lines().zip(b.lines()).find(|(a, b)| a != b);
                assert!(*a == b, "seed {seed}, round {round}: {difference:#?}");
            }
            assert_eq!(answers(&tree.project), answers(&fresh), "seed {seed}, round {round}");
            assert_eq!(tree.project.json(&["index"])["changed"], false);
        }
    }
}

/// No two chunks share an id, and every line of every indexed file is in a chunk at its place: in
/// generated files and in this program's own sources.
#[test]
fn every_line_is_in_a_chunk() {
    let tree = Tree::new(7, 60);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    copy_sources(&own, Path::new("src"), &tree.project);
    let p = &tree.project;
    p.index();
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ids = std::collections::BTreeSet::new();
    for chunk in p.chunks() {
        let id = chunk["id"].as_str().unwrap().to_string();
        assert!(ids.insert(id.clone()), "the id {id} occurs twice");
        if chunk["chunk_type"] == "symbols" {
            continue;
        }
        let m = &chunk["metadata"];
        let path = m["file_path"].as_str().unwrap();
        let file = p.read(path);
        let file = cortex::secrets::redact_file(&file);
        let text: Vec<&str> = file.text.lines().collect();
        let covered = lines
            .entry(path.to_string())
            .or_insert_with(|| text.iter().map(ToString::to_string).collect());
        let line = |key: &str| usize::try_from(m[key].as_u64().unwrap()).unwrap();
        let range = line("start_line") - 1..line("end_line");
        // Blank lines at the end may be missing from the text.
        assert_eq!(
            chunk["text"].as_str().unwrap().trim_end(),
            text[range.clone()].join("\n").trim_end(),
            "{id}"
        );
        range.for_each(|i| covered[i].clear());
    }
    assert!(lines.len() > 80, "{}", lines.len());
    for (path, rest) in lines {
        assert_eq!(
            rest.iter().find(|l| !l.trim().is_empty()),
            None,
            "{path}: a line is in no chunk"
        );
    }
}

fn copy_sources(from: &Path, to: &Path, p: &Project) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_sources(&entry.path(), &target, p);
        } else if entry.path().extension().is_some_and(|e| e == "rs" || e == "scm") {
            p.write(&target, std::fs::read(entry.path()).unwrap());
        }
    }
}
