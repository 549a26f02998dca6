//! What the graph knows of the uses of a name that are not in an answer. The text of the files tells
//! which uses there are: the rows of the graph do not hold every one.

use std::collections::BTreeSet;

use super::answer::{LEAST_CONFIDENCE, NameUses, Neighbour, Operation};
use super::error::GraphError;
use super::rows::SymbolId;
use super::traversal::Traversal;
use crate::languages::shorter_name;

impl Traversal {
    /// Returns what the graph knows of the uses of the targets' names. `answered` are all
    /// neighbours of the answer.
    pub(super) fn name_uses<'n>(
        &mut self,
        operation: Operation,
        targets: &[SymbolId],
        answered: impl Iterator<Item = &'n Neighbour>,
    ) -> Result<NameUses, GraphError> {
        let mut uses = NameUses::default();
        let mut wanted: BTreeSet<SymbolId> = targets.iter().copied().collect();
        for target in targets {
            let Some(symbol) = self.resolver.scopes.symbol(*target)? else { continue };
            wanted.extend(self.overridden_above(&symbol)?);
            let name = if self.is_constructor(&symbol) {
                wanted.extend(self.owner_of(&symbol)?);
                symbol.owner
            } else {
                symbol.name
            };
            if let Some(file) = self.resolver.scopes.file(target.file) {
                uses.names.extend(shorter_name(&file.row.language, &name).map(str::to_string));
            }
            uses.names.insert(name);
        }
        for found in answered {
            let file = &found.node.file;
            uses.accounted.extend(found.sites.iter().map(|line| (file.clone(), *line)));
        }
        let implements = operation == Operation::Implementations;
        self.note_meanings(&mut uses, &wanted, implements)?;
        Ok(uses)
    }

    /// Returns what the graph knows of the uses of a name that no longer has its symbol.
    pub(super) fn uses_of_name(&mut self, name: &str) -> Result<NameUses, GraphError> {
        let names = BTreeSet::from([name.to_string()]);
        let mut uses = NameUses { names, ..NameUses::default() };
        self.note_meanings(&mut uses, &BTreeSet::new(), false)?;
        Ok(uses)
    }

    /// Adds the lines that define a symbol of the names, that use one of the `wanted` symbols, that
    /// use another symbol, or that use a value of a type that the project does not define.
    fn note_meanings(
        &mut self,
        uses: &mut NameUses,
        wanted: &BTreeSet<SymbolId>,
        implements: bool,
    ) -> Result<(), GraphError> {
        for name in uses.names.clone() {
            for symbol in self.resolver.scopes.tables.symbols_named(&name)? {
                if let Some(file) = self.resolver.scopes.file(symbol.id.file) {
                    let path = &file.row.path;
                    uses.defined.insert((path.clone(), symbol.line));
                    uses.accounted
                        .extend([symbol.start_line, symbol.line].map(|line| (path.clone(), line)));
                }
            }
            let refs = self.refs_named(&name)?;
            for (n, reference) in refs.rows.iter().enumerate() {
                if !self.resolver.work.goes_on() {
                    break;
                }
                let Some(file) = self.resolver.scopes.file(reference.from.file) else { continue };
                let path = file.row.path.clone();
                let lines = reference.lines.iter().map(|line| (path.clone(), *line));
                let meanings = refs.meanings(n, &mut self.resolver)?;
                let Some(best) = meanings.first().filter(|m| m.confidence >= LEAST_CONFIDENCE)
                else {
                    if meanings.is_empty() && self.resolver.is_of_elsewhere(reference)? {
                        uses.elsewhere.extend(lines);
                    }
                    continue;
                };
                if wanted.contains(&best.symbol) {
                    // A plain use of a type neither implements nor extends it.
                    if implements {
                        uses.of_target.extend(lines);
                    }
                } else {
                    let other = self.resolver.scopes.node(best.symbol)?;
                    uses.of_others.extend(lines.map(|line| (line, other.clone())));
                }
            }
        }
        Ok(())
    }
}
