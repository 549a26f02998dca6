//! Serves MCP as lines to one client while it is connected.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polling, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::events::Streams;
use super::mcp::Mcp;

/// How long calls may continue after the client closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Longest time of a request from the connection to its call, and of an answer back to it.
const BREATH: Duration = Duration::from_millis(100);

/// Serves one client until it closes its side of the connection, and answers what it asked before.
/// `closing` ends streams that would otherwise never end.
///
/// # Errors
/// When the connection to the client fails.
pub(super) async fn talk(
    calls: Arc<Calls>,
    closing: CancellationToken,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let ended = CancellationToken::new();
    let input = Input { input, ended: ended.clone() };
    let streams = Streams::new(calls.project.changes().clone(), closing);
    let client_left = async {
        ended.cancelled().await;
        // By then its last requests have begun, and their answers are awaited.
        tokio::time::sleep(BREATH).await;
        let _ = tokio::time::timeout(LAST_ANSWERS, calls.finished()).await;
        tokio::time::sleep(BREATH).await;
    };
    tokio::select! {
        result = Mcp::new(calls.clone(), streams).talk(input, output) => result,
        () = client_left => Ok(()),
    }
}

/// A connection that reports its end. The SDK waits longer for the last answers than a client may
/// want to.
struct Input<I> {
    input: I,
    ended: CancellationToken,
}

impl<I: AsyncRead + Unpin> AsyncRead for Input<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Polling<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.input).poll_read(cx, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
