//! Why translation is exact both ways.
//!
//! For two tongues there are two ways of saying: an A can be said in B, and a B can be said in A.
//! Each is exact, but they meet: a B may look like an A that was said in B. Then saying it in A
//! means taking out the A that is inside, or else the way there and back would wrap it once more.
//! So before a text is said in the other tongue, it is asked whether it came from there.
//!
//! A text is native when it is not what saying some native text of the other tongue gives. Saying
//! a native text, and unsaying one that is not, are then inverse to each other in both directions.

/// Two tongues, and how each is said in the other.
pub(crate) trait Pair {
    type Here;
    type There;

    fn say(&self, here: &Self::Here) -> Option<Self::There>;
    /// What was said: `Some(here)` only if `say(here)` is an equal of `there`.
    fn unsay(&self, there: &Self::There) -> Option<Self::Here>;
    fn say_back(&self, there: &Self::There) -> Option<Self::Here>;
    /// As `unsay`, for `say_back`.
    fn unsay_back(&self, here: &Self::Here) -> Option<Self::There>;
}

/// A text may be wrapped in its own tongue by way of the other; nobody does that more than once or
/// twice, and each layer costs a reading of the whole.
const MAX_LAYERS: usize = 8;

/// Why there is no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsayable {
    /// Wrapped more often than anybody means.
    TooManyLayers,
    /// Beyond the limits of the other tongue.
    TooLarge,
}

/// Says `here` in the other tongue.
pub(crate) fn there<P: Pair>(pair: &P, here: &P::Here) -> Result<P::There, Unsayable> {
    if let Some(there) = pair.unsay_back(here)
        && is_native_there(pair, &there, 0)?
    {
        return Ok(there);
    }
    pair.say(here).ok_or(Unsayable::TooLarge)
}

/// Says `there` in this tongue.
pub(crate) fn back<P: Pair>(pair: &P, there: &P::There) -> Result<P::Here, Unsayable> {
    if let Some(here) = pair.unsay(there)
        && is_native_here(pair, &here, 0)?
    {
        return Ok(here);
    }
    pair.say_back(there).ok_or(Unsayable::TooLarge)
}

fn is_native_here<P: Pair>(pair: &P, here: &P::Here, layer: usize) -> Result<bool, Unsayable> {
    if layer > MAX_LAYERS {
        return Err(Unsayable::TooManyLayers);
    }
    match pair.unsay_back(here) {
        Some(there) => Ok(!is_native_there(pair, &there, layer + 1)?),
        None => Ok(true),
    }
}

fn is_native_there<P: Pair>(pair: &P, there: &P::There, layer: usize) -> Result<bool, Unsayable> {
    if layer > MAX_LAYERS {
        return Err(Unsayable::TooManyLayers);
    }
    match pair.unsay(there) {
        Some(here) => Ok(!is_native_here(pair, &here, layer + 1)?),
        None => Ok(true),
    }
}
