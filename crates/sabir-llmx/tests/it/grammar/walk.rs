//! Random texts that a grammar allows, byte by byte, as a decoder would be held to it.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities};
use llguidance::{Matcher, ParserFactory};

use super::strict::Random;

pub(super) struct Walker {
    start: Matcher,
}

/// After so many bytes the walk takes the shortest way out that it sees.
const LONG_ENOUGH: usize = 250;

impl Walker {
    pub(super) fn new(text: &str) -> Self {
        let bytes = ApproximateTokEnv::single_byte_env();
        let mut factory =
            ParserFactory::new(&bytes, InferenceCapabilities::default(), &[]).unwrap();
        factory.quiet();
        let parser = factory.create_parser(TopLevelGrammar::from_lark(text.to_owned()));
        Self { start: Matcher::new(parser) }
    }

    pub(super) fn walk(&self, random: &mut Random) -> String {
        let mut matcher = self.start.deep_clone();
        let mut out = Vec::new();
        loop {
            let is_long = out.len() > LONG_ENOUGH;
            if matcher.is_accepting().unwrap() && (is_long || random.below(4) == 0) {
                return String::from_utf8(out).unwrap();
            }
            let mask = matcher.compute_mask().unwrap();
            let allowed: Vec<u8> = (0..=255).filter(|&byte| mask.is_allowed(byte.into())).collect();
            if allowed.is_empty() {
                // One message was all that was allowed.
                assert!(matcher.is_accepting().unwrap(), "{}", String::from_utf8_lossy(&out));
                return String::from_utf8(out).unwrap();
            }
            let byte = choose(random, &allowed, is_long);
            out.push(byte);
            matcher.consume_token(byte.into()).unwrap();
            assert!(out.len() < 20 * LONG_ENOUGH, "{}", String::from_utf8_lossy(&out));
        }
    }
}

/// Signs of the notation come up more often than letters: otherwise every string would be endless.
fn choose(random: &mut Random, allowed: &[u8], is_long: bool) -> u8 {
    let among = |wanted: &[u8]| -> Vec<u8> {
        allowed.iter().copied().filter(|byte| wanted.contains(byte)).collect()
    };
    let closing = [&b"\n"[..], b"\"", b"}", b"]", b")", b":", b"1"];
    if is_long && let Some(byte) = closing.iter().find_map(|byte| among(byte).first().copied()) {
        return byte;
    }
    let signs = among(b"\n}])\",:{[(\\");
    let plain = among(b"abxA019-_truefalsn");
    let pool = match random.below(10) {
        0..=4 if !signs.is_empty() => signs,
        5..=8 if !plain.is_empty() => plain,
        _ => allowed.to_vec(),
    };
    pool[random.below(pool.len())]
}
