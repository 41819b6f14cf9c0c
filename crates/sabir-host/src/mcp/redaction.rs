//! The secrets that a server was given, kept out of its words.

/// The secrets of one server, which never stand in an error, whoever wrote it.
#[derive(Clone, Default)]
pub(super) struct Redaction {
    secrets: Vec<String>,
}

impl Redaction {
    pub(super) fn add(&mut self, secret: &str) {
        // Shorter values are words like `1` or `on`: hiding them would garble every message.
        if secret.len() >= 6 {
            self.secrets.push(secret.to_owned());
            // A secret within another must not save the rest of it.
            self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "[hidden]");
        self.secrets.iter().fold(text.to_owned(), hide)
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redaction({})", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_secret_goes_first() {
        let mut redaction = Redaction::default();
        redaction.add("sesame");
        redaction.add("sesame-street");
        redaction.add("1");
        assert_eq!(redaction.apply("sesame-street 1 sesame"), "[hidden] 1 [hidden]");
    }
}
