//! Questions about tasks: waiting for one, its state, its stored result, and `TASK_CANCEL`.

use std::sync::Arc;

use super::answers::{Asker, failed};
use super::message::Admitted;
use super::record::{TaskEnded, TaskKey};
use super::submit::id_is_taken;
use super::tasks::Looking;
use super::{Declined, Delegate, Output, Recall, RequestId};
use crate::envelope::{TaskState, Update};
use crate::error::Refusal;
use crate::id::TaskId;
use crate::moment::Moment;

/// What is asked about a task.
#[derive(Clone, Copy)]
pub(super) enum Question {
    /// `TASK_UPDATE` with the words of a status query.
    Status,
    /// `TASK_CANCEL`.
    Cancel,
}

impl Delegate {
    pub(super) fn ask(
        &mut self,
        question: Question,
        message: Admitted<'_>,
        task: &TaskId,
        asker: &Arc<Asker>,
        moment: &mut Moment,
    ) -> Result<(), Declined> {
        let key = self.owned_task(message, task, asker, moment)?;
        match (self.tasks.waited_for(&key), question) {
            (Some((update, _)), Question::Status) => self.reply(asker, update, moment),
            (Some(_), Question::Cancel) => {
                self.cancel_task(&key, "cancelled by its sender", moment);
                self.reply(asker, Update::of_state(key.id, TaskState::Cancelled), moment);
            }
            // How it ended is in the store, and so may be one that is not known here.
            (None, _) => self.recall(key, asker),
        }
        Ok(())
    }

    /// Answers when the task has ended, or when the caller gives up.
    pub(super) fn wait_for(&mut self, key: TaskKey, asker: &Arc<Asker>, moment: &mut Moment) {
        let most = self.settings.limits.waiting_for_one;
        let Some((update, askers)) = self.tasks.waited_for(&key) else {
            return self.recall(key, asker);
        };
        askers.push(Arc::clone(asker));
        // Who has waited longest may be gone without a word, and who comes now is there.
        let many = askers.len().saturating_sub(most);
        let dismissed: Vec<Arc<Asker>> = askers.drain(..many).collect();
        self.tasks.wait(asker.request, key);
        for asker in dismissed {
            self.tasks.stop_waiting(asker.request);
            self.reply(&asker, update.clone(), moment);
        }
    }

    pub(super) fn give_up(&mut self, request: RequestId, moment: &mut Moment) {
        let Some(key) = self.tasks.stop_waiting(request) else { return };
        let Some((update, askers)) = self.tasks.waited_for(&key) else { return };
        let Some(at) = askers.iter().position(|asker| asker.request == request) else { return };
        let asker = askers.remove(at);
        self.reply(&asker, update, moment);
    }

    fn recall(&mut self, key: TaskKey, asker: &Arc<Asker>) {
        let request = asker.request;
        self.recalls.insert(request, Recall::Ended { key: key.clone(), asker: Arc::clone(asker) });
        self.outputs.push_back(Output::Recall { request, key });
    }

    /// What the store said.
    pub(super) fn take_recalled(
        &mut self,
        request: RequestId,
        ended: Option<Box<TaskEnded>>,
        moment: &mut Moment,
    ) {
        match (self.recalls.remove(&request), ended) {
            (None, _) => {}
            (Some(Recall::Ended { key, asker }), ended) => {
                let ended = ended.filter(|it| asker.proof.covers(it.claim()));
                let ending = ended.map(|ended| ended.ending.body(&key.id));
                let body = ending.unwrap_or_else(|| failed(&key.id, not_found().error()));
                self.reply(&asker, body, moment);
            }
            (Some(Recall::Before(key)), ended) => {
                let Some(looking) = self.tasks.take_looking(&key) else { return };
                match ended {
                    None => {
                        let Looking { started, order, askers, weight } = looking;
                        self.start(started, order, askers, weight);
                    }
                    Some(ended) => self.found(looking, &ended, moment),
                }
            }
        }
    }

    /// The store knew a task of that id: its ending is told, if it is the same task.
    fn found(&mut self, looking: Looking, ended: &TaskEnded, moment: &mut Moment) {
        let Looking { started, askers, .. } = looking;
        if let Some(session) = self.sessions.find_mut(&started.session) {
            session.forget_task(&started.key.id);
        }
        let task = &started.key.id;
        for asker in &askers {
            let is_same = ended.digest == started.digest && asker.proof.covers(ended.claim());
            let body =
                if is_same { ended.ending.body(task) } else { failed(task, id_is_taken().error()) };
            self.reply(asker, body, moment);
        }
    }

    /// The task that a question is about. The session may be left out; if it is named, it must be the
    /// sender's. Whether it is known is for the caller to see: nobody learns of tasks of others,
    /// because the key has the sender in it, and where the sender is not sure, what it shows counts.
    fn owned_task(
        &mut self,
        message: Admitted<'_>,
        task: &TaskId,
        asker: &Asker,
        moment: &mut Moment,
    ) -> Result<TaskKey, Declined> {
        if message.envelope.session_id.is_some() {
            self.session_of(message, moment)?;
        }
        let key = TaskKey { owner: message.envelope.from.clone(), id: task.clone() };
        match self.tasks.find(&key) {
            Some(known) if asker.proof.covers(known.claim) => Ok(key),
            // Only the store can tell.
            None if self.tasks.may_be_stored(&key) => Ok(key),
            Some(_) | None => Err(not_found()),
        }
    }
}

fn not_found() -> Declined {
    Refusal::TaskNotFound.because("no task of yours has this id")
}
