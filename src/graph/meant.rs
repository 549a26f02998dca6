//! Says what a name at a place of the code means, whether or not a row of the graph says that the
//! name is used there.

use super::answer::{LEAST_CONFIDENCE, Node};
use super::error::GraphError;
use super::resolver::{Meaning, Resolver};
use super::rows::{FileId, RefRow, SymbolId, imported_as};
use crate::syntax::ReferenceKind;

/// Confidence of the only symbol that has a name, if no rule says what the name means.
const BY_NAME: f32 = 0.6;
/// Confidence of an imported module, and of the path of a file.
const MODULE: f32 = 0.9;

/// A question about the meaning of a part of the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AskedMeaning {
    /// A name at a line of a file, with the chain of names before it.
    Name { file: String, line: u32, receiver: String, name: String },
    /// A member of the type that a name at a line means.
    Member { file: String, line: u32, receiver: String, class: String, member: String },
    /// The files of a module that a file imports.
    Module { file: String, module: String },
    /// A symbol or a file, as the targets of queries are written.
    Target(String),
}

impl Resolver {
    pub(super) fn meant(&mut self, asked: &AskedMeaning) -> Result<Vec<(Node, f32)>, GraphError> {
        if !self.work.goes_on() {
            return Ok(Vec::new());
        }
        let found = match asked {
            AskedMeaning::Name { file, line, receiver, name } => {
                self.name_meant(file, *line, receiver, name)?
            }
            AskedMeaning::Member { file, line, receiver, class, member } => {
                let classes = self.name_meant(file, *line, receiver, class)?;
                let mut members = Vec::new();
                for of in &classes {
                    for found in &self.members_of(of.symbol, member)? {
                        members.push(Meaning {
                            symbol: found.symbol,
                            confidence: found.confidence.min(of.confidence),
                        });
                    }
                }
                // The member may be one of a supertype that is not in the project.
                if members.is_empty() {
                    let half = |of: Meaning| Meaning { confidence: of.confidence / 2.0, ..of };
                    members.extend(classes.first().copied().map(half));
                }
                members
            }
            AskedMeaning::Module { file, module } => {
                let Some(file) = self.scopes.file_at(file) else { return Ok(Vec::new()) };
                let files = self.scopes.files_of_module(module, file);
                files.iter().map(|file| whole(*file)).collect()
            }
            AskedMeaning::Target(target) => {
                let found = self.scopes.targets(target)?;
                let confidence = if found.len() == 1 { MODULE } else { BY_NAME };
                found.into_iter().map(|symbol| Meaning { symbol, confidence }).collect()
            }
        };
        found.into_iter().map(|m| Ok((self.scopes.node(m.symbol)?, m.confidence))).collect()
    }

    fn name_meant(
        &mut self,
        path: &str,
        line: u32,
        receiver: &str,
        name: &str,
    ) -> Result<Vec<Meaning>, GraphError> {
        let Some(file) = self.scopes.file_at(path) else { return Ok(Vec::new()) };
        let scope = self.scopes.scope_of(file)?;
        let reference = RefRow {
            from: SymbolId { file, n: scope.innermost(line) },
            name: name.to_string(),
            kind: ReferenceKind::Value,
            receiver: receiver.to_string(),
            arguments: None,
            lines: vec![line],
        };
        let mut found = self.resolve(&reference)?;
        found.retain(|m| m.confidence >= LEAST_CONFIDENCE);
        if !found.is_empty() {
            return Ok(found);
        }
        // `import users from "./users"`, and `users.router` of such a module.
        let first = receiver.split(['.', ':']).next().unwrap_or_default();
        let wanted = if receiver.is_empty() { name } else { first };
        for import in scope.imports.iter().filter(|import| imported_as(import) == wanted) {
            let sub = self.scopes.submodule(&import.module, &import.name, file);
            let mut files = self.scopes.files_of_module(&sub, file);
            if files.is_empty() {
                files = self.scopes.files_of_module(&import.module, file);
            }
            found.extend(files.iter().map(|file| whole(*file)));
        }
        if found.is_empty() && !matches!(receiver, "self" | "this") {
            let named = self.scopes.targets(name)?;
            if let [only] = named[..] {
                found.push(Meaning { symbol: only, confidence: BY_NAME });
            }
        }
        Ok(found)
    }
}

fn whole(file: FileId) -> Meaning {
    Meaning { symbol: SymbolId { file, n: -1 }, confidence: MODULE }
}
