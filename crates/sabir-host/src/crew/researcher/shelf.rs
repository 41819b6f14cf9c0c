//! Which collection a task is about.

use sabir_base::text::one_line;
use sabir_store::library::{Collection, Library, LibraryError, Matching, SearchRequest};

use super::request::Request;
use crate::clock::now_ms;

/// The collections that the researcher may touch.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    /// By title or id; all, if there are none here.
    pub(super) only: Vec<String>,
}

impl Shelf {
    /// The one that is named; else one for the new sources; else that which has most to say about the
    /// question. It blocks for a moment.
    pub(super) fn find(&self, library: &Library, request: &Request) -> Result<Collection, String> {
        let question = request.question.as_deref().unwrap_or_default();
        let makes_one = !request.sources.is_empty();
        let title = one_line(question, MOST_TITLE);
        let name = match (&request.collection, makes_one) {
            (Some(named), _) => named.as_str(),
            (None, true) if title.trim().is_empty() => UNTITLED,
            (None, true) => &title,
            (None, false) => return self.best(library, question),
        };
        match library.find_collection(name) {
            Ok(found) if self.has(&found.title, Some(found.id.as_str())) => Ok(found),
            Err(LibraryError::NotFound { .. }) if makes_one && self.has(name, None) => {
                library.find_or_create_collection(name, now_ms()).map_err(|error| error.to_string())
            }
            Ok(_) => Err(closed(name)),
            Err(LibraryError::NotFound { .. }) if !self.has(name, None) => Err(closed(name)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn best(&self, library: &Library, question: &str) -> Result<Collection, String> {
        let said = |error: LibraryError| error.to_string();
        let request = SearchRequest {
            words: &one_line(question, MOST_WORDS),
            matching: Matching::Any,
            scope: None,
            skip: 0,
            limit: MOST_HITS,
        };
        for hit in library.search(&request).map_err(said)? {
            let found = library.collection(&hit.collection_id).map_err(said)?;
            if self.has(&found.title, Some(found.id.as_str())) {
                return Ok(found);
            }
        }
        Err("nothing that was collected here has these words: give `sources`, or name a \
             `collection`"
            .to_owned())
    }

    fn has(&self, title: &str, id: Option<&str>) -> bool {
        let same = |only: &String| only.trim().eq_ignore_ascii_case(title.trim());
        self.only.is_empty() || self.only.iter().any(|it| same(it) || id == Some(it.as_str()))
    }
}

fn closed(name: &str) -> String {
    format!("the collection {:?} is not for this delegate", one_line(name, MOST_TITLE))
}

const UNTITLED: &str = "Untitled";
/// Of a title that is made of a question.
const MOST_TITLE: usize = 80;
/// A search is for words, and not for whole texts.
const MOST_WORDS: usize = 400;
const MOST_HITS: usize = 50;
