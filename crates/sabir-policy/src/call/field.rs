//! What a field of a page is for, from the words that its page gives it. Words are compared whole:
//! "pin" is not in "shipping". A page can lie; then the field is ordinary, and filling it is asked
//! for like any other act on a stranger's page.

use unicode_normalization::UnicodeNormalization;

use super::facts::FieldKind;

/// What a page says of a field. All of it is a stranger's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldHints<'a> {
    pub input_type: Option<&'a str>,
    pub autocomplete: Option<&'a str>,
    pub name: Option<&'a str>,
    pub id: Option<&'a str>,
    pub label: Option<&'a str>,
    pub placeholder: Option<&'a str>,
}

impl FieldHints<'_> {
    pub fn kind(&self) -> FieldKind {
        if let Some(kind) = self.input_type.and_then(by_type) {
            return kind;
        }
        let tokens = self.autocomplete.iter().flat_map(|it| clipped(it).split_whitespace());
        if let Some(kind) = tokens.filter_map(by_autocomplete).next() {
            return kind;
        }
        let texts = [self.label, self.name, self.id, self.placeholder];
        let mut is_known = false;
        // All credentials first: a form for cards has a field for their secret.
        let words: Vec<Vec<String>> = texts.into_iter().flatten().map(words_of).collect();
        for (kind, phrases) in PHRASES {
            for words in &words {
                is_known |= !words.is_empty();
                if phrases.iter().any(|phrase| stands_in(words, phrase)) {
                    return kind;
                }
            }
        }
        if is_known { FieldKind::Ordinary } else { FieldKind::Unknown }
    }
}

fn by_type(input_type: &str) -> Option<FieldKind> {
    input_type.trim().eq_ignore_ascii_case("password").then_some(FieldKind::Credential)
}

fn by_autocomplete(token: &str) -> Option<FieldKind> {
    let token = token.to_ascii_lowercase();
    match token.as_str() {
        "current-password" | "new-password" | "one-time-code" | "webauthn" => {
            Some(FieldKind::Credential)
        }
        _ => token.starts_with("cc-").then_some(FieldKind::Payment),
    }
}

/// The words of a name or label in lower case: `cardNumber`, `card_number` and "Card number" have
/// the same two.
fn words_of(text: &str) -> Vec<String> {
    let signs: Vec<char> = clipped(text).nfkc().filter(|c| !is_invisible(*c)).collect();
    let mut words = vec![String::new()];
    for (place, &sign) in signs.iter().enumerate() {
        let before = place.checked_sub(1).map(|it| signs[it]);
        let is_hump = sign.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                // The last capital of `IBANNumber` begins its second word.
                || signs.get(place + 1).is_some_and(|it| it.is_lowercase()));
        if !sign.is_alphanumeric() || is_hump {
            words.push(String::new());
        }
        if sign.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(sign.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the words of the phrase follow each other, or are written as one.
fn stands_in(words: &[String], phrase: &str) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    let glued = phrase.replace(' ', "");
    words.windows(parts.len()).any(|window| window.iter().zip(&parts).all(|(a, b)| a == b))
        || words.iter().any(|word| is_numbered(word, &glued))
        // Where words are not set apart, a part of a text is the best there is.
        || phrase.starts_with(|c| c > '\u{3000}') && words.iter().any(|word| word.contains(phrase))
}

/// `cvv`, `cvv2` and `pin1`.
fn is_numbered(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| rest.chars().all(char::is_numeric))
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

fn is_invisible(c: char) -> bool {
    sabir_base::text::is_hidden(c)
        || matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}')
}

/// Labels that say more are not labels.
const MAX_BYTES: usize = 2 * 1024;

/// Words and phrases in the languages that we could look up, in lower case.
const PHRASES: [(FieldKind, &[&str]); 3] = [
    (
        FieldKind::Credential,
        &[
            "password",
            "passwd",
            "pwd",
            "passphrase",
            "passcode",
            "pin",
            "otp",
            "totp",
            "mfa",
            "2fa",
            "secret",
            "token",
            "mtan",
            "one time code",
            "one time password",
            "verification code",
            "authentication code",
            "authenticator code",
            "auth code",
            "login code",
            "access code",
            "sms code",
            "backup code",
            "recovery code",
            "recovery phrase",
            "recovery key",
            "seed phrase",
            "api key",
            "apikey",
            "access key",
            "private key",
            "secret key",
            "security answer",
            "security question",
            "passwort",
            "kennwort",
            "geheimzahl",
            "sicherheitsfrage",
            "mot de passe",
            "code secret",
            "code de vérification",
            "contraseña",
            "contrasena",
            "clave de acceso",
            "clave secreta",
            "código de verificación",
            "senha",
            "palavra passe",
            "parola d ordine",
            "wachtwoord",
            "lösenord",
            "adgangskode",
            "passord",
            "salasana",
            "hasło",
            "haslo",
            "heslo",
            "jelszó",
            "parolă",
            "şifre",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
        ],
    ),
    (
        FieldKind::Payment,
        &[
            "cvv",
            "cvc",
            "csc",
            "iban",
            "bic",
            "swift code",
            "cc number",
            "cc num",
            "cc name",
            "cc exp",
            "card number",
            "card no",
            "card num",
            "card holder",
            "card expiry",
            "card expiration",
            "name on card",
            "credit card",
            "debit card",
            "security code",
            "card code",
            "account number",
            "account no",
            "routing number",
            "sort code",
            "bank account",
            "kartennummer",
            "kreditkarte",
            "kreditkartennummer",
            "karteninhaber",
            "prüfnummer",
            "kartenprüfnummer",
            "kontonummer",
            "bankleitzahl",
            "blz",
            "numéro de carte",
            "carte bancaire",
            "carte de crédit",
            "número de tarjeta",
            "tarjeta de crédito",
            "número do cartão",
            "cartão de crédito",
            "numero di carta",
            "carta di credito",
            "cryptogramme",
        ],
    ),
    (
        FieldKind::PersonalId,
        &[
            "ssn",
            "itin",
            "nin",
            "cpf",
            "cnpj",
            "dni",
            "nif",
            "curp",
            "bsn",
            "pesel",
            "aadhaar",
            "aadhar",
            "personnummer",
            "passport",
            "passport number",
            "social security",
            "social insurance number",
            "national insurance",
            "national id",
            "id number",
            "identity number",
            "identity card",
            "identification number",
            "driver license",
            "drivers license",
            "driver s license",
            "driving licence",
            "driving license",
            "tax id",
            "tax number",
            "tax identification",
            "medicare number",
            "insurance number",
            "steuernummer",
            "steuer id",
            "steueridentifikationsnummer",
            "personalausweis",
            "personalausweisnummer",
            "ausweisnummer",
            "reisepass",
            "reisepassnummer",
            "sozialversicherungsnummer",
            "numéro de sécurité sociale",
            "sécurité sociale",
            "carte d identité",
            "passeport",
            "pasaporte",
            "número de identificación",
            "codice fiscale",
        ],
    ),
];
