//! Pages in: the egress guard, fetching, HTML and PDF to Markdown, a real browser. And Markdown to
//! safe HTML. It knows no collection and no policy.

mod egress;
mod fetch;

pub use egress::{
    Guard, HostPort, HostPortError, Reason, Refused, Resolver, Resolving, Rules, SystemResolver,
    Target,
};
pub use fetch::{Conditional, FetchError, FetchLimits, Fetched, Fetcher};
