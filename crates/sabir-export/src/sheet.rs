//! What people read, in whatever form: a title, when it was made, the body, and what it stands on. It
//! knows no form.

use sabir_document::{Block, Inline, is_safe_href};

use crate::clean::one_line;
use crate::{Artifact, Reference};

pub(crate) struct Sheet {
    pub(crate) title: String,
    /// When it was made and how the library calls it, on one line.
    pub(crate) origin: String,
    /// In normal form, so that its depth is bounded.
    pub(crate) body: Vec<Block>,
    pub(crate) references: Vec<Entry>,
    /// What the words mean that stand behind the references.
    pub(crate) legend: Vec<&'static str>,
}

/// A reference as a line.
pub(crate) struct Entry {
    pub(crate) number: u32,
    pub(crate) line: Vec<Inline>,
}

impl Sheet {
    pub(crate) fn of(artifact: &Artifact) -> Self {
        let title = one_line(&artifact.title);
        let title = if title.is_empty() { "Untitled".to_owned() } else { title };
        let mut body = artifact.document.normalised().children;
        // Most documents begin with their title, and nobody wants to read it twice.
        if let Some(Block::Heading { children, .. }) = body.first()
            && one_line(&crate::flat::flatten(children, &mut |_| None)) == title
        {
            body.remove(0);
        }
        let origin = [&artifact.made_at, &artifact.id].map(|part| one_line(part));
        let origin: Vec<String> = origin.into_iter().filter(|part| !part.is_empty()).collect();
        let meanings = MEANINGS.iter().filter(|(status, _)| {
            artifact.references.iter().any(|reference| reference.status == *status)
        });
        Self {
            title,
            origin: origin.join(" · "),
            body,
            references: artifact.references.iter().map(Entry::of).collect(),
            legend: meanings.map(|(_, meaning)| *meaning).collect(),
        }
    }
}

impl Entry {
    fn of(reference: &Reference) -> Self {
        let quote = one_line(&reference.quote);
        let mut line = Vec::new();
        if !quote.is_empty() {
            line.push(Inline::text(format!("“{quote}” ")));
        }
        let url = reference.shown_url().unwrap_or_default();
        let title = one_line(&reference.title);
        let name = if title.is_empty() { one_line(url) } else { title };
        if !name.is_empty() {
            let name = Inline::text(name);
            line.push(match is_safe_href(url) {
                true => Inline::Link { href: url.to_owned(), children: vec![name] },
                false => name,
            });
            line.push(Inline::text(" "));
        }
        let status = one_line(&reference.status.replace('_', " "));
        line.push(Inline::Em { children: vec![Inline::text(format!("({status})"))] });
        Self { number: reference.number, line }
    }
}

const MEANINGS: [(&str, &str); 5] = [
    ("verified", "Verified: the quoted words stand in the source."),
    ("repaired", "Repaired: the quote was nearly right; the source's own words stand here."),
    ("ambiguous", "Ambiguous: the quoted words stand in the source more than once."),
    ("unverified", "Unverified: the quoted words were not found in the source."),
    ("unknown_source", "Unknown source: nothing was collected under that name."),
];
