//! What the tests share: where the cases are, and values that proptest makes: any JSON, any message,
//! any card.

#![expect(clippy::unwrap_used, reason = "what is made here is well-formed")]

use std::path::{Path, PathBuf};

use proptest::option::of;
use proptest::prelude::*;
use sabir_ldp::{
    Acceptance, Attestation, Body, Budget, Cancellation, Capability, ClaimType, Closing, Contract,
    ContractId, ContractPolicy, CostTier, DelegateId, Endpoint, Envelope, ErrorCategory, Evidence,
    Failure, FailurePolicy, Hello, HexBytes, IdentityCard, LdpError, LineageHop, Manifest,
    MessageId, Outcome, PayloadMode, Proposal, Provenance, Quality, Recipient, RecordSignature,
    Rejection, Score, SessionId, Severity, SkillName, Stamp, Submission, TaskId, TaskState,
    Timestamp, TrustDomain, Update, VerificationStatus,
};
use serde_json::{Map, Value};

/// The folder of cases with that name.
pub(crate) fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder)
}

/// Any JSON, small.
pub(crate) fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
    .boxed()
}

/// Any JSON that is not null, which is the same as absent.
fn some_json() -> BoxedStrategy<Value> {
    any_json().prop_filter("null is absent", |value| !value.is_null()).boxed()
}

fn text() -> &'static str {
    "\\PC{0,12}"
}

macro_rules! ids {
    ($($make:ident: $id:ident;)*) => {
        $(fn $make() -> impl Strategy<Value = $id> {
            "[a-z0-9:é-]{1,20}".prop_map(|text| $id::new(text).unwrap())
        })*
    };
}

ids! {
    delegate: DelegateId;
    session: SessionId;
    message: MessageId;
    task: TaskId;
    skill: SkillName;
    contract_id: ContractId;
}

fn stamp() -> impl Strategy<Value = Stamp> {
    (0_u64..253_402_300_799_999).prop_map(|millis| Timestamp::from_millis(millis).into())
}

fn mode() -> impl Strategy<Value = PayloadMode> {
    prop::sample::select(PayloadMode::ALL.to_vec())
}

fn modes() -> impl Strategy<Value = Vec<PayloadMode>> {
    prop::sample::subsequence(PayloadMode::ALL.to_vec(), 0..=6).prop_shuffle()
}

fn hex<const N: usize>() -> impl Strategy<Value = HexBytes<N>> {
    prop::array::uniform32(any::<u8>()).prop_map(|bytes| {
        let mut all = [0; N];
        all.iter_mut().zip(bytes.iter().cycle()).for_each(|(to, from)| *to = *from);
        HexBytes(all)
    })
}

fn score() -> impl Strategy<Value = Score> {
    (0.0..=1.0_f64).prop_map(|number| Score::new(number).unwrap())
}

fn error() -> impl Strategy<Value = LdpError> {
    // The word `security` is read and never written.
    let categories: Vec<_> =
        ErrorCategory::ALL.into_iter().filter(|it| *it != ErrorCategory::Security).collect();
    (
        text(),
        prop::sample::select(categories),
        text(),
        prop::sample::select(Severity::ALL.to_vec()),
        any::<bool>(),
        of(some_json()),
    )
        .prop_map(|(code, category, message, severity, retryable, partial_output)| LdpError {
            code,
            category,
            message,
            severity,
            retryable,
            partial_output,
        })
}

fn provenance() -> impl Strategy<Value = Provenance> {
    let status = || prop::sample::select(VerificationStatus::ALL.to_vec());
    let evidence = (text(), text(), of(text()), of(text()))
        .prop_map(|(source, kind, uri, summary)| Evidence { source, kind, uri, summary });
    let hop = (delegate(), text(), text(), of(stamp()), status()).prop_map(
        |(delegate_id, model_version, step, timestamp, verification)| LineageHop {
            delegate_id,
            model_version,
            step,
            timestamp,
            verification,
        },
    );
    let made = (delegate(), text(), mode(), of(score()), status(), of(text()), of(session()));
    let measured = (of(stamp()), of(any::<u64>()), of(0.0..9.0_f64), of(any::<u64>()));
    let kept = (of(contract_id()), of(any::<bool>()), prop::collection::vec(text(), 0..3));
    let path = prop::collection::vec(text(), 0..3);
    let signature =
        (text(), text(), text(), path).prop_map(|(algorithm, public_key, signature, path)| {
            RecordSignature { algorithm, public_key, signature, path }
        });
    let proof =
        (prop::collection::vec(evidence, 0..3), prop::collection::vec(hop, 0..3), of(signature));
    (made, measured, kept, proof).prop_map(|(made, measured, kept, proof)| {
        let mut all = Provenance::new(made.0, made.1, made.2);
        (all.confidence, all.verification, all.verified_by, all.session_id) =
            (made.3, made.4, made.5, made.6);
        (all.timestamp, all.tokens_used, all.cost_usd, all.latency_ms) = measured;
        (all.contract_id, all.contract_satisfied, all.contract_violations) = kept;
        (all.evidence, all.signature) = (proof.0, proof.2);
        all.lineage = proof.1.into();
        all
    })
}

fn contract() -> impl Strategy<Value = Contract> {
    let policy = (
        prop::bool::ANY,
        of(any::<u64>()),
        of(0.0..9.0_f64),
        prop::collection::vec(text(), 0..3),
        of(any::<u64>()),
    )
        .prop_map(|(closed, max_tokens, max_cost_usd, safety_constraints, depth)| {
            ContractPolicy {
                failure_policy: match closed {
                    true => FailurePolicy::FailClosed,
                    false => FailurePolicy::FailOpen,
                },
                budget: Budget { max_tokens, max_cost_usd },
                safety_constraints,
                max_delegation_depth: depth,
            }
        });
    let criteria = prop::collection::vec(text(), 0..3);
    (contract_id(), text(), criteria, policy, of(stamp()), of(stamp())).prop_map(
        |(contract_id, objective, success_criteria, policy, deadline, created_at)| Contract {
            contract_id,
            objective,
            success_criteria,
            policy,
            deadline,
            created_at,
        },
    )
}

fn capability() -> impl Strategy<Value = Capability> {
    let quality = (
        of(score()),
        of(any::<u64>()),
        of(any::<u64>()),
        of(0.0..9.0_f64),
        of(any::<u64>()),
        any::<bool>(),
        prop::sample::select(ClaimType::ALL.to_vec()),
    )
        .prop_map(|made| Quality {
            score: made.0,
            latency_p50_ms: made.1,
            latency_p99_ms: made.2,
            cost_per_call_usd: made.3,
            max_tokens: made.4,
            supports_streaming: made.5,
            claim_type: made.6,
        });
    let schema = || {
        of(any_json().prop_map(|inner| Value::Object(Map::from_iter([("type".to_owned(), inner)]))))
    };
    let tier = of(prop::sample::select(CostTier::ALL.to_vec()));
    let domains = prop::collection::vec(text(), 0..3);
    (skill(), of(text()), schema(), schema(), quality, tier, domains).prop_map(
        |(name, description, input_schema, output_schema, quality, cost_hint, domains)| {
            Capability {
                name,
                description,
                input_schema,
                output_schema,
                quality,
                cost_hint,
                domains,
            }
        },
    )
}

fn capabilities() -> impl Strategy<Value = Vec<Capability>> {
    prop::collection::vec(capability(), 0..4).prop_map(|mut all| {
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all.dedup_by(|left, right| left.name == right.name);
        all
    })
}

fn body() -> BoxedStrategy<Body> {
    let hello =
        (delegate(), modes(), of(hex())).prop_map(|(delegate_id, supported_modes, public_key)| {
            Body::Hello(Hello { delegate_id, supported_modes, public_key })
        });
    let manifest = (capabilities(), of(modes()), of(any::<u64>()), of(hex())).prop_map(
        |(capabilities, supported_modes, max_concurrent_tasks, public_key)| {
            Body::CapabilityManifest(Manifest {
                capabilities,
                supported_modes,
                max_concurrent_tasks,
                public_key,
            })
        },
    );
    let proposal = (modes(), any::<u64>(), of(text()), of(text()), of(hex()), of(session()))
        .prop_map(|(modes, ttl_secs, required_trust_domain, trust_domain, key_share, resumed)| {
            Body::SessionPropose(Proposal {
                preferred_payload_modes: modes,
                ttl_secs,
                required_trust_domain,
                trust_domain,
                key_share,
                resume_session_id: resumed,
            })
        });
    let acceptance = (session(), mode(), modes(), of(text()), of(hex()), any::<bool>()).prop_map(
        |(session_id, negotiated_mode, fallback_chain, trust_domain, key_share, resumed)| {
            Body::SessionAccept(Acceptance {
                session_id,
                negotiated_mode,
                fallback_chain,
                trust_domain,
                key_share,
                resumed,
            })
        },
    );
    let rejection = (text(), of(error()))
        .prop_map(|(reason, error)| Body::SessionReject(Rejection { reason, error }));
    let path = prop::collection::vec(delegate(), 0..3);
    let submission = (task(), skill(), any_json(), of(contract()), path).prop_map(
        |(task_id, skill, input, contract, delegation_path)| {
            Body::TaskSubmit(Submission { task_id, skill, input, contract, delegation_path })
        },
    );
    let state = of(prop::sample::select(TaskState::ALL.to_vec()));
    let update = (task(), of(-1.0..2.0_f64), of(text()), state, of(any::<u64>())).prop_map(
        |(task_id, progress, message, state, seq)| {
            Body::TaskUpdate(Update { task_id, progress, message, state, seq })
        },
    );
    let outcome = (task(), any_json(), provenance()).prop_map(|(task_id, output, provenance)| {
        Body::TaskResult(Outcome { task_id, output, provenance })
    });
    let failure = (of(task()), error())
        .prop_map(|(task_id, error)| Body::TaskFailed(Failure { task_id, error }));
    let attestation = (any_json(), any_json())
        .prop_map(|(claim, evidence)| Body::Attestation(Attestation { claim, evidence }));
    let closing = (of(text()), any::<bool>())
        .prop_map(|(reason, suspend)| Body::SessionClose(Closing { reason, suspend }));
    prop_oneof![
        hello,
        manifest,
        proposal,
        acceptance,
        rejection,
        submission,
        update,
        outcome,
        failure,
        task().prop_map(|task_id| Body::TaskCancel(Cancellation { task_id })),
        attestation,
        closing,
    ]
    .boxed()
}

pub(crate) fn envelope() -> BoxedStrategy<Envelope> {
    let recipient = prop_oneof![
        Just(Recipient::Unnamed),
        delegate().prop_map(Recipient::Delegate),
        "[a-z]{1,8}".prop_map(|host| Recipient::Address(format!("https://{host}.example"))),
    ];
    let names = (message(), of(session()), delegate(), recipient, mode(), stamp());
    let signed = (of(text()), of(text()), of(text()));
    (names, body(), of(provenance()), signed)
        .prop_map(|(names, body, provenance, signed)| Envelope {
            message_id: names.0,
            session_id: names.1,
            from: names.2,
            to: names.3,
            body,
            payload_mode: names.4,
            timestamp: names.5,
            provenance,
            signature: signed.0,
            signature_algorithm: signed.1,
            nonce: signed.2,
        })
        .boxed()
}

pub(crate) fn card() -> BoxedStrategy<IdentityCard> {
    let texts = ("[a-z]{1,8}", of(text()), "[a-z]{1,8}", "[a-z]{1,8}", of(text()), of(text()));
    let numbers = (any::<u64>(), of(prop::sample::select(CostTier::ALL.to_vec())));
    let domain = ("[a-z]{1,8}", any::<bool>(), prop::collection::vec(text(), 0..3));
    let endpoint =
        of("[a-z]{1,8}".prop_map(|host| Endpoint::new(format!("ldp://{host}")).unwrap()));
    let metadata = prop::collection::btree_map(text(), text(), 0..3);
    let rest = (capabilities(), modes(), endpoint, metadata, of(hex()));
    (texts, numbers, domain, rest, of(text()), of(text()))
        .prop_map(|(texts, numbers, domain, rest, latency_profile, jurisdiction)| {
            let mut modes = rest.1;
            if !modes.contains(&PayloadMode::Text) {
                modes.push(PayloadMode::Text);
            }
            IdentityCard {
                delegate_id: DelegateId::new(format!("ldp:delegate:{}", texts.0)).unwrap(),
                name: texts.0,
                description: texts.1,
                model_family: texts.2,
                model_version: texts.3,
                weights_fingerprint: texts.4,
                trust_domain: TrustDomain {
                    name: domain.0,
                    allow_cross_domain: domain.1,
                    trusted_peers: domain.2,
                },
                context_window: numbers.0,
                reasoning_profile: texts.5,
                cost_profile: numbers.1,
                latency_profile,
                jurisdiction,
                capabilities: rest.0,
                supported_payload_modes: modes,
                endpoint: rest.2,
                metadata: rest.3,
                public_key: rest.4,
            }
        })
        .boxed()
}
