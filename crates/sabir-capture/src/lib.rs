//! Pages in: the egress guard, fetching, HTML and PDF to Markdown, a real browser. And Markdown to
//! safe HTML. It knows no collection and no policy.

mod browser;
mod egress;
mod fetch;
mod html;
mod links;
mod page;
mod pdf;
mod proxy;
mod readable;
mod render;
mod signals;

pub use egress::{
    Denials, Guard, HostPort, HostPortError, Reason, Refused, Resolver, Resolving, Rules,
    SystemResolver, Target,
};

pub use fetch::{Conditional, FetchError, FetchLimits, Fetched, Fetcher, Poster, Redirects};

pub use html::invisible::visible_text;
pub use links::Link;
pub use page::{
    DEFAULT_CHARS, MAX_CHARS, MIN_CHARS, Media, Mode, Page, PageError, ReadOptions, decode,
    read_bytes, read_page,
};
pub use pdf::{PdfError, PdfLimits, PdfReader, PdfText, run_pdf_child};
pub use render::{markdown_to_safe_html, to_safe_html};
pub use signals::Signal;

pub use browser::{
    Acted, Block, Bounded, Bounds, Browser, BrowserError, BrowserLimits, BrowserOptions, Choice,
    Comment, Content, Element, Item, Notice, Observation, ObserveOptions, OutlineEntry, Primary,
    Scrolled, SearchEngines, SearchIn, SelectionLink, TabInfo, ToolCode, ToolError, Window,
    installed_browser,
};
