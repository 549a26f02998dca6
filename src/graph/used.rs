//! Counts what uses each symbol of a file.

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::traversal::{Traversal, USES};
use crate::languages::is_test_file;

/// The uses of a name with more references are not counted: it would take the time of all others.
const MAX_REFERENCES: usize = 500;

/// Number of symbols that use a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Users {
    /// Those that are no tests.
    pub others: usize,
    pub tests: usize,
}

impl Traversal {
    /// Counts the users of each target, in their order; `None` for a target that no symbol has, or
    /// several, and if the count would take too long.
    pub(super) fn count_users(
        &mut self,
        targets: &[(&str, String)],
    ) -> Result<Vec<Option<Users>>, GraphError> {
        let mut all = vec![None; targets.len()];
        // Rare names first: their counts take no time.
        let mut order = Vec::new();
        for (n, (name, _)) in targets.iter().enumerate() {
            order.push((self.refs_named(name)?.rows.len(), n));
        }
        order.sort_unstable();
        for (_, n) in order.into_iter().filter(|(references, _)| *references <= MAX_REFERENCES) {
            let (name, target) = &targets[n];
            let [of] = self.resolver.scopes.targets(target)?[..] else { continue };
            let symbol = self.resolver.scopes.symbol(of)?;
            if symbol.is_none_or(|symbol| symbol.name != *name) {
                continue;
            }
            let mut users = Users::default();
            for edge in self.incoming(of, USES, false)? {
                if edge.confidence < LEAST_CONFIDENCE || edge.to == of {
                    continue;
                }
                let node = self.resolver.scopes.node(edge.to)?;
                if is_test_file(&node.file) || self.is_test(&node)? {
                    users.tests += 1;
                } else {
                    users.others += 1;
                }
            }
            // A number that is too small would be worse than none.
            if !self.resolver.work.goes_on() {
                break;
            }
            all[n] = Some(users);
        }
        Ok(all)
    }
}
