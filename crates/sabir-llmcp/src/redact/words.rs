//! The names that credentials go by, compared word by word: `access_token` has the word `token`,
//! and `keyword`, `zipcode` and `sidebar` are words of their own.

/// Whether a parameter of this name carries a credential.
pub(super) fn names_credential(name: &str) -> bool {
    // As a whole name it is the code of a login that is half done. In `country_code` it is not.
    name.eq_ignore_ascii_case("code") || has_word(name, CREDENTIAL_WORDS)
}

/// Whether a setting of this name in a text is a secret. Narrower than in an address: texts say
/// `key = value` and `session: 4` about many things.
pub(super) fn names_secret(name: &str) -> bool {
    has_word(name, SECRET_WORDS)
        || (has_word(name, &["key"]) && has_word(name, &["access", "api", "signing"]))
}

/// Whether what stands under this key of an object is not to be stored. Wider than in a text: a key
/// says what its value is, and nobody misses it.
pub(super) fn keeps_secret(key: &str) -> bool {
    names_secret(key)
        || has_word(key, KEY_WORDS)
        || (has_word(key, &["key"]) && has_word(key, &["private", "secret", "encryption", "auth"]))
        || (has_word(key, &["session"]) && has_word(key, &["id", "key"]))
}

/// Whether a parameter of this name says, on many sites, by which link a page was found.
pub(super) fn names_referrer(name: &str) -> bool {
    REFERRER_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether long values are usual here: what was searched for, and which item is meant.
pub(super) fn names_item(name: &str) -> bool {
    ITEM_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn has_word(name: &str, words: &[&str]) -> bool {
    split_words(name).any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// The words of a name in camelCase, snake_case or kebab-case; digits are left out.
fn split_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphabetic()).flat_map(split_camel).filter(|word| !word.is_empty())
}

/// `accessToken` and `APIKey` have two words each.
fn split_camel(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(end_of_word(rest));
        rest = after;
        Some(word)
    })
}

fn end_of_word(name: &str) -> usize {
    let mut letters = name.char_indices().peekable();
    let mut previous_is_lower = false;
    while let Some((at, letter)) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(|(_, next)| next.is_lowercase());
        if at > 0 && letter.is_uppercase() && (previous_is_lower || next_is_lower) {
            return at;
        }
        previous_is_lower = letter.is_lowercase();
    }
    name.len()
}

const CREDENTIAL_WORDS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "appkey",
    "assertion",
    "auth",
    "authcode",
    "authkey",
    "authorization",
    "authtoken",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "csrf",
    "csrftoken",
    "hmac",
    "idtoken",
    "jsessionid",
    "jwt",
    "key",
    "oauth",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "phpsessid",
    "pwd",
    "refreshtoken",
    "saml",
    "secret",
    "sess",
    "sessid",
    "session",
    "sessionid",
    "sessionkey",
    "sid",
    "sig",
    "signature",
    "token",
    "usertoken",
    "xsrf",
];

const SECRET_WORDS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authtoken",
    "csrftoken",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "refreshtoken",
    "secret",
    "sessionid",
    "token",
];

/// Beyond [`SECRET_WORDS`].
const KEY_WORDS: &[&str] = &[
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "csrf",
    "cvc",
    "cvv",
    "hmac",
    "iban",
    "jwt",
    "mnemonic",
    "oauth",
    "otp",
    "pass",
    "passcode",
    "passwort",
    "phpsessid",
    "pin",
    "privatekey",
    "pw",
    "sessid",
    "signature",
    "ssn",
    "xsrf",
];

const REFERRER_NAMES: &[&str] = &["ref", "ref_src", "ref_url", "referrer", "source", "spm"];

const ITEM_NAMES: &[&str] =
    &["id", "item", "list", "p", "page", "q", "query", "s", "search", "text", "title", "v"];
