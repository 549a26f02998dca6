//! The server's side: accepts clients on the socket, and serves each the project that it names.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::place::ServerPlace;
use super::wire::{ProjectStatus, Reply, ServerStatus, Want};
use crate::dir::own_user;
use crate::engine::{Pool, PoolLimits, Pooled, ProjectError};
use crate::live::resident_bytes;
use crate::platform::{LocalListener, LocalStream};
use crate::serve::calls::Calls;
use crate::serve::http::{App, router};
use crate::serve::life::{Signals, run};
use crate::serve::listen::{Front, serve};
use crate::serve::running::{Given, RunningNote};
use crate::serve::stdio::talk;
use crate::serve::token::Token;
use crate::tools::Tool;

/// Longest first line of a client, in bytes.
const MAX_WANT: u64 = 64 << 10;
/// How long a client may take to say what it wants.
const HELLO: Duration = Duration::from_secs(10);
/// How often projects are looked at that may be closed, and whether the server shall end.
const TICK: Duration = Duration::from_secs(1);
/// How long calls may continue after the order to end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long a new server waits for one that ends.
const HANDOVER: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
/// A server does not end before it had this time for its first client, or the next one.
const LEAST_IDLE: Duration = Duration::from_secs(5);

/// The server of a machine.
pub struct Host {
    pool: Arc<Pool>,
    hosted: Mutex<HashMap<PathBuf, Arc<Hosted>>>,
    /// Number of agents.
    clients: AtomicUsize,
    start: Instant,
    /// The user's directory for the state of programs.
    state: Option<PathBuf>,
    closing: CancellationToken,
}

/// A project with its clients.
struct Hosted {
    /// What all its clients share; its own list of tools is empty.
    calls: Calls,
    clients: AtomicUsize,
    /// The note of where the project is served over HTTP.
    http: Mutex<Option<RunningNote>>,
}

/// Counts a client until it is dropped.
struct Client {
    host: Arc<Host>,
    hosted: Arc<Hosted>,
}

impl Client {
    fn of(host: &Arc<Host>, hosted: Arc<Hosted>) -> Self {
        host.clients.fetch_add(1, Ordering::Relaxed);
        hosted.clients.fetch_add(1, Ordering::Relaxed);
        Self { host: host.clone(), hosted }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hosted.clients.fetch_sub(1, Ordering::Relaxed);
        self.host.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The lock and the socket of a server. Dropping it removes the socket.
struct Listening {
    place: ServerPlace,
    listener: LocalListener,
    /// Identifies the file of the socket.
    id: Option<(u64, u64)>,
    _lock: File,
}

impl Listening {
    /// Waits for a server that ends. `None` if one goes on.
    fn begin(place: &ServerPlace) -> io::Result<Option<Self>> {
        let start = Instant::now();
        let lock = loop {
            match place.lock()? {
                Some(lock) => break lock,
                None if LocalStream::connect(place.socket()).is_ok() => return Ok(None),
                None if start.elapsed() > HANDOVER => {
                    return Err(io::Error::other("another server neither answers nor ends"));
                }
                None => thread::sleep(POLL),
            }
        };
        place.remove_socket()?;
        let _ = place.remove_old();
        let listener = LocalListener::bind(place.socket())?;
        listener.set_nonblocking(true)?;
        let id = place.socket_id();
        Ok(Some(Self { place: place.clone(), listener, id, _lock: lock }))
    }

    /// Whether clients still find this server: nobody removed or replaced its socket.
    fn is_found(&self) -> bool {
        self.place.socket_id() == self.id
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.is_found() {
            let _ = self.place.remove_socket();
        }
    }
}

impl Host {
    #[must_use]
    pub fn new(limits: PoolLimits, state: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            pool: Arc::new(Pool::new(limits)),
            hosted: Mutex::default(),
            clients: AtomicUsize::new(0),
            start: Instant::now(),
            state,
            closing: CancellationToken::new(),
        })
    }

    /// Serves at a place until a signal or a client orders the end, or nobody was connected for the
    /// time after which projects are closed. Returns at once if a server is there already.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn serve(self: &Arc<Self>, place: &ServerPlace) -> io::Result<()> {
        let Some(listening) = Listening::begin(place)? else { return Ok(()) };
        tracing::info!("serving at {}", place.socket().display());
        let result = run(self.accept(listening));
        for project in self.pool.projects() {
            if let Some(engine) = project.engine_if_open() {
                engine.stop();
            }
        }
        result
    }

    async fn accept(self: &Arc<Self>, listening: Listening) -> io::Result<()> {
        let mut signals = Signals::catch()?;
        let listener = UnixListener::from_std(listening.listener.try_clone()?)?;
        let mut ticks = interval(TICK);
        loop {
            tokio::select! {
                () = signals.wait() => break,
                () = self.closing.cancelled() => break,
                _ = ticks.tick() => {
                    let host = self.clone();
                    drop(spawn_blocking(move || host.pool.tidy()));
                    // Somebody removed the directory, for example.
                    if self.is_abandoned() || !listening.is_found() {
                        break;
                    }
                }
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => drop(tokio::spawn(self.clone().attend(stream))),
                    Err(e) => {
                        tracing::warn!("cannot accept a connection: {e}");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
        tracing::info!("shutting down");
        drop(listening);
        self.closing.cancel();
        let hosted: Vec<_> = self.hosted.lock().values().cloned().collect();
        let finished = async {
            for project in hosted {
                project.calls.all_finished().await;
                drop(project.http.lock().take());
            }
        };
        let _ = timeout(LAST_ANSWERS, finished).await;
        Ok(())
    }

    /// Whether no agent is connected, and nobody asked or watched for long.
    fn is_abandoned(&self) -> bool {
        let idle = self.pool.projects().first().map_or(self.start.elapsed(), |last| last.idle());
        self.clients.load(Ordering::Relaxed) == 0 && idle > self.pool.limits().idle.max(LEAST_IDLE)
    }

    async fn attend(self: Arc<Self>, stream: UnixStream) {
        // The directory keeps other users out; this holds wherever the socket is.
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own_user()) {
            tracing::warn!("refused a client of another user");
            return;
        }
        if let Err(e) = self.answer(stream).await {
            tracing::debug!("a client failed: {e}");
        }
    }

    async fn answer(self: Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let (input, mut output) = stream.into_split();
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        let read = async { (&mut input).take(MAX_WANT).read_until(b'\n', &mut line).await };
        timeout(HELLO, read).await??;
        let want = serde_json::from_slice(&line);
        match want {
            Ok(Want::Mcp { root, tools, read_only }) => {
                let tools = named(&tools);
                let host = self.clone();
                let opened = spawn_blocking(move || host.hosted(&root)).await?;
                let hosted = match opened {
                    Ok(hosted) => hosted,
                    Err(e) => return send(&mut output, &Reply::Error(e.to_string())).await,
                };
                let calls = hosted.calls.of_client(tools).with_unlisted().read_only(read_only);
                let calls = calls.reaching(self.pool.clone());
                let _client = Client::of(&self, hosted);
                send(&mut output, &Reply::Ok).await?;
                talk(Arc::new(calls), self.closing.clone(), input, output).await
            }
            Ok(Want::Http { root, tools, address, port, token }) => {
                let host = self.clone();
                let serve = move || host.http(&root, &tools, address, port, token);
                let reply = match spawn_blocking(serve).await? {
                    Ok(()) => Reply::Ok,
                    Err(e) => Reply::Error(e.to_string()),
                };
                send(&mut output, &reply).await
            }
            Ok(Want::Status) => {
                let host = self.clone();
                let status = spawn_blocking(move || host.status()).await?;
                send(&mut output, &Reply::Status(status)).await
            }
            Ok(Want::Stop) => {
                send(&mut output, &Reply::Ok).await?;
                self.closing.cancel();
                Ok(())
            }
            Err(e) => send(&mut output, &Reply::Error(format!("cannot be understood: {e}"))).await,
        }
    }

    /// Returns the project of a root, and opens it, since its first question comes soon.
    fn hosted(&self, root: &Path) -> Result<Arc<Hosted>, ProjectError> {
        let project = self.pool.project(root);
        let engine = project.engine()?;
        let new = || {
            let calls = Calls::new(project, Vec::new(), engine.project.config.activity);
            Arc::new(Hosted { calls, clients: AtomicUsize::new(0), http: Mutex::default() })
        };
        Ok(self.hosted.lock().entry(root.to_path_buf()).or_insert_with(new).clone())
    }

    /// Serves a project over HTTP, unless it is already.
    fn http(
        self: &Arc<Self>,
        root: &Path,
        tools: &[String],
        address: IpAddr,
        port: u16,
        token: Option<String>,
    ) -> io::Result<()> {
        let hosted = self.hosted(root).map_err(io::Error::other)?;
        let mut http = hosted.http.lock();
        if http.is_some() {
            return Ok(());
        }
        let state = self.state.as_deref().ok_or(ErrorKind::NotFound)?;
        let token = token.and_then(Token::chosen);
        let Front { listener, access, .. } = Front::open(address, port, token, Some(state))?;
        let config = &hosted.calls.project.engine().map_err(io::Error::other)?.project.config;
        let given = Given {
            address,
            port,
            tools: tools.iter().cloned().collect(),
            read_only: false,
            edit_trusted: config.edit_trusted,
            follows: true,
            is_shared: true,
        };
        *http = Some(RunningNote::write(state, root, listener.local_addr()?, &access, given)?);
        let (closing, refuses_others) = (self.closing.child_token(), access.is_by_user());
        let calls = hosted.calls.of_client(named(tools)).with_unlisted();
        let router = router(App { calls, closing: closing.clone() }, access);
        let (end, place) = (self.closing.clone(), hosted.clone());
        Handle::current().spawn(async move {
            let served = serve(listener, router, refuses_others, closing, end.cancelled()).await;
            if let Err(e) = served {
                tracing::warn!("cannot serve over HTTP: {e}");
            }
            drop(place.http.lock().take());
        });
        Ok(())
    }

    fn status(&self) -> ServerStatus {
        let limits = self.pool.limits();
        let hosted = self.hosted.lock().clone();
        let status = |project: Arc<Pooled>| {
            let engine = project.engine_if_open();
            let corpora = engine.as_ref().map(|engine| engine.manager.current());
            ProjectStatus {
                root: project.root().to_path_buf(),
                agents: hosted
                    .get(project.root())
                    .map_or(0, |hosted| hosted.clients.load(Ordering::Relaxed)),
                open: engine.is_some(),
                chunks: corpora.map_or(0, |snapshot| {
                    snapshot.corpora.iter().map(|c| c.corpus.chunks().len()).sum()
                }),
                idle_s: project.idle().as_secs(),
                url: hosted
                    .get(project.root())
                    .and_then(|hosted| hosted.http.lock().as_ref().map(RunningNote::url)),
            }
        };
        ServerStatus {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            program: std::env::current_exe().unwrap_or_default(),
            uptime_s: self.start.elapsed().as_secs(),
            resident_bytes: resident_bytes(),
            budget_bytes: limits.bytes,
            idle_s: limits.idle.as_secs(),
            projects: {
                let there = self.pool.projects().into_iter().filter(|project| project.is_there());
                there.map(status).collect()
            },
        }
    }
}

fn named(tools: &[String]) -> Vec<&'static Tool> {
    tools.iter().filter_map(|name| Tool::named(name)).collect()
}

async fn send(output: &mut (impl AsyncWrite + Unpin), reply: &Reply) -> io::Result<()> {
    let line = serde_json::to_string(reply)? + "\n";
    output.write_all(line.as_bytes()).await
}

/// Serves one agent from a thread of this process, and returns its end of the connection. The agent
/// reaches the projects of `pool`.
///
/// # Errors
/// When no thread can be started.
pub fn alone(calls: Calls, pool: Arc<Pool>) -> io::Result<LocalStream> {
    let (client, server) = LocalStream::pair()?;
    server.set_nonblocking(true)?;
    let serve = move || {
        let served = run(async {
            let (input, output) = UnixStream::from_std(server)?.into_split();
            let calls = Arc::new(calls.reaching(pool.clone()));
            let mut ticks = interval(TICK);
            let tidying = async {
                loop {
                    ticks.tick().await;
                    let pool = pool.clone();
                    let _ = spawn_blocking(move || pool.tidy()).await;
                }
            };
            tokio::select! {
                result = talk(calls, CancellationToken::new(), input, output) => result,
                () = tidying => Ok(()),
            }
        });
        if let Err(e) = served {
            tracing::warn!("the connection to the agent failed: {e}");
        }
    };
    thread::Builder::new().name("server".into()).spawn(serve)?;
    Ok(client)
}
