//! What a path becomes for those who decode it or fold its characters before they use it.

/// `path` with percent escapes decoded, however often they were encoded, with the look-alikes of
/// dots, slashes, colons and carets replaced, and without what cannot be seen. `None` if nothing changes.
pub(super) fn fold(path: &str) -> Option<String> {
    if path.bytes().all(|it| it.is_ascii() && it != b'%') {
        return None;
    }
    let decoded = decode(&plain(path));
    // Decoding may bring look-alikes to light.
    let folded = plain(&decoded);
    (folded != path).then_some(folded)
}

/// Characters that take no room of their own.
pub(super) fn is_invisible(it: char) -> bool {
    matches!(
        it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\u{2024}' | '\u{3002}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}' => out.push('.'),
            '\u{2025}' | '\u{fe30}' => out.push_str(".."),
            '\u{2026}' | '\u{fe19}' => out.push_str("..."),
            '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' => out.push('/'),
            // Those who fold these into `\` take that for a separator.
            '\\' | '\u{2216}' | '\u{29f5}' | '\u{29f9}' | '\u{fe68}' | '\u{ff3c}' => out.push('/'),
            '\u{fe55}' | '\u{ff1a}' => out.push(':'),
            '\u{2c4}' | '\u{ff3e}' => out.push('^'),
            '\u{fe6a}' | '\u{ff05}' => out.push('%'),
            _ if is_invisible(it) => {}
            _ => out.push(it),
        }
    }
    out
}

/// One pass, although `%252e` has to be decoded twice: what is decoded is looked at again together
/// with what stands before it, and every escape makes the text shorter.
fn decode(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text.as_bytes() {
        bytes.push(byte);
        while let Some((length, decoded)) = escape_at_end(&bytes) {
            bytes.truncate(bytes.len() - length);
            bytes.extend(decoded.encode());
        }
    }
    lenient_utf8(&bytes)
}

/// What an escape stands for.
enum Decoded {
    Byte(u8),
    /// `%u002e`, as one vendor's servers read it.
    Unit(u16),
}

impl Decoded {
    fn encode(self) -> Vec<u8> {
        match self {
            Self::Byte(byte) => vec![byte],
            Self::Unit(unit) => {
                let it = char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
                it.to_string().into_bytes()
            }
        }
    }
}

fn escape_at_end(bytes: &[u8]) -> Option<(usize, Decoded)> {
    let hex = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u16);
    match bytes {
        [.., b'%', b'u' | b'U', a, b, c, d] => {
            let unit = hex(*a)? << 12 | hex(*b)? << 8 | hex(*c)? << 4 | hex(*d)?;
            Some((6, Decoded::Unit(unit)))
        }
        [.., b'%', high, low] => {
            Some((3, Decoded::Byte((hex(*high)? << 4 | hex(*low)?).to_le_bytes()[0])))
        }
        _ => None,
    }
}

/// UTF-8 as careless decoders read it: `C0 AE` is a dot written in two bytes.
fn lenient_utf8(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [lead, after @ ..] = rest {
        let (follow, bits) = match lead {
            0xc0..=0xdf => (1, lead & 0x1f),
            0xe0..=0xef => (2, lead & 0x0f),
            0xf0..=0xf7 => (3, lead & 0x07),
            _ => (0, lead & 0x7f),
        };
        let tail = after.get(..follow).filter(|tail| tail.iter().all(|it| it & 0xc0 == 0x80));
        let (code, used) = match tail {
            Some(tail) if *lead < 0x80 || follow > 0 => {
                let code =
                    tail.iter().fold(u32::from(bits), |code, it| code << 6 | u32::from(it & 0x3f));
                (char::from_u32(code), follow)
            }
            _ => (None, 0),
        };
        out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &after[used..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn what_is_hidden_comes_to_light() {
        for (path, seen) in [
            ("%2e%2E/a", "../a"),
            ("%252e%252e%252fa", "../a"),
            ("%25252525252e", "."),
            ("%c0%ae%c0%af", "./"),
            ("%e0%80%ae", "."),
            ("%u002e%uff0e", ".."),
            ("%EF%BC%8E%ef%bc%8f", "./"),
            ("\u{ff0e}\u{2024}\u{2215}\u{2025}", "../.."),
            ("\u{ff05}2e", "."),
            (".\u{200b}.", ".."),
            ("%5c", "/"),
            ("%00", "\0"),
            ("caf%c3%a9", "café"),
        ] {
            assert_eq!(fold(path).as_deref(), Some(seen), "{path}");
        }
        for path in ["a/b", "100%", "%zz", "%2", "é", "%u12"] {
            assert_eq!(fold(path), None, "{path}");
        }
    }
}
