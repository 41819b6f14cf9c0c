//! Why a configuration is refused, and where it stands: line, column, and a caret under it. What may be
//! a secret is never quoted: people paste keys where they do not belong, and show errors to each other.

use std::fmt;
use std::ops::Range;

/// What is wrong with a configuration text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeConfigError {
    pub line: usize,
    /// In characters, from one.
    pub column: usize,
    pub why: String,
    quoted: Option<Quoted>,
}

/// A line as it may be shown, and what is pointed at in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quoted {
    text: String,
    /// In characters.
    start: usize,
    width: usize,
}

impl NodeConfigError {
    pub(crate) fn at(text: &str, span: Range<usize>, why: String) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = text.get(line_start..).unwrap_or_default();
        let whole = rest.lines().next().unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let end = text.ceil_char_boundary(span.end.clamp(start, line_start + whole.len()));
        let width = text.get(start..end).unwrap_or_default().chars().count().max(1);
        let quoted = shown(whole).map(|text| {
            if text == whole {
                return Quoted { start: column - 1, width, text };
            }
            // What is left out is pointed at where it was.
            let length = text.chars().count();
            let start = (column - 1).min(length.saturating_sub(1));
            Quoted { width: width.min(length.saturating_sub(start)).max(1), start, text }
        });
        Self { line, column, why, quoted }
    }

    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        Self::at(text, span, error.message().to_owned())
    }
}

/// A line as it may be shown: the name of a section, a key, and the value of a key that holds no secret.
/// Of other lines nobody knows what they hold.
fn shown(line: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '\t');
    let start = line.trim_start();
    if start.starts_with('[') {
        let plain = |c: char| is_word(c) || matches!(c, '[' | ']');
        let is_shown = start.chars().all(plain) && is_short(line);
        return is_shown.then(|| line.to_owned());
    }
    let (key, value) = line.split_once('=')?;
    if !key.chars().all(is_word) {
        return None;
    }
    let name = key.trim().rsplit('.').next().unwrap_or_default();
    let is_plain = PLAIN_KEYS.contains(&name) || is_number(value.trim());
    let text = if is_plain { line.to_owned() } else { format!("{key}= …") };
    is_short(&text).then_some(text)
}

fn is_number(value: &str) -> bool {
    matches!(value, "true" | "false")
        || value.len() <= 20 && value.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Nobody finds a caret in a longer line.
fn is_short(line: &str) -> bool {
    line.chars().count() <= LONGEST
}

impl fmt::Display for NodeConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, why, quoted } = self;
        write!(f, "line {line}, column {column}: {why}")?;
        let Some(Quoted { text, start, width }) = quoted else { return Ok(()) };
        // Tabs stay tabs, so that the caret stands where the eye expects it.
        let indent: String =
            text.chars().take(*start).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(*width);
        let gutter = line.to_string();
        let blank = " ".repeat(gutter.len());
        write!(f, "\n {gutter} | {text}\n {blank} | {indent}{carets}")
    }
}

impl std::error::Error for NodeConfigError {}

/// Keys whose values are words of ours, or names that are published anyway.
const PLAIN_KEYS: &[&str] = &[
    "ask",
    "builtin",
    "ca",
    "calls_per_turn",
    "certificate",
    "client_ca",
    "client_certificate",
    "coder",
    "collection",
    "collections",
    "cost_hint",
    "cwd",
    "default_provider",
    "delegate_id",
    "deny",
    "disabled_tools",
    "domains",
    "enabled_tools",
    "host",
    "hosts",
    "jurisdiction",
    "linguist",
    "listen",
    "llmcp",
    "loosen",
    "model",
    "model_family",
    "model_version",
    "name",
    "payload_modes",
    "provider",
    "public_key",
    "public_keys",
    "researcher",
    "sandbox",
    "tool",
    "trust_domain",
    "trusted_domains",
    "when",
    "wire_api",
];

const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_quoted() {
        let secret = "hunter2-hunter2";
        for line in [
            format!("token = {secret:?}"),
            format!("api_key = \"{secret}"),
            format!("  \"{secret}\","),
            format!("env = {{ A = {secret:?}, B = 3 }}"),
            format!("run = [\"curl\", \"-H\", {secret:?}]"),
            format!("base_url = \"https://me:{secret}@x\""),
            format!("[a = {secret:?}"),
            format!("\"{secret}\" = 3"),
            format!("# {secret}"),
            secret.to_owned(),
        ] {
            for at in 0..=line.len() {
                let text = format!("[node]\n{line}\n");
                let error = NodeConfigError::at(&text, 7 + at..text.len(), "why".to_owned());
                assert!(!error.to_string().contains(secret), "{error}");
                assert!(!format!("{error:?}").contains(secret), "{error:?}");
            }
        }
    }

    #[test]
    fn what_is_left_out_is_pointed_at() {
        let text = "[[callers]]\ntoken_env = \"no name!\"\n";
        let error = NodeConfigError::at(text, 24..34, "why".to_owned());
        assert_eq!(
            error.to_string(),
            "line 2, column 13: why\n 2 | token_env = …\n   |             ^"
        );
    }
}
