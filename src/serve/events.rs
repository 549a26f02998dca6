//! `/events`: a stream of events about the served index, about indexing, and about calls.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::listen::MAX_CONNECTIONS;
use super::refusal::error;
use crate::engine::{Changes, Engine};
use crate::store::Activity;

/// Least time between two events, since indexing reports every file.
pub(super) const PACE: Duration = Duration::from_millis(100);
/// How often the state is polled, since an indexing process cannot wake this one.
const LOOK: Duration = Duration::from_secs(1);

/// Most listeners at a time. The limit leaves most connections to requests.
pub(super) const MAX_LISTENERS: usize = MAX_CONNECTIONS / 4;
/// A stream ends after this time and the client connects again, so that a listener that
/// disappeared frees its place.
const MAX_AGE: Duration = Duration::from_mins(15);
/// How long a client waits before it connects again.
const RETRY: Duration = Duration::from_secs(1);
/// Seconds that a client waits if there was no free place.
const RETRY_WHEN_FULL: &str = "10";

/// What all streams of notifications share: those of `/events` and those of the protocol.
#[derive(Clone)]
pub(super) struct Streams {
    changes: Changes,
    closing: CancellationToken,
    places: Arc<Semaphore>,
}

impl Streams {
    /// `closing` ends streams that would otherwise never end.
    pub(super) fn new(changes: Changes, closing: CancellationToken) -> Self {
        Self { changes, closing, places: Arc::new(Semaphore::new(MAX_LISTENERS)) }
    }

    /// Returns a place for one more listener, until it is dropped; `None` if all are taken.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Returns a receiver of all changes from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Waits until all streams must end.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }
}

/// The event about the served corpora.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Reload {
    generation: u64,
    chunks: usize,
    corpora: Vec<Corpus>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Corpus {
    name: &'static str,
    chunks: usize,
}

/// The event about the progress of indexing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Indexing {
    done: usize,
    total: usize,
    pending: usize,
}

/// The event about what programs ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Asking {
    /// Number of calls since the start.
    calls: u64,
}

impl Reload {
    pub(super) fn now(engine: &Engine) -> Self {
        let snapshot = engine.manager.current();
        let corpora: Vec<Corpus> = snapshot
            .corpora
            .iter()
            .map(|c| Corpus { name: c.name, chunks: c.corpus.chunks().len() })
            .collect();
        Self {
            generation: engine.freshness().generation,
            chunks: corpora.iter().map(|c| c.chunks).sum(),
            corpora,
        }
    }
}

impl Indexing {
    fn now(engine: &Engine) -> Self {
        let activity = Activity::read(&engine.project.layout);
        Self { done: activity.done, total: activity.total, pending: engine.freshness().pending }
    }
}

/// Returns the stream for one listener: the current state, then each change, until the server
/// closes all streams or [`MAX_AGE`] is over. Comments between the events detect a closed connection.
pub(super) fn stream(calls: Arc<Calls>, streams: &Streams) -> Response {
    let Some(place) = streams.place() else {
        let message = format!(
            "{MAX_LISTENERS} clients are listening, which is the limit: close one of them, or poll /api/status"
        );
        let mut response = error(StatusCode::SERVICE_UNAVAILABLE, message);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_WHEN_FULL));
        return response;
    };
    let (events, receiver) = mpsc::channel(16);
    let (changed, closing) = (streams.changes(), streams.closing.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = tell(&calls, changed, &events) => {}
            () = events.closed() => {}
            () = closing.cancelled() => {}
            () = tokio::time::sleep(MAX_AGE) => {}
        }
        drop(place);
    });
    Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response()
}

async fn tell(
    calls: &Calls,
    mut changed: watch::Receiver<()>,
    events: &mpsc::Sender<Result<Event, Infallible>>,
) {
    let mut n_calls = calls.log.n_calls();
    let (mut reload, mut indexing, mut asking) = (None, None, None);
    loop {
        // Whoever listens keeps the project open.
        let Ok(engine) = calls.engine().await else { return };
        calls.project.touch();
        let calls = *n_calls.borrow_and_update();
        if !news(events, "reload", Reload::now(&engine), &mut reload).await
            || !news(events, "indexing", Indexing::now(&engine), &mut indexing).await
            || !news(events, "activity", Asking { calls }, &mut asking).await
        {
            return;
        }
        drop(engine);
        tokio::time::sleep(PACE).await;
        tokio::select! {
            _ = changed.changed() => {}
            _ = n_calls.changed() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Sends a state unless it equals the one sent before. Returns false if the listener is gone.
async fn news<T: Serialize + PartialEq>(
    events: &mpsc::Sender<Result<Event, Infallible>>,
    name: &str,
    now: T,
    told: &mut Option<T>,
) -> bool {
    if told.as_ref() == Some(&now) {
        return true;
    }
    let Ok(event) = Event::default().event(name).json_data(&now) else { return false };
    let event = if told.is_none() { event.retry(RETRY) } else { event };
    *told = Some(now);
    events.send(Ok(event)).await.is_ok()
}
