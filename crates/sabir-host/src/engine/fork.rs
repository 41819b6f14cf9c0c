//! Forks: a session that begins where another one was.

use sabir_engine::{Record, Settings, thread_at};
use sabir_store::{Batch, Entry, Parent, SessionFacts, SessionId};

use super::Shared;

pub(super) fn fork(shared: &Shared, from: &str, response_id: &str) -> Result<String, String> {
    let reader = shared.store.reader().map_err(|error| error.to_string())?;
    let records = super::journal::records(&reader, from)?;
    if records.is_empty() {
        return Err(super::configure::not_stored(from));
    }
    let thread = thread_at(&records, response_id)
        .ok_or_else(|| format!("the session {from} has no response {response_id:?}"))?;
    let settings = records.iter().rev().find_map(|record| match record {
        Record::Settings { settings } => Some(Settings::clone(settings)),
        _ => None,
    });
    let mut settings = settings.ok_or_else(|| format!("the session {from} has no settings"))?;
    let session_id = super::configure::new_session_id()?;
    settings.session_id.clone_from(&session_id);
    let facts = SessionFacts {
        cwd: settings.cwd.clone(),
        model: settings.model.clone(),
        title: None,
        parent: Some(Parent {
            session_id: SessionId::new(from),
            response_id: Some(response_id.to_owned()),
        }),
    };
    let settings = Record::Settings { settings: Box::new(settings) };
    let turn = Record::Turn { response_id: response_id.to_owned(), usage: None };
    let records = std::iter::once(settings).chain(thread).chain([turn]);
    let mut entries = vec![Entry::Session(facts)];
    entries.extend(records.filter_map(|record| super::journal::record(&record)));
    let batch = Batch {
        session_id: SessionId::new(session_id.clone()),
        at_ms: crate::clock::now_ms(),
        entries,
    };
    shared.store.append_and_wait(batch).map_err(|error| error.to_string())?;
    Ok(session_id)
}
