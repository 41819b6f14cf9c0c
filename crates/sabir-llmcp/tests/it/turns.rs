//! The order of packets in a conversation.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use sabir_llmcp::{OutputFormat, Request, Response, Turn, TurnError, Turns};

use crate::show::{folder, request};

fn request_in(turn: u64, id: &str) -> Request {
    let mut request = request(OutputFormat::Json);
    request.envelope.conversation.turn = Turn::new(turn).unwrap();
    request.envelope.id = sabir_llmcp::PacketId::new(id).unwrap();
    request
}

fn response_in(turn: u64, id: &str) -> Response {
    let case = folder("ok").into_iter().find(|case| case.name.contains("smallest")).unwrap();
    let mut response = Response::parse(&case.text, None).value.unwrap();
    response.envelope.conversation.turn = Turn::new(turn).unwrap();
    response.in_reply_to = sabir_llmcp::PacketId::new(id).unwrap();
    response
}

/// LC-P50: turns grow.
#[test]
fn a_request_comes_after_the_last_turn() {
    let mut turns = Turns::default();
    turns.ask(&request_in(3, "a")).unwrap();
    for turn in [0, 2, 3] {
        let error = turns.ask(&request_in(turn, "b")).unwrap_err();
        assert_eq!(error, TurnError::NotIncreasing { last: Turn::new(3).unwrap() });
    }
    turns.ask(&request_in(7, "b")).unwrap();
    let mut other = request_in(8, "c");
    other.envelope.conversation.id = sabir_llmcp::ConversationId::new("c-2").unwrap();
    assert!(matches!(turns.ask(&other), Err(TurnError::OtherConversation { .. })));
}

/// LC-P51: a request is answered once.
#[test]
fn a_request_is_answered_once() {
    let mut turns = Turns::default();
    assert_eq!(turns.answer(&response_in(1, "a")), Err(TurnError::NothingAsked));
    turns.ask(&request_in(1, "a")).unwrap();
    assert_eq!(turns.answer(&response_in(1, "b")), Err(TurnError::NothingAsked));
    let expected = Turn::new(1).unwrap();
    assert_eq!(turns.answer(&response_in(2, "a")), Err(TurnError::OtherTurn { expected }));
    turns.answer(&response_in(1, "a")).unwrap();
    assert_eq!(turns.answer(&response_in(1, "a")), Err(TurnError::NothingAsked));
}
