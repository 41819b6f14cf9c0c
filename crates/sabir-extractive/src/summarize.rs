//! `web.summarize`: the sentences of the page that say the most, in the order of the page, and what
//! makes the capture less than the page. It writes no sentence of its own about the subject.

use sabir_document::Inline;

use crate::draft::{Composer, Draft};
use crate::select::{first_lines, key_passages};
use crate::source::{self, Page, Source};

/// How much of the page is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Concise,
    Detailed,
}

impl Style {
    /// What a task's arguments say; anything that is not known is concise.
    pub fn from_name(name: &str) -> Self {
        match name {
            "detailed" | "long" | "full" => Self::Detailed,
            _ => Self::Concise,
        }
    }

    fn sentences(self) -> usize {
        match self {
            Self::Concise => 5,
            Self::Detailed => 12,
        }
    }
}

pub fn summarize(sources: &[Source], style: Style) -> Draft {
    let reading = source::read(sources, source::TRANSFORM_BYTES);
    let pages = &reading.pages;
    let mut draft = Composer::new(pages);
    let all: Vec<usize> = (0..pages.len()).collect();
    let mut passages = key_passages(pages, &all, style.sentences());
    if passages.is_empty() {
        passages = first_lines(pages, style.sentences());
    }
    draft.heading(2, "Summary");
    if passages.is_empty() {
        draft.sentence("There is no text to summarize: the answer is not in your sources.");
    }
    let items = passages.iter().map(|passage| draft.say(passage)).collect();
    draft.bullets(items);
    let warnings = warnings(pages, reading.cut);
    if !warnings.is_empty() {
        draft.heading(2, "What to verify");
        draft.bullets(warnings.into_iter().map(|warning| vec![Inline::text(warning)]).collect());
    }
    let title = match pages.as_slice() {
        [] => "Summary".to_owned(),
        [first, ..] if same_page(pages) => format!("Summary: {}", first.name()),
        [first, rest @ ..] => format!("Summary: {} and {} more", first.name(), rest.len()),
    };
    draft.finish(title)
}

/// Whether all are pieces of one page.
fn same_page(pages: &[Page<'_>]) -> bool {
    pages
        .windows(2)
        .all(|pair| pair[0].source.url.is_some() && pair[0].source.url == pair[1].source.url)
}

/// What a reader should look at again, because the capture was not the whole page.
pub(crate) fn warnings(pages: &[Page<'_>], cut: bool) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    let mut add = |warning: &str| {
        if !warnings.iter().any(|known| known == warning) {
            warnings.push(warning.to_owned());
        }
    };
    for page in pages {
        for signal in &page.source.signals {
            if let Some(warning) = in_words(signal) {
                add(warning);
            }
        }
        if page.source.partial {
            add("Only a part of the page was captured; the rest may say more.");
        }
    }
    if cut {
        add("A source was too long to be read to its end.");
    }
    warnings
}

fn in_words(signal: &str) -> Option<&'static str> {
    Some(match signal {
        "paywall_or_login" | "paywall" | "auth_gate" | "auth_fields" => {
            "The page asks for a login or a payment; what it shows may be only the beginning."
        }
        "consent_modal" | "consent_overlay" | "overlay_blocking" | "overlay_or_dialog" => {
            "Something lay over the page when it was captured; text may be missing."
        }
        "captcha_or_robot_check" | "robot_check_text" => {
            "The page checked for robots; what was captured may not be the page."
        }
        "sparse_text" | "low_visible_text" => "The page had little text.",
        "non_text_content" | "pdf_viewer" => {
            "The page shows content that is not text, which was not read."
        }
        "cross_origin_iframe" | "closed_shadow_root" | "script_required" => {
            "Parts of the page could not be read."
        }
        "virtualized_list" | "infinite_scroll" => {
            "The page loads more while it is scrolled; only what had been loaded was read."
        }
        "age_gate" | "geo_block" => "The page was not shown in full to everybody.",
        _ => return None,
    })
}
