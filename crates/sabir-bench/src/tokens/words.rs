//! Numbers in words, so that the page's sentences follow from the counts and cannot disagree with
//! them.

/// How many tokens for each token of something else, least and greatest, as the front of a
/// sentence: "12% to 15% fewer tokens than", "between 2% fewer and 3% more tokens than".
pub(crate) fn compared((low, high): (f64, f64)) -> String {
    let (low, high) = (percent(low), percent(high));
    match (low, high) {
        (0, 0) => "as many tokens as".to_owned(),
        (low, high) if low == high => format!("{} tokens than", change(low)),
        (low, 0) => format!("up to {} tokens than", change(low)),
        (0, high) => format!("up to {} tokens than", change(high)),
        (low, high) if high < 0 => format!("{}% to {} tokens than", -high, change(low)),
        (low, high) if low > 0 => format!("{low}% to {} tokens than", change(high)),
        (low, high) => format!("between {} and {} tokens than", change(low), change(high)),
    }
}

/// A single ratio: "12% fewer".
pub(crate) fn changed(ratio: f64) -> String {
    match percent(ratio) {
        0 => "as many".to_owned(),
        percent => change(percent),
    }
}

/// Several names as one phrase.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        // The names may have an "and" of their own, so that the comma is needed.
        [front @ .., last] => format!("{}, and {last}", front.join(", ")),
    }
}

fn percent(ratio: f64) -> i64 {
    ((ratio - 1.0) * 100.0).round() as i64
}

fn change(percent: i64) -> String {
    if percent < 0 { format!("{}% fewer", -percent) } else { format!("{percent}% more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_in_words() {
        for (ratios, words) in [
            ((1.0, 1.0), "as many tokens as"),
            ((0.998, 1.004), "as many tokens as"),
            ((0.7, 0.75), "25% to 30% fewer tokens than"),
            ((1.02, 1.05), "2% to 5% more tokens than"),
            ((1.7, 1.7), "70% more tokens than"),
            ((0.95, 1.001), "up to 5% fewer tokens than"),
            ((1.001, 1.03), "up to 3% more tokens than"),
            ((0.98, 1.03), "between 2% fewer and 3% more tokens than"),
        ] {
            assert_eq!(compared(ratios), words);
        }
    }

    #[test]
    fn names_in_words() {
        assert_eq!(listed(&[]), "none");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b, and c");
        assert_eq!(changed(1.1), "10% more");
        assert_eq!(changed(0.997), "as many");
    }
}
