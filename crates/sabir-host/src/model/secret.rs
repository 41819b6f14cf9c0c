//! A key that cannot be shown by accident.

use std::fmt;

/// Bytes that are never printed, and overwritten when they are no longer needed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// Spaces and line ends around a key are slips of whoever wrote it down.
    pub fn new(text: &str) -> Self {
        Self(text.trim().as_bytes().into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the one header that carries it.
    pub(super) fn expose(&self) -> &[u8] {
        &self.0
    }

    /// `text` without the secret: some servers repeat a wrong key in what they say about it.
    pub(super) fn scrub(&self, text: String) -> String {
        match std::str::from_utf8(&self.0) {
            // Shorter ones are no keys, and would take ordinary words out.
            Ok(secret) if secret.len() >= 4 && text.contains(secret) => {
                text.replace(secret, "[key]")
            }
            _ => text,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Without a reader the compiler may leave the writing out.
        std::hint::black_box(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_shown() {
        let secret = Secret::new(" sk-very-secret\n");
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "[key] [key] [key]");
        assert_eq!(secret.expose(), b"sk-very-secret");
        assert_eq!(secret.scrub("wrong key sk-very-secret!".to_owned()), "wrong key [key]!");
        assert_eq!(Secret::new("").scrub("a".to_owned()), "a");
    }
}
