//! Sets of characters, as ranges or as everything but ranges.

/// A set of characters. It is never empty: no dialect can write that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Both ends belong to the range.
    pub(crate) ranges: Vec<(char, char)>,
    /// The set is everything but the ranges.
    pub(crate) negated: bool,
}

impl Class {
    /// The characters of at least one range, both ends included.
    pub fn of(ranges: &[(char, char)]) -> Self {
        Self { ranges: ranges.to_vec(), negated: false }
    }

    /// All characters but those of at least one range.
    pub fn all_but(ranges: &[(char, char)]) -> Self {
        Self { ranges: ranges.to_vec(), negated: true }
    }

    pub fn contains(&self, c: char) -> bool {
        self.ranges.iter().any(|&(low, high)| low <= c && c <= high) != self.negated
    }

    /// This set without `characters`; `None` if nothing is left of it.
    pub fn without(&self, characters: &[char]) -> Option<Self> {
        let mut ranges = self.ranges.clone();
        for &gone in characters.iter().filter(|&&c| self.contains(c)) {
            if self.negated {
                ranges.push((gone, gone));
            } else {
                ranges = ranges.into_iter().flat_map(|range| split(range, gone)).collect();
            }
        }
        let left = Self { ranges, negated: self.negated };
        (left.negated || !left.ranges.is_empty()).then_some(left)
    }
}

/// What is left of a range when `gone` is taken out.
fn split((low, high): (char, char), gone: char) -> Vec<(char, char)> {
    if gone < low || high < gone {
        return vec![(low, high)];
    }
    let below = (low..gone).next_back().map(|end| (low, end));
    let above = (gone..=high).nth(1).map(|start| (start, high));
    below.into_iter().chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_taken_out_of_ranges() {
        let class = Class::of(&[('a', 'e'), ('0', '0')]);
        assert_eq!(class.without(&['c']), Some(Class::of(&[('a', 'b'), ('d', 'e'), ('0', '0')])));
        assert_eq!(class.without(&['a', 'e', '0']), Some(Class::of(&[('b', 'd')])));
        assert_eq!(class.without(&['z']), Some(class.clone()));
        assert_eq!(Class::of(&[('0', '1')]).without(&['1', '0']), None);
        let all = Class::of(&[('\0', char::MAX)]);
        let around = Class::of(&[('\0', '\u{d7ff}'), ('\u{e001}', char::MAX)]);
        assert_eq!(all.without(&['\u{e000}']), Some(around));
    }

    #[test]
    fn characters_are_taken_out_of_negated_classes() {
        let class = Class::all_but(&[('"', '"')]);
        assert_eq!(class.without(&['x', '"']), Some(Class::all_but(&[('"', '"'), ('x', 'x')])));
        assert!(class.contains('x'));
        assert!(!class.contains('"'));
    }
}
