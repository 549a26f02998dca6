//! What a resolver works out, and what it remembers of it for the time of one answer.

use std::collections::HashMap;
use std::rc::Rc;

use super::rows::SymbolId;
use super::scopes::{Scopes, Wanted};

/// The longest chain of inferences that is followed.
pub(super) const MAX_INFERENCE: u8 = 6;
/// The most levels of supertypes that are followed.
pub(super) const MAX_BASES: u8 = 6;

/// A symbol that a name may mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meaning {
    pub(super) symbol: SymbolId,
    /// 0 to 1.
    pub(super) confidence: f32,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entity {
    /// Of a type, as written in a symbol. (A type itself is taken for a value of it: members are
    /// found in the same way.)
    Instance {
        of: String,
        at: SymbolId,
    },
    /// Of this very type.
    Of(SymbolId),
    /// The supertypes of a type.
    Super(SymbolId),
    Module {
        name: String,
        file: i64,
    },
    /// Nothing of this project.
    Elsewhere,
    Unknown,
}

/// An entity, and how surely it is that.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) entity: Entity,
    pub(super) confidence: f32,
}

/// Works out what names mean. The rules are in three files, because each needs the others: a bare
/// name may be a member of a supertype, a member needs the type of its receiver, and the type of a
/// receiver begins with a bare name.
///
/// - `resolve.rs`: what a name means.
/// - `infer.rs`: what an expression is.
/// - `members.rs`: what a type is, and its members.
pub(super) struct Resolver<'a> {
    pub(super) scopes: Scopes<'a>,
    pub(super) members: HashMap<(SymbolId, String), Rc<Vec<Meaning>>>,
    pub(super) bare: HashMap<(SymbolId, String, Wanted), Rc<Vec<Meaning>>>,
    pub(super) known: HashMap<(SymbolId, String), Known>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(scopes: Scopes<'a>) -> Self {
        Self { scopes, members: HashMap::new(), bare: HashMap::new(), known: HashMap::new() }
    }
}
