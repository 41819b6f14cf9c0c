//! Recursion with a bound: the same rules once per level, each level referring to the next.

use std::iter::successors;

/// How many more levels may open inside. No dialect can count, so a bound means copies: the rule
/// `list` with two levels left is `list_2`, and what stands in its brackets is `item_1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The rules are written once and refer to themselves.
    Unbounded,
    Left(u8),
}

impl Depth {
    pub fn new(max_depth: Option<u8>) -> Self {
        max_depth.map_or(Depth::Unbounded, Depth::Left)
    }

    /// The name of the rule `base` at this depth.
    pub fn name(self, base: &str) -> String {
        match self {
            Depth::Unbounded => base.to_owned(),
            Depth::Left(levels) => format!("{base}_{levels}"),
        }
    }

    /// One level further in, if there is one.
    pub fn deeper(self) -> Option<Self> {
        match self {
            Depth::Unbounded => Some(self),
            Depth::Left(levels) => levels.checked_sub(1).map(Depth::Left),
        }
    }

    /// Every level for which rules must be written: this one, then those further in.
    pub fn levels(self) -> impl Iterator<Item = Self> {
        successors(Some(self), |depth| match depth {
            Depth::Unbounded => None,
            Depth::Left(_) => depth.deeper(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_of_their_own() {
        let names = |depth: Depth| depth.levels().map(|it| it.name("list")).collect::<Vec<_>>();
        assert_eq!(names(Depth::new(Some(2))), ["list_2", "list_1", "list_0"]);
        assert_eq!(names(Depth::new(None)), ["list"]);
        assert_eq!(Depth::Left(0).deeper(), None);
        assert_eq!(Depth::Unbounded.deeper(), Some(Depth::Unbounded));
    }
}
