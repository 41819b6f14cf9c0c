//! Bytes as lower-case hexadecimal digits, which is how keys, nonces and signatures travel.

/// The digits of `bytes`.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let pair = |byte: &u8| [byte >> 4, byte & 15].map(|nibble| DIGITS[usize::from(nibble)]);
    let digits = bytes.iter().flat_map(pair).collect();
    // Digits are text.
    String::from_utf8(digits).unwrap_or_default()
}

/// The `N` bytes that `text` writes. One spelling only: capital digits would give one signature two
/// texts.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        assert_eq!(encode(&[0, 0x9a, 0xff]), "009aff");
        assert_eq!(decode::<3>("009aff"), Some([0, 0x9a, 0xff]));
        for wrong in ["009aFF", "009af", "009aff0", "009ag0", "éé\u{e9}", ""] {
            assert_eq!(decode::<3>(wrong), None, "{wrong}");
        }
    }
}
