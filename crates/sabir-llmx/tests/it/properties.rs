//! What holds for every document: it can be written and read again, validated, taken apart and
//! answered.

use proptest::prelude::*;
use sabir_llmx::{
    BlockKind, Content, Header, Response, check_messages, parse, print, replies, same,
};

use super::generate::{config, damaged_document, document, token_soup};

proptest! {
    #![proptest_config(config())]

    /// LX-R43.
    #[test]
    fn what_is_valid_stays_so_when_it_is_written(text in document()) {
        let parsed = check_messages(&text);
        prop_assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
        let printed = print(&parsed.tree);
        let again = check_messages(&printed);
        prop_assert!(!again.has_errors(), "{printed}\n{:?}", again.diagnostics);
        prop_assert!(same(&parsed.tree, &again.tree), "{printed}");
        prop_assert_eq!(print(&again.tree), printed.clone());
        // What is left is what only its author can mend, or is an extension's own.
        for found in again.diagnostics.iter().filter(|found| found.code.as_str() < "LX2") {
            let kept = ["LX003", "LX007", "LX114", "LX121"].contains(&found.code.as_str());
            prop_assert!(kept, "{printed}\n{found:?}");
        }
    }

    /// LX-R44, LX-R46, LX-R47.
    #[test]
    fn what_is_valid_has_types_and_is_accepted(text in document()) {
        let parsed = check_messages(&text);
        let mut all = replies(&parsed).into_iter();
        for message in parsed.tree.messages() {
            let header = message.header().and_then(Header::read);
            prop_assert!(header.is_some());
            for block in message.blocks() {
                prop_assert!(Content::read(block).is_some(), "{}", block.node.text());
            }
            prop_assert!(message.typed().is_some());
            let reply = all.next().unwrap();
            let unknown = message.blocks().any(|block| block.kind() == BlockKind::Unknown);
            let warned = |response: &Response| matches!(response, Response::Warn { .. });
            if unknown {
                prop_assert!(reply.responses.iter().all(warned), "{reply}");
            } else {
                prop_assert_eq!(&reply.responses[..], &[Response::Ack]);
            }
        }
        prop_assert!(all.next().is_none());
    }

    /// A block without an error is read, whatever surrounds it.
    #[test]
    fn blocks_without_errors_have_types(text in prop_oneof![token_soup(), damaged_document()]) {
        let parsed = check_messages(&text);
        for message in parsed.tree.messages() {
            for block in message.all_blocks() {
                let span = block.node.span();
                let is_inside = |at: u32| span.start <= at && at <= span.end;
                let broken = parsed.diagnostics.iter().any(|found| {
                    found.is_error() && is_inside(found.span.start)
                });
                let read = match block.kind() {
                    BlockKind::Header => Header::read(block).is_some(),
                    _ => Content::read(block).is_some(),
                };
                prop_assert!(broken || read, "{}", block.node.text());
            }
        }
    }

    /// LX-R51.
    #[test]
    fn every_answer_is_clean(text in prop_oneof![token_soup(), damaged_document()]) {
        let parsed = check_messages(&text);
        prop_assert!(parsed.diagnostics.is_sorted_by_key(|found| found.span.start));
        let refused = replies(&parsed).iter().any(|reply| {
            matches!(reply.responses[..], [Response::Nack { .. }])
        });
        let empty = parsed.tree.messages().next().is_none();
        prop_assert_eq!(refused, parsed.has_errors() || empty);
        for reply in replies(&parsed) {
            let message = reply.message("Sabir", 1).unwrap();
            let again = check_messages(&message);
            prop_assert!(again.diagnostics.is_empty(), "{message}\n{:?}", again.diagnostics);
            prop_assert_eq!(print(&again.tree), message);
        }
    }

    /// Whatever is read without errors is written without errors.
    #[test]
    fn what_is_valid_by_chance_stays_so(text in prop_oneof![token_soup(), damaged_document()]) {
        let parsed = parse(&text);
        if !parsed.has_errors() {
            let printed = print(&parsed.tree);
            let again = parse(&printed);
            prop_assert!(!again.has_errors(), "{printed}\n{:?}", again.diagnostics);
            prop_assert!(same(&parsed.tree, &again.tree), "{printed}");
            prop_assert_eq!(print(&again.tree), printed);
        }
    }
}
