//! `transform.run`: a collection as a comparison, a timeline, a brief, a report, an outline, a study
//! guide, a quiz or flashcards. One file each; all of them select, none of them writes.

use sabir_document::Inline;

use crate::draft::{Composer, Draft};
use crate::source::{self, Page, Source};

mod brief;
mod cloze;
mod comparison;
mod definition;
mod flashcards;
mod outline;
mod quiz;
mod report;
mod study_guide;
mod timeline;

/// What can be made of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    Comparison,
    Timeline,
    ExecutiveBrief,
    Report,
    Outline,
    StudyGuide,
    Quiz,
    Flashcards,
}

impl Artifact {
    pub const ALL: [Self; 8] = [
        Self::Comparison,
        Self::Timeline,
        Self::ExecutiveBrief,
        Self::Report,
        Self::Outline,
        Self::StudyGuide,
        Self::Quiz,
        Self::Flashcards,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Timeline => "timeline",
            Self::ExecutiveBrief => "executive_brief",
            Self::Report => "report",
            Self::Outline => "outline",
            Self::StudyGuide => "study_guide",
            Self::Quiz => "quiz",
            Self::Flashcards => "flashcards",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|artifact| artifact.name() == name)
    }

    fn title(self) -> &'static str {
        match self {
            Self::Comparison => "Comparison",
            Self::Timeline => "Timeline",
            Self::ExecutiveBrief => "Executive brief",
            Self::Report => "Report",
            Self::Outline => "Outline",
            Self::StudyGuide => "Study guide",
            Self::Quiz => "Quiz",
            Self::Flashcards => "Flashcards",
        }
    }

    /// How many entries there are when nobody says.
    fn usual_count(self) -> usize {
        match self {
            Self::Comparison | Self::ExecutiveBrief | Self::Report => 6,
            Self::Timeline => 40,
            Self::Outline => 60,
            Self::StudyGuide | Self::Quiz => 10,
            Self::Flashcards => 20,
        }
    }
}

/// Makes an artifact of the sources. `count` is how many entries it should have: dates, questions,
/// cards, aspects, points.
pub fn transform(sources: &[Source], artifact: Artifact, count: Option<usize>) -> Draft {
    let reading = source::read(sources, source::TRANSFORM_BYTES);
    let pages = &reading.pages;
    let count = count.unwrap_or(artifact.usual_count()).clamp(1, MOST);
    let mut draft = Composer::new(pages);
    match artifact {
        Artifact::Comparison => comparison::compose(pages, count, &mut draft),
        Artifact::Timeline => timeline::compose(pages, count, &mut draft),
        Artifact::ExecutiveBrief => brief::compose(pages, count, reading.cut, &mut draft),
        Artifact::Report => report::compose(pages, count, &mut draft),
        Artifact::Outline => outline::compose(pages, count, &mut draft),
        Artifact::StudyGuide => study_guide::compose(pages, count, &mut draft),
        Artifact::Quiz => quiz::compose(pages, count, &mut draft),
        Artifact::Flashcards => flashcards::compose(pages, count, &mut draft),
    }
    draft.notice(reading.cut);
    let title = match pages.as_slice() {
        [only] => format!("{}: {}", artifact.title(), only.name()),
        _ => format!("{} of {} sources", artifact.title(), pages.len()),
    };
    draft.finish(title)
}

/// A list of the sources, so that the artifact can be read alone.
fn list_sources(pages: &[Page<'_>], draft: &mut Composer<'_, '_>) {
    draft.heading(2, "Sources");
    let mut items: Vec<Vec<Inline>> = pages
        .iter()
        .take(LISTED)
        .map(|page| {
            match page.source.url.as_deref().filter(|url| sabir_document::is_safe_href(url)) {
                Some(url) => vec![Inline::Link {
                    href: url.to_owned(),
                    children: vec![Inline::text(crate::draft::one_line(page.name(), 120))],
                }],
                None => vec![Inline::text(crate::draft::one_line(page.name(), 120))],
            }
        })
        .collect();
    if pages.len() > LISTED {
        items.push(vec![Inline::text(format!("and {} more", pages.len() - LISTED))]);
    }
    draft.bullets(items);
}

/// As many as can be cited.
const MOST: usize = 100;

/// A longer list is a page of its own.
const LISTED: usize = 50;
