//! Tasks that ended, by their names. Names come in no order, so that an index over all of them would
//! change a page of the file for each. They are kept in stretches instead: short ones for the last few
//! tasks, which take turns on the same pages, and long ones that are made of many short ones.

use rusqlite::{Connection, OptionalExtension as _, params};
use sabir_ldp::TaskKey;

use crate::tables::Version;

/// Tasks in a short stretch: a few pages.
const SHORT: i64 = 256;

/// Tasks in a long stretch. Whoever looks for a task looks into each of them.
const LONG: i64 = 64 * SHORT;

/// Lists the tasks with these numbers under their names. One statement for many costs less than one for
/// each.
pub(super) fn list(connection: &Connection, first: i64, last: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO peer_task_names (stretch, owner, id, num)
               SELECT (num - 1) / ?1, owner, id, num FROM peer_tasks WHERE num BETWEEN ?2 AND ?3";
    connection.prepare_cached(sql)?.execute([SHORT, first, last])?;
    let mut whole = (first - 1) / LONG + 1..=last / LONG;
    whole.try_for_each(|count| lengthen(connection, count * LONG))
}

/// The number of the first task that ended under a name.
pub(super) fn find(
    connection: &Connection,
    version: Version,
    key: &TaskKey,
) -> rusqlite::Result<Option<i64>> {
    let (owner, id) = (key.owner.as_str(), key.id.as_str());
    if !version.has_names() {
        let sql = "SELECT num FROM peer_tasks WHERE owner = ?1 AND id = ?2";
        let num = connection.prepare_cached(sql)?.query_row([owner, id], |row| row.get(0));
        return num.optional();
    }
    let sql = "SELECT max(num) FROM peer_tasks";
    let last: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let Some(last) = last else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT num FROM peer_task_names WHERE stretch = ?1 AND owner = ?2 AND id = ?3
         ORDER BY num LIMIT 1",
    )?;
    let in_long = last / LONG * LONG;
    let long_ones = (1..=last / LONG).map(|count| -count);
    for stretch in long_ones.chain(short(in_long + 1)..=short(last)) {
        let num = statement.query_row(params![stretch, owner, id], |row| row.get(0)).optional()?;
        if num.is_some() {
            return Ok(num);
        }
    }
    Ok(None)
}

/// Makes one stretch of those up to the task with this number, which ends the last of them.
fn lengthen(connection: &Connection, num: i64) -> rusqlite::Result<()> {
    let first = num - LONG + 1;
    // First, so that the pages are used again; and what is read is not the table that is written, or it
    // would be copied before.
    let sql = "DELETE FROM peer_task_names WHERE stretch BETWEEN ?1 AND ?2";
    connection.prepare_cached(sql)?.execute([short(first), short(num)])?;
    let sql = "INSERT INTO peer_task_names (stretch, owner, id, num)
               SELECT ?1, owner, id, num FROM peer_tasks WHERE num BETWEEN ?2 AND ?3
               ORDER BY owner, id, num";
    connection.prepare_cached(sql)?.execute([-(num / LONG), first, num]).map(drop)
}

/// The short stretch in which a task is at first.
fn short(num: i64) -> i64 {
    (num - 1) / SHORT
}
