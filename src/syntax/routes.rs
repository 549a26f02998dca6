//! Reads from a text which routes it registers, under which prefixes, and which of its strings are
//! paths in the arguments of a call. `python/routes.scm` explains the captures of the queries.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::{
    Node, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator, Tree,
};

use super::outline;
use super::outline::definition::line as line_of;
use super::relations::receiver_before;
use crate::languages::{
    ACTIONS, GROUPS, Grammar, NO_REQUESTS, RouteRules, framework_in, framework_of,
};

/// Most routes that one file registers.
const MAX_ROUTES: usize = 5_000;
/// Most bytes of a registration that are searched for its options.
const MAX_OPTION_BYTES: usize = 400;
/// Most ancestors of a node that are looked at.
const MAX_LEVELS: usize = 40;
/// The part of a path that the text does not state.
pub const UNKNOWN: &str = "…";
/// The method of a route whose text does not state it.
pub const UNKNOWN_METHOD: &str = "?";
/// Functions that make a router, and words in the calls of those functions.
const CONSTRUCTORS: &[&str] = &["Default", "New", "NewRouter", "NewServeMux", "Router"];
const ROUTERS: &[&str] =
    &["Hono", "OpenAPIHono", "Router", "chi", "echo", "express", "fastify", "fiber", "gin", "mux"];
/// Stands before and after the number of a name in a path, until the name has a value.
const MARK: char = '\u{1}';
const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// What a file says about routes.
#[derive(Debug, Clone, Default)]
pub struct RouteFile {
    pub routes: Vec<RouteAt>,
    pub scopes: Vec<ScopeAt>,
    pub routers: Vec<RouterAt>,
    pub mounts: Vec<MountAt>,
    /// Prefixes of all routes of a framework.
    pub globals: Vec<(&'static str, String)>,
    /// Names in paths and prefixes that this file gives no value.
    pub names: Vec<Expression>,
    /// First bytes of the strings that are paths of routes or prefixes.
    pub strings: HashSet<usize>,
    /// First byte of each line.
    pub lines: Vec<usize>,
    /// Whether routes were left out.
    pub is_cut: bool,
}

impl RouteFile {
    /// Returns the line of a byte, from 1 on.
    #[must_use]
    pub fn line_at(&self, byte: usize) -> u32 {
        u32::try_from(self.lines.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }

    /// Writes the values of `names` into all paths and prefixes. A name without a value is unknown.
    pub fn fill(&mut self, values: &[Option<String>]) {
        let paths = self.routes.iter_mut().map(|route| &mut route.path);
        let scopes = self.scopes.iter_mut().map(|scope| &mut scope.prefix);
        let routers = self.routers.iter_mut().map(|router| &mut router.prefix);
        let mounts = self.mounts.iter_mut().map(|mount| &mut mount.prefix);
        let globals = self.globals.iter_mut().map(|(_, prefix)| prefix);
        let all = paths.chain(scopes).chain(routers).chain(mounts).chain(globals);
        for text in all.filter(|text| text.contains(MARK)) {
            let mut filled = String::with_capacity(text.len());
            for (i, part) in text.split(MARK).enumerate() {
                let value = || part.parse::<usize>().ok().and_then(|n| values.get(n)?.as_deref());
                filled.push_str(if i % 2 == 0 { part } else { value().unwrap_or(UNKNOWN) });
            }
            *text = filled;
        }
    }
}

/// A registration of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteAt {
    pub framework: &'static str,
    /// Upper case, several separated by `|`; empty for any method.
    pub method: String,
    /// As written, without the prefixes around it.
    pub path: String,
    pub handler: Handler,
    /// The name of the router that it is registered with.
    pub router: Option<String>,
    /// Whether the form of the registration alone tells that it is a route, whatever its router.
    pub is_telling: bool,
    /// 1-based.
    pub line: u32,
    /// Its first byte.
    pub at: usize,
}

/// What handles the requests of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A function without a name, at the registration.
    Here,
    /// The function that is defined at this line.
    Line(u32),
    /// A name in the code.
    Named(Expression),
    /// A member of a class that the code names.
    Member(Expression, String),
    /// A controller and its action, each as a file and a function are called.
    Action { controller: String, action: String },
}

/// A name with the chain of names before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub receiver: String,
    pub name: String,
    /// 1-based.
    pub line: u32,
}

/// A part of a file whose routes have a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeAt {
    pub prefix: String,
    /// The directory of the controllers, and the controller itself.
    pub module: String,
    pub controller: Option<Expression>,
    pub resource: String,
    pub range: Range<usize>,
    /// The entry of `globals` without which it has no effect.
    pub only_with: Option<&'static str>,
}

/// A variable that holds a router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterAt {
    pub name: String,
    pub prefix: String,
    /// The router that it is a part of.
    pub base: Option<String>,
    /// Whether somebody has to mount it before it answers.
    pub is_part: bool,
    pub range: Range<usize>,
    /// The part of the file in which its name means it.
    pub visible: Range<usize>,
    /// The framework that its definition names.
    pub framework: Option<&'static str>,
}

/// A router, a function or a file whose routes are added to another router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountAt {
    pub prefix: String,
    pub router: Option<String>,
    pub target: Mounted,
    pub at: usize,
    /// Whether the prefix takes the place of the one that the mounted router has itself.
    pub replaces: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mounted {
    Name(Expression),
    /// The module that a string names.
    Module(String, u32),
}

/// A string that is an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// With `{}` for what the text does not state.
    pub path: String,
    /// Upper case; empty if it is unknown.
    pub method: String,
    /// 1-based.
    pub line: u32,
    pub at: usize,
}

/// Finds the routes of a text. Returns `None` if the parser has no usable result.
#[must_use]
pub fn routes(grammar: &Grammar, rules: &'static RouteRules, text: &str) -> Option<RouteFile> {
    let (tree, budget) = outline::tree(grammar, text)?;
    let query = rules.query(grammar);
    let reader = Reader { text };
    let names = query.capture_names();
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1));
    let mut out = RouteFile { lines: lines.collect(), ..RouteFile::default() };
    let mut inner: Vec<(RouteAt, usize)> = Vec::new();
    let mut leaves: HashSet<usize> = HashSet::new();
    // The first parameters of functions, which are routers if the function is mounted.
    let mut plugins: Vec<(String, RouterAt)> = Vec::new();
    let mut cursor = QueryCursor::new();
    let mut in_time = |_: &QueryCursorState| budget.go_on();
    let options = QueryCursorOptions::new().progress_callback(&mut in_time);
    let mut matches =
        cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
    while let Some(matched) = matches.next() {
        if out.routes.len() >= MAX_ROUTES {
            out.is_cut = true;
            break;
        }
        let named = matched.captures().iter().map(|c| (names[c.index as usize], c.node));
        let captured = Captured(named.collect());
        let setting = |key: &str| {
            let all = query.property_settings(matched.pattern_index);
            all.iter().find(|p| &*p.key == key).and_then(|p| p.value.as_deref())
        };
        let n = out.routes.len();
        reader.add(&mut out, &captured, &setting);
        if let Some(function) = captured.get("plugin") {
            let function = reader.source(function).to_string();
            plugins.extend(out.routers.pop().map(|router| (function, router)));
        }
        let strings = ["path", "prefix", "mount", "resource"].map(|name| captured.get(name));
        out.strings.extend(strings.into_iter().flatten().map(|node| node.start_byte()));
        match (setting("inside"), captured.get("route").or(captured.get("scope"))) {
            (Some(_), Some(node)) => {
                let end = steps_around(node).end_byte();
                inner.extend(out.routes.drain(n..).map(|route| (route, end)));
            }
            (None, _) if setting("leaf").is_some() => {
                leaves.extend(out.scopes.last().map(|scope| scope.range.end));
            }
            _ => {}
        }
    }
    // `get(f)` is a route only as the argument of another call.
    out.routes.extend(inner.into_iter().filter(|(_, end)| leaves.contains(end)).map(|(r, _)| r));
    let is_mounted = |function: &str| {
        let is =
            |mount: &MountAt| matches!(&mount.target, Mounted::Name(of) if of.name == function);
        out.mounts.iter().any(is)
    };
    plugins.retain(|(function, _)| is_mounted(function));
    out.routers.extend(plugins.into_iter().map(|(_, router)| router));
    // Of two rules for one definition, the one that knows what it is a part of says more.
    out.routers.sort_by(|a, b| {
        let key = |r: &RouterAt| (r.range.start, r.base.is_none());
        a.name.cmp(&b.name).then_with(|| key(a).cmp(&key(b)))
    });
    out.routers.dedup_by(|b, a| a.name == b.name && a.range.start == b.range.start);
    out.is_cut |= budget.is_spent();
    // The version of a controller is before its path.
    out.scopes.sort_by_key(|scope| {
        (scope.range.start, std::cmp::Reverse(scope.range.end), scope.only_with.is_none())
    });
    // What is a part of a longer statement of the same route says less.
    out.routes.sort_by_key(|r| (r.at, r.handler == Handler::Here, r.method.is_empty()));
    let with_path: HashSet<usize> =
        out.routes.iter().filter(|r| !r.path.is_empty()).map(|r| r.at).collect();
    out.routes.retain(|r| !r.path.is_empty() || is_action(r) || !with_path.contains(&r.at));
    out.routes.dedup_by(|b, a| {
        a.at == b.at
            && a.path == b.path
            && (a.method == b.method || b.method.is_empty())
            && !is_action(b)
    });
    // A class that states no prefix has its routes elsewhere: by conventions, or in another resource.
    let in_class =
        |r: &&mut RouteAt| matches!(r.framework, "aspnet" | "jax-rs") && r.router.is_none();
    for route in out.routes.iter_mut().filter(in_class) {
        let has_scope = out.scopes.iter().any(|s| s.range.contains(&route.at));
        if !has_scope && (route.path.is_empty() || route.framework == "jax-rs") {
            route.path.insert_str(0, "…/");
        }
    }
    Some(out)
}

fn is_action(route: &RouteAt) -> bool {
    matches!(route.handler, Handler::Action { .. } | Handler::Member(..))
}

/// Returns the strings at these places that are arguments of a call.
#[must_use]
pub fn requests(grammar: &Grammar, text: &str, places: &[usize]) -> Vec<Request> {
    let Some((tree, _)) = outline::tree(grammar, text) else { return Vec::new() };
    places.iter().filter_map(|offset| request(&tree, text, *offset)).collect()
}

fn request(tree: &Tree, text: &str, offset: usize) -> Option<Request> {
    let innermost = tree.root_node().descendant_for_byte_range(offset, offset + 1)?;
    let string =
        around(innermost).find(|node| is_string(*node) && node.kind() != "string_content")?;
    // The outermost string: a template holds others.
    let string =
        around(string).take_while(|n| is_string(*n) || n.kind().contains("literal")).last()?;
    let mut whole = string;
    for node in around(string).skip(1).take(8) {
        if node.kind().contains("binary")
            || node.kind() == "concatenated_string"
            || node.kind().contains("parenthesized")
        {
            whole = node;
        }
    }
    let call = around(whole).skip(1).take(8).find(|n| is_call(*n))?;
    // A string in a function that is an argument is not the argument.
    if around(whole).take_while(|n| *n != call).any(|n| is_function(n.kind())) {
        return None;
    }
    let path = joined(whole, text, 0)?;
    let head_end = whole.start_byte().max(call.start_byte());
    let called = text.get(call.start_byte()..head_end)?;
    let called = called.trim_end().trim_end_matches('(');
    let name = called.rsplit(['.', ':', '>', '\n']).next().unwrap_or(called);
    let name = name.split('(').next().unwrap_or(name);
    if NO_REQUESTS.contains(&name.trim()) {
        return None;
    }
    let mut method = methods_in(name);
    if method.is_empty() {
        let rest = &text[call.start_byte()
            ..text.floor_char_boundary(call.end_byte().min(string.end_byte() + MAX_OPTION_BYTES))];
        method = option(rest, "method").map(methods_in).unwrap_or_default();
    }
    if method.is_empty() && matches!(name.trim(), "fetch" | "$fetch" | "visit") {
        method = "GET".into();
    }
    if method.is_empty() {
        // `http.NewRequest("GET", url)`, `requests.request("GET", url)`
        method = methods_in_upper(&called[called.find('(').unwrap_or(called.len())..]);
    }
    Some(Request { path, method, line: line_of(string), at: string.start_byte() })
}

/// Returns the text of an expression that joins strings, with `{}` for what is computed.
fn joined(node: Node, text: &str, depth: usize) -> Option<String> {
    if let Some(written) = literal(node, text) {
        return Some(written);
    }
    let is_joined =
        ["binary", "concatenated", "parenthesized"].iter().any(|k| node.kind().contains(k));
    if !is_joined || depth > MAX_LEVELS {
        return Some("{}".into());
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).map(|part| joined(part, text, depth + 1)).collect()
}

/// Returns the name at the beginning of a chain of calls: `router` of `router.route("/x").get(f)`.
fn first_of_chain(call: Node) -> Option<Node> {
    let mut first = call;
    for _ in 0..MAX_LEVELS {
        let called = first.child_by_field_name("function");
        match called.and_then(|called| called.child_by_field_name("object")) {
            Some(object) => first = object,
            None => break,
        }
    }
    (first.kind() == "identifier").then_some(first)
}

fn methods_in_upper(text: &str) -> String {
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).find(|w| METHODS.contains(w));
    word.unwrap_or_default().to_string()
}

/// The captures of one match by their names; of several with one name, the last.
struct Captured<'q, 't>(HashMap<&'q str, Node<'t>>);

impl<'t> Captured<'_, 't> {
    fn get(&self, name: &str) -> Option<Node<'t>> {
        self.0.get(name).copied()
    }
}

struct Reader<'s> {
    text: &'s str,
}

/// Fills the places of a prefix that stand for the names of a controller of ASP.NET and its actions.
fn of_controller(prefix: &str, name: &str) -> String {
    let short = name.strip_suffix("Controller").unwrap_or(name).to_lowercase();
    prefix.replace("[controller]", &short).replace("[action]", UNKNOWN).replace("[area]", UNKNOWN)
}

impl Reader<'_> {
    fn add<'q>(
        &self,
        out: &mut RouteFile,
        captured: &Captured,
        setting: &dyn Fn(&str) -> Option<&'q str>,
    ) {
        let text = self.text;
        // `r.Group("/a")` is the router `r` with a prefix.
        let router = captured.get("router").map(|node| self.group(&mut out.names, node));
        let (groups, router) = match router {
            // A chain that begins with a new router is a part of what defines it.
            Some((prefix, root)) => {
                let is_new = root.ends_with(')')
                    && root.split(|c: char| !is_name_char(c)).any(|word| ROUTERS.contains(&word));
                (prefix.unwrap_or_default(), Some(root).filter(|_| !is_new))
            }
            None => (String::new(), None),
        };
        let mut prefix = match (captured.get("prefix"), setting("fixed"), setting("prefix")) {
            (_, Some(fixed), _) => fixed.to_string(),
            (Some(node), ..) => self.path(&mut out.names, node, 0),
            // The value of an option.
            (None, None, Some(key)) => {
                let all =
                    captured.get("route").or(captured.get("define")).or(captured.get("scope"));
                all.map_or(String::new(), |node| self.option_path(&mut out.names, node, key))
            }
            (None, None, None) => String::new(),
        };
        if prefix.starts_with('^') {
            prefix = from_regex(&prefix);
        }
        if !groups.is_empty() {
            prefix = format!("{groups}/{prefix}");
        }
        if let Some(framework) = setting("global").and_then(known) {
            out.globals.push((framework, prefix));
        } else if let Some(node) = captured.get("resource") {
            self.add_resource(out, node, captured, setting);
        } else if let Some(scope) = captured.get("scope") {
            // The decorator of a class applies to all routes in its body.
            let scope = if setting("class").is_some() { class_body(scope) } else { scope };
            let mut range = match setting("chain") {
                Some(_) => scope.end_byte()..chain(scope).end_byte(),
                None => scope.byte_range(),
            };
            range.end = range.end.max(range.start);
            let mut module = String::new();
            if let Some(key) = setting("module") {
                let head = captured.get("route").map_or("", |r| self.head(r));
                module = if key == "prefix" { prefix.clone() } else { String::new() };
                if let Some(path) = option(head, "path").and_then(unquoted) {
                    prefix = path;
                }
                if let Some(name) = option(head, "module").and_then(unquoted) {
                    module = name;
                }
            }
            if let Some(way) = setting("pop") {
                prefix = way.into();
            }
            if let Some(owner) = captured.get("owner") {
                prefix = of_controller(&prefix, self.source(owner));
            }
            let controller = captured.get("handler").map(|node| self.expression(node));
            let only_with = setting("only_with").and_then(known);
            if only_with.is_some() && prefix != UNKNOWN {
                prefix.insert(0, 'v');
            }
            // Of a class with several prefixes, each route has several paths.
            let same = out.scopes.iter_mut().find(|s| s.range == range);
            if let Some(other) = same.filter(|_| captured.get("owner").is_some()) {
                other.prefix = UNKNOWN.into();
                return;
            }
            let resource = String::new();
            out.scopes.push(ScopeAt { prefix, module, controller, resource, range, only_with });
        } else if let Some(node) = captured.get("mount") {
            let target = match literal(node, text).or_else(|| self.required(node)) {
                Some(module) => Mounted::Module(module, line_of(node)),
                None => Mounted::Name(self.expression(node)),
            };
            let replaces = setting("replaces").is_some() && !prefix.is_empty();
            out.mounts.push(MountAt { prefix, router, target, at: node.start_byte(), replaces });
        } else if let (Some(node), Some(name)) = (captured.get("define"), captured.get("name")) {
            let (mut prefix, mut base) = (prefix, router);
            if let Some(group) = captured.get("group") {
                let (Some(of), root) = self.group(&mut out.names, group) else { return };
                (prefix, base) = (of, Some(root));
            }
            // A field is one wherever the file uses it.
            let is_field = name.parent().is_some_and(|up| {
                ["member", "selector", "attribute"].iter().any(|kind| up.kind().contains(kind))
            });
            let visible = if is_field { 0..text.len() } else { self.visible(node) };
            // A parameter is written with its type.
            let name = name.child_by_field_name("pattern").unwrap_or(name);
            let name = self.source(name).trim_start_matches(['$', '.']);
            let name = name.split(|c: char| !is_name_char(c)).next().unwrap_or_default();
            let family = setting("framework").and_then(known);
            out.routers.push(RouterAt {
                name: name.to_string(),
                prefix,
                base,
                is_part: setting("part").is_some(),
                range: node.byte_range(),
                visible,
                framework: family.and_then(|of| framework_of(of, self.source(node))),
            });
        } else if let Some(node) = captured.get("route") {
            self.add_route(out, node, captured, &groups, router, setting);
        }
    }

    /// Returns the part of the file in which the name that a node defines means that definition.
    fn visible(&self, node: Node) -> Range<usize> {
        // A parameter is a part of its function; the function itself is not what a node defines.
        let function = around(node).skip(1).find(|up| has_own_names(up.kind()));
        function.map_or(0..self.text.len(), |function| function.byte_range())
    }

    /// Follows a chain of calls to the router at its beginning, and returns the prefixes of the
    /// groups on the way, `None` if there is no group, and the name of the router.
    fn group(&self, names: &mut Vec<Expression>, node: Node) -> (Option<String>, String) {
        let mut prefixes: Vec<String> = Vec::new();
        let (mut first, mut is_group) = (node, false);
        for _ in 0..MAX_LEVELS {
            let Some(called) = first.child_by_field_name("function") else { break };
            let part = |keys: &[&str]| keys.iter().find_map(|key| called.child_by_field_name(key));
            let object = part(&["operand", "object", "expression", "value"]);
            let name = part(&["field", "property", "name", "attribute"]);
            let (Some(object), Some(name)) = (object, name) else { break };
            if CONSTRUCTORS.contains(&self.source(name)) {
                break;
            }
            if let Some((_, has_prefix)) = GROUPS.iter().find(|(of, _)| *of == self.source(name)) {
                is_group = true;
                let arguments = first.child_by_field_name("arguments");
                let argument = arguments.and_then(|all| all.named_child(0));
                if let Some(argument) = argument.filter(|_| *has_prefix) {
                    prefixes.push(self.path(names, argument, 0));
                }
            }
            first = object;
        }
        prefixes.reverse();
        (is_group.then(|| prefixes.join("/")), self.source(first).to_string())
    }

    /// Returns the text of an expression that is a path, with [`UNKNOWN`] for what the project does
    /// not state, and the mark of each name that another file may define.
    fn path(&self, names: &mut Vec<Expression>, node: Node, depth: usize) -> String {
        let kind = node.kind();
        let unknown = || UNKNOWN.to_string();
        if depth > MAX_LEVELS || self.source(node).contains(MARK) {
            return unknown();
        }
        if kind.contains("binary") || kind.contains("concatenated") {
            let operator = node.child_by_field_name("operator").map_or("+", |o| self.source(o));
            if !matches!(operator, "+" | ".") {
                return unknown();
            }
            let parts = children(node).into_iter();
            return parts.map(|part| self.path(names, part, depth + 1)).collect();
        }
        let written = literal_with(node, self.text, &mut |part| match part.named_child(0) {
            Some(inner) if !part.kind().contains("variable") => self.path(names, inner, depth + 1),
            _ => unknown(),
        });
        if let Some(written) = written {
            return written.replace(|c: char| c.is_control() && c != MARK, "");
        }
        let is_list = ["array", "list", "parenthesized", "argument"]
            .iter()
            .any(|k| kind.contains(k) && !kind.contains("access"));
        if is_list {
            // Of several paths only a rule that takes each one knows which.
            return match (node.named_child_count(), node.named_child(0)) {
                (1, Some(only)) => self.path(names, only, depth + 1),
                _ => unknown(),
            };
        }
        let source = self.source(node);
        let is_name = source.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && source.chars().all(|c| is_name_char(c) || matches!(c, '.' | ':' | '\\'));
        if !is_name {
            return unknown();
        }
        // The caller decides what a parameter is.
        let is_parameter = around(node).any(|up| {
            let all = ["parameters", "parameter"].iter().find_map(|k| up.child_by_field_name(k));
            all.is_some_and(|all| places_of(self.source(all), source).next().is_some())
        });
        if is_parameter {
            return unknown();
        }
        match constant(self.text, source) {
            Constant::Text(value) => value,
            Constant::Other => unknown(),
            Constant::Missing => {
                names.push(self.expression(node));
                format!("{MARK}{}{MARK}", names.len() - 1)
            }
        }
    }

    /// Returns the path that an option of a call states, empty if it has no such option.
    fn option_path(&self, names: &mut Vec<Expression>, node: Node, key: &str) -> String {
        let call = node.child_by_field_name("value").unwrap_or(node);
        let Some(arguments) = call.child_by_field_name("arguments") else { return String::new() };
        let mut options = children(arguments);
        let inner: Vec<Node> =
            options.iter().filter(|n| n.kind() == "object").flat_map(|n| children(*n)).collect();
        options.extend(inner);
        for option in options {
            if option.kind().contains("splat") || option.kind().contains("spread") {
                return UNKNOWN.into();
            }
            let name = ["name", "key"].iter().find_map(|k| option.child_by_field_name(k));
            let is_it = name.is_some_and(|n| self.source(n).trim_matches(['"', '\'']) == key);
            if let Some(value) = option.child_by_field_name("value").filter(|_| is_it) {
                return if self.source(value) == "None" {
                    String::new()
                } else {
                    self.path(names, value, 0)
                };
            }
        }
        String::new()
    }

    /// Returns the module that `require("./users")` names.
    fn required(&self, node: Node) -> Option<String> {
        let function = node.child_by_field_name("function")?;
        let is_require = matches!(self.source(function), "require" | "import");
        literal(
            node.child_by_field_name("arguments")?.named_child(0).filter(|_| is_require)?,
            self.text,
        )
    }

    fn add_route<'q>(
        &self,
        out: &mut RouteFile,
        node: Node,
        captured: &Captured,
        groups: &str,
        router: Option<String>,
        setting: &dyn Fn(&str) -> Option<&'q str>,
    ) {
        let Some(framework) = setting("framework").and_then(known) else { return };
        let at = captured.get("method").or(captured.get("path")).unwrap_or(node).start_byte();
        // A handler is something that can be called.
        let is_constant = |node: Node| framework != "net/http" && is_value(node.kind());
        if captured.get("handler").is_some_and(is_constant) {
            return;
        }
        let is_text = |node: Node| literal(node, self.text).is_some();
        let takes_text = setting("action").is_some() || framework == "laravel";
        if !takes_text && captured.get("handler").is_some_and(is_text) {
            return;
        }
        let framework = framework_in(framework, self.text);
        // `router.route("/x").get(f)` is registered with the router at the beginning of the chain.
        let router = router.or_else(|| {
            let first = first_of_chain(node).filter(|_| setting("inside").is_some())?;
            Some(self.source(first).to_string())
        });
        // The package `net/http` has a router of its own.
        let router = router.filter(|name| !(framework == "net/http" && name == "http"));
        let mut path =
            captured.get("path").map_or(String::new(), |p| self.path(&mut out.names, p, 0));
        if framework == "aspnet" && router.is_none() && path.starts_with('/') {
            path.insert(0, '~');
        }
        let stated = setting("methods").and_then(|key| option(self.head(node), key));
        let mut method = stated.map(methods_in).unwrap_or_default();
        let is_any = |written: &str| written.starts_with(['\'', '"']) || written.ends_with(":all");
        if method.is_empty() && stated.is_some_and(|written| !is_any(written)) {
            method = UNKNOWN_METHOD.into();
        }
        if method.is_empty() {
            method = captured
                .get("method")
                .map(|node| methods_in(self.source(node)))
                .unwrap_or_default();
        }
        if method.is_empty() {
            method = setting("method").unwrap_or_default().to_string();
        }
        // `HandleFunc("GET /users", …)`
        if let Some((word, rest)) = path.split_once(' ')
            && METHODS.contains(&word)
        {
            (method, path) = (word.to_string(), rest.trim_start().to_string());
        }
        if setting("regex").is_some() {
            path = from_regex(&path);
        }
        if path.contains("[action]") {
            let action = captured.get("handler").map_or(UNKNOWN, |node| self.source(node));
            path = path.replace("[action]", &action.to_lowercase());
        }
        let mut handler = captured.get("handler").map_or(Handler::Here, |node| self.handler(node));
        if let (Handler::Named(class), Some(member)) = (&handler, captured.get("member"))
            && let Some(name) = literal(member, self.text)
        {
            handler = Handler::Member(class.clone(), name);
        }
        if setting("action").is_some() {
            let written = match captured.get("handler").and_then(|n| literal(n, self.text)) {
                Some(written) => Some(written),
                None => option(self.head(node), "to").and_then(unquoted),
            };
            handler = self.action(out, node, written.as_deref(), &path);
        }
        if setting("member").is_some() {
            let head = self.head(node);
            if option(head, "on").is_some_and(|on| on.contains("collection")) {
                path = format!("../{path}");
            }
        }
        if !groups.is_empty() {
            path = format!("{groups}/{path}");
        }
        let line =
            captured.get("method").or(captured.get("path")).map_or_else(|| line_of(node), line_of);
        let is_telling = setting("telling").is_some();
        out.routes.push(RouteAt { framework, method, path, handler, router, is_telling, line, at });
    }

    /// Returns what `controller#action` means, or a bare action in its resource.
    fn action(&self, out: &RouteFile, node: Node, written: Option<&str>, path: &str) -> Handler {
        let start = node.start_byte();
        let around: Vec<&ScopeAt> =
            out.scopes.iter().filter(|s| s.range.contains(&start)).collect();
        let module: Vec<&str> =
            around.iter().map(|s| &*s.module).filter(|m| !m.is_empty()).collect();
        let module = module.iter().map(|m| format!("{m}/")).collect::<String>();
        let resource = around.iter().rev().find(|s| !s.resource.is_empty()).map(|s| &*s.resource);
        let (controller, action) = match written {
            Some(written) => match written.split_once('#') {
                Some((controller, action)) => (controller, action),
                None => (resource.unwrap_or_default(), written),
            },
            None => match resource {
                Some(resource) => (resource, path.trim_start_matches('/')),
                // `get "photos/show"` is the action `show` of `photos`.
                None => path.trim_start_matches('/').split_once('/').unwrap_or(("", "")),
            },
        };
        if self.source(node).contains("redirect(") || controller.is_empty() {
            return Handler::Here;
        }
        Handler::Action { controller: format!("{module}{controller}"), action: action.to_string() }
    }

    /// Adds the routes of a resource, and the scope of those within it.
    fn add_resource<'q>(
        &self,
        out: &mut RouteFile,
        name_node: Node,
        captured: &Captured,
        setting: &dyn Fn(&str) -> Option<&'q str>,
    ) {
        let (Some(node), Some(framework)) =
            (captured.get("route"), setting("framework").and_then(known))
        else {
            return;
        };
        let Some(name) = literal(name_node, self.text) else { return };
        let Some((_, actions)) = ACTIONS.iter().find(|(of, _)| Some(*of) == setting("actions"))
        else {
            return;
        };
        let head = self.head(chain(node));
        let listed = |key: &str| option(head, key).map(words);
        let (only, except) = (listed("only"), listed("except"));
        let is_single = setting("single").is_some();
        let path = option(head, "path").and_then(unquoted).unwrap_or_else(|| name.clone());
        let at = node.start_byte();
        let modules: String = out
            .scopes
            .iter()
            .filter(|s| s.range.contains(&at) && !s.module.is_empty())
            .map(|s| format!("{}/", s.module))
            .collect();
        let last = name.rsplit('/').next().unwrap_or(&name);
        let singular = match last.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => last.strip_suffix('s').unwrap_or(last).to_string(),
        };
        let id = option(head, "param").and_then(unquoted);
        let id = match setting("id") {
            Some("name") => singular.replace('-', "_"),
            _ => id.unwrap_or_else(|| "id".into()),
        };
        for (action, method, rest) in *actions {
            let is_wanted = only.as_ref().is_none_or(|only| only.iter().any(|o| o == action))
                && except.as_ref().is_none_or(|e| !e.iter().any(|o| o == action))
                && !(is_single && *action == "index");
            if !is_wanted {
                continue;
            }
            let rest = if is_single {
                rest.replace("/{id}", "")
            } else {
                rest.replace("{id}", &format!("{{{id}}}"))
            };
            let handler = match captured.get("handler") {
                Some(class) => match self.handler(class) {
                    Handler::Named(class) => Handler::Member(class, (*action).to_string()),
                    other => other,
                },
                None => {
                    let controller =
                        option(head, "controller").and_then(unquoted).unwrap_or_else(|| {
                            if is_single && !last.ends_with('s') {
                                format!("{name}s")
                            } else {
                                name.clone()
                            }
                        });
                    Handler::Action {
                        controller: format!("{modules}{controller}"),
                        action: (*action).to_string(),
                    }
                }
            };
            // Nested resources of Laravel are written with dots.
            let path = path.replace('.', "/{id}/");
            out.routes.push(RouteAt {
                framework,
                method: (*method).to_string(),
                path: format!("{path}{rest}"),
                handler,
                router: captured.get("router").map(|n| self.source(n).to_string()),
                is_telling: true,
                line: line_of(name_node),
                at,
            });
        }
        if let Some(scope) = captured.get("scope") {
            let prefix = if is_single { path } else { format!("{path}/{{{singular}_{id}}}") };
            out.scopes.push(ScopeAt {
                prefix,
                module: String::new(),
                controller: None,
                resource: name,
                range: scope.byte_range(),
                only_with: None,
            });
        }
    }

    fn source(&self, node: Node) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the beginning of a node, where its options are.
    fn head(&self, node: Node) -> &str {
        let end = node.end_byte().min(node.start_byte() + MAX_OPTION_BYTES);
        self.text.get(node.start_byte()..self.text.floor_char_boundary(end)).unwrap_or_default()
    }

    fn handler(&self, node: Node) -> Handler {
        let is_definition = node.parent().is_some_and(|up| {
            up.child_by_field_name("name") == Some(node)
                && (up.kind().contains("definition")
                    || up.kind().contains("declaration")
                    || up.kind().contains("function_item")
                    || up.kind().contains("method"))
                && !up.kind().contains("invocation")
                && !up.kind().contains("call")
        });
        if is_definition {
            return Handler::Line(line_of(node));
        }
        if is_function(node.kind()) {
            return Handler::Here;
        }
        // The last function of a list answers; those before it may.
        if node.kind() == "array"
            && let Some(last) = children(node).last()
        {
            return self.handler(*last);
        }
        if let Some(written) = literal(node, self.text) {
            return match written.split_once('@') {
                Some((class, member)) => Handler::Member(
                    Expression {
                        receiver: String::new(),
                        name: class.rsplit('\\').next().unwrap_or(class).to_string(),
                        line: line_of(node),
                    },
                    member.to_string(),
                ),
                None => Handler::Here,
            };
        }
        if node.kind().contains("call") && node.child_by_field_name("arguments").is_some() {
            let arguments = node.child_by_field_name("arguments");
            let callee =
                node.child_by_field_name("function").or_else(|| node.child_by_field_name("name"));
            let source = callee.map_or("", |c| self.source(c));
            if let Some(class) = source.strip_suffix(".as_view") {
                return callee.map_or(Handler::Here, |c| {
                    Handler::Named(
                        self.named(c.start_byte()..c.start_byte() + class.len(), line_of(c)),
                    )
                });
            }
            // A handler in a wrapper: the last argument.
            let last = arguments.and_then(|all| children(all).pop());
            return match last {
                Some(last) if is_function(last.kind()) => Handler::Here,
                Some(last)
                    if literal(last, self.text).is_none() && !last.kind().contains("object") =>
                {
                    self.handler(last)
                }
                _ => callee.map_or(Handler::Here, |c| Handler::Named(self.expression(c))),
            };
        }
        Handler::Named(self.expression(node))
    }

    fn expression(&self, node: Node) -> Expression {
        let node = match node.child_by_field_name("function") {
            Some(function) if node.kind().contains("call") => function,
            _ => node,
        };
        self.named(node.byte_range(), line_of(node))
    }

    /// Returns the last name of a chain of names, and what is before it.
    fn named(&self, range: Range<usize>, line: u32) -> Expression {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let source = source
            .strip_suffix("::class")
            .or_else(|| source.strip_suffix(".class"))
            .unwrap_or(source);
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let from = source
            .rfind(|c: char| !is_part(c))
            .map_or(0, |index| index + source[index..].chars().next().map_or(1, char::len_utf8));
        let name = &source[from..];
        let start = range.start + from;
        let receiver = receiver_before(self.text, start..start + name.len());
        let receiver = if source[..from].contains('\\') { String::new() } else { receiver };
        Expression { receiver, name: name.to_string(), line }
    }
}

/// Returns the body of the class that a decorator is of, or the decorator.
fn class_body(decorator: Node) -> Node {
    around(decorator)
        .skip(1)
        .take(2)
        .find_map(|up| {
            let class = up.child_by_field_name("declaration").unwrap_or(up);
            class.child_by_field_name("body")
        })
        .unwrap_or(decorator)
}

/// Returns the outermost call of which a node is a part by calls and members only.
fn steps_around(node: Node) -> Node {
    let is_step = |n: &Node| {
        n.kind().contains("call")
            || n.kind().contains("field_expression")
            || n.kind().contains("member_expression")
    };
    around(node).skip(1).take_while(is_step).last().unwrap_or(node)
}

/// Returns the outermost expression that goes on from this one: `a.b().c()` from `a`.
fn chain(node: Node) -> Node {
    let mut last = node;
    for up in around(node).skip(1).take(4 * MAX_LEVELS) {
        let is_step = ["call", "member", "field", "attribute", "selector", "invocation"]
            .iter()
            .any(|k| up.kind().contains(k))
            && up.kind() != "argument_list";
        let starts_here = up.start_byte() == last.start_byte();
        if !is_step || !starts_here {
            break;
        }
        last = up;
    }
    last
}

fn around(node: Node) -> impl Iterator<Item = Node> {
    std::iter::successors(Some(node), Node::parent).take(MAX_LEVELS * 5)
}

fn is_function(kind: &str) -> bool {
    [
        "lambda", "closure", "arrow_function", "function_expression", "func_literal",
        "anonymous_function", "do_block",
    ]
    .iter()
    .any(|k| kind.contains(k))
        || kind == "function"
        || kind == "block"
}

fn is_call(node: Node) -> bool {
    let kind = node.kind();
    (kind.contains("call")
        || kind.contains("invocation")
        || kind.contains("object_creation")
        || kind == "new_expression"
        || kind == "command")
        && !kind.contains("callable")
}

fn is_string(node: Node) -> bool {
    node.kind().contains("string")
        && !node.kind().contains("interpolation")
        && !node.kind().contains("substitution")
}

/// Returns the text of a string or a symbol, with `{}` for each part that is computed; `None` if the
/// node is something else.
fn literal(node: Node, text: &str) -> Option<String> {
    literal_with(node, text, &mut |_| "{}".into())
}

/// Returns the text of a string or a symbol, with what `computed` says for each computed part.
fn literal_with(
    node: Node,
    text: &str,
    computed: &mut dyn FnMut(Node) -> String,
) -> Option<String> {
    let kind = node.kind();
    if kind.contains("symbol") || kind == "atom" {
        return Some(text.get(node.byte_range())?.trim_matches([':', '"', '\'']).to_string());
    }
    if !(kind.contains("string") || kind.contains("template_literal")) {
        return None;
    }
    let mut written = String::new();
    let mut copied_to = node.start_byte();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let kind = child.kind();
        let is_computed = kind.contains("interpolation")
            || kind.contains("substitution")
            || (kind.contains("variable") && child.is_named());
        if is_computed {
            written.push_str(text.get(copied_to..child.start_byte())?);
            written.push_str(&computed(child));
            copied_to = child.end_byte();
        }
    }
    written.push_str(text.get(copied_to..node.end_byte())?);
    unquoted(&written)
}

fn children(node: Node) -> Vec<Node> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// Whether a node of this kind is a value that cannot be called.
fn is_value(kind: &str) -> bool {
    const VALUES: &[&str] = &[
        "object", "number", "integer", "float", "integer_literal", "int_literal", "float_literal",
        "decimal_integer_literal", "true", "false", "boolean_literal", "null", "null_literal",
        "undefined", "nil", "none", "list", "dictionary", "composite_literal", "unary_expression",
        "initializer_expression",
    ];
    VALUES.contains(&kind)
}

/// Whether a node of this kind is a function, whose names mean nothing outside of it.
fn has_own_names(kind: &str) -> bool {
    ["function", "method", "lambda", "closure", "func_literal", "constructor"]
        .iter()
        .any(|k| kind.contains(k))
        && !["call", "type", "modifier", "invocation"].iter().any(|k| kind.contains(k))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Returns the places of a word in a text.
fn places_of<'s>(text: &'s str, word: &'s str) -> impl Iterator<Item = usize> + 's {
    text.match_indices(word).map(|(start, _)| start).filter(move |start| {
        !text[..*start].chars().next_back().is_some_and(is_name_char)
            && !text[*start + word.len()..].chars().next().is_some_and(is_name_char)
    })
}

/// The value that a text gives a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Text(String),
    /// Something else than a string, or several strings.
    Other,
    /// The text assigns nothing to the name.
    Missing,
}

/// Returns what a text assigns to a name, in any language.
#[must_use]
pub fn constant(text: &str, name: &str) -> Constant {
    let mut constant = Constant::Missing;
    for start in places_of(text, name) {
        let before = text[..start].trim_end();
        let line = text[start + name.len()..].lines().next().unwrap_or_default();
        let Some(assign) = line.find('=') else { continue };
        // Between the name and its value there is at most a type.
        let (kind, value) = (line[..assign].trim_end_matches(':'), &line[assign + 1..]);
        let is_type = kind.is_empty()
            || (kind.starts_with([':', ' '])
                && kind.chars().all(|c| is_name_char(c) || " :&'.<>[]*?".contains(c)));
        let is_added = matches!(kind.trim(), "+" | "." | "|" | "||" | "??");
        if !(is_type || is_added) || before.ends_with('.') || value.starts_with(['=', '>', '~']) {
            continue;
        }
        // The value of an option or of a parameter is not the one of a constant.
        let value = string_value(value).filter(|_| !is_added && !before.ends_with(['(', ',']));
        constant = match (value, constant) {
            (Some(value), Constant::Missing) => Constant::Text(value),
            (Some(value), Constant::Text(other)) if value == other => Constant::Text(other),
            _ => Constant::Other,
        };
    }
    constant
}

/// Returns the string that is all of the rest of a statement.
fn string_value(rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('r').filter(|r| r.starts_with(['"', '\''])).unwrap_or(rest);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (value, after) = rest[1..].split_once(quote)?;
    let after = after.trim_start();
    let is_all = after.is_empty()
        || [";", ",", ")", "}", "//", "/*", "#", "as const", "satisfies", ".freeze"]
            .iter()
            .any(|end| after.starts_with(end));
    let is_plain = !value.contains("${") && !value.contains("#{") && !value.contains('\\');
    (is_all && is_plain).then(|| value.to_string())
}

/// Removes the quotes of a string and the letters before them. `None` if there are no quotes.
fn unquoted(written: &str) -> Option<String> {
    let written = written.trim();
    if let Some(symbol) = written.strip_prefix(':') {
        return Some(symbol.trim_end_matches([',', ' ']).to_string());
    }
    let from = written.find(['"', '\'', '`'])?;
    if !written[..from].chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '@' | '$' | '#')) {
        return None;
    }
    let quote = &written[from..=from];
    let rest = written[from..].trim_start_matches(quote);
    let end = rest.find(quote).unwrap_or(rest.len());
    Some(rest[..end].to_string())
}

/// Returns the value of an option: `key=value`, `key: value`, `key => value`, `.Key(value)`.
fn option<'s>(text: &'s str, key: &str) -> Option<&'s str> {
    for (start, _) in text.match_indices(key) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        if text[..start].chars().next_back().is_some_and(is_part) {
            continue;
        }
        let after = text[start + key.len()..].trim_start_matches(['\'', '"']).trim_start();
        let value = ["=>", ":", "=", "("].iter().find_map(|mark| after.strip_prefix(mark));
        let Some(value) = value.filter(|v| !v.starts_with([':', '='])) else { continue };
        let value = value.trim_start();
        let end = match value.chars().next() {
            Some('[' | '(' | '{' | '%') => {
                value.find([']', ')', '}']).map_or(value.len(), |e| e + 1)
            }
            Some(quote @ ('"' | '\'' | '`')) => {
                value[1..].find(quote).map_or(value.len(), |e| e + 2)
            }
            _ => value.find([',', ')', '\n', '}']).unwrap_or(value.len()),
        };
        return Some(&value[..end]);
    }
    None
}

fn words(text: &str) -> Vec<String> {
    text.trim_start_matches("%i")
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(String::from)
        .collect()
}

/// Returns the HTTP methods that names contain: `GetMapping`, `HttpGet`, `methods=["GET"]`.
fn methods_in(text: &str) -> String {
    let mut methods: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut add = |word: &mut String| {
        let upper = word.to_ascii_uppercase();
        let name = if upper == "DEL" { "DELETE" } else { &*upper };
        if METHODS.contains(&name) && !methods.iter().any(|f| f == name) {
            methods.push(name.to_string());
        }
        word.clear();
    };
    let mut before_is_lower = false;
    for c in text.chars() {
        if !c.is_ascii_alphabetic() || (c.is_ascii_uppercase() && before_is_lower) {
            add(&mut word);
        }
        if c.is_ascii_alphabetic() {
            word.push(c);
        }
        before_is_lower = c.is_ascii_lowercase();
    }
    add(&mut word);
    methods.join("|")
}

/// Returns a path for a regular expression: each group is a parameter.
fn from_regex(pattern: &str) -> String {
    let (mut out, mut depth, mut group) = (String::new(), 0usize, String::new());
    for c in pattern.trim_start_matches('^').trim_end_matches('$').trim_end_matches("/?").chars() {
        match c {
            '(' => {
                if depth == 0 {
                    group.clear();
                } else {
                    group.push(c);
                }
                depth += 1;
            }
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let name =
                        group.strip_prefix("?P<").and_then(|g| g.split('>').next()).unwrap_or("");
                    out.extend(["{", name, "}"]);
                } else {
                    group.push(c);
                }
            }
            _ if depth > 0 => group.push(c),
            '\\' | '$' | '^' | '?' => {}
            _ => out.push(c),
        }
    }
    out
}

fn known(framework: &str) -> Option<&'static str> {
    crate::languages::FRAMEWORKS.iter().copied().find(|f| *f == framework)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_value_if_a_text_assigns_one_string_to_it() {
        for text in [
            "const X = \"/a\"",
            "X := '/a'",
            "X: str = '/a'  # why",
            "public static final String X = \"/a\";",
            "pub const X: &'static str = \"/a\";",
            "export const X = `/a` as const",
            "X = '/a'\nif (X == '/b' || X !== '/c') {}",
            "X = '/a'\nY = X + '/b'",
        ] {
            assert_eq!(constant(text, "X"), Constant::Text("/a".into()), "{text}");
        }
        for text in [
            "X = process.env.X || '/a'", "X = '/a' + y", "X = '/a'\nX = '/b'",
            "let X = '/a'\nX += '/b'", "f(X='/a')", "X = `/a/${y}`", "X = f'/a/{y}'",
        ] {
            assert_eq!(constant(text, "X"), Constant::Other, "{text}");
        }
        for text in ["", "MAX = '/a'", "XS = '/a'", "(X) => '/a'", "o.X = '/a'"] {
            assert_eq!(constant(text, "X"), Constant::Missing, "{text}");
        }
    }

    #[test]
    fn names_in_paths_get_their_values_and_others_are_unknown() {
        let route = |path: &str| RouteAt {
            framework: "spring",
            method: String::new(),
            path: path.into(),
            handler: Handler::Here,
            router: None,
            is_telling: false,
            line: 1,
            at: 0,
        };
        let mut file = RouteFile::default();
        for path in ["\u{1}0\u{1}/a", "/b/\u{1}1\u{1}", "\u{1}x\u{1}", "\u{1}7\u{1}", "/c"] {
            file.routes.push(route(path));
        }
        file.fill(&[Some("/api".into()), None]);
        let paths: Vec<&str> = file.routes.iter().map(|route| &*route.path).collect();
        assert_eq!(paths, ["/api/a", "/b/…", "…", "…", "/c"]);
    }
}
