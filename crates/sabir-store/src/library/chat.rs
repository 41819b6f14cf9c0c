//! The conversation of a collection: what was asked and answered, turn by turn, for ever.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::citations::{self, NewCitation, Owner};
use super::collections::touch;
use super::error::{LibraryError, Trouble};
use super::ids::{ChatId, CollectionId};
use super::limits::{MAX_MESSAGE, check_json, check_size};
use super::named::named;
use super::rows::{Count, Named as _, count, first, run, some};
use super::{Library, limits};

named! {
    ChatRole {
        User = "user",
        Assistant = "assistant",
        System = "system",
        Tool = "tool",
    }
}

/// Which turn a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It begins the next one.
    Next,
    /// It belongs to one that has begun: an answer to the question of that turn, though others may
    /// have asked since.
    Of(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChatEvent {
    pub role: ChatRole,
    pub turn: Turn,
    pub markdown: String,
    /// JSON.
    pub tool_calls: Option<String>,
    /// JSON.
    pub tool_results: Option<String>,
    /// JSON: who answered.
    pub model: Option<String>,
    pub citations: Vec<NewCitation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatEvent {
    /// Where it stands in the conversation: the place to go back from.
    pub num: u64,
    pub id: ChatId,
    pub collection_id: CollectionId,
    pub turn: u64,
    pub role: ChatRole,
    pub markdown: String,
    pub tool_calls: Option<String>,
    pub tool_results: Option<String>,
    pub model: Option<String>,
    pub created_at_ms: u64,
}

impl Library {
    /// Appends a message with its citations.
    ///
    /// # Errors
    ///
    /// When there is no such collection or turn, or something of it cannot be kept.
    pub fn append_chat(
        &self,
        collection: &CollectionId,
        event: &NewChatEvent,
        now: u64,
    ) -> Result<ChatEvent, LibraryError> {
        self.write(|connection, ids| {
            check_size("a message", &event.markdown, MAX_MESSAGE)?;
            for (what, json) in [
                ("a list of tool calls", &event.tool_calls),
                ("a list of tool results", &event.tool_results),
                ("the name of a model", &event.model),
            ] {
                json.as_deref().map_or(Ok(()), |json| check_json(what, json))?;
            }
            let num = collection.num(connection)?;
            let turn = number_turn(connection, num, event.turn)?;
            let id = ChatId::draw(ids);
            let sql = "INSERT INTO chat_events (id, collection, turn, role, markdown,
                           tool_calls_json, tool_results_json, model_json, created_at_ms)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let parameters = params![
                id,
                num,
                Count(turn),
                event.role,
                event.markdown,
                event.tool_calls,
                event.tool_results,
                event.model,
                Count(now),
            ];
            run(connection, sql, parameters)?;
            let owner = Owner::ChatEvent(connection.last_insert_rowid());
            citations::insert(connection, ids, owner, &event.citations)?;
            touch(connection, num, now)?;
            first(connection, &select("e.id = ?1"), [&id], read)?.ok_or_else(|| id.missing())
        })
    }

    /// The newest messages, the oldest of them first; those before the place `before`, if given. At
    /// most `limit`, never more than 1,000 nor than about 32 MiB. An empty answer is the beginning.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn recent_chat(
        &self,
        collection: &CollectionId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ChatEvent>, LibraryError> {
        self.read(|connection| {
            let collection = collection.num(connection)?;
            let before = Count(before.unwrap_or(u64::MAX));
            let sql = select("e.collection = ?1 AND e.num < ?2 ORDER BY e.num DESC LIMIT ?3");
            let parameters = params![collection, before, limits::rows(limit)];
            let mut events = some(connection, &sql, parameters, read, ChatEvent::bytes)?;
            events.reverse();
            Ok(events)
        })
    }

    /// The number of the last turn; 0 before the first.
    ///
    /// # Errors
    ///
    /// When there is no such collection.
    pub fn last_turn(&self, collection: &CollectionId) -> Result<u64, LibraryError> {
        self.read(|connection| last_turn(connection, collection.num(connection)?))
    }
}

impl ChatEvent {
    fn bytes(&self) -> usize {
        let json = [&self.tool_calls, &self.tool_results, &self.model];
        self.markdown.len() + json.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

fn number_turn(connection: &Connection, collection: i64, turn: Turn) -> Result<u64, Trouble> {
    let last = last_turn(connection, collection)?;
    match turn {
        Turn::Next => Ok(last + 1),
        Turn::Of(turn) if (1..=last).contains(&turn) => Ok(turn),
        Turn::Of(_) => Err(Trouble::invalid("a message", "its turn has not begun")),
    }
}

fn last_turn(connection: &Connection, collection: i64) -> Result<u64, Trouble> {
    let sql = "SELECT turn FROM chat_events WHERE collection = ?1 ORDER BY turn DESC LIMIT 1";
    Ok(first(connection, sql, [collection], |row| count(row, 0))?.unwrap_or(0))
}

fn select(which: &str) -> String {
    format!(
        "SELECT e.num, e.id, c.id, e.turn, e.role, e.markdown, e.tool_calls_json,
                e.tool_results_json, e.model_json, e.created_at_ms
         FROM chat_events AS e JOIN collections AS c ON c.num = e.collection
         WHERE {which}"
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<ChatEvent> {
    Ok(ChatEvent {
        num: count(row, 0)?,
        id: row.get(1)?,
        collection_id: row.get(2)?,
        turn: count(row, 3)?,
        role: row.get(4)?,
        markdown: row.get(5)?,
        tool_calls: row.get(6)?,
        tool_results: row.get(7)?,
        model: row.get(8)?,
        created_at_ms: count(row, 9)?,
    })
}
