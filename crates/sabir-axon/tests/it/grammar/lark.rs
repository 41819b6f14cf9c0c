//! Lark, run by llguidance itself over a tokenizer with one token per byte.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities};
use llguidance::{Matcher, ParserFactory};

pub(super) struct Grammar {
    start: Matcher,
}

impl Grammar {
    pub(super) fn new(text: &str) -> Self {
        let bytes = ApproximateTokEnv::single_byte_env();
        let mut factory =
            ParserFactory::new(&bytes, InferenceCapabilities::default(), &[]).unwrap();
        factory.quiet();
        let parser = factory.create_parser(TopLevelGrammar::from_lark(text.to_owned()));
        let mut start = Matcher::new(parser);
        assert!(!start.is_error(), "{:?}\n{text}", start.get_error());
        assert_eq!(start.grammar_warnings(), Vec::<String>::new());
        Self { start }
    }

    pub(super) fn accepts(&self, text: &str) -> bool {
        let mut matcher = self.start.deep_clone();
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        let consumed = matcher.try_consume_tokens(&tokens).unwrap();
        consumed == tokens.len() && matcher.is_accepting().unwrap()
    }
}
