//! What is handed on, and in which form.

use std::fmt;

use sabir_document::Document;

use crate::sheet::Sheet;
use crate::{csv, json, markdown, pdf, text};

/// Something that was made, with what it stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// As the library calls it.
    pub id: String,
    pub title: String,
    pub document: Document,
    /// In the order of their numbers.
    pub references: Vec<Reference>,
    /// A time as people write it.
    pub made_at: String,
}

/// A citation that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// As the document marks it, from 1.
    pub number: u32,
    pub quote: String,
    /// `verified`, `repaired`, `ambiguous`, `unverified` or `unknown_source`.
    pub status: String,
    /// Of the source.
    pub title: String,
    /// Where the words stand.
    pub url: Option<String>,
}

impl Reference {
    /// Where the words stand, as far as others should know: of what is no address of the web the
    /// name, because where a file lies is nobody's business.
    pub(crate) fn shown_url(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        match url.starts_with("http://") || url.starts_with("https://") {
            true => Some(url),
            false => url.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()),
        }
    }
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Text,
    Json,
    Csv,
    Pdf,
}

impl Format {
    /// What a file of this form is called at its end.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Text => "txt",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Pdf => "pdf",
        }
    }
}

/// Why there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportError {
    /// The document cannot be laid out.
    Layout { reason: String },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout { reason } => write!(f, "the pages cannot be laid out: {reason}"),
        }
    }
}

impl std::error::Error for ExportError {}

/// The artifact as bytes of a file.
pub fn export(artifact: &Artifact, format: Format) -> Result<Vec<u8>, ExportError> {
    match format {
        Format::Markdown => Ok(markdown::write(&Sheet::of(artifact)).into_bytes()),
        Format::Text => Ok(text::write(&Sheet::of(artifact)).into_bytes()),
        Format::Json => Ok(json::write(artifact).into_bytes()),
        Format::Csv => csv::write(artifact),
        Format::Pdf => export_pdf(artifact, &[]),
    }
}

/// The artifact as a PDF file. Characters that the built-in fonts lack are looked up in `fallback`,
/// font files of the caller, in their order; what is no font is passed over.
pub fn export_pdf(artifact: &Artifact, fallback: &[Vec<u8>]) -> Result<Vec<u8>, ExportError> {
    pdf::write(&Sheet::of(artifact), fallback)
}
