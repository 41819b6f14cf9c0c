//! Whether what stands in a block like `@media` holds on an ordinary screen. What is not known is
//! taken to hold.

use super::css::split_outside;
use super::length::Length;

/// Whether the rules in a block with this head hold.
pub(super) fn is_entered(head: &str) -> bool {
    let head = head.to_ascii_lowercase();
    let end = head[1..].find(|c: char| !(c.is_alphanumeric() || c == '-')).map(|at| at + 1);
    let (name, query) = head.split_at(end.unwrap_or(head.len()));
    match name {
        "@media" => split_outside(query, |c| c == ',').any(holds),
        "@supports" | "@layer" | "@container" | "@scope" => true,
        _ => false,
    }
}

/// Whether a list of queries holds; one without any does.
pub(super) fn is_met(queries: &str) -> bool {
    let queries = queries.to_ascii_lowercase();
    queries.trim().is_empty() || split_outside(&queries, |c| c == ',').any(holds)
}

/// The name of the frames whose block this is the head of.
pub(super) fn keyframes(head: &str) -> Option<&str> {
    let (at, name) = head.split_once(|c: char| c.is_ascii_whitespace() || c == '"')?;
    let at = at.to_ascii_lowercase();
    at.ends_with("keyframes").then(|| name.trim().trim_matches('"'))
}

/// One query: `only screen and (min-width: 600px)`.
fn holds(query: &str) -> bool {
    let query = query.trim();
    if let Some(rest) = query.strip_prefix("not ") {
        return !holds(rest);
    }
    let query = query.strip_prefix("only ").unwrap_or(query);
    query.split(" or ").any(|part| part.split(" and ").all(feature))
}

fn feature(text: &str) -> bool {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("not") {
        return !feature(rest);
    }
    let inner = text.trim_start_matches('(').trim_end_matches(')').trim();
    match inner {
        "print" | "speech" | "tty" | "tv" | "projection" | "handheld" | "braille" | "embossed"
        | "aural" | "monochrome" | "grid" => return false,
        _ => {}
    }
    if let Some((name, value)) = inner.split_once(':') {
        return compare(name.trim(), value.trim());
    }
    // `400px <= width <= 700px`, `width > 1px`.
    let parts: Vec<&str> = inner.split(['<', '>', '=']).filter(|part| !part.is_empty()).collect();
    let marks: Vec<char> = inner.chars().filter(|c| matches!(c, '<' | '>')).collect();
    let is_size = |text: &str| side(text.trim()).is_some();
    match (parts.as_slice(), marks.as_slice()) {
        ([name, value], [mark]) if is_size(name) => range(name, *mark, value),
        ([value, name], [mark]) if is_size(name) => range(name, turned(*mark), value),
        ([least, name, most], [first, second]) if is_size(name) => {
            range(name, turned(*first), least) && range(name, *second, most)
        }
        _ => true,
    }
}

fn turned(mark: char) -> char {
    if mark == '<' { '>' } else { '<' }
}

fn range(name: &str, mark: char, value: &str) -> bool {
    let (Some(side), Some(value)) = (side(name.trim()), pixels(value)) else { return true };
    if mark == '<' { side <= value } else { side >= value }
}

fn compare(name: &str, value: &str) -> bool {
    let limit = |name: &str| side(name).zip(pixels(value));
    if let Some((side, value)) = name.strip_prefix("min-").and_then(limit) {
        return side >= value;
    }
    if let Some((side, value)) = name.strip_prefix("max-").and_then(limit) {
        return side <= value;
    }
    !matches!(
        (name, value),
        ("prefers-color-scheme", "dark")
            | ("prefers-reduced-motion", "reduce")
            | ("prefers-contrast", "more" | "less" | "custom")
            | ("forced-colors", "active")
            | ("scripting", "none" | "initial-only")
            | ("orientation", "portrait")
            | ("hover" | "any-hover", "none")
            | ("pointer" | "any-pointer", "none" | "coarse")
            | ("update", "none" | "slow")
            | ("display-mode", "standalone" | "fullscreen" | "minimal-ui")
            | ("width" | "height" | "device-width" | "device-height", _)
    )
}

fn side(name: &str) -> Option<f32> {
    match name {
        "width" | "device-width" | "inline-size" => Some(1_280.0),
        "height" | "device-height" | "block-size" => Some(800.0),
        _ => None,
    }
}

fn pixels(value: &str) -> Option<f32> {
    Length::read(value.trim()).map(|length| length.pixels())
}

#[cfg(test)]
mod tests {
    use super::is_entered;

    #[test]
    fn an_ordinary_screen_decides() {
        for head in [
            "@media screen",
            "@media only screen and (min-width: 600px)",
            "@media (min-width:1px)",
            "@media (width >= 1px)",
            "@media (1px < width <= 3000px)",
            "@media print, screen",
            "@media not print",
            "@media (orientation: landscape)",
            "@supports (display: grid)",
            "@layer base",
            "@MEDIA ALL",
            "@media",
        ] {
            assert!(is_entered(head), "{head}");
        }
        for head in [
            "@media print",
            "@media (max-width: 600px)",
            "@media screen and (max-width: 40em)",
            "@media (width < 600px)",
            "@media not screen",
            "@media (prefers-color-scheme: dark)",
            "@font-face",
            "@keyframes x",
        ] {
            assert!(!is_entered(head), "{head}");
        }
    }
}
