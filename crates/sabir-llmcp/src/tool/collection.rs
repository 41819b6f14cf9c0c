//! Arguments of the tools for collections, their sources, and what is made of them.

use serde_json::{Map, Value};

use super::artifact::{Tags, Title};
use super::browser::Size;
use crate::value::{CollectionId, List, SourceId, Text, WebUrl};
use crate::wire::{choice, record, tagged};

record! {
    /// Make a collection.
    pub struct CreateCollection {
        "title" needed title: Title,
        "tags" optional tags: Tags,
    }
}

record! {
    /// Put pages or notes into a collection.
    pub struct AddSources {
        "collectionId" needed collection_id: CollectionId,
        "sources" needed sources: List<NewSource, 1, 100>,
    }
}

tagged! {
    /// What goes into a collection.
    pub enum NewSource by "type" {
        Url(UrlSource) "url",
        Note(NoteSource) "note",
    }
}

record! {
    /// A page, to be captured.
    pub struct UrlSource {
        "url" needed url: WebUrl,
        "title" optional title: Option<Title>,
    }
}

record! {
    /// A text of the user's own.
    pub struct NoteSource {
        "title" optional title: Option<Title>,
        "text" needed text: Text<200_000>,
    }
}

record! {
    /// List the sources of a collection.
    pub struct ListSources {
        "collectionId" needed collection_id: CollectionId,
    }
}

record! {
    /// Capture a page into a collection.
    pub struct CaptureSource {
        "collectionId" needed collection_id: CollectionId,
        "url" needed url: WebUrl,
        "mode" optional mode: Option<CaptureMode>,
        "maxChars" optional max_chars: Option<Size>,
    }
}

choice! {
    /// What a page is taken for.
    pub enum CaptureMode {
        Auto "auto",
        Article "article",
        List "list",
    }
}

record! {
    /// Capture a source again.
    pub struct RefreshSource {
        "sourceId" needed source_id: SourceId,
    }
}

record! {
    /// List what can be made of a collection.
    pub struct ListTransforms {}
}

record! {
    /// Make an artifact of a collection.
    pub struct RunTransform {
        "collectionId" needed collection_id: CollectionId,
        "type" needed transform: Text<100>,
        "config" optional config: Map<String, Value>,
    }
}
