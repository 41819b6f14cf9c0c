//! The files of the page, which are part of the program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

struct Asset {
    bytes: &'static [u8],
    kind: &'static str,
    etag: HeaderValue,
}

pub(crate) async fn index(headers: HeaderMap) -> Response {
    answer("index.html", &headers)
}

pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    answer(&name, &headers)
}

fn answer(name: &str, headers: &HeaderMap) -> Response {
    let Some(asset) = ALL.get(name) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    // It may be kept, and is asked for each time: another program may serve here tomorrow.
    let fresh: [(HeaderName, HeaderValue); 2] =
        [(CACHE_CONTROL, HeaderValue::from_static("no-cache")), (ETAG, asset.etag.clone())];
    let known = headers.get_all(IF_NONE_MATCH).into_iter().filter_map(|it| it.to_str().ok());
    let etag = asset.etag.to_str().unwrap_or_default();
    if known.flat_map(|it| it.split(',')).any(|it| it.trim().trim_start_matches("W/") == etag) {
        return (StatusCode::NOT_MODIFIED, fresh).into_response();
    }
    (fresh, [(CONTENT_TYPE, asset.kind)], asset.bytes).into_response()
}

static ALL: LazyLock<BTreeMap<&'static str, Asset>> = LazyLock::new(|| {
    EMBEDDED.iter().map(|(name, bytes)| (*name, Asset::new(name, bytes))).collect()
});

const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

impl Asset {
    fn new(name: &str, bytes: &'static [u8]) -> Self {
        let digest = Sha256::digest(bytes);
        let short: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let etag = HeaderValue::try_from(format!("\"{short}\""));
        let etag = etag.unwrap_or(HeaderValue::from_static("\"\""));
        Self { bytes, kind: kind_of(name), etag }
    }
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}
