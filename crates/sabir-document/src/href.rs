//! Which addresses a link may have. It fetches nothing and resolves nothing.

use sabir_base::text::is_hidden;

/// Whether a document may link to this: an absolute address of http, https or mail, written without
/// white space and without characters that nobody sees. Everything else could mean something else
/// where the document is shown: a script, a file, a place of the page that shows it.
pub fn is_safe_href(href: &str) -> bool {
    if href.len() > MAX_HREF || href.contains(is_unseen) {
        return false;
    }
    let Some((scheme, rest)) = href.split_once(':') else { return false };
    if scheme.eq_ignore_ascii_case("mailto") {
        return !rest.is_empty() && !rest.starts_with('/');
    }
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    // A browser reads `https:///host`, `https:\\host` and `https:host` in ways that nobody expects.
    let host = rest.strip_prefix("//").and_then(|rest| rest.chars().next());
    is_web && host.is_some_and(|first| !matches!(first, '/' | '\\' | '?' | '#'))
}

/// Joiners are seen in words, by what they join; in an address they make another one that looks the
/// same.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || matches!(c, '\u{200C}' | '\u{200D}')
}

/// Longer than any address that servers take.
const MAX_HREF: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_web_and_mail_addresses_are_safe() {
        for href in [
            "http://a",
            "https://a.b/c?d=e#f",
            "HTTPS://A",
            "mailto:a@b.c",
            "https://[::1]/",
            "https://ü.de/ß",
        ] {
            assert!(is_safe_href(href), "{href}");
        }
        for href in [
            "",
            "a",
            "/a",
            "//a",
            "#a",
            "?a",
            "javascript:alert(1)",
            "JaVaScRiPt://x",
            "data:text/html,x",
            "file:///etc/passwd",
            "https:",
            "https:/a",
            "https:a",
            "https://",
            "https:///a",
            "https:\\\\a",
            "https://\\a",
            "http://a b",
            " https://a",
            "https://a\n",
            "https://a\u{202e}",
            "https://a/\u{200b}b",
            "https://a\u{2060}b/",
            "https://a/b\u{ad}",
            "https://a\u{200d}b/",
            "mailto:a\u{200c}@b.c",
            "https://a\0",
            "mailto:",
            "mailto://a",
            "java\nscript:x",
            "ftp://a",
            "https://?a",
            "tel:1",
        ] {
            assert!(!is_safe_href(href), "{href}");
        }
    }
}
