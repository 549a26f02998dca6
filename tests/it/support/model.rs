//! A mock of an embedding server: its vectors count words, and synonyms count as one word.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::{Value, json};

use super::project::Project;

const MEANINGS: [(&str, &str); 4] = [
    ("cooking", "boil"),
    ("vegetables", "potatoes"),
    ("decorator", "paint"),
    ("partition", "wall"),
];

/// How the model behaves.
#[derive(Clone, PartialEq)]
pub enum Mood {
    /// Returns vectors of this length for texts of at most this many bytes.
    Well {
        dimensions: usize,
        longest: usize,
    },
    /// Gives no answer until the mood changes.
    Silent,
    Says(u16, String),
}

pub const WELL: Mood = Mood::Well { dimensions: 256, longest: usize::MAX };

/// A running mock.
pub struct Model {
    pub url: String,
    state: Arc<State>,
}

struct State {
    mood: Mutex<Mood>,
    changed: Condvar,
    requests: Mutex<Vec<Request>>,
}

/// The texts of one request.
#[derive(Clone)]
pub struct Request {
    pub head: String,
    pub model: String,
    pub texts: Vec<String>,
}

impl Model {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            mood: Mutex::new(WELL),
            changed: Condvar::new(),
            requests: Mutex::default(),
        });
        let shared = state.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || state.serve(&connection));
            }
        });
        Self { url, state }
    }

    pub fn set(&self, mood: Mood) {
        *self.state.mood.lock() = mood;
        self.state.changed.notify_all();
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().clone()
    }

    /// Returns every text that was sent since the last call.
    pub fn sent(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.requests.lock()).into_iter().flat_map(|r| r.texts).collect()
    }

    /// Returns user settings that name this model.
    pub fn settings(&self, name: &str, more: &str) -> String {
        format!("[embed]\nurl = '{}'\nmodel = '{name}'\ndimensions = 256\n{more}\n", self.url)
    }

    /// Creates the sample project with this model.
    pub fn sample(&self, more: &str) -> Project {
        let p = Project::sample();
        p.configure(self.settings("words", more));
        p
    }
}

impl State {
    fn mood(&self) -> MutexGuard<'_, Mood> {
        self.mood.lock()
    }

    /// Answers the requests of one connection until it is closed.
    fn serve(&self, connection: &TcpStream) {
        let mut reader = BufReader::new(connection.try_clone().unwrap());
        while let Some(request) = read(&mut reader) {
            self.requests.lock().push(request.clone());
            let mood = {
                let mut mood = self.mood();
                self.changed.wait_while(&mut mood, |mood| *mood == Mood::Silent);
                mood.clone()
            };
            let (status, body) = match mood {
                Mood::Says(status, body) => (status, body),
                Mood::Well { longest, .. } if request.texts.iter().any(|t| t.len() > longest) => (
                    500,
                    json!({ "error": { "message": "input is too large to process" } }).to_string(),
                ),
                Mood::Well { dimensions, .. } => {
                    let item = |(i, t): (usize, &String)| json!({ "index": i, "embedding": vector(&request.model, t, dimensions) });
                    // In arbitrary order, because the index field counts.
                    let data: Vec<Value> =
                        request.texts.iter().enumerate().rev().map(item).collect();
                    (200, json!({ "object": "list", "data": data }).to_string())
                }
                Mood::Silent => unreachable!(),
            };
            let answer = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            if reader.get_mut().write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let texts =
        body["input"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_string()).collect();
    Some(Request { head, model: body["model"].as_str().unwrap().into(), texts })
}

/// Counts words. Each model orders them differently, so vectors of two models have nothing in
/// common.
fn vector(model: &str, text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimensions];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3) {
        let meaning =
            MEANINGS.iter().find(|(other, _)| *other == word).map_or(word, |(_, meaning)| meaning);
        let mut hasher = DefaultHasher::new();
        (model, meaning).hash(&mut hasher);
        vector[usize::try_from(hasher.finish() % dimensions as u64).unwrap()] += 1.0;
    }
    vector
}
