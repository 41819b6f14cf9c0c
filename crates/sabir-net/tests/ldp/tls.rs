//! TLS, and callers that show a certificate.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sabir_ldp::Fingerprint;
use sabir_net::{HttpSettings, LdpOptions, LdpServer, ListenError, TlsFiles};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::together::Caller;
use crate::wire::Wire;
use crate::world::{TOKEN, World, hello, message};

/// An authority, and files in which it and what it signed are.
struct Papers {
    folder: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key.
struct Pass {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

#[expect(clippy::disallowed_methods, reason = "certificates are files")]
impl Papers {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let papers = Self { folder: tempfile::tempdir().unwrap(), authority };
        fs::write(papers.path("authority.pem"), papers.authority.pem()).unwrap();
        let (certificate, key) = papers.sign("localhost");
        fs::write(papers.path("server.pem"), certificate).unwrap();
        fs::write(papers.path("server.key"), key).unwrap();
        fs::set_permissions(papers.path("server.key"), fs::Permissions::from_mode(0o600)).unwrap();
        papers
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A certificate and its key, in PEM.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn pass(&self, name: &str) -> Pass {
        let (certificate, key) = self.sign(name);
        Pass {
            certificate: CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap(),
            key: PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        }
    }

    fn files(&self) -> TlsFiles {
        TlsFiles {
            certificates: self.path("server.pem"),
            key: self.path("server.key"),
            client_authority: Some(self.path("authority.pem")),
        }
    }

    fn options(&self) -> LdpOptions {
        LdpOptions { tls: Some(self.files()), ..LdpOptions::default() }
    }

    /// A connection to a server that the authority signed for.
    async fn wire(&self, world: &World, pass: Option<&Pass>) -> std::io::Result<Wire> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match pass {
            None => builder.with_no_client_auth(),
            Some(pass) => builder
                .with_client_auth_cert(vec![pass.certificate.clone()], pass.key.clone_key())
                .unwrap(),
        };
        let stream = TcpStream::connect(world.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        Ok(Wire::over(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
    }
}

/// LD-H30
#[tokio::test]
async fn a_certificate_tells_who_calls() {
    let papers = Papers::new();
    let (known, stranger) = (papers.pass("known"), papers.pass("stranger"));
    let world = World::certified(papers.options(), &[Fingerprint::of(&known.certificate)]).await;
    let mut wire = papers.wire(&world, Some(&known)).await.unwrap();
    let answer = wire.post("/ldp/messages", "", &hello()).await.json();
    assert_eq!(answer["body"]["type"], "CAPABILITY_MANIFEST", "{answer}");
    // The certificate is proof enough for one whose header says that it comes from elsewhere.
    let propose = message("", json!({ "type": "SESSION_PROPOSE", "config": {} }));
    let answer = wire.post("/ldp/messages", "forwarded: for=10.0.0.1\r\n", &propose).await.json();
    assert_eq!(answer["body"]["type"], "SESSION_ACCEPT", "{answer}");
    // The same authority signed this one, and nobody knows whose it is.
    let mut wire = papers.wire(&world, Some(&stranger)).await.unwrap();
    let answer = wire.post("/ldp/messages", "", &hello()).await.json();
    assert_eq!(answer["body"]["type"], "SESSION_REJECT", "{answer}");
    world.end().await;
}

/// LD-H30
#[tokio::test]
async fn without_a_certificate_of_the_authority_nothing_is_read() {
    let papers = Papers::new();
    let world = World::certified(papers.options(), &[]).await;
    let foreign = Papers::new().pass("foreign");
    for pass in [None, Some(&foreign)] {
        // With TLS 1.3 a client learns of it with the first bytes that it reads.
        if let Ok(mut wire) = papers.wire(&world, pass).await {
            wire.try_send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
            assert_eq!(wire.rest().await, b"");
        }
    }
    // Neither is what is not encrypted.
    let mut plain = world.wire().await;
    plain.try_send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(!plain.rest().await.starts_with(b"HTTP"));
    world.end().await;
}

/// LD-H30
#[tokio::test]
async fn with_tokens_a_certificate_is_one_of_two_ways() {
    let papers = Papers::new();
    let known = papers.pass("known");
    let options = LdpOptions {
        tokens: vec![Fingerprint::of(TOKEN.as_bytes())],
        demand: sabir_net::Demand::Everyone,
        ..papers.options()
    };
    let world = World::certified(options, &[Fingerprint::of(&known.certificate)]).await;
    let mut certified = papers.wire(&world, Some(&known)).await.unwrap();
    assert_eq!(certified.post("/ldp/messages", "", &hello()).await.status, 200);
    let mut bare = papers.wire(&world, None).await.unwrap();
    assert_eq!(bare.post("/ldp/messages", "", &hello()).await.status, 401);
    let token = format!("authorization: Bearer {TOKEN}\r\n");
    let answer = bare.post("/ldp/messages", &token, &hello()).await.json();
    assert_eq!(answer["body"]["type"], "CAPABILITY_MANIFEST", "{answer}");
    world.end().await;
}

/// LD-H10, LD-H31
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "certificates are files")]
async fn papers_that_cannot_be_used_are_named() {
    let papers = Papers::new();
    let far = || vec!["0.0.0.0:0".parse().unwrap()];
    LdpServer::bind(far(), papers.options()).await.unwrap();
    let alone = TlsFiles { client_authority: None, ..papers.files() };
    let options = LdpOptions { tls: Some(alone), ..LdpOptions::default() };
    let refused = LdpServer::bind(far(), options).await;
    assert!(matches!(refused, Err(ListenError::Unproven { .. })), "{refused:?}");

    let refusal = async |files: TlsFiles| {
        let options = LdpOptions { tls: Some(files), ..LdpOptions::default() };
        LdpServer::bind(vec!["127.0.0.1:0".parse().unwrap()], options)
            .await
            .unwrap_err()
            .to_string()
    };
    let missing = TlsFiles { certificates: papers.path("missing.pem"), ..papers.files() };
    assert!(refusal(missing).await.contains("missing.pem"));
    fs::write(papers.path("empty.pem"), "").unwrap();
    let empty = TlsFiles { certificates: papers.path("empty.pem"), ..papers.files() };
    assert!(refusal(empty).await.contains("no certificate"));
    let (_, other_key) = papers.sign("other");
    fs::write(papers.path("other.key"), other_key).unwrap();
    let open = TlsFiles { key: papers.path("other.key"), ..papers.files() };
    assert!(refusal(open.clone()).await.contains("chmod 600"));
    fs::set_permissions(papers.path("other.key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(refusal(open).await.contains("other.key"), "a key of another certificate");
}

/// LD-H29, LD-H30
#[tokio::test]
async fn over_tls_the_client_chooses_the_version() {
    let papers = Papers::new();
    let known = papers.pass("known");
    let world = World::certified(papers.options(), &[Fingerprint::of(&known.certificate)]).await;
    let (certificate, key) = papers.sign("known");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let identity = reqwest::Identity::from_pem(format!("{certificate}{key}").as_bytes()).unwrap();
    let authority = reqwest::Certificate::from_pem(papers.authority.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder()
        .tls_certs_only([authority])
        .identity(identity)
        .resolve("localhost", world.address)
        .build()
        .unwrap();
    let url = format!("https://localhost:{}/healthz", world.address.port());
    let answer = client.get(url).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, reqwest::Version::HTTP_2));
    world.end().await;
}

/// LD-T4: each side sees a proof of who the other is, or there is no task.
#[tokio::test]
async fn our_client_and_our_server_authenticate_each_other() {
    let papers = Papers::new();
    let (certificate, key) = papers.sign("caller");
    let known = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let options = LdpOptions {
        tokens: vec![Fingerprint::of(TOKEN.as_bytes())],
        demand: sabir_net::Demand::Everyone,
        ..papers.options()
    };
    let world = World::certified(options, &[Fingerprint::of(&known)]).await;
    let url = format!("https://localhost:{}", world.address.port());
    let settings = |authority: &Papers| HttpSettings {
        roots_pem: vec![authority.authority.pem().into_bytes()],
        ..HttpSettings::default()
    };
    let by_certificate = HttpSettings {
        identity_pem: Some(format!("{certificate}{key}").into_bytes()),
        ..settings(&papers)
    };
    let mut by_token = settings(&papers);
    by_token.tokens.insert(url.clone(), TOKEN.to_owned());
    for proof in [by_certificate, by_token] {
        let caller = Caller::new(proof, |_| {});
        let met = caller.meet(&url).await.unwrap();
        let delivered = caller.echo(&met, "t").await.unwrap();
        assert_eq!(delivered.report.outcome.output["instruction"], "ahoy");
        caller.client.close().await;
    }
    // The server turns away who proves nothing.
    let error = Caller::new(settings(&papers), |_| {}).meet(&url).await.unwrap_err();
    assert!(error.contains("401"), "{error}");
    // The client turns away a server that no authority of its own vouches for.
    let mut astray = settings(&Papers::new());
    astray.tokens.insert(url.clone(), TOKEN.to_owned());
    assert!(Caller::new(astray, |_| {}).meet(&url).await.is_err());
    world.end().await;
}
