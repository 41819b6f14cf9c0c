//! Runs of models.

use sabir_store::library::{ChatRole, CollectionId, Fault, LibraryError, MAX_PACKET, NewRun, Turn};

use super::chat::message;
use super::sample::{collection, open};
use crate::sample::home;

fn run(collection_id: Option<CollectionId>) -> NewRun {
    NewRun {
        kind: "web.answer".to_owned(),
        provider: "built-in".to_owned(),
        model: "extractive".to_owned(),
        collection_id,
        source_id: None,
        chat_id: None,
        artifact_id: None,
        input_tokens: Some(900),
        output_tokens: Some(80),
        cost_usd_micros: Some(12),
        started_at_ms: 5,
        duration_ms: 40,
        request_redacted: r#"{"type":"request"}"#.to_owned(),
        response_redacted: None,
        fault: Some(Fault::new("timeout", "no answer")),
    }
}

/// LC-S16: a run names what it was for, and stays when that goes.
#[test]
fn runs_outlive_what_they_were_for() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let asked = library.append_chat(&id, &message(ChatRole::User, Turn::Next, "?"), 1).unwrap();
    let new = NewRun { chat_id: Some(asked.id.clone()), ..run(Some(id.clone())) };
    let run_id = library.record_run(&new).unwrap();
    library.record_run(&run(None)).unwrap();
    let kept = library.run(&run_id).unwrap();
    assert_eq!((kept.collection_id, kept.chat_id), (Some(id.clone()), Some(asked.id)));
    assert_eq!((kept.input_tokens, kept.cost_usd_micros), (Some(900), Some(12)));
    assert_eq!((kept.fault, kept.response_redacted), (new.fault, None));
    assert_eq!(library.runs(Some(&id), None, 10).unwrap().len(), 1);
    library.delete_collection(&id).unwrap();
    let left = library.run(&run_id).unwrap();
    assert_eq!((&left.collection_id, &left.chat_id), (&None, &None));
    let all = library.runs(None, None, 10).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(library.runs(None, Some(all[0].num), 10).unwrap(), [left]);
    let missing = run(CollectionId::parse("col_none"));
    assert!(matches!(library.record_run(&missing), Err(LibraryError::NotFound { .. })));
}

/// LC-S16: a packet that is as large as the sources themselves is not one that was redacted.
#[test]
fn packets_are_bounded() {
    let home = home();
    let library = open(home.path());
    let large = "x".repeat(MAX_PACKET + 1);
    let request = NewRun { request_redacted: large.clone(), ..run(None) };
    let response = NewRun { response_redacted: Some(large), ..run(None) };
    for new in [request, response] {
        let error = library.record_run(&new).unwrap_err();
        assert!(matches!(error, LibraryError::TooLarge { limit: MAX_PACKET, .. }), "{error}");
    }
}
