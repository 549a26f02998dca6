//! The paths of the HTTP server and their answers.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::access::{Access, REDEEM, guard};
use super::asked;
use super::call_log::Caller;
use super::calls::{CallError, Calls, READ_ONLY};
use super::events::{self, Streams};
use super::mcp::{Mcp, McpOverHttp, typed};
use super::metrics;
use super::openapi::{self, PREFIX};
use super::page;
use super::refusal::error;
use super::rpc::{self, BATCHING, Failure, Incoming};
use crate::engine::{AskError, Engine, Team};
use crate::tools::{Answer, Effect, Format, Tool};

/// Largest body of a request, in bytes.
const MAX_BODY_BYTES: usize = 1 << 20;
/// How long a request may take until its answer begins. Up to a minute of it, a call
/// may wait for indexing.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Where a program that has the token gets a ticket for the page.
pub(super) const TICKET: &str = "/api/ticket";

/// Every path with its description.
pub(super) const PATHS: &[(&str, &str)] = &[
    ("/", "a page, for a browser"),
    ("/mcp", "Model Context Protocol (streamable HTTP)"),
    ("/api/{tool}", "the tools: POST a JSON object, or GET with a query string"),
    ("/api/openapi.json", "the description of the tools, and of what the page asks (OpenAPI 3.1)"),
    (TICKET, "POST: a ticket that opens the page once, without the token: /#ticket=…"),
    (REDEEM, "POST: a key in place of the token, for a ticket or the token"),
    ("/events", "the state of the index and the number of calls, as server-sent events"),
    ("/metrics", "metrics for Prometheus"),
    ("/healthz", "200 while the process is up"),
    ("/readyz", "200 when an index, or the database of a team, can be searched"),
];

/// The state that the paths share.
pub struct App {
    pub calls: Calls,
    /// Ends streams that would otherwise never end.
    pub closing: CancellationToken,
}

/// Builds the router of all paths, with access rule and limits.
pub fn router(app: App, access: Access) -> Router {
    let App { calls, closing } = app;
    let calls = Arc::new(calls);
    let (heard, on_page) = (calls.clone(), calls.clone());
    let streams = Streams::new(calls.project.changes().clone(), closing);
    let access = Arc::new(access);
    let (gives, takes) = (access.clone(), access.clone());
    let mcp = Mcp::new(calls.clone(), streams.clone()).over_http(MAX_BODY_BYTES);
    Router::new()
        .merge(page::routes(index))
        .route("/healthz", get(async || "ok\n"))
        .route(
            "/readyz",
            get(async |State(calls): State<Arc<Calls>>| match calls.team.clone() {
                Some(team) => team_ready(team).await,
                None => of_engine(&calls, ready).await,
            }),
        )
        .route(
            "/metrics",
            get(async move || {
                let page = |engine: &Engine| {
                    let text = metrics::page(engine, &on_page);
                    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
                };
                of_engine(&on_page, page).await
            }),
        )
        .route("/events", get(async move || events::stream(heard, &streams)))
        .route(
            "/api/openapi.json",
            get(async |State(calls): State<Arc<Calls>>| {
                Json(openapi::document(&calls.tools, asked::ALL))
            }),
        )
        .route(TICKET, post(async move || Json(json!({ "ticket": gives.ticket() }))))
        .route(REDEEM, post(async move |request: Request| key_for_ticket(&takes, &request)))
        .route("/api/{tool}", get(from_query).post(from_body))
        .route("/mcp", any(async move |request: Request| protocol(mcp, request).await))
        .fallback(async |uri: Uri| unknown(&uri))
        .method_not_allowed_fallback(async |uri: Uri| {
            error(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("{} does not support this method", uri.path()),
            )
        })
        .with_state(calls)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn(limit_time))
        .layer(from_fn_with_state(access, guard))
        .layer(from_fn(no_sniffing))
}

/// Forbids browsers to guess the type of a reply, which quotes files and must not run
/// as a page or script.
async fn no_sniffing(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Handles messages of the Model Context Protocol: refuses invalid ones, and
/// answers a batch as one.
async fn protocol(service: McpOverHttp, request: Request) -> Response {
    if request.method() != Method::POST {
        return service.handle(request).await.map(Body::new);
    }
    let (parts, body) = request.into_parts();
    let body = match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(body) => body,
        Err(e) if e.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return refused(e.status(), &Failure::too_long(&[], MAX_BODY_BYTES));
        }
        Err(e) => {
            return refused(
                e.status(),
                &Failure::request(
                    Value::Null,
                    format!("cannot read the message: {}", e.body_text()),
                ),
            );
        }
    };
    // Only revisions before the one that introduced this header send none.
    let version = parts.headers.get("mcp-protocol-version");
    match rpc::read(&body, version.is_none_or(|v| v == BATCHING)) {
        Ok(Incoming::One(message)) => one(&service, parts, message).await,
        Ok(Incoming::Batch(messages)) => batch(service, parts, messages).await,
        Err(failure) => refused(failure.status(), &failure),
    }
}

async fn one(service: &McpOverHttp, mut parts: Parts, message: Value) -> Response {
    if let Err(failure) = typed(&message) {
        return refused(failure.status(), &failure);
    }
    parts.headers.remove(CONTENT_LENGTH);
    // The SDK takes only bytes. It gets those of the checked message and not the client's, in which a
    // key may stand twice, so that it reads what was checked.
    service.handle(Request::from_parts(parts, Body::from(message.to_string()))).await.map(Body::new)
}

/// Answers the messages of a batch in any order, and leaves notifications without an answer.
async fn batch(
    service: McpOverHttp,
    parts: Parts,
    messages: Vec<Result<Value, Failure>>,
) -> Response {
    let (mut answers, mut running) = (Vec::new(), JoinSet::new());
    for message in messages {
        match message {
            Ok(mut message) => {
                // Progress messages would need a stream, but a batch has a single answer.
                if let Some(meta) =
                    message.pointer_mut("/params/_meta").and_then(Value::as_object_mut)
                {
                    meta.remove("progressToken");
                }
                let (service, parts) = (service.clone(), parts.clone());
                running.spawn(async move { one(&service, parts, message).await });
            }
            Err(failure) => answers.extend(failure.reply()),
        }
    }
    while let Some(response) = running.join_next().await {
        let Ok(response) = response else { continue };
        let (head, body) = response.into_parts();
        let Ok(body) = to_bytes(body, usize::MAX).await else { continue };
        match serde_json::from_slice(&body) {
            Ok(answer) => answers.push(answer),
            Err(_) if body.is_empty() && head.status.is_success() => {}
            // The headers of the request are wrong. All messages of the batch share them.
            Err(_) => return Response::from_parts(head, Body::from(body)),
        }
    }
    if answers.is_empty() {
        StatusCode::ACCEPTED.into_response()
    } else {
        Json(answers).into_response()
    }
}

fn refused(status: StatusCode, failure: &Failure) -> Response {
    tracing::warn!("refused a message at /mcp: {}", failure.message);
    match failure.reply() {
        Some(reply) => (status, Json(reply)).into_response(),
        None => status.into_response(),
    }
}

async fn limit_time(request: Request, next: Next) -> Response {
    let late = |_| {
        error(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("there was no answer within {} s: try again", TIMEOUT.as_secs()),
        )
    };
    tokio::time::timeout(TIMEOUT, next.run(request)).await.unwrap_or_else(late)
}

fn key_for_ticket(access: &Access, request: &Request) -> Response {
    match access.redeem(request) {
        Some(key) => Json(json!({ "key": key })).into_response(),
        None => error(
            StatusCode::UNAUTHORIZED,
            "the token is wrong, or the ticket was used or is older than a minute: run `cortex open` again".into(),
        ),
    }
}

fn index() -> String {
    let lines: Vec<String> =
        PATHS.iter().map(|(path, what)| format!("{path:<20}{what}\n")).collect();
    format!("cortex {}\n\n{}", env!("CARGO_PKG_VERSION"), lines.concat())
}

fn unknown(uri: &Uri) -> Response {
    let paths: Vec<&str> = PATHS.iter().map(|(path, _)| *path).collect();
    error(
        StatusCode::NOT_FOUND,
        format!("there is no path {}; the paths are {}", uri.path(), paths.join(", ")),
    )
}

/// Answers from the engine, which is opened if it is closed.
async fn of_engine(calls: &Calls, answer: impl FnOnce(&Engine) -> Response) -> Response {
    match calls.engine().await {
        Ok(engine) => answer(&engine),
        Err(e) => error(StatusCode::SERVICE_UNAVAILABLE, e.to_string()),
    }
}

/// Answers whether a generation can be searched, and if not, why.
fn ready(engine: &Engine) -> Response {
    match engine.ready() {
        Ok(generation) => Json(json!({ "ready": true, "generation": generation })).into_response(),
        Err(why) => error(StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

/// Answers whether the published repositories can be searched, and if not, why. The server's own
/// project is empty then.
async fn team_ready(team: Team) -> Response {
    match spawn_blocking(move || team.names()).await {
        Ok(Ok(names)) => {
            Json(json!({ "ready": true, "repositories": names.len() })).into_response()
        }
        Ok(Err(e)) => error(StatusCode::SERVICE_UNAVAILABLE, e.to_string()),
        Err(e) => error(StatusCode::SERVICE_UNAVAILABLE, e.to_string()),
    }
}

/// Returns what `/api/{name}` names: a question of the page, or the tool with this name, with or without
/// [`PREFIX`].
fn named(calls: &Calls, name: &str) -> Result<&'static Tool, Box<Response>> {
    if let Some(question) = asked::ALL.iter().find(|question| question.name == name) {
        if calls.read_only && question.effect != Effect::None {
            return Err(Box::new(error(StatusCode::FORBIDDEN, format!("{name} {READ_ONLY}"))));
        }
        return Ok(question);
    }
    calls
        .tool(&format!("{PREFIX}{name}"))
        .or_else(|message| calls.tool(name).map_err(|_| message))
        .map_err(|message| Box::new(error(StatusCode::NOT_FOUND, message)))
}

async fn from_query(
    State(calls): State<Arc<Calls>>,
    Path(name): Path<String>,
    Query(pairs): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    match named(&calls, &name) {
        // Following a link must not change anything.
        Ok(tool) if tool.effect != Effect::None => error(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("{name} changes data: send a POST request"),
        ),
        Ok(tool) => call(&calls, tool, arguments(pairs), Caller::over_http(&headers)).await,
        Err(refusal) => *refusal,
    }
}

async fn from_body(
    State(calls): State<Arc<Calls>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match arguments_of(body).and_then(|read| Ok((named(&calls, &name)?, read))) {
        Ok((tool, arguments)) => call(&calls, tool, arguments, Caller::over_http(&headers)).await,
        Err(refusal) => *refusal,
    }
}

/// Reads the arguments from a body; an empty one has none.
fn arguments_of(body: Result<Bytes, BytesRejection>) -> Result<Value, Box<Response>> {
    let body = body.map_err(|e| {
        let why = e.body_text();
        let text =
            format!("cannot read the body: {why}; it may have at most {MAX_BODY_BYTES} bytes");
        error(e.status(), text)
    })?;
    let body = if body.is_empty() { &b"null"[..] } else { &body };
    serde_json::from_slice(body).map_err(|e| {
        let text = format!("the body is not JSON: {e}; send the arguments as an object");
        Box::new(error(StatusCode::BAD_REQUEST, text))
    })
}

/// Returns the values of a query string as JSON. A repeated key becomes a list.
fn arguments(pairs: Vec<(String, String)>) -> Value {
    let mut map = Map::new();
    for (key, value) in pairs {
        match map.get_mut(&key) {
            None => drop(map.insert(key, value.into())),
            Some(Value::Array(list)) => list.push(value.into()),
            Some(first) => *first = Value::Array(vec![first.take(), value.into()]),
        }
    }
    Value::Object(map)
}

async fn call(calls: &Calls, tool: &'static Tool, arguments: Value, caller: Caller) -> Response {
    match calls.run(tool, arguments, Format::Json, caller).await {
        Ok(Answer::Json(answer)) => Json(answer).into_response(),
        Ok(Answer::Text(answer, _)) => answer.into_response(),
        Err(e) => {
            let status = match &e {
                CallError::Tool(AskError::Arguments(_)) => StatusCode::BAD_REQUEST,
                CallError::Tool(AskError::NotFound(_)) => StatusCode::NOT_FOUND,
                CallError::Tool(AskError::Failed(_)) => StatusCode::INTERNAL_SERVER_ERROR,
                CallError::Tool(AskError::Cancelled | AskError::NotYet(_))
                | CallError::Busy
                | CallError::TooManyWait => StatusCode::SERVICE_UNAVAILABLE,
            };
            error(status, e.to_string())
        }
    }
}
