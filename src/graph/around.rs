//! Collects what the graph knows of a symbol on all sides: its users, its tests, what it calls.

use super::answer::{Around, LEAST_CONFIDENCE, Neighbour};
use super::error::GraphError;
use super::rows::SymbolId;
use super::traversal::{CALLS, Follow, Traversal, USES};
use crate::languages::is_test_file;

/// Most references of a name that are resolved. What uses a name like `new` takes longer to find than a
/// search, and says little of one of its symbols.
const MAX_REFERENCES: usize = 250;

impl Traversal {
    /// Returns what is around each target, in their order; `None` for a target that no symbol has, or
    /// several.
    pub(super) fn around_all(
        &mut self,
        targets: &[String],
    ) -> Result<Vec<Option<Around>>, GraphError> {
        let mut all = Vec::new();
        for target in targets {
            let found = self.resolver.scopes.targets(target)?;
            all.push(match found[..] {
                [one] if self.resolver.work.goes_on() => Some(self.around(one)?),
                _ => None,
            });
        }
        Ok(all)
    }

    /// Returns what is around a symbol. It is asked alone, so that the answer depends on no other one.
    fn around(&mut self, of: SymbolId) -> Result<Around, GraphError> {
        if let Some(known) = self.around.get(&of) {
            return Ok(known.clone());
        }
        self.forget();
        let around = self.find_around(of)?;
        if !around.is_cut {
            self.around.insert(of, around.clone());
        }
        Ok(around)
    }

    fn find_around(&mut self, of: SymbolId) -> Result<Around, GraphError> {
        let node = self.resolver.scopes.node(of)?;
        if self.is_too_common(of)? {
            return Ok(Around { node, is_cut: true, ..Around::default() });
        }
        let (users, candidates) = self.walk(&[of], Follow::Incoming(USES), 1)?;
        let calls = if node.is_function() {
            self.walk(&[of], Follow::Outgoing(CALLS), 1)?.0
        } else {
            Vec::new()
        };
        let is_other = |found: &Neighbour| found.node != node;
        let (mut tests, mut others, mut unsure_tests, mut unsure) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for user in users.into_iter().chain(candidates).filter(is_other) {
            let is_test = is_test_file(&user.node.file) || self.is_test(&user.node)?;
            let is_sure = user.confidence >= LEAST_CONFIDENCE;
            let list = match (is_test, is_sure) {
                (true, true) => &mut tests,
                (true, false) => &mut unsure_tests,
                (false, true) => &mut others,
                (false, false) => &mut unsure,
            };
            list.push(user);
        }
        if tests.is_empty() {
            tests = unsure_tests;
        }
        Ok(Around {
            users: others,
            candidates: unsure,
            tests,
            calls: calls.into_iter().filter(is_other).collect(),
            is_cut: self.resolver.work.is_spent(),
            node,
        })
    }

    fn is_too_common(&mut self, of: SymbolId) -> Result<bool, GraphError> {
        let Some(symbol) = self.resolver.scopes.symbol(of)? else { return Ok(false) };
        let n = self.resolver.scopes.tables.count_refs_named(&symbol.name, MAX_REFERENCES + 1)?;
        Ok(n > MAX_REFERENCES)
    }
}
