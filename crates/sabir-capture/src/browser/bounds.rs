//! How far a page may lead once a call has opened it. What that follows from is not known here.

use std::fmt;

use url::Url;

/// Decides about documents, beside the guard: those of a page and of the frames in it, also at each
/// redirect, and for as long as the page is open.
pub trait Bounds: fmt::Debug + Send + Sync {
    /// Whether this document may be asked for. It is asked while the browser waits, so it must not
    /// take long.
    fn admit(&self, url: &Url) -> bool;
}

/// For whoever sets no bounds: the guard alone decides.
#[derive(Debug)]
pub(super) struct Everywhere;

impl Bounds for Everywhere {
    fn admit(&self, _: &Url) -> bool {
        true
    }
}

/// For a tab of which nobody knows where it came from.
#[derive(Debug)]
pub(super) struct Nowhere;

impl Bounds for Nowhere {
    fn admit(&self, _: &Url) -> bool {
        false
    }
}
