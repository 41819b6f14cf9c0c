//! Signs that a page shows less than it has, or something else. They are guesses from what is in the
//! page; none of them changes what is captured.

use dom_query::{Document, NodeRef};
use serde::Serialize;
use url::Url;

/// What may be in the way of reading a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    PaywallOrLogin,
    ConsentModal,
    CaptchaOrRobotCheck,
    OverlayBlocking,
    SparseText,
    NonTextContent,
    CrossOriginIframe,
    ClosedShadowRoot,
    VirtualizedList,
    InfiniteScroll,
    PdfViewer,
    UrlRedacted,
    AgeGate,
    GeoBlock,
    ScriptRequired,
    /// There was more in the page's sheets than is read: words that nobody sees may be among the
    /// others, or some that are seen may be missing.
    StylesUnread,
}

impl Signal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PaywallOrLogin => "paywall_or_login",
            Self::ConsentModal => "consent_modal",
            Self::CaptchaOrRobotCheck => "captcha_or_robot_check",
            Self::OverlayBlocking => "overlay_blocking",
            Self::SparseText => "sparse_text",
            Self::NonTextContent => "non_text_content",
            Self::CrossOriginIframe => "cross_origin_iframe",
            Self::ClosedShadowRoot => "closed_shadow_root",
            Self::VirtualizedList => "virtualized_list",
            Self::InfiniteScroll => "infinite_scroll",
            Self::PdfViewer => "pdf_viewer",
            Self::UrlRedacted => "url_redacted",
            Self::AgeGate => "age_gate",
            Self::GeoBlock => "geo_block",
            Self::ScriptRequired => "script_required",
            Self::StylesUnread => "styles_unread",
        }
    }
}

/// What the tree shows of them before scripts and what is hidden are taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    has_scripts: bool,
    has_shadow_root: bool,
    has_media: bool,
    shows_pdf: bool,
}

impl Raw {
    pub(crate) fn of(dom: &Document) -> Self {
        let mut raw = Self::default();
        for node in dom.root().descendants_it() {
            let Some(name) = node.qual_name_ref().map(|name| name.local.clone()) else { continue };
            match &*name {
                "script" => raw.has_scripts = true,
                "template" if node.has_attr("shadowrootmode") => raw.has_shadow_root = true,
                "video" | "audio" | "canvas" => raw.has_media = true,
                "embed" | "object" | "iframe" => {
                    let address = node.attr("src").or_else(|| node.attr("data"));
                    raw.shows_pdf |= address.is_some_and(|address| is_pdf(&address))
                        || node.attr("type").is_some_and(|kind| &*kind == "application/pdf");
                }
                _ => {}
            }
        }
        raw
    }
}

/// The signals of a page whose tree is free of what is hidden, and still has its boxes and frames.
pub(crate) fn signals(raw: &Raw, dom: &Document, page: &Url) -> Vec<Signal> {
    let Some(body) = dom.body() else { return vec![Signal::SparseText] };
    let mut seen = Seen::default();
    let mut words = String::new();
    for node in body.descendants_it() {
        look(&node, page, &mut seen);
    }
    for word in body.text().split_whitespace() {
        words.push_str(&word.to_lowercase());
        words.push(' ');
        if words.len() > MOST_WORDS {
            break;
        }
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    // A letter of Chinese or Japanese says as much as half a word.
    let weight = |c: char| if c >= '\u{2E80}' { 3 } else { 1 };
    let letters: usize = words.chars().filter(|c| !c.is_whitespace()).map(weight).sum();
    let is_short = letters < SHORT;
    let is_empty = letters < SPARSE;

    let mut signals = Vec::new();
    let mut add = |holds: bool, signal| signals.extend(holds.then_some(signal));
    add(
        seen.paywall || (is_short && (seen.password || says(LOGIN))) || says(PAYWALL),
        Signal::PaywallOrLogin,
    );
    add(seen.consent, Signal::ConsentModal);
    add(seen.captcha || (is_short && says(ROBOT)), Signal::CaptchaOrRobotCheck);
    add(seen.modal && !seen.consent, Signal::OverlayBlocking);
    add(is_empty, Signal::SparseText);
    add(is_empty && (raw.has_media || seen.pictures > 2), Signal::NonTextContent);
    add(seen.foreign_frame, Signal::CrossOriginIframe);
    add(raw.has_shadow_root, Signal::ClosedShadowRoot);
    add(seen.virtual_list, Signal::VirtualizedList);
    add(seen.endless, Signal::InfiniteScroll);
    add(raw.shows_pdf, Signal::PdfViewer);
    add(is_short && says(AGE), Signal::AgeGate);
    add(is_short && says(PLACE), Signal::GeoBlock);
    add(
        raw.has_scripts && is_empty && (seen.noscript || seen.app_root || says(SCRIPT)),
        Signal::ScriptRequired,
    );
    signals
}

#[derive(Default)]
struct Seen {
    paywall: bool,
    password: bool,
    consent: bool,
    captcha: bool,
    modal: bool,
    foreign_frame: bool,
    virtual_list: bool,
    endless: bool,
    noscript: bool,
    app_root: bool,
    pictures: usize,
}

fn look(node: &NodeRef<'_>, page: &Url, seen: &mut Seen) {
    let Some(element) = node.element_ref() else { return };
    let attribute = |name: &str| {
        element.attrs.iter().find(|attr| *attr.name.local == *name).map(|attr| &*attr.value)
    };
    let names = format!(
        "{} {}",
        attribute("class").unwrap_or_default(),
        attribute("id").unwrap_or_default()
    )
    .to_ascii_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| names.contains(word));
    let is_dialog = attribute("aria-modal") == Some("true")
        || matches!(attribute("role"), Some("dialog" | "alertdialog"))
        || *element.name.local == *"dialog";
    let is_consent = named(&[
        "cookie-consent",
        "cookieconsent",
        "cookie-banner",
        "cookie-notice",
        "consent-modal",
        "consent-banner",
        "onetrust",
        "gdpr",
        "cmp-container",
    ]);
    seen.consent |= is_consent
        || (is_dialog && {
            let text = node.text().to_lowercase();
            text.contains("cookie") || text.contains("consent")
        });
    seen.modal |= is_dialog;
    seen.paywall |= named(&["paywall", "regwall", "metered-content", "subscriber-only"]);
    seen.captcha |= named(&["g-recaptcha", "h-captcha", "cf-turnstile", "cf-challenge", "captcha"]);
    seen.virtual_list |= named(&["virtualized", "virtual-list", "virtual-scroll"]);
    seen.endless |= named(&["infinite-scroll", "infinitescroll"])
        || element.attrs.iter().any(|attr| attr.name.local.contains("infinite-scroll"));
    match &*element.name.local {
        "input" => seen.password |= attribute("type").is_some_and(|kind| kind == "password"),
        "img" | "picture" => seen.pictures += 1,
        "noscript" => seen.noscript = true,
        "div" if matches!(attribute("id"), Some("root" | "app" | "__next" | "__nuxt")) => {
            seen.app_root = true;
        }
        "iframe" | "frame" => {
            let target = attribute("src").and_then(|address| page.join(address).ok());
            seen.foreign_frame |= target.is_some_and(|target| {
                matches!(target.scheme(), "http" | "https") && target.origin() != page.origin()
            });
            seen.captcha |= attribute("src").is_some_and(|address| address.contains("captcha"));
        }
        _ => {}
    }
}

fn is_pdf(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.to_ascii_lowercase().ends_with(".pdf")
}

/// Letters of a page that is nearly all notice.
const SHORT: usize = 1_500;
const SPARSE: usize = 200;
/// What is said further down is not said about the page.
const MOST_WORDS: usize = 100_000;

const LOGIN: &[&str] = &[
    "log in to continue",
    "sign in to continue",
    "please log in",
    "please sign in",
    "you must be logged in",
    "create a free account to",
];
const PAYWALL: &[&str] = &[
    "subscribe to continue reading",
    "subscribe to read",
    "this article is for subscribers",
    "to continue reading, subscribe",
    "already a subscriber? log in",
    "become a member to read",
];
const ROBOT: &[&str] = &[
    "are you a robot",
    "not a robot",
    "verify you are human",
    "checking your browser",
    "unusual traffic",
    "complete the captcha",
    "access denied",
];
const AGE: &[&str] = &[
    "you must be 18",
    "you must be 21",
    "over 18",
    "confirm your age",
    "verify your age",
    "of legal drinking age",
    "age verification",
];
const PLACE: &[&str] = &[
    "not available in your country",
    "not available in your region",
    "not available in your location",
    "unavailable in your country",
];
const SCRIPT: &[&str] = &[
    "enable javascript",
    "requires javascript",
    "javascript is disabled",
    "turn on javascript",
    "javascript to run",
];
