//! Listens, and hands connections to the service: how many, how long, and how it ends.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::life::Signals;

/// Ports that are tried after the first.
const FURTHER_PORTS: u16 = 20;
const MAX_CONNECTIONS: usize = 256;
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 << 10;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests may go on after the server was told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// What those are told for whom there is no room.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n";

/// Listens at the first port that is free: `port` or one of the next; any for 0.
///
/// # Errors
/// When none is free, or the address is not this machine's.
pub fn bind(address: IpAddr, port: u16) -> io::Result<TcpListener> {
    let last = if port == 0 { 0 } else { port.saturating_add(FURTHER_PORTS) };
    for candidate in port..=last {
        match TcpListener::bind((address, candidate)) {
            Err(e) if e.kind() == ErrorKind::AddrInUse && candidate < last => {}
            Err(e) if e.kind() == ErrorKind::AddrInUse => break,
            Err(e) => return Err(io::Error::new(e.kind(), format!("{address} port {candidate}: {e}"))),
            Ok(listener) => return Ok(listener),
        }
    }
    Err(io::Error::new(ErrorKind::AddrInUse, format!("{address}: the ports {port} to {last} are taken; give another one with --port")))
}

/// Serves until a signal comes; then finishes what runs, for a while. `closing` is cancelled when the end begins.
///
/// # Errors
/// When the listener cannot be used.
pub async fn serve(listener: TcpListener, router: Router, closing: CancellationToken, mut signals: Signals) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_headers(MAX_HEADERS).max_header_size(MAX_HEADER_BYTES);
    let (room, running) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), GracefulShutdown::new());
    loop {
        let stream = tokio::select! {
            () = signals.wait() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(e) => {
                    // Out of file descriptors, say: it gets better, or somebody reads this.
                    tracing::warn!("a connection was not accepted: {e}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let Ok(permit) = room.clone().try_acquire_owned() else {
            let _ = stream.writable().await;
            let _ = stream.try_write(FULL);
            continue;
        };
        let _ = stream.set_nodelay(true);
        let connection = running.watch(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone())));
        tokio::spawn(async move {
            if let Err(e) = connection.await {
                tracing::debug!("a connection broke: {e}");
            }
            drop(permit);
        });
    }
    drop(listener);
    closing.cancel();
    tracing::info!("ending");
    if tokio::time::timeout(LAST_ANSWERS, running.shutdown()).await.is_err() {
        tracing::warn!("some requests were not finished");
    }
    Ok(())
}
