//! What became of a session that did a task, as the journal has it: what a restart has to know to go on
//! without doing anything twice.

use sabir_store::{LineFilter, Reader, SessionId, StoreError};
use serde_json::Value;

use super::Engine;

/// How far a task came in a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Past {
    /// Nothing is stored under that name.
    Nothing,
    /// There is a session, and it was told nothing.
    Untold,
    /// It knows what to do, and was cut off.
    Begun,
    /// It was done, and nobody was told.
    Done(Done),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Done {
    pub(crate) said: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) tokens: Option<u64>,
}

impl Engine {
    /// Takes time: it reads.
    pub(crate) fn past_of(&self, session_id: &str) -> Result<Past, StoreError> {
        let reader = self.shared.store.reader()?;
        let id = SessionId::new(session_id);
        if reader.session(&id)?.is_none() {
            return Ok(Past::Nothing);
        }
        let Some((tag, ending)) = last(&reader, &id, &["task_started", "task_complete"])? else {
            return Ok(Past::Untold);
        };
        if tag == "task_started" {
            return Ok(Past::Begun);
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let model = last(&reader, &id, &["session_configured"])?;
        let tokens = last(&reader, &id, &["token_count"])?.and_then(|(_, msg)| {
            Some(msg["total"]["input"].as_u64()?.saturating_add(msg["total"]["output"].as_u64()?))
        });
        Ok(Past::Done(Done {
            said: text(&ending["last_agent_message"]),
            model: model.and_then(|(_, msg)| text(&msg["model"])),
            tokens,
        }))
    }
}

/// The last event of one of these kinds, and what it says.
fn last(
    reader: &Reader,
    session: &SessionId,
    tags: &[&str],
) -> Result<Option<(String, Value)>, StoreError> {
    let filter = LineFilter {
        session: Some(session.clone()),
        kinds: vec!["event".to_owned()],
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..LineFilter::default()
    };
    let line = reader.last_lines(&filter, 1)?.pop();
    Ok(line.map(|line| {
        let event: Value = serde_json::from_str(&line.body).unwrap_or_default();
        (line.tag, event["msg"].clone())
    }))
}
