//! Sources in, cited answers out, through the built program: pages on loopback, a scripted model,
//! real files.

mod ask;
mod capture;
mod denied;
mod exports;
mod gate;
pub(crate) mod injection;
mod kill;
mod led;
mod page;
mod shown;
pub(crate) mod study;
mod tools;
