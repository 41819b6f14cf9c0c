//! What is handed on, and in which form.

use std::fmt;

use sabir_document::Document;

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
        Format::Markdown => Ok(artifact.document.to_markdown().into_bytes()),
        Format::Text | Format::Json | Format::Csv | Format::Pdf => {
            Err(ExportError::Layout { reason: "not written yet".to_owned() })
        }
    }
}
