//! The client of one delegate.

mod badly;
mod cards;
mod sessions;
mod streams;
mod tls;
