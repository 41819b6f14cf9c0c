//! Signatures of what outlives a session: provenance records and attestations.
//!
//! They are always by an identity key. A provenance record is bound to the task and the output that
//! it is about, or it could be put under another result; an attestation is bound to who makes it.
//! A signature says which key made it. Whether that key is the delegate's is for the reader to know.
//!
//! A signature costs more than all else in an answer, so that records which are ready at the same
//! moment are signed together: one signature over the root of a tree of hashes, and each record says
//! how its own hash leads to the root.

use std::fmt;

use sabir_base::json::{JsonKind, JsonValue};
use serde_json::Value;

use super::bytes::{SIGNATURE_KEY, framed, put_framed, put_written, sha256};
use super::envelope::Algorithm;
use super::key::{PublicKey, PublicKeyError, SigningKey};
use super::tree::{self, Hash, Tree};
use crate::canonical::{
    NotCanonical, canonical_text, canonical_text_without, canonical_value, canonical_value_without,
    write_own, write_value,
};
use crate::envelope::Outcome;
use crate::provenance::RecordSignature;

/// Why a record is not accepted as signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFault {
    /// It is not signed.
    Absent,
    /// What stands under `signature` is no signature of a record.
    Malformed,
    /// By an algorithm that records are not signed with.
    UnknownAlgorithm,
    BadKey(PublicKeyError),
    NotCanonical(NotCanonical),
    Mismatch,
}

/// What the signature of one provenance record covers, before there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct UnsignedRecord(Vec<u8>);

impl UnsignedRecord {
    /// Of the provenance that a result carries. A signature that is there already is not covered.
    pub fn of(outcome: &Outcome) -> Result<Self, NotCanonical> {
        let Outcome { task_id, output, provenance } = outcome;
        let mut bytes = Vec::with_capacity(RECORD_ROOM);
        // The faults of a record are told before those of what it is about.
        put_framed(&mut bytes, &before_output(task_id.as_str()));
        let output_at = bytes.len();
        put_framed(&mut bytes, &[&[0; 32]]);
        put_written(&mut bytes, |out| {
            let value = || provenance.to_value();
            write_own(out, |out| provenance.write_unsigned(out), SIGNATURE_KEY, value).map(drop)
        })?;
        // The output is written behind the record, hashed there and taken away again.
        let end = bytes.len();
        write_value(output, &mut bytes)?;
        let output = sha256(&bytes[end..]);
        bytes.truncate(end);
        bytes.shrink_to(RECORD_ROOM);
        bytes[output_at + 8..][..output.len()].copy_from_slice(&output);
        Ok(Self(bytes))
    }
}

impl fmt::Debug for UnsignedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An output may hold what does not belong into a log.
        write!(f, "UnsignedRecord({} bytes)", self.0.len())
    }
}

/// Signs records at once, and gives their signatures in their order. One alone is signed as it is.
pub fn sign_records(records: &[UnsignedRecord], key: &SigningKey) -> Vec<RecordSignature> {
    if let [UnsignedRecord(bytes)] = records {
        return vec![sign(key, bytes)];
    }
    let leaves = records.iter().map(|UnsignedRecord(bytes)| tree::leaf(bytes)).collect();
    let Some(tree) = Tree::over(leaves) else { return Vec::new() };
    let signature = key.sign(&root_bytes(&tree.root()));
    let public_key = key.public_key().to_hex();
    let of_one = |index| RecordSignature {
        algorithm: BATCH.to_owned(),
        public_key: public_key.clone(),
        signature: signature.clone(),
        path: tree.path(index),
    };
    (0..records.len()).map(of_one).collect()
}

/// Signs the provenance of a task's output. A signature that the record has already is not covered.
pub fn sign_provenance(
    provenance: &Value,
    task_id: &str,
    output: &Value,
    key: &SigningKey,
) -> Result<RecordSignature, NotCanonical> {
    let provenance = canonical_value_without(provenance, SIGNATURE_KEY)?;
    let output = canonical_value(output)?;
    Ok(sign(key, &provenance_bytes(task_id, &output, &provenance)))
}

/// Checks the provenance in the body of a TASK_RESULT and gives the key that signed it.
pub fn verify_provenance(body: JsonValue<'_>) -> Result<PublicKey, RecordFault> {
    let provenance = body.get("provenance").ok_or(RecordFault::Absent)?;
    let signature = signature_in(provenance)?;
    let task_id = body.get("task_id").and_then(|value| value.string().ok()).unwrap_or_default();
    let output = match body.get("output") {
        Some(output) => canonical_text(output).map_err(RecordFault::NotCanonical)?,
        None => "null".to_owned(),
    };
    let provenance =
        canonical_text_without(provenance, SIGNATURE_KEY).map_err(RecordFault::NotCanonical)?;
    verify(&signature, &provenance_bytes(&task_id, &output, &provenance))
}

/// Signs what `issuer` claims. `evidence` is an object, and the signature goes into it.
pub fn sign_attestation(
    issuer: &str,
    claim: &Value,
    evidence: &Value,
    key: &SigningKey,
) -> Result<RecordSignature, NotCanonical> {
    let claim = canonical_value(claim)?;
    let evidence = canonical_value_without(evidence, SIGNATURE_KEY)?;
    Ok(sign(key, &attestation_bytes(issuer, &claim, &evidence)))
}

/// Checks the body of an ATTESTATION by `issuer` and gives the key that signed it.
pub fn verify_attestation(issuer: &str, body: JsonValue<'_>) -> Result<PublicKey, RecordFault> {
    let evidence = body.get("evidence").ok_or(RecordFault::Absent)?;
    let signature = signature_in(evidence)?;
    let claim = match body.get("claim") {
        Some(claim) => canonical_text(claim).map_err(RecordFault::NotCanonical)?,
        None => "null".to_owned(),
    };
    let evidence =
        canonical_text_without(evidence, SIGNATURE_KEY).map_err(RecordFault::NotCanonical)?;
    verify(&signature, &attestation_bytes(issuer, &claim, &evidence))
}

fn provenance_bytes(task_id: &str, output: &str, provenance: &str) -> Vec<u8> {
    // The hash lets a record be checked by who has kept the hash of an output and not the output.
    let output = sha256(output.as_bytes());
    let [label, algorithm, task_id] = before_output(task_id);
    framed(&[label, algorithm, task_id, &output, provenance.as_bytes()])
}

fn before_output(task_id: &str) -> [&[u8]; 3] {
    let algorithm = Algorithm::Ed25519.wire_name();
    [PROVENANCE_LABEL, algorithm, task_id].map(str::as_bytes)
}

fn attestation_bytes(issuer: &str, claim: &str, evidence: &str) -> Vec<u8> {
    let algorithm = Algorithm::Ed25519.wire_name();
    framed(&[ATTESTATION_LABEL, algorithm, issuer, claim, evidence].map(str::as_bytes))
}

fn sign(key: &SigningKey, bytes: &[u8]) -> RecordSignature {
    RecordSignature {
        algorithm: Algorithm::Ed25519.wire_name().to_owned(),
        public_key: key.public_key().to_hex(),
        signature: key.sign(bytes),
        path: Vec::new(),
    }
}

fn root_bytes(root: &Hash) -> Vec<u8> {
    framed(&[BATCH_LABEL.as_bytes(), BATCH.as_bytes(), root])
}

/// The signature that a record carries.
fn signature_in(record: JsonValue<'_>) -> Result<RecordSignature, RecordFault> {
    let signature = record
        .get(SIGNATURE_KEY)
        .filter(|value| value.kind() != JsonKind::Null)
        .ok_or(RecordFault::Absent)?;
    RecordSignature::read(signature).map_err(|_| RecordFault::Malformed)
}

fn verify(signature: &RecordSignature, bytes: &[u8]) -> Result<PublicKey, RecordFault> {
    let is_alone = signature.path.is_empty();
    let root;
    let bytes = match &*signature.algorithm {
        BATCH if !is_alone => {
            let leaf = tree::leaf(bytes);
            root =
                root_bytes(&tree::root_from(leaf, &signature.path).ok_or(RecordFault::Malformed)?);
            &root
        }
        BATCH => return Err(RecordFault::Malformed),
        name if name != Algorithm::Ed25519.wire_name() => {
            return Err(RecordFault::UnknownAlgorithm);
        }
        _ if is_alone => bytes,
        _ => return Err(RecordFault::Malformed),
    };
    let key = PublicKey::from_hex(&signature.public_key).map_err(RecordFault::BadKey)?;
    key.verify(bytes, &signature.signature).map_err(|_| RecordFault::Mismatch)?;
    Ok(key)
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordFault::Absent => f.write_str("the record is not signed"),
            RecordFault::Malformed => f.write_str("the record's signature is not one"),
            RecordFault::UnknownAlgorithm => {
                f.write_str("records are signed with ed25519 or ed25519-batch")
            }
            RecordFault::BadKey(error) => error.fmt(f),
            RecordFault::NotCanonical(fault) => fault.fmt(f),
            RecordFault::Mismatch => f.write_str("the signature does not fit the record"),
        }
    }
}

impl std::error::Error for RecordFault {}

/// Most records fit, and the outputs that they are about.
const RECORD_ROOM: usize = 1280;

const PROVENANCE_LABEL: &str = "sabir-ldp-v1/provenance";
/// The algorithm of a record that was signed with others.
const BATCH: &str = "ed25519-batch";
const BATCH_LABEL: &str = "sabir-ldp-v1/records";
const ATTESTATION_LABEL: &str = "sabir-ldp-v1/attestation";
