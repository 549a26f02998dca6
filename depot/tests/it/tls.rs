//! Encrypted connections. The server of the tests has no TLS, so a peer before it does.

use std::sync::Arc;

use cortex_depot::postgres::{Options, Postgres};
use cortex_depot::{Depot, DepotError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::server::Server;

/// Listens with TLS on a free port, which it returns, and forwards to the server on another.
fn forward(runtime: &Runtime, tls: ServerConfig, to: u16) -> u16 {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    runtime.spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // The protocol's request for TLS: its length and a number. `S` grants it.
                let mut request = [0; 8];
                peer.read_exact(&mut request).await.unwrap();
                assert_eq!(request, [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f], "not encrypted");
                peer.write_all(b"S").await.unwrap();
                let Ok(mut peer) = acceptor.accept(peer).await else { return };
                let mut server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let _ = copy_bidirectional(&mut peer, &mut server).await;
            });
        }
    });
    port
}

#[test]
fn a_connection_is_encrypted_and_its_server_verified() {
    let Some(server) = Server::start("postgres") else { return };
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
    let tls = ServerConfig::builder_with_provider(Arc::new(
        tokio_rustls::rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![certificate], key.try_into().unwrap())
    .unwrap();
    let runtime = Runtime::new().unwrap();
    let port = forward(&runtime, tls, server.port);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.pem");
    std::fs::write(&root, made.cert.pem()).unwrap();

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
