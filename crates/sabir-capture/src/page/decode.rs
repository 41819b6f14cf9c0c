//! From bytes to text: by the mark at the start, by what the server says, by what a page of HTML says,
//! and otherwise UTF-8 if it is. It never fails: what cannot be read becomes the sign for that.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::media::Media;

/// Decodes a text. `content_type` is the header, with or without a charset. Only HTML may name its own
/// encoding: what stands in another text are words.
pub fn decode(bytes: &[u8], content_type: Option<&str>, media: Media) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None => content_type
            .and_then(charset)
            .and_then(|label| Encoding::for_label(label.as_bytes()))
            .or_else(|| (media == Media::Html).then(|| declared(bytes))?)
            .unwrap_or_else(|| guess(bytes)),
    };
    // Removes the mark, too.
    encoding.decode(bytes).0.into_owned()
}

/// The charset of a content type: `text/html; charset=utf-8`.
fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// What the page says about itself near its start: `<meta charset>`, `http-equiv`, or the line of
/// XML.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start: String =
        bytes.iter().take(MOST_START).map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let in_xml = || {
        let line = start.strip_prefix("<?xml")?.split("?>").next()?;
        Some(line.split_once("encoding")?.1)
    };
    let in_meta = || {
        start.split("<meta").skip(1).find_map(|tag| {
            let tag = tag.split('>').next()?;
            Some(tag.split_once("charset")?.1)
        })
    };
    let label = in_xml().or_else(in_meta)?;
    let label = label.trim_start().strip_prefix('=')?.trim_start();
    let label = label.trim_start_matches(['"', '\'']);
    let end = label
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')))
        .unwrap_or(label.len());
    let encoding = Encoding::for_label(&label.as_bytes()[..end])?;
    // This was read as single bytes, so that it cannot be of two.
    Some(if [UTF_16BE, UTF_16LE].contains(&encoding) { UTF_8 } else { encoding })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // Cut in the middle of a character, after others that were whole.
        Err(error) if error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii() => {
            UTF_8
        }
        Err(_) => WINDOWS_1252,
    }
}

/// Browsers look as far.
const MOST_START: usize = 1_024;
