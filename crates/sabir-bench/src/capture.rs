//! Reading pages beside the least that it could cost: html5ever's parse of the same text into the
//! tree of dom_query, and nothing done with it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use sabir_capture::{Media, ReadOptions, decode, read_page};
use serde::Serialize;
use url::Url;

use crate::Effort;
use crate::middle::{self, median};

#[derive(Serialize)]
pub(crate) struct Capture {
    pages: Vec<PageRow>,
    median_ratio: f64,
    median_seconds: f64,
}

/// One page.
#[derive(Serialize)]
struct PageRow {
    name: String,
    bytes: usize,
    /// Seconds of the median round.
    bare: f64,
    read: f64,
    ratio: f64,
}

pub(crate) fn measure(effort: Effort) -> anyhow::Result<Capture> {
    let (rounds, slice) = match effort {
        Effort::Quick => (1, Duration::ZERO),
        Effort::Full => (21, Duration::from_millis(2)),
    };
    let base = Url::parse("https://example.org/dir/page.html")?;
    let options = ReadOptions::default();
    let mut pages = Vec::new();
    let made =
        GENERATED_BYTES.map(|bytes| (format!("generated, {} kB", bytes / 1000), generated(bytes)));
    for (name, html) in saved()?.into_iter().chain(made) {
        let bare = || dom_query::Document::from(html.as_str());
        let read = || read_page(&html, &base, &options);
        let [bare, read] = middle::pair(rounds, slice, bare, read);
        pages.push(PageRow { name, bytes: html.len(), bare, read, ratio: read / bare });
    }
    ensure!(pages.len() > 1, "no saved pages to measure");
    let median_of = |of: fn(&PageRow) -> f64| median(pages.iter().map(of).collect());
    let (median_ratio, median_seconds) = (median_of(|row| row.ratio), median_of(|row| row.read));
    Ok(Capture { pages, median_ratio, median_seconds })
}

impl Capture {
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "\n{:<34}{:>10}{:>12}{:>12}{:>12}",
            "read one page", "bytes", "bare us", "read us", "x slower"
        );
        for row in &self.pages {
            let _ = writeln!(
                out,
                "{:<34}{:>10}{:>12.0}{:>12.0}{:>12.2}",
                row.name,
                row.bytes,
                row.bare * 1e6,
                row.read * 1e6,
                row.ratio,
            );
        }
        let _ = writeln!(
            out,
            "median of the pages: {:.0} us, {:.2} times the bare parse",
            self.median_seconds * 1e6,
            self.median_ratio
        );
        let _ = writeln!(out, "(x slower: than html5ever's parse into the tree of dom_query)");
        out
    }
}

/// The pages that the tests of capture are made of, as texts.
fn saved() -> anyhow::Result<Vec<(String, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGES);
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_page = |ending: &std::ffi::OsStr| ending == "html" || ending == "xhtml";
        if path.extension().is_some_and(is_page) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, decode(&bytes, None, Media::Html)))
    };
    paths.into_iter().map(read).collect()
}

/// A manual as programs write them: sections, lists, tables, code and links.
fn generated(bytes: usize) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=en><head><title>The manual</title></head><body>\
         <nav><ul><li><a href=/>Home</a></li></ul></nav><main><h1>The manual</h1>",
    );
    for number in 1.. {
        if html.len() >= bytes {
            break;
        }
        let _ = write!(
            html,
            "<h2 id=s{number}>Part {number}</h2>\
             <p>The port of part {number} was dredged twice, <em>and</em> its keeper wrote of it to \
             <a href=\"/letters/{number}\">the harbour office</a>, which kept the letter. Nobody \
             answered for a year, so that he wrote again, at <strong>greater length</strong>.</p>\
             <ul><li>oil &amp; wine</li><li>cloth, in {number} bales</li></ul>\
             <table><tr><th>Year<th>Ships</tr><tr><td>1{number}<td>{number}</tr></table>\
             <pre><code class=\"language-rust\">let ships = {number};\nprint(ships);</code></pre>"
        );
    }
    html + "</main><footer>Printed by nobody</footer></body></html>"
}

const PAGES: &str = "../sabir-capture/tests/data/pages/in";

/// The saved pages are small, because people read them: these are as large as pages are, and as the
/// largest that anybody reads.
const GENERATED_BYTES: [usize; 3] = [20_000, 200_000, 2_000_000];
