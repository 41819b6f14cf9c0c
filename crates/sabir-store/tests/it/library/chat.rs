//! The conversation of a collection.

use sabir_store::library::{ChatRole, LibraryError, MAX_MESSAGE, NewChatEvent, Turn};

use super::sample::{collection, open};
use crate::sample::home;

pub(crate) fn message(role: ChatRole, turn: Turn, markdown: &str) -> NewChatEvent {
    NewChatEvent {
        role,
        turn,
        markdown: markdown.to_owned(),
        tool_calls: None,
        tool_results: None,
        model: None,
        citations: Vec::new(),
    }
}

/// LC-S12: the newest messages are read, in their order, and turns are counted for ever.
#[test]
fn the_newest_messages_come_in_order() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let other = collection(&library, "other").id;
    assert_eq!(library.last_turn(&id).unwrap(), 0);
    for turn in 1..=1203 {
        let asked =
            library.append_chat(&id, &message(ChatRole::User, Turn::Next, "?"), turn).unwrap();
        assert_eq!(asked.turn, turn);
    }
    library.append_chat(&other, &message(ChatRole::User, Turn::Next, "!"), 1).unwrap();
    let newest = library.recent_chat(&id, None, 3).unwrap();
    assert_eq!(newest.iter().map(|event| event.turn).collect::<Vec<_>>(), [1201, 1202, 1203]);
    let before = library.recent_chat(&id, Some(newest[0].num), 2).unwrap();
    assert_eq!(before.iter().map(|event| event.turn).collect::<Vec<_>>(), [1199, 1200]);
    assert_eq!(library.recent_chat(&id, None, 5000).unwrap().len(), 1000);
    assert_eq!(library.last_turn(&id).unwrap(), 1203);
}

/// LC-S12: an answer belongs to the turn of its question, whoever has asked since.
#[test]
fn an_answer_belongs_to_its_question() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let append = |message: NewChatEvent| library.append_chat(&id, &message, 5);
    append(message(ChatRole::User, Turn::Next, "one?")).unwrap();
    append(message(ChatRole::User, Turn::Next, "two?")).unwrap();
    let answer = NewChatEvent {
        tool_calls: Some(r#"[{"name":"search","arguments":{}}]"#.to_owned()),
        tool_results: Some("[]".to_owned()),
        model: Some(r#"{"provider":"built-in"}"#.to_owned()),
        ..message(ChatRole::Assistant, Turn::Of(1), "one.")
    };
    let kept = append(answer.clone()).unwrap();
    assert_eq!((kept.turn, kept.tool_calls, kept.model), (1, answer.tool_calls, answer.model));
    for turn in [0, 3, u64::MAX] {
        let early = append(message(ChatRole::Assistant, Turn::Of(turn), "?")).unwrap_err();
        assert!(matches!(early, LibraryError::Invalid { .. }), "{early}");
    }
    let shown: Vec<_> = library
        .recent_chat(&id, None, 10)
        .unwrap()
        .into_iter()
        .map(|event| (event.role.as_str(), event.turn, event.markdown))
        .collect();
    let line = |role, turn, text: &str| (role, turn, text.to_owned());
    assert_eq!(
        shown,
        [line("user", 1, "one?"), line("user", 2, "two?"), line("assistant", 1, "one.")]
    );
}

/// LC-S24: a message has a size, and what is called JSON is JSON.
#[test]
fn messages_are_bounded() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    let long = message(ChatRole::User, Turn::Next, &"x".repeat(MAX_MESSAGE + 1));
    assert!(matches!(library.append_chat(&id, &long, 1), Err(LibraryError::TooLarge { .. })));
    let wrong = NewChatEvent {
        tool_calls: Some("[".repeat(50_000)),
        ..message(ChatRole::User, Turn::Next, "x")
    };
    assert!(matches!(library.append_chat(&id, &wrong, 1), Err(LibraryError::Invalid { .. })));
    assert_eq!(library.recent_chat(&id, None, 10).unwrap(), []);
}
