//! A model behind an OpenAI-compatible server: `POST {url}/v1/embeddings`, as Ollama, LM Studio,
//! llama.cpp and TEI answer it.
//!
//! A search must not suffer from a server that is down or slow: it waits for its vector no longer
//! than the settings say, and for some seconds after a failure no search asks. A request continues
//! when nobody waits for it: Ollama stops loading a model when its client hangs up, so a model that
//! loads slower than a search waits would never be ready.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};
use xxhash_rust::xxh3::xxh3_64;

use super::{EmbedError, Embedder, Passage, normalise};
use crate::config::RemoteModel;
use crate::text::head;

/// Number of passages in one request.
const BATCH: usize = 16;
/// Longest time of a request: a large model on a small machine needs many seconds for a passage.
const REQUEST: Duration = Duration::from_mins(5);
/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// How long no question is sent after a failure.
const PAUSE: Duration = Duration::from_secs(10);
/// How long no question is sent after one that was not answered in time, unless its answer arrives.
const LONG_PAUSE: Duration = Duration::from_mins(1);
/// Number of questions whose vectors are kept: the next page of results has the same question.
const QUESTIONS: usize = 64;
/// Longest input in bytes: about as many tokens as Ollama takes by default.
/// Our own chunks are smaller.
const MAX_INPUT: usize = 8000;
/// A refused input is halved until it has fewer bytes than this.
const MIN_INPUT: usize = 400;
/// Longest answer in bytes.
const MAX_ANSWER: u64 = 64 << 20;
/// Most bytes of a server's message that an error quotes.
const MAX_QUOTE: usize = 200;
/// Increase it when the text that is sent for a passage changes.
const FORMAT: u32 = 1;

/// An embedder that gets its vectors from a server.
pub struct HttpEmbedder {
    id: String,
    query_prefix: String,
    passage_prefix: String,
    timeout: Duration,
    server: Arc<EmbeddingServer>,
}

/// The part that a request needs, even after its caller stopped waiting.
struct EmbeddingServer {
    endpoint: String,
    agent: Agent,
    model: String,
    dimensions: usize,
    token: Option<String>,
    state: Mutex<State>,
}

/// The results of earlier questions.
#[derive(Default)]
struct State {
    /// The time until which no question is sent, and the reason.
    down: Option<(Instant, String)>,
    /// Questions and their vectors, the newest first.
    known: VecDeque<(String, Vec<f32>)>,
}

/// Why a request gave no vectors.
struct Failure {
    message: String,
    /// Whether the server answered that it does not accept the input.
    is_refusal: bool,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// Creates the embedder without contacting the server.
    #[must_use]
    pub fn new(model: &RemoteModel) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Send code to the configured address only.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(REQUEST))
            // Use the certificates of the system, which include an organisation's own.
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
        if model.is_local {
            config = config.proxy(None);
        }
        let server = EmbeddingServer {
            endpoint: format!("{}/v1/embeddings", model.url),
            agent: config.build().into(),
            model: model.model.clone(),
            dimensions: model.dimensions,
            token: model.token.clone(),
            state: Mutex::default(),
        };
        Self {
            id: id(model),
            query_prefix: model.query_prefix.clone(),
            passage_prefix: model.passage_prefix.clone(),
            timeout: model.timeout,
            server: Arc::new(server),
        }
    }

    fn too_late(&self) -> String {
        format!(
            "no answer within {} ms (embed.timeout_ms); its model may be loading",
            self.timeout.as_millis()
        )
    }
}

/// Returns an id of everything that a passage's vector depends on, in characters that a file name
/// may have. The query prefix is left out, since the vectors of questions are not stored.
fn id(model: &RemoteModel) -> String {
    let RemoteModel { model, authority, dimensions, passage_prefix, .. } = model;
    let all = xxh3_64(
        format!("{FORMAT}\0{model}\0{authority}\0{dimensions}\0{passage_prefix}").as_bytes(),
    );
    let safe = |text: &str| -> String {
        let name =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' });
        name.take(60).collect()
    };
    format!("{}_{}_{dimensions}_{all:016x}", safe(model), safe(authority))
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.server.dimensions
    }

    fn is_immediate(&self) -> bool {
        false
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let text = |p: &Passage| {
            let line = if p.place.is_empty() { "" } else { "\n" };
            head(&format!("{}{}{line}{}", self.passage_prefix, p.place, p.text), MAX_INPUT)
                .to_string()
        };
        let mut vectors = Vec::with_capacity(passages.len());
        for batch in passages.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(text).collect();
            vectors.extend(self.server.embed(&texts).map_err(|e| self.server.error(e.message))?);
        }
        Ok(vectors)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let text = head(&format!("{}{query}", self.query_prefix), MAX_INPUT).to_string();
        {
            let mut state = self.server.state();
            if let Some((_, vector)) = state.known.iter().find(|(known, _)| *known == text) {
                return Ok(vector.clone());
            }
            match &state.down {
                Some((until, why)) if Instant::now() < *until => {
                    return Err(self.server.error(why.clone()));
                }
                _ => state.down = None,
            }
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let server = self.server.clone();
        let ask = move || {
            let result = server.ask(&[&text]).map(|mut vectors| vectors.swap_remove(0));
            let mut state = server.state();
            state.learn(text, &result);
            // Sent under the lock: a caller that gives up either sees this answer, or has set its
            // pause before, which the answer ends. The receiver may be gone.
            let _ = answer.send(result);
            drop(state);
        };
        let thread = thread::Builder::new().name("question".into()).spawn(ask);
        thread.map_err(|e| {
            self.server.error(format!("cannot start a thread for the request: {e}"))
        })?;
        let result = answered.recv_timeout(self.timeout).or_else(|_| {
            let mut state = self.server.state();
            answered.try_recv().inspect_err(|_| {
                // Do not send more questions while an answer is late. Its arrival ends the pause.
                state.down = Some((Instant::now() + LONG_PAUSE, self.too_late()));
            })
        });
        match result {
            Ok(result) => result.map_err(|e| self.server.error(e.message)),
            Err(_) => Err(self.server.error(self.too_late())),
        }
    }
}

impl State {
    fn learn(&mut self, text: String, result: &Result<Vec<f32>, Failure>) {
        match result {
            Ok(vector) => {
                self.down = None;
                self.known.truncate(QUESTIONS - 1);
                self.known.push_front((text, vector.clone()));
            }
            Err(e) => self.down = Some((Instant::now() + PAUSE, e.message.clone())),
        }
    }
}

impl EmbeddingServer {
    fn state(&self) -> MutexGuard<'_, State> {
        // No panic can leave the state half changed.
        self.state.lock()
    }

    fn error(&self, message: String) -> EmbedError {
        EmbedError { embedder: self.endpoint.clone(), message }
    }

    /// Returns one vector for each text. A text that the server refuses (it is too long, or makes
    /// the server fail) must not keep the others from their vectors: it is cut until the server
    /// accepts it, or gets a zero vector.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        match self.ask(&all) {
            Err(e) if e.is_refusal => {
                // Find out whether the server accepts any text at all.
                self.ask(&["text"]).map_err(|_| e)?;
                all.into_iter().map(|text| self.embed_part(text)).collect()
            }
            result => result,
        }
    }

    /// Returns the vector of the longest beginning of a text that the server accepts after halving;
    /// all zero if it accepts none.
    fn embed_part(&self, text: &str) -> Result<Vec<f32>, Failure> {
        let mut part = text;
        loop {
            match self.ask(&[part]) {
                Ok(mut vectors) => return Ok(vectors.swap_remove(0)),
                Err(e) if e.is_refusal && part.len() < MIN_INPUT => {
                    let start = part.lines().next().unwrap_or_default();
                    tracing::warn!(
                        "{}: cannot embed the text `{start} …`, so it has no vector: {}",
                        self.endpoint,
                        e.message
                    );
                    return Ok(vec![0.0; self.dimensions]);
                }
                Err(e) if e.is_refusal => part = head(part, part.len() / 2),
                Err(e) => return Err(e),
            }
        }
    }

    /// Sends one request with the texts as they are.
    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let mut request =
            self.agent.post(&self.endpoint).header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let failure = |message| Failure { message, is_refusal: false };
        let unreachable =
            |e: ureq::Error| failure(format!("{e}; does the server run, and is embed.url right?"));
        let body = json!({ "model": self.model, "input": texts }).to_string();
        let mut response = request.send(body).map_err(unreachable)?;
        let status = response.status().as_u16();
        let answer = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER)
            .read_to_string()
            .map_err(unreachable)?;
        if status != 200 {
            let remedy = match status {
                401 | 403 => "; is embed.token right?",
                404 => "; does the server have the model embed.model?",
                300..=399 => "; a redirect is not followed: is embed.url right?",
                _ => "",
            };
            let message = format!("the server answered {status}: {}{remedy}", quote(&answer));
            return Err(Failure { message, is_refusal: matches!(status, 400 | 413 | 422 | 500) });
        }
        let Answer { data } = serde_json::from_str(&answer).map_err(|e| {
            failure(format!("the answer holds no embeddings ({e}): {}; is embed.url an OpenAI-compatible server?", quote(&answer)))
        })?;
        self.in_order(data, texts.len()).map_err(failure)
    }

    /// Returns the vectors in the order of their texts, checked and normalised, or
    /// what is wrong with them.
    fn in_order(&self, items: Vec<Item>, n: usize) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors = vec![Vec::new(); n];
        for Item { index, mut embedding } in items {
            if embedding.len() != self.dimensions {
                let got = embedding.len();
                return Err(format!(
                    "{} gives vectors of {got} numbers: set embed.dimensions = {got} (it is {})",
                    self.model, self.dimensions
                ));
            }
            if !embedding.iter().all(|x| x.is_finite()) {
                return Err(format!(
                    "{} gave a vector with a number that is not finite",
                    self.model
                ));
            }
            normalise(&mut embedding);
            let place = vectors
                .get_mut(index)
                .ok_or_else(|| format!("the answer has a vector for text {index} of {n}"))?;
            *place = embedding;
        }
        match vectors.iter().filter(|v| v.is_empty()).count() {
            0 => Ok(vectors),
            missing => Err(format!(
                "the answer lacks the vectors of {missing} of {n} texts; is embed.url an OpenAI-compatible server?"
            )),
        }
    }
}

/// Returns the answer of a server on one line: its error message, or else its beginning.
fn quote(answer: &str) -> String {
    let json: Value = serde_json::from_str(answer).unwrap_or_default();
    let said = json["error"]["message"]
        .as_str()
        .or(json["error"].as_str())
        .map_or(Cow::Borrowed(answer), |said| Cow::Owned(said.into()));
    let line: Vec<&str> = said.split_whitespace().collect();
    format!("`{}`", head(&line.join(" "), MAX_QUOTE).replace(char::is_control, "·"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> RemoteModel {
        RemoteModel {
            url: "http://localhost:1".into(),
            authority: "localhost:1".into(),
            is_local: true,
            is_plain: true,
            model: "hf.co/a/b:Q4".into(),
            dimensions: 2,
            token: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            timeout: Duration::from_secs(2),
        }
    }

    #[test]
    fn the_id_names_what_a_vector_depends_on() {
        let own = id(&model());
        assert!(own.starts_with("hf.co-a-b-Q4_localhost-1_2_"), "{own}");
        for other in [
            RemoteModel { model: "hf.co/a/b-Q4".into(), ..model() },
            RemoteModel { authority: "localhost-1".into(), ..model() },
            RemoteModel { dimensions: 3, ..model() },
            RemoteModel { passage_prefix: "passage: ".into(), ..model() },
        ] {
            assert_ne!(id(&other), own, "{other:?}");
        }
        assert_eq!(id(&RemoteModel { query_prefix: "query: ".into(), ..model() }), own);
    }

    #[test]
    fn vectors_are_ordered_and_checked() {
        let server = HttpEmbedder::new(&model()).server;
        let item = |index, x: f32, y: f32| Item { index, embedding: vec![x, y] };
        let ordered = server.in_order(vec![item(1, 0.0, 5.0), item(0, 3.0, 4.0)], 2).unwrap();
        assert_eq!(ordered, [[0.6, 0.8], [0.0, 1.0]]);
        for (items, what) in [
            (vec![Item { index: 0, embedding: vec![1.0; 3] }], "set embed.dimensions = 3"),
            (vec![item(0, f32::INFINITY, 0.0)], "not finite"),
            (vec![item(1, 1.0, 0.0)], "text 1 of 1"),
            (vec![], "lacks the vectors of 1 of 1 texts"),
        ] {
            let e = server.in_order(items, 1).unwrap_err();
            assert!(e.contains(what), "{e}");
        }
    }

    #[test]
    fn what_a_server_says_is_quoted_short_and_plain() {
        assert_eq!(quote(r#"{"error":{"message":"too\nlong"}}"#), "`too long`");
        assert_eq!(quote(r#"{"error":"no such model"}"#), "`no such model`");
        assert_eq!(quote("<html>\u{1b}[31m"), "`<html>·[31m`");
        assert_eq!(quote(&"ä".repeat(MAX_QUOTE)).chars().count(), MAX_QUOTE / 2 + 2);
    }
}
