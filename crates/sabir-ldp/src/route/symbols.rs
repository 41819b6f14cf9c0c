//! Names as numbers, so that comparing two is comparing integers. A name that nobody uses any more is
//! forgotten: peers choose these texts, and may choose new ones for ever.
//!
//! It knows nothing of what the names mean, except that a jurisdiction lies within another whose name
//! it continues after a hyphen.

use std::collections::BTreeMap;

/// A name in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol(u32);

/// What no name has.
pub(super) const NO_SYMBOL: Symbol = Symbol(u32::MAX);

#[derive(Debug, Default)]
pub(super) struct Symbols {
    by_text: BTreeMap<Box<str>, Symbol>,
    names: Vec<Name>,
    free: Vec<Symbol>,
}

#[derive(Debug)]
struct Name {
    text: Box<str>,
    uses: u32,
    /// What it lies within.
    parent: Symbol,
}

impl Symbols {
    pub(super) fn find(&self, text: &str) -> Option<Symbol> {
        self.by_text.get(text).copied()
    }

    /// Each call wants one call of [`Symbols::release`] later.
    pub(super) fn claim(&mut self, text: &str) -> Symbol {
        self.claim_within(text, NO_SYMBOL)
    }

    /// The same for `a-b-c`, together with `a-b` and `a`.
    pub(super) fn claim_place(&mut self, text: &str) -> Symbol {
        let text = text.to_ascii_lowercase();
        let ends = text.match_indices('-').map(|(at, _)| at).take(MOST_PARTS);
        let mut parent = NO_SYMBOL;
        for end in ends {
            let place = self.claim_within(&text[..end], parent);
            // The child holds its parent from now on; a parent that was known already is held once
            // for each of its children, so that the claim of this walk goes with the last of them.
            if parent != NO_SYMBOL {
                self.release(parent);
            }
            parent = place;
        }
        let place = self.claim_within(&text, parent);
        if parent != NO_SYMBOL {
            self.release(parent);
        }
        place
    }

    pub(super) fn find_place(&self, text: &str) -> Option<Symbol> {
        self.find(&text.to_ascii_lowercase())
    }

    /// Whether a place is `outer` or lies within it.
    pub(super) fn is_within(&self, place: Symbol, outer: Symbol) -> bool {
        let mut at = place;
        while at != outer {
            match self.names.get(at.0 as usize) {
                Some(name) => at = name.parent,
                None => return false,
            }
        }
        true
    }

    pub(super) fn release(&mut self, symbol: Symbol) {
        let mut at = symbol;
        while let Some(name) = self.names.get_mut(at.0 as usize) {
            name.uses = name.uses.saturating_sub(1);
            if name.uses > 0 {
                return;
            }
            self.by_text.remove(&std::mem::take(&mut name.text));
            self.free.push(at);
            at = std::mem::replace(&mut name.parent, NO_SYMBOL);
        }
    }

    fn claim_within(&mut self, text: &str, parent: Symbol) -> Symbol {
        if let Some(&symbol) = self.by_text.get(text) {
            if let Some(name) = self.names.get_mut(symbol.0 as usize) {
                name.uses += 1;
            }
            return symbol;
        }
        if let Some(parent) = self.names.get_mut(parent.0 as usize) {
            parent.uses += 1;
        }
        let name = Name { text: text.into(), uses: 1, parent };
        let symbol = match self.free.pop() {
            Some(symbol) => {
                if let Some(place) = self.names.get_mut(symbol.0 as usize) {
                    *place = name;
                }
                symbol
            }
            None => {
                self.names.push(name);
                Symbol((self.names.len() - 1) as u32)
            }
        };
        self.by_text.insert(text.into(), symbol);
        symbol
    }
}

/// Continents, countries, regions and towns are four.
const MOST_PARTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_within_their_beginnings() {
        let mut places = Symbols::default();
        let deep = places.claim_place("EU-west-dublin");
        let other = places.claim_place("europe");
        let eu = places.find_place("eu").unwrap();
        assert!(places.is_within(deep, eu) && places.is_within(deep, deep));
        assert!(!places.is_within(eu, deep) && !places.is_within(other, eu));
        assert!(!places.is_within(NO_SYMBOL, eu));
    }

    #[test]
    fn what_nobody_uses_is_forgotten() {
        let mut places = Symbols::default();
        let texts = ["a-b-c", "a-b", "a", "a-d", "-", "--", "", "a-b-c", &"x-".repeat(100)];
        for _ in 0..3 {
            let claimed = texts.map(|text| places.claim_place(text));
            assert_eq!(places.find_place("a-b"), Some(claimed[1]));
            for symbol in claimed {
                places.release(symbol);
            }
            assert!(places.by_text.is_empty());
            assert_eq!(places.free.len(), places.names.len());
        }
        // The numbers are used again.
        assert!(places.names.len() < 30);
    }
}
