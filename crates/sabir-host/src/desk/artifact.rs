//! What is made of a collection and handed on: transforms, and files in the formats that others
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sabir_base::text::one_line;
use sabir_document::{Cites, Document};
use sabir_export::{Artifact as Exported, Format, Reference, export, file_name};
use sabir_llmcp::{Task, TaskName};
use sabir_store::Hash;
use sabir_store::library::{
    ArtifactId, ArtifactStatus, Begun, CollectionId, Fault, MAX_TITLE, NewArtifact, SourceId,
    Worker,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::{Answered, Errand, ToolSet, Wanted};
use super::cited::Cited;
use super::moment::{now_ms, written};
use super::{Desk, DeskError};

/// What can be made of a collection.
pub fn transform_kinds() -> Vec<&'static str> {
    sabir_extractive::Artifact::ALL.iter().map(|kind| kind.name()).collect()
}

/// An artifact that was just made.
#[derive(Debug, Clone)]
pub struct Made {
    pub id: ArtifactId,
    pub title: String,
    pub answered: Answered,
}

/// What an artifact is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareFormat {
    Markdown,
    Text,
    Json,
    Csv,
    Pdf,
}

/// An artifact as a file.
#[derive(Debug, Clone)]
pub struct Shared {
    pub bytes: Vec<u8>,
    /// A name that is safe on any system.
    pub file_name: String,
}

impl From<sabir_llmcp::ShareFormat> for ShareFormat {
    fn from(format: sabir_llmcp::ShareFormat) -> Self {
        match format {
            sabir_llmcp::ShareFormat::Markdown => Self::Markdown,
            sabir_llmcp::ShareFormat::Text => Self::Text,
            sabir_llmcp::ShareFormat::Json => Self::Json,
            sabir_llmcp::ShareFormat::Csv => Self::Csv,
            sabir_llmcp::ShareFormat::Pdf => Self::Pdf,
        }
    }
}

impl ShareFormat {
    fn exported(self) -> Format {
        match self {
            Self::Markdown => Format::Markdown,
            Self::Text => Format::Text,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::Pdf => Format::Pdf,
        }
    }
}

impl Desk {
    /// Makes an artifact of a collection's sources.
    pub async fn transform(
        &self,
        collection: &CollectionId,
        kind: &str,
        config: &Map<String, Value>,
        stop: &CancellationToken,
    ) -> Result<Made, DeskError> {
        if !transform_kinds().contains(&kind) {
            let known = transform_kinds().join(", ");
            return Err(DeskError::refused(format!("{kind:?} cannot be made, only {known}")));
        }
        let id = collection.clone();
        let collection = self.with_library(move |library| library.collection(&id)).await?;
        let context = self.context_of(&collection).await?;
        if context.texts.is_empty() {
            let title = &collection.title;
            return Err(DeskError::refused(format!("{title:?} has no captured source yet")));
        }
        let title = format!("{}: {}", collection.title, kind.replace('_', " "));
        let title = one_line(&title, MAX_TITLE - 1);
        let source_ids =
            context.texts.iter().filter_map(|text| SourceId::parse(&text.id)).collect();
        let new = NewArtifact {
            collection_id: Some(collection.id.clone()),
            kind: kind.to_owned(),
            title: title.clone(),
            tags: collection.tags.clone(),
            source_ids,
            config: Value::Object(config.clone()).to_string(),
            dedupe_key: Some(same_work(&collection.id, kind, config)),
        };
        let (worker, begun) = self
            .with_library(move |library| {
                let worker = Worker::start(library)?;
                let begun = worker.begin_artifact(&new, now_ms())?;
                Ok((worker, begun))
            })
            .await?;
        let id = match begun {
            Begun::Started(id) => id,
            Begun::AlreadyRunning(id) => {
                return Err(DeskError::refused(format!("the same is being made just now: {id}")));
            }
        };
        let mut args = Map::new();
        args.insert("type".to_owned(), json!(kind));
        args.insert("config".to_owned(), Value::Object(config.clone()));
        let question = format!("make a {} of these sources", kind.replace('_', " "));
        let wanted = Wanted {
            question: &question,
            task: Task { name: TaskName::Transform, args },
            tools: ToolSet::None,
            context,
            errand: Errand {
                collection: Some(collection.id.clone()),
                chat: None,
                artifact: Some(id.clone()),
            },
            person: None,
        };
        match self.perform(wanted, stop).await {
            Ok(outcomes) => {
                let answered = outcomes.answered;
                let markdown = answered.document.to_markdown();
                let citations: Vec<_> = answered.citations.iter().map(Cited::to_keep).collect();
                let artifact = id.clone();
                let finished = self.with_library(move |_| {
                    worker.finish_artifact(&artifact, &markdown, &citations, now_ms())
                });
                match finished.await? {
                    true => Ok(Made { id, title, answered }),
                    false => Err(DeskError::refused(format!("{id} was cancelled meanwhile"))),
                }
            }
            Err(error) => {
                let fault = Fault::new(error.code(), error.to_string());
                self.with_library(move |_| worker.fail_artifact(&id, &fault, now_ms())).await?;
                Err(error)
            }
        }
    }

    /// An artifact as a file.
    pub async fn share(&self, id: &ArtifactId, format: ShareFormat) -> Result<Shared, DeskError> {
        let wanted = id.clone();
        let (artifact, citations, titles) = self
            .with_library(move |library| {
                let citations = library.citations_of_artifact(&wanted)?;
                let ids = citations.iter().filter_map(|it| SourceId::parse(&it.source_id));
                let ids: BTreeSet<SourceId> = ids.collect();
                // One that was removed since has no title any more.
                let sources = ids.iter().filter_map(|id| library.source(id).ok());
                let titles: BTreeMap<String, String> =
                    sources.map(|source| (source.id.to_string(), source.title)).collect();
                Ok((library.artifact(&wanted)?, citations, titles))
            })
            .await?;
        let state = match artifact.status {
            ArtifactStatus::Completed => None,
            ArtifactStatus::Running => Some("is still being made"),
            ArtifactStatus::Failed => Some("could not be made"),
            ArtifactStatus::Cancelled => Some("was cancelled"),
        };
        if let Some(state) = state {
            let why = artifact.fault.map_or_else(String::new, |fault| format!(": {}", fault.text));
            return Err(DeskError::refused(format!("{} {state}{why}", artifact.id)));
        }
        let references = citations
            .into_iter()
            .map(|citation| Reference {
                number: u32::try_from(citation.position).unwrap_or(u32::MAX),
                quote: citation.quote,
                status: citation.status.as_str().to_owned(),
                title: titles.get(&citation.source_id).cloned().unwrap_or_default(),
                url: citation.text_fragment.or(citation.address),
            })
            .collect::<Vec<_>>();
        let cites = u32::try_from(references.len()).unwrap_or(u32::MAX);
        let exported = Exported {
            title: artifact.title.clone(),
            document: Document::from_cited_markdown(&artifact.markdown, Cites::Upto(cites)),
            references,
            made_at: written(artifact.updated_at_ms),
            id: artifact.id.to_string(),
        };
        let format = format.exported();
        // Laying out hundreds of pages takes a moment.
        let bytes = tokio::task::spawn_blocking(move || export(&exported, format)).await;
        let bytes = bytes.map_err(|error| DeskError::Export { reason: error.to_string() })?;
        let bytes = bytes.map_err(|error| DeskError::Export { reason: error.to_string() })?;
        Ok(Shared { bytes, file_name: file_name(&artifact.title, format) })
    }
}

/// Writes a file that was not there before, into this very folder: a name from a model or a page
/// does not choose another one, and nothing is overwritten.
pub fn write_new(
    folder: &Path,
    name: &str,
    format: ShareFormat,
    bytes: &[u8],
) -> Result<PathBuf, DeskError> {
    let name = file_name(name, format.exported());
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let wrong = |error: std::io::Error| DeskError::Export { reason: error.to_string() };
    for number in 1..=MOST_COPIES {
        let name = match number {
            1 => name.clone(),
            _ => format!("{stem}-{number}.{extension}"),
        };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes).and_then(|()| file.sync_all()).map_err(wrong)?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(wrong(error)),
        }
    }
    Err(DeskError::Export { reason: format!("there are {MOST_COPIES} files of that name") })
}

/// The same for the same work, so that two do not do it at the same time.
fn same_work(collection: &CollectionId, kind: &str, config: &Map<String, Value>) -> String {
    let work = json!(["transform", collection, kind, config]).to_string();
    Hash::of(work.as_bytes()).to_string()
}

const MOST_COPIES: usize = 100;
