//! Sources in, cited answers out: the commands around collections.

pub(crate) mod ask;
pub(crate) mod capture;
mod cited;
pub(crate) mod collection;
pub(crate) mod desk;
pub(crate) mod page;
mod petition;
mod progress;
pub(crate) mod render;
pub(crate) mod search;
pub(crate) mod share;
pub(crate) mod transform;
mod versions;
