//! The connections of a depot to its server, and what their errors mean.

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Options;
use crate::{DepotError, Result};

/// Most statements that a connection keeps prepared: those of proposals differ by the parts of the
/// question.
const MAX_PREPARED: usize = 64;

/// A connection, and its prepared statements by their texts.
pub struct Connection {
    pub client: Client,
    prepared: HashMap<String, Statement>,
}

impl Connection {
    /// Returns a prepared statement. The first time, this is a round trip.
    pub async fn prepared(&mut self, text: &str) -> Result<Statement> {
        if let Some(statement) = self.prepared.get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text).await.map_err(|error| failed(&error))?;
        if self.prepared.len() == MAX_PREPARED {
            self.prepared.clear();
        }
        self.prepared.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Runs statements that have no parameters.
    pub async fn run(&self, text: &str) -> Result<()> {
        self.client.batch_execute(text).await.map_err(|error| failed(&error))
    }
}

/// The connections.
pub struct Connections {
    runtime: Runtime,
    config: Config,
    /// The addresses of the server, for people.
    place: String,
    tls: MakeRustlsConnect,
    connect: Duration,
    call: Duration,
    slots: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl Connections {
    pub fn new(address: &str, options: &Options) -> Result<Self> {
        let invalid = |_| {
            let form = "postgres://user:password@host:5432/database";
            DepotError::Refused(format!("the address is not valid: write {form}"))
        };
        let mut config: Config = address.parse().map_err(invalid)?;
        config.connect_timeout(options.connect);
        config.tcp_user_timeout(options.call);
        if config.get_application_name().is_none() {
            config.application_name("cortex");
        }
        // The default mode of the protocol falls back to plain text.
        if config.get_ssl_mode() == SslMode::Prefer && !is_on_this_machine(&config) {
            config.ssl_mode(SslMode::Require);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| DepotError::Unavailable(format!("cannot start a thread: {error}")))?;
        Ok(Self {
            runtime,
            place: place(&config),
            config,
            tls: MakeRustlsConnect::new(trust(options.root.as_deref())?),
            connect: options.connect,
            call: options.call,
            slots: Semaphore::new(options.connections.clamp(1, Semaphore::MAX_PERMITS)),
            idle: Mutex::default(),
        })
    }

    /// Does some work on a connection, within the time of a call.
    pub fn call<T>(&self, work: impl AsyncFnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let call = async {
            let _slot = self.slots.acquire().await;
            let mut connection = match self.idle() {
                Some(connection) => connection,
                None => self.connected().await?,
            };
            let done = work(&mut connection).await;
            // After another error, the connection may be in a transaction that has failed.
            if done.is_ok() {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            }
            done
        };
        let done = self.runtime.block_on(async { timeout(self.call, call).await });
        let done = done.unwrap_or_else(|_| Err(late(self.call)));
        done.map_err(|error| match error {
            DepotError::Unavailable(why) => {
                // Whatever happened to this connection has probably happened to the others.
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                DepotError::Unavailable(format!("{}: {why}", self.place))
            }
            error => error,
        })
    }

    fn idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|connection| !connection.client.is_closed());
        idle.pop()
    }

    async fn connected(&self) -> Result<Connection> {
        let connecting = async {
            let (client, driver) =
                self.config.connect(self.tls.clone()).await.map_err(|error| failed(&error))?;
            // An error of the connection also reaches the call that waits for it.
            tokio::spawn(async { drop(driver.await) });
            let connection = Connection { client, prepared: HashMap::new() };
            // The plans do not depend on the values: they are made once. A table is never read as a
            // whole: it has the rows of all repositories.
            let settings = format!(
                "SET statement_timeout = {}; SET plan_cache_mode = force_generic_plan;
                SET enable_seqscan = off; SET jit = off",
                self.call.as_millis().clamp(1, i32::MAX as u128)
            );
            connection.run(&settings).await?;
            Ok(connection)
        };
        timeout(self.connect, connecting).await.unwrap_or_else(|_| Err(late(self.connect)))
    }
}

/// Returns the addresses of the server, without what is secret.
fn place(config: &Config) -> String {
    let ports = config.get_ports();
    let address = |(at, host): (usize, &Host)| {
        let port = ports.get(at).or(ports.first()).unwrap_or(&5432);
        match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        }
    };
    let all: Vec<String> = config.get_hosts().iter().enumerate().map(address).collect();
    if all.is_empty() { format!("{:?}", config.get_hostaddrs()) } else { all.join(", ") }
}

fn late(after: Duration) -> DepotError {
    DepotError::Unavailable(format!("no answer within {after:?}"))
}

fn is_on_this_machine(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

/// Returns how a server's certificate is verified.
fn trust(root: Option<&Path>) -> Result<ClientConfig> {
    let refused = |why: String| DepotError::Refused(why);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(error.to_string()))?;
    let Some(path) = root else {
        let builder = builder.with_platform_verifier().map_err(|error| {
            refused(format!("cannot read the certificates that the system trusts: {error}"))
        })?;
        return Ok(builder.with_no_client_auth());
    };
    let unreadable = |why: String| {
        refused(format!(
            "cannot read certificates from {}: {why} (name a file in PEM format)",
            path.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    for certificate in
        CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?
    {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("it has none".into()));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Returns what an error of the client library means for a caller.
pub fn failed(error: &tokio_postgres::Error) -> DepotError {
    if let Some(refusal) = error.as_db_error() {
        let code = refusal.code().code();
        let why = format!("{} (SQLSTATE {code})", refusal.message());
        // The classes of PostgreSQL's manual, appendix A.
        return match code {
            "42P01" | "3F000" => DepotError::Refused(
                "the database has no tables in the schema cortex: publish a repository first"
                    .into(),
            ),
            // A server that is a replica now, after a failover; a lock that is held.
            "25006" | "55P03" => DepotError::Unavailable(why),
            _ => match &code[..code.len().min(2)] {
                // Connections, conflicts of transactions, full resources, operators and time-outs.
                "08" | "40" | "53" | "57" => DepotError::Unavailable(why),
                "XX" => DepotError::Damaged(why),
                _ => DepotError::Refused(why),
            },
        };
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    // A certificate that is not trusted is an error of the data.
    let is_lost = cause.is_some_and(|cause| cause.kind() != io::ErrorKind::InvalidData);
    let why = match error.source() {
        Some(cause) if !error.to_string().contains(&cause.to_string()) => {
            format!("{error}: {cause}")
        }
        _ => error.to_string(),
    };
    if is_lost || error.is_closed() {
        DepotError::Unavailable(why)
    } else {
        DepotError::Refused(why)
    }
}
