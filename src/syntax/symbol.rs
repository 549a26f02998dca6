//! A definition in a source file.

/// A definition, with its place and its declaration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// Index of the enclosing symbol.
    pub parent: Option<usize>,
    /// 0 at the top level.
    pub depth: u16,
    /// First line, including leading comments, attributes and decorators. Lines are 1-based.
    pub start_line: u32,
    /// First line of the definition itself.
    pub definition_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Leading comment or documentation string, as a line range.
    pub comment: Option<(u32, u32)>,
    /// The declaration without its body, white space folded, at most 300 characters.
    pub signature: String,
    /// Whether it is visible outside its module.
    pub exported: bool,
    /// Whether it is declared without a body.
    pub prototype: bool,
    /// The type of a method that is defined outside the type's braces: `Server` for Go's `func (s
    /// *Server[T]) Start()`.
    pub receiver: Option<String>,
}

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Interface,
    Trait,
    Impl,
    Type,
    Module,
    Macro,
    Constant,
    Field,
    EnumMember,
    /// A table or view of a database.
    Table,
    /// A named block of settings, such as a resource or a module.
    Block,
    /// A rule of a style sheet.
    Rule,
    /// An element of a page.
    Element,
}

impl SymbolKind {
    const NAMES: [(&'static str, Self); 18] = [
        ("function", Self::Function),
        ("method", Self::Method),
        ("class", Self::Class),
        ("struct", Self::Struct),
        ("enum", Self::Enum),
        ("interface", Self::Interface),
        ("trait", Self::Trait),
        ("impl", Self::Impl),
        ("type", Self::Type),
        ("module", Self::Module),
        ("macro", Self::Macro),
        ("constant", Self::Constant),
        ("field", Self::Field),
        ("enum_member", Self::EnumMember),
        ("table", Self::Table),
        ("block", Self::Block),
        ("rule", Self::Rule),
        ("element", Self::Element),
    ];

    /// Returns the name in lower case, as in `metadata.names[].kind`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, k)| *k == self).map_or("function", |(n, _)| n)
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, k)| *k)
    }

    /// Whether this is a value rather than code: constants, statics, fields, enum members.
    #[must_use]
    pub fn is_data(self) -> bool {
        matches!(self, Self::Constant | Self::Field | Self::EnumMember)
    }

    /// Whether this is a function, method or macro.
    #[must_use]
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }
}
