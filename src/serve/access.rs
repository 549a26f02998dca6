//! Decides which requests the HTTP server answers, with one rule for all paths.
//!
//! Every web page that is open in a browser on this machine can reach a local server. The `Host`
//! header detects a page whose own name resolves to this machine (DNS rebinding). `Origin` and
//! `Sec-Fetch-Site` detect cross-site requests; browsers send the latter with images and links,
//! too. A token excludes programs of other users.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::refusal::error;

/// The path that needs no token. Its answer only says that there is a server.
const OPEN: &str = "/healthz";
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The access rule of one server.
#[derive(Debug, Clone)]
pub struct Access {
    bound: IpAddr,
    token: Option<String>,
}

/// The error for a server that other machines could use without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "other machines can reach {0}: set a token (CORTEX_SERVE_TOKEN, or serve.token in ~/.config/cortex/config.toml) that clients must send, or listen on 127.0.0.1"
)]
pub struct Exposed(IpAddr);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    Host(String),
    Origin(String),
    CrossSite,
    Token,
}

impl Access {
    /// Creates the rule for a server that listens on `bound`. Clients must send
    /// `token`, if there is one.
    ///
    /// # Errors
    /// When other machines could send requests and there is no token.
    pub fn new(bound: IpAddr, token: Option<String>) -> Result<Self, Exposed> {
        let token = token.filter(|t| !t.is_empty());
        if token.is_none() && !bound.is_loopback() {
            Err(Exposed(bound))
        } else {
            Ok(Self { bound, token })
        }
    }

    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, HOST.as_str()).unwrap_or_default();
        let named = [Some(host), uri.authority().map(Authority::as_str)];
        if let Some(foreign) = named.into_iter().flatten().find(|h| !self.is_own(h)) {
            return Err(Refusal::Host(foreign.into()));
        }
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, ORIGIN.as_str()).unwrap_or_default();
            if !self.is_own_page(origin, host) {
                return Err(Refusal::Origin(origin.into()));
            }
        }
        if headers
            .get_all(SEC_FETCH_SITE)
            .iter()
            .any(|v| v.as_bytes().eq_ignore_ascii_case(b"cross-site"))
        {
            return Err(Refusal::CrossSite);
        }
        let Some(token) = self.token.as_ref().filter(|_| uri.path() != OPEN) else { return Ok(()) };
        let given = only(headers, AUTHORIZATION.as_str()).and_then(|v| v.split_once(' '));
        let given = given
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        // Comparing takes the same time for wrong tokens, so that the time reveals nothing.
        let is_right =
            given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(token.as_bytes())));
        if is_right { Ok(()) } else { Err(Refusal::Token) }
    }

    /// Whether a `Host` means this server. A web page cannot turn its name into an IP address, so
    /// several addresses are allowed.
    fn is_own(&self, host: &str) -> bool {
        match address(host) {
            Some(Named::Localhost) => true,
            Some(Named::Address(ip)) => {
                ip.is_loopback() || ip == self.bound || self.bound.is_unspecified()
            }
            None => false,
        }
    }

    /// Whether an `Origin` is a page of this machine or of this server.
    fn is_own_page(&self, origin: &str, host: &str) -> bool {
        let Some(authority) =
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
        else {
            return false;
        };
        match address(authority) {
            Some(Named::Localhost) => true,
            Some(Named::Address(ip)) => {
                ip.is_loopback() || (!self.bound.is_loopback() && authority == host)
            }
            None => false,
        }
    }
}

enum Named {
    Localhost,
    Address(IpAddr),
}

/// Returns what `host:port` names; `None` unless that is localhost or an IP address.
fn address(authority: &str) -> Option<Named> {
    let parsed = Authority::try_from(authority).ok().filter(|_| !authority.contains('@'))?;
    let host = parsed.host();
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Named::Localhost);
    }
    host.trim_start_matches('[').trim_end_matches(']').parse().ok().map(Named::Address)
}

/// Returns a header's value; `None` if it occurs more than once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

/// Passes an allowed request on, or answers with the reason for the refusal.
pub(super) async fn guard(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    match access.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Host(host) => error(
                StatusCode::FORBIDDEN,
                format!("`{host}` is not this server: use localhost or its address"),
            ),
            Self::Origin(origin) => error(
                StatusCode::FORBIDDEN,
                format!(
                    "web pages of `{origin}` may not use this server: only pages of this machine may"
                ),
            ),
            Self::CrossSite => error(
                StatusCode::FORBIDDEN,
                "web pages of other sites may not use this server: only pages of this machine may"
                    .into(),
            ),
            Self::Token => {
                let mut response = error(
                    StatusCode::UNAUTHORIZED,
                    "send the token: `Authorization: Bearer …`".into(),
                );
                response
                    .headers_mut()
                    .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"cortex\""));
                response
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        bound: &str,
        token: Option<&str>,
        uri: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(), Refusal> {
        let access = Access::new(bound.parse().unwrap(), token.map(String::from)).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        access.check(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn a_host_is_this_machine() {
        for host in ["localhost", "LOCALHOST:7717", "127.0.0.1:80", "[::1]:7717", "127.0.0.1"] {
            assert_eq!(check("127.0.0.1", None, "/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:7717",
            "localhost.evil.example",
            "10.0.0.1:7717",
            "user@localhost",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(
                check("127.0.0.1", None, "/", &[("host", host)]),
                Err(Refusal::Host(host.into())),
                "{host}"
            );
        }
        assert!(check("127.0.0.1", None, "/", &[]).is_err(), "no host");
        assert!(
            check("127.0.0.1", None, "/", &[("host", "localhost"), ("host", "evil.example")])
                .is_err(),
            "two hosts"
        );
        assert!(
            check("127.0.0.1", None, "http://evil.example/", &[("host", "localhost")]).is_err(),
            "the request line counts, too"
        );
    }

    #[test]
    fn a_bound_address_is_a_host() {
        let token = ("authorization", "Bearer t");
        assert_eq!(check("10.0.0.1", Some("t"), "/", &[("host", "10.0.0.1:7717"), token]), Ok(()));
        assert!(check("10.0.0.1", Some("t"), "/", &[("host", "10.0.0.2:7717"), token]).is_err());
        assert_eq!(
            check("0.0.0.0", Some("t"), "/", &[("host", "10.0.0.2:7717"), token]),
            Ok(()),
            "every address is bound"
        );
        assert!(check("0.0.0.0", Some("t"), "/", &[("host", "evil.example"), token]).is_err());
    }

    #[test]
    fn an_origin_is_a_page_of_this_machine() {
        let host = ("host", "127.0.0.1:7717");
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"] {
            assert_eq!(
                check("127.0.0.1", None, "/", &[host, ("origin", origin)]),
                Ok(()),
                "{origin}"
            );
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "file://",
            "vscode-webview://abc",
            "http://10.0.0.1:7717",
        ] {
            assert!(
                check("127.0.0.1", None, "/", &[host, ("origin", origin)]).is_err(),
                "{origin}"
            );
        }
        let (token, host) = (("authorization", "Bearer t"), ("host", "10.0.0.1:7717"));
        assert_eq!(
            check("10.0.0.1", Some("t"), "/", &[host, token, ("origin", "http://10.0.0.1:7717")]),
            Ok(())
        );
        assert!(
            check("10.0.0.1", Some("t"), "/", &[host, token, ("origin", "http://10.0.0.1:1")])
                .is_err()
        );
    }

    #[test]
    fn a_page_of_another_site_asks_without_an_origin() {
        let host = ("host", "127.0.0.1:7717");
        for (site, allowed) in [
            ("cross-site", false),
            ("Cross-Site", false),
            ("same-site", true),
            ("same-origin", true),
            ("none", true),
        ] {
            assert_eq!(
                check("127.0.0.1", None, "/", &[host, ("sec-fetch-site", site)]).is_ok(),
                allowed,
                "{site}"
            );
        }
        let twice = [host, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")];
        assert_eq!(check("127.0.0.1", None, "/", &twice), Err(Refusal::CrossSite));
    }

    #[test]
    fn a_token_is_wanted_everywhere_but_for_health() {
        let with = |value: &str| {
            check(
                "127.0.0.1",
                Some("secret"),
                "/api/search",
                &[("host", "localhost"), ("authorization", value)],
            )
        };
        assert_eq!(with("Bearer secret"), Ok(()));
        assert_eq!(with("bearer secret"), Ok(()));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret", "secret"]
        {
            assert_eq!(with(wrong), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(
            check("127.0.0.1", Some("secret"), "/readyz", &[("host", "localhost")]),
            Err(Refusal::Token)
        );
        assert_eq!(
            check("127.0.0.1", Some("secret"), "/healthz", &[("host", "localhost")]),
            Ok(())
        );
        assert!(
            check("127.0.0.1", Some("secret"), "/healthz", &[("host", "evil.example")]).is_err()
        );
    }

    #[test]
    fn others_need_a_token() {
        for (bound, token, ok) in [
            ("127.0.0.1", None, true),
            ("::1", None, true),
            ("0.0.0.0", None, false),
            ("10.0.0.1", Some(""), false),
            ("::", Some("t"), true),
        ] {
            assert_eq!(
                Access::new(bound.parse().unwrap(), token.map(String::from)).is_ok(),
                ok,
                "{bound}"
            );
        }
    }
}
