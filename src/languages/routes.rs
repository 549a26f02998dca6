//! How frameworks register HTTP routes: a query for each language (`routes.scm`), whose captures
//! `python/routes.scm` explains, and the words by which a file is known to register any.

use std::sync::OnceLock;

use super::Grammar;

/// The routes of a language.
pub struct RouteRules {
    /// The languages that the rules are for.
    languages: &'static [&'static str],
    /// Regular expressions of which one matches in a file that registers routes.
    pub markers: &'static [&'static str],
    sources: &'static [&'static str],
    queries: [OnceLock<tree_sitter::Query>; 2],
}

const fn rules(
    languages: &'static [&'static str],
    markers: &'static [&'static str],
    sources: &'static [&'static str],
) -> RouteRules {
    RouteRules { languages, markers, sources, queries: [const { OnceLock::new() }; 2] }
}

static RULES: [RouteRules; 11] = [
    rules(
        &["python"],
        &[
            "[fF]lask",
            "Blueprint",
            "APIRouter",
            "FastAPI",
            "starlette",
            "urlpatterns",
            "@.*\\.route\\(",
            "@.*\\.(get|post|put|patch|delete)\\(",
        ],
        &[include_str!("python/routes.scm")],
    ),
    rules(
        &["rust"],
        &["axum", "actix_web", "rocket", "ServiceConfig"],
        &[include_str!("rust/routes.scm")],
    ),
    rules(
        &["javascript"],
        &["express", "fastify", "hono", "Hono", "koa", "Router"],
        &[include_str!("ecmascript/routes.scm")],
    ),
    rules(
        &["typescript", "tsx"],
        &["@nestjs", "express", "fastify", "hono", "Hono", "koa", "Router"],
        &[include_str!("ecmascript/routes.scm"), include_str!("typescript/routes.scm")],
    ),
    rules(&["java"], &["org.springframework.web", "ws\\.rs"], &[include_str!("java/routes.scm")]),
    rules(
        &["go"],
        &["gin-gonic", "labstack/echo", "go-chi", "gorilla/mux", "net/http", "gofiber"],
        &[include_str!("go/routes.scm")],
    ),
    rules(
        &["ruby"],
        &["routes.draw", "[sS]inatra", "^\\s*(resources?|namespace) :"],
        &[include_str!("ruby/routes.scm")],
    ),
    rules(&["php"], &["Route::", "withRouting", "Slim"], &[include_str!("php/routes.scm")]),
    rules(
        &["csharp"],
        &["AspNetCore", "Http(Get|Post|Put|Patch|Delete)", "Map(Get|Post|Put|Patch|Delete|Group)"],
        &[include_str!("csharp/routes.scm")],
    ),
    rules(
        &["elixir"],
        &["use .*, :router", "Phoenix\\.Router"],
        &[include_str!("elixir/routes.scm")],
    ),
    rules(
        &["kotlin"],
        &["io\\.ktor", "\\brouting \\{", "fun Route\\."],
        &[include_str!("kotlin/routes.scm")],
    ),
];

/// The names of frameworks, as the queries set them.
pub const FRAMEWORKS: &[&str] = &[
    "actix", "aspnet", "axum", "django", "express", "fastapi", "flask", "gin", "jax-rs", "ktor",
    "laravel", "nest", "nest-versions", "net/http", "phoenix", "rails", "rocket", "sinatra",
    "spring", "starlette",
];

/// Frameworks that register routes as another one does, with the import by which a file shows it.
const ALIKE: &[(&str, &str, &str)] = &[
    ("actix", "rocket", "rocket"),
    ("express", "fastify", "fastify"),
    ("express", "hono", "hono"),
    ("express", "koa", "koa"),
    ("gin", "labstack/echo", "echo"),
    ("gin", "go-chi/chi", "chi"),
    ("gin", "gofiber/fiber", "fiber"),
];

/// Returns the name of the framework that a text registers routes with, of those that the query of
/// `family` finds.
#[must_use]
pub fn framework_in(family: &'static str, text: &str) -> &'static str {
    let is_used = |(of, import, _): &&(&str, &str, &str)| *of == family && text.contains(import);
    ALIKE.iter().find(is_used).map_or(family, |(.., name)| name)
}

/// Returns the framework of a family whose name the definition of a router has.
#[must_use]
pub fn framework_of(family: &'static str, definition: &str) -> Option<&'static str> {
    let definition = definition.to_lowercase();
    let words = || definition.split(|c: char| !c.is_alphanumeric());
    let mut alike =
        ALIKE.iter().filter(|(of, ..)| *of == family).map(|(.., name)| *name).peekable();
    if alike.peek().is_none() {
        return Some(family);
    }
    alike.chain([family]).find(|name| words().any(|word| word == *name))
}

/// Methods of a router that return a router, and whether their first argument is a prefix.
pub const GROUPS: &[(&str, bool)] = &[
    ("Group", true),
    ("MapGroup", true),
    ("NewVersionedApi", false),
    ("PathPrefix", true),
    ("Subrouter", false),
    ("With", false),
    ("basePath", true),
];

/// An action of a resource: its name, its method, and its path after the resource.
type Action = (&'static str, &'static str, &'static str);

const INDEX: Action = ("index", "GET", "");
const CREATE: Action = ("create", "POST", "");
const STORE: Action = ("store", "POST", "");
const NEW: Action = ("new", "GET", "/new");
const SHOW: Action = ("show", "GET", "/{id}");
const EDIT: Action = ("edit", "GET", "/{id}/edit");
const UPDATE: Action = ("update", "PATCH|PUT", "/{id}");
const UPDATE_OF_LARAVEL: Action = ("update", "PUT|PATCH", "/{id}");
const DESTROY: Action = ("destroy", "DELETE", "/{id}");

/// The routes of a resource in each framework.
pub const ACTIONS: &[(&str, &[Action])] = &[
    ("rails", &[INDEX, CREATE, NEW, EDIT, SHOW, UPDATE, DESTROY]),
    (
        "laravel",
        &[INDEX, ("create", "GET", "/create"), STORE, SHOW, EDIT, UPDATE_OF_LARAVEL, DESTROY],
    ),
    ("laravel-api", &[INDEX, STORE, SHOW, UPDATE_OF_LARAVEL, DESTROY]),
    ("phoenix", &[INDEX, CREATE, NEW, EDIT, SHOW, UPDATE, ("delete", "DELETE", "/{id}")]),
    (
        "django",
        &[
            ("list", "GET", ""),
            CREATE,
            ("retrieve", "GET", "/{id}"),
            ("update", "PUT", "/{id}"),
            ("partial_update", "PATCH", "/{id}"),
            DESTROY,
        ],
    ),
];

/// Returns the rules of a language.
#[must_use]
pub fn route_rules(language: &str) -> Option<&'static RouteRules> {
    RULES.iter().find(|rules| rules.languages.contains(&language))
}

/// Returns the rules of all languages.
#[must_use]
pub fn all_route_rules() -> &'static [RouteRules] {
    &RULES
}

/// Names of functions that take a path without requesting it.
pub const NO_REQUESTS: &[&str] = &[
    "antMatchers", "basename", "dirname", "exclude", "forRoutes", "import", "include_bytes",
    "include_str", "join", "link_to", "log", "mvcMatchers", "open", "push", "readFile", "redirect",
    "redirect_to", "render", "require", "requestMatchers", "resolve", "route", "startsWith",
    "starts_with", "startswith",
];

impl RouteRules {
    /// Whether these are the rules of a language.
    #[must_use]
    pub fn is_of(&self, language: &str) -> bool {
        self.languages.contains(&language)
    }

    /// Returns the query that finds routes. It is compiled once for each language.
    ///
    /// # Panics
    /// Never: the query is built in, and a test compiles it.
    pub fn query(&self, grammar: &Grammar) -> &tree_sitter::Query {
        let name = grammar.spec.name;
        let n = self.languages.iter().position(|language| *language == name).unwrap_or(0);
        self.queries[n].get_or_init(|| {
            tree_sitter::Query::new(&grammar.language(), &self.sources.join("\n"))
                .unwrap_or_else(|e| panic!("routes of {name}: {e}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles() {
        for rules in &RULES {
            for language in rules.languages {
                let grammar = crate::languages::grammar(language).unwrap();
                assert!(rules.query(grammar).capture_names().contains(&"route"), "{language}");
            }
        }
    }
}
