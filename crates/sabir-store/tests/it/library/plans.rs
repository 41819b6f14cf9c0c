//! A library of a thousand sources is looked up, not walked through.

use rusqlite::Connection;
use sabir_store::library::{Matching, SearchRequest};

use super::sample::{collection, open, raw};
use crate::sample::home;

fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let nothing = vec![rusqlite::types::Null; statement.parameter_count()];
    let rows = statement
        .query_map(rusqlite::params_from_iter(nothing), |row| row.get::<_, String>(3))
        .unwrap();
    rows.map(|line| line.unwrap() + "\n").collect()
}

/// The statement as the library has it.
fn statement<'s>(source: &'s str, name: &str) -> &'s str {
    let (_, rest) = source.split_once(&format!("const {name}: &str = \"")).unwrap();
    rest.split_once("\";").unwrap().0
}

/// LC-S20: a search asks the index, and the tables by number only.
#[test]
fn a_search_among_a_thousand_uses_the_index() {
    let home = home();
    let library = open(home.path());
    let id = collection(&library, "c").id;
    for number in 0..1000_u32 {
        let words: String = (0..1000).map(|word| format!("w{} ", word * 7 + number)).collect();
        let text = format!("{words}\n\nonly{number}");
        library.add_note(&id, Some(&format!("note {number}")), &text, 5).unwrap();
    }
    let request = SearchRequest {
        words: "only777",
        matching: Matching::Any,
        scope: Some(&id),
        skip: 0,
        limit: 10,
    };
    let hits = library.search(&request).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.title.as_str()).collect::<Vec<_>>(), ["note 777"]);
    let raw = raw(home.path());
    let ranked = statement(include_str!("../../../src/library/search.rs"), "RANKED");
    let search = plan(&raw, &ranked.replace("?1", "'\"only777\"'"));
    assert!(search.contains("SCAN search_index VIRTUAL TABLE INDEX"), "{search}");
    for table in ["s", "c", "v"] {
        assert!(search.contains(&format!("SEARCH {table} USING INTEGER PRIMARY KEY")), "{search}");
    }
    let next = statement(include_str!("../../../src/library/worker.rs"), "NEXT");
    let claim = plan(&raw, next);
    assert!(claim.contains("SEARCH j USING INDEX jobs_in_line"), "{claim}");
    assert!(!claim.contains("TEMP B-TREE"), "{claim}");
    for sql in [
        "SELECT num FROM sources WHERE collection = 1 AND address_key = 'x'",
        "SELECT num FROM sources WHERE collection = 1 AND num > 5 ORDER BY num LIMIT 10",
        "SELECT num FROM capture_jobs WHERE source = 1 AND status IN ('queued', 'running')",
        "SELECT num FROM capture_jobs WHERE status = 'queued' AND not_before_ms <= 5
         ORDER BY not_before_ms, num LIMIT 1",
        "SELECT turn FROM chat_events WHERE collection = 1 ORDER BY turn DESC LIMIT 1",
        "SELECT num FROM chat_events WHERE collection = 1 AND num < 5 ORDER BY num DESC LIMIT 3",
        "SELECT seq FROM policy_audit WHERE call_id = 'x' ORDER BY seq LIMIT 5",
        "SELECT DISTINCT call_id FROM policy_audit
         WHERE call_id >= 'x' AND call_id < 'x' || char(1114111) ORDER BY call_id LIMIT 5",
        "SELECT num FROM citations WHERE chat_event = 1 OR artifact = 2",
    ] {
        let plan = plan(&raw, sql);
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
    }
}
