//! Delegates behind TLS that want to see a certificate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use crate::world::{World, base};

/// An authority, and what it has issued for a name: the certificate and its key, both in PEM.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, name: &str) -> (CertificateDer<'static>, KeyPair, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let pem = format!("{}{}", certificate.pem(), key.serialize_pem());
        (certificate.der().clone(), key, pem)
    }
}

/// A server that shows a card to whoever shows a certificate of the authority.
async fn serve(authority: &Authority) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let (certificate, key, _) = authority.issue("localhost");
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // Who shows no certificate is not served.
            let Ok(mut socket) = acceptor.accept(socket).await else { continue };
            let mut buffer = [0; 4096];
            let _ = socket.read(&mut buffer).await;
            let card = include_str!("../../../../sabir-ldp/tests/data/cards/ok/0002_rust.json");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{card}", card.len());
            let _ = socket.write_all(answer.as_bytes()).await;
            let _ = socket.shutdown().await;
        }
    });
    format!("https://localhost:{port}")
}

/// LD-C34
#[tokio::test]
async fn a_client_certificate_is_shown_to_who_asks_for_one() {
    let authority = Authority::new();
    let url = serve(&authority).await;
    let mut world = World::new();
    world.http.roots_pem.push(authority.0.pem().into_bytes());
    assert!(world.client().discover(&base(&url)).await.is_err());
    world.http.identity_pem = Some(authority.issue("caller").2.into_bytes());
    let discovered = world.client().discover(&base(&url)).await.unwrap();
    assert!(discovered.base.is_private());
    // An authority that nobody trusts vouches for nobody.
    world.http.roots_pem.clear();
    assert!(world.client().discover(&base(&url)).await.is_err());
}

/// LD-C1: the scheme that was meant is named.
#[tokio::test]
async fn who_speaks_plainly_to_tls_is_told() {
    let url = serve(&Authority::new()).await.replace("https://", "http://");
    let error = World::new().client().discover(&base(&url)).await.unwrap_err().to_string();
    assert!(error.contains("call it by https://"), "{error}");
}
