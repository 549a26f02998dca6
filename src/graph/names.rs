//! Takes apart the written names of symbols, types and modules.

use crate::syntax::{Symbol, SymbolKind};

/// Returns the last part of a path: `Display` of `fmt::Display`, `ABC` of `abc.ABC`.
pub(super) fn last(path: &str) -> &str {
    path.rsplit([':', '.', '\\', '/']).next().unwrap_or(path)
}

/// Returns the owner of a symbol and its own name: `Set` and `len` for C++'s `Set::len`, Rust's
/// `impl Set { fn len }` and Go's `func (s *Set) len()`. The owner is empty if there is none.
pub(super) fn owner_and_name<'a>(symbols: &'a [Symbol], symbol: &'a Symbol) -> (&'a str, &'a str) {
    if let Some((owner, name)) = symbol.name.rsplit_once("::") {
        return (last(owner), name);
    }
    // A test of GoogleTest belongs to its fixture: `TEST_F(CacheTest, HitAndMiss)`.
    // Nothing calls it by its name.
    if let Some((fixture, _)) = symbol.name.split_once(", ")
        && symbol.kind.is_callable()
    {
        return (fixture, &symbol.name);
    }
    let parent = symbol.parent.map(|p| &symbols[p]).filter(|p| !p.kind.is_callable());
    let owner =
        symbol.receiver.as_deref().or_else(|| parent.map(|p| p.name.as_str())).unwrap_or("");
    // `impl fmt::Debug for a::Set`
    let name = if symbol.kind == SymbolKind::Impl { last(&symbol.name) } else { &symbol.name };
    (last(owner), name)
}
