//! The codes that peers rely on.

use expect_test::expect;
use sabir_ldp::{ErrorCategory, LdpError, Refusal, Severity};
use serde_json::json;

/// LD-W37: every code, with what goes with it.
#[test]
fn every_refusal_has_a_code() {
    let line = |refusal: &Refusal| {
        let error = refusal.error("why");
        assert_eq!(error.refusal(), Some(*refusal));
        assert_eq!(serde_json::to_value(refusal).unwrap(), refusal.code());
        format!(
            "{:<24} {:<11} {:<8} {}\n",
            error.code,
            error.category.wire_name(),
            error.severity.wire_name(),
            if error.retryable { "retryable" } else { "final" }
        )
    };
    expect![[r#"
        SESSION_NOT_FOUND        session     error    retryable
        SESSION_NOT_YOURS        policy      fatal    final
        SESSION_EXPIRED          session     error    retryable
        SESSION_CLOSED           session     error    retryable
        SESSION_SUSPENDED        session     error    retryable
        SKILL_NOT_FOUND          capability  error    final
        TIMESTAMP_OUT_OF_WINDOW  policy      fatal    retryable
        REPLAY_DETECTED          policy      fatal    final
        TRUST_DOMAIN_MISMATCH    policy      fatal    final
        BAD_SIGNATURE            policy      fatal    final
        SIGNATURE_REQUIRED       policy      fatal    final
        FRAME_INVALID            capability  error    retryable
        MODE_NOT_NEGOTIATED      capability  error    retryable
        CONTRACT_VIOLATED        policy      fatal    final
        LOOP_DETECTED            policy      fatal    final
        DEPTH_EXCEEDED           policy      fatal    final
        WRONG_RECIPIENT          identity    error    final
        TASK_NOT_FOUND           runtime     error    final
        CANCELLED                runtime     error    final
        MESSAGE_INVALID          transport   error    final
        UNEXPECTED_MESSAGE       session     error    final
        LIMIT_REACHED            runtime     error    retryable
        TASK_FAILED              runtime     error    final
        INTERRUPTED              runtime     error    final
    "#]]
    .assert_eq(&Refusal::ALL.iter().map(line).collect::<String>());
}

/// LD-W38: the category that breaks a released SDK is read and never written.
#[test]
fn security_is_never_sent() {
    assert!(Refusal::ALL.iter().all(|refusal| refusal.category() != ErrorCategory::Security));
    let error = LdpError {
        category: ErrorCategory::Security,
        severity: Severity::Fatal,
        ..Refusal::BadSignature.error("why")
    };
    assert_eq!(
        error.to_value(),
        json!({
            "code": "BAD_SIGNATURE",
            "category": "policy",
            "message": "why",
            "severity": "fatal",
            "retryable": false,
        })
    );
    let read: LdpError = serde_json::from_value(json!({ "category": "security" })).unwrap();
    assert_eq!(read.category, ErrorCategory::Security);
}

/// LD-W38: a bare string, and words of a newer peer, are read for what they say.
#[test]
fn errors_of_other_dialects_are_read() {
    let read = |value| serde_json::from_value::<LdpError>(value).unwrap();
    let error = read(json!("handler raised"));
    assert_eq!((error.code.as_str(), error.message.as_str()), ("TASK_FAILED", "handler raised"));
    assert!(!error.retryable);
    let error = read(json!({ "code": "X", "category": "galactic", "severity": "odd" }));
    assert_eq!((error.category, error.severity), (ErrorCategory::Runtime, Severity::Error));
    assert_eq!(error.refusal(), None);
}
