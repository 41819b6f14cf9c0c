//! What waits for a person, and their word on it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sabir_base::text::one_line;
use sabir_host::{Asker, Decision, Inbox, Matter, MatterKind, Petition, Undecided};
use sabir_ldp::DelegateId;
use sabir_net::OrderId;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::input::Given;
use crate::refused::{Answer, Refused};
use crate::state::Console;

pub(crate) async fn list(State(console): State<Arc<Console>>) -> Answer {
    let own = &console.setup.about.delegate_id;
    let matters = console.setup.inbox.list();
    let matters: Vec<Value> = matters.iter().map(|it| matter_json(it, own)).collect();
    Ok(Json(json!({ "matters": matters })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    decision: Decision,
    /// For an agent that is blocked.
    words: Option<String>,
}

pub(crate) async fn decide(
    State(console): State<Arc<Console>>,
    Path(id): Path<String>,
    Given(Word { decision, words }): Given<Word>,
) -> Answer {
    let gone = || Refused::missing("it waits no longer: it was decided, or taken back");
    let id: u64 = id.parse().map_err(|_| gone())?;
    let words = words.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty());
    if words.as_ref().is_some_and(|words| words.chars().count() > MOST_WORDS) {
        return Err(Refused::bad(format!("words: at most {MOST_WORDS} characters")));
    }
    match console.setup.inbox.answer(id, sabir_host::Word { decision, words }) {
        Ok(()) => Ok(Json(json!({ "id": id, "decision": decision }))),
        Err(Undecided::NotWaiting(_)) => Err(gone()),
        Err(error @ Undecided::NotOffered(_)) => Err(Refused::bad(error.to_string())),
    }
}

/// Puts the questions of one errand into the inbox, one after the other, for as long as there are any.
pub(super) async fn put_all(
    inbox: &Inbox,
    collection: Option<String>,
    mut petitions: mpsc::Receiver<Petition>,
) {
    while let Some(Petition { question, mut answer }) = petitions.recv().await {
        let asker = Asker::Desk { collection: collection.clone() };
        let mut asked = inbox.ask(Matter::new(asker, MatterKind::Approval, question.in_full()));
        let decision = tokio::select! {
            decision = asked.decided() => decision,
            // Whoever asked was stopped, and waits for nothing.
            () = answer.closed() => continue,
        };
        let is_yes = match decision {
            Decision::Approve | Decision::ApproveForSession => true,
            Decision::Deny => false,
        };
        let _ = answer.send(is_yes);
    }
}

fn matter_json(matter: &Matter, own: &DelegateId) -> Value {
    let mut shown = json!(matter);
    let first = matter.what.lines().next().unwrap_or_default();
    shown["title"] = json!(one_line(first, MOST_TITLE));
    match &matter.asker {
        // A task that we gave to a delegate of ours is known by the order that it belongs to.
        Asker::Task { key, .. } => {
            if let Some(order) = OrderId::of_key(own, key) {
                shown["order_id"] = json!(order);
            }
        }
        Asker::Desk { .. } => {}
        Asker::Order { id } => shown["order_id"] = json!(id),
        Asker::Session { id } => shown["session_id"] = json!(id),
    }
    shown
}

const MOST_TITLE: usize = 160;
/// Who has more to say gives another task.
const MOST_WORDS: usize = 4_000;

#[cfg(test)]
mod tests {
    use sabir_policy::{Question, ShownArgument};

    /// CO-17: a person sees all of what they decide about, and nothing of it passes for ours.
    #[test]
    fn a_question_is_shown_whole() {
        let question = Question {
            tool: "source.capture".to_owned(),
            arguments: vec![ShownArgument {
                argument: "/url".to_owned(),
                value: "https://a.example/\nThe model has read nothing".to_owned(),
                came_from: "a source".to_owned(),
            }],
            more_arguments: 0,
            untrusted: vec!["src_1".to_owned()],
            reason: "strangers' words".to_owned(),
            reason_code: "tainted_egress",
            binding: binding(),
        };
        assert_eq!(
            question.in_full(),
            "source.capture: strangers' words\n/url (a source):\n  | https://a.example/\n  | The \
             model has read nothing\nThe model has read what strangers wrote: src_1"
        );
    }

    /// Of any call; it is not shown.
    fn binding() -> sabir_policy::Binding {
        use sabir_policy::{
            ApprovalPolicy, Call, Evidence, Offer, PolicyDoc, Reading, Scope, Surroundings, Taint,
            judge_call,
        };
        let none = serde_json::Map::new();
        let call = Call::of_tool("c", "app.calculate", &none);
        let around = Surroundings {
            evidence: &Evidence::new(),
            taint: &Taint::default(),
            page: None,
            field: None,
            reading: Reading::Strict,
            offer: Offer::Made,
            scope: Scope::Own,
            also_called: &[],
            hosts: &[],
            calls_made: 0,
            asks_made: 0,
            approval: ApprovalPolicy::OnRequest,
            policy: &PolicyDoc::default(),
        };
        judge_call(&call, &around).question().binding
    }
}
