//! Pages in: the egress guard, fetching, HTML and PDF to Markdown, a real browser. And Markdown to
//! safe HTML. It knows no collection and no policy.

mod browser;
mod egress;
mod fetch;
mod proxy;

pub use browser::{
    Acted, Block, Browser, BrowserError, BrowserLimits, BrowserOptions, Choice, Comment, Content,
    Element, Item, Notice, Observation, ObserveOptions, OutlineEntry, Primary, Scrolled,
    SearchEngines, SearchIn, SelectionLink, TabInfo, ToolCode, ToolError, Window,
};
pub use egress::{
    Guard, HostPort, HostPortError, Reason, Refused, Resolver, Resolving, Rules, SystemResolver,
    Target,
};
pub use fetch::{Conditional, FetchError, FetchLimits, Fetched, Fetcher};
