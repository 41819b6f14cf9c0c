//! What is remembered about delegates between runs: their cards, their outcomes, and the delegations
//! made. The store has the files; here they are asked and told on threads that may wait.

use sabir_ldp::{
    Breaker, BreakerSettings, DelegateId, IdentityCard, RouterSettings, SkillName, TallyRecord,
    TaskOutcome, Timestamp, Verdict,
};
use sabir_store::StoreError;
use sabir_store::peers::{Delegation as Entry, DelegationStatus, Peers};

use super::DelegationError;
use super::report::DelegationReport;

/// A delegate that was added, and the card that it was last seen with.
pub(super) struct Known {
    pub(super) address: String,
    pub(super) card: IdentityCard,
}

/// What a router is given besides cards.
#[derive(Default)]
pub(super) struct Evidence {
    pub(super) tallies: Vec<TallyRecord>,
    pub(super) breakers: Vec<(DelegateId, Breaker)>,
}

/// Those that have a card which is good.
pub(super) async fn known(peers: &Peers) -> Result<Vec<Known>, DelegationError> {
    let delegates = wait(peers, Peers::delegates).await?;
    let with_card = delegates.into_iter().filter_map(|delegate| {
        let card = IdentityCard::check(delegate.card.as_deref()?).card?;
        Some(Known { address: delegate.url, card })
    });
    Ok(with_card.collect())
}

pub(super) async fn evidence(
    peers: &Peers,
    skill: &SkillName,
) -> Result<Evidence, DelegationError> {
    let skill = skill.clone();
    wait(peers, move |peers| {
        let mut tallies = peers.tallies()?;
        tallies.retain(|record| record.skill == skill);
        Ok(Evidence { tallies, breakers: peers.breakers()? })
    })
    .await
}

/// Counts an outcome.
pub(super) async fn record(peers: &Peers, outcome: TaskOutcome) -> Result<(), DelegationError> {
    wait(peers, move |peers| {
        let TaskOutcome { delegate, skill, at, verdict, .. } = &outcome;
        let half_life_ms = RouterSettings::default().half_life_ms;
        peers.change_tally(delegate, skill, *at, |tally| tally.add(&outcome, half_life_ms))?;
        let settings = BreakerSettings::default();
        peers.change_breaker(delegate, |breaker| match verdict {
            Verdict::Failed => breaker.failed(*at, &settings),
            // It answered; whether the answer was good is not what a breaker is for.
            Verdict::Finished | Verdict::Checked { .. } | Verdict::Refused => breaker.succeeded(),
        })?;
        Ok(())
    })
    .await
}

/// Work is given to a delegate: if it was resting, this is its one attempt.
pub(super) async fn started(
    peers: &Peers,
    delegate: &DelegateId,
    at: Timestamp,
) -> Result<(), DelegationError> {
    let delegate = delegate.clone();
    wait(peers, move |peers| {
        peers.change_breaker(&delegate, |breaker| breaker.started(at)).map(drop)
    })
    .await
}

/// Writes a delegation into the log.
pub(super) async fn log(
    peers: &Peers,
    report: &DelegationReport,
    (began, ended): (Timestamp, Timestamp),
    status: DelegationStatus,
) -> Result<(), DelegationError> {
    let json = |value: Option<String>| value.filter(|text| text.len() <= MAX_LOGGED);
    let entry = Entry {
        id: report.task_id.clone(),
        at_ms: began.millis(),
        delegate_id: report.delegate_id.clone(),
        url: report.address.clone(),
        skill: report.skill.clone(),
        payload_mode: report.payload_mode,
        status,
        choice: json(serde_json::to_string(&report.chosen).ok()),
        provenance: json(report.provenance.as_ref().map(|it| it.to_value().to_string())),
        error: json(report.error.as_ref().and_then(|it| serde_json::to_string(it).ok())),
        cost_usd: report.cost.usd,
        ended_at_ms: Some(ended.millis()),
    };
    wait(peers, move |peers| peers.log_delegation(&entry)).await
}

/// A file is asked on a thread of its own.
async fn wait<T: Send + 'static>(
    peers: &Peers,
    work: impl FnOnce(&Peers) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, DelegationError> {
    let peers = peers.clone();
    let store = |why: String| DelegationError::Store(why);
    let done = tokio::task::spawn_blocking(move || work(&peers)).await;
    done.map_err(|error| store(error.to_string()))?.map_err(|error| store(error.to_string()))
}

/// What is longer is left out of the log; the report has it.
const MAX_LOGGED: usize = 256 * 1024;
