//! What SCIP indexes say about names. It goes before all inference, in files that have not changed
//! since their index was made.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::GraphError;
use super::resolver::{Meaning, Means, PreciseMeaning, PreciseUses, Resolver};
use super::rows::{FileId, RefRow, SymbolId, SymbolRow};
use super::scip::SymbolPlace;

impl Resolver {
    /// Returns what a SCIP index says about the uses in a file; `None` if no index describes it as it
    /// is now.
    pub(super) fn precise_uses(
        &mut self,
        file: FileId,
    ) -> Result<Option<Arc<PreciseUses>>, GraphError> {
        if let Some(known) = self.precise.get(&file) {
            return Ok(known.clone());
        }
        if !self.described()?.contains(&file) {
            return Ok(None);
        }
        let rows = self.scopes.tables.precise_uses_of(file)?;
        let mut uses = PreciseUses::new();
        for row in rows {
            let means = match &row.place {
                Some(place) => {
                    self.symbol_at(place, &row.name)?.map_or(Means::Unlisted, Means::Symbol)
                }
                None => Means::Elsewhere,
            };
            let meaning = PreciseMeaning { means, is_called: row.is_called };
            uses.entry((row.line, row.name)).or_default().push(meaning);
        }
        let uses = (!uses.is_empty()).then(|| Arc::new(uses));
        self.precise.insert(file, uses.clone());
        Ok(uses)
    }

    /// Returns the meanings of a reference that an index knows; `None` if it does not know it.
    pub(super) fn precisely(
        &mut self,
        reference: &RefRow,
    ) -> Result<Option<Vec<Meaning>>, GraphError> {
        if !self.is_precise {
            return Ok(None);
        }
        let Some(uses) = self.precise_uses(reference.from.file)? else { return Ok(None) };
        let mut found = reference
            .lines
            .iter()
            .filter_map(|line| uses.get(&(*line, reference.name.clone())))
            .peekable();
        if found.peek().is_none() {
            return Ok(None);
        }
        let mut symbols: Vec<SymbolId> = found.flatten().filter_map(|m| m.symbol()).collect();
        symbols.sort_unstable();
        symbols.dedup();
        Ok(Some(symbols.into_iter().map(|symbol| Meaning { symbol, confidence: 1.0 }).collect()))
    }

    /// Returns the symbol that is defined at a place: a constructor that is called by another name
    /// counts as its type, and a declaration as its definition, as for inferred meanings.
    fn symbol_at(
        &mut self,
        place: &SymbolPlace,
        called: &str,
    ) -> Result<Option<SymbolId>, GraphError> {
        let Some(file) = self.scopes.file_at(&place.path) else { return Ok(None) };
        let file_scope = self.scopes.scope_of(file)?;
        let named = file_scope.symbols.iter().filter(|s| s.name == place.name);
        let Some(symbol) = named.min_by_key(|s| s.line.abs_diff(place.line)) else {
            return Ok(None);
        };
        let is_here = symbol.line == place.line
            || (symbol.start_line..=symbol.line).contains(&place.line)
            // Its file has changed since the index was made.
            || !self.described()?.contains(&file);
        if !is_here {
            return Ok(None);
        }
        let names = self.scopes.names(file);
        let all = file_scope.symbols.iter();
        let mut later = all.filter(|s| s.name == symbol.name && s.parent == symbol.parent);
        let symbol = match later.next_back() {
            Some(last) if names.is_some_and(|n| n.redefines) => last,
            _ => symbol,
        };
        let is_constructor = symbol.name == symbol.owner
            || (called != symbol.name
                && names.is_some_and(|n| n.constructors.contains(&symbol.name.as_str())));
        if is_constructor {
            let owner = file_scope.around(symbol.id).skip(1).find(|s| s.is_type());
            return Ok(Some(owner.map_or(symbol.id, |owner| owner.id)));
        }
        if symbol.prototype {
            let all = self.scopes.named(&symbol.name)?;
            let defined: Vec<&SymbolRow> = all
                .iter()
                .filter(|s| {
                    !s.prototype
                        && s.owner == symbol.owner
                        && self.scopes.is_same_family(s.id.file, file)
                })
                .collect();
            let here = defined.iter().find(|s| s.id.file == file);
            if let Some(one) = here.or(defined.first().filter(|_| defined.len() == 1)) {
                return Ok(Some(one.id));
            }
        }
        Ok(Some(symbol.id))
    }

    /// Returns the symbol around, the line, and whether it is a call, of each use of a symbol that an
    /// index knows. The rules of syntax do not see all of them, such as those within macros.
    pub(super) fn precise_uses_of(
        &mut self,
        symbol: &SymbolRow,
    ) -> Result<Vec<(SymbolId, u32, bool)>, GraphError> {
        let described = self.described()?;
        let path = self.scopes.file(symbol.id.file).map(|f| f.row.path.clone());
        let Some(path) = path.filter(|_| !described.is_empty()) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        let mut means: HashMap<u32, bool> = HashMap::new();
        for (defined, file, line, is_call) in
            self.scopes.tables.precise_uses_named(&path, &symbol.name)?
        {
            let is_it = match means.get(&defined) {
                Some(known) => *known,
                None => {
                    let place = SymbolPlace {
                        path: path.clone(),
                        line: defined,
                        name: symbol.name.clone(),
                    };
                    let is_it = self.symbol_at(&place, &symbol.name)? == Some(symbol.id);
                    means.insert(defined, is_it);
                    is_it
                }
            };
            if is_it {
                let from = self.scopes.scope_of(file)?.innermost(line);
                out.push((SymbolId { file, n: from }, line, is_call));
            }
        }
        Ok(out)
    }

    /// Returns the files that a SCIP index describes as they are now.
    fn described(&mut self) -> Result<Arc<HashSet<FileId>>, GraphError> {
        if let Some(known) = &self.described {
            return Ok(known.clone());
        }
        let files = Arc::new(self.scopes.tables.precise_files()?.into_iter().collect());
        Ok(self.described.insert(files).clone())
    }
}
