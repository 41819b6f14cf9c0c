//! What is shown, a file for each thing: requests in, JSON out.

pub(crate) mod artifacts;
pub(crate) mod ask;
pub(crate) mod capture;
mod cited;
pub(crate) mod collections;
pub(crate) mod decisions;
pub(crate) mod delegates;
pub(crate) mod inbox;
pub(crate) mod journals;
pub(crate) mod me;
pub(crate) mod orders;
pub(crate) mod policy;
pub(crate) mod sessions;
pub(crate) mod usage;
pub(crate) mod versions;
