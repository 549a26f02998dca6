//! Transports messages as lines: reads those of one client, and writes the answers.
//!
//! A line that is not a message gets an error and is skipped, whatever its length.
//! The session continues.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use parking_lot::{Mutex as Lock, MutexGuard};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc};

use super::rpc::{self, BATCHING, Failure, Incoming};

/// Largest line in bytes. Of longer lines, no more than this is kept, and they are refused.
pub(super) const MAX_LINE_BYTES: usize = 16 << 20;
/// Most messages that are read before the service takes them.
const READ_AHEAD: usize = 16;

/// Both directions of the connection to a client. Clones share it.
#[derive(Clone)]
pub(super) struct LineTransport {
    incoming: Arc<Mutex<mpsc::Receiver<Value>>>,
    pub(super) answers: Answers,
}

impl LineTransport {
    /// Starts to read in the background, until `input` ends or nobody receives messages.
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (messages, incoming) = mpsc::channel(READ_AHEAD);
        let answers =
            Answers { output: Arc::new(Mutex::new(Box::new(output))), open: Arc::default() };
        let reader = Reader { messages, answers: answers.clone(), has_batches: false };
        tokio::spawn(async move {
            if let Err(e) = reader.run(BufReader::with_capacity(64 << 10, input)).await {
                tracing::warn!("the connection to the client failed: {e}");
            }
        });
        Self { incoming: Arc::new(Mutex::new(incoming)), answers }
    }

    /// Returns the next well-formed message; `None` after the last.
    pub(super) async fn next(&self) -> Option<Value> {
        self.incoming.lock().await.recv().await
    }
}

struct Reader {
    messages: mpsc::Sender<Value>,
    answers: Answers,
    /// Whether the client chose the protocol revision that has batches.
    has_batches: bool,
}

impl Reader {
    async fn run(mut self, mut input: impl AsyncBufRead + Unpin) -> io::Result<()> {
        loop {
            let mut line = Vec::new();
            let result = match next_line(&mut input, &mut line).await? {
                Line::End if line.is_empty() => return Ok(()),
                _ if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Whole | Line::End => rpc::read(&line, self.has_batches),
                Line::TooLong => Err(Failure::too_long(&line, MAX_LINE_BYTES)),
            };
            drop(line);
            let is_over = match result {
                Ok(Incoming::One(message)) => self.pass(message, None).await?,
                Ok(Incoming::Batch(messages)) => self.pass_all(messages).await?,
                Err(failure) => self.answers.refuse(&failure).await.map(|()| false)?,
            };
            if is_over {
                return Ok(());
            }
        }
    }

    async fn pass_all(&mut self, messages: Vec<Result<Value, Failure>>) -> io::Result<bool> {
        let batch = self.answers.open_batch();
        for message in messages {
            match message {
                Ok(message) => {
                    if self.pass(message, Some(batch)).await? {
                        return Ok(true);
                    }
                }
                Err(failure) => self.answers.refuse_in(batch, &failure),
            }
        }
        let line = self.answers.lock().settle(batch, None);
        self.answers.write(line).await.map(|()| false)
    }

    /// Passes a message to the service. Returns true if the service has ended.
    async fn pass(&mut self, message: Value, batch: Option<u64>) -> io::Result<bool> {
        match message["method"].as_str() {
            Some("initialize") => {
                self.has_batches = message["params"]["protocolVersion"] == BATCHING;
            }
            // The service does not answer a cancelled request, so it counts as ended.
            Some("notifications/cancelled") => {
                self.answers.end(&message["params"]["requestId"], None).await?;
            }
            _ => {}
        }
        if let Some(id) = rpc::id(&message).filter(|_| !rpc::is_response(&message))
            && !self.answers.lock().begin(id, batch)
        {
            let failure = Failure::request(
                id.clone(),
                "another request with this id is still running: use each id once",
            );
            match batch {
                Some(batch) => self.answers.refuse_in(batch, &failure),
                None => self.answers.refuse(&failure).await?,
            }
            return Ok(false);
        }
        Ok(self.messages.send(message).await.is_err())
    }
}

enum Line {
    Whole,
    /// A line that is longer than the limit. The rest was skipped.
    TooLong,
    /// The rest of the input, which may be empty.
    End,
}

/// Reads a line without its line break. If it is too long, `line` has its beginning.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Line> {
    let mut is_too_long = false;
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(if is_too_long { Line::TooLong } else { Line::End });
        }
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = MAX_LINE_BYTES - line.len();
        is_too_long |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let taken = end.map_or(bytes.len(), |end| end + 1);
        input.consume(taken);
        if end.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

/// Writes answers, and those of a batch together.
#[derive(Clone)]
pub(super) struct Answers {
    output: Arc<Mutex<Box<dyn AsyncWrite + Send + Unpin>>>,
    open: Arc<Lock<OpenRequests>>,
}

impl Answers {
    /// Writes a message that is not an answer.
    pub(super) async fn tell(&self, message: String) -> io::Result<()> {
        self.write(Some(message)).await
    }

    /// Ends the request with this id, with an answer, or without one if it was cancelled.
    pub(super) async fn end(&self, id: &Value, answer: Option<String>) -> io::Result<()> {
        let line = self.lock().end(id, answer);
        self.write(line).await
    }

    /// Reports to the log and to the client why a message is refused.
    pub(super) async fn refuse(&self, failure: &Failure) -> io::Result<()> {
        tracing::warn!("refused a message of the client: {}", failure.message);
        match failure.reply() {
            Some(reply) => self.tell(reply.to_string()).await,
            None => Ok(()),
        }
    }

    fn refuse_in(&self, batch: u64, failure: &Failure) {
        tracing::warn!("refused a message in a batch of the client: {}", failure.message);
        let mut open = self.lock();
        if let (Some(batch), Some(reply)) = (open.batches.get_mut(&batch), failure.reply()) {
            batch.answers.push(reply.to_string());
        }
    }

    fn open_batch(&self) -> u64 {
        let mut open = self.lock();
        open.n_batches += 1;
        let number = open.n_batches;
        // Starts at one, so that the batch cannot end before all its requests are counted.
        open.batches.insert(number, Batch { n_waiting: 1, answers: Vec::new() });
        number
    }

    async fn write(&self, line: Option<String>) -> io::Result<()> {
        let Some(mut line) = line else { return Ok(()) };
        line.push('\n');
        let mut output = self.output.lock().await;
        output.write_all(line.as_bytes()).await?;
        output.flush().await
    }

    fn lock(&self) -> MutexGuard<'_, OpenRequests> {
        self.open.lock()
    }
}

/// Requests that have no answer yet.
#[derive(Default)]
struct OpenRequests {
    /// Maps the id, as JSON, to the batch of the request.
    running: HashMap<String, Option<u64>>,
    batches: HashMap<u64, Batch>,
    n_batches: u64,
}

struct Batch {
    n_waiting: usize,
    answers: Vec<String>,
}

impl OpenRequests {
    /// Registers a request. Returns false if one with this id is already running.
    fn begin(&mut self, id: &Value, batch: Option<u64>) -> bool {
        let key = id.to_string();
        if self.running.contains_key(&key) {
            return false;
        }
        self.running.insert(key, batch);
        if let Some(batch) = batch.and_then(|b| self.batches.get_mut(&b)) {
            batch.n_waiting += 1;
        }
        true
    }

    /// Ends a request, and returns the line to write, if any.
    fn end(&mut self, id: &Value, answer: Option<String>) -> Option<String> {
        match self.running.remove(&id.to_string()) {
            Some(Some(batch)) => self.settle(batch, answer),
            Some(None) | None => answer,
        }
    }

    /// Counts one item of a batch as done. Returns the whole answer after the last one, or `None`
    /// if there is nothing to answer, as for notifications.
    fn settle(&mut self, number: u64, answer: Option<String>) -> Option<String> {
        let batch = self.batches.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.n_waiting -= 1;
        if batch.n_waiting > 0 {
            return None;
        }
        let Batch { answers, .. } = self.batches.remove(&number)?;
        (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
    }
}
