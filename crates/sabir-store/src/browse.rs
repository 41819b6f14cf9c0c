//! Looking for rows of the journal: by where they stand, whose they are, when they were written and
//! what they hold.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, params_from_iter};

use crate::entry::{Kind, SessionId};
use crate::error::StoreError;
use crate::journal::{Broken, COLUMNS, Columns, from_sql, to_sql};
use crate::reader::{Line, Reader};

/// Which rows of a journal. What is left out rules nothing out.
#[derive(Clone, Debug, Default)]
pub struct LineFilter {
    /// After and before these numbers.
    pub after: Option<u64>,
    pub before: Option<u64>,
    pub session: Option<SessionId>,
    /// One of these kinds.
    pub kinds: Vec<String>,
    /// One of these tags.
    pub tags: Vec<String>,
    pub key: Option<String>,
    /// From this time on, and up to before that one.
    pub since_ms: Option<u64>,
    pub until_ms: Option<u64>,
    /// Stands in the body, the key, the tag or the name of the session; the case of ASCII letters does
    /// not count. In a body it may stand as JSON writes it.
    pub contains: Option<String>,
}

impl Reader {
    /// The number of the last row; 0 when there is none.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        let sql = "SELECT max(seq) FROM journal";
        let last = self.connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let last = last.map_err(|error| self.database(&error))?;
        Ok(last.map_or(0, from_sql))
    }

    /// The row with this number.
    ///
    /// # Errors
    ///
    /// When the file or the row cannot be read.
    pub fn line(&self, seq: u64) -> Result<Option<Line>, StoreError> {
        let find = || -> Result<Option<Line>, Broken> {
            let sql = format!("SELECT {COLUMNS} FROM journal WHERE seq = ?1");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([to_sql(seq)])?;
            match rows.next()? {
                Some(row) => Ok(Some(Line::of(&Columns::of(row)?)?)),
                None => Ok(None),
            }
        };
        find().map_err(|broken| broken.at(&self.path))
    }

    /// The first `limit` rows that are wanted, in order. Fewer come when their bodies are large
    /// together: ask again for those after the last one. An empty answer is the end.
    ///
    /// # Errors
    ///
    /// When the file or a row cannot be read.
    pub fn first_lines(&self, filter: &LineFilter, limit: usize) -> Result<Vec<Line>, StoreError> {
        self.browse(filter, "ASC", limit)
    }

    /// The last `limit` rows that are wanted, in order. Fewer come when their bodies are large
    /// together: ask again for those before the first one. An empty answer is the end.
    ///
    /// # Errors
    ///
    /// When the file or a row cannot be read.
    pub fn last_lines(&self, filter: &LineFilter, limit: usize) -> Result<Vec<Line>, StoreError> {
        let mut lines = self.browse(filter, "DESC", limit)?;
        lines.reverse();
        Ok(lines)
    }

    fn browse(
        &self,
        filter: &LineFilter,
        order: &str,
        limit: usize,
    ) -> Result<Vec<Line>, StoreError> {
        let look = || -> Result<Vec<Line>, Broken> {
            let mut wanted = Wanted::default();
            if let Some(session) = &filter.session {
                // What belongs to no session is in no table of sessions.
                if session.as_str().is_empty() {
                    wanted.and("session_id = ?", [Value::from(String::new())]);
                } else {
                    let Some(first) = self.first_of(session)? else { return Ok(Vec::new()) };
                    let tables = Kind::ALL.iter().filter_map(|kind| kind.table());
                    let listed: Vec<String> = tables
                        .map(|table| format!("SELECT seq FROM {table} WHERE session = {first}"))
                        .collect();
                    wanted.and(&format!("seq IN ({})", listed.join(" UNION ALL ")), []);
                }
            }
            wanted.number("seq > ?", filter.after);
            wanted.number("seq < ?", filter.before);
            wanted.one_of("kind", &filter.kinds);
            wanted.one_of("tag", &filter.tags);
            if let Some(key) = &filter.key {
                wanted.and("key = ?", [Value::from(key.clone())]);
            }
            wanted.number("at_ms >= ?", filter.since_ms);
            wanted.number("at_ms < ?", filter.until_ms);
            if let Some(text) = filter.contains.as_deref().filter(|text| !text.is_empty()) {
                wanted.containing(text);
            }
            let sql = format!(
                "SELECT {COLUMNS} FROM journal{} ORDER BY seq {order} LIMIT {}",
                wanted.clause(),
                to_sql(limit as u64)
            );
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(wanted.values))?;
            let mut lines: Vec<Line> = Vec::new();
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                let line = Line::of(&Columns::of(row)?)?;
                bytes += line.body.len();
                if bytes > MOST_BYTES && !lines.is_empty() {
                    break;
                }
                lines.push(line);
            }
            Ok(lines)
        };
        look().map_err(|broken| broken.at(&self.path))
    }

    fn first_of(&self, session: &SessionId) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT first_seq FROM sessions WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row([session.as_str()], |row| row.get(0)).optional()
    }
}

/// Conditions, and what stands for their question marks.
#[derive(Default)]
struct Wanted {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Wanted {
    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.to_owned());
        self.values.extend(values);
    }

    fn number(&mut self, condition: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.and(condition, [Value::from(to_sql(number))]);
        }
    }

    fn one_of(&mut self, column: &str, names: &[String]) {
        if !names.is_empty() {
            let marks = vec!["?"; names.len()].join(", ");
            let names = names.iter().map(|name| Value::from(name.clone()));
            self.and(&format!("{column} IN ({marks})"), names);
        }
    }

    fn containing(&mut self, text: &str) {
        let quoted = serde_json::Value::from(text).to_string();
        let written = quoted.trim_matches('"');
        let like = "LIKE ? ESCAPE '\\'";
        let plain = pattern(text);
        let columns = ["body", "key", "tag", "session_id"].map(|column| format!("{column} {like}"));
        let condition = format!("({} OR body {like})", columns.join(" OR "));
        let patterns = [plain.clone(), plain.clone(), plain.clone(), plain, pattern(written)];
        self.and(&condition, patterns.map(Value::from));
    }

    fn clause(&self) -> String {
        match self.conditions.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", self.conditions.join(" AND ")),
        }
    }
}

/// Anything around the text itself.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// Of bodies that are handed out at once. One row comes whatever its size.
const MOST_BYTES: usize = 16 << 20;
