//! Delegates that speak LDP.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sabir_ldp::{IdentityCard, LdpError, Refusal, TaskRequest, VerificationStatus};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::remote::{Job, News, Product, Remote, Speaker};
use crate::ldp::client::{Client, Delivered, Errand, ErrandNews, Heard, Met, Session};

pub(super) struct LdpRemote {
    client: Client,
    met: Met,
    required_trust_domain: Option<String>,
    session: Mutex<Option<Session>>,
}

impl LdpRemote {
    pub(super) fn new(client: Client, met: Met, required_trust_domain: Option<String>) -> Self {
        Self { client, met, required_trust_domain, session: Mutex::default() }
    }

    fn session(&self) -> Session {
        let session = self.client.session(&self.met, self.required_trust_domain.as_deref());
        let mut last = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(session).clone()
    }

    fn product(&self, delivered: Delivered) -> Product {
        let Delivered { report, signed_record } = delivered;
        let mut provenance = report.outcome.provenance;
        // What we know ourselves is not the delegate's to say.
        provenance.verification = VerificationStatus::Unverified;
        provenance.verified_by = None;
        provenance.payload_mode_used = report.mode;
        provenance.session_id = Some(report.session);
        // It covers the producer's words, and these are not all of them.
        provenance.signature = None;
        // That somebody else made it is proven by that one's signature and nothing else.
        if signed_record.is_none() {
            provenance.produced_by = self.card().delegate_id.clone();
        }
        Product { output: report.outcome.output, provenance, mode: report.mode, signed_record }
    }
}

impl Remote for LdpRemote {
    fn card(&self) -> &IdentityCard {
        &self.met.discovered.card
    }

    fn perform<'a>(
        &'a self,
        job: &'a Job,
        news: &'a mpsc::Sender<News>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Product, LdpError>> {
        Box::pin(async move {
            let session = self.session();
            let mut delegation_path = job.path.clone();
            if let Some(sender) = delegation_path.last_mut() {
                *sender = self.client.name_for(&self.card().delegate_id);
            }
            let request = TaskRequest {
                task_id: job.task_id.clone(),
                skill: job.skill.clone(),
                payload: job.payload.clone(),
                contract: job.contract.clone(),
                delegation_path,
            };
            let mut errand = match job.is_withdrawn {
                true => session.withdraw(request).await,
                false => session.submit(request).await,
            };
            tokio::select! {
                done = follow(&mut errand, news) => return done.map(|it| self.product(it)),
                () = stop.cancelled() => errand.cancel().await,
            }
            // The delegate's own word about the cancelling is worth a moment.
            let last = tokio::time::timeout(LAST_WORD, follow(&mut errand, news)).await;
            match last {
                Ok(last) => last.map(|it| self.product(it)),
                Err(_) => Err(Refusal::Cancelled.error("cancelled")),
            }
        })
    }

    fn speaker(&self) -> Speaker {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match session.as_ref().map_or(Heard::Nothing, Session::heard) {
            _ if !self.met.must_sign() => Speaker::Itself,
            Heard::Itself => Speaker::Itself,
            Heard::SomebodyElse => Speaker::SomebodyElse,
            Heard::Nothing if self.met.is_at_home() => Speaker::Itself,
            Heard::Nothing => Speaker::Unknown,
        }
    }

    fn keeps_deadlines(&self) -> bool {
        true
    }

    /// Sessions are the client's, and stay open for the next task.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn follow(errand: &mut Errand, news: &mpsc::Sender<News>) -> Result<Delivered, LdpError> {
    loop {
        match errand.next().await {
            Some(ErrandNews::Opened { session, mode, .. }) => {
                let _ = news.send(News::Opened { session, mode }).await;
            }
            Some(ErrandNews::Progress(update)) => {
                let _ = news.send(News::Progress(update)).await;
            }
            Some(ErrandNews::Done(delivered)) => return Ok(*delivered),
            Some(ErrandNews::Failed(error)) => return Err(error),
            None => return Err(Refusal::Cancelled.error("the session is over")),
        }
    }
}

const LAST_WORD: Duration = Duration::from_secs(3);
