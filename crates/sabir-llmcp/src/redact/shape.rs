//! What credentials look like, whatever they are called.

/// The length of the credential that `text` starts with, by the marks that its maker gave it.
/// `text` must start at the beginning of a word.
pub(super) fn marked_credential(text: &str) -> Option<usize> {
    if text.starts_with(JWT) {
        return jwt(text);
    }
    // Every word of a text comes by here, and hardly one begins like a mark.
    let first = text.bytes().next();
    MARKS.iter().filter(|mark| mark.prefix.bytes().next() == first).find_map(|mark| {
        let rest = text.strip_prefix(mark.prefix)?;
        // No further than this until it is one: `sk-sk-sk-…` would be read again from every word.
        let start = &rest.as_bytes()[..rest.len().min(MARK_WINDOW)];
        let length = start.iter().take_while(|byte| (mark.alphabet)(**byte)).count();
        // Words that only begin alike (`sk-` in a product's name) hold no digit.
        let fits = length >= mark.at_least && start[..length].iter().any(u8::is_ascii_digit);
        fits.then(|| mark.prefix.len() + run(rest, mark.alphabet))
    })
}

/// A signed token of three parts, of which the first is a JSON object. Where a run of such characters
/// begins none, none begins further on in the same run either.
fn jwt(text: &str) -> Option<usize> {
    let header = run(text, is_base64url);
    let rest = text[header..].strip_prefix('.')?;
    let claims = run(rest, is_base64url);
    let signature = rest[claims..].strip_prefix('.')?;
    let signed = run(signature, is_base64url);
    (header >= 10 && claims >= 10).then_some(header + claims + signed + 2)
}

/// Whether a value is long and reads like nothing: no words, no plain numbers.
pub(super) fn is_opaque(value: &str) -> bool {
    if value.len() < OPAQUE_LENGTH || value.contains(char::is_whitespace) {
        return false;
    }
    let mut strange = 0;
    let mut all = 0;
    for piece in value.split(|c: char| !c.is_alphanumeric()) {
        all += piece.len();
        if !is_plain(piece) {
            strange += piece.len();
        }
    }
    strange * 2 > all
}

/// A word, a name or a number of ordinary length.
fn is_plain(piece: &str) -> bool {
    if !piece.is_ascii() {
        // Scripts without spaces have no words to measure.
        return true;
    }
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    let capitals_inside = piece.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
    let one_kind = digits == 0 || digits == piece.len();
    let one_case = capitals_inside == 0 || capitals_inside + 1 == piece.len();
    piece.len() <= PLAIN_LENGTH && one_kind && one_case
}

pub(super) fn run(text: &str, alphabet: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| alphabet(*byte)).count()
}

pub(super) fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

struct Mark {
    prefix: &'static str,
    alphabet: fn(u8) -> bool,
    at_least: usize,
}

const fn mark(prefix: &'static str, alphabet: fn(u8) -> bool, at_least: usize) -> Mark {
    Mark { prefix, alphabet, at_least }
}

/// Amazon, GitHub, GitLab, Google, Hugging Face, npm, OpenAI and its likes, PyPI, SendGrid, Slack,
/// Stripe.
const MARKS: &[Mark] = &[
    mark("AKIA", is_upper_or_digit, 16),
    mark("ASIA", is_upper_or_digit, 16),
    mark("ghp_", is_alphanumeric, 30),
    mark("gho_", is_alphanumeric, 30),
    mark("ghu_", is_alphanumeric, 30),
    mark("ghs_", is_alphanumeric, 30),
    mark("ghr_", is_alphanumeric, 30),
    mark("github_pat_", is_base64url, 22),
    mark("glpat-", is_base64url, 20),
    mark("AIza", is_base64url, 30),
    mark("ya29.", is_base64url, 20),
    mark("hf_", is_alphanumeric, 30),
    mark("npm_", is_alphanumeric, 30),
    mark("sk-", is_base64url, 20),
    mark("sk_live_", is_alphanumeric, 16),
    mark("sk_test_", is_alphanumeric, 16),
    mark("rk_live_", is_alphanumeric, 16),
    mark("pypi-", is_base64url, 30),
    mark("SG.", is_base64url, 16),
    mark("xoxa-", is_base64url, 10),
    mark("xoxb-", is_base64url, 10),
    mark("xoxo-", is_base64url, 10),
    mark("xoxp-", is_base64url, 10),
    mark("xoxr-", is_base64url, 10),
    mark("xoxs-", is_base64url, 10),
];

/// How a JSON object begins in base 64.
pub(super) const JWT: &str = "eyJ";

/// Every key of these makers has shown a digit by then.
const MARK_WINDOW: usize = 48;

/// From here on nobody types a value; a key of 128 bits has 22 characters at the least, or 32.
const OPAQUE_LENGTH: usize = 24;

/// Longer than all but a few words.
const PLAIN_LENGTH: usize = 16;
