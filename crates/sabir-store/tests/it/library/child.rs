//! What another process does with a library.

use std::path::Path;
use std::thread;

use sabir_store::library::{
    AuditOutcome, ChatRole, Collection, Finished, Library, LibraryError, NewAudit, NewChatEvent,
    Turn, Whose, Worker,
};

use super::sample::{open, page};
use crate::child::report;

pub(crate) fn run(role: &str, home: &Path) {
    let library = open(home);
    match role {
        "capture" => capture_all(&library),
        "hold" => hold_one(&library),
        "write" => write_some(&library),
        other => panic!("no role {other}"),
    }
}

/// What a page says: the parent knows it, too.
pub(crate) fn text_of(address: &str) -> String {
    format!("# {address}\n\n{}", "some words of the page. ".repeat(300))
}

fn capture_all(library: &Library) {
    let worker = Worker::start(library).unwrap();
    while let Some(job) = worker.claim_next(None, Whose::Anyones, 20).unwrap() {
        let address = job.origin.address.clone().unwrap();
        let finished = worker.finish(&job, &page(&address, &text_of(&address)), 30).unwrap();
        let Finished::Kept { version, .. } = finished else { panic!("lost {job:?}") };
        report(&format!("done {address} {version}"));
    }
    report("end");
}

fn hold_one(library: &Library) {
    let worker = Worker::start(library).unwrap();
    let job = worker.claim_next(None, Whose::Anyones, 20).unwrap().unwrap();
    report(&format!("held {}", job.id));
    loop {
        thread::park();
    }
}

/// A collection that several make at once, fifty messages and fifty rows of the audit.
fn write_some(library: &Library) {
    let id = shared(library).id;
    for number in 0..50 {
        let event = NewChatEvent {
            role: ChatRole::User,
            turn: Turn::Next,
            markdown: format!("{} {number}", std::process::id()),
            tool_calls: None,
            tool_results: None,
            model: None,
            citations: Vec::new(),
        };
        library.append_chat(&id, &event, number).unwrap();
        let row = NewAudit {
            actor: id.to_string(),
            call_id: format!("call-{number}"),
            subject: "search".to_owned(),
            outcome: AuditOutcome::Ask,
            reason: "tainted_egress".to_owned(),
            body: "{}".to_owned(),
        };
        library.append_audit(&[row], number).unwrap();
    }
    report("end");
}

fn shared(library: &Library) -> Collection {
    match library.create_collection("shared", &[], 1) {
        Err(LibraryError::TitleTaken { .. }) => library.find_collection("Shared").unwrap(),
        made => made.unwrap(),
    }
}
