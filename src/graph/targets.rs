//! Finds the symbols that a query is about, and names symbols in answers.

use super::answer::Node;
use super::error::GraphError;
use super::rows::{FileId, SymbolId, SymbolRow};
use super::scopes::Scopes;
use crate::languages;
use crate::syntax::SymbolKind;

impl Scopes {
    /// Returns the symbols that match a target.
    pub(super) fn targets(&mut self, target: &str) -> Result<Vec<SymbolId>, GraphError> {
        let target = target.trim();
        if target.is_empty() {
            return Ok(Vec::new());
        }
        let (file, rest) = match target.split_once('#') {
            Some((file, rest)) => (file, rest),
            None => ("", target),
        };
        if let Some((path, line)) =
            rest.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u32>().ok()?)))
        {
            let path = if file.is_empty() { path } else { file };
            return self.at_line(path, line);
        }
        if file.is_empty() {
            let files = self.files_named(target);
            if !files.is_empty() {
                return Ok(files.into_iter().map(|file| SymbolId { file, n: -1 }).collect());
            }
        }
        if !file.is_empty() && self.files_named(file).is_empty() {
            // What is no file is a type, as Ruby and Java write it: `Type#member`.
            return self.symbols_called(&target.replace('#', "::"), "");
        }
        self.symbols_called(rest, file)
    }

    /// Returns the files with this path, or whose path ends with it.
    fn files_named(&self, path: &str) -> Vec<FileId> {
        let path = path.trim_start_matches("./");
        if let Some(file) = self.file_at(path) {
            return vec![file];
        }
        let end = format!("/{path}");
        self.files
            .iter()
            .filter(|f| path.contains('.') && f.row.path.ends_with(&end))
            .map(|f| f.row.id)
            .collect()
    }

    /// Returns the innermost symbol at a line, or the file if there is none.
    fn at_line(&mut self, path: &str, line: u32) -> Result<Vec<SymbolId>, GraphError> {
        let mut out = Vec::new();
        for file in self.files_named(path) {
            let file_scope = self.scope_of(file)?;
            let defined = file_scope
                .symbols
                .iter()
                .filter(|s| s.line == line)
                .max_by_key(|s| s.kind.is_callable());
            let n = defined.map_or_else(|| file_scope.innermost(line), |s| s.id.n);
            out.push(SymbolId { file, n });
        }
        Ok(out)
    }

    /// Returns the symbols of a name or a path of names, definitions before declarations.
    fn symbols_called(&mut self, written: &str, file: &str) -> Result<Vec<SymbolId>, GraphError> {
        let parts: Vec<&str> =
            written.split(['.', ':', '#', '/', '\\']).filter(|p| !p.is_empty()).collect();
        let Some((name, above)) = parts.split_last() else { return Ok(Vec::new()) };
        let name = name.trim_end_matches("()");
        let files: Vec<FileId> = if file.is_empty() { Vec::new() } else { self.files_named(file) };
        let mut rows: Vec<SymbolRow> = self
            .named(name)?
            .iter()
            .filter(|s| file.is_empty() || files.contains(&s.id.file))
            .cloned()
            .collect();
        if rows.iter().any(|s| s.kind != SymbolKind::Impl) {
            rows.retain(|s| s.kind != SymbolKind::Impl);
        }
        if let Some(owner) = above.last() {
            let (mut kept, mut in_module) = (Vec::new(), Vec::new());
            for row in rows {
                let file_scope = self.scope_of(row.id.file)?;
                let place =
                    self.file(row.id.file).map(|f| f.module.parts.clone()).unwrap_or_default();
                let is_below = file_scope.around(row.id).skip(1).any(|s| s.name == **owner)
                    || place.last().is_some_and(|p| p == owner);
                if row.owner == **owner || is_below {
                    kept.push(row);
                } else if row.owner.is_empty() && place.iter().any(|p| p == owner) {
                    // A module further above, which may hand it on: `axum::serve`.
                    in_module.push(row);
                }
            }
            rows = if kept.is_empty() { in_module } else { kept };
        }
        let is_defined = rows.iter().any(|s| !s.prototype);
        rows.retain(|s| !is_defined || !s.prototype || !s.owner.is_empty());
        Ok(rows.into_iter().map(|s| s.id).collect())
    }

    pub(super) fn node(&mut self, id: SymbolId) -> Result<Node, GraphError> {
        let file = self.file(id.file).map(|f| f.row.clone());
        let Some(file) = file else { return Ok(Node::of_file("")) };
        let file_scope = self.scope_of(id.file)?;
        let Some(symbol) = file_scope.around(id).next() else {
            return Ok(Node::of_file(&file.path));
        };
        let mut parts: Vec<&str> = file_scope.around(id).map(|s| s.name.as_str()).collect();
        if symbol.parent < 0 && !symbol.owner.is_empty() {
            parts.push(&symbol.owner);
        }
        parts.reverse();
        Ok(Node {
            name: symbol.name.clone(),
            symbol: parts.join(languages::separator(&file.language)),
            kind: symbol.kind.as_str().into(),
            line: symbol.line,
            end_line: symbol.end_line,
            start_line: symbol.start_line,
            file: file.path,
        })
    }
}
