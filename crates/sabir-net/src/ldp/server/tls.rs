//! TLS: our certificate, and who may have signed those of clients. Keys are read from files and never
//! shown.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use sabir_ldp::Fingerprint;
use tokio_rustls::TlsAcceptor;

use super::options::TlsFiles;
use crate::error::ListenError;

/// Whether somebody without a certificate may go on, to show a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certificates {
    Demanded,
    Asked,
}

pub(super) fn acceptor(
    files: &TlsFiles,
    certificates: Certificates,
) -> Result<TlsAcceptor, ListenError> {
    let chain = read_certificates(&files.certificates)?;
    let key = read_key(&files.key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| ListenError::Tls(error.to_string()))?;
    let builder = match &files.client_authority {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for authority in read_certificates(path)? {
                roots.add(authority).map_err(|error| failed(path, &error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = match certificates {
                Certificates::Demanded => verifier,
                Certificates::Asked => verifier.allow_unauthenticated(),
            };
            builder
                .with_client_cert_verifier(verifier.build().map_err(|error| failed(path, &error))?)
        }
    };
    let mut config =
        builder.with_single_cert(chain, key).map_err(|error| failed(&files.key, &error))?;
    config.alpn_protocols = vec![ALPN_H2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

pub(super) const ALPN_H2: &[u8] = b"h2";

/// Of the certificate that a client showed and proved to hold the key of.
pub(super) fn fingerprint(connection: &rustls::ServerConnection) -> Option<Fingerprint> {
    let leaf = connection.peer_certificates()?.first()?;
    Some(Fingerprint::of(leaf))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ListenError> {
    let text =
        sabir_host::read_file_text(path, MAX_CHAIN_BYTES).map_err(|why| failed(path, &why))?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = read.map_err(|error| failed(path, &error))?;
    if found.is_empty() {
        return Err(failed(path, &"no certificate in PEM is in it"));
    }
    Ok(found)
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, ListenError> {
    let text = sabir_host::read_private(path, MAX_KEY_BYTES).map_err(|why| failed(path, &why))?;
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| failed(path, &error))
}

/// A list of authorities may be long.
const MAX_CHAIN_BYTES: u64 = 4 * 1024 * 1024;

/// The longest RSA keys in use have a tenth of it.
const MAX_KEY_BYTES: u64 = 64 * 1024;

fn failed(path: &Path, why: &dyn std::fmt::Display) -> ListenError {
    ListenError::Tls(format!("{}: {why}", path.display()))
}
