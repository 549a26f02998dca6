//! Accepts connections for the service, limits their number and time, and ends them.

use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, TcpListener, TcpStream as StdTcpStream};
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::access::{Access, Peer};
use super::token::Token;
use crate::platform::is_of_own_user;

/// Number of ports that are tried after the first.
const FURTHER_PORTS: u16 = 20;
pub(super) const MAX_CONNECTIONS: usize = 256;
/// Most connections over the limit, or of refused users, that get an error response at a time.
/// Others are closed without one.
const MAX_TURNED_AWAY: usize = 64;
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 << 10;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests may continue after the signal to end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long a client may accept no byte of an answer.
const STALLED: Duration = Duration::from_secs(30);
/// How long a client may continue to send after its last answer.
const LINGER: Duration = Duration::from_secs(2);
/// The response to a connection that exceeds the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n\
content-length: 58\r\nretry-after: 1\r\nconnection: close\r\n\r\n{\"error\":\"too many connections are open: try again soon\"}\n";

/// Listens on the first free port from `port` on, or on any port if it is 0.
///
/// # Errors
/// When no port is free, or the address does not belong to this machine.
pub(super) fn bind(address: IpAddr, port: u16) -> io::Result<TcpListener> {
    let last = if port == 0 { 0 } else { port.saturating_add(FURTHER_PORTS) };
    for candidate in port..=last {
        match TcpListener::bind((address, candidate)) {
            Err(e) if e.kind() == ErrorKind::AddrInUse && candidate < last => {}
            Err(e) if e.kind() == ErrorKind::AddrInUse => break,
            Err(e) => {
                return Err(io::Error::new(
                    e.kind(),
                    format!("cannot listen on {address} port {candidate}: {e}"),
                ));
            }
            Ok(listener) => return Ok(listener),
        }
    }
    Err(io::Error::new(
        ErrorKind::AddrInUse,
        format!(
            "cannot listen on {address}: the ports {port} to {last} are in use; choose another one with --port"
        ),
    ))
}

/// An address that is listened on, with the rule of whom to answer there.
pub struct Front {
    pub listener: TcpListener,
    pub access: Access,
    /// The token that is kept for this user, if clients must send that one.
    pub kept: Option<Token>,
}

impl Front {
    /// Listens on the first free port from `port` on. Without a `token`, only programs of this user
    /// are answered; where the system does not tell which ones those are, clients must send a token
    /// that is kept in the directory `state`.
    ///
    /// # Errors
    /// When no port is free, or other machines could send requests and there is no token.
    pub fn open(
        address: IpAddr,
        port: u16,
        token: Option<Token>,
        state: Option<&Path>,
    ) -> io::Result<Self> {
        let mut access = Access::new(address, token).map_err(io::Error::other)?;
        let listener = bind(address, port)?;
        let tells_users_apart = address.is_loopback() && knows_own_programs(&listener);
        let kept = access.is_by_user() && !tells_users_apart;
        let kept = kept.then(|| kept_token(state)).transpose()?;
        if let Some(token) = kept.clone() {
            access = Access::new(address, Some(token)).map_err(io::Error::other)?;
        }
        let access = access.telling_users_apart(tells_users_apart);
        Ok(Self { listener, access, kept })
    }
}

/// Returns the token of this user, for a system that does not tell users apart.
fn kept_token(state: Option<&Path>) -> io::Result<Token> {
    let advice = |why: String| {
        io::Error::other(format!(
            "the system does not tell which programs are yours, and no token can be kept: set CORTEX_SERVE_TOKEN to one that clients must send{why}"
        ))
    };
    let state = state.ok_or_else(|| advice(String::new()))?;
    Token::kept(state).map_err(|e| advice(format!(" ({e})")))
}

/// Whether the operating system tells which connections to this listener are of this user's
/// programs. Opens one to find out.
#[must_use]
fn knows_own_programs(listener: &TcpListener) -> bool {
    let own_end = listener.local_addr().and_then(|at| Ok((at, StdTcpStream::connect(at)?)));
    own_end.is_ok_and(|(at, stream)| stream.local_addr().is_ok_and(|from| is_of_own_user(at, from)))
}

/// Serves until `end`, then lets running requests finish for some seconds. Cancels
/// `closing` when the end begins. If the rule of the router `refuses_others`, other users get few
/// connections, and cannot hold the places of this one.
///
/// # Errors
/// When the listener cannot be registered with the runtime.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    refuses_others: bool,
    closing: CancellationToken,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut end = pin!(end);
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_header_size(MAX_HEADER_BYTES);
    let (room, turned_away) =
        (Arc::new(Semaphore::new(MAX_CONNECTIONS)), Arc::new(Semaphore::new(MAX_TURNED_AWAY)));
    let running = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(e) => {
                    // For example, no file descriptors are left. Others may be closed soon; if
                    // not, the log says why.
                    tracing::warn!("cannot accept a connection: {e}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let peer = Peer::of(&stream);
        let is_refused = refuses_others && peer == Peer::Other;
        let places = if is_refused { &turned_away } else { &room };
        let Ok(permit) = places.clone().try_acquire_owned() else {
            if let Ok(permit) = turned_away.clone().try_acquire_owned() {
                let mut connection = Connection::new(stream, permit);
                tokio::spawn(async move { connection.write_all(FULL).await });
            }
            continue;
        };
        let _ = stream.set_nodelay(true);
        let router = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            router.call(request)
        });
        let io = TokioIo::new(Connection::new(stream, permit));
        let connection = running.watch(http.serve_connection(io, service));
        tokio::spawn(async move {
            if let Err(e) = connection.await {
                tracing::debug!("a connection failed: {e}");
            }
        });
    }
    drop(listener);
    closing.cancel();
    tracing::info!("shutting down");
    if tokio::time::timeout(LAST_ANSWERS, running.shutdown()).await.is_err() {
        tracing::warn!("shut down before all requests were finished");
    }
    Ok(())
}

/// Returns the answer of a router to one request.
pub(super) async fn answer(router: Router, request: Request<Body>) -> Response {
    match TowerToHyperService::new(router).call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The connection of one client, with its permit.
///
/// A client that does not read for [`STALLED`] is disconnected. If it still sends after its last
/// answer, its data is read for [`LINGER`], since the system would otherwise reset the connection
/// before the answer arrives.
struct Connection {
    stream: Option<(TcpStream, OwnedSemaphorePermit)>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit) -> Self {
        Self { stream: Some((stream, permit)), stalled: None }
    }

    /// Calls a function with the stream, which is present until the connection is dropped.
    fn poll<T>(
        &mut self,
        poll: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut self.stream {
            Some((stream, _)) => poll(Pin::new(stream)),
            None => Poll::Ready(Err(ErrorKind::NotConnected.into())),
        }
    }

    /// Returns the result of a write, or an error if no write succeeded for [`STALLED`].
    fn written<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled = None;
            return result;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        stalled.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll(|stream| stream.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = self.poll(|stream| stream.poll_write(cx, bytes));
        self.written(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = self.poll(|stream| stream.poll_write_vectored(cx, parts));
        self.written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(|stream| stream.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(|stream| stream.poll_shutdown(cx))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let (Some((stream, permit)), Ok(runtime)) = (self.stream.take(), Handle::try_current()) {
            runtime.spawn(async move {
                let _ = timeout(LINGER, drain(stream)).await;
                drop(permit);
            });
        }
    }
}

/// Closes our side, and reads what the client still sends until it closes its side.
async fn drain(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut buffer = [0; 8 << 10];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}
