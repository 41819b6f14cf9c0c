//! Bytes as lower-case hexadecimal digits, which is how keys, nonces and signatures travel.

/// The digits of `bytes`.
pub(crate) fn encode(bytes: &[u8]) -> String {
    encode_after("", bytes)
}

/// A text, and the digits of `bytes` after it.
pub(crate) fn encode_after(before: &str, bytes: &[u8]) -> String {
    let mut text = vec![0; before.len() + 2 * bytes.len()];
    let (start, digits) = text.split_at_mut(before.len());
    start.copy_from_slice(before.as_bytes());
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    // Digits are text, and so is what stands before them.
    String::from_utf8(text).unwrap_or_default()
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
        assert_eq!(encode_after("é", &[0x0f]), "é0f");
        assert_eq!(decode::<3>("009aff"), Some([0, 0x9a, 0xff]));
        for wrong in ["009aFF", "009af", "009aff0", "009ag0", "éé\u{e9}", ""] {
            assert_eq!(decode::<3>(wrong), None, "{wrong}");
        }
    }
}
