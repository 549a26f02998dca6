//! Decides which requests the HTTP server answers, with one rule for all paths.
//!
//! Every web page that is open in a browser on this machine can reach a local server. The `Host`
//! header detects a page whose own name resolves to this machine (DNS rebinding). `Origin` and
//! `Sec-Fetch-Site` detect requests of other pages; browsers send the latter with images and links,
//! too. A page of another port of this machine may be anything that the user tries out, so it needs
//! the token. `Content-Type` detects forms, which browsers send without asking the server first.
//!
//! Programs of other users can reach the server as well. With a token, every request must hold it;
//! without one, the operating system must name this user as the owner of the connection.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::net::TcpStream;

use super::page;
use super::refusal::error;
use super::token::Token;
use crate::platform::is_of_own_user;
use crate::user_secret::random;

/// The path that needs no token. Its answer only says that there is a server.
pub(super) const OPEN: &str = "/healthz";
/// A header of a request to [`OPEN`]: random digits, for which the server shall prove who it is.
pub(super) const CHALLENGE: &str = "cortex-challenge";
/// The header of the answer that holds the proof.
pub(super) const PROOF: &str = "cortex-proof";
pub(super) const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Where a page exchanges a ticket for a key.
pub(super) const REDEEM: &str = "/api/key";
/// How long a ticket can be exchanged.
const TICKET_LIFE: Duration = Duration::from_mins(1);
/// Most tickets and keys at a time; the oldest end first.
const MAX_PASSES: usize = 100;

/// The access rule of one server.
#[derive(Clone)]
pub struct Access {
    bound: IpAddr,
    token: Option<Token>,
    /// Whether only programs of this user may exchange a ticket, because the system tells users apart.
    only_own_redeem: bool,
    passes: Arc<Mutex<Passes>>,
    prover: Prover,
}

/// A secret of one server, by which it proves to the other programs of its user who it is. The
/// secret itself is never sent.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Prover(String);

impl Prover {
    /// Returns the proof for a challenge; `None` if that has not the length of [`random`]. With one
    /// length for all, a proof says nothing about any other.
    fn proof(&self, challenge: &str) -> Option<String> {
        let hash = || Sha256::new().chain_update(&self.0).chain_update(challenge).finalize();
        (challenge.len() == self.0.len())
            .then(|| hash().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn is_proof(&self, challenge: &str, given: &str) -> bool {
        let proof = self.proof(challenge).unwrap_or_default();
        !proof.is_empty() && proof.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// What pages send in place of the token. The token itself is in no address, since other users see
/// the command lines of programs.
#[derive(Default)]
struct Passes {
    /// Each opens the page once.
    tickets: Vec<(Token, Instant)>,
    /// Each is as good as the token while the server runs.
    keys: Vec<Token>,
}

impl Passes {
    fn new_ticket(&mut self) -> String {
        self.tickets.retain(|(_, made)| made.elapsed() < TICKET_LIFE);
        add(&mut self.tickets, |ticket| (ticket, Instant::now()))
    }

    /// Takes a ticket and returns a key for it; `None` if there is no such ticket, or no longer.
    fn redeem(&mut self, given: &str) -> Option<String> {
        let at = self.tickets.iter().position(|(ticket, _)| ticket.is(given))?;
        let (_, made) = self.tickets.remove(at);
        (made.elapsed() < TICKET_LIFE).then(|| add(&mut self.keys, |key| key))
    }
}

/// Adds a random secret to a list of at most [`MAX_PASSES`], and returns it.
fn add<T>(list: &mut Vec<T>, entry: impl FnOnce(Token) -> T) -> String {
    let secret = random();
    list.drain(..(list.len() + 1).saturating_sub(MAX_PASSES));
    list.extend(Token::chosen(secret.clone()).map(entry));
    secret
}

/// The error for a server that other machines could use without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "other machines can reach {0}: set a token (CORTEX_SERVE_TOKEN, or serve.token in ~/.config/cortex/config.toml) that clients must send, or listen on 127.0.0.1"
)]
pub struct Exposed(IpAddr);

/// Whose program is at the other end of a connection. The connection carries it to each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// The user of this process.
    Own,
    /// Another user, another machine, or unknown.
    Other,
}

impl Peer {
    /// Asks the operating system about a connection that was just accepted.
    pub(super) fn of(stream: &TcpStream) -> Self {
        let is_own = match (stream.local_addr(), stream.peer_addr()) {
            (Ok(local), Ok(peer)) => is_of_own_user(local, peer),
            _ => false,
        };
        // After a reset, another program could have the same port.
        if is_own && matches!(stream.take_error(), Ok(None)) { Self::Own } else { Self::Other }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    #[error("`{0}` is not this server: use localhost or its address")]
    Host(String),
    #[error("web pages of `{0}` may not use this server")]
    Origin(String),
    #[error("web pages of other sites may not use this server")]
    CrossSite,
    /// A page of another port of this machine, without the token.
    #[error(
        "a web page of another port of this machine needs the token: start the server with CORTEX_SERVE_TOKEN, and send `Authorization: Bearer …`"
    )]
    OtherPort,
    /// Another user, and there is no token.
    #[error(
        "this server answers only programs of the user who started it: run the program as that user, or start the server with CORTEX_SERVE_TOKEN, and send `Authorization: Bearer …`"
    )]
    OtherUser,
    /// The token is missing or wrong; this tells where it is.
    #[error("send the token as `Authorization: Bearer …`; {0}")]
    Token(String),
    #[error(
        "the type of the body is not JSON: send JSON with `Content-Type: application/json` (curl does with --json)"
    )]
    NotJson,
}

impl Access {
    /// Creates the rule for a server that listens on `bound`. Clients must send
    /// `token`, if there is one.
    ///
    /// # Errors
    /// When other machines could send requests and there is no token.
    pub fn new(bound: IpAddr, token: Option<Token>) -> Result<Self, Exposed> {
        if token.is_none() && !bound.is_loopback() {
            Err(Exposed(bound))
        } else {
            let prover = Prover(random());
            Ok(Self { bound, token, only_own_redeem: false, passes: Arc::default(), prover })
        }
    }

    /// Says whether the system tells the programs of this user from those of others.
    #[must_use]
    pub fn telling_users_apart(self, tells: bool) -> Self {
        Self { only_own_redeem: tells && self.bound.is_loopback(), ..self }
    }

    /// Whether the user of a connection decides, because there is no token.
    #[must_use]
    pub fn is_by_user(&self) -> bool {
        self.token.is_none()
    }

    pub(super) fn prover(&self) -> &Prover {
        &self.prover
    }

    /// Returns the header with the proof that a request asks for.
    fn proof<B>(&self, request: &axum::http::Request<B>) -> Option<HeaderValue> {
        let challenge = only(request.headers(), CHALLENGE)?;
        self.prover.proof(challenge).filter(|_| request.uri().path() == OPEN)?.parse().ok()
    }

    /// Returns a ticket, which opens the page once and within a minute; `None` if no token is needed.
    #[must_use]
    pub fn ticket(&self) -> Option<String> {
        self.token.as_ref().map(|_| self.passes.lock().new_ticket())
    }

    /// Returns a new key, which is as good as the token while the server runs; `None` if no token is
    /// needed.
    pub(super) fn key(&self) -> Option<String> {
        self.token.as_ref().map(|_| add(&mut self.passes.lock().keys, |key| key))
    }

    /// Exchanges the ticket or the token that a request holds for a key, so that a page need not keep
    /// the token; `None` if it holds none that is valid.
    pub(super) fn redeem<B>(&self, request: &axum::http::Request<B>) -> Option<String> {
        let given = bearer(request.headers())?;
        if self.token.as_ref().is_some_and(|token| token.is(given)) {
            return self.key();
        }
        if self.only_own_redeem && request.extensions().get() != Some(&Peer::Own) {
            return None;
        }
        self.passes.lock().redeem(given)
    }

    fn check<B>(&self, request: &axum::http::Request<B>) -> Result<(), Refusal> {
        let (uri, headers) = (request.uri(), request.headers());
        let is_of_other_port = self.is_page_of_other_port(request)?;
        // A ticket is checked where it is taken.
        let is_page = page::is_file(uri.path()) || uri.path() == REDEEM;
        if uri.path() == OPEN || (is_page && !is_of_other_port) {
            return Ok(());
        }
        let has_token = self.token.as_ref().map(|token| {
            let is_key = |given: &str| self.passes.lock().keys.iter().any(|key| key.is(given));
            bearer(headers).is_some_and(|given| token.is(given) || is_key(given))
        });
        match (&self.token, has_token) {
            (_, Some(true)) => {}
            _ if is_of_other_port => return Err(Refusal::OtherPort),
            (Some(token), _) => return Err(Refusal::Token(token.place().into())),
            (None, _) if request.extensions().get() != Some(&Peer::Own) => {
                return Err(Refusal::OtherUser);
            }
            _ => {}
        }
        if request.method() == Method::POST && !is_json(headers) {
            return Err(Refusal::NotJson);
        }
        Ok(())
    }

    /// Whether a request comes from a web page of another port of this machine. A program, and a
    /// page of this server, are none.
    ///
    /// # Errors
    /// When the request means another server, or comes from a page of another machine.
    fn is_page_of_other_port<B>(&self, request: &axum::http::Request<B>) -> Result<bool, Refusal> {
        let headers = request.headers();
        let host = only(headers, HOST.as_str()).unwrap_or_default();
        let named = [Some(host), request.uri().authority().map(Authority::as_str)];
        if let Some(foreign) = named.into_iter().flatten().find(|h| !self.is_own(h)) {
            return Err(Refusal::Host(foreign.into()));
        }
        let mut is_of_other_port = false;
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, ORIGIN.as_str()).unwrap_or_default();
            is_of_other_port = match page(origin) {
                Some((authority, _)) if authority.eq_ignore_ascii_case(host) => false,
                Some((_, NamedHost::Localhost)) => true,
                Some((_, NamedHost::Address(ip))) if ip.is_loopback() => true,
                _ => return Err(Refusal::Origin(origin.into())),
            };
        }
        for site in headers.get_all(SEC_FETCH_SITE) {
            let is = |word: &[u8]| site.as_bytes().eq_ignore_ascii_case(word);
            if is(b"cross-site") {
                return Err(Refusal::CrossSite);
            }
            is_of_other_port |= !is(b"same-origin") && !is(b"none");
        }
        Ok(is_of_other_port)
    }

    /// Whether a `Host` means this server. A web page cannot turn its name into an IP address, so
    /// several addresses are allowed.
    fn is_own(&self, host: &str) -> bool {
        match address(host) {
            Some(NamedHost::Localhost) => true,
            Some(NamedHost::Address(ip)) => {
                ip.is_loopback() || ip == self.bound || self.bound.is_unspecified()
            }
            None => false,
        }
    }
}

/// Returns the authority of an `Origin`, and what that names.
fn page(origin: &str) -> Option<(&str, NamedHost)> {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    Some((authority, address(authority)?))
}

/// Whether the body is declared as JSON. A browser sends such a body to another origin only after
/// the server has agreed, which this one never does.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split_once(';').map_or(kind, |(kind, _)| kind);
    kind.trim().eq_ignore_ascii_case("application/json")
}

enum NamedHost {
    Localhost,
    Address(IpAddr),
}

/// Returns what `host:port` names; `None` unless that is localhost or an IP address.
fn address(authority: &str) -> Option<NamedHost> {
    let parsed = Authority::try_from(authority).ok().filter(|_| !authority.contains('@'))?;
    let host = parsed.host();
    if host.eq_ignore_ascii_case("localhost") {
        return Some(NamedHost::Localhost);
    }
    host.trim_start_matches('[').trim_end_matches(']').parse().ok().map(NamedHost::Address)
}

/// Returns the token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, AUTHORIZATION.as_str())?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
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
    let proof = access.proof(&request);
    match access.check(&request) {
        Ok(()) => {
            let mut response = next.run(request).await;
            response
                .headers_mut()
                .extend(proof.map(|proof| (HeaderName::from_static(PROOF), proof)));
            response
        }
        Err(refusal) => refusal.into_response(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Host(_)
            | Self::Origin(_)
            | Self::CrossSite
            | Self::OtherPort
            | Self::OtherUser => StatusCode::FORBIDDEN,
            Self::Token(_) => StatusCode::UNAUTHORIZED,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        };
        let mut response = error(status, self.to_string());
        if status == StatusCode::UNAUTHORIZED {
            let asks = HeaderValue::from_static("Bearer realm=\"cortex\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, asks);
        }
        response
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
        check_of(Peer::Own, Method::GET, bound, token, uri, headers)
    }

    fn check_of(
        peer: Peer,
        method: Method,
        bound: &str,
        token: Option<&str>,
        uri: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(), Refusal> {
        let token = token.and_then(|t| Token::chosen(t.into()));
        let access = Access::new(bound.parse().unwrap(), token).unwrap();
        let request = axum::http::Request::builder().method(method).uri(uri).extension(peer);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        access.check(&request.body(()).unwrap())
    }

    #[test]
    fn a_host_is_this_machine() {
        for host in ["localhost", "LOCALHOST:7717", "127.0.0.1:80", "[::1]:7717", "127.0.0.1"] {
            assert_eq!(check("127.0.0.1", None, "/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "", "evil.example", "evil.example:7717", "localhost.evil.example", "10.0.0.1:7717",
            "user@localhost", "127.0.0.1.nip.io",
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
        let (host, token) = (("host", "127.0.0.1:7717"), ("authorization", "Bearer t"));
        for own in ["http://127.0.0.1:7717", "https://127.0.0.1:7717"] {
            assert_eq!(check("127.0.0.1", None, "/", &[host, ("origin", own)]), Ok(()), "{own}");
        }
        for other in [
            "http://localhost:3000", "http://127.0.0.1:7718", "http://localhost:7717",
            "https://127.0.0.1", "http://[::1]:8080",
        ] {
            let headers = [host, ("origin", other), token];
            assert_eq!(
                check("127.0.0.1", None, "/", &headers),
                Err(Refusal::OtherPort),
                "{other}: no token is expected, so any is wrong"
            );
            assert_eq!(check("127.0.0.1", Some("t"), "/", &headers), Ok(()), "{other}");
            assert_eq!(
                check("127.0.0.1", Some("t"), "/", &headers[..2]),
                Err(Refusal::OtherPort),
                "{other}"
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
    fn a_page_of_another_site_is_refused_also_without_an_origin() {
        let host = ("host", "127.0.0.1:7717");
        for (site, allowed) in [
            ("cross-site", false),
            ("Cross-Site", false),
            ("same-site", false),
            ("", false),
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
            assert!(matches!(with(wrong), Err(Refusal::Token(_))), "{wrong}");
        }
        assert!(matches!(
            check("127.0.0.1", Some("secret"), "/readyz", &[("host", "localhost")]),
            Err(Refusal::Token(_))
        ));
        assert_eq!(
            check("127.0.0.1", Some("secret"), "/healthz", &[("host", "localhost")]),
            Ok(())
        );
        assert!(
            check("127.0.0.1", Some("secret"), "/healthz", &[("host", "evil.example")]).is_err()
        );
    }

    #[test]
    fn another_user_needs_the_token() {
        let host = ("host", "localhost");
        let other = |token, uri: &str, headers: &[(&'static str, &str)]| {
            check_of(Peer::Other, Method::GET, "127.0.0.1", token, uri, headers)
        };
        for uri in ["/mcp", "/api/search?query=a", "/metrics", "/events", "/readyz"] {
            assert_eq!(other(None, uri, &[host]), Err(Refusal::OtherUser), "{uri}");
            let token = [host, ("authorization", "Bearer t")];
            assert_eq!(other(None, uri, &token), Err(Refusal::OtherUser), "{uri}: there is none");
            assert_eq!(other(Some("t"), uri, &token), Ok(()), "{uri}");
        }
        assert_eq!(other(None, "/healthz", &[host]), Ok(()));
        // The page holds no data, and a page of another port may not load it.
        for uri in ["/", "/search?q=a"] {
            assert_eq!(other(None, uri, &[host]), Ok(()), "{uri}");
            let page = [host, ("origin", "http://localhost:3000")];
            assert_eq!(other(None, uri, &page), Err(Refusal::OtherPort), "{uri}");
        }
    }

    /// A ticket is in an address, which other users can see.
    #[test]
    fn a_ticket_opens_the_page_once_for_this_user_and_its_key_is_as_good_as_the_token() {
        let access = Access::new("127.0.0.1".parse().unwrap(), Token::chosen("t".into())).unwrap();
        let access = access.telling_users_apart(true);
        let request = |peer: Peer, uri: &str, given: &str| {
            let request = axum::http::Request::builder().uri(uri).extension(peer);
            let request = request.header("host", "localhost");
            request.header("authorization", format!("Bearer {given}")).body(()).unwrap()
        };
        let redeem = |peer, given: &str| access.redeem(&request(peer, REDEEM, given));
        let ticket = access.ticket().unwrap();
        assert_eq!(redeem(Peer::Other, &ticket), None, "another user saw the address");
        let key = redeem(Peer::Own, &ticket).unwrap();
        assert_eq!(redeem(Peer::Own, &ticket), None, "a second time");
        assert_eq!(access.check(&request(Peer::Other, "/api/search", &key)), Ok(()));
        assert!(access.check(&request(Peer::Own, "/api/search", &ticket)).is_err(), "no key");
        assert_eq!(redeem(Peer::Own, &key), None, "a key gives no other one");
        assert!(redeem(Peer::Other, "t").is_some(), "the token gives a key");
        let first = access.ticket().unwrap();
        (0..MAX_PASSES).for_each(|_| drop(access.ticket()));
        assert_eq!(redeem(Peer::Own, &first), None, "too many tickets");
        let open = Access::new("127.0.0.1".parse().unwrap(), None).unwrap();
        assert_eq!((open.ticket(), open.redeem(&request(Peer::Own, REDEEM, ""))), (None, None));
    }

    #[test]
    fn a_body_of_another_type_is_refused() {
        let post = |kinds: &[&'static str]| {
            let kinds = kinds.iter().map(|kind| ("content-type", *kind));
            let headers: Vec<_> = std::iter::once(("host", "localhost")).chain(kinds).collect();
            check_of(Peer::Own, Method::POST, "127.0.0.1", None, "/api/add_memory", &headers)
        };
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/json ;a=b"]
        {
            assert_eq!(post(&[json]), Ok(()), "{json}");
        }
        for other in [
            &["text/plain"][..],
            &[],
            &[""],
            &["application/x-www-form-urlencoded"],
            &["multipart/form-data; boundary=application/json"],
            &["text/plain; application/json"],
            &["application/jsonp"],
            &["application/json", "text/plain"],
            &["text/plain", "application/json"],
        ] {
            assert_eq!(post(other), Err(Refusal::NotJson), "{other:?}");
        }
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
                Access::new(
                    bound.parse().unwrap(),
                    token.and_then(|t: &str| Token::chosen(t.into()))
                )
                .is_ok(),
                ok,
                "{bound}"
            );
        }
    }
}
