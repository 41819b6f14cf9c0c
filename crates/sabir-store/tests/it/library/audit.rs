//! The audit of the gate: a chain that shows what was changed.

use expect_test::expect;
use sabir_store::library::{
    AuditLink, AuditOutcome, Library, LibraryError, NewAudit, Unsound, audit_genesis, audit_hash,
};

use super::sample::{open, raw};
use crate::sample::home;

fn row(call_id: &str, outcome: AuditOutcome) -> NewAudit {
    NewAudit {
        actor: "col_1".to_owned(),
        call_id: call_id.to_owned(),
        subject: "source.capture".to_owned(),
        outcome,
        reason: "invented_url".to_owned(),
        body: r#"{"url":"https://a.example"}"#.to_owned(),
    }
}

fn filled(library: &Library) {
    let rows = [row("call-1", AuditOutcome::Ask), row("call-2", AuditOutcome::Allow)];
    library.append_audit(&rows, 5).unwrap();
    library.append_audit(&[row("call-1", AuditOutcome::Deny)], 6).unwrap();
}

/// LC-S18: rows are numbered from 1 and each hash covers the one before.
#[test]
fn the_rows_are_a_chain() {
    let home = home();
    let library = open(home.path());
    filled(&library);
    let rows = library.audit(0, 10).unwrap();
    let verified = library.verify().unwrap();
    let mut hash = audit_genesis(&verified.library_id);
    for (row, seq) in rows.iter().zip(1..) {
        assert_eq!(row.seq, seq);
        assert!(row.follows(&hash));
        assert!(!row.follows(&audit_genesis("another library")));
        hash = row.hash;
    }
    assert_eq!((verified.audit.seq, verified.audit.hash), (3, hash));
    let of_call: Vec<_> =
        library.audit_of_call("call-1").unwrap().into_iter().map(|row| row.outcome).collect();
    assert_eq!(of_call, [AuditOutcome::Ask, AuditOutcome::Deny]);
    assert_eq!(library.audit(2, 10).unwrap(), rows[2..]);
}

/// LC-S18, LC-S19: what is covered, in which order, cannot change unseen.
#[test]
fn the_hashes_are_these() {
    let link = AuditLink {
        seq: 1,
        id: "aud_0",
        at_ms: 2,
        actor: "a",
        call_id: "b",
        subject: "c",
        outcome: "deny",
        reason: "d",
        body: "{}",
    };
    let genesis = audit_genesis("0123456789abcdef");
    let hash = audit_hash(&genesis, &link);
    expect![[r#"
        531171d98c7e851919d6fb082652a5be8eea559ffd0ba5e4c60c07397ffe2612
        7b621b7992227f79ae3445b28fc1b60020cd80a8471c967e152443ef84ae8836"#]]
    .assert_eq(&format!("{genesis}\n{hash}"));
    // Where one field ends and the next begins is covered, too.
    let moved = AuditLink { actor: "ab", call_id: "", ..link };
    assert_ne!(audit_hash(&genesis, &moved), hash);
}

/// LC-S18: the database refuses to change or delete a row.
#[test]
fn the_audit_is_append_only() {
    let home = home();
    let library = open(home.path());
    filled(&library);
    let raw = raw(home.path());
    for sql in
        ["UPDATE policy_audit SET outcome = 'allow'", "DELETE FROM policy_audit WHERE seq = 3"]
    {
        assert!(raw.execute(sql, []).unwrap_err().to_string().contains("append-only"));
    }
}

/// LC-S26: whatever is changed in the audit is found, and where.
#[test]
fn a_changed_row_is_found() {
    for (change, at) in [
        ("UPDATE policy_audit SET outcome = 'allow' WHERE seq = 1", 1),
        ("UPDATE policy_audit SET at_ms = 7 WHERE seq = 2", 2),
        ("UPDATE policy_audit SET body = '{}' WHERE seq = 3", 3),
        ("UPDATE policy_audit SET hash = zeroblob(32) WHERE seq = 2", 2),
        ("UPDATE policy_audit SET hash = x'00' WHERE seq = 2", 2),
        ("UPDATE policy_audit SET id = 'aud_x' WHERE seq = 2", 2),
        ("DELETE FROM policy_audit WHERE seq = 2", 2),
        ("DELETE FROM policy_audit WHERE seq = 1", 1),
        ("UPDATE meta SET value = 'another' WHERE key = 'library_id'", 1),
    ] {
        let home = home();
        let library = open(home.path());
        filled(&library);
        let raw = raw(home.path());
        raw.execute_batch(
            "DROP TRIGGER the_audit_is_never_changed; DROP TRIGGER the_audit_is_never_shortened;",
        )
        .unwrap();
        raw.execute(change, []).unwrap();
        let LibraryError::Unsound(Unsound { place, .. }) = library.verify().unwrap_err() else {
            panic!("{change}")
        };
        assert_eq!(place, format!("row {at} of the audit"), "{change}");
    }
}

/// LC-S40: rows that are taken from the end, or added there, are found, also after more were written.
#[test]
fn an_audit_of_another_length_is_found() {
    for (change, place) in [
        ("DELETE FROM policy_audit WHERE seq = 3", "row 3 of the audit"),
        ("DELETE FROM policy_audit WHERE seq >= 2", "row 2 of the audit"),
        ("DELETE FROM policy_audit", "row 1 of the audit"),
        ("DELETE FROM meta WHERE key = 'audit_head'", "meta"),
        ("DELETE FROM meta WHERE key = 'audit_head'; DELETE FROM policy_audit", "meta"),
        ("UPDATE meta SET value = '0' WHERE key = 'audit_head'", "row 1 of the audit"),
        ("UPDATE meta SET value = 'x' WHERE key = 'audit_head'", "meta"),
    ] {
        let home = home();
        let library = open(home.path());
        library.verify().unwrap();
        filled(&library);
        let raw = raw(home.path());
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'the_audit_is_never_shortened'";
        let trigger: String = raw.query_row(sql, [], |row| row.get(0)).unwrap();
        let change = format!("DROP TRIGGER the_audit_is_never_shortened; {change}; {trigger}");
        raw.execute_batch(&change).unwrap();
        let unsound = || match library.verify() {
            Err(LibraryError::Unsound(Unsound { place, .. })) => place,
            other => panic!("{change}: {other:?}"),
        };
        assert_eq!(unsound(), place, "{change}");
        // Whoever goes on does not heal it.
        if library.append_audit(&[row("call-9", AuditOutcome::Allow)], 9).is_ok() {
            assert_eq!(unsound(), place, "{change}, and one more");
        }
    }
}

/// LC-S40: without its triggers, or with others, the file is not what it was.
#[test]
fn triggers_that_are_gone_or_new_are_found() {
    for change in [
        "DROP TRIGGER the_audit_is_never_shortened",
        "DROP TRIGGER a_version_is_never_changed",
        "CREATE TRIGGER forget AFTER INSERT ON policy_audit BEGIN SELECT 1; END",
    ] {
        let home = home();
        let library = open(home.path());
        filled(&library);
        raw(home.path()).execute_batch(change).unwrap();
        let error = library.verify().unwrap_err();
        assert!(error.to_string().contains("triggers"), "{change}: {error}");
    }
}

/// LC-S40: a file from before has its end written down when it is opened.
#[test]
fn an_older_audit_gets_its_end() {
    let home = home();
    let library = open(home.path());
    filled(&library);
    drop(library);
    let raw = raw(home.path());
    let version: i64 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    raw.execute_batch("DELETE FROM meta WHERE key = 'audit_head'").unwrap();
    raw.pragma_update(None, "user_version", version - 1).unwrap();
    drop(raw);
    assert_eq!(open(home.path()).verify().unwrap().audit.seq, 3);
}

#[test]
fn a_row_that_cannot_be_kept_leaves_none() {
    let home = home();
    let library = open(home.path());
    let wrong = NewAudit { body: "no json".to_owned(), ..row("call-2", AuditOutcome::Ask) };
    let rows = [row("call-1", AuditOutcome::Ask), wrong];
    assert!(matches!(library.append_audit(&rows, 5), Err(LibraryError::Invalid { .. })));
    assert!(library.append_audit(&rows[..1], u64::MAX).is_err());
    assert_eq!(library.audit(0, 10).unwrap(), []);
}

/// LC-S27: the newest rows, and calls by the beginning of their ids.
#[test]
fn rows_are_found_from_the_end_and_by_a_beginning() {
    let home = home();
    assert!(Library::open_existing(home.path(), || [0; 10]).unwrap().is_none());
    let library = open(home.path());
    filled(&library);
    library.append_audit(&[row("cäll", AuditOutcome::Allow)], 7).unwrap();
    let seqs = |limit| -> Vec<u64> {
        library.last_audit(limit).unwrap().iter().map(|row| row.seq).collect()
    };
    assert_eq!(seqs(2), [3, 4]);
    assert_eq!(seqs(0), [0; 0]);
    assert_eq!(seqs(usize::MAX), [1, 2, 3, 4]);
    let calls = |start| library.audited_calls(start, 10).unwrap();
    assert_eq!(calls("call-"), ["call-1", "call-2"]);
    assert_eq!(calls("call-2"), ["call-2"]);
    assert_eq!(calls("cä"), ["cäll"]);
    assert_eq!(calls("c").len(), 3);
    assert!(calls("call-11").is_empty() && calls("CALL").is_empty() && calls("%").is_empty());
    assert_eq!(library.audited_calls("c", 1).unwrap(), ["call-1"]);
    assert!(Library::open_existing(home.path(), || [0; 10]).unwrap().is_some());
}
