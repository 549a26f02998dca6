//! Checks the bytes of a client against the rules of JSON-RPC before the SDK gets them.
//!
//! The SDK drops messages that it cannot parse and forgets the ids of those that it
//! refuses, so clients would wait for ever. Here every refused message gets an error, with
//! its id if it can be found.

use std::ops::Range;

use axum::http::StatusCode;
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
/// Most messages in a batch.
const MAX_BATCH: usize = 64;
/// The only revision of the protocol that has batches.
pub(super) const BATCHING: &str = "2025-03-26";
/// The first revision without `initialize`. Revisions are dates, so they compare as strings.
const WITHOUT_INITIALIZE: &str = "2026-07-28";

/// A message or a batch from a client.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    One(Value),
    /// At least one message, each valid or with its own error.
    Batch(Vec<Result<Value, Failure>>),
}

/// Why a message is refused.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// Null if the id could not be found. A notification has none, and gets no answer.
    pub(super) id: Option<Value>,
    code: i32,
    pub(super) message: String,
}

impl Failure {
    /// Creates the error for a message that is not valid JSON-RPC.
    pub(super) fn request(id: Value, message: impl Into<String>) -> Self {
        Self { id: Some(id), code: INVALID_REQUEST, message: message.into() }
    }

    /// Creates the error for a `message` with invalid parameters.
    pub(super) fn params(message: &Value, why: String) -> Self {
        Self { id: id(message).cloned(), code: INVALID_PARAMS, message: why }
    }

    /// Creates the error for a message longer than `limit` bytes. `head` is its beginning.
    pub(super) fn too_long(head: &[u8], limit: usize) -> Self {
        let message = format!(
            "the message is longer than {limit} bytes and was skipped: send less in one message"
        );
        Self::request(id_in(head), message)
    }

    /// Returns the status that the protocol requires for this error over HTTP.
    pub(super) fn status(&self) -> StatusCode {
        if self.code == METHOD_NOT_FOUND { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST }
    }

    /// Returns the answer to the client; `None` for a notification.
    pub(super) fn reply(&self) -> Option<Value> {
        let id = self.id.as_ref()?;
        Some(
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": self.code, "message": self.message } }),
        )
    }
}

/// Reads one message, or one batch if the client's protocol revision has `batches`.
pub(super) fn read(bytes: &[u8], batches: bool) -> Result<Incoming, Failure> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes).map_err(|e| Failure {
        id: Some(id_in(bytes)),
        code: PARSE_ERROR,
        message: format!("the message cannot be read as JSON: {e}"),
    })?;
    let Value::Array(messages) = value else { return check(value).map(Incoming::One) };
    let refused = |why: String| Err(Failure::request(Value::Null, why));
    match messages.len() {
        _ if !batches => refused(format!(
            "only revision {BATCHING} of the protocol has batches: send each message by itself"
        )),
        0 => refused("the batch is empty: send at least one message".into()),
        n if n > MAX_BATCH => {
            refused(format!("the batch has {n} messages: send at most {MAX_BATCH}"))
        }
        _ => Ok(Incoming::Batch(messages.into_iter().map(check_in_batch).collect())),
    }
}

/// Returns the id of a message, if it is valid for a request.
pub(super) fn id(message: &Value) -> Option<&Value> {
    message.get("id").filter(|id| id.is_string() || id.is_i64())
}

/// Whether the message is a response. Responses are never answered, since two programs could
/// otherwise do so for ever.
pub(super) fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
        && (message.get("result").is_some() || message.get("error").is_some())
}

fn check_in_batch(message: Value) -> Result<Value, Failure> {
    let message = check(message)?;
    if message["method"] == "initialize" {
        let id = id(&message).cloned().unwrap_or_default();
        return Err(Failure::request(
            id,
            "initialize cannot be part of a batch: send it by itself",
        ));
    }
    Ok(message)
}

/// Fields of parameters that are checked: method, field, type, and whether it is required.
const FIELDS: &[(&str, &str, &str, bool)] = &[
    ("initialize", "protocolVersion", "string", true),
    ("initialize", "capabilities", "object", true),
    ("initialize", "clientInfo", "object", true),
    ("tools/call", "name", "string", true),
    ("tools/call", "arguments", "object", false),
    ("tools/list", "cursor", "string", false),
    ("resources/read", "uri", "string", true),
    ("resources/list", "cursor", "string", false),
    ("resources/templates/list", "cursor", "string", false),
];

/// Returns the message if it is valid JSON-RPC and its parameters match the method.
fn check(mut message: Value) -> Result<Value, Failure> {
    if is_response(&message) {
        return Ok(message);
    }
    let id = id(&message).cloned();
    let invalid = |why: &str| Err(Failure::request(id.clone().unwrap_or_default(), why));
    let Some(fields) = message.as_object_mut() else {
        return invalid("a message must be an object");
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    let Some(method) = fields.get("method").and_then(Value::as_str).map(String::from) else {
        return invalid("`method` must be a string");
    };
    if id.is_none() && fields.contains_key("id") {
        return invalid("`id` must be a string or an integer");
    }
    if fields.get("params").is_some_and(Value::is_null) {
        fields.remove("params");
    }
    if fields.get("params").is_some_and(|p| !p.is_object()) {
        return Err(Failure::params(&message, format!("`params` of {method} must be an object")));
    }
    let revision = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    if method == "initialize" && revision.as_str().is_some_and(|r| r >= WITHOUT_INITIALIZE) {
        return Err(Failure {
            id,
            code: METHOD_NOT_FOUND,
            message: format!(
                "revision {WITHOUT_INITIALIZE} has no initialize: send server/discover"
            ),
        });
    }
    for (_, field, kind, is_required) in FIELDS.iter().filter(|(of, ..)| *of == method) {
        let value = &message["params"][field];
        let fits = match value {
            Value::Null => !is_required,
            Value::String(_) => *kind == "string",
            Value::Object(_) => *kind == "object",
            _ => false,
        };
        if !fits {
            let article = if *kind == "object" { "an" } else { "a" };
            return Err(Failure::params(
                &message,
                format!("`{field}` of {method} must be {article} {kind}"),
            ));
        }
    }
    Ok(message)
}

/// Finds the id in a message that is cut off, too deep or otherwise not JSON. It must be a complete
/// value in the outermost object.
fn id_in(bytes: &[u8]) -> Value {
    let (mut depth, mut at) = (0_usize, 0);
    // The last string. It is a key if a colon follows.
    let (mut string, mut value): (Range<usize>, Option<usize>) = (0..0, None);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(length) = string_length(&bytes[at..]) else { break };
                string = at..at + length;
                at += length;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b':' if depth == 1 && &bytes[string.clone()] == b"\"id\"" => value = Some(at + 1),
            b',' | b'}' if depth == 1 => {
                if let Some(start) = value {
                    let id = serde_json::from_slice(&bytes[start..at]).unwrap_or_default();
                    return id_of(id);
                }
                depth -= usize::from(*byte == b'}');
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Value::Null
}

fn id_of(id: Value) -> Value {
    if id.is_string() || id.is_i64() { id } else { Value::Null }
}

/// Returns the length in bytes of the JSON string at the beginning of `bytes`,
/// including both quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns id and code of the error.
    fn failure(message: &str) -> (Value, i32) {
        let failure = read(message.as_bytes(), true).unwrap_err();
        (failure.id.unwrap_or_else(|| "no answer".into()), failure.code)
    }

    #[test]
    fn invalid_requests_keep_their_id() {
        for (message, id, code) in [
            (r#"{"id":7,"method":5}"#, json!(7), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7), INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                json!(7),
                METHOD_NOT_FOUND,
            ),
            (r#"{"jsonrpc":"2.0","id":"seven"}"#, json!("seven"), INVALID_REQUEST),
            (r#"{"id":7,"method":"ping"}"#, json!(7), INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7), INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
                Value::Null,
                INVALID_REQUEST,
            ),
            ("5", Value::Null, INVALID_REQUEST),
            ("[]", Value::Null, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#, json!(7), INVALID_PARAMS),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
                json!("no answer"),
                INVALID_PARAMS,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
                json!(7),
                INVALID_PARAMS,
            ),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, json!(7), INVALID_PARAMS),
            (r#"{"jsonrpc":"2.0","id":7,"method":"#, json!(7), PARSE_ERROR),
            (r#"{"jsonrpc":"2.0","id":7"#, Value::Null, PARSE_ERROR),
            (r#"{"a":{"id":3},"x":"\"id\":4,","id" : "a\"b" , "#, json!("a\"b"), PARSE_ERROR),
            ("not json", Value::Null, PARSE_ERROR),
            (
                &format!(r#"{{"params":{},"id":9}}"#, "[".repeat(5000) + &"]".repeat(5000)),
                json!(9),
                PARSE_ERROR,
            ),
            (&"[".repeat(5000), Value::Null, PARSE_ERROR),
            ("\"\\", Value::Null, PARSE_ERROR),
            ("{\"id\":}}}}", Value::Null, PARSE_ERROR),
        ] {
            assert_eq!(failure(message), (id, code), "{message}");
        }
    }

    #[test]
    fn what_is_well_formed_passes() {
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": "", "method": "tools/call", "params": { "name": "a" } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": 5 }),
            json!({ "jsonrpc": "2.0", "id": null, "error": {} }),
        ] {
            assert_eq!(read(message.to_string().as_bytes(), false), Ok(Incoming::One(message)));
        }
        assert!(
            read(
                "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}"
                    .as_bytes(),
                false
            )
            .is_ok()
        );
    }

    #[test]
    fn a_batch_is_judged_message_by_message() {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let start = json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": { "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {} } });
        let batch = json!([ping, 5, start]).to_string();
        let Ok(Incoming::Batch(messages)) = read(batch.as_bytes(), true) else {
            panic!("no batch")
        };
        assert_eq!(messages[0], Ok(ping.clone()));
        assert_eq!(messages[1].as_ref().unwrap_err().id, Some(Value::Null));
        assert_eq!(messages[2].as_ref().unwrap_err().id, Some(json!(2)));
        assert!(read(batch.as_bytes(), false).is_err());
        assert!(read(json!(vec![ping; MAX_BATCH + 1]).to_string().as_bytes(), true).is_err());
    }
}
