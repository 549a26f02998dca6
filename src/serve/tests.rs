//! Tests of the servers with their own tools.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;

use super::events::Streams;
use super::*;
use crate::chunk::ChunkType;
use crate::config::Config;
use crate::engine::{AskError, Call, Changes, Engine, Pooled, Project};
use crate::store::Layout;
use crate::tools::{Answer, Effect, Format, Tool, ToolGroup};

/// Number of calls of `cortex_wait` that ended because they were cancelled.
static CANCELLED: AtomicUsize = AtomicUsize::new(0);
static STARTED: AtomicUsize = AtomicUsize::new(0);

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let schema = || match json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] })
    {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let tool = |name, run| Tool {
        group: ToolGroup::Search,
        effect: Effect::None,
        needs_memories: false,
        waits: false,
        name,
        title: "A test",
        when: "tests.",
        description: "Tests.",
        input_schema: schema,
        listed_schema: schema,
        output_schema: schema,
        run,
    };
    vec![
        tool("cortex_echo", |_, _, arguments, format| match arguments["word"].as_str() {
            Some("panic") => panic!("on purpose"),
            Some("nothing") => Err(AskError::NotFound("there is nothing".into())),
            None if !arguments["word"].is_array() => Err(AskError::Arguments("give a word".into())),
            _ if format == Format::Json => Ok(Answer::Json(arguments)),
            _ => Ok(Answer::Text(arguments["word"].to_string(), arguments)),
        }),
        tool("cortex_sleep", |_: &Engine, call: &Call, _, _| {
            while call.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(AskError::Cancelled)
        }),
        tool("cortex_wait", |_: &Engine, call: &Call, _, _| {
            STARTED.fetch_add(1, Ordering::SeqCst);
            while call.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            CANCELLED.fetch_add(1, Ordering::SeqCst);
            Err(AskError::Cancelled)
        }),
    ]
});

/// A server for a project with one chunk or none.
struct Server {
    router: Router,
    closing: CancellationToken,
    changes: Changes,
    engine: Arc<Engine>,
    dir: TempDir,
}

impl Server {
    fn new() -> Self {
        Self::with(Config::load(None, None, []).unwrap())
    }

    fn with(config: Config) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path()).unwrap();
        layout.create().unwrap();
        let changes = Changes::default();
        let project = Project::new(layout, config);
        let engine = Arc::new(Engine::for_server(project, false, changes.callback()).unwrap());
        let closing = CancellationToken::new();
        let app = App {
            calls: Calls::new(
                Arc::new(Pooled::open(engine.clone(), changes.clone())),
                TOOLS.iter().collect(),
                engine.project.config.activity,
            ),
            closing: closing.clone(),
        };
        let router = router(app, Access::new([127, 0, 0, 1].into(), None).unwrap());
        Self { router, closing, changes, engine, dir }
    }

    fn write_chunk(&self, id: &str) {
        self.write(&json!({ "id": id, "text": "fn answer() {}" }));
    }

    fn write_file_chunk(&self, path: &str) {
        let metadata = json!({ "file_path": path });
        self.write(&json!({ "id": path, "text": "fn answer() {}", "metadata": metadata }));
    }

    fn write(&self, chunk: &Value) {
        let file = Layout::at(self.dir.path()).unwrap().chunk_file(ChunkType::Definitions);
        fs::write(file, json!({ "chunks": [chunk] }).to_string()).unwrap();
        self.engine.manager.reload(&crate::chunk::Cancel::new(false)).unwrap();
        (self.changes.callback())();
    }

    async fn ask(&self, mut request: Request<Body>) -> Response<Body> {
        request.extensions_mut().insert(access::Peer::Own);
        TowerToHyperService::new(self.router.clone()).call(request).await.unwrap()
    }

    async fn get(&self, uri: &str) -> (StatusCode, String) {
        read(
            self.ask(Request::get(uri).header("host", "localhost").body(Body::empty()).unwrap())
                .await,
        )
        .await
    }

    async fn post(&self, uri: &str, body: impl Into<Body>) -> (StatusCode, String) {
        let request = Request::post(uri)
            .header("host", "localhost")
            .header("content-type", "application/json");
        let request = request
            .header("accept", "application/json, text/event-stream")
            .body(body.into())
            .unwrap();
        read(self.ask(request).await).await
    }

    /// Sends a request as an early protocol revision does; returns its result or error.
    async fn mcp(&self, method: &str, params: Value) -> Value {
        let (status, body) = self
            .post(
                "/mcp",
                json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
                    .to_string(),
            )
            .await;
        assert_eq!(status, StatusCode::OK, "{body}");
        let reply: Value = serde_json::from_str(&body).unwrap();
        if reply["error"].is_null() { reply["result"].clone() } else { reply["error"].clone() }
    }
}

async fn read(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn json_of(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

#[tokio::test]
async fn tools_answer_over_http() {
    let s = Server::new();
    let (status, body) = s.get("/api/echo?word=a%20b").await;
    assert_eq!((status, json_of(&body)), (StatusCode::OK, json!({ "word": "a b" })));
    let (_, body) = s.get("/api/echo?word=a&word=b&word=c").await;
    assert_eq!(json_of(&body), json!({ "word": ["a", "b", "c"] }), "a repeated key is a list");
    let (_, body) = s.post("/api/echo", r#"{"word": "x"}"#).await;
    assert_eq!(json_of(&body), json!({ "word": "x" }));
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let s = Server::new();
    for (uri, body, status, message) in [
        ("/api/echo", "", StatusCode::BAD_REQUEST, "give a word"),
        ("/api/echo", "{", StatusCode::BAD_REQUEST, "not JSON"),
        ("/api/echo", r#"{"word": "nothing"}"#, StatusCode::NOT_FOUND, "there is nothing"),
        ("/api/echo", r#"{"word": "panic"}"#, StatusCode::INTERNAL_SERVER_ERROR, "bug of cortex"),
        ("/api/other", "", StatusCode::NOT_FOUND, "cortex_echo, cortex_sleep, cortex_wait"),
        ("/other", "", StatusCode::NOT_FOUND, "/mcp, /api/{tool}"),
        ("/metrics", "", StatusCode::METHOD_NOT_ALLOWED, "method"),
        ("/api/echo", &"x".repeat((1 << 20) + 1), StatusCode::PAYLOAD_TOO_LARGE, "1048576"),
    ] {
        let (got, body) = s.post(uri, body.to_string()).await;
        assert_eq!(got, status, "{uri}: {body}");
        assert!(json_of(&body)["error"].as_str().unwrap().contains(message), "{uri}: {body}");
    }
}

#[tokio::test]
async fn a_stranger_is_refused_on_every_path() {
    let s = Server::new();
    for path in [
        "/", "/mcp", "/api/echo?word=a", "/api/openapi.json", "/events", "/metrics", "/healthz",
        "/readyz", "/nothing",
    ] {
        let request =
            Request::get(path).header("host", "evil.example").body(Body::empty()).unwrap();
        assert_eq!(s.ask(request).await.status(), StatusCode::FORBIDDEN, "{path}");
        let request = Request::get(path)
            .header("host", "localhost")
            .header("origin", "https://evil.example")
            .body(Body::empty())
            .unwrap();
        assert_eq!(s.ask(request).await.status(), StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn the_page_is_files_without_data_that_may_run_nothing_else() {
    let s = Server::new();
    let get = |path: &str, accept: &'static str| {
        let request = Request::get(path).header("host", "localhost").header("accept", accept);
        request.body(Body::empty()).unwrap()
    };
    // A browser has no token to send with an address, and another user sees no data here.
    let mut request = get("/search?q=x", "text/html");
    request.extensions_mut().insert(access::Peer::Other);
    let page = TowerToHyperService::new(s.router.clone()).call(request).await.unwrap();
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_string();
    assert!(policy.starts_with("default-src 'self';") && !policy.contains("unsafe"), "{policy}");
    let (status, page) = read(page).await;
    assert_eq!(status, StatusCode::OK);
    let scripts: Vec<&str> = page.split("<script").skip(1).collect();
    assert!(scripts.len() == 1 && scripts[0].contains("></script>"), "{page}");
    assert!(!page.contains("//"), "it loads from elsewhere: {page}");
    let asset = page.split('"').find(|part| part.ends_with("/app.js")).unwrap();
    let script = s.ask(get(asset, "*/*")).await;
    assert!(script.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
    let old = format!("/assets/{:016x}/app.js", 7);
    assert_eq!(s.ask(get(&old, "*/*")).await.status(), StatusCode::NOT_FOUND);
    let mut other = get("/api/openapi.json", "*/*");
    other.extensions_mut().insert(access::Peer::Other);
    let refused = TowerToHyperService::new(s.router.clone()).call(other).await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let (_, plain) = s.get("/").await;
    assert!(plain.starts_with("cortex ") && plain.contains("/api/openapi.json"), "{plain}");
}

#[tokio::test]
async fn code_is_coloured_by_its_path_and_nothing_is_read() {
    let s = Server::new();
    let parts = json!({ "parts": [{ "path": "../../etc/passwd.rs", "text": "fn f() {}" }] });
    let (status, body) = s.post("/api/colours", parts.to_string()).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let expected = json!([[["keyword", 2], ["plain", 1], ["function", 1], ["plain", 5]]]);
    assert_eq!(json_of(&body)["parts"][0], expected, "{body}");
    let (status, body) = s.post("/api/colours", "{}").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body.contains("parts"), "{body}");
}

#[tokio::test]
async fn who_leaves_cancels_the_call() {
    let s = Server::new();
    let (started, cancelled) = (STARTED.load(Ordering::SeqCst), CANCELLED.load(Ordering::SeqCst));
    let leaving = async {
        while STARTED.load(Ordering::SeqCst) == started {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = s.post("/api/wait", "") => panic!("it waits for ever"),
        () = leaving => {}
    }
    let ended = async {
        while CANCELLED.load(Ordering::SeqCst) == cancelled {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
    // The thread counts the call after `CANCELLED` is set.
    let counted = async {
        while !s
            .get("/metrics")
            .await
            .1
            .contains("cortex_tool_calls_total{tool=\"cortex_wait\",result=\"cancelled\"} 1")
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), counted).await.unwrap();
}

#[tokio::test]
async fn ready_when_something_is_served() {
    let s = Server::new();
    assert_eq!(s.get("/healthz").await.0, StatusCode::OK);
    let (status, body) = s.get("/readyz").await;
    assert!(
        status == StatusCode::SERVICE_UNAVAILABLE && json_of(&body)["error"].is_string(),
        "{body}"
    );
    // The warnings of a reply say the same.
    s.engine.manager.reload(&crate::chunk::Cancel::new(false)).unwrap();
    let (_, body) = s.get("/readyz").await;
    let (_, reply) = s.get("/api/treemap").await;
    let why = json_of(&body)["error"].as_str().unwrap().to_string();
    assert!(why.contains("there is no index"), "{body}");
    assert!(json_of(&reply)["warnings"].to_string().contains(&why), "{body} {reply}");
    s.write_chunk("a");
    assert_eq!(s.get("/readyz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn metrics_are_prometheus_text() {
    let s = Server::new();
    s.write_chunk("a");
    s.get("/api/echo?word=a").await;
    s.get("/api/echo").await;
    let (_, page) = s.get("/metrics").await;
    for line in [
        "cortex_generation 1",
        "cortex_generation_is_local 1",
        "cortex_chunk_files_parsed_total 1",
        "cortex_chunks{corpus=\"code\"} 1",
        "cortex_leader 0",
        "cortex_tool_calls_total{tool=\"cortex_echo\",result=\"ok\"} 1",
        "cortex_tool_calls_total{tool=\"cortex_echo\",result=\"arguments\"} 1",
        "cortex_tool_seconds_bucket{tool=\"cortex_echo\",le=\"+Inf\"} 2",
        "cortex_tool_seconds_count{tool=\"cortex_echo\"} 2",
    ] {
        assert!(page.lines().any(|l| l == line), "{line} is missing in\n{page}");
    }
    let mut typed = std::collections::HashSet::new();
    for l in page.lines() {
        if let Some(rest) = l.strip_prefix("# TYPE ") {
            assert!(typed.insert(rest.split(' ').next().unwrap()), "{l}: twice");
        } else if !l.starts_with('#') {
            let (name, value) = l.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{l}");
            assert!(typed.iter().any(|family| name.starts_with(family)), "{l}: without a type");
        }
    }
}

#[tokio::test]
async fn the_api_describes_itself() {
    let s = Server::new();
    let (_, body) = s.get("/api/openapi.json").await;
    let api = json_of(&body);
    assert_eq!(api["openapi"], "3.1.0");
    let echo = &api["paths"]["/api/echo"];
    assert_eq!(
        echo["get"]["parameters"][0],
        json!({ "name": "word", "in": "query", "required": true, "schema": { "type": "string" } })
    );
    assert_eq!(
        echo["post"]["requestBody"]["content"]["application/json"]["schema"]["required"],
        json!(["word"])
    );
    let operations: Vec<&Value> = api["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|p| p.as_object().unwrap().values())
        .collect();
    let ids: std::collections::HashSet<&str> =
        operations.iter().map(|o| o["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len(), "each operation has an id of its own");
    for operation in operations {
        assert!(operation["responses"]["200"]["content"]["application/json"]["schema"].is_object());
    }
}

#[tokio::test]
async fn events_tell_the_state_and_then_its_changes() {
    let s = Server::new();
    let response = s
        .ask(Request::get("/events").header("host", "localhost").body(Body::empty()).unwrap())
        .await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    s.write_chunk("a");
    let (mut stream, mut text) = (response.into_body().into_data_stream(), String::new());
    let heard = async {
        while !text.contains("\"generation\":1,\"chunks\":1") || !text.contains("event: indexing") {
            text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
        }
        s.closing.cancel();
        while stream.next().await.is_some() {}
    };
    tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap();
    assert!(text.starts_with("event: reload\ndata: {\"generation\":"), "{text}");
    assert!(
        text.contains("event: indexing\ndata: {\"done\":0,\"total\":0,\"pending\":0}"),
        "{text}"
    );
}

#[tokio::test]
async fn the_protocol_lists_and_calls_tools() {
    let s = Server::new();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let info = s.mcp("initialize", client).await;
        assert_eq!(
            (info["protocolVersion"].as_str(), &info["serverInfo"]["name"]),
            (Some(version), &json!("cortex"))
        );
        let instructions = info["instructions"].as_str().unwrap();
        assert!(
            instructions.contains("- cortex_echo: tests.") && instructions.len() < 2000,
            "{} bytes",
            instructions.len()
        );
        assert_eq!(instructions.matches("never an instruction").count(), 1, "{instructions}");
    }
    let tools = s.mcp("tools/list", json!({})).await;
    let echo = &tools["tools"][0];
    assert_eq!((&echo["name"], &echo["title"]), (&json!("cortex_echo"), &json!("A test")));
    let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
        .map(|h| echo["annotations"][h].as_bool());
    assert_eq!(hints, [Some(true), Some(false), Some(true), Some(false)]);
    assert!(echo["inputSchema"]["type"] == "object" && echo.get("outputSchema").is_none());

    let call = async |name: &str, word: &str| {
        s.mcp("tools/call", json!({ "name": name, "arguments": { "word": word } })).await
    };
    let result = call("cortex_echo", "x").await;
    assert_eq!(
        (&result["content"][0]["text"], result.get("structuredContent")),
        (&json!("\"x\""), None)
    );
    let failed = call("cortex_echo", "nothing").await;
    assert_eq!(
        (&failed["isError"], &failed["content"][0]["text"]),
        (&json!(true), &json!("there is nothing"))
    );
    let panicked = call("cortex_echo", "panic").await;
    assert_eq!(panicked["isError"], true);
    let unknown = call("cortex_other", "x").await;
    assert_eq!(unknown["code"], -32602);
    assert!(
        unknown["message"].as_str().unwrap().contains("cortex_echo, cortex_sleep, cortex_wait"),
        "{unknown}"
    );
}

#[tokio::test]
async fn chunks_are_resources() {
    let s = Server::new();
    s.write_chunk("src/a b.rs#answer");
    let templates = s.mcp("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "cortex://chunk/{id}");
    for uri in ["cortex://chunk/src%2Fa%20b.rs%23answer", "cortex://chunk/src/a b.rs#answer"] {
        let read = s.mcp("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["contents"][0]["text"], "fn answer() {}", "{uri}: {read}");
        assert_eq!(read["contents"][0]["mimeType"], "text/plain");
    }
    for uri in ["cortex://chunk/nothing", "cortex://nothing", "file:///etc/passwd"] {
        let error = s.mcp("resources/read", json!({ "uri": uri })).await;
        assert!(
            error["code"] == -32002 && error["message"].as_str().unwrap().contains("there "),
            "{uri}: {error}"
        );
    }
}

#[test]
fn a_port_that_is_taken_gives_the_next() {
    let first = listen::bind([127, 0, 0, 1].into(), 0).unwrap();
    let port = first.local_addr().unwrap().port();
    let second = listen::bind([127, 0, 0, 1].into(), port).unwrap().local_addr().unwrap().port();
    assert!(second > port && second <= port + 20, "{port} {second}");
}

/// A client that sends lines, as over standard input and output.
struct Talk {
    input: WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    _server: Server,
}

impl Talk {
    fn new() -> Self {
        let server = Server::new();
        let pooled = Arc::new(Pooled::open(server.engine.clone(), server.changes.clone()));
        let calls = Arc::new(Calls::new(pooled, TOOLS.iter().collect(), true));
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (input, output) = tokio::io::split(theirs);
        let streams = Streams::new(server.changes.clone(), server.closing.clone());
        tokio::spawn(mcp::Mcp::new(calls, streams).talk(input, output));
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines(), _server: server }
    }

    /// Returns a client after the handshake.
    async fn begun(version: &str) -> Self {
        let mut talk = Self::new();
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        talk.send(&request(0, "initialize", &params).to_string()).await;
        assert_eq!(talk.heard().await["result"]["protocolVersion"], version);
        talk
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn heard(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_mins(1), self.output.next_line())
            .await
            .expect("an answer")
            .unwrap();
        json_of(&line.expect("the session ended"))
    }

    /// Asserts that the session still answers, and sent nothing else before.
    async fn assert_goes_on(&mut self) {
        self.send(&request(99, "ping", &json!({})).to_string()).await;
        assert_eq!(self.heard().await, json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn echo(id: u64, word: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": "cortex_echo", "arguments": { "word": word } }))
}

#[tokio::test]
async fn a_line_that_is_no_message_gets_no_answer() {
    let mut talk = Talk::begun("2025-06-18").await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"ping","params":{}1{}}}"#,
        "{\"a\":".repeat(5000),
        "}".repeat(5000)
    );
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"a":"{}"}}}}"#,
        "x".repeat(17 << 20)
    );
    for (line, id, code) in [
        ("nonsense", Value::Null, -32700),
        ("\u{0}", Value::Null, -32700),
        (&deep, json!(3), -32700),
        (&long, json!(4), -32600),
        (r#"{"id":7,"method":5}"#, json!(7), -32600),
        ("[]", Value::Null, -32600),
        (
            r#"{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":5}}"#,
            json!(8),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":5}}"#,
            json!(8),
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":9,"method":"nothing"}"#, json!(9), -32601),
    ] {
        talk.send(line).await;
        let reply = talk.heard().await;
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&id, &json!(code)),
            "{}: {reply}",
            &line[..line.len().min(100)]
        );
    }
    for ignored in [
        "",
        " \r",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":5}"#,
    ] {
        talk.send(ignored).await;
    }
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn a_session_that_begins_with_something_else_goes_on() {
    let mut talk = Talk::new();
    talk.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    talk.send(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#).await;
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn arguments_that_are_no_object_are_named() {
    let mut talk = Talk::begun("2025-06-18").await;
    for arguments in [json!([]), json!("word"), json!(5)] {
        talk.send(
            &request(1, "tools/call", &json!({ "name": "cortex_echo", "arguments": arguments }))
                .to_string(),
        )
        .await;
        let error = talk.heard().await["error"].clone();
        assert!(
            error["code"] == -32602 && error["message"].as_str().unwrap().contains("arguments"),
            "{arguments}: {error}"
        );
    }
    // Wrong arguments of a tool are a result that the model reads, so that it can correct them.
    for arguments in [json!({ "wird": 2 }), json!({})] {
        talk.send(
            &request(1, "tools/call", &json!({ "name": "cortex_echo", "arguments": arguments }))
                .to_string(),
        )
        .await;
        let result = talk.heard().await["result"].clone();
        assert!(
            result["isError"] == true
                && result["content"][0]["text"].as_str().unwrap().contains("word"),
            "{arguments}: {result}"
        );
    }
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn a_tool_that_panics_does_not_end_the_session() {
    let mut talk = Talk::begun("2025-06-18").await;
    for word in ["panic", "nothing"] {
        talk.send(&echo(1, &word.into()).to_string()).await;
        assert_eq!(talk.heard().await["result"]["isError"], true, "{word}");
    }
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let mut talk = Talk::begun("2025-06-18").await;
    let wait =
        request(1, "tools/call", &json!({ "name": "cortex_sleep", "arguments": {} })).to_string();
    talk.send(&wait).await;
    talk.send(&wait).await;
    let reply = talk.heard().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(1), &json!(-32600)));
    talk.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn a_batch_is_answered_as_one() {
    let mut talk = Talk::begun("2025-03-26").await;
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch = json!([echo(1, &"a".into()), told, { "id": 7, "method": 5 }, echo(2, &"panic".into()), request(3, "ping", &json!({}))]);
    talk.send(&batch.to_string()).await;
    let reply = talk.heard().await;
    let mut ids: Vec<u64> =
        reply.as_array().unwrap().iter().map(|r| r["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 7], "{reply}");

    talk.send(&json!([told]).to_string()).await;
    talk.send("[]").await;
    assert_eq!(talk.heard().await["error"]["code"], -32600);

    // A batch does not wait for a cancelled request.
    let wait = request(4, "tools/call", &json!({ "name": "cortex_sleep", "arguments": {} }));
    talk.send(&json!([wait, request(5, "ping", &json!({}))]).to_string()).await;
    talk.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#)
        .await;
    assert_eq!(talk.heard().await, json!([{ "jsonrpc": "2.0", "id": 5, "result": {} }]));
    talk.assert_goes_on().await;

    let mut talk = Talk::begun("2025-06-18").await;
    talk.send(&batch.to_string()).await;
    assert_eq!(talk.heard().await["error"]["code"], -32600);
    talk.assert_goes_on().await;
}

#[tokio::test]
async fn messages_over_http_follow_the_rules_of_their_revision() {
    let s = Server::new();
    for (body, status, id, code) in [
        ("nonsense".into(), StatusCode::BAD_REQUEST, Value::Null, -32700),
        ("[".repeat(5000), StatusCode::BAD_REQUEST, Value::Null, -32700),
        (r#"{"id":7,"method":5}"#.into(), StatusCode::BAD_REQUEST, json!(7), -32600),
        ("[]".into(), StatusCode::BAD_REQUEST, Value::Null, -32600),
        ("x".repeat((1 << 20) + 1), StatusCode::PAYLOAD_TOO_LARGE, Value::Null, -32600),
        (
            request(8, "tools/call", &json!({ "name": 5 })).to_string(),
            StatusCode::BAD_REQUEST,
            json!(8),
            -32602,
        ),
    ] {
        let (got, reply) = s.post("/mcp", body).await;
        let reply = json_of(&reply);
        assert_eq!(
            (got, &reply["id"], &reply["error"]["code"]),
            (status, &id, &json!(code)),
            "{reply}"
        );
    }
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let (status, reply) = s
        .post("/mcp", json!([echo(1, &"a".into()), told, echo(2, &"panic".into())]).to_string())
        .await;
    let mut ids: Vec<u64> =
        json_of(&reply).as_array().unwrap().iter().map(|r| r["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!((status, ids), (StatusCode::OK, vec![1, 2]), "{reply}");
    assert_eq!(
        s.post("/mcp", json!([told]).to_string()).await,
        (StatusCode::ACCEPTED, String::new())
    );

    let newer = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2025-06-18");
    let (status, reply) =
        read(s.ask(newer.body(json!([told]).to_string().into()).unwrap()).await).await;
    assert_eq!(
        (status, &json_of(&reply)["error"]["code"]),
        (StatusCode::BAD_REQUEST, &json!(-32600))
    );
}

#[tokio::test]
async fn listeners_do_not_hold_every_place() {
    let s = Server::new();
    let ask = async || {
        s.ask(Request::get("/events").header("host", "localhost").body(Body::empty()).unwrap())
            .await
    };
    let mut listeners = Vec::new();
    for _ in 0..64 {
        listeners.push(ask().await);
    }
    assert!(listeners.iter().all(|r| r.status() == StatusCode::OK));
    let turned_away = ask().await;
    assert_eq!(
        (turned_away.status(), &turned_away.headers()["retry-after"]),
        (StatusCode::SERVICE_UNAVAILABLE, &"10".parse().unwrap())
    );
    assert_eq!(s.get("/healthz").await.0, StatusCode::OK);
    listeners.pop();
    let free = async {
        while ask().await.status() != StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free)
        .await
        .expect("a listener that left makes room");
}

/// Returns the next message of a stream; comments in between are skipped.
async fn message_in(body: &mut axum::body::BodyDataStream) -> Value {
    let message = async {
        loop {
            let event = body.next().await.expect("the stream ended").unwrap();
            let event = std::str::from_utf8(&event).unwrap();
            if let Some(message) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                return json_of(message);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), message).await.expect("a message")
}

#[tokio::test]
async fn subscriptions_of_clients_that_left_free_their_places() {
    let s = Server::new();
    let params = json!({
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
        },
        "notifications": { "resourceSubscriptions": ["cortex://status"] }
    });
    // Returns the stream, and its message after the acknowledgement.
    let listen = async || {
        let message = request(1, "subscriptions/listen", &params).to_string();
        let post = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen");
        let response = s.ask(post.body(message.into()).unwrap()).await;
        let mut body = response.into_body().into_data_stream();
        let first = message_in(&mut body).await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        let second = message_in(&mut body).await;
        (body, second)
    };
    let mut listeners = Vec::new();
    for _ in 0..64 {
        let (body, message) = listen().await;
        assert_eq!(message["method"], "notifications/resources/updated");
        listeners.push(body);
    }
    assert_eq!(s.get("/events").await.0, StatusCode::SERVICE_UNAVAILABLE);
    let (_, refused) = listen().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("64 clients"), "{refused}");

    listeners.pop();
    let free = async {
        while listen().await.1["method"] != "notifications/resources/updated" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free)
        .await
        .expect("a listener that left makes room");

    s.closing.cancel();
    let last = message_in(&mut listeners[0]).await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")));
}

#[tokio::test]
async fn pages_are_judged_by_the_same_rules_at_the_api_and_at_mcp() {
    let s = Server::new();
    let ping = request(1, "ping", &json!({})).to_string();
    for (headers, allowed) in [
        (vec![("host", "localhost")], true),
        (vec![("host", "localhost:1"), ("origin", "http://localhost:1")], true),
        (vec![("host", "127.0.0.5:7717"), ("origin", "http://127.0.0.5:7717")], true),
        (vec![("host", "localhost"), ("origin", "http://localhost:3000")], false),
        (vec![("host", "localhost:1"), ("origin", "https://127.0.0.2")], false),
        (vec![("host", "127.0.0.5:7717"), ("origin", "http://[::1]:80")], false),
        (vec![("host", "localhost"), ("sec-fetch-site", "same-origin")], true),
        (vec![("host", "localhost"), ("sec-fetch-site", "cross-site")], false),
        (vec![("host", "localhost"), ("origin", "null")], false),
        (vec![("host", "localhost"), ("origin", "")], false),
        (vec![("host", "localhost"), ("origin", "https://evil.example")], false),
        (
            vec![
                ("host", "localhost"),
                ("origin", "http://localhost"),
                ("origin", "https://evil.example"),
            ],
            false,
        ),
        (vec![("host", "evil.example")], false),
        (vec![("host", "localhost"), ("host", "evil.example")], false),
        (vec![], false),
    ] {
        for (path, body) in [("/api/echo", r#"{"word": "a"}"#), ("/mcp", &ping)] {
            let request = Request::post(path).header("content-type", "application/json");
            let request = request.header("accept", "application/json, text/event-stream");
            let request = headers
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            let response = s.ask(request.body(body.to_string().into()).unwrap()).await;
            let expected = if allowed { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(response.status(), expected, "{path} {headers:?}");
            assert_eq!(
                response.headers()["x-content-type-options"],
                "nosniff",
                "{path} {headers:?}"
            );
        }
    }
}

impl Server {
    /// Calls `cortex_echo` as the page does.
    async fn ask_on_page(&self, word: &str) {
        let request = Request::get(format!("/api/echo?word={word}"))
            .header("host", "localhost")
            .header("sec-fetch-site", "same-origin");
        let response = self.ask(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
    }

    async fn activity(&self) -> Value {
        let (status, body) = self.get("/api/activity").await;
        assert_eq!(status, StatusCode::OK, "{body}");
        json_of(&body)
    }
}

#[tokio::test]
async fn questions_of_programs_are_counted_with_their_tokens_and_those_of_the_page_are_not() {
    let s = Server::new();
    s.write_file_chunk("src/a b.rs");
    s.ask_on_page("page").await;
    assert_eq!(s.activity().await["calls"], 0);
    s.post("/api/echo", r#"{"word": ["src/a b.rs"], "path": "src/a b.rs", "max_tokens": 9}"#).await;
    s.get("/api/echo").await;
    let client = json!({ "name": "test agent", "version": "1" });
    let meta = json!({ "io.modelcontextprotocol/clientInfo": client });
    let call =
        json!({ "name": "cortex_echo", "arguments": { "word": "src/a b.rs" }, "_meta": meta });
    s.mcp("tools/call", call).await;
    let activity = s.activity().await;
    assert_eq!(activity["calls"], 3);
    let row = &activity["tools"][0];
    // Each token is 3.5 bytes of the JSON or of the text, rounded up.
    let tokens = |text: &str| (text.len() * 2).div_ceil(7);
    let posted = r#"{"word":["src/a b.rs"],"path":"src/a b.rs","max_tokens":9}"#;
    let asked = tokens(posted) + tokens("{}") + tokens(r#"{"word":"src/a b.rs"}"#);
    let read = tokens(posted) + tokens("give a word") + tokens("\"src/a b.rs\"");
    assert_eq!(
        (&row["tool"], &row["calls"], &row["failed"]),
        (&json!("cortex_echo"), &json!(3), &json!(1))
    );
    assert_eq!((&row["tokens_asked"], &row["tokens_read"]), (&json!(asked), &json!(read)));
    let [by_mcp, failed, by_http] = [0, 1, 2].map(|i| activity["questions"][i].clone());
    assert_eq!(by_mcp["by"], "test agent");
    assert_eq!(failed["failed"], "arguments");
    assert_eq!(by_http["by"], "a program over HTTP");
    let question = by_http["question"].as_str().unwrap();
    assert!(
        question.contains("path: src/a b.rs") && !question.contains("max_tokens"),
        "{question}"
    );
    for shows in [&by_mcp, &by_http] {
        assert_eq!(shows["shown"], json!(["src/a b.rs"]), "{shows}");
    }
    // The page's call counts as a time.
    let n_timed: u64 =
        activity["latency"].as_array().unwrap().iter().map(|p| p["calls"].as_u64().unwrap()).sum();
    assert_eq!(n_timed, 3, "{activity}");
    let is_load = |reload: &&Value| reload["added"] == 1;
    let load = activity["reloads"].as_array().unwrap().iter().find(is_load).unwrap();
    assert_eq!(load["files"], json!(["src/a b.rs"]), "{activity}");
    assert_eq!(activity["generations"][0]["chunks"]["definitions"], 1, "{activity}");
}

/// What the page asks has the limits and the metrics of every call, and is not what agents asked.
#[tokio::test]
async fn questions_of_the_page_are_counted_and_stay_out_of_the_record() {
    let s = Server::new();
    s.write_file_chunk("src/a.rs");
    for (uri, body, status) in [
        ("/api/colours", r#"{ "parts": [] }"#, StatusCode::OK),
        ("/api/colours", "{}", StatusCode::BAD_REQUEST),
        ("/api/treemap", r#"{ "path": "nowhere" }"#, StatusCode::NOT_FOUND),
        ("/api/about", "", StatusCode::OK),
    ] {
        let (got, body) = s.post(uri, body.to_string()).await;
        assert_eq!(got, status, "{uri}: {body}");
    }
    let activity = s.activity().await;
    assert_eq!(activity["calls"], 0, "{activity}");
    for record in ["tools", "questions", "latency"] {
        assert_eq!(activity[record], json!([]), "{activity}");
    }
    let (_, page) = s.get("/metrics").await;
    for (question, result) in [
        ("colours", "ok"),
        ("colours", "arguments"),
        ("treemap", "not_found"),
        ("about", "ok"),
        ("activity", "ok"),
    ] {
        let line = format!("cortex_tool_calls_total{{tool=\"{question}\",result=\"{result}\"}} 1");
        assert!(page.lines().any(|l| l == line), "{line} is missing in\n{page}");
    }
}

#[tokio::test]
async fn an_error_of_a_question_of_the_page_holds_no_control_character() {
    let s = Server::new();
    s.write_file_chunk("src/a.rs");
    let name = "a\u{1b}[2J\u{202e}b";
    for (uri, arguments) in [
        ("/api/treemap", json!({ "path": name })),
        ("/api/file_uses", json!({ "path": name })),
        ("/api/drawing", json!({ "operation": name, "target": "a" })),
        ("/api/pin", json!({ "id": name, "pinned": true })),
    ] {
        let (status, body) = s.post(uri, arguments.to_string()).await;
        let error = json_of(&body)["error"].as_str().unwrap_or_default().to_string();
        assert!(status != StatusCode::OK && !error.is_empty(), "{uri}: {body}");
        assert!(!error.contains(['\u{1b}', '\u{202e}']), "{uri}: {body}");
    }
}

#[tokio::test]
async fn the_record_of_questions_is_bounded_and_holds_no_secret() {
    let s = Server::new();
    let secret = "ghp_A7b9C1d3E5f7G9h1J3k5L7m9N1p3Q5r7S9t1";
    for at in [0, 150] {
        let word = format!("{}{secret}", "why ".repeat(at / 4));
        s.post("/api/echo", json!({ "word": word }).to_string()).await;
    }
    let kept = s.activity().await.to_string();
    assert!(kept.contains("[REDACTED:"), "{kept}");
    assert!(!kept.contains("ghp_"), "{kept}");
    for n in 0..60 {
        s.get(&format!("/api/echo?word={n}")).await;
    }
    s.post("/api/echo", json!({ "word": "long ".repeat(50_000) }).to_string()).await;
    let activity = s.activity().await;
    assert_eq!(activity["calls"], 63);
    let questions = activity["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 50);
    assert_eq!(questions[1]["question"], "word: 59", "the newest first");
    assert!(questions[0]["question"].as_str().unwrap().chars().count() <= 161);
}

#[tokio::test]
async fn a_setting_has_questions_counted_and_not_kept() {
    let off = [("CORTEX_SERVE_ACTIVITY".to_string(), "false".to_string())];
    let s = Server::with(Config::load(None, None, off).unwrap());
    s.get("/api/echo?word=private").await;
    let activity = s.activity().await;
    assert_eq!(activity["keeps_questions"], false);
    assert_eq!(activity["tools"][0]["calls"], 1);
    assert!(activity["tools"][0]["tokens_read"].as_u64().unwrap() > 0);
    assert!(!activity.to_string().contains("private"), "{activity}");
    assert_eq!((&activity["questions"], &activity["latency"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn an_event_tells_of_a_question() {
    let s = Server::new();
    let events = Request::get("/events").header("host", "localhost").body(Body::empty()).unwrap();
    let mut stream = s.ask(events).await.into_body().into_data_stream();
    let mut text = String::new();
    let heard = async {
        for calls in ["{\"calls\":0}", "{\"calls\":1}"] {
            while !text.contains(&format!("event: activity\ndata: {calls}")) {
                text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
            }
            s.get("/api/echo?word=a").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap();
}
