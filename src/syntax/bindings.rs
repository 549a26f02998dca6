//! Finds where a text itself says what a name is: a parameter, a variable, a definition or an
//! import binds it within a scope.
//!
//! The kinds of nodes are recognized by the words that the grammars use for them. How far a
//! variable reaches is data of each language ([`Scoping`]).

use std::ops::Range;

use tree_sitter::Node;

use super::place::{PlaceKind, kind_of, statement};
use crate::languages::{Names, Scoping};

/// A place that binds a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binder {
    pub(super) kind: BinderKind,
    /// The bytes in which the name has this meaning.
    pub(super) scope: Range<usize>,
    /// Whether the scope is the body of a type, whose members functions reach through their object.
    pub(super) is_member: bool,
    /// Whether it is the name of a type.
    pub(super) is_type: bool,
}

impl Binder {
    /// Returns what binds a name that is not one of a type.
    fn new(kind: BinderKind, scope: Range<usize>, is_member: bool) -> Self {
        Self { kind, scope, is_member, is_type: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinderKind {
    /// A parameter or a variable of a function.
    Local,
    /// A definition, a field, or a variable outside of functions.
    Definition,
    Import,
}

/// Most nodes between a name and the declaration that binds it.
const MAX_CLIMB: usize = 10;

/// Returns what a name binds at its place; `None` if it only uses the name.
pub(super) fn binder(node: Node, text: &str, names: &Names, place: PlaceKind) -> Option<Binder> {
    if place == PlaceKind::Import {
        let scope = scope_above(statement(node), names);
        let import = Binder::new(BinderKind::Import, scope.byte_range(), false);
        return is_bound_by_import(node, text).then_some(import);
    }
    if node.kind() == "implicit_parameter" {
        return Some(of_parameter(node));
    }
    let mut at = node;
    let mut is_function = false;
    for _ in 0..MAX_CLIMB {
        let parent = at.parent()?;
        let (kind, field) = (parent.kind(), field_of(at));
        if at.prev_sibling().is_some_and(|before| matches!(before.kind(), "=" | ":=" | ":"))
            && !matches!(field, Some("pattern" | "name" | "declarator" | "left"))
            && !(kind.contains("pattern") && kind != "assignment_pattern")
        {
            return None;
        }
        match role_in(kind, field, at, parent) {
            Step::Through => {
                is_function |= at == node && kind == "function_declarator";
                at = parent;
            }
            Step::Parameter => return Some(of_parameter(parent)),
            Step::Variable if is_function => return Some(of_definition(parent, names)),
            Step::Variable => return Some(of_variable(node, parent, text, names)),
            Step::Definition => return Some(of_definition(parent, names)),
            Step::No => return None,
        }
    }
    None
}

/// What a node is for the name below it.
enum Step {
    /// A part of a declaration, such as a pattern.
    Through,
    Parameter,
    Variable,
    Definition,
    No,
}

/// Declarations of variables, with the field that holds the name or the pattern.
const VARIABLES: &[(&str, &[&str])] = &[
    ("variable_declarator", &["name"]),
    ("init_declarator", &["declarator"]),
    ("declaration", &["declarator"]),
    ("initialized_variable_declaration", &["name"]),
    ("initialized_identifier", &["name"]),
    ("static_final_declaration", &["name"]),
    ("var_spec", &["name"]),
    ("const_spec", &["name"]),
    ("let_declaration", &["pattern"]),
    ("let_condition", &["pattern"]),
    ("short_var_declaration", &["left"]),
    ("val_definition", &["pattern"]),
    ("var_definition", &["pattern"]),
    ("val_declaration", &["name"]),
    ("var_declaration", &["name"]),
    ("named_expression", &["name"]),
    ("property_declaration", &["name"]),
    ("assignment", &["left"]),
    ("augmented_assignment", &["left"]),
    ("operator_assignment", &["left"]),
    ("declaration_pattern", &["name"]),
    ("declaration_expression", &["name"]),
    ("var_pattern", &["name"]),
    ("recursive_pattern", &["name"]),
    ("list_pattern", &["name"]),
    ("catch_clause", &["parameter", "exception", "stack_trace"]),
    ("catch_declaration", &["name"]),
    ("catch_block", &["error"]),
    ("except_clause", &["alias"]),
    ("resource", &["name"]),
    ("instanceof_expression", &["name"]),
    ("type_pattern", &["name"]),
    ("for_statement", &["left", "name", "item", "variable"]),
    ("for_in_statement", &["left"]),
    ("for_expression", &["pattern"]),
    ("for_range_loop", &["declarator"]),
    ("for_element", &["name"]),
    ("for_numeric_clause", &["name"]),
    ("for_in_clause", &["left"]),
    ("for", &["pattern"]),
    ("foreach_statement", &["left"]),
    ("enhanced_for_statement", &["name"]),
    ("range_clause", &["left"]),
    ("as_pattern", &["alias", "name"]),
    ("match_arm", &["pattern"]),
    ("case_clause", &["pattern"]),
    ("let_clause", &[]),
    ("binding", &["name"]),
];

fn role_in(kind: &str, field: Option<&str>, at: Node, parent: Node) -> Step {
    let is_of = |kinds: &[(&str, &[&str])]| {
        kinds.iter().any(|(k, fields)| *k == kind && field.is_some_and(|f| fields.contains(&f)))
    };
    if matches!(field, Some("bound_identifier")) && kind != "pattern" {
        return Step::Variable;
    }
    if kind.contains("argument") || kind.contains("call") {
        return Step::No;
    }
    if kind.contains("parameter") || kind == "lambda_expression" || kind == "arrow_function" {
        let is_alone = kind == "lambda_expression" || kind == "arrow_function";
        let is_name = match field {
            Some("parameters" | "parameter") => true,
            Some("name" | "pattern" | "declarator") | None => !is_alone,
            // The label of an argument in Swift, unless it is the name, too.
            Some("left") => kind.contains("parameter"),
            _ => false,
        };
        return if is_name { Step::Parameter } else { Step::No };
    }
    if is_of(VARIABLES) {
        return Step::Variable;
    }
    match kind {
        // Kotlin has few fields.
        "variable_declaration" if field.is_none() && at.kind() != "variable_declarator" => {
            let is_lua = at.kind() == "variable_list" || at.kind() == "assignment_statement";
            let is_first = at.prev_named_sibling().is_none_or(|b| b.kind().contains("modifier"));
            return if is_lua || is_first { Step::Variable } else { Step::No };
        }
        "catch_block" if field.is_none() && at.kind() == "simple_identifier" => {
            return Step::Variable;
        }
        "enumerator" if field.is_none() && at.prev_sibling().is_none() => return Step::Variable,
        "for_generic_clause" if at.kind() == "variable_list" => return Step::Variable,
        "exception_variable" | "case_pattern" => return Step::Variable,
        "assignment_statement" if at.kind() == "variable_list" => {
            let is_local = parent.parent().is_some_and(|p| p.kind() == "variable_declaration");
            return if is_local { Step::Through } else { Step::No };
        }
        "expression_list" | "pattern_list" | "variable_list" | "left_assignment_list" => {
            return Step::Through;
        }
        "dotted_name" if parent.named_child_count() == 1 => {
            let is_case = parent.parent().is_some_and(|p| p.kind() == "case_pattern");
            return if is_case { Step::Through } else { Step::No };
        }
        "variable_name" => return Step::Through,
        _ => {}
    }
    let is_inner = kind.ends_with("pattern")
        || kind.ends_with("pattern_target")
        || (kind.contains("declarator") && field.is_none_or(|f| f == "declarator"))
        || matches!(kind, "list_splat" | "tuple_pattern" | "variable_declarator_list");
    if is_inner {
        return if matches!(field, Some("type" | "class" | "key" | "right" | "value"))
            && !(kind == "pair_pattern" && field == Some("value"))
        {
            Step::No
        } else {
            Step::Through
        };
    }
    if is_definition(kind, field, at) { Step::Definition } else { Step::No }
}

/// Parts of the names of nodes that are definitions.
const DEFINING: &[&str] = &[
    "declaration", "definition", "_item", "_spec", "signature", "class", "interface", "enum",
    "struct", "trait", "object", "protocol", "function", "method", "module", "macro", "alias",
    "preproc_def", "specifier", "const_element", "entry", "field",
];
/// Parts of the names of nodes that are none, though they have one of those.
const NOT_DEFINING: &[&str] = &[
    "call", "invocation", "argument", "attribute", "member", "selector", "access", "import",
    "export", "reference", "expression", "initializer", "use_", "package", "namespace", "_type",
    "scoped", "qualified", "keyed", "static_item_use",
];

/// Whether a node is a definition, and `at` its name.
fn is_definition(kind: &str, field: Option<&str>, at: Node) -> bool {
    // `struct name` without a body is a use.
    let has_body = || at.parent().is_some_and(|p| p.child_by_field_name("body").is_some());
    if kind.ends_with("_specifier") && !has_body() {
        return false;
    }
    if !DEFINING.iter().any(|word| kind.contains(word)) {
        return false;
    }
    if NOT_DEFINING.iter().any(|word| kind.contains(word)) && !kind.contains("enum") {
        let is_function = matches!(
            kind,
            "function_expression"
                | "class_expression"
                | "member_declaration"
                | "type_alias_declaration"
        );
        if !is_function {
            return false;
        }
    }
    match field {
        Some("name" | "declarator") => true,
        None => {
            matches!(
                kind,
                "class_declaration"
                    | "object_declaration"
                    | "function_declaration"
                    | "type_alias"
                    | "enum_entry"
                    | "companion_object"
            ) && matches!(at.kind(), "type_identifier" | "simple_identifier" | "identifier")
        }
        _ => false,
    }
}

/// A parameter is valid in the whole function. `part` is the parameter, or a part of it.
fn of_parameter(part: Node) -> Binder {
    let is_part = |node: Node| {
        let kind = node.kind();
        ["parameter", "pattern", "declarator", "bindings"].iter().any(|w| kind.contains(w))
            || matches!(kind, "variable_declaration" | "multi_variable_declaration" | "binding")
    };
    let mut scope = part;
    while is_part(scope)
        && let Some(parent) = scope.parent()
    {
        scope = parent;
    }
    // The body may be beside the signature.
    for _ in 0..4 {
        let has_body = scope.child_by_field_name("body").is_some()
            || scope.children(&mut scope.walk()).any(|child| {
                ["body", "block", "statements"].iter().any(|word| child.kind().contains(word))
            });
        let Some(parent) = scope.parent().filter(|_| !has_body) else { break };
        let kind = parent.kind();
        let goes_on = ["declarator", "declaration", "definition", "signature", "method", "lambda"];
        if !goes_on.iter().any(|word| kind.contains(word)) || kind.contains("list") {
            break;
        }
        if kind == "declaration" && scope.kind().contains("declarator") {
            break;
        }
        scope = parent;
    }
    Binder::new(BinderKind::Local, scope.byte_range(), false)
}

/// A definition is valid in the scope around it, before it as well.
fn of_definition(definition: Node, names: &Names) -> Binder {
    let mut outermost = definition;
    while let Some(parent) = outermost.parent() {
        let kind = parent.kind();
        let is_part = ["signature", "declaration", "definition", "template", "export"]
            .iter()
            .any(|word| kind.contains(word))
            && !kind.contains("list")
            && !kind.contains("body");
        if !is_part {
            break;
        }
        outermost = parent;
    }
    let scope = scope_above(outermost, names);
    let is_method = definition.child_by_field_name("receiver").is_some();
    Binder::new(BinderKind::Definition, scope.byte_range(), is_method || is_type_body(scope))
}

fn of_variable(name: Node, declaration: Node, text: &str, names: &Names) -> Binder {
    // `var` of JavaScript is a variable of the function.
    let is_var = declaration.parent().is_some_and(|p| p.kind() == "variable_declaration")
        && names.family == "ecmascript"
        && text[declaration.parent().map_or(0..0, |p| p.byte_range())].starts_with("var");
    let scope = if is_var {
        scope_with(declaration, Scoping::Function)
    } else {
        scope_above(declaration, names)
    };
    let is_outside = scope.parent().is_none() || is_type_body(scope) || is_namespace(scope);
    if is_outside {
        return Binder::new(BinderKind::Definition, scope.byte_range(), is_type_body(scope));
    }
    let mut bytes = scope.byte_range();
    if names.scoping == Scoping::After {
        bytes.start = valid_from(name, declaration, scope);
    }
    // What `if let` binds is not valid in `else`.
    if let Some(end) = around(declaration)
        .take_while(|node| *node != scope)
        .chain([scope])
        .find_map(|node| node.child_by_field_name("consequence"))
        && declaration.kind() == "let_condition"
    {
        bytes.end = end.end_byte().max(bytes.start);
    }
    Binder::new(BinderKind::Local, bytes, false)
}

/// Returns where a variable begins to be valid: behind its declaration, or where the loop or the
/// arm begins.
fn valid_from(name: Node, declaration: Node, scope: Node) -> usize {
    let kind = declaration.kind();
    if kind.starts_with("for") || kind.contains("for_statement") || kind == "foreach_statement" {
        return declaration.child_by_field_name("body").map_or(name.end_byte(), |b| b.start_byte());
    }
    if matches!(kind, "match_arm" | "case_clause" | "catch_clause" | "catch_block")
        || scope.kind() == "match_arm"
    {
        return name.start_byte();
    }
    declaration.end_byte()
}

fn around(node: Node) -> impl Iterator<Item = Node> {
    std::iter::successors(node.parent(), Node::parent)
}

fn scope_above<'t>(node: Node<'t>, names: &Names) -> Node<'t> {
    scope_with(node, names.scoping)
}

/// Returns the scope in which a declaration is. A loop or a clause is the scope of what it declares
/// itself.
fn scope_with(node: Node, scoping: Scoping) -> Node {
    let heads = ["for", "catch", "match_arm", "case_clause", "except"];
    let is_head = |n: &Node| heads.iter().any(|head| n.kind().starts_with(head));
    let itself = Some(node).filter(|n| is_head(n) && is_scope(n.kind(), scoping));
    itself
        .or_else(|| around(node).find(|n| n.parent().is_none() || is_scope(n.kind(), scoping)))
        .unwrap_or(node)
}

fn is_scope(kind: &str, scoping: Scoping) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&[
        "call", "invocation", "argument", "parameter", "_type", "modifier", "declarator",
        "reference", "identifier", "pattern", "_name", "operator",
    ]) || matches!(kind, "for_in_clause" | "for_clause" | "for_generic_clause")
        || matches!(kind, "for_numeric_clause" | "if_clause" | "catch_declaration")
        || matches!(kind, "function_body" if scoping == Scoping::Function)
    {
        return false;
    }
    let is_function = has(&["function", "method", "lambda", "closure", "arrow", "constructor"])
        || has(&["func_literal", "init_declaration", "anonymous", "comprehension", "generator"])
        || has(&["class", "struct", "interface", "trait", "protocol", "impl_item", "mod_item"])
        || has(&["class_body", "declaration_list", "template_body", "enum_body", "object_type"])
        || has(&["namespace", "module"]);
    let is_block = has(&["block", "statements", "compound_statement", "body", "match_arm"])
        || has(&["case", "switch", "catch", "chunk", "section", "if_", "while", "try", "do_"])
        || kind.starts_with("for");
    is_function || (is_block && scoping != Scoping::Function)
}

/// Whether a scope is the body of a type.
fn is_type_body(scope: Node) -> bool {
    let is_type = |kind: &str| {
        ["class", "struct", "interface", "trait", "impl", "enum", "protocol", "object", "extension"]
            .iter()
            .chain(&["record", "mixin", "union", "companion"])
            .any(|word| kind.contains(word))
    };
    let kind = scope.kind();
    let is_body = ["body", "list", "block", "type"].iter().any(|word| kind.contains(word));
    let parent = scope.parent().map_or("", |p| p.kind());
    (is_body && (is_type(parent) || is_type(kind))) || (is_type(kind) && !is_body)
}

/// Whether a scope is a module, whose variables are no locals.
fn is_namespace(scope: Node) -> bool {
    let is_one = |kind: &str| kind.contains("namespace") || kind == "mod_item" || kind == "module";
    is_one(scope.kind()) || scope.parent().is_some_and(|p| is_one(p.kind()))
}

/// Whether a function is around `node` within `scope`.
pub(super) fn is_in_function(node: Node, scope: &Range<usize>) -> bool {
    around(node).take_while(|n| n.start_byte() > scope.start || n.end_byte() < scope.end).any(|n| {
        let kind = n.kind();
        (kind.contains("function") || kind.contains("method") || kind.contains("lambda"))
            && !kind.contains("call")
            && !kind.contains("invocation")
    })
}

/// Whether a name in an import is the one under which the file uses what is imported.
fn is_bound_by_import(node: Node, text: &str) -> bool {
    let after = text[node.end_byte()..].trim_start();
    let goes_on = after.starts_with("::") || after.starts_with('.') || after.starts_with('\\');
    let has_alias =
        after.strip_prefix("as").is_some_and(|rest| rest.starts_with(char::is_whitespace))
            || after.starts_with("=>");
    // `export { name } from` binds nothing.
    let is_export = around(node).any(|n| n.kind() == "export_statement");
    let is_module = std::iter::successors(Some(node), Node::parent)
        .any(|n| field_of(n) == Some("module_name") || kind_of(n.kind()) == Some(PlaceKind::Text));
    !goes_on && !has_alias && !is_export && !is_module
}

/// Returns the field of its parent that a node is.
pub(super) fn field_of(node: Node<'_>) -> Option<&str> {
    let parent = node.parent()?;
    let mut cursor = parent.walk();
    cursor.goto_first_child();
    while cursor.node() != node {
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
    cursor.field_name()
}
