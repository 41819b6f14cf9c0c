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
    write(bytes, digits);
    // Digits are text, and so is what stands before them.
    String::from_utf8(text).unwrap_or_default()
}

/// Writes the digits of `bytes` to where there is room for them.
pub(crate) fn write(bytes: &[u8], digits: &mut [u8]) {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
}

/// The `N` bytes that `text` writes. One spelling only: capital digits would give one signature two
/// texts.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| {
        let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        if number < 10 {
            number
        } else if letter < 6 {
            letter + 10
        } else {
            NO_DIGIT
        }
    };
    // Looked at to the end: nothing is to be gained by stopping at what is no digit.
    let (mut bytes, mut seen) = ([0; N], 0);
    for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks().0) {
        let (high, low) = (value(*high), value(*low));
        seen |= high | low;
        *byte = high << 4 | low;
    }
    (seen < NO_DIGIT).then_some(bytes)
}

/// Above all that a digit, or several laid over each other, can stand for.
const NO_DIGIT: u8 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        assert_eq!(encode(&[0, 0x9a, 0xff]), "009aff");
        assert_eq!(encode_after("é", &[0x0f]), "é0f");
        assert_eq!(decode::<3>("009aff"), Some([0, 0x9a, 0xff]));
        for digit in 0..=127_u8 {
            let text = format!("0{}", char::from(digit));
            let expected = u8::from_str_radix(&text, 16).ok();
            let expected = expected.filter(|_| !digit.is_ascii_uppercase());
            assert_eq!(decode::<1>(&text), expected.map(|it| [it]), "{text}");
            let text = format!("{}0", char::from(digit));
            assert_eq!(decode::<1>(&text), expected.map(|it| [it << 4]), "{text}");
        }
        for wrong in ["009aFF", "009af", "009aff0", "009ag0", "éé\u{e9}", ""] {
            assert_eq!(decode::<3>(wrong), None, "{wrong}");
        }
    }
}
