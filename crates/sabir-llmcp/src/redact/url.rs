//! Addresses without what lets somebody in: user names, passwords, tokens and the long values that
//! look like them; and without fragments and the marks of advertisers.

use std::borrow::Cow;

use url::{Url, form_urlencoded};

use super::{shape, words};

/// An address that may be kept and passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    pub url: String,
    /// Whether something was left out: the signal `url_redacted`.
    pub changed: bool,
}

/// The address without credentials, fragment and tracking. `None` when it is not of the web.
pub fn redact_url(raw: &str) -> Option<Redacted> {
    let (url, removed) = clean(raw, MAX_NESTING)?;
    Some(Redacted { url: url.into(), changed: removed.credential || removed.other })
}

/// The same for addresses that differ only in what does not change the page: what [`redact_url`]
/// leaves out, where the visitor came from, the order of parameters, a slash at the end.
pub fn normalise_url(raw: &str) -> Option<String> {
    let (mut url, _) = clean(raw, MAX_NESTING)?;
    if let Some(query) = url.query() {
        let mut kept: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.is_empty() && !words::names_referrer(&name_and_value(pair).0))
            .collect();
        kept.sort_unstable();
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(&kept));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    let is_root = path.is_empty() && url.query().is_none();
    let mut url = String::from(url);
    // The root is a slash of its own; one at the end of a query is part of it.
    if is_root {
        url.pop();
    }
    Some(url)
}

/// The address without its credentials, when it has any; for addresses inside of a text, which
/// otherwise stay as they are written.
pub(super) fn without_credentials(raw: &str) -> Option<String> {
    let (url, removed) = clean(raw, MAX_NESTING)?;
    removed.credential.then(|| url.into())
}

#[derive(Default)]
struct Removed {
    credential: bool,
    other: bool,
}

fn clean(raw: &str, nesting: usize) -> Option<(Url, Removed)> {
    let mut url = Url::parse(raw.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let mut removed = Removed::default();
    if !url.username().is_empty() || url.password().is_some() {
        // Both can only fail for addresses without a host, and these have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        removed.credential = true;
    }
    if let Some(fragment) = url.fragment() {
        removed.credential |= fragment.split('&').any(|pair| is_credential(pair, 0));
        removed.other = true;
        url.set_fragment(None);
    }
    if let Some(query) = url.query() {
        let kept = clean_query(query, nesting, &mut removed);
        if kept.len() != query.len() {
            let kept = kept.into_owned();
            url.set_query((!kept.is_empty()).then_some(&kept));
        }
    }
    if let Cow::Owned(path) = clean_path(url.path()) {
        removed.credential = true;
        url.set_path(&path);
    }
    Some((url, removed))
}

/// Some sites separate parameters by semicolons; each separator belongs to the pair behind it.
fn clean_query<'a>(query: &'a str, nesting: usize, removed: &mut Removed) -> Cow<'a, str> {
    let mut kept = String::with_capacity(query.len());
    let mut rest = query;
    let mut any = false;
    while !rest.is_empty() {
        let body = usize::from(rest.starts_with(['&', ';']));
        let end = rest[body..].find(['&', ';']).map_or(rest.len(), |at| body + at);
        let (separator, pair) = (&rest[..body], &rest[body..end]);
        let credential = is_credential(pair, nesting);
        let tracking = sabir_base::is_tracking_name(&name_and_value(pair).0);
        if credential || tracking {
            removed.credential |= credential;
            removed.other |= tracking;
            any = true;
        } else {
            if !kept.is_empty() {
                kept.push_str(separator);
            }
            kept.push_str(pair);
        }
        rest = &rest[end..];
    }
    if any { Cow::Owned(kept) } else { Cow::Borrowed(query) }
}

fn is_credential(pair: &str, nesting: usize) -> bool {
    let (name, value) = name_and_value(pair);
    if value.is_empty() {
        // A flag without a value says nothing, but it may be the value itself.
        return shape::is_opaque(&name) || holds_marked(&name);
    }
    words::names_credential(&name)
        || holds_marked(&value)
        || match is_address(&value) {
            // An address within an address: whatever would be taken out of it goes with it.
            true => nesting == 0 || clean(&value, nesting - 1).is_some_and(|(_, r)| r.credential),
            false => !words::names_item(&name) && shape::is_opaque(&value),
        }
}

fn is_address(value: &str) -> bool {
    let scheme = value.get(..8).unwrap_or(value).to_ascii_lowercase();
    scheme.starts_with("http://") || scheme.starts_with("https://")
}

fn holds_marked(value: &str) -> bool {
    value
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_'))
        .any(|word| shape::marked_credential(word).is_some())
}

fn name_and_value(pair: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    form_urlencoded::parse(pair.as_bytes()).next().unwrap_or_default()
}

/// `;jsessionid=…` behind a segment goes, and a segment that is a credential becomes a word.
fn clean_path(path: &str) -> Cow<'_, str> {
    let suspicious = |segment: &str| segment_ends(segment) < segment.len() || holds_marked(segment);
    if !path.split('/').any(suspicious) {
        return Cow::Borrowed(path);
    }
    let segments: Vec<&str> = path
        .split('/')
        .map(|segment| match holds_marked(segment) {
            true => "redacted",
            false => &segment[..segment_ends(segment)],
        })
        .collect();
    Cow::Owned(segments.join("/"))
}

/// Where the first parameter of a path segment starts that is a credential.
fn segment_ends(segment: &str) -> usize {
    let places = segment.match_indices(';').map(|(at, _)| at);
    let mut credentials =
        places.filter(|at| is_credential(segment[at + 1..].split(';').next().unwrap_or(""), 0));
    credentials.next().unwrap_or(segment.len())
}

/// A link that redirects to a link that redirects. What is deeper goes as a whole.
const MAX_NESTING: usize = 2;
