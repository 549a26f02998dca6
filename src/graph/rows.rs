//! The rows of the database, in memory.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::languages::TestRole;
use crate::syntax::{ReferenceKind, Relations, SymbolKind};

/// A hash of the code that makes rows. It changes when the same text could give other rows.
pub(super) const VERSION: usize = match usize::from_str_radix(env!("VERSION_OF_GRAPH_ROWS"), 10) {
    Ok(version) => version,
    Err(_) => panic!("the build script gives a number"),
};

pub(super) type FileId = i64;

/// The id of a symbol: its file, and its position among the symbols of the file (-1 for the file
/// itself).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SymbolId {
    pub(super) file: FileId,
    pub(super) n: i64,
}

/// The rows of a file, which follow from its text alone.
#[derive(Debug, Serialize, Deserialize)]
pub struct FileRows {
    #[serde(skip)]
    pub(super) path: String,
    #[serde(skip)]
    pub(super) hash: String,
    pub(super) language: Cow<'static, str>,
    pub(super) relations: Relations,
    /// The role of each symbol in tests.
    pub(super) roles: Vec<TestRole>,
}

impl FileRows {
    /// Returns the rows as JSON, with the version of the code that made them.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        serde_json::to_string(&(VERSION, self)).ok()
    }

    /// Reads what [`FileRows::to_json`] wrote about a file with this path and this content. Returns
    /// `None` if another version wrote it.
    #[must_use]
    pub fn from_json(path: &str, hash: &str, json: &str) -> Option<Self> {
        let (version, rows): (usize, Self) = serde_json::from_str(json).ok()?;
        let n = rows.relations.symbols.len();
        let is_usable =
            version == VERSION && rows.relations.shapes.len() == n && rows.roles.len() == n;
        is_usable.then(|| Self { path: path.into(), hash: hash.into(), ..rows })
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileRow {
    pub(super) id: FileId,
    pub(super) path: String,
    pub(super) language: String,
    pub(super) package: String,
}

#[derive(Debug, Clone)]
pub(super) struct SymbolRow {
    pub(super) id: SymbolId,
    pub(super) parent: i64,
    pub(super) name: String,
    /// The type or module that it belongs to; empty if there is none.
    pub(super) owner: String,
    pub(super) kind: SymbolKind,
    pub(super) exported: bool,
    pub(super) prototype: bool,
    pub(super) start_line: u32,
    pub(super) line: u32,
    pub(super) end_line: u32,
    pub(super) arity: Option<u32>,
    pub(super) result: Option<String>,
    pub(super) signature: String,
    pub(super) role: TestRole,
}

impl SymbolRow {
    /// Returns whether it is a type, or a part of one such as an `impl`.
    pub(super) fn is_type(&self) -> bool {
        !self.kind.is_data() && !self.kind.is_callable() && self.kind != SymbolKind::Module
    }

    /// Returns whether its uses are uses of its file: it is at the top level, or a method.
    pub(super) fn is_of_file(&self) -> bool {
        self.kind != SymbolKind::Impl && (self.parent < 0 || self.kind == SymbolKind::Method)
    }
}

#[derive(Debug, Clone)]
pub(super) struct RefRow {
    /// The symbol around the reference.
    pub(super) from: SymbolId,
    pub(super) name: String,
    pub(super) kind: ReferenceKind,
    pub(super) receiver: String,
    pub(super) arguments: Option<u32>,
    pub(super) lines: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct ImportRow {
    pub(super) file: FileId,
    pub(super) module: String,
    pub(super) name: String,
    pub(super) alias: String,
    pub(super) line: u32,
}

/// A symbol and one of its supertypes, as written.
#[derive(Debug, Clone)]
pub(super) struct BaseRow {
    pub(super) symbol: SymbolId,
    pub(super) written: String,
}

/// Returns the name under which an import is used.
pub(super) fn imported_as(import: &ImportRow) -> &str {
    if import.alias.is_empty() { &import.name } else { &import.alias }
}
