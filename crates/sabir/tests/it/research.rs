//! Sources in, cited answers out, through the built program: pages on loopback, a scripted model,
//! real files.

mod ask;
mod capture;
mod denied;
mod exports;
mod gate;
mod injection;
mod kill;
mod led;
mod page;
mod shown;
mod study;
mod tools;
