//! What resolving names needs to know of each language, as data.

/// How far a name reaches that nobody imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    File,
    /// The files of its directory.
    Directory,
    /// The files that say they belong to the same package.
    Package,
    Project,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct Rules {
    /// Those that refer to one another.
    pub(super) languages: &'static [&'static str],
    pub(super) reach: Reach,
    /// Members are called without a receiver.
    pub(super) implicit_self: bool,
    /// An import without names brings all names of the module.
    pub(super) open_imports: bool,
}

const fn row(languages: &'static [&'static str], reach: Reach, implicit_self: bool, open_imports: bool) -> Rules {
    Rules { languages, reach, implicit_self, open_imports }
}

static TABLE: [Rules; 14] = [
    row(&["rust"], Reach::File, false, false),
    row(&["go"], Reach::Directory, false, false),
    row(&["python"], Reach::File, false, false),
    row(&["typescript", "tsx", "javascript"], Reach::File, false, false),
    row(&["java", "kotlin", "scala"], Reach::Package, true, false),
    row(&["c", "cpp"], Reach::Project, true, true),
    row(&["csharp"], Reach::Project, true, true),
    row(&["swift"], Reach::Project, true, true),
    row(&["ruby"], Reach::Project, true, true),
    row(&["php"], Reach::Project, false, false),
    row(&["haskell"], Reach::File, false, true),
    row(&["elixir"], Reach::File, true, true),
    row(&["zig"], Reach::File, true, false),
    row(&["lua", "bash"], Reach::Project, false, true),
];

/// The row of a language.
pub(super) fn rules(language: &str) -> &'static Rules {
    static OTHER: Rules = row(&[], Reach::Project, false, true);
    TABLE.iter().find(|r| r.languages.contains(&language)).unwrap_or(&OTHER)
}

/// How the value that a member belongs to is called in that member.
pub(super) const SELF: [&str; 6] = ["self", "this", "cls", "Self", "static", "@self"];

/// Functions that make a value of the type that they belong to; its name is called instead.
pub(super) const CONSTRUCTORS: [&str; 6] = ["__init__", "__new__", "constructor", "__construct", "initialize", "init"];

/// Types whose members are those of what they hold.
pub(super) const TRANSPARENT: &[&str] = &[
    "Arc", "Rc", "Box", "Pin", "Ref", "RefMut", "Cow", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "Optional", "Final",
    "ClassVar", "Annotated", "Type", "type", "Awaitable", "Coroutine", "Promise", "Readonly", "Partial", "Required", "unique_ptr",
    "shared_ptr", "weak_ptr", "NonNullable",
];

/// Methods of standard libraries: that one type of the project has one, too, says little about a receiver of which nothing is known.
pub(super) const COMMON: &[&str] = &[
    "add", "all", "and_then", "any", "append", "apply", "as_bytes", "as_mut", "as_ref", "as_str", "at", "await", "bind", "borrow",
    "call", "catch", "chain", "charAt", "clear", "clone", "close", "cmp", "collect", "compare", "concat", "contains", "copy", "count",
    "create", "decode", "default", "delete", "deref", "discard", "done", "drain", "drop", "emit", "empty", "encode", "end", "endswith",
    "entries", "entry", "enumerate", "eq", "equals", "err", "error", "every", "exec", "execute", "exists", "expect", "extend", "fill",
    "filter", "find", "finish", "first", "flush", "fmt", "fold", "forEach", "format", "from", "get", "get_mut", "group", "has", "hash",
    "hex", "id", "includes", "index", "indexOf", "info", "init", "insert", "into", "into_iter", "is_empty", "is_none", "is_some", "items",
    "iter", "iter_mut", "join", "key", "keys", "kind", "last", "len", "length", "load", "lock", "log", "lower", "map", "match", "max",
    "min", "name", "new", "next", "ok", "open", "parse", "peek", "poll", "pop", "print", "push", "put", "read", "recv", "reduce",
    "remove", "replace", "reset", "resolve", "result", "run", "search", "seek", "send", "set", "shift", "size", "skip", "slice", "sort",
    "split", "start", "stop", "store", "string", "strip", "sub", "swap", "take", "test", "then", "to_string", "update",
    "values", "wait", "with", "wrap", "write",
];
