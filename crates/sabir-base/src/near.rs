//! Words that are almost another word, for advice on misspellings. It knows no vocabulary.

/// Whether `a` becomes `b` by one insertion, deletion, replacement or swap of neighbours.
pub fn is_near(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same_front = a.iter().zip(b).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let (a, b) = (&a[same_front..], &b[same_front..]);
    let same_back =
        a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    match (&a[..a.len() - same_back], &b[..b.len() - same_back]) {
        (rest, other) if rest.len() <= 1 && other.len() <= 1 => true,
        ([a, b], [c, d]) => a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_near_and_two_are_not() {
        assert!(is_near("contex", "context"));
        assert!(is_near("cxt", "ctx"));
        assert!(is_near("unauthorised", "unauthorized"));
        assert!(is_near("CTX", "ctx"));
        assert!(is_near("tenants", "tenant"));
        assert!(!is_near("topic", "ctx"));
        assert!(!is_near("abcd", "badc"));
        assert!(!is_near("", "ab"));
    }
}
