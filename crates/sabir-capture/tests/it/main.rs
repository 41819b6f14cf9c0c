//! The crate as its users see it: the guard, fetching, pages, safe HTML, a real browser.

mod browser;
mod egress;
mod fetch;
mod hiding;
mod hostile;
mod pages;
mod pdf;
mod render;
mod rules;
mod site;
