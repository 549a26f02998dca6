//! Paths of HTTP routes: one normal form, how prefixes are joined, and which request matches which
//! route. It knows neither files nor frameworks.

use std::borrow::Cow;
use std::fmt;

/// A segment of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Segment {
    Literal(String),
    /// One segment of any text, with its name.
    Parameter(String),
    /// A segment that begins with this text, and the name of the rest.
    Begins(String, String),
    /// Any number of segments.
    Rest,
    /// A prefix that the text does not state.
    Unknown,
}

/// A path in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RoutePath(Vec<Segment>);

/// Least and most confidence of a request.
const SURE: f64 = 0.95;
/// Loss for a method that is unknown, and for each segment before the request's path.
const NO_METHOD: f64 = 0.35;
const NO_PREFIX: f64 = 0.1;
/// Most segments before the path of a request: its client adds them.
const MAX_PREFIX: usize = 3;

impl RoutePath {
    /// Joins the parts of a path: prefixes, then the path itself. `..` drops the last parameter, as
    /// the collection of a resource does.
    #[must_use]
    pub fn join<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut out: Vec<Segment> = Vec::new();
        for part in parts {
            // `~/x` is a path that no prefix changes.
            let part = match part.strip_prefix("~/") {
                Some(whole) => {
                    out.clear();
                    whole
                }
                None => part,
            };
            for written in segments(required(part)) {
                match written {
                    ".." => _ = out.pop_if(|last| matches!(last, Segment::Parameter(_))),
                    _ => match segment(written) {
                        Segment::Unknown if !out.is_empty() => out = vec![Segment::Unknown],
                        found => out.push(found),
                    },
                }
            }
        }
        Self(out)
    }

    /// Reads the path of a request from the text of a URL, with `{}` for what is computed.
    /// `None` if it is not the path of a route.
    #[must_use]
    pub fn of_request(written: &str) -> Option<Self> {
        let written = written.trim();
        let path = match written.split_once("://") {
            Some((scheme, rest)) if scheme.len() <= 5 => {
                rest.split_once('/').map_or("", |(_, p)| p)
            }
            Some(_) => return None,
            None => written,
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        if path.contains(char::is_whitespace)
            || path.contains("../")
            || path.starts_with(['.', '~'])
        {
            return None;
        }
        let is_absolute = written.starts_with('/') || written.contains("://");
        // A host or a base in a variable.
        let path = match path.strip_prefix("{}").or_else(|| path.strip_prefix("%s")) {
            Some(rest) if !is_absolute && (rest.is_empty() || rest.starts_with('/')) => rest,
            Some(rest) if !is_absolute => &path[path.len() - rest.len()..],
            _ => path,
        };
        let found = Self::join([path]);
        let has_name = found.0.iter().any(|s| matches!(s, Segment::Literal(_)));
        has_name.then_some(found)
    }

    /// Whether the beginning of the path is not known.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.0.first() == Some(&Segment::Unknown)
    }

    /// Whether nothing of the path is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == [Segment::Unknown]
    }

    /// Returns the longest literal segment.
    #[must_use]
    pub fn longest_name(&self) -> Option<&str> {
        let names = self.0.iter().filter_map(|segment| match segment {
            Segment::Literal(name) => Some(&**name),
            _ => None,
        });
        names.max_by_key(|name| name.len())
    }

    /// Returns how sure it is that a request of `path` reaches this route, from 0 to 1, and the
    /// number of names that are equal; `None` if it does not.
    #[must_use]
    pub fn matches(&self, path: &Self, is_method_known: bool) -> Option<(f64, usize)> {
        let mut own = &self.0[..];
        if self.is_partial() {
            own = &own[1..];
        }
        let mut asked = &path.0[..];
        let mut n_missing = 0;
        if self.is_partial() && asked.len() > own.len() {
            n_missing = asked.len() - own.len();
            asked = &asked[n_missing..];
        } else if own.len() > asked.len() && own.last() != Some(&Segment::Rest) {
            n_missing = own.len() - asked.len();
            // The base of a client has names, and no parameters.
            let is_base = |s: &Segment| matches!(s, Segment::Literal(_));
            if n_missing > MAX_PREFIX || !own[..n_missing].iter().all(is_base) {
                return None;
            }
            own = &own[n_missing..];
        }
        let mut n_equal = 0;
        for (i, segment) in own.iter().enumerate() {
            match (segment, asked.get(i)) {
                (Segment::Rest, _) => return Some(confidence(n_equal, n_missing, is_method_known)),
                (Segment::Literal(a), Some(Segment::Literal(b))) if a == b => n_equal += 1,
                (
                    Segment::Parameter(_),
                    Some(Segment::Literal(_) | Segment::Parameter(_) | Segment::Begins(..)),
                ) => {}
                (Segment::Begins(a, _), Some(Segment::Literal(b))) if b.starts_with(&**a) => {
                    n_equal += 1;
                }
                (Segment::Begins(a, _), Some(Segment::Begins(b, _))) if a == b => n_equal += 1,
                _ => return None,
            }
        }
        // After a base that is not written, a parameter alone would match anything.
        if own.len() < asked.len() || (n_missing > 0 && n_equal == 0) {
            return None;
        }
        Some(confidence(n_equal, n_missing, is_method_known))
    }

    /// Whether a text that somebody looks for is a part of this path: `users/{id}`, `/users`,
    /// `/users/1`.
    #[must_use]
    pub fn contains(&self, text: &Self) -> bool {
        let is_equal = |(a, b): (&Segment, &Segment)| a == b || matches!(a, Segment::Parameter(_));
        // A parameter is any text, so something else must be the same.
        let is_same = |(a, b): (&Segment, &Segment)| {
            a == b || matches!((a, b), (Segment::Parameter(_), Segment::Parameter(_)))
        };
        let pairs = |part: &[Segment]| -> bool {
            part.iter().zip(&text.0).all(is_equal) && part.iter().zip(&text.0).any(is_same)
        };
        let n = text.0.len();
        n > 0 && self.0.windows(n).any(pairs)
    }

    /// Whether the whole path is this one; names of parameters do not count.
    #[must_use]
    pub fn is(&self, text: &Self) -> bool {
        self.0.len() == text.0.len() && self.contains(text)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the confidence for this many equal names.
fn confidence(n_equal: usize, n_missing: usize, is_method_known: bool) -> (f64, usize) {
    let all = match n_equal {
        0 => 0.3,
        1 => 0.8,
        2 => 0.9,
        _ => SURE,
    };
    let all = all - if is_method_known { 0.0 } else { NO_METHOD };
    #[expect(clippy::cast_precision_loss, reason = "a few segments")]
    let lost = NO_PREFIX * n_missing as f64;
    ((all - lost).max(0.1), n_equal)
}

/// Returns a path without the optional segments at its end: `/top(/:length)`, `/s/:id/(:title)`.
fn required(path: &str) -> &str {
    let at = ["(/", "(.", "/(:"].iter().filter_map(|mark| path.find(mark)).min();
    at.map_or(path, |at| &path[..at])
}

/// Splits a path at its slashes, except those in a parameter.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    path.split(move |c| {
        match c {
            '{' | '<' | '(' => depth += 1,
            '}' | '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '/' && depth == 0
    })
    .filter(|part| !part.is_empty() && *part != "." && *part != "^" && *part != "$")
}

fn segment(written: &str) -> Segment {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    // A segment of which a part is unknown may hold more than one.
    if written.contains('…') {
        return Segment::Unknown;
    }
    // `:id.:format`, `:id(.:format)`, `:id?`, `{id:int}`, `<int:id>`, `${id}`, `%s`, `*`
    let name = |text: &str| text.chars().take_while(|c| is_name(*c)).collect::<String>();
    if let Some(inner) = written.strip_prefix('<') {
        let inner = inner.split('>').next().unwrap_or(inner);
        if inner.starts_with("path:") || inner.ends_with("..") {
            return Segment::Rest;
        }
        return Segment::Parameter(name(inner.rsplit(':').next().unwrap_or(inner)));
    }
    if let Some(inner) = written.strip_prefix("${").or_else(|| written.strip_prefix('{')) {
        let inner = inner.split('}').next().unwrap_or(inner);
        if inner.starts_with('*') || inner.ends_with(":path") || inner.ends_with(":.*") {
            return Segment::Rest;
        }
        return Segment::Parameter(name(inner));
    }
    if let Some(inner) = written.strip_prefix(':') {
        return Segment::Parameter(name(inner));
    }
    match written {
        "%s" | "%d" | "%v" | "?" => return Segment::Parameter(String::new()),
        _ if written.starts_with('*') => return Segment::Rest,
        _ if written.ends_with("{}") && written.len() > 2 => {
            return Segment::Begins(written[..written.len() - 2].to_string(), String::new());
        }
        _ if written.contains("{}") => return Segment::Parameter(String::new()),
        _ => {}
    }
    // `~:name`, `@{name}`
    if let Some(at) = written.find([':', '{']).filter(|at| *at > 0 && *at + 1 < written.len()) {
        return Segment::Begins(written[..at].to_string(), name(&written[at + 1..]));
    }
    Segment::Literal(written.trim_end_matches("(.:format)").trim_end_matches('$').to_string())
}

impl fmt::Display for RoutePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("/");
        }
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Unknown if i == 0 => out.write_str("…")?,
                Segment::Unknown => {}
                Segment::Literal(name) => write!(out, "/{}", one_word(name))?,
                Segment::Parameter(name) => write!(out, "/{{{}}}", one_word(name))?,
                Segment::Begins(text, name) => {
                    write!(out, "/{}{{{}}}", one_word(text), one_word(name))?;
                }
                Segment::Rest => out.write_str("/{*}")?,
            }
        }
        Ok(())
    }
}

/// Returns a text without white space: a path in a reply is one word, whatever the code says.
fn one_word(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_whitespace) {
        text.replace(char::is_whitespace, "%20").into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_words_in_it_is_one_word() {
        let path = RoutePath::join(["/a b", "run this/{id}"]);
        assert_eq!(path.to_string(), "/a%20b/run%20this/{id}");
    }
    use proptest::prelude::*;

    fn path(text: &str) -> RoutePath {
        RoutePath::join([text])
    }

    #[test]
    fn paths_of_all_frameworks_have_one_form() {
        for written in [
            "users/:id", "/users/{id}/", "/users/<int:id>", "/users/<id>", "/users/{id:int}",
            "users/:id(.:format)", "/users/{id:[0-9]+}",
        ] {
            assert_eq!(path(written).to_string(), "/users/{id}", "{written}");
        }
        assert_eq!(
            RoutePath::join(["/api", "users/{id}", "../search"]).to_string(),
            "/api/users/search"
        );
        assert_eq!(RoutePath::join(["/a", "…", "/b"]).to_string(), "…/b");
        assert_eq!(RoutePath::join(["/a", "v…/b"]).to_string(), "…/b");
        assert_eq!(RoutePath::join(["/a", "~/b"]).to_string(), "/b");
        assert!(RoutePath::join(["/a", "…"]).is_unknown());
        assert_eq!(path("").to_string(), "/");
        assert_eq!(path("/files/<path:rest>").to_string(), "/files/{*}");
    }

    #[test]
    fn requests_match_the_routes_that_they_reach() {
        let sure = |route: &str, asked: &str| {
            let asked = RoutePath::of_request(asked)?;
            path(route).matches(&asked, true).map(|found| found.0)
        };
        assert!(sure("/api/users/{id}", "/api/users/1").unwrap() > 0.85);
        assert!(sure("/api/users/{id}", "https://a.example/api/users/{}?x=1").unwrap() > 0.85);
        assert!(sure("/api/users/{id}", "{}/users/{}").unwrap() >= 0.5);
        assert_eq!(sure("/api/users/{id}", "/api/users"), None);
        assert_eq!(sure("/api/users", "/api/users/1"), None);
        assert_eq!(sure("/", "/users"), None);
        assert!(sure("/{slug}", "/users").unwrap() < 0.5);
        assert!(sure("…/users/{id}", "/v1/users/1").unwrap() >= 0.5);
        assert_eq!(sure("/users", "./users"), None);
    }

    proptest! {
        #[test]
        fn joined_paths_stay_as_they_are_and_are_matched_by_themselves(
            parts in prop::collection::vec("/?([a-z]{1,4}|:[a-z]{1,3}|\\{[a-z]{1,3}\\}|<int:[a-z]{1,3}>){1}(/[a-z]{1,4})?/?", 1..4),
        ) {
            let joined = RoutePath::join(parts.iter().map(String::as_str));
            let shown = joined.to_string();
            prop_assert_eq!(&RoutePath::join([&*shown]), &joined);
            prop_assert!(joined.contains(&joined) && joined.is(&joined));
            let (sure, _) = joined.matches(&joined, true).unwrap();
            prop_assert!((0.0..=1.0).contains(&sure));
        }

        #[test]
        fn no_text_is_too_strange(parts in prop::collection::vec(".{0,20}", 0..4), asked in ".{0,30}") {
            let route = RoutePath::join(parts.iter().map(String::as_str));
            prop_assert!(!route.to_string().is_empty());
            if let Some(asked) = RoutePath::of_request(&asked)
                && let Some((sure, _)) = route.matches(&asked, false)
            {
                prop_assert!((0.0..=1.0).contains(&sure));
            }
        }
    }
}
