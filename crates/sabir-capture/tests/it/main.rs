//! The crate as its users see it: the guard, fetching, a real browser.

mod browser;
mod egress;
mod fetch;

mod site;
