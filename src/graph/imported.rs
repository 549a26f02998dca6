//! Says which module outside of the project a name comes from: by the imports of its file, and by the
//! types and values that its variables are bound to.

use super::answer::ImportedName;
use super::error::GraphError;
use super::infer::{Link, steps};
use super::names;
use super::resolver::Resolver;
use super::rows::{RefRow, SymbolId, imported_as};
use super::types;
use crate::syntax::ReferenceKind;

/// Most variables that are followed from one name.
const MAX_FOLLOWED: u8 = 4;

/// One name of a chain, and whether it is called.
type ChainName = (String, bool);

/// A module, the chain of names below it, and whether an import names it.
type ImportedChain = (String, Vec<ChainName>, bool);

impl Resolver {
    /// Returns what is known of a name that no symbol of the project has; `None` if no import leads
    /// out of the project.
    pub(super) fn imported_name(
        &mut self,
        reference: &RefRow,
    ) -> Result<Option<ImportedName>, GraphError> {
        let at = reference.from;
        let Some(file) = self.scopes.file(at.file) else { return Ok(None) };
        let (path, family) = (file.row.path.clone(), file.names.family);
        let mut chain = parts(&reference.receiver);
        if chain.iter().any(|(name, _)| name.is_empty() || name == "?") {
            return Ok(None);
        }
        if chain.is_empty() && self.scopes.scope_of(at.file)?.binding(at, &reference.name).is_some()
        {
            return Ok(None);
        }
        chain.push((reference.name.clone(), false));
        let Some((module, mut chain, is_named)) = self.place(&chain, at, MAX_FOLLOWED)? else {
            return Ok(None);
        };
        let name = chain.pop().map(|(name, _)| name).unwrap_or_default();
        let is_type = |(name, _): &ChainName| name.starts_with(char::is_uppercase);
        let n_modules = chain.iter().position(is_type).unwrap_or(chain.len());
        let (below, values) = chain.split_at(n_modules);
        let owner = values.iter().rfind(|part| is_type(part)).map(|(name, _)| name.clone());
        // Of what a function of the package returns, the type is unknown; builders return their own.
        let is_plain = |(_, is_called): &ChainName| !is_called;
        let is_known = below.iter().all(is_plain) && values.iter().all(|p| is_type(p) || p.1);
        Ok(is_known.then(|| ImportedName {
            written: reference.name.clone(),
            name,
            module,
            below: below.iter().map(|(name, _)| name.clone()).collect(),
            is_named,
            is_sure: (!is_named || below.is_empty()) && values.iter().all(|p| is_type(p) && !p.1),
            owner: owner.unwrap_or_default(),
            is_macro: reference.kind == ReferenceKind::Macro,
            file: path,
            family,
        }))
    }

    /// Finds the module outside of the project at which a chain of names begins.
    fn place(
        &mut self,
        chain: &[ChainName],
        at: SymbolId,
        depth: u8,
    ) -> Result<Option<ImportedChain>, GraphError> {
        let Some((root, rest)) = chain.split_first() else { return Ok(None) };
        let file = at.file;
        let Some(names) = self.scopes.names(file) else { return Ok(None) };
        let root = names.without_marks(&root.0).to_string();
        let scope = self.scopes.scope_of(file)?;
        if let Some((_, all)) = scope.binding(at, &root) {
            let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
            for is in all {
                let mut value = match is.strip_prefix('=') {
                    Some(value) => parts(value),
                    None => match types::parse(&is) {
                        Some(parsed) => {
                            let mut path = parts(parsed.path);
                            path.push((parsed.name.to_string(), false));
                            path
                        }
                        None => continue,
                    },
                };
                // A variable may have the name of its type's module, or hide a former one.
                if value.first().is_none_or(|(name, _)| *name == root) {
                    continue;
                }
                value.extend_from_slice(rest);
                if let Some(found) = self.place(&value, at, depth)? {
                    return Ok(Some(found));
                }
            }
            return Ok(None);
        }
        for import in &scope.imports {
            let whole = import.alias.is_empty() && import.name.is_empty();
            let is_root = if whole {
                self.scopes.name_of_module(&import.module, file) == root
                    || import.module.split('.').next() == Some(&root)
            } else {
                imported_as(import) == root
            };
            if !is_root {
                continue;
            }
            let first = import.module.split([':', '/', '.']).next().unwrap_or_default();
            if matches!(first, "" | "crate" | "self" | "super")
                || self.scopes.module_exists(&import.module, file)
            {
                return Ok(None);
            }
            let mut below = Vec::new();
            if !matches!(&*import.name, "" | "*" | "default") {
                below.push((import.name.clone(), chain[0].1));
            }
            below.extend_from_slice(rest);
            return Ok(Some((import.module.clone(), below, true)));
        }
        // A path of Rust may begin with a package that no `use` names.
        let is_rust = names.family == "rust";
        let is_path = is_rust && !rest.is_empty() && root.starts_with(char::is_lowercase);
        let is_own = !is_path
            || matches!(&*root, "crate" | "self" | "super")
            || self.scopes.module_exists(&root, file);
        Ok((!is_own).then(|| (root, rest.to_vec(), false)))
    }
}

/// Returns the names of a chain.
fn parts(chain: &str) -> Vec<ChainName> {
    let part = |Link { name, is_called, .. }: Link| (names::last(name).to_string(), is_called);
    steps(chain).into_iter().map(part).collect()
}
