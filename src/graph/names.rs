//! Names as they are written: of symbols, of types, of modules.

use crate::syntax::{Symbol, SymbolKind};

/// The last part of a path: `Display` of `fmt::Display`, `ABC` of `abc.ABC`.
pub(super) fn last(path: &str) -> &str {
    path.rsplit([':', '.', '\\', '/']).next().unwrap_or(path)
}

/// What a symbol is a member of, and its own name: `Set` and `len` of C++'s `Set::len`, of Rust's
/// `impl Set { fn len }`, of Go's `func (s *Set) len()`. The owner is empty where there is none.
pub(super) fn owner_and_name<'a>(symbols: &'a [Symbol], symbol: &'a Symbol) -> (&'a str, &'a str) {
    if let Some((owner, name)) = symbol.name.rsplit_once("::") {
        return (last(owner), name);
    }
    let parent = symbol.parent.map(|p| &symbols[p]).filter(|p| !p.kind.is_callable());
    let owner =
        symbol.receiver.as_deref().or_else(|| parent.map(|p| p.name.as_str())).unwrap_or("");
    // `impl fmt::Debug for a::Set`
    let name = if symbol.kind == SymbolKind::Impl { last(&symbol.name) } else { &symbol.name };
    (last(owner), name)
}
