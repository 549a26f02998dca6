//! The client's side: carries the lines of one agent to the server of the machine and back.
//!
//! A server may end at any moment. What an agent asked and has no answer to is asked again of the
//! next server, once, if that changes nothing; otherwise the agent is told to look and to try again.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::platform::LocalStream;
use crate::serve::lines::MAX_LINE_BYTES;
use crate::serve::rpc::{self, BATCHING, Failure, Incoming};
use crate::tools::{Effect, Tool};

/// The id of the message that introduces the agent to a further server. No agent has it.
const INTRODUCTION: &str = "cortex-introduction";
const INTERNAL_ERROR: i32 = -32603;
/// How often a message may be sent to a server.
const MOST_SENT: u8 = 2;
/// Longer lines are not kept after they were sent, so they are not asked again. In bytes.
const MAX_KEPT: usize = 1 << 20;
/// How long the answers to the last questions may take after the agent closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(6);
const STACK_BYTES: usize = 256 << 10;

/// Returns a new connection to a server, in which nothing of the agent was said.
pub type Dial = dyn Fn() -> io::Result<BufReader<LocalStream>> + Send + Sync;

/// Carries lines between an agent and its servers.
pub struct Bridge {
    dial: Box<Dial>,
    state: Mutex<State>,
    /// Held by the one thread that sends to the server.
    sending: Mutex<()>,
    /// Where lines go to the agent.
    output: Mutex<Box<dyn Write + Send>>,
    /// Notified when a connection ends, when all lines were sent, and when errors were written.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    link: Option<Link>,
    /// Number of connections so far.
    n_links: u64,
    /// The message by which the agent began the session.
    introduction: Option<Value>,
    /// Messages that were not sent yet, or have no answer, in their order.
    open: Vec<Message>,
    /// Number of threads that write errors for messages that are no longer in `open`.
    n_failing: usize,
}

#[derive(Clone)]
struct Link {
    number: u64,
    stream: Arc<LocalStream>,
}

/// A line of the agent.
struct Message {
    /// Empty after it was sent, if it is too long to be kept.
    line: Vec<u8>,
    /// The requests in it: one, several in a batch, none in a notification.
    requests: Vec<Request>,
    is_batch: bool,
    n_sent: u8,
    /// The connection that it was sent to.
    link: Option<u64>,
}

struct Request {
    id: Value,
    /// Whether a tool is called, whose result has a place for errors.
    is_call: bool,
    /// Whether the answer may come with a change.
    changes: bool,
}

/// The part of a server's line that the bridge reads.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

fn heads(line: &[u8]) -> Vec<Head<'_>> {
    let line = line.trim_ascii();
    if line.first() == Some(&b'[') {
        serde_json::from_slice(line).unwrap_or_default()
    } else {
        serde_json::from_slice(line).into_iter().collect()
    }
}

impl Request {
    /// Returns the request in a message that the server answers, also if only with a refusal.
    fn of(message: &Result<Value, Failure>) -> Option<Self> {
        match message {
            Ok(message) => {
                let id = rpc::id(message).filter(|_| !rpc::is_response(message))?.clone();
                let is_call = message["method"] == "tools/call";
                let tool = message["params"]["name"].as_str().filter(|_| is_call);
                let changes = tool.and_then(Tool::named).is_some_and(|t| t.effect != Effect::None);
                Some(Self { id, is_call, changes })
            }
            Err(failure) => {
                let id = failure.id.clone().filter(|id| !id.is_null())?;
                Some(Self { id, is_call: false, changes: false })
            }
        }
    }

    /// The answer when no server gave one.
    fn failed(&self, why: &str) -> Value {
        let text = if self.changes {
            format!("{why}: the change may be made or not, so look before you call again")
        } else {
            format!("{why}: call again")
        };
        if self.is_call {
            let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
            json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
        } else {
            let error = json!({ "code": INTERNAL_ERROR, "message": text });
            json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
        }
    }
}

impl State {
    /// Returns the first line that was not sent, and notes that it is sent now.
    fn next_line(&mut self, link: &Link) -> Option<Vec<u8>> {
        let message = self.open.iter_mut().find(|message| message.link.is_none())?;
        message.link = Some(link.number);
        message.n_sent += 1;
        let is_kept = message.line.len() <= MAX_KEPT;
        let line = if is_kept { message.line.clone() } else { std::mem::take(&mut message.line) };
        self.forget_answered();
        Some(line)
    }

    /// Drops messages of which nothing is awaited: all was answered, or they are notifications.
    fn forget_answered(&mut self) {
        self.open.retain(|message| message.n_sent == 0 || !message.requests.is_empty());
    }
}

impl Bridge {
    /// Creates a bridge that writes to the agent on `output`.
    #[must_use]
    pub fn new(dial: Box<Dial>, output: Box<dyn Write + Send>) -> Arc<Self> {
        Arc::new(Self {
            dial,
            state: Mutex::default(),
            sending: Mutex::default(),
            output: Mutex::new(output),
            ended: Condvar::new(),
        })
    }

    /// Carries lines until the agent closes its side and has its last answers.
    ///
    /// # Errors
    /// When the agent's side cannot be read.
    pub fn carry(self: &Arc<Self>, input: impl Read) -> io::Result<()> {
        // A server is there when the first question comes.
        let sending = self.sending.lock();
        let _ = self.connect();
        drop(sending);
        let mut input = BufReader::with_capacity(64 << 10, input);
        loop {
            let mut line = Vec::new();
            let mut part = input.by_ref().take(MAX_LINE_BYTES as u64 + 1);
            if part.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if !line.ends_with(b"\n") {
                if line.len() > MAX_LINE_BYTES {
                    input.skip_until(b'\n')?;
                    if let Some(refusal) = Failure::too_long(&line, MAX_LINE_BYTES).reply() {
                        self.tell(format!("{refusal}\n").as_bytes());
                    }
                    continue;
                }
                line.push(b'\n');
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = self.understood(line);
            self.state.lock().open.push(message);
            self.send();
        }
        self.finish();
        Ok(())
    }

    /// Reads a line of the agent as the server will read it, and notes what it means for the bridge.
    fn understood(&self, line: Vec<u8>) -> Message {
        let has_batches = self
            .state
            .lock()
            .introduction
            .as_ref()
            .is_some_and(|introduction| introduction["params"]["protocolVersion"] == BATCHING);
        let read = rpc::read(&line, has_batches);
        let is_batch = matches!(read, Ok(Incoming::Batch(_)));
        let messages = match read {
            Ok(Incoming::One(message)) => vec![Ok(message)],
            Ok(Incoming::Batch(messages)) => messages,
            Err(failure) => vec![Err(failure)],
        };
        let requests = messages.iter().filter_map(Request::of).collect();
        for message in messages.into_iter().flatten() {
            if message["method"] == "initialize" {
                self.state.lock().introduction = Some(message);
            } else if message["method"] == "notifications/cancelled" {
                self.answered(&message["params"]["requestId"]);
            }
        }
        Message { line, requests, is_batch, n_sent: 0, link: None }
    }

    /// Removes a request that needs no further answer.
    fn answered(&self, id: &Value) {
        let mut state = self.state.lock();
        for message in &mut state.open {
            message.requests.retain(|request| request.id != *id);
        }
        state.forget_answered();
    }

    /// Sends all messages that were not sent to the present server.
    fn send(self: &Arc<Self>) {
        let _sending = self.sending.lock();
        while self.state.lock().open.iter().any(|message| message.link.is_none()) {
            match self.connect() {
                Ok(link) => {
                    let line = self.state.lock().next_line(&link);
                    if line.is_some_and(|line| (&*link.stream).write_all(&line).is_err()) {
                        self.lost(link.number);
                    }
                }
                Err(e) => {
                    let mut state = self.state.lock();
                    let open = std::mem::take(&mut state.open);
                    self.fail(state, &open, &format!("no server of cortex can be reached ({e})"));
                }
            }
        }
        self.ended.notify_all();
    }

    /// Returns the present connection, or a new one in which the agent is introduced.
    fn connect(self: &Arc<Self>) -> io::Result<Link> {
        if let Some(link) = &self.state.lock().link {
            return Ok(link.clone());
        }
        let input = (self.dial)()?;
        let stream = Arc::new(input.get_ref().try_clone()?);
        let mut state = self.state.lock();
        state.n_links += 1;
        let link = Link { number: state.n_links, stream };
        let is_open = |message: &Message, id: &Value| message.requests.iter().any(|r| r.id == *id);
        let introduction = state.introduction.clone().filter(|introduction| {
            !state.open.iter().any(|message| is_open(message, &introduction["id"]))
        });
        state.link = Some(link.clone());
        drop(state);
        if let Some(mut introduction) = introduction {
            introduction["id"] = INTRODUCTION.into();
            let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            // If it fails, the next line fails as well.
            let _ = (&*link.stream).write_all(format!("{introduction}\n{begun}\n").as_bytes());
        }
        let (this, number) = (self.clone(), link.number);
        let read = move || {
            this.receive(input);
            this.lost(number);
            this.send();
        };
        thread::Builder::new().name("answers".into()).stack_size(STACK_BYTES).spawn(read)?;
        Ok(link)
    }

    /// Carries lines of a server to the agent until the connection ends.
    fn receive(&self, mut input: BufReader<LocalStream>) {
        let mut line = Vec::new();
        // A line without its end is of a server that died while it wrote.
        while input.read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n") {
            let heads = heads(&line);
            let mut is_for_agent = true;
            for id in heads.into_iter().filter(|h| h.method.is_none()).filter_map(|h| h.id) {
                is_for_agent &= id != INTRODUCTION;
                self.answered(&id);
            }
            if is_for_agent {
                self.tell(&line);
            }
            line.clear();
        }
    }

    /// Writes to the agent. If it does not read any more, the process has nobody to work for.
    fn tell(&self, line: &[u8]) {
        let mut output = self.output.lock();
        if output.write_all(line).and_then(|()| output.flush()).is_err() {
            std::process::exit(0);
        }
    }

    /// Ends a connection. What had no answer is to be sent again, or fails.
    fn lost(&self, number: u64) {
        let mut state = self.state.lock();
        if state.link.as_ref().is_some_and(|link| link.number == number) {
            state.link = None;
        }
        let (mut failed, mut open) = (Vec::new(), Vec::new());
        for mut message in std::mem::take(&mut state.open) {
            if message.link != Some(number) {
                open.push(message);
            } else if message.n_sent >= MOST_SENT
                || message.line.is_empty()
                || message.requests.iter().any(|r| r.changes)
            {
                failed.push(message);
            } else {
                message.link = None;
                open.push(message);
            }
        }
        state.open = open;
        self.fail(state, &failed, "the server of cortex ended before it answered");
    }

    /// Writes an error for each request of messages that were just removed from the state.
    fn fail(&self, mut state: MutexGuard<State>, messages: &[Message], why: &str) {
        state.n_failing += 1;
        drop(state);
        for message in messages {
            let answers: Vec<Value> = message.requests.iter().map(|r| r.failed(why)).collect();
            let answer = match &*answers {
                [] => continue,
                [answer] if !message.is_batch => answer.clone(),
                _ => answers.into(),
            };
            self.tell(format!("{answer}\n").as_bytes());
        }
        self.state.lock().n_failing -= 1;
        self.ended.notify_all();
    }

    /// Waits for the last answers. A server closes its connection after them.
    fn finish(&self) {
        let end = Instant::now() + LAST_ANSWERS;
        loop {
            // A connection is not closed while a line is being sent over it.
            let Some(sending) = self.sending.try_lock_until(end) else { return };
            let mut state = self.state.lock();
            let is_sent = state.open.iter().all(|message| message.link.is_some());
            if let Some(link) = state.link.as_ref().filter(|_| is_sent) {
                let _ = link.stream.shutdown(Shutdown::Write);
            }
            drop(sending);
            let is_over = state.link.is_none() && state.open.is_empty() && state.n_failing == 0;
            if is_over || self.ended.wait_until(&mut state, end).timed_out() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agent's side of the output.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns what an agent reads that sends these lines to servers that end after the first line.
    fn answers_of_dying_servers(lines: &str) -> Vec<Value> {
        let dial = || -> io::Result<BufReader<LocalStream>> {
            let (ours, theirs) = LocalStream::pair()?;
            thread::spawn(move || BufReader::new(theirs).skip_until(b'\n'));
            Ok(BufReader::new(ours))
        };
        let written = Written::default();
        Bridge::new(Box::new(dial), Box::new(written.clone())).carry(lines.as_bytes()).unwrap();
        let bytes = written.0.lock().clone();
        String::from_utf8(bytes)
            .unwrap()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    #[test]
    fn every_request_has_an_answer_when_servers_die() {
        let call = |tool: &str, length: usize| {
            let arguments = format!(r#"{{"query":"{}"}}"#, "x".repeat(length));
            let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
        };
        for length in [1, MAX_KEPT, 2 * MAX_KEPT, MAX_LINE_BYTES] {
            for tool in ["cortex_search", "add_memory", "nothing"] {
                for end in ["\n", "\n\n", ""] {
                    let answers = answers_of_dying_servers(&format!("{}{end}", call(tool, length)));
                    let [answer] = &*answers else { panic!("{length} {tool}: {answers:?}") };
                    assert_eq!(answer["id"], 7, "{length} {tool}");
                    let text = answer.to_string();
                    let advice = if length == MAX_LINE_BYTES {
                        "send less in one message"
                    } else if tool == "add_memory" {
                        "look before you call again"
                    } else {
                        ": call again"
                    };
                    assert!(text.contains(advice), "{text}");
                }
            }
        }
        // The server refuses these, and the refusal is lost with it.
        for refused in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list""#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}",
        ] {
            let answers = answers_of_dying_servers(&format!("{refused}\n"));
            let [answer] = &*answers else { panic!("{refused}: {answers:?}") };
            assert_eq!(answer["id"], 7, "{refused}");
        }
    }

    #[test]
    fn a_notification_has_no_answer_when_servers_die() {
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(answers_of_dying_servers(&format!("{told}\n")).is_empty());
    }
}
