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

use parking_lot::{Condvar, Mutex};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::platform::LocalStream;
use crate::tools::{Effect, Tool};

/// The id of the message that introduces the agent to a further server. No agent has it.
const INTRODUCTION: &str = "cortex-introduction";
const INTERNAL_ERROR: i32 = -32603;
/// How often a message may be sent to a server.
const MOST_SENT: u8 = 2;
/// Longer lines are carried, but not kept, so they are not asked again. In bytes.
const MAX_KEPT: u64 = 1 << 20;
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
    /// Notified when a connection ends.
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
}

#[derive(Clone)]
struct Link {
    number: u64,
    stream: Arc<LocalStream>,
}

/// A line of the agent.
struct Message {
    line: Vec<u8>,
    /// The requests in it: one, several in a batch, none in a notification.
    requests: Vec<Request>,
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

/// What of a message the bridge has to know.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
}

fn heads(line: &[u8]) -> Vec<Head<'_>> {
    let line = line.trim_ascii();
    if line.first() == Some(&b'[') {
        serde_json::from_slice(line).unwrap_or_default()
    } else {
        serde_json::from_slice(line).into_iter().collect()
    }
}

impl Head<'_> {
    fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    fn request(self) -> Option<Request> {
        let is_call = self.is("tools/call");
        let id = self.id.filter(|_| self.method.is_some())?;
        let tool = self.params.and_then(|params| Tool::named(&params.name?));
        Some(Request { id, is_call, changes: tool.is_some_and(|t| t.effect != Effect::None) })
    }
}

impl Request {
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
        let line = message.line.clone();
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
        let mut is_long = false;
        loop {
            let mut line = Vec::new();
            if input.by_ref().take(MAX_KEPT).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let is_whole = line.ends_with(b"\n");
            let requests = if is_long || !is_whole { Vec::new() } else { self.understood(&line) };
            is_long = !is_whole;
            let message = Message { line, requests, n_sent: 0, link: None };
            self.state.lock().open.push(message);
            self.send();
        }
        self.finish();
        Ok(())
    }

    /// Notes what a line of the agent means for the bridge, and returns the requests in it.
    fn understood(&self, line: &[u8]) -> Vec<Request> {
        let mut requests = Vec::new();
        for head in heads(line) {
            if head.is("initialize") {
                self.state.lock().introduction = serde_json::from_slice(line).ok();
            }
            if head.is("notifications/cancelled") {
                let id = head.params.and_then(|params| params.request_id);
                if let Some(id) = id {
                    self.answered(&id);
                }
            } else {
                requests.extend(head.request());
            }
        }
        requests
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
            let link = match self.connect() {
                Ok(link) => link,
                Err(e) => {
                    let open = std::mem::take(&mut self.state.lock().open);
                    self.fail(&open, &format!("no server of cortex can be reached ({e})"));
                    return;
                }
            };
            let Some(line) = self.state.lock().next_line(&link) else { return };
            if (&*link.stream).write_all(&line).is_err() {
                self.lost(link.number);
            }
        }
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
            } else if message.n_sent >= MOST_SENT || message.requests.iter().any(|r| r.changes) {
                failed.push(message);
            } else {
                message.link = None;
                open.push(message);
            }
        }
        state.open = open;
        drop(state);
        self.ended.notify_all();
        self.fail(&failed, "the server of cortex ended before it answered");
    }

    fn fail(&self, messages: &[Message], why: &str) {
        for message in messages {
            let answers: Vec<Value> = message.requests.iter().map(|r| r.failed(why)).collect();
            let answer = match &*answers {
                [] => continue,
                [answer] if !message.line.trim_ascii_start().starts_with(b"[") => answer.clone(),
                _ => answers.into(),
            };
            self.tell(format!("{answer}\n").as_bytes());
        }
    }

    /// Waits for the last answers. The server closes the connection after them.
    fn finish(&self) {
        let mut state = self.state.lock();
        if let Some(link) = &state.link {
            let _ = link.stream.shutdown(Shutdown::Write);
        }
        let end = Instant::now() + LAST_ANSWERS;
        while state.link.is_some() && Instant::now() < end {
            self.ended.wait_until(&mut state, end);
        }
    }
}
