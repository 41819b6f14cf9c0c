//! A tree of hashes: one root stands for many records, and a short path shows that a record is under
//! it. A leaf and an inner node are hashed differently, so that none passes for the other. It knows
//! no keys and no records.

use sha2::{Digest as _, Sha256};

use crate::hex;

pub(super) type Hash = [u8; 32];

/// The levels from the leaves up to the root. A node without a neighbour goes up as it is.
pub(super) struct Tree(Vec<Vec<Hash>>);

impl Tree {
    /// None without leaves.
    pub(super) fn over(leaves: Vec<Hash>) -> Option<Self> {
        let mut level = leaves;
        let mut levels = Vec::new();
        while level.len() > 1 {
            let above = level.chunks(2).map(|pair| match pair {
                [left, right] => inner(left, right),
                alone => alone[0],
            });
            let above = above.collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        let has_root = !level.is_empty();
        levels.push(level);
        has_root.then_some(Self(levels))
    }

    pub(super) fn root(&self) -> Hash {
        self.0.last().and_then(|top| top.first()).copied().unwrap_or_default()
    }

    /// From a leaf to the root: each hash beside the way, with the side on which it stands.
    pub(super) fn path(&self, leaf: usize) -> Vec<String> {
        let mut at = leaf;
        let mut path = Vec::with_capacity(self.0.len());
        for level in &self.0 {
            if let Some(beside) = level.get(at ^ 1) {
                let side = if at.is_multiple_of(2) { RIGHT } else { LEFT };
                path.push(hex::encode_after(side, beside));
            }
            at /= 2;
        }
        path
    }
}

pub(super) fn leaf(bytes: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(bytes).finalize().into()
}

/// Where a path leads from a leaf. None if a step is not written as it must be.
pub(super) fn root_from(leaf: Hash, path: &[String]) -> Option<Hash> {
    path.iter().try_fold(leaf, |node, step| {
        if let Some(beside) = step.strip_prefix(LEFT) {
            return Some(inner(&hex::decode(beside)?, &node));
        }
        Some(inner(&node, &hex::decode(step.strip_prefix(RIGHT)?)?))
    })
}

fn inner(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

const LEFT: &str = "l";
const RIGHT: &str = "r";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_leads_to_the_root_and_no_other_does() {
        for count in 1..=33_u8 {
            let leaves: Vec<Hash> = (0..count).map(|number| leaf(&[number])).collect();
            let tree = Tree::over(leaves.clone()).unwrap();
            for (index, this) in leaves.iter().enumerate() {
                let path = tree.path(index);
                assert!(path.len() <= 6, "{count} leaves, {} steps", path.len());
                assert_eq!(root_from(*this, &path), Some(tree.root()));
                let other = leaf(b"another");
                assert_ne!(root_from(other, &path), Some(tree.root()));
            }
        }
        assert!(Tree::over(Vec::new()).is_none());
    }

    #[test]
    fn a_node_is_no_leaf() {
        let (left, right) = (leaf(b"a"), leaf(b"b"));
        let mut both = left.to_vec();
        both.extend(right);
        assert_ne!(leaf(&both), inner(&left, &right));
    }

    #[test]
    fn a_step_has_one_spelling() {
        let hash = hex::encode(&[7; 32]);
        let leads = |step: String| root_from([1; 32], &[step]).is_some();
        assert!(leads(format!("l{hash}")) && leads(format!("r{hash}")));
        for wrong in [hash.clone(), format!("L{hash}"), format!("l{}", &hash[2..]), String::new()] {
            assert!(!leads(wrong.clone()), "{wrong}");
        }
    }
}
