//! Arguments of the tools that keep and pass on what was made, and of the one that calculates.

use serde_json::{Map, Value};

use crate::value::{ArtifactId, List, Text, Whole};
use crate::wire::{choice, record};

record! {
    /// Save Markdown as an artifact.
    pub struct SaveArtifact {
        "title" needed title: Title,
        "markdown" needed markdown: String,
        "tags" optional tags: Tags,
        "redaction" optional redaction: Option<Redaction>,
    }
}

choice! {
    /// Whether what looks like a secret is taken out before saving.
    pub enum Redaction {
        Default "default",
        None "none",
    }
}

record! {
    /// Give an artifact to the user in a format.
    pub struct ShareArtifact {
        "artifactId" needed artifact_id: ArtifactId,
        "format" needed format: ShareFormat,
        "filename" optional filename: Option<Text<255>>,
        "target" optional target: Option<ShareTarget>,
    }
}

choice! {
    /// What an artifact is shared as.
    pub enum ShareFormat {
        Markdown "markdown",
        Text "text",
        Json "json",
        Csv "csv",
        Pdf "pdf",
    }
}

choice! {
    /// Where an artifact is shared to.
    pub enum ShareTarget {
        ShareSheet "share_sheet",
        Clipboard "clipboard",
        File "file",
    }
}

record! {
    /// Show an artifact.
    pub struct OpenArtifact {
        "artifactId" needed artifact_id: ArtifactId,
        "target" optional target: Option<OpenTarget>,
        "newTab" optional new_tab: Option<bool>,
    }
}

choice! {
    /// Where an artifact is shown.
    pub enum OpenTarget {
        Workspace "workspace",
        Browser "browser",
    }
}

record! {
    /// Run an operation of another program that the user has connected.
    pub struct InvokeIntegration {
        "integration" needed integration: Text<200>,
        "operation" needed operation: Text<200>,
        "payload" needed payload: Map<String, Value>,
        "idempotencyKey" optional idempotency_key: Option<Text<256>>,
    }
}

record! {
    /// Calculate exactly with decimal numbers.
    pub struct Calculate {
        "expression" needed expression: Text<1_000>,
        /// Digits after the point.
        "precision" optional precision: Option<Whole<0, 6>>,
    }
}

/// What something is called.
pub(crate) type Title = Text<500>;
pub(crate) type Tags = List<Text<100>, 0, 64>;
