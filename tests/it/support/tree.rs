//! A project that changes at random, the same in every run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::project::{Project, Random};

/// A known tree: by path, the definitions of each file with the lengths of their bodies.
pub struct Tree {
    pub project: Project,
    files: BTreeMap<String, Vec<(String, usize)>>,
    pub random: Random,
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
