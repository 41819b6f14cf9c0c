//! Whom a task can be given to: which protocol an address speaks. It connects to nobody.

use std::fmt;

use crate::ldp::client::{AddressError, Base, PlainHttp};

/// An address by the protocol that its scheme names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// `ldp://`, `https://`, `http://`
    Ldp(Base),
    /// `a2a://`, or `a2a+http://` without TLS
    A2a(Base),
    /// `mcp://` over streamable HTTP, or `mcp+http://` without TLS
    Mcp(Base),
    /// `mcp+stdio:` and a command: a program that speaks MCP over its standard streams.
    McpCommand(Vec<String>),
}

impl Address {
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once(':').ok_or(AddressError::NotUrl)?;
        match scheme.to_ascii_lowercase().as_str() {
            "a2a" => Ok(Self::A2a(other(text, "a2a", plain)?)),
            "mcp" => Ok(Self::Mcp(other(text, "mcp", plain)?)),
            // The scheme says itself that there is no TLS.
            "a2a+http" => Ok(Self::A2a(Base::parse(&format!("http:{rest}"), plain)?)),
            "mcp+http" => Ok(Self::Mcp(Base::parse(&format!("http:{rest}"), plain)?)),
            "mcp+stdio" => {
                let words = split_words(rest).filter(|words| !words.is_empty());
                words.map(Self::McpCommand).ok_or(AddressError::NoCommand)
            }
            _ => Base::parse(text, plain).map(Self::Ldp),
        }
    }

    /// Whether both lead to the same server or program, whatever protocol is spoken to it.
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        let both = self.base().zip(other.base());
        self == other || both.is_some_and(|(one, other)| one.is_same_place(other))
    }

    /// Where it leads over HTTP.
    pub fn base(&self) -> Option<&Base> {
        match self {
            Self::Ldp(base) | Self::A2a(base) | Self::Mcp(base) => Some(base),
            Self::McpCommand(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, base) = match self {
            Self::Ldp(base) => return base.fmt(f),
            Self::A2a(base) => ("a2a", base),
            Self::Mcp(base) => ("mcp", base),
            Self::McpCommand(words) => {
                f.write_str("mcp+stdio:")?;
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                return f.write_str(&words.join(" "));
            }
        };
        let rest = base.as_str().split_once("://").map_or("", |(_, rest)| rest);
        // What is kept leads to the same place when nobody says any more that plain HTTP is meant.
        match base.is_private() {
            true => write!(f, "{scheme}://{rest}"),
            false => write!(f, "{scheme}+http://{rest}"),
        }
    }
}

/// A word as [`split_words`] reads it as one.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && c != '"' && c != '\'';
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // What has both quotes is made of pieces.
    let pieces = word.split('\'').map(|piece| format!("'{piece}'"));
    pieces.collect::<Vec<_>>().join("\"'\"")
}

fn other(text: &str, scheme: &str, plain: PlainHttp) -> Result<Base, AddressError> {
    Base::of_scheme(text, scheme, plain)?.ok_or(AddressError::NotUrl)
}

/// Words as a shell would part them, with single and double quotes and nothing else: nothing is
/// expanded and no shell is run. None if a quote is not closed.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Address::parse(text, PlainHttp::LoopbackOnly) {
            Ok(address) => format!("{address:?}"),
            Err(error) => format!("! {error}"),
        }
    }

    /// LD-C28
    #[test]
    fn the_scheme_says_the_protocol() {
        assert!(read("ldp://127.0.0.1:1").starts_with("Ldp("));
        assert!(read("https://harbor.example").starts_with("Ldp("));
        assert!(read("a2a://harbor.example/agent").starts_with("A2a("));
        assert!(read("mcp://127.0.0.1:9/mcp").starts_with("Mcp("));
        assert_eq!(
            read("mcp+stdio:python3 -m 'my server' --name \"a b\" ''"),
            r#"McpCommand(["python3", "-m", "my server", "--name", "a b", ""])"#
        );
        assert_eq!(read("mcp+stdio: "), "! expected a command after mcp+stdio:");
        assert_eq!(read("mcp+stdio:'a"), "! expected a command after mcp+stdio:");
        assert!(read("gopher://harbor.example").contains("not known"));
        let shown = |text| Address::parse(text, PlainHttp::LoopbackOnly).unwrap().to_string();
        assert_eq!(shown("a2a://127.0.0.1:9/x"), "a2a://127.0.0.1:9/x");
        assert_eq!(shown("mcp://harbor.example"), "mcp://harbor.example/");
    }

    /// LD-C35
    #[test]
    fn what_is_kept_leads_to_the_same_place() {
        let plain = |text| Address::parse(text, PlainHttp::Anywhere).unwrap();
        for (text, kept) in [
            ("a2a://harbor.example/x", "a2a+http://harbor.example/x"),
            ("mcp://harbor.example:8080", "mcp+http://harbor.example:8080/"),
            ("ldp://harbor.example", "http://harbor.example/"),
            ("a2a://127.0.0.1:80/x", "a2a://127.0.0.1/x"),
            ("mcp://localhost:443", "mcp://localhost:443/"),
            ("mcp+stdio:sh -c 'a b'", "mcp+stdio:sh -c 'a b'"),
        ] {
            assert_eq!(plain(text).to_string(), kept);
            assert_eq!(Address::parse(kept, PlainHttp::LoopbackOnly).unwrap(), plain(text));
        }
    }

    proptest::proptest! {
        /// LD-C35
        #[test]
        fn a_command_is_kept_word_for_word(
            words in proptest::collection::vec("(?s)[a-c'\" \t\n\\\\$é]{0,8}", 1..6),
        ) {
            let command = Address::McpCommand(words);
            let again = Address::parse(&command.to_string(), PlainHttp::LoopbackOnly).unwrap();
            proptest::prop_assert_eq!(again, command);
        }
    }

    /// LD-C27
    #[test]
    fn one_server_is_one_place() {
        let same = |one, other| {
            let read = |text| Address::parse(text, PlainHttp::LoopbackOnly).unwrap();
            read(one).is_same_place(&read(other))
        };
        assert!(same("ldp://127.0.0.1:9", "http://localhost:9"));
        assert!(same("a2a://127.0.0.1:9/a", "mcp://[::1]:9/b"));
        assert!(same("https://harbor.example", "a2a://harbor.example:443/x"));
        assert!(!same("ldp://127.0.0.1:9", "ldp://127.0.0.1:10"));
        assert!(!same("https://harbor.example", "https://quay.example"));
        assert!(!same("mcp+stdio:a", "mcp+stdio:b"));
        assert!(same("mcp+stdio:a", "mcp+stdio:'a'"));
    }
}
