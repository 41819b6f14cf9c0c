//! Who could do a task: addresses that were named and looked at, or delegates that are known; and
//! who of them should.

use std::sync::Arc;

use futures_util::StreamExt as _;
use sabir_ldp::{
    BreakerRecord, CallBudget, Capability, Choice, ClaimType, DelegateId, Filter, IdentityCard,
    Listing, Request, Router, RouterSettings, SkillName,
};
use tokio::sync::mpsc;

use super::address::Address;
use super::book;
use super::fitting::{Author, Fitting, fitting};
use super::remote::Remote;
use super::report::{DelegationEvent, Unreachable};
use super::{Delegation, DelegationError, DelegationRequest, tell};
use crate::ldp::client::{NewPin, PlainHttp, now};

/// Somebody who could do it.
pub(super) struct Candidate {
    pub(super) address: Address,
    pub(super) card: IdentityCard,
    /// Connected already, for those who were named.
    pub(super) remote: Option<Arc<dyn Remote>>,
}

/// Everybody who could, and who could not be asked.
#[derive(Default)]
pub(super) struct Candidates {
    found: Vec<Candidate>,
    pub(super) unreachable: Vec<Unreachable>,
    pub(super) pinned: Vec<NewPin>,
    /// Whether the caller named them.
    are_named: bool,
}

/// Who is tried, the best first, and why.
pub(super) struct Ranking {
    pub(super) order: Vec<DelegateId>,
    pub(super) choice: Choice,
    pub(super) why: String,
}

impl Candidates {
    /// Those that the request names, or else those that are known.
    pub(super) async fn gather(
        delegation: &Delegation,
        request: &DelegationRequest,
        events: &mpsc::Sender<DelegationEvent>,
    ) -> Result<Self, DelegationError> {
        let domain = request.trust_domain.as_deref();
        if !request.to.is_empty() {
            return Ok(Self::named(delegation, &request.to, domain, events).await);
        }
        if request.also.is_empty() {
            return Self::known(delegation, request).await;
        }
        let mut candidates = Self::named(delegation, &request.also, domain, events).await;
        candidates.are_named = false;
        match Self::known(delegation, request).await {
            Ok(known) => candidates.add(known),
            Err(DelegationError::NobodyKnown) => {}
            Err(error) => return Err(error),
        }
        Ok(candidates)
    }

    /// Takes those in that are not there already.
    fn add(&mut self, others: Self) {
        self.unreachable.extend(others.unreachable);
        for other in others.found {
            if self.by_id(&other.card.delegate_id).is_none() {
                self.found.push(other);
            }
        }
    }

    /// Looks at every address that was named, several at once.
    pub(super) async fn named(
        delegation: &Delegation,
        addresses: &[Address],
        domain: Option<&str>,
        events: &mpsc::Sender<DelegationEvent>,
    ) -> Self {
        let mut candidates = Self { are_named: true, ..Self::default() };
        // Boxed: a stream of them would otherwise hold as many large futures.
        let open = |address: &Address| {
            let address = address.clone();
            Box::pin(async move {
                let opened = delegation.open(&address, domain).await;
                (address, opened)
            })
        };
        let opening: Vec<_> = addresses.iter().map(open).collect();
        let mut opened = futures_util::stream::iter(opening).buffered(AT_ONCE);
        while let Some((address, opened)) = opened.next().await {
            let shown = address.to_string();
            match opened {
                Ok((remote, pinned)) => {
                    let card = remote.card().clone();
                    let delegate_id = card.delegate_id.clone();
                    tell(events, DelegationEvent::Found { delegate_id, address: shown }).await;
                    if let Some(pinned) = pinned {
                        tell(events, DelegationEvent::KeyPinned(pinned.clone())).await;
                        candidates.pinned.push(pinned);
                    }
                    candidates.found.push(Candidate { address, card, remote: Some(remote) });
                }
                Err(error) => {
                    let told = DelegationEvent::Unreachable {
                        address: shown.clone(),
                        error: error.clone(),
                    };
                    tell(events, told).await;
                    candidates.unreachable.push(Unreachable { address: shown, error });
                }
            }
        }
        candidates
    }

    async fn known(
        delegation: &Delegation,
        request: &DelegationRequest,
    ) -> Result<Self, DelegationError> {
        let known = book::known(delegation.peers()).await?;
        let mut candidates = Self::default();
        for known in known {
            // An address that was added is one, unless somebody wrote into the file.
            let Ok(address) = Address::parse(&known.address, PlainHttp::LoopbackOnly) else {
                continue;
            };
            if request.shuns_programs && matches!(address, Address::McpCommand(_)) {
                continue;
            }
            // It was kept before the id was ours.
            if let Some(error) = delegation.client.usurps(&known.card) {
                candidates.unreachable.push(Unreachable { address: known.address, error });
                continue;
            }
            candidates.found.push(Candidate { address, card: known.card, remote: None });
        }
        match candidates.found.is_empty() && candidates.unreachable.is_empty() {
            true => Err(DelegationError::NobodyKnown),
            false => Ok(candidates),
        }
    }

    pub(super) fn by_id(&self, delegate: &DelegateId) -> Option<&Candidate> {
        self.found.iter().find(|it| it.card.delegate_id == *delegate)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The skill that is asked for, with what spoke for it if it was not said.
    pub(super) fn skill_for(
        &self,
        request: &DelegationRequest,
    ) -> Result<Fitting, DelegationError> {
        let said = |skill| Fitting { skill, why: String::new() };
        if let Some(skill) = &request.skill {
            return Ok(said(skill.clone()));
        }
        let only = self.only_skill();
        if !request.fits_skill || only.is_ok() {
            return only.map(said);
        }
        let (own, others): (Vec<&Candidate>, Vec<&Candidate>) =
            self.found.iter().partition(|it| request.own.contains(&it.address));
        let offered = |by: &[&'_ Candidate]| -> Vec<Capability> {
            by.iter().flat_map(|it| it.card.capabilities.iter().cloned()).collect()
        };
        let task = request.task.to_text();
        // Whatever others write on their cards, they get what nothing here speaks for.
        let fits = fitting(&task, &offered(&own), Author::ThisNode)
            .or_else(|| fitting(&task, &offered(&others), Author::Others));
        fits.map_or(only.map(said), Ok)
    }

    /// The only skill that anybody offers.
    fn only_skill(&self) -> Result<SkillName, DelegationError> {
        let mut offered: Vec<&SkillName> =
            self.found.iter().flat_map(|it| &it.card.capabilities).map(|it| &it.name).collect();
        offered.sort();
        offered.dedup();
        match offered.as_slice() {
            [only] => Ok((*only).clone()),
            several => {
                let offered = several.iter().take(MOST_NAMED).map(|it| it.as_str().to_owned());
                Err(DelegationError::SkillNeeded { offered: offered.collect() })
            }
        }
    }

    /// Asks the router.
    pub(super) async fn rank(
        &self,
        delegation: &Delegation,
        request: &DelegationRequest,
        skill: &SkillName,
    ) -> Result<Ranking, DelegationError> {
        let mut router = Router::new(RouterSettings::default());
        for candidate in &self.found {
            let bound = delegation.client.trust().peer(&candidate.card.delegate_id);
            let listing = Listing {
                trust_domain: bound.map(|peer| peer.domain.clone()),
                // Nobody whom we believe vouches for a card that came from its own delegate.
                credence: ClaimType::SelfClaimed,
            };
            // More cards than a router takes are more than anybody is chosen from.
            if router.put(&candidate.card, &listing).is_err() {
                break;
            }
        }
        let evidence = book::evidence(delegation.peers(), skill).await?;
        for record in &evidence.tallies {
            // A record that no outcomes add up to was not written by us.
            let _ = router.absorb(record);
        }
        if !self.are_named {
            for (delegate, breaker) in evidence.breakers {
                router.restore_breaker(&BreakerRecord { delegate, breaker }, now());
            }
        }
        let choice = router.choose(&self.asked(delegation, request, skill), now());
        let mut order: Vec<DelegateId> =
            choice.ranked.iter().map(|ranked| ranked.delegate.clone()).collect();
        let mut why = choice.explain();
        if let Some(only) = &request.only {
            order.retain(|delegate| delegate == only);
            if order.is_empty() && self.by_id(only).is_some() {
                why = format!("{only} is the only one that may do it");
                order.push(only.clone());
            }
            return Ok(Ranking { order, choice, why });
        }
        if order.is_empty()
            && let Some(only) = self.only_named(&choice)
        {
            why = format!("{} is the only one that was named", only.as_str());
            order.push(only.clone());
        }
        Ok(Ranking { order, choice, why })
    }

    fn asked(
        &self,
        delegation: &Delegation,
        request: &DelegationRequest,
        skill: &SkillName,
    ) -> Request {
        let mut asked = Request::new(skill.clone());
        asked.strategy = request.strategy;
        asked.domains = request.trust_domain.iter().cloned().collect();
        asked.jurisdiction = request.jurisdiction.clone();
        asked.exclude = request.path.clone();
        // A person may ask the node of this home; a task that came a long way would go round.
        if !request.path.is_empty() {
            asked.exclude.push(delegation.client.delegate_id().clone());
        }
        if !self.are_named {
            // Who was named is asked whatever it is expected to cost; the contract binds it.
            let cost_usd = request.budget.max_cost_usd;
            asked.budget = CallBudget { cost_usd, latency_ms: None };
        }
        asked.limit = asked.limit.max(request.attempts);
        asked
    }

    /// The one delegate that was named, if only its own words were against it: it may answer for
    /// itself.
    fn only_named(&self, choice: &Choice) -> Option<&DelegateId> {
        let [only] = self.found.as_slice() else { return None };
        let is_mild = |filter| matches!(filter, Filter::Skill | Filter::Available);
        let mild = choice.passed_over.iter().all(|over| is_mild(over.filter));
        (self.are_named && mild).then_some(&only.card.delegate_id)
    }

    /// Ends the connections that were opened for this.
    pub(super) async fn close(&self) {
        let remotes = self.found.iter().filter_map(|it| it.remote.as_ref());
        futures_util::future::join_all(remotes.map(|remote| remote.close())).await;
    }
}

const AT_ONCE: usize = 8;
/// More names than this help nobody to choose.
const MOST_NAMED: usize = 20;
