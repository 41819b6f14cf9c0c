//! Seeds from the system's random source, drawn by the page: asking for each would cost more than most
//! of what is done with it. Each is given out once.

use std::sync::{Mutex, PoisonError};

use zeroize::{Zeroize as _, Zeroizing};

#[derive(Default)]
pub(super) struct Seeds(Mutex<Drawn>);

struct Drawn {
    bytes: Zeroizing<[u8; PAGE]>,
    /// Of the bytes, how many were not given out.
    left: usize,
}

impl Seeds {
    /// One that nobody had before, or why the system gives none.
    pub(super) fn next(&self) -> Result<[u8; SEED], getrandom::Error> {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.left < SEED {
            getrandom::fill(&mut *drawn.bytes)?;
            drawn.left = PAGE;
        }
        drawn.left -= SEED;
        let from = drawn.left;
        let given = &mut drawn.bytes[from..from + SEED];
        let mut seed = [0; SEED];
        seed.copy_from_slice(given);
        given.zeroize();
        Ok(seed)
    }
}

impl Default for Drawn {
    fn default() -> Self {
        Self { bytes: Zeroizing::new([0; PAGE]), left: 0 }
    }
}

impl std::fmt::Debug for Seeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seeds(..)")
    }
}

const SEED: usize = 32;

/// As much as the system gives without being interrupted.
const PAGE: usize = 8 * SEED;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_seed_is_given_out_once_and_forgotten() {
        let seeds = Seeds::default();
        let count = 3 * PAGE / SEED + 1;
        let given: BTreeSet<_> = (0..count).map(|_| seeds.next().unwrap()).collect();
        assert_eq!(given.len(), count);
        let drawn = seeds.0.lock().unwrap();
        assert!(drawn.bytes[drawn.left..].iter().all(|byte| *byte == 0));
        assert!(given.iter().all(|seed| !drawn.bytes.windows(SEED).any(|bytes| bytes == seed)));
        drop(drawn);
        assert_eq!(format!("{seeds:?}"), "Seeds(..)");
    }
}
