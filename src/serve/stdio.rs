//! Serves MCP over standard input and output while the client is connected.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polling, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf, Stdin, stdin, stdout};
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::events::{Changes, Streams};
use super::life::{Signals, orphaned};
use super::mcp::Mcp;

/// How long calls may continue after the client closed standard input.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Longest time of a request from standard input to its call, and of an answer to standard output.
const BREATH: Duration = Duration::from_millis(100);

/// Serves one client until it closes standard input or dies, or a signal ends the process.
///
/// # Errors
/// When the connection to the client fails, or signals cannot be caught.
pub async fn stdio(calls: Calls, changes: Changes) -> io::Result<()> {
    let mut signals = Signals::catch()?;
    let ended = CancellationToken::new();
    let input = Input { stdin: stdin(), ended: ended.clone() };
    let calls = Arc::new(calls);
    let streams = Streams::new(changes, CancellationToken::new());
    let client_left = async {
        ended.cancelled().await;
        // By then its last requests have begun, and their answers are awaited.
        tokio::time::sleep(BREATH).await;
        let _ = tokio::time::timeout(LAST_ANSWERS, calls.finished()).await;
        tokio::time::sleep(BREATH).await;
    };
    tokio::select! {
        result = Mcp::new(calls.clone(), streams).talk(input, stdout()) => result,
        () = client_left => Ok(()),
        () = signals.wait() => Ok(()),
        () = orphaned() => Ok(()),
    }
}

/// Standard input that reports its end. The SDK waits longer for the last answers than
/// a client may want to.
struct Input {
    stdin: Stdin,
    ended: CancellationToken,
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Polling<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.stdin).poll_read(cx, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.cancel();
        }
        Poll::Ready(result)
    }
}
