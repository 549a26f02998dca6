//! The database of the code graph: the rows of each file. No row depends on two files.
//! The rows of a file follow from its text alone and are replaced together. So an update gives the
//! same rows as a fresh build, and a change of one file changes no row of another. What SCIP indexes
//! say is in tables of its own, `precise_*`, and holds for files with the hash of that time.

mod precise;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

pub use self::precise::PreciseSource;
use super::database::Database;
use super::error::GraphError;
use super::rows::{
    BaseRow, FileId, FileRow, FileRows, ImportRow, RefRow, SymbolId, SymbolRow, VERSION,
};
use crate::languages::TestRole;
use crate::sqlite;
use crate::syntax::{ReferenceKind, SymbolKind};

/// How long an operation waits for another process.
pub(super) const BUSY: Duration = Duration::from_secs(30);

/// `symbol`, `parent` and `scope` are positions among the symbols of their file; -1 is the file
/// itself.
const SCHEMA: &str = "
    CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, language TEXT NOT NULL, package TEXT NOT NULL);
    CREATE TABLE symbols(
        file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
        n INTEGER NOT NULL,
        parent INTEGER NOT NULL,
        name TEXT NOT NULL,
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,
        exported INTEGER NOT NULL,
        prototype INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        arity INTEGER,
        result TEXT,
        signature TEXT NOT NULL,
        test INTEGER NOT NULL,
        PRIMARY KEY(file, n)
    ) WITHOUT ROWID;
    CREATE INDEX symbols_by_name ON symbols(name);
    CREATE INDEX symbols_of_tests ON symbols(test) WHERE test > 0;
    CREATE TABLE refs(
        file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
        n INTEGER NOT NULL,
        symbol INTEGER NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        receiver TEXT NOT NULL,
        arguments INTEGER,
        lines TEXT NOT NULL,
        PRIMARY KEY(file, n)
    ) WITHOUT ROWID;
    CREATE INDEX refs_by_name ON refs(name);
    CREATE VIEW calls AS SELECT file, symbol, name, receiver, arguments, lines FROM refs WHERE kind IN ('call', 'macro');
    CREATE TABLE imports(
        file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
        n INTEGER NOT NULL,
        module TEXT NOT NULL,
        name TEXT NOT NULL,
        alias TEXT NOT NULL,
        line INTEGER NOT NULL,
        PRIMARY KEY(file, n)
    ) WITHOUT ROWID;
    CREATE INDEX imports_renamed ON imports(name, alias) WHERE alias <> '';
    CREATE TABLE bindings(
        file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
        scope INTEGER NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        PRIMARY KEY(file, scope, name, type)
    ) WITHOUT ROWID;
    CREATE TABLE implementations(
        file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
        symbol INTEGER NOT NULL,
        written TEXT NOT NULL,
        base TEXT NOT NULL,
        PRIMARY KEY(file, symbol, written)
    ) WITHOUT ROWID;
    CREATE INDEX implementations_by_base ON implementations(base);
    CREATE TABLE precise_sources(name TEXT PRIMARY KEY, stamp TEXT NOT NULL, tool TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE precise_files(
        id INTEGER PRIMARY KEY,
        source TEXT NOT NULL REFERENCES precise_sources(name) ON DELETE CASCADE,
        path TEXT NOT NULL UNIQUE,
        hash TEXT NOT NULL
    );
    CREATE TABLE precise_places(id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES precise_files(id) ON DELETE CASCADE, line INTEGER NOT NULL, name TEXT NOT NULL);
    CREATE INDEX precise_places_by_file ON precise_places(file, name);
    CREATE TABLE precise_uses(
        file INTEGER NOT NULL REFERENCES precise_files(id) ON DELETE CASCADE,
        line INTEGER NOT NULL,
        name TEXT NOT NULL,
        place INTEGER NOT NULL,
        called INTEGER NOT NULL,
        PRIMARY KEY(file, line, name, place)
    ) WITHOUT ROWID;
    CREATE INDEX precise_uses_by_place ON precise_uses(place) WHERE place > 0;
";

/// The open database.
#[derive(Debug)]
pub(super) struct Tables {
    connection: Mutex<Connection>,
    database: Database,
    /// How often the database was replaced by an empty one.
    n_renewed: AtomicU64,
}

/// Tells states of the rows apart, as one connection sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablesVersion {
    n_renewed: u64,
    /// Changes when another connection changes the database, and when this one does.
    others: i64,
    own: u64,
}

/// Returns the error of a database that is not damaged. If the disk is the reason, nobody is advised to
/// delete the file: that helps only once there is space, and then it is not needed.
fn failure(path: &Path, source: rusqlite::Error) -> GraphError {
    let (path, is_disk) = (path.to_path_buf(), sqlite::is_refused_by_disk(&source));
    let source = Box::new(source);
    if is_disk {
        GraphError::Unwritable { path, source }
    } else {
        GraphError::Failed { path, source }
    }
}

impl Tables {
    /// Opens the database, whose operations wait this long for another process. If it is damaged, of
    /// another version or without the mark, it is deleted and created empty, because all of it is
    /// derived.
    pub(super) fn open(database: &Database, busy: Duration) -> Result<Self, GraphError> {
        let Database { path, .. } = database;
        let failed = |source| failure(path, source);
        let connection = match open(database, busy) {
            Ok(Some(connection)) => connection,
            Err(e) if !sqlite::is_damaged(&e) => return Err(failed(e)),
            _ => {
                sqlite::remove(path).map_err(failed)?;
                open(database, busy)
                    .map_err(failed)?
                    .ok_or_else(|| GraphError::Contended { path: path.clone() })?
            }
        };
        Ok(Self {
            connection: Mutex::new(connection),
            database: database.clone(),
            n_renewed: AtomicU64::new(0),
        })
    }

    /// Copies a database to a place without one. `mark`: the number that it must have; `None` if the
    /// caller knows where it came from.
    pub(super) fn copy(from: &Path, mark: Option<i32>, to: &Database) -> Result<(), GraphError> {
        let copied = sqlite::open_source(from).and_then(|from| {
            if mark.is_some_and(|mark| read_mark(&from).ok() != Some(mark)) {
                return Ok(());
            }
            drop(Connection::open(&to.path)?);
            sqlite::copy(&from, &to.path)?;
            Connection::open(&to.path)?.pragma_update(None, "application_id", to.mark)
        });
        copied.map_err(|e| {
            let _ = sqlite::remove(&to.path);
            failure(&to.path, e)
        })
    }

    /// Deletes the database and creates an empty one.
    pub(super) fn renew(&self) -> Result<(), GraphError> {
        let mut connection = self.connection();
        sqlite::remove(&self.database.path).map_err(|e| self.error(e))?;
        let Self { connection: new, .. } = Self::open(&self.database, BUSY)?;
        *connection = new.into_inner();
        self.n_renewed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the version of the tables.
    pub(super) fn version(&self) -> Result<TablesVersion, GraphError> {
        let connection = self.connection();
        let others = connection
            .pragma_query_value(None, "data_version", |r| r.get(0))
            .map_err(|e| self.error(e))?;
        let n_renewed = self.n_renewed.load(Ordering::Relaxed);
        Ok(TablesVersion { n_renewed, others, own: connection.total_changes() })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A lock of `parking_lot` is not poisoned by a panic, and a transaction that panics is
        // rolled back when it is dropped.
        self.connection.lock()
    }

    fn error(&self, source: rusqlite::Error) -> GraphError {
        let path = &self.database.path;
        if sqlite::is_damaged(&source) {
            GraphError::Damaged { path: path.clone() }
        } else {
            failure(path, source)
        }
    }

    /// Returns the file that defines a symbol of this name, if there is exactly one.
    pub(super) fn only_file_defining(&self, name: &str) -> Result<Option<String>, GraphError> {
        let sql = "SELECT DISTINCT f.path FROM symbols s JOIN files f ON f.id = s.file WHERE s.name = ?1 LIMIT 2";
        let mut files = self.all(sql, [name], |r| r.get(0))?;
        Ok(files.pop().filter(|_| files.is_empty()))
    }

    /// Returns the hash of every file, by path.
    pub(super) fn hashes(&self) -> Result<HashMap<String, String>, GraphError> {
        let rows = self.all("SELECT path, hash FROM files", [], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// Replaces the rows of these files and deletes those of the `gone` ones, in one transaction. A
    /// file whose hash is stored already, because another process updated it, is skipped.
    pub(super) fn replace(&self, files: &[FileRows], gone: &[String]) -> Result<(), GraphError> {
        let result = sqlite::write(&mut self.connection(), |t| {
            let mut delete = t.prepare_cached("DELETE FROM files WHERE path = ?1")?;
            for path in gone {
                delete.execute([path])?;
            }
            for file in files {
                let there: Option<String> = t
                    .prepare_cached("SELECT hash FROM files WHERE path = ?1")?
                    .query_row([&file.path], |r| r.get(0))
                    .optional()?;
                if there.as_deref() != Some(file.hash.as_str()) {
                    delete.execute([&file.path])?;
                    insert(t, file)?;
                }
            }
            Ok(())
        });
        result.map_err(|e| self.error(e))
    }

    /// Keeps more pages in memory, and moves the log into the database less often, because the indexes
    /// over names change in all their pages.
    pub(super) fn expect_many(&self) {
        // A failure costs only time.
        let _ = self
            .connection()
            .execute_batch("PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8192;");
    }

    /// Moves the content of SQLite's log into the database.
    pub(super) fn settle(&self) {
        // A failure only leaves a longer log.
        let _ = self.connection().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        row: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, GraphError> {
        let connection = self.connection();
        let read = || {
            connection
                .prepare_cached(sql)?
                .query_map(values, row)?
                .collect::<rusqlite::Result<Vec<T>>>()
        };
        read().map_err(|e| self.error(e))
    }

    pub(super) fn files(&self) -> Result<Vec<FileRow>, GraphError> {
        self.all("SELECT id, path, language, package FROM files ORDER BY path", [], |r| {
            Ok(FileRow { id: r.get(0)?, path: r.get(1)?, language: r.get(2)?, package: r.get(3)? })
        })
    }

    fn symbols_where(
        &self,
        rest: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<SymbolRow>, GraphError> {
        self.all(&format!("SELECT {SYMBOL} FROM symbols {rest}"), values, symbol)
    }

    pub(super) fn symbols_named(&self, name: &str) -> Result<Vec<SymbolRow>, GraphError> {
        self.symbols_where("WHERE name = ?1 ORDER BY file, n", [name])
    }

    /// Returns the symbols that have a role in tests.
    pub(super) fn symbols_of_tests(&self) -> Result<Vec<SymbolRow>, GraphError> {
        self.symbols_where("WHERE test > 0 ORDER BY file, n", [])
    }

    /// Returns the symbols of all files.
    pub(super) fn symbols(&self) -> Result<Vec<SymbolRow>, GraphError> {
        self.symbols_where("ORDER BY file, n", [])
    }

    pub(super) fn symbols_of(&self, file: FileId) -> Result<Vec<SymbolRow>, GraphError> {
        self.symbols_where("WHERE file = ?1 ORDER BY n", [file])
    }

    pub(super) fn refs_named(&self, name: &str) -> Result<Vec<RefRow>, GraphError> {
        self.all(&format!("SELECT {REF} FROM refs WHERE name = ?1"), [name], reference)
    }

    /// Counts the references of a name, up to `most`.
    pub(super) fn count_refs_named(&self, name: &str, most: usize) -> Result<usize, GraphError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM refs WHERE name = ?1 LIMIT ?2)";
        Ok(self.all(sql, params![name, most], |r| r.get(0))?.pop().unwrap_or(0))
    }

    pub(super) fn refs_of(&self, file: FileId) -> Result<Vec<RefRow>, GraphError> {
        self.all(&format!("SELECT {REF} FROM refs WHERE file = ?1 ORDER BY n"), [file], reference)
    }

    /// Returns the number of references.
    pub(super) fn count_refs(&self) -> Result<usize, GraphError> {
        Ok(self.all("SELECT count(*) FROM refs", [], |r| r.get(0))?.pop().unwrap_or(0))
    }

    pub(super) fn imports_of(&self, file: FileId) -> Result<Vec<ImportRow>, GraphError> {
        self.all(
            "SELECT file, module, name, alias, line FROM imports WHERE file = ?1 ORDER BY n",
            [file],
            import,
        )
    }

    pub(super) fn imports(&self) -> Result<Vec<ImportRow>, GraphError> {
        self.all("SELECT file, module, name, alias, line FROM imports ORDER BY file, n", [], import)
    }

    /// Returns the aliases under which imports use a name.
    pub(super) fn aliases_of(&self, name: &str) -> Result<Vec<String>, GraphError> {
        self.all(
            "SELECT DISTINCT alias FROM imports WHERE name = ?1 AND alias <> '' AND alias <> ?1",
            [name],
            |r| r.get(0),
        )
    }

    /// Returns module and alias of the imports that give a name to a whole module, or to what it
    /// exports by default.
    pub(super) fn default_imports(&self) -> Result<Vec<(String, String)>, GraphError> {
        self.all(
            "SELECT DISTINCT module, alias FROM imports WHERE name IN ('', 'default') AND alias <> ''",
            [],
            |r| Ok((r.get(0)?, r.get(1)?)),
        )
    }

    /// Returns scope, name and type of each binding.
    pub(super) fn bindings_of(
        &self,
        file: FileId,
    ) -> Result<Vec<(i64, String, String)>, GraphError> {
        self.all("SELECT scope, name, type FROM bindings WHERE file = ?1", [file], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
    }

    pub(super) fn bases_of(&self, file: FileId) -> Result<Vec<BaseRow>, GraphError> {
        self.all("SELECT file, symbol, written FROM implementations WHERE file = ?1", [file], base)
    }

    /// Returns the supertypes of all symbols.
    pub(super) fn bases(&self) -> Result<Vec<BaseRow>, GraphError> {
        self.all("SELECT file, symbol, written FROM implementations", [], base)
    }

    /// Returns the symbols that have a supertype of this name.
    pub(super) fn derived_from(&self, name: &str) -> Result<Vec<BaseRow>, GraphError> {
        self.all("SELECT file, symbol, written FROM implementations WHERE base = ?1", [name], base)
    }

    #[cfg(test)]
    pub(super) fn forge(&self, sql: &str) {
        self.connection().execute_batch(sql).unwrap();
    }

    /// Returns all rows as text, without the ids of files, in a fixed order.
    #[cfg(test)]
    pub(super) fn dump(&self) -> Vec<String> {
        let tables: [(&str, &str); 5] = [
            (
                "symbols",
                "n, parent, name, owner, kind, exported, prototype, start_line, line, end_line, arity, result, signature, test",
            ),
            ("refs", "n, symbol, name, kind, receiver, arguments, lines"),
            ("imports", "n, module, name, alias, line"),
            ("bindings", "scope, name, type"),
            ("implementations", "symbol, written, base"),
        ];
        let text = |r: &Row| {
            (0..r.as_ref().column_count())
                .map(|i| r.get_ref(i).map(|v| format!("{v:?}")))
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut out: Vec<String> = self
            .all("SELECT path, hash, language, package FROM files", [], |r| {
                Ok(format!("files {:?}", text(r)?))
            })
            .unwrap();
        for (table, columns) in tables {
            // The left join also returns rows whose file is missing.
            let sql = format!(
                "SELECT f.path, {columns} FROM {table} t LEFT JOIN files f ON f.id = t.file"
            );
            out.extend(self.all(&sql, [], |r| Ok(format!("{table} {:?}", text(r)?))).unwrap());
        }
        out.sort();
        out
    }
}

/// Opens the database. Returns `None` if its mark, version or schema is not ours: the file may have come
/// with a repository.
fn open(database: &Database, busy: Duration) -> rusqlite::Result<Option<Connection>> {
    let mut connection = sqlite::open(&database.path, busy)?;
    let is_empty = sqlite::schema(&connection)?.is_empty();
    match sqlite::version(&connection)? {
        // Another process may have made the tables just now, and the mark with them.
        VERSION if read_mark(&connection)? != database.mark => Ok(None),
        VERSION => {
            let ours = Connection::open_in_memory()?;
            ours.execute_batch(SCHEMA)?;
            match sqlite::schema(&connection) {
                Err(e) if sqlite::is_busy(&e) => Err(e),
                there => Ok((there.ok() == Some(sqlite::schema(&ours)?)).then_some(connection)),
            }
        }
        0 if is_empty => {
            let mark = format!("PRAGMA application_id = {}", database.mark);
            let steps: [&str; 2] = [&mark, SCHEMA];
            let missing = |there| if there == 0 { &steps[..] } else { &[] };
            sqlite::migrate(&mut connection, VERSION, missing)?;
            Ok(Some(connection))
        }
        _ => Ok(None),
    }
}

fn read_mark(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "application_id", |r| r.get(0))
}

fn insert(t: &Transaction, file: &FileRows) -> rusqlite::Result<()> {
    let package = file.relations.package.as_deref().unwrap_or("");
    let values = params![file.path, file.hash, file.language, package];
    t.prepare_cached("INSERT INTO files(path, hash, language, package) VALUES(?1, ?2, ?3, ?4)")?
        .execute(values)?;
    let id = t.last_insert_rowid();
    let number = |symbol: Option<usize>| symbol.and_then(|s| i64::try_from(s).ok()).unwrap_or(-1);
    let relations = &file.relations;
    let mut symbols = t.prepare_cached(
        "INSERT INTO symbols VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let roles = file.roles.iter().copied().chain(std::iter::repeat(TestRole::Other));
    let rows = relations.symbols.iter().zip(&relations.shapes).zip(roles);
    for (n, ((s, shape), role)) in rows.enumerate() {
        let (owner, name) = super::names::owner_and_name(&relations.symbols, s);
        symbols.execute(params![
            id,
            n,
            number(s.parent),
            name,
            owner,
            s.kind.as_str(),
            s.exported,
            s.prototype,
            s.start_line,
            s.definition_line,
            s.end_line,
            shape.arity,
            shape.result,
            s.signature,
            role.number()
        ])?;
    }
    let mut refs = t.prepare_cached("INSERT INTO refs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (n, r) in relations.references.iter().enumerate() {
        let lines = r.lines.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        refs.execute(params![
            id,
            n,
            number(r.symbol),
            r.name,
            r.kind.as_str(),
            r.receiver,
            r.arguments,
            lines
        ])?;
    }
    let mut imports = t.prepare_cached("INSERT INTO imports VALUES(?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (n, i) in relations.imports.iter().enumerate() {
        imports.execute(params![id, n, i.module, i.name, i.alias, i.line])?;
    }
    let mut bindings = t.prepare_cached("INSERT OR IGNORE INTO bindings VALUES(?1, ?2, ?3, ?4)")?;
    for b in &relations.bindings {
        bindings.execute(params![id, number(b.scope), b.name, b.is])?;
    }
    let mut bases =
        t.prepare_cached("INSERT OR IGNORE INTO implementations VALUES(?1, ?2, ?3, ?4)")?;
    for b in &relations.bases {
        bases.execute(params![id, b.symbol, b.name, super::names::last(&b.name)])?;
    }
    Ok(())
}

const SYMBOL: &str = "file, n, parent, name, owner, kind, exported, prototype, start_line, line, end_line, arity, result, signature, test";

fn symbol(r: &Row) -> rusqlite::Result<SymbolRow> {
    Ok(SymbolRow {
        id: SymbolId { file: r.get(0)?, n: r.get(1)? },
        parent: r.get(2)?,
        name: r.get(3)?,
        owner: r.get(4)?,
        kind: SymbolKind::parse(r.get_ref(5)?.as_str()?).unwrap_or(SymbolKind::Function),
        exported: r.get(6)?,
        prototype: r.get(7)?,
        start_line: r.get(8)?,
        line: r.get(9)?,
        end_line: r.get(10)?,
        arity: r.get(11)?,
        result: r.get(12)?,
        signature: r.get(13)?,
        role: TestRole::of_number(r.get(14)?),
    })
}

/// Most lines of a reference that are read.
const MAX_SITES: usize = 10_000;

const REF: &str = "file, symbol, name, kind, receiver, arguments, lines";

fn reference(r: &Row) -> rusqlite::Result<RefRow> {
    let kind = r.get_ref(3)?.as_str()?;
    Ok(RefRow {
        from: SymbolId { file: r.get(0)?, n: r.get(1)? },
        name: r.get(2)?,
        kind: ReferenceKind::ALL
            .into_iter()
            .find(|k| k.as_str() == kind)
            .unwrap_or(ReferenceKind::Value),
        receiver: r.get(4)?,
        arguments: r.get(5)?,
        lines: r
            .get_ref(6)?
            .as_str()?
            .split(' ')
            .filter_map(|l| l.parse().ok())
            .take(MAX_SITES)
            .collect(),
    })
}

fn import(r: &Row) -> rusqlite::Result<ImportRow> {
    Ok(ImportRow {
        file: r.get(0)?,
        module: r.get(1)?,
        name: r.get(2)?,
        alias: r.get(3)?,
        line: r.get(4)?,
    })
}

fn base(r: &Row) -> rusqlite::Result<BaseRow> {
    Ok(BaseRow { symbol: SymbolId { file: r.get(0)?, n: r.get(1)? }, written: r.get(2)? })
}
