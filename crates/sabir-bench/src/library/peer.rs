//! What plain SQLite does with the same texts: a row and a commit each, a scan, a ranking of FTS5.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, Result, params, params_from_iter};

use super::shelf::Text;
use crate::middle::median;

pub(super) struct Peer {
    connection: Connection,
}

impl Peer {
    /// As careful with the disk as the library.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             CREATE TABLE texts (num INTEGER PRIMARY KEY, title TEXT, body TEXT);
             CREATE VIRTUAL TABLE ranked USING fts5 (title, body);",
        )?;
        Ok(Self { connection })
    }

    /// Seconds a row, of the median.
    pub(super) fn fill(&self, texts: &[Text]) -> Result<f64> {
        let mut insert = self.connection.prepare("INSERT INTO texts VALUES (NULL, ?1, ?2)")?;
        let mut seconds = Vec::new();
        for text in texts {
            let start = Instant::now();
            insert.execute(params![text.subject, text.markdown])?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        self.connection.execute(
            "INSERT INTO ranked (rowid, title, body) SELECT num, title, body FROM texts",
            [],
        )?;
        Ok(median(seconds))
    }

    /// The texts that hold every word somewhere.
    pub(super) fn scan(&self, words: &str) -> Result<Vec<i64>> {
        let patterns: Vec<String> = words.split(' ').map(|word| format!("%{word}%")).collect();
        let conditions = vec!["body LIKE ?"; patterns.len()].join(" AND ");
        let sql = format!("SELECT num FROM texts WHERE {conditions}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(patterns), |row| row.get(0))?;
        rows.collect()
    }

    /// The ten texts that share most with a question, with what they say.
    pub(super) fn rank(&self, question: &str) -> Result<Vec<String>> {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(|word| format!("\"{word}\""))
            .collect();
        let sql = "SELECT body FROM ranked WHERE ranked MATCH ?1
                   ORDER BY bm25(ranked) LIMIT 10";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([words.join(" OR ")], |row| row.get(0))?;
        rows.collect()
    }
}
