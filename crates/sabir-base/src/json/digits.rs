//! Integers that are too long to be kept: a tree of values has room for 64 bits, and makes of a longer
//! one the nearest float, which is another number.

use super::scan::string_end;

/// The first integer in a JSON text that does not fit into 64 bits, with its sign. A number with a point
/// or an exponent is a float wherever it is read, and none of these. What is no JSON gives anything.
pub fn long_integer(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        let is_string = rest.starts_with('"');
        let end = if is_string { string_end(rest.as_bytes(), 0) } else { number_end(rest) };
        let (found, after) = rest.split_at(end);
        if !is_string && is_long_integer(found) {
            return Some(found);
        }
        rest = after;
    }
    None
}

/// Whether a number, as it is written in JSON, is an integer that does not fit into 64 bits.
pub fn is_long_integer(number: &str) -> bool {
    number.len() >= SHORTEST
        && !number.contains(['.', 'e', 'E'])
        && number.parse::<u64>().is_err()
        && number.parse::<i64>().is_err()
}

fn number_end(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Eighteen digits fit always, with or without a sign.
const SHORTEST: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_64_bits_are_found() {
        for kept in [
            "0",
            "-0",
            "18446744073709551615",
            "-9223372036854775808",
            "12345678901234567890.5",
            "1234567890123456789012345e1",
            r#"{"1234567890123456789012345":"1234567890123456789012345\\","a":"\"1234567890123456789012345"}"#,
            "\"1234567890123456789012345",
            "",
        ] {
            assert_eq!(long_integer(kept), None, "{kept}");
        }
        for (text, found) in [
            ("18446744073709551616", "18446744073709551616"),
            ("[-9223372036854775809]", "-9223372036854775809"),
            (r#"{"\\":[1.5,{"a":1234567890123456789012345}]}"#, "1234567890123456789012345"),
        ] {
            assert_eq!(long_integer(text), Some(found), "{text}");
        }
    }
}
