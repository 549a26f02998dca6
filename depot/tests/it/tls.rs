//! Encrypted connections. The servers of the tests have no TLS, so a peer before them does.

use std::path::PathBuf;
use std::sync::Arc;

use cortex_depot::{Depot, DepotError};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::server::Server;

/// A peer with TLS before a server.
struct Peer {
    port: u16,
    /// The certificate that signs its own.
    root: PathBuf,
    _folder: TempDir,
    _runtime: Runtime,
}

impl Peer {
    /// `asks`: clients ask for TLS first, as those of Postgres do.
    fn before(server: &Server, asks: bool) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
        let mut tls = ServerConfig::builder_with_provider(Arc::new(
            tokio_rustls::rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.try_into().unwrap())
        .unwrap();
        if !asks {
            tls.alpn_protocols.push(b"h2".to_vec());
        }
        let runtime = Runtime::new().unwrap();
        let port = forward(&runtime, tls, server.port, asks);
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root.pem");
        std::fs::write(&root, made.cert.pem()).unwrap();
        Self { port, root, _folder: folder, _runtime: runtime }
    }
}

/// Listens with TLS on a free port, which it returns, and forwards to the server on another.
fn forward(runtime: &Runtime, tls: ServerConfig, to: u16, asks: bool) -> u16 {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    runtime.spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if asks {
                    // The protocol's request for TLS: its length and a number. `S` grants it.
                    let mut request = [0; 8];
                    peer.read_exact(&mut request).await.unwrap();
                    assert_eq!(request, [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f], "not encrypted");
                    peer.write_all(b"S").await.unwrap();
                }
                let Ok(mut peer) = acceptor.accept(peer).await else { return };
                let mut server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = copy_bidirectional(&mut peer, &mut server).await;
            });
        }
    });
    port
}

#[cfg(feature = "postgres")]
#[test]
fn a_connection_is_encrypted_and_its_server_verified() {
    use cortex_depot::postgres::{Options, Postgres};

    let Some(server) = Server::start("postgres") else { return };
    let peer = Peer::before(&server, true);
    let (port, root) = (peer.port, peer.root.clone());
    let address =
        |host: &str, port| format!("postgres://postgres@{host}:{port}/postgres?sslmode=require");
    let trusting = Options { root: Some(root), ..Options::default() };
    let depot = Postgres::new(&address("127.0.0.1", port), &trusting).unwrap();
    depot.prepare(4).unwrap();
    assert_eq!(depot.records(None).unwrap(), []);

    // A certificate that the system does not trust, and one of another host.
    for (host, options) in [("127.0.0.1", &Options::default()), ("localhost", &trusting)] {
        let depot = Postgres::new(&address(host, port), options).unwrap();
        let answer = depot.records(None);
        assert!(matches!(answer, Err(DepotError::Refused(_))), "{host}: {answer:?}");
    }
    // A server without TLS.
    let depot = Postgres::new(&address("127.0.0.1", server.port), &trusting).unwrap();
    assert!(matches!(depot.records(None), Err(DepotError::Refused(_))));
}

#[cfg(feature = "milvus")]
#[test]
fn a_connection_to_milvus_is_encrypted_and_its_server_verified() {
    use cortex_depot::milvus::{Milvus, Options};

    let Some(server) = Server::start("milvus") else { return };
    let peer = Peer::before(&server, false);
    let address = |host: &str, port| format!("milvus://{host}:{port}?tls=require");
    let hasty = Options { connect: std::time::Duration::from_secs(2), ..Options::default() };
    let trusting = Options { root: Some(peer.root.clone()), ..hasty.clone() };
    let depot = Milvus::new(&address("127.0.0.1", peer.port), &trusting).unwrap();
    depot.prepare(4).unwrap();
    assert_eq!(depot.records(None).unwrap(), []);

    // A certificate that the system does not trust, one of another host, and a server without TLS.
    for (host, port, options) in [
        ("127.0.0.1", peer.port, &hasty),
        ("localhost", peer.port, &trusting),
        ("127.0.0.1", server.port, &trusting),
    ] {
        let depot = Milvus::new(&address(host, port), options).unwrap();
        let answer = depot.records(None);
        assert!(matches!(answer, Err(DepotError::Unavailable(_))), "{host}: {answer:?}");
    }
}
