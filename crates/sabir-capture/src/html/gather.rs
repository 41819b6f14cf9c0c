//! Which sheets of style a page brings along: in its elements, and in addresses that carry their own
//! text. Sheets that would have to be fetched are not read, but it is known that there are some.

use std::collections::HashSet;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use dom_query::{Document, NodeRef};

use super::css::{function, plain, real, split_outside, words};
use super::media_query;
use super::selector::Scripts;
use super::sheet::Sheet;
use super::variables::Variables;

/// Reads the sheets that stand in the page.
pub(crate) fn read_sheet(dom: &Document) -> Sheet {
    let mut found = Found::default();
    let root = dom.root();
    let mut inline = Vec::new();
    let mut scripts = Scripts::Absent;
    for node in root.descendants_it() {
        found.add(&node);
        if is_script(&node) {
            scripts = Scripts::Present;
        }
        inline.extend(node.attr("style").filter(|style| {
            style.contains("--") || style.contains('\\') || style.contains("attr(")
        }));
    }
    let inline: Vec<_> = inline.iter().map(|style| plain(style)).collect();
    let mut variables = Variables::default();
    let mut asked = HashSet::new();
    for text in found.texts.iter().map(String::as_str).chain(inline.iter().map(|text| &**text)) {
        variables.read(text);
        Variables::attributes_in(text, &mut asked);
    }
    if !asked.is_empty() {
        add_attributes(&mut variables, &asked, &root);
    }
    Sheet::read(&found.texts, variables, scripts).beside_others(found.has_foreign)
}

fn add_attributes(variables: &mut Variables, asked: &HashSet<String>, root: &NodeRef<'_>) {
    for node in root.descendants_it() {
        let Some(element) = node.element_ref() else { continue };
        for attribute in element.attrs.iter().filter(|it| asked.contains(&*it.name.local)) {
            variables.add_attribute(&attribute.name.local, &attribute.value);
        }
    }
}

/// A script that may define elements; data is none.
fn is_script(node: &NodeRef<'_>) -> bool {
    node.has_name("script")
        && node.attr("type").is_none_or(|kind| {
            let kind = kind.trim().to_ascii_lowercase();
            kind.is_empty() || kind == "module" || kind.contains("javascript")
        })
}

#[derive(Default)]
struct Found {
    texts: Vec<String>,
    has_foreign: bool,
}

impl Found {
    fn add(&mut self, node: &NodeRef<'_>) {
        let is_style = node.has_name("style");
        if !is_style && !node.has_name("link") {
            return;
        }
        let value = |name: &str| node.attr(name).unwrap_or_default().to_ascii_lowercase();
        // Where scripts run, nothing in it is read.
        let is_off = node.ancestors_it(None).any(|it| it.has_name("noscript"))
            || !media_query::is_met(&value("media"));
        if is_style {
            let kind = value("type");
            if !is_off && (kind.trim().is_empty() || kind.trim() == "text/css") {
                self.read(&node.text(), 0);
            }
            return;
        }
        let rel = value("rel");
        let says = |word: &str| rel.split_ascii_whitespace().any(|it| it == word);
        if is_off || !says("stylesheet") || says("alternate") || node.has_attr("disabled") {
            return;
        }
        self.follow(&node.attr("href").unwrap_or_default(), 0);
    }

    fn follow(&mut self, address: &str, depth: u8) {
        match carried(address) {
            Some(text) if depth < MOST_DEPTH => self.read(&text, depth + 1),
            _ => self.has_foreign = true,
        }
    }

    /// A sheet, with those that it imports before it.
    fn read(&mut self, text: &str, depth: u8) {
        let text = plain(text).into_owned();
        let head = text.split('{').next().unwrap_or_default();
        for piece in split_outside(head, |c| c == ';').map(str::trim) {
            let Some(start) = piece.get(..7).filter(|at| at.eq_ignore_ascii_case("@import")) else {
                continue;
            };
            if let Some(address) = imported(&piece[start.len()..]) {
                self.follow(&address, depth);
            }
        }
        self.texts.push(text);
    }
}

/// The address of an `@import`, if its conditions hold.
fn imported(text: &str) -> Option<String> {
    let text = text.trim();
    let (address, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => {
            let word = words(text).next()?;
            let (name, inner) = function(word)?;
            if !name.eq_ignore_ascii_case("url") {
                return None;
            }
            (inner.trim_matches('"'), &text[word.len()..])
        }
    };
    let is_condition = |word: &&str| {
        let word = word.to_ascii_lowercase();
        word != "layer" && !word.starts_with("layer(") && !word.starts_with("supports(")
    };
    let queries: Vec<&str> = words(rest).filter(is_condition).collect();
    media_query::is_met(&queries.join(" ")).then(|| real(address))
}

/// The text that an address of the kind `data:` carries.
fn carried(address: &str) -> Option<String> {
    let address: String =
        address.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    if !address.get(..5)?.eq_ignore_ascii_case("data:") {
        return None;
    }
    let (kind, data) = address[5..].split('#').next()?.split_once(',')?;
    let bytes = unescaped(data);
    let is_coded = kind
        .rsplit(';')
        .next()
        .is_some_and(|last| kind.contains(';') && last.trim().eq_ignore_ascii_case("base64"));
    let bytes = match is_coded {
        true => {
            let config = GeneralPurposeConfig::new()
                .with_decode_padding_mode(DecodePaddingMode::Indifferent)
                .with_decode_allow_trailing_bits(true);
            let letters: Vec<u8> =
                bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
            GeneralPurpose::new(&STANDARD, config).decode(letters).ok()?
        }
        false => bytes,
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// With `%7B` and its like as bytes.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|it| char::from(*it).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    bytes
}

/// A sheet in a sheet in a sheet is enough.
const MOST_DEPTH: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_carry_sheets() {
        for address in [
            "data:text/css,.x{display:none}",
            "data:text/css,.x%7Bdisplay:none%7d",
            "DATA:;base64,Lnh7ZGlzcGxheTpub25lfQ",
            " data:text/css;charset=utf-8;base64,Lnh7ZGlz\ncGxheTpub25lfQ== ",
            "data:,.x{display:none}#more",
        ] {
            assert_eq!(carried(address).as_deref(), Some(".x{display:none}"), "{address}");
        }
        assert_eq!(carried("https://example.org/data:,x"), None);
    }
}
