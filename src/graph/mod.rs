//! The code graph of a project: which symbols call, use, import or extend which.
//! [`CodeGraph::update`] keeps the rows of every file in `.cortex/graph/code-graph.db`;
//! [`CodeGraph::answer`] resolves names at query time, from the rows of all files. The module knows
//! neither the index nor chunks: its caller passes the files and a function that reads them.

mod answer;
mod around;
mod compare;
mod database;
mod error;
mod impact;
mod imported;
mod infer;
mod judge;
mod kept;
mod map;
mod meant;
mod members;
mod modules;
mod names;
mod precise;
mod rename;
mod resolve;
mod resolver;
mod rows;
mod scip;
mod scopes;
mod sql;
mod steps;
mod targets;
mod tested;
mod traversal;
mod types;
mod unused;
mod used;
mod uses;
mod words;

use std::collections::HashMap;
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;

pub use self::answer::{
    Around, GraphAnswer, GraphQuery, ImportedName, LEAST_CONFIDENCE, MAX_DEPTH, NameUses,
    Neighbour, Node, Operation,
};
pub use self::compare::{Comparison, Counts, Difference};
pub use self::database::Database;
pub use self::error::GraphError;
pub use self::impact::{Affected, ImpactAnswer, ImpactQuery, ImpactTarget};
pub use self::judge::OTHER_LANGUAGE;
use self::kept::Kept;
pub use self::map::{Map, MapFile, MapQuery, MapSymbol};
pub use self::meant::AskedMeaning;
pub use self::rename::{NamedIn, RenamePlan, Verdict};
use self::resolver::Resolver;
pub use self::rows::FileRows;
use self::scopes::Scopes;
use self::sql::{BUSY, Tables};
pub use self::sql::{PreciseSource, TablesVersion};
pub use self::steps::Step;
pub use self::tested::{FoundTest, Reason, TestsAnswer};
use self::traversal::Traversal;
pub use self::unused::{Exempt, UnusedAnswer, UnusedQuery, UnusedSymbol, WhyUnused};
pub use self::used::Users;
use crate::languages::{Function, LanguageKind, TestRole, detect, go_module, test_role};
use crate::syntax::{Import, Relations, Symbol, relations};
use crate::work::WorkBudget;

/// Number of files that are parsed and written at once; it bounds the memory of an update.
const BATCH_FILES: usize = 256;

/// The code graph of a project.
#[derive(Debug)]
pub struct CodeGraph {
    tables: Arc<Tables>,
    kept: Kept,
}

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Updated {
    /// Number of files that were new or changed, including those that could not be read.
    pub n_parsed: usize,
    /// Number of files that are no longer among the files of the project.
    pub n_removed: usize,
}

/// The result of an import of a SCIP index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Imported {
    /// The name under which it is kept.
    pub name: String,
    /// The program that wrote it.
    pub tool: String,
    /// Number of files that it describes as they are now.
    pub n_files: usize,
    /// Files that have changed since it was made.
    pub outdated: Vec<String>,
    /// Number of its documents that are no files of the project.
    pub n_others: usize,
}

impl CodeGraph {
    /// Opens the database, or creates it in an existing directory. A database that is damaged, of
    /// another version or without the mark is replaced by an empty one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(database: &Database) -> Result<Self, GraphError> {
        Self::open_within(database, BUSY)
    }

    /// Opens the database like [`CodeGraph::open`], but waits only this long for another process that
    /// writes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open_within(database: &Database, busy: Duration) -> Result<Self, GraphError> {
        let tables = Arc::new(Tables::open(database, busy)?);
        Ok(Self { tables, kept: Kept::default() })
    }

    /// Returns the version of the rows: equal versions of one value have equal rows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn version(&self) -> Result<TablesVersion, GraphError> {
        self.tables.version()
    }

    /// Asks a traversal that may have read what the last answers needed.
    fn ask<T>(
        &self,
        work: &WorkBudget,
        ask: impl FnOnce(&mut Traversal) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        self.kept.ask(&self.tables, work, ask)
    }

    /// Returns a resolver that has read nothing but the list of files.
    fn resolver(&self, work: &WorkBudget) -> Result<Resolver, GraphError> {
        Ok(Resolver::new(Scopes::new(self.tables.clone())?, work.clone()))
    }

    /// Copies a database, which other processes may use, to a place without one. Copies nothing if it
    /// lacks this mark. Without a mark, the caller knows where the database came from.
    ///
    /// # Errors
    /// When it cannot be read, or the copy cannot be written; then there is none.
    pub fn copy(from: &Path, mark: Option<i32>, to: &Database) -> Result<(), GraphError> {
        Tables::copy(from, mark, to)
    }

    /// Returns the hash of every file that has rows, by path.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn hashes(&self) -> Result<HashMap<String, String>, GraphError> {
        self.tables.hashes()
    }

    /// Replaces the rows of these files. Use [`CodeGraph::renew`] if the database is damaged.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put(&self, files: &[FileRows]) -> Result<(), GraphError> {
        self.tables.replace(files, &[])
    }

    /// Takes more memory, because many files follow.
    pub fn expect_many(&self) {
        self.tables.expect_many();
    }

    /// Ends a number of calls of [`CodeGraph::put`].
    pub fn settle(&self) {
        self.tables.settle();
    }

    /// Updates the graph to these files (path and hash of the content). Only files with another
    /// hash are read; a file that cannot be read is left out. `read` returns the text of a file and
    /// the hash of its content, which may be newer than the list.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn update(
        &self,
        files: impl IntoIterator<Item = (String, String)>,
        read: impl Fn(&str) -> Option<(String, String)> + Sync,
        tell: impl Fn(usize, usize),
    ) -> Result<Updated, GraphError> {
        let files: HashMap<String, String> = files.into_iter().collect();
        match self.bring_up_to_date(&files, &read, &tell) {
            Err(GraphError::Damaged { .. }) => {
                self.tables.renew()?;
                self.bring_up_to_date(&files, &read, &tell)
            }
            done => done,
        }
    }

    /// Empties a damaged database; the next update fills it again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn renew(&self) -> Result<(), GraphError> {
        self.tables.renew()
    }

    /// Answers a query from the last update. The answer is truncated when the budget is spent.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn answer(
        &self,
        question: GraphQuery,
        work: &WorkBudget,
    ) -> Result<GraphAnswer, GraphError> {
        self.ask(work, |traversal| traversal.answer(question))
    }

    /// Answers a query, and returns the steps between the nodes of the answer, for a drawing. Those of
    /// the farthest nodes are not among them, because the query does not follow these.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn answer_with_steps(
        &self,
        question: GraphQuery,
        work: &WorkBudget,
    ) -> Result<(GraphAnswer, Vec<Step>), GraphError> {
        self.ask(work, |traversal| traversal.answer_with_steps(question))
    }

    /// Finds the tests that reach the target of a query. The answer is truncated when the budget is
    /// spent.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn tests(&self, query: GraphQuery, work: &WorkBudget) -> Result<TestsAnswer, GraphError> {
        self.ask(work, |traversal| traversal.tests(query))
    }

    /// Answers a query about what uses the target, and finds the tests that reach it within so many
    /// steps. The answer is truncated when the budget is spent.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn affected(
        &self,
        query: GraphQuery,
        test_depth: usize,
        work: &WorkBudget,
    ) -> Result<Affected, GraphError> {
        self.ask(work, |traversal| traversal.affected(query, test_depth))
    }

    /// Finds the symbols that nothing seems to use. A search that the budget ends finds none.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn unused(
        &self,
        query: UnusedQuery,
        work: &WorkBudget,
    ) -> Result<UnusedAnswer, GraphError> {
        unused::unused(self.resolver(work)?, query)
    }

    /// Finds what a change of many symbols and files may affect. The answer is truncated when the
    /// budget is spent.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn impact(
        &self,
        query: ImpactQuery,
        work: &WorkBudget,
    ) -> Result<ImpactAnswer, GraphError> {
        self.ask(work, |traversal| traversal.impact(query))
    }

    /// Plans a change of the name of the target. `find` returns the places of a name in all files.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn rename(
        &self,
        target: &str,
        new: &str,
        find: &dyn Fn(&str) -> Vec<NamedIn>,
        work: &WorkBudget,
    ) -> Result<RenamePlan, GraphError> {
        self.ask(work, |traversal| traversal.rename(target, new, find))
    }

    /// Returns what the graph knows of the uses of names that no longer have their symbols.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn uses_of_names(
        &self,
        names: &[&str],
        work: &WorkBudget,
    ) -> Result<Vec<NameUses>, GraphError> {
        self.ask(work, |traversal| names.iter().map(|name| traversal.uses_of_name(name)).collect())
    }

    /// Returns what is around each symbol (`file:line`, or another way to name it), in their order:
    /// `None` for one that the graph does not know, or that the budget has no time for.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn around(
        &self,
        targets: &[String],
        work: &WorkBudget,
    ) -> Result<Vec<Option<Around>>, GraphError> {
        self.ask(work, |traversal| traversal.around_all(targets))
    }

    /// Counts the users of each symbol, given by its name and a target, in their order; `None` where
    /// the count would take too long.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn count_users(
        &self,
        targets: &[(&str, String)],
        work: &WorkBudget,
    ) -> Result<Vec<Option<Users>>, GraphError> {
        self.ask(work, |traversal| traversal.count_users(targets))
    }

    /// Returns the symbols and files that each text names.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn named(
        &self,
        targets: &[String],
        work: &WorkBudget,
    ) -> Result<Vec<Vec<Node>>, GraphError> {
        self.ask(work, |traversal| {
            let scopes = &mut traversal.resolver.scopes;
            let mut nodes = |target: &String| {
                let found = scopes.targets(target)?;
                found.into_iter().map(|id| scopes.node(id)).collect::<Result<Vec<_>, _>>()
            };
            targets.iter().map(&mut nodes).collect()
        })
    }

    /// Returns what each place in the code means, with the confidence, likeliest first.
    ///
    /// # Errors
    /// When the database cannot be read, or is damaged.
    pub fn meant(
        &self,
        asked: &[AskedMeaning],
        work: &WorkBudget,
    ) -> Result<Vec<Vec<(Node, f32)>>, GraphError> {
        self.ask(work, |traversal| asked.iter().map(|one| traversal.resolver.meant(one)).collect())
    }

    /// Imports a SCIP index under a name, in place of the former one of that name. `stamp` tells its
    /// versions apart; `root` is the directory of the project. Call it after an update: an index
    /// holds for the files as they are now.
    ///
    /// # Errors
    /// When it is no SCIP index, or the database cannot be written.
    pub fn import<R: BufRead>(
        &self,
        name: &str,
        stamp: &str,
        root: &Path,
        open: impl Fn() -> std::io::Result<R>,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Imported, GraphError> {
        let hashes = self.tables.hashes()?;
        let text = |path: &str| hashes.contains_key(path).then(|| read(path)).flatten();
        let precise = scip::read(root, open, text)
            .map_err(|reason| GraphError::NoScip { name: name.to_string(), reason })?;
        self.tables.put_precise(name, stamp, &precise, &hashes)?;
        Ok(Imported {
            name: name.to_string(),
            n_files: precise.documents.len(),
            n_others: precise.n_others,
            outdated: precise.outdated,
            tool: precise.tool,
        })
    }

    /// Forgets what an imported SCIP index says.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget(&self, name: &str) -> Result<(), GraphError> {
        self.tables.drop_precise(name)
    }

    /// Returns the imported SCIP indexes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sources(&self) -> Result<Vec<PreciseSource>, GraphError> {
        self.tables.precise_sources()
    }

    /// Compares what is inferred with what the imported SCIP indexes say, call by call.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn compare(&self, work: &WorkBudget) -> Result<Comparison, GraphError> {
        compare::compare(self.resolver(work)?)
    }

    /// Ranks the files and symbols of the project, by as many references as the budget allows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn map(&self, query: MapQuery, work: &WorkBudget) -> Result<Map, GraphError> {
        map::map(self.resolver(work)?, query)
    }

    fn bring_up_to_date(
        &self,
        files: &HashMap<String, String>,
        read: &(impl Fn(&str) -> Option<(String, String)> + Sync),
        tell: &impl Fn(usize, usize),
    ) -> Result<Updated, GraphError> {
        let known = self.tables.hashes()?;
        let gone: Vec<String> =
            known.keys().filter(|path| !files.contains_key(*path)).cloned().collect();
        let mut changed: Vec<(&String, &String)> =
            files.iter().filter(|(path, hash)| known.get(*path) != Some(hash)).collect();
        changed.sort_unstable();
        if !gone.is_empty() {
            self.tables.replace(&[], &gone)?;
        }
        if changed.len() > BATCH_FILES {
            self.tables.expect_many();
        }
        let mut parsed: Vec<Result<FileRows, String>> = Vec::new();
        let mut batches = changed.chunks(BATCH_FILES);
        let mut n_done = 0;
        loop {
            if !changed.is_empty() {
                tell(n_done, changed.len());
            }
            let batch = batches.next();
            // One batch is written while the next is parsed.
            let parse = || {
                batch.map(|b| b.par_iter().map(|(path, _)| parse(path, read)).collect::<Vec<_>>())
            };
            let (written, next) = rayon::join(|| self.write(std::mem::take(&mut parsed)), parse);
            written?;
            let Some(next) = next else { break };
            n_done += next.len();
            parsed = next;
        }
        if !changed.is_empty() {
            self.tables.settle();
        }
        Ok(Updated { n_parsed: changed.len(), n_removed: gone.len() })
    }

    fn write(&self, parsed: Vec<Result<FileRows, String>>) -> Result<(), GraphError> {
        if parsed.is_empty() {
            return Ok(());
        }
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for file in parsed {
            match file {
                Ok(file) => files.push(file),
                Err(path) => unreadable.push(path),
            }
        }
        self.tables.replace(&files, &unreadable)
    }
}

/// Returns each name that exactly one file defines, with the path of that file. The answer comes
/// from an existing database, which may be outdated; without one it is empty.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "SQLite opens by path, and no link")]
pub fn defining_files(database: &Database, names: &[&str]) -> Vec<(String, String)> {
    if names.is_empty() || !database.path.exists() {
        return Vec::new();
    }
    let Ok(tables) = Tables::open(database, BUSY) else { return Vec::new() };
    names
        .iter()
        .filter_map(|name| Some(((*name).to_string(), tables.only_file_defining(name).ok()??)))
        .collect()
}

/// Parses a file. The error is its path if it cannot be read.
fn parse(path: &str, read: &impl Fn(&str) -> Option<(String, String)>) -> Result<FileRows, String> {
    let (text, hash) = read(path).ok_or_else(|| path.to_string())?;
    let language = detect(path, &text);
    let found = match &language.kind {
        // A parser that panics affects only this file.
        LanguageKind::Code(grammar) => {
            catch_unwind(AssertUnwindSafe(|| relations(grammar, &text))).ok().flatten()
        }
        _ => None,
    };
    Ok(FileRows::new(path, &hash, &text, found))
}

impl FileRows {
    /// Makes the rows of a file from its text and the relations that it states.
    #[must_use]
    pub fn new(path: &str, hash: &str, text: &str, relations: Option<Relations>) -> Self {
        let language = detect(path, text).name;
        let mut relations = relations.unwrap_or_default();
        match path.rsplit('/').next() {
            Some("Cargo.toml") => relations.package = crate_name(text),
            Some("go.mod") => relations.package = go_module(text),
            Some("package.json") => {
                let manifest: NpmManifest = serde_json::from_str(text).unwrap_or_default();
                relations.imports = manifest.import_rows(text);
                relations.package = manifest.name;
            }
            _ => {}
        }
        let roles = roles(path, language, text, &relations.symbols);
        Self { path: path.into(), hash: hash.into(), language: language.into(), relations, roles }
    }
}

/// Returns the name of the crate that a manifest of Cargo describes: that of its library, else that
/// of the package.
fn crate_name(manifest: &str) -> Option<String> {
    let name = |section: &str| {
        let mut lines = manifest.lines().map(str::trim);
        lines.find(|line| *line == section)?;
        let lines = lines.take_while(|line| !line.starts_with('['));
        let (_, name) =
            lines.filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "name")?;
        Some(name.split('"').nth(1)?.to_string())
    };
    name("[lib]").or_else(|| name("[package]"))
}

/// What a `package.json` says about modules.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct NpmManifest {
    name: Option<String>,
    /// Names of modules inside the package (`#utils`, `#lib/*`), each with a path, or with paths by
    /// condition.
    imports: serde_json::Value,
}

impl NpmManifest {
    /// Returns an import of each path under its name. The conditions do not count: the project
    /// does not hold what a build writes.
    fn import_rows(&self, text: &str) -> Vec<Import> {
        const MAX_PATHS: usize = 200;
        fn paths<'v>(value: &'v serde_json::Value, each: &mut impl FnMut(&'v str)) {
            match value {
                serde_json::Value::String(path) => each(path),
                serde_json::Value::Array(all) => all.iter().for_each(|v| paths(v, each)),
                serde_json::Value::Object(all) => all.values().for_each(|v| paths(v, each)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        let all = self.imports.as_object().into_iter().flatten().take(MAX_PATHS);
        for (name, value) in all.filter(|(name, _)| name.starts_with('#')) {
            let key = format!("\"{name}\"");
            let line = text.lines().position(|line| line.contains(&key));
            let line = u32::try_from(line.map_or(1, |n| n + 1)).unwrap_or(1);
            paths(value, &mut |path| {
                if path.starts_with("./") && out.len() < MAX_PATHS {
                    let (module, alias) = (path.to_string(), name.clone());
                    out.push(Import { module, name: String::new(), alias, line });
                }
            });
        }
        out
    }
}

/// Returns what each symbol does for tests.
fn roles(path: &str, language: &str, text: &str, symbols: &[Symbol]) -> Vec<TestRole> {
    let lines: Vec<&str> = text.lines().collect();
    let role = |symbol: &Symbol| {
        if !symbol.kind.is_callable() {
            return TestRole::Other;
        }
        let (first, last) = (symbol.start_line as usize, symbol.definition_line as usize);
        let above = lines.get(first.saturating_sub(1)..last.saturating_sub(1)).unwrap_or(&[]);
        let head = format!("{}\n{}", above.join("\n"), symbol.signature);
        let (_, name) = names::owner_and_name(symbols, symbol);
        test_role(Function { language, path, name, head: &head })
    };
    symbols.iter().map(role).collect()
}

#[cfg(test)]
mod tests;
