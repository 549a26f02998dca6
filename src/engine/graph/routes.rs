//! Finds HTTP routes, their handlers, and what requests them. The files that may register routes are
//! found by their words and read when a question asks, so no index holds routes.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::changed::is_code;
use crate::engine::graph::query::{GraphAnswer, GraphNode, GraphRow, TargetRows, around};
use crate::engine::read::grep::own_matcher;
use crate::engine::{AskError, Call};
use crate::excerpt::NamesAround;
use crate::graph::{AskedMeaning, Node, Operation};
use crate::languages::{LanguageKind, all_route_rules, detect, is_test_file, route_rules};
use crate::routes::RoutePath;
use crate::syntax::{
    self, Constant, Expression, Handler, Mounted, RouteAt, RouteFile, RouterAt, UNKNOWN,
    UNKNOWN_METHOD,
};
use crate::text::{count, cut, directory};
use crate::work::WorkBudget;

/// Default of the number of results.
const LIMIT: usize = 30;
/// Of at most so many routes, the answer lists the requests.
const FEW: usize = 5;
/// Most mounts that lead to a route.
const MAX_MOUNTS: usize = 8;
/// Most places at which one router is mounted.
const MAX_BASES: usize = 8;
/// Most files that are parsed for routes, and for requests.
const MAX_FILES: usize = 2_000;
/// Most bytes of a string that is a path, and most such strings in a file.
const MAX_STRING: usize = 300;
const MAX_STRINGS: usize = 5_000;
/// A name in a path, and a router of another file, are what the graph finds with this confidence.
const SURE_NAME: f32 = 0.8;
/// A request is an answer from this confidence on.
const LEAST_CONFIDENCE: f64 = 0.5;

/// Another project that may request the routes.
pub struct Client {
    /// How the user wrote its directory.
    pub name: String,
    pub engine: Engine,
}

/// A route of the project.
#[derive(Debug, Clone)]
struct Route {
    framework: &'static str,
    method: String,
    path: RoutePath,
    handler: Option<(Node, f32)>,
    /// Whether the text names a handler.
    is_named: bool,
    file: String,
    line: u32,
}

/// A call that requests a route.
#[derive(Debug, Clone)]
struct Caller {
    /// The place of the route.
    route: usize,
    row: GraphRow,
}

/// The routes of a project, and what was read to find them.
struct RouteTable {
    routes: Vec<Route>,
    /// The strings of each file that are paths of routes.
    strings: HashMap<String, HashSet<usize>>,
    is_cut: bool,
}

impl Engine {
    /// Finds the routes that match the target, their handlers and what requests them, also in other
    /// projects.
    ///
    /// # Errors
    /// When no route matches, or the graph or the index cannot be read.
    pub fn routes(
        &self,
        of: &TargetRows,
        clients: &[Client],
        call: &Call,
    ) -> Result<GraphAnswer, AskError> {
        let mut state = self.state(call)?;
        let work = call.work();
        let table = self.route_table(call, &work)?;
        call.check()?;
        if table.routes.is_empty() {
            return Err(AskError::NotFound("no file of this project registers an HTTP route in a way that Cortex knows (axum, actix, rocket, flask, django, fastapi, express, nest, spring, rails, laravel, gin, net/http, aspnet, phoenix, ktor, jax-rs and their like)".into()));
        }
        let wanted = wanted(&table.routes, of.target.trim());
        if wanted.is_empty() {
            return Err(AskError::NotFound(format!(
                "none of the {} matches `{}`: give a path (/users/{{id}}), a method and a path (GET /users), a handler or a file; `.` lists all",
                count(table.routes.len(), "route"),
                cut(&of.target, 100)
            )));
        }
        let mut callers =
            self.callers_of_routes(&table.routes, &table.strings, &wanted, "", call, &work)?;
        let mut is_cut = table.is_cut;
        for client in clients {
            let strings = client.engine.route_strings(call, &work)?;
            callers.extend(
                client.engine.callers_of_routes(
                    &table.routes, &strings, &wanted, &client.name, call, &work,
                )?,
            );
        }
        is_cut |= work.is_spent();
        if is_cut {
            state.warnings.push(
                "the search for routes was cut: there may be more routes and requests".into(),
            );
        }
        let limit = of.limit.unwrap_or(LIMIT);
        let mut of_route: BTreeMap<usize, Vec<GraphRow>> = BTreeMap::new();
        for caller in callers {
            of_route.entry(caller.route).or_default().push(caller.row);
        }
        let is_few = wanted.len() <= FEW;
        let (mut results, mut candidates, mut total) = (Vec::new(), Vec::new(), 0);
        for n in &wanted {
            let route = &table.routes[*n];
            let mut found = of_route.remove(n).unwrap_or_default();
            found.sort_by(|a, b| {
                let is_test = |row: &GraphRow| row.node.kind == "test";
                is_test(a).cmp(&is_test(b)).then(b.confidence.total_cmp(&a.confidence))
            });
            let (sure, unsure): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|row| row.confidence >= LEAST_CONFIDENCE);
            let mut row = self.route_row(route, of.context);
            if !is_few && !sure.is_empty() {
                let n: usize = sure.iter().map(|row| row.sites.len()).sum();
                row.reason = row.reason.map(|reason| format!("{reason}, {}", count(n, "request")));
            }
            // The action of a resource that its class may not have.
            if row.confidence < LEAST_CONFIDENCE {
                candidates.push(row);
                continue;
            }
            results.push(row);
            total += 1;
            if is_few {
                total += sure.len();
                results.extend(sure);
                candidates.extend(unsure);
            }
        }
        let truncated = results.len() > limit;
        results.truncate(limit);
        candidates.truncate(limit);
        Ok(GraphAnswer {
            results,
            candidates,
            total,
            truncated,
            ..GraphAnswer::new(Operation::Routes, state)
        })
    }

    fn route_row(&self, route: &Route, context: usize) -> GraphRow {
        let mut partial = if route.path.is_unknown() {
            ", path unknown"
        } else if route.path.is_partial() {
            ", beginning unknown"
        } else {
            ""
        }
        .to_string();
        if route.method == UNKNOWN_METHOD {
            partial.push_str(", method unknown");
        }
        if route.is_named && route.handler.is_none() {
            partial.push_str(", handler unknown");
        }
        let method = if route.method.is_empty() { "ANY" } else { &route.method };
        let (node, confidence) = match &route.handler {
            Some((node, confidence)) => (GraphNode::new(node), f64::from(*confidence)),
            None => (GraphNode::at(&route.file, route.line, "", "route"), 1.0),
        };
        let around = around(&self.project, &node.path, node.line, context);
        GraphRow {
            node,
            sites: vec![route.line],
            confidence: (confidence * 100.0).round() / 100.0,
            via: route.file.clone(),
            reason: Some(format!("{method} {} ({}{partial})", route.path, route.framework)),
            context_start_line: around.as_ref().map(|(first, _)| *first),
            context: around.map(|(_, lines)| lines),
            used_in: route.file.clone(),
            ..GraphRow::default()
        }
    }

    /// Returns the files of the project that may register routes, parsed.
    fn route_files(
        &self,
        call: &Call,
        work: &WorkBudget,
    ) -> Result<(Vec<(String, RouteFile)>, bool), AskError> {
        let View { code, .. } = self.view(call)?;
        let written: Vec<(&str, &str)> =
            code.corpus.chunks().written_in().filter(|(path, _)| !is_test_file(path)).collect();
        let mut marked: Vec<&str> = Vec::new();
        let mut is_cut = false;
        for rules in all_route_rules() {
            let files: Vec<&str> = written
                .iter()
                .filter(|(_, language)| rules.is_of(language))
                .map(|(path, _)| *path)
                .collect();
            if files.is_empty() {
                continue;
            }
            let matcher = own_matcher(rules.markers.join("|"), false)?;
            let found = self.lines_in(&files, &matcher, work);
            is_cut |= found.unread.n() > 0;
            marked.extend(found.files.iter().map(|(at, _)| files[*at]));
        }
        is_cut |= marked.len() > MAX_FILES;
        let read = |path: &&str| {
            let path = *path;
            let text = work.goes_on().then(|| self.project.read_text(path).ok()).flatten()?;
            let language = detect(path, &text);
            let LanguageKind::Code(grammar) = &language.kind else { return None };
            let routes = syntax::routes(grammar, route_rules(language.name)?, &text)?;
            Some((path.to_string(), routes))
        };
        let mut parsed: Vec<(String, RouteFile)> =
            marked.par_iter().take(MAX_FILES).filter_map(read).collect();
        is_cut |= parsed.iter().any(|(_, file)| file.is_cut);
        parsed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((parsed, is_cut))
    }

    fn route_strings(
        &self,
        call: &Call,
        work: &WorkBudget,
    ) -> Result<HashMap<String, HashSet<usize>>, AskError> {
        let (files, _) = self.route_files(call, work)?;
        Ok(files.into_iter().map(|(path, file)| (path, file.strings)).collect())
    }

    fn route_table(&self, call: &Call, work: &WorkBudget) -> Result<RouteTable, AskError> {
        let (mut parsed, is_cut) = self.route_files(call, work)?;
        self.fill_names(&mut parsed, call, work)?;
        let foreign = foreign_routers(&parsed);
        let mut asked = Vec::new();
        for (path, file) in &parsed {
            asked.extend(file.mounts.iter().map(|mount| mounted(path, &mount.target)));
        }
        let n_mounts = asked.len();
        for (path, file) in &parsed {
            asked.extend(file.routes.iter().filter_map(|route| handler(path, route)));
        }
        let n_handlers = asked.len() - n_mounts;
        asked.extend(foreign.iter().map(|(f, _, name)| named(&parsed[*f].0, name)));
        let (meant, _) = self.ask_graph(call, |graph| graph.meant(&asked, work))?;
        let mut handlers = meant[n_mounts..n_mounts + n_handlers].iter();
        let joined =
            Joined::new(&parsed, &meant[..n_mounts], &foreign, &meant[n_mounts + n_handlers..]);
        let global = |framework: &str| {
            let all = parsed.iter().flat_map(|(_, file)| &file.globals);
            let of: HashSet<&str> =
                all.filter(|(of, _)| *of == framework).map(|(_, prefix)| &**prefix).collect();
            // Nobody knows which of several applications has the route.
            if of.len() > 1 { Some(UNKNOWN) } else { of.into_iter().next() }
        };
        let mut routes = Vec::new();
        for (f, (path, file)) in parsed.iter().enumerate() {
            for route in &file.routes {
                let meaning =
                    handler(path, route).and_then(|_| handlers.next()).and_then(|all| best(all));
                let meaning = meaning.filter(|(node, _)| node.line > 0);
                if meaning.as_ref().is_some_and(|(node, _)| self.is_text_constant(node)) {
                    continue;
                }
                let router = route.router.as_deref();
                let framework = match router.map(|router| joined.root(f, route.at, router)) {
                    Some(Some(root)) => root.framework.unwrap_or(route.framework),
                    // A call of something that nobody knows to be a router is not a route.
                    Some(None) if !route.is_telling || !route.path.starts_with('/') => continue,
                    _ => route.framework,
                };
                let bases = joined.bases(f, route.at, router, None, MAX_MOUNTS, work);
                for base in bases {
                    let parts = global(route.framework).into_iter().chain(base.iter().copied());
                    let parts = parts.chain([&*route.path]);
                    routes.push(Route {
                        framework,
                        method: route.method.clone(),
                        path: RoutePath::join(parts),
                        handler: meaning.clone(),
                        is_named: route.handler != Handler::Here,
                        file: path.clone(),
                        line: route.line,
                    });
                }
            }
        }
        let strings = parsed.into_iter().map(|(path, file)| (path, file.strings)).collect();
        Ok(RouteTable { routes, strings, is_cut })
    }

    /// Writes the constants of the project into the paths that name them.
    fn fill_names(
        &self,
        parsed: &mut [(String, RouteFile)],
        call: &Call,
        work: &WorkBudget,
    ) -> Result<(), AskError> {
        let names = |(path, file): &(String, RouteFile)| -> Vec<AskedMeaning> {
            file.names.iter().map(|name| named(path, name)).collect()
        };
        let asked: Vec<AskedMeaning> = parsed.iter().flat_map(names).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let (meant, _) = self.ask_graph(call, |graph| graph.meant(&asked, work))?;
        let mut meant = meant.iter();
        for (_, file) in parsed {
            let value = |nodes: &Vec<(Node, f32)>| match nodes.first() {
                Some((node, sure)) if *sure >= SURE_NAME && work.goes_on() => self.constant(node),
                _ => None,
            };
            let values: Vec<Option<String>> =
                meant.by_ref().take(file.names.len()).map(value).collect();
            file.fill(&values);
        }
        Ok(())
    }

    /// Returns the text that a constant of the project holds.
    fn constant(&self, node: &Node) -> Option<String> {
        let text = self.project.read_text(&node.file).ok()?;
        let first = usize::try_from(node.line).ok()?.checked_sub(1)?;
        let n = usize::try_from(node.end_line).ok()?.saturating_sub(first);
        let lines: Vec<&str> = text.lines().skip(first).take(n).collect();
        match syntax::constant(&lines.join("\n"), &node.name) {
            Constant::Text(value) => Some(value),
            Constant::Other | Constant::Missing => None,
        }
    }

    /// Whether a symbol is a constant that holds a text, so that nothing can call it.
    fn is_text_constant(&self, node: &Node) -> bool {
        matches!(&*node.kind, "constant" | "field") && self.constant(node).is_some()
    }

    /// Finds the calls that request the routes in the files of this project.
    fn callers_of_routes(
        &self,
        routes: &[Route],
        strings_of_routes: &HashMap<String, HashSet<usize>>,
        wanted: &[usize],
        project: &str,
        call: &Call,
        work: &WorkBudget,
    ) -> Result<Vec<Caller>, AskError> {
        let is_wanted: HashSet<usize> = wanted.iter().copied().collect();
        // Every request of a route has its longest name.
        let names: HashSet<&str> =
            wanted.iter().filter_map(|n| routes[*n].path.longest_name()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let View { code, .. } = self.view(call)?;
        let files: Vec<&str> = code.corpus.chunks().files().filter(|path| is_code(path)).collect();
        let pattern: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
        let matcher = own_matcher(format!("[\"'`/](?:{})", pattern.join("|")), false)?;
        let found = self.lines_in(&files, &matcher, work);
        let look = |(at, _): &(usize, usize)| -> Vec<Caller> {
            let path = files[*at];
            if !work.goes_on() {
                return Vec::new();
            }
            let Ok(text) = self.project.read_text(path) else { return Vec::new() };
            let LanguageKind::Code(grammar) = &detect(path, &text).kind else { return Vec::new() };
            let mut places = strings(&text, &names);
            if let Some(of_routes) = strings_of_routes.get(path) {
                places.retain(|at| !of_routes.contains(at));
            }
            if places.is_empty() {
                return Vec::new();
            }
            let requests = syntax::requests(grammar, &text, &places).into_iter().filter_map(|of| {
                let asked = RoutePath::of_request(&of.path)?;
                let mut found = reached(routes, &asked, &of.method);
                found.retain(|(route, _)| is_wanted.contains(route));
                (!found.is_empty()).then_some((of, asked, found))
            });
            let requests: Vec<_> = requests.collect();
            if requests.is_empty() {
                return Vec::new();
            }
            let chunks = code.corpus.chunks().read_file(path);
            let mut around = NamesAround::new(&chunks);
            let mut out = Vec::new();
            for (request, asked, found) in requests {
                let symbol = around.at(request.line).unwrap_or_default();
                // Tests may be a module of the file.
                let is_test =
                    is_test_file(path) || symbol.split([':', '.']).any(|of| of == "tests");
                let what = if is_test { "test" } else { "client" };
                let method = if request.method.is_empty() { "ANY" } else { &request.method };
                for (route, sure) in found {
                    let shown = if project.is_empty() {
                        path.to_string()
                    } else {
                        format!("{}/{path}", project.trim_end_matches('/'))
                    };
                    out.push(Caller {
                        route,
                        row: GraphRow {
                            node: GraphNode::at(&shown, request.line, &symbol, what),
                            sites: vec![request.line],
                            confidence: (sure * 100.0).round() / 100.0,
                            depth: 1,
                            via: routes[route].path.to_string(),
                            reason: Some(format!("requests {method} {asked} ({what})")),
                            test: is_test,
                            used_in: shown,
                            ..GraphRow::default()
                        },
                    });
                }
            }
            out
        };
        let mut callers: Vec<Caller> =
            found.files.par_iter().take(MAX_FILES).flat_map_iter(look).collect();
        if found.files.len() > MAX_FILES {
            work.spend();
        }
        let key =
            |c: &Caller| (c.row.node.kind == "test", c.row.node.path.clone(), c.row.node.line);
        callers.sort_by(|a, b| {
            b.row.confidence.total_cmp(&a.row.confidence).then_with(|| key(a).cmp(&key(b)))
        });
        // One row for the same requests of one function or file.
        callers.dedup_by(|next, row| {
            let is_same = next.route == row.route
                && next.row.node.path == row.row.node.path
                && next.row.node.symbol == row.row.node.symbol
                && next.row.reason == row.row.reason;
            if is_same {
                row.row.sites.append(&mut next.row.sites);
            }
            is_same
        });
        Ok(callers)
    }
}

/// Returns the routes that a request reaches most likely.
fn reached(routes: &[Route], asked: &RoutePath, method: &str) -> Vec<(usize, f64)> {
    let mut best: Vec<(usize, f64, usize)> = Vec::new();
    for (n, route) in routes.iter().enumerate() {
        let is_known =
            !method.is_empty() && !route.method.is_empty() && route.method != UNKNOWN_METHOD;
        if is_known && !route.method.split('|').any(|m| method.split('|').any(|asked| m == asked)) {
            continue;
        }
        let Some((sure, n_equal)) = route.path.matches(asked, is_known) else { continue };
        match best.first().map(|b| b.2) {
            Some(equal) if equal > n_equal => {}
            Some(equal) if equal == n_equal => best.push((n, sure, n_equal)),
            _ => best = vec![(n, sure, n_equal)],
        }
    }
    let top = best.iter().map(|b| b.1).fold(0.0, f64::max);
    best.retain(|b| b.1 >= top);
    best.truncate(MAX_BASES);
    best.into_iter().map(|(n, sure, _)| (n, sure)).collect()
}

/// Returns the first bytes of the strings in a text that may be paths with one of the names.
fn strings(text: &str, names: &HashSet<&str>) -> Vec<usize> {
    let has_name = |from: usize, to: usize| {
        text.get(from..to).is_some_and(|path| {
            path.split(['/', '?', '#', '"', '\'', '`']).any(|part| names.contains(part))
        })
    };
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bytes = line.as_bytes();
        for (at, quote) in
            bytes.iter().enumerate().filter(|(_, b)| matches!(b, b'"' | b'\'' | b'`'))
        {
            let rest = &bytes[at + 1..bytes.len().min(at + 1 + MAX_STRING)];
            let Some(end) = rest.iter().position(|b| b == quote) else { continue };
            let from = start + at + 1;
            if rest[..end].contains(&b'/') && out.len() < MAX_STRINGS && has_name(from, from + end)
            {
                out.push(start + at);
            }
        }
        start += line.len();
    }
    out
}

fn named(file: &str, name: &Expression) -> AskedMeaning {
    AskedMeaning::Name {
        file: file.into(),
        line: name.line,
        receiver: name.receiver.clone(),
        name: name.name.clone(),
    }
}

fn mounted(file: &str, target: &Mounted) -> AskedMeaning {
    match target {
        Mounted::Name(name) => named(file, name),
        // In PHP, a module is the path of a file.
        Mounted::Module(path, _) if has_extension(path, "php") => {
            AskedMeaning::Target(path.trim_start_matches(['.', '/']).to_string())
        }
        Mounted::Module(module, _) => {
            AskedMeaning::Module { file: file.into(), module: module.clone() }
        }
    }
}

fn has_extension(path: &str, wanted: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

/// Returns the routers that a file uses and another one defines, each with the number of its file.
fn foreign_routers(files: &[(String, RouteFile)]) -> Vec<(usize, &str, Expression)> {
    let mut out = Vec::new();
    let mut seen: HashSet<(usize, &str)> = HashSet::new();
    for (f, (_, file)) in files.iter().enumerate() {
        let routes = file.routes.iter().filter(|r| r.path.starts_with('/') || r.is_telling);
        let routes = routes.filter_map(|r| Some((r.at, r.router.as_deref()?)));
        let mounts = file.mounts.iter().filter_map(|m| Some((m.at, m.router.as_deref()?)));
        let bases = file.routers.iter().filter_map(|r| Some((r.range.start, r.base.as_deref()?)));
        for (at, router) in routes.chain(mounts).chain(bases) {
            if defined(file, at, Some(router), None).is_some() || !seen.insert((f, router)) {
                continue;
            }
            let (receiver, name) = router.rsplit_once(['.', ':']).unwrap_or(("", router));
            let receiver = receiver.trim_end_matches(':').to_string();
            let line = file.line_at(at);
            out.push((f, router, Expression { receiver, name: name.to_string(), line }));
        }
    }
    out
}

/// Returns what to ask the graph about the handler of a route; `None` if it has no name.
fn handler(file: &str, route: &RouteAt) -> Option<AskedMeaning> {
    Some(match &route.handler {
        Handler::Here => return None,
        Handler::Line(line) => AskedMeaning::Target(format!("{file}:{line}")),
        Handler::Named(name) => named(file, name),
        Handler::Member(class, member) => AskedMeaning::Member {
            file: file.into(),
            line: class.line,
            receiver: class.receiver.clone(),
            class: class.name.clone(),
            member: member.clone(),
        },
        Handler::Action { controller, action } => {
            AskedMeaning::Target(format!("controllers/{controller}_controller.rb#{action}"))
        }
    })
}

/// Returns the likeliest meaning, the first of equal ones.
fn best(all: &[(Node, f32)]) -> Option<(Node, f32)> {
    all.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).cloned()
}

/// Returns the routes that a text asks for, in their order.
fn wanted(routes: &[Route], text: &str) -> Vec<usize> {
    let all = |is: &dyn Fn(&Route) -> bool| -> Vec<usize> {
        (0..routes.len()).filter(|n| is(&routes[*n])).collect()
    };
    if matches!(text, "." | "") {
        return all(&|_| true);
    }
    let (method, text) = match text.split_once(' ') {
        Some((method, rest)) if method.chars().all(|c| c.is_ascii_alphabetic()) => {
            (method.to_ascii_uppercase(), rest.trim())
        }
        _ => (String::new(), text),
    };
    let has_method = |r: &Route| {
        method.is_empty()
            || method == "ANY"
            || r.method.is_empty()
            || r.method == UNKNOWN_METHOD
            || r.method.split('|').any(|m| m == method)
    };
    let path = RoutePath::join([text]);
    let folder = format!("{}/", text.trim_end_matches('/'));
    let is_in = |file: &str| file == text || file.starts_with(&folder);
    let in_file = all(&|r| is_in(&r.file) || r.handler.as_ref().is_some_and(|h| is_in(&h.0.file)));
    let name = text.rsplit(['.', ':', '#']).next().unwrap_or(text);
    let is_handler = |r: &Route| {
        r.handler.as_ref().is_some_and(|h| {
            let is_member = || {
                let rest = h.0.symbol.strip_prefix(text);
                rest.is_some_and(|rest| rest.starts_with([':', '.', '#']))
            };
            h.0.symbol == text
                || (h.0.name == name && (name == text || h.0.symbol.ends_with(text)))
                || is_member()
        })
    };
    let lower = text.to_lowercase();
    let has_text = |r: &Route| r.path.to_string().to_lowercase().contains(&lower);
    let steps: [&dyn Fn(&Route) -> bool; 5] = [
        &|r| text.starts_with('/') && r.path.is(&path),
        &|r| text.starts_with('/') && r.path.matches(&path, true).is_some_and(|m| m.1 > 0),
        &is_handler,
        &|r| r.path.contains(&path),
        &has_text,
    ];
    if !in_file.is_empty() && !text.starts_with('/') {
        return in_file;
    }
    steps
        .iter()
        .map(|is| all(&|r| has_method(r) && is(r)))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The prefixes of routes, joined over scopes, routers and files.
struct Joined<'a> {
    files: &'a [(String, RouteFile)],
    /// The mounts of each file: file and place of the mount, and what it means.
    of_file: HashMap<&'a str, Vec<(usize, usize, Target<'a>)>>,
    /// What the routers of other files mean, by the number of the file that uses one and its name
    /// there: the number of its own file, and its definition.
    foreign: HashMap<(usize, &'a str), (usize, &'a RouterAt)>,
    /// The entries of all files that decide on scopes.
    switches: HashSet<&'static str>,
}

/// What a mount adds.
#[derive(Debug, Clone, Copy)]
enum Target<'a> {
    Router(&'a str),
    Lines(u32, u32),
    File,
}

impl<'a> Joined<'a> {
    fn new(
        files: &'a [(String, RouteFile)],
        meant: &'a [Vec<(Node, f32)>],
        foreign: &[(usize, &'a str, Expression)],
        meant_foreign: &[Vec<(Node, f32)>],
    ) -> Self {
        let by_path: HashMap<&str, usize> =
            files.iter().enumerate().map(|(f, (path, _))| (&**path, f)).collect();
        let router_in = |f: usize, name: &str| {
            let found = files[f].1.routers.iter().find(|r| r.name == name);
            found.map(|router| (f, router))
        };
        let mut of_name: HashMap<(usize, &'a str), (usize, &'a RouterAt)> = HashMap::new();
        for ((f, written, name), nodes) in foreign.iter().zip(meant_foreign) {
            let sure = nodes.iter().filter(|(_, sure)| *sure >= SURE_NAME);
            let meant = sure.map(|(node, _)| node).find_map(|node| {
                let file = *by_path.get(&*node.file)?;
                // A module as a whole exports the router as its only value.
                router_in(file, &node.name).or_else(|| router_in(file, &name.name))
            });
            // A package of Go shares the fields of its types and its variables.
            let is_go = has_extension(&files[*f].0, "go");
            let found = meant.or_else(|| {
                let own = Some(directory(&files[*f].0)).filter(|_| is_go)?;
                let is_near = |(path, _): &(String, RouteFile)| {
                    directory(path) == own && has_extension(path, "go")
                };
                let mut near = (0..files.len()).filter(|g| is_near(&files[*g]));
                near.find_map(|g| router_in(g, &name.name))
            });
            if let Some(found) = found {
                of_name.insert((*f, *written), found);
            }
        }
        let mut of_file: HashMap<&str, Vec<(usize, usize, Target)>> = HashMap::new();
        let mut n = 0;
        for (f, (path, file)) in files.iter().enumerate() {
            for (m, mount) in file.mounts.iter().enumerate() {
                let nodes = &meant[n];
                n += 1;
                let name = match &mount.target {
                    Mounted::Name(name) => Some(name),
                    Mounted::Module(..) => None,
                };
                // A router of this file goes before what the graph knows.
                if let Some(name) = name.filter(|n| n.receiver.is_empty())
                    && let Some(local) = file.routers.iter().find(|r| r.name == name.name)
                {
                    of_file.entry(path).or_default().push((f, m, Target::Router(&local.name)));
                    continue;
                }
                for (node, _) in nodes {
                    let routers = files
                        .iter()
                        .find(|(path, _)| *path == node.file)
                        .map(|(_, file)| &file.routers);
                    let is_router = |wanted: &str| {
                        routers.and_then(|all| all.iter().find(|r| r.name == wanted))
                    };
                    let target = match is_router(&node.name).or_else(|| {
                        name.and_then(|n| is_router(&n.name)).filter(|_| node.line == 0)
                    }) {
                        Some(router) => Target::Router(&router.name),
                        // Attributes of a function are before its line.
                        None if node.line > 0 => {
                            Target::Lines(node.start_line.min(node.line), node.end_line)
                        }
                        None => Target::File,
                    };
                    of_file.entry(&node.file).or_default().push((f, m, target));
                }
            }
        }
        let switches = files.iter().flat_map(|(_, file)| file.globals.iter().map(|(of, _)| *of));
        Self { files, of_file, foreign: of_name, switches: switches.collect() }
    }

    /// Returns the definition of a router: its file and what it says there.
    fn definition(
        &self,
        f: usize,
        at: usize,
        router: Option<&str>,
        not: Option<&RouterAt>,
    ) -> Option<(usize, &'a RouterAt)> {
        let here = defined(&self.files[f].1, at, router, not).map(|found| (f, found));
        here.or_else(|| self.foreign.get(&(f, router?)).copied())
    }

    /// Returns the router of which this one is a part; `None` if the code does not show that it is one.
    fn root(&self, f: usize, at: usize, router: &str) -> Option<&'a RouterAt> {
        let (mut f, mut found) = self.definition(f, at, Some(router), None)?;
        for _ in 0..MAX_MOUNTS {
            let Some(base) = found.base.as_deref() else { return Some(found) };
            (f, found) = self.definition(f, found.range.start, Some(base), Some(found))?;
        }
        None
    }

    /// Returns the prefixes of a place with a router, each as its parts: one for each place at which it
    /// is mounted. `not` is the router whose base is looked for.
    fn bases(
        &self,
        f: usize,
        at: usize,
        router: Option<&str>,
        not: Option<&RouterAt>,
        levels: usize,
        work: &WorkBudget,
    ) -> Vec<Vec<&'a str>> {
        let Some(levels) = levels.checked_sub(1).filter(|_| work.goes_on()) else {
            return vec![vec![UNKNOWN]];
        };
        let file = &self.files[f].1;
        let definition = self.definition(f, at, router, not);
        let is_here = definition.is_some_and(|(of, _)| of == f);
        let own: Vec<&str> = file
            .scopes
            .iter()
            .filter(|s| {
                let has_router = |(_, d): (usize, &RouterAt)| s.range.contains(&d.range.start);
                s.range.contains(&at) && !(is_here && definition.is_some_and(has_router))
            })
            .filter(|s| s.only_with.is_none_or(|with| self.switches.contains(with)))
            .map(|s| &*s.prefix)
            .collect();
        // The file and the place at which the router itself is mounted.
        let (home, place) = match definition {
            Some((of, d)) if of != f => (of, d.range.start),
            _ => (f, at),
        };
        let mounts = self.of_file.get(&*self.files[home].0).map_or(&[][..], Vec::as_slice);
        // Each with whether it takes the place of the prefix of the router.
        let from = |is: &dyn Fn(&Target) -> bool| -> Vec<(Vec<&'a str>, bool)> {
            let found = mounts.iter().filter(|(_, _, target)| is(target));
            let mut all = Vec::new();
            for (mf, m, _) in found.take(MAX_BASES) {
                let mount = &self.files[*mf].1.mounts[*m];
                if *mf == f && mount.at == at {
                    continue;
                }
                let router = mount.router.as_deref();
                for mut base in self.bases(*mf, mount.at, router, None, levels, work) {
                    base.push(&mount.prefix);
                    all.push((base, mount.replaces));
                }
            }
            all.truncate(MAX_BASES);
            all
        };
        let define = definition.map(|(_, define)| define);
        let mut above = match define.map(|d| (d, d.base.as_deref())) {
            Some((define, Some(base))) => self
                .bases(home, define.range.start, Some(base), Some(define), levels, work)
                .into_iter()
                .map(|base| (base, false))
                .collect(),
            Some((define, None)) => {
                from(&|target| matches!(target, Target::Router(name) if *name == define.name))
            }
            None => Vec::new(),
        };
        if above.is_empty() {
            let line = self.files[home].1.line_at(place);
            above = from(
                &|target| matches!(target, Target::Lines(first, last) if (*first..=*last).contains(&line)),
            );
        }
        if above.is_empty() {
            above = from(&|target| matches!(target, Target::File));
        }
        if above.is_empty() {
            let is_unknown = define.map_or(router.is_some(), |d| d.is_part);
            above.push((if is_unknown { vec![UNKNOWN] } else { Vec::new() }, false));
        }
        let mut bases: Vec<Vec<&str>> = Vec::new();
        for (mut base, replaces) in above {
            base.extend(define.filter(|_| !replaces).map(|d| &*d.prefix));
            base.extend(&own);
            bases.push(base);
        }
        bases.sort();
        bases.dedup();
        bases
    }
}

/// Returns the definition of the router of a place: of those that its name may mean there, the one
/// of the innermost function, and of these the last one before the place. A router is never the one
/// that it is a part of (`not`).
fn defined<'a>(
    file: &'a RouteFile,
    at: usize,
    router: Option<&str>,
    not: Option<&RouterAt>,
) -> Option<&'a RouterAt> {
    let all = || file.routers.iter().filter(move |r| not.is_none_or(|not| !std::ptr::eq(*r, not)));
    let Some(router) = router else {
        return all().filter(|r| r.range.contains(&at)).min_by_key(|r| r.range.len());
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let whole = router.trim_start_matches(['$', '&', '*']);
    let first = whole.split(|c: char| !is_part(c)).next().unwrap_or(whole);
    // `s.router` is a field; `router` is what a chain of calls begins with.
    let last = whole.rsplit(|c: char| !is_part(c)).next().unwrap_or(whole);
    let named = |name: &str| {
        let visible = || all().filter(move |r| r.name == name && r.visible.contains(&at));
        let innermost = visible().map(|r| r.visible.len()).min()?;
        let near = || visible().filter(move |r| r.visible.len() == innermost);
        near()
            .filter(|r| r.range.start <= at)
            .max_by_key(|r| r.range.start)
            .or_else(|| near().next())
    };
    named(whole).or_else(|| named(last)).or_else(|| named(first).filter(|_| whole.contains('(')))
}
