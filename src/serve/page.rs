//! The page for people: files that are part of the program, and no data. Everything that it shows
//! comes from the JSON API.
//!
//! The files have one address for each version of them, so a browser keeps them for ever and never
//! mixes two versions. The policy lets the page load nothing from elsewhere and run no script but these
//! files, whatever a repository's text contains.

use std::sync::OnceLock;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::refusal::error;

/// A file of the page: name, type and content.
type Asset = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";
const ASSETS: &[Asset] = &[
    ("style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("app.js", SCRIPT, include_str!("page/app.js")),
    ("api.js", SCRIPT, include_str!("page/api.js")),
    ("code.js", SCRIPT, include_str!("page/code.js")),
    ("plot.js", SCRIPT, include_str!("page/plot.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("drawing.js", SCRIPT, include_str!("page/drawing.js")),
    ("editor.js", SCRIPT, include_str!("page/editor.js")),
    ("palette.js", SCRIPT, include_str!("page/palette.js")),
    ("words.js", SCRIPT, include_str!("page/words.js")),
    ("views/home.js", SCRIPT, include_str!("page/views/home.js")),
    ("views/search.js", SCRIPT, include_str!("page/views/search.js")),
    ("views/file.js", SCRIPT, include_str!("page/views/file.js")),
    ("views/change.js", SCRIPT, include_str!("page/views/change.js")),
    ("views/memory.js", SCRIPT, include_str!("page/views/memory.js")),
    ("views/map.js", SCRIPT, include_str!("page/views/map.js")),
    ("views/state.js", SCRIPT, include_str!("page/views/state.js")),
];
const INDEX: &str = include_str!("page/index.html");
/// The addresses of the views. Each is the same file, whose script shows what the address says.
const VIEWS: &[&str] = &["/search", "/file", "/change", "/memory", "/map", "/state"];
/// Where the files are.
const FOLDER: &str = "/assets/";
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/// The modules of [`app`], each after those that it imports.
const APP: &[&str] = &[
    include_str!("page/dom.js"),
    include_str!("page/bridge.js"),
    include_str!("page/code.js"),
    include_str!("page/editor.js"),
    include_str!("page/drawing.js"),
    include_str!("page/views/file.js"),
    include_str!("page/symbol.js"),
];

/// Returns the view of a symbol as one document, for clients of the Model Context Protocol that show
/// pages in a frame. They load no further files, so the modules become one.
pub(super) fn app() -> String {
    let script: Vec<&str> = APP
        .iter()
        .flat_map(|module| module.lines())
        .filter(|line| !line.starts_with("import "))
        .map(|line| line.strip_prefix("export ").unwrap_or(line))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Cortex</title>\n<style>\n{}</style>\n\
         </head>\n<body class=\"app\">\n<main id=\"view\"></main>\n<script type=\"module\">\n{}\n</script>\n</body>\n</html>\n",
        include_str!("page/style.css"),
        script.join("\n")
    )
}

/// Whether a path is a file of the page. These hold no data, so they need no token: a browser cannot
/// send one with an address.
pub(super) fn is_file(path: &str) -> bool {
    path == "/" || VIEWS.contains(&path) || path.starts_with(FOLDER)
}

/// Returns the paths of the page. `plain` is the answer of `/` to programs.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(plain: fn() -> String) -> Router<S> {
    let home = async move |headers: HeaderMap| {
        let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
        if accepts.contains("text/html") { index() } else { plain().into_response() }
    };
    let router = Router::new().route("/", get(home)).route("/assets/{version}/{*name}", get(asset));
    VIEWS.iter().fold(router, |router, view| router.route(view, get(async || index())))
}

fn index() -> Response {
    let page = INDEX.replace("{assets}", &format!("{FOLDER}{}", version()));
    let mut response =
        ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-cache")], page)
            .into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn asset(Path((asked, name)): Path<(String, String)>) -> Response {
    let found = ASSETS.iter().find(|(own, ..)| *own == name).filter(|_| asked == version());
    match found {
        Some((_, kind, content)) => (
            [(CONTENT_TYPE, *kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")],
            *content,
        )
            .into_response(),
        None => {
            error(StatusCode::NOT_FOUND, "reload the page: the server has another version".into())
        }
    }
}

/// Returns the hash of all files.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for (name, _, content) in ASSETS {
            hasher.update(name.as_bytes());
            hasher.update(content.as_bytes());
        }
        hasher.update(INDEX.as_bytes());
        format!("{:016x}", hasher.digest())
    })
}
