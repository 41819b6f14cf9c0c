//! What tests delegate with: a fresh home, a client, and a delegation.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use sabir_ldp::{
    DelegateId, Frame, Payload, SignaturePolicy, SigningKey, SkillName, TaskId, TaskRequest, Trust,
    TrustDomain,
};
use sabir_net::{
    Address, Base, Client, ClientSettings, Delegation, DelegationEvent, DelegationReport,
    DelegationRequest, Errand, ErrandNews, HttpSettings, LocalGround, Pace, PlainHttp, TaskInput,
};
use sabir_store::peers::Peers;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub(crate) const US: &str = "ldp:delegate:caller";

pub(crate) struct World {
    home: TempDir,
    pub(crate) peers: Peers,
    pub(crate) trust: Trust,
    pub(crate) pace: Pace,
    pub(crate) http: HttpSettings,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = TempDir::new().unwrap();
        let peers = Peers::open(home.path()).unwrap();
        let trust = Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown);
        let pace = Pace {
            answer: Duration::from_secs(20),
            silence: Duration::from_secs(20),
            attempts: 3,
            pause: Duration::from_millis(2),
        };
        Self { home, peers, trust, pace, http: HttpSettings::default() }
    }

    pub(crate) fn client(&self) -> Client {
        let http = HttpSettings {
            tokens: self.http.tokens.clone(),
            identity_pem: self.http.identity_pem.clone(),
            roots_pem: self.http.roots_pem.clone(),
        };
        Client::new(ClientSettings {
            delegate_id: id(US),
            key: SigningKey::from_seed(&[3; 32]),
            trust: self.trust.clone(),
            peers: self.peers.clone(),
            http,
            pace: self.pace.clone(),
        })
        .unwrap()
    }

    pub(crate) fn delegation(&self) -> Delegation {
        let ground = LocalGround {
            environment: std::env::vars_os().collect(),
            directory: self.home.path().to_owned(),
            helper: "/nonexistent".into(),
        };
        Delegation::new(self.client(), ground)
    }

    /// Delegates, and collects the events.
    pub(crate) async fn run(
        &self,
        request: &DelegationRequest,
    ) -> (DelegationReport, Vec<DelegationEvent>) {
        let (events, mut told) = mpsc::channel(16);
        let stop = CancellationToken::new();
        let delegation = self.delegation();
        let run = async move {
            let report = delegation.run(request, &events, &stop).await.unwrap();
            drop(events);
            report
        };
        let collect = async {
            let mut all = Vec::new();
            while let Some(event) = told.recv().await {
                all.push(event);
            }
            all
        };
        tokio::join!(run, collect)
    }
}

pub(crate) fn id(name: &str) -> DelegateId {
    DelegateId::new(name).unwrap()
}

pub(crate) fn skill(name: &str) -> SkillName {
    SkillName::new(name).unwrap()
}

pub(crate) fn base(text: &str) -> Base {
    Base::parse(text, PlainHttp::LoopbackOnly).unwrap()
}

pub(crate) fn address(text: &str) -> Address {
    Address::parse(text, PlainHttp::LoopbackOnly).unwrap()
}

/// A request for this skill at these addresses.
pub(crate) fn request(name: &str, to: &[&str]) -> DelegationRequest {
    let mut request = DelegationRequest::new(TaskInput::Text("say hi".to_owned()));
    request.skill = Some(skill(name));
    request.to = to.iter().map(|to| address(to)).collect();
    request
}

pub(crate) fn task(name: &str, skill_name: &str) -> TaskRequest {
    TaskRequest {
        task_id: TaskId::new(name).unwrap(),
        skill: skill(skill_name),
        payload: Payload::Frame(Frame::from_text("say hi").unwrap()),
        contract: None,
        delegation_path: Vec::new(),
    }
}

/// Everything about a task until it is over: the numbers of its updates, and how it ended.
pub(crate) async fn see_through(errand: &mut Errand) -> (Vec<Option<u64>>, ErrandNews) {
    let mut updates = Vec::new();
    while let Some(news) = errand.next().await {
        match news {
            ErrandNews::Progress(update) => updates.push(update.seq),
            ErrandNews::Opened { .. } => {}
            ErrandNews::Done(_) | ErrandNews::Failed(_) => return (updates, news),
        }
    }
    panic!("a task without an end")
}

/// The code of its failure, or its output.
pub(crate) fn ending(news: &ErrandNews) -> Result<String, String> {
    match news {
        ErrandNews::Done(delivered) => Ok(delivered.report.outcome.output.to_string()),
        ErrandNews::Failed(error) => Err(error.code.clone()),
        other => panic!("no ending: {other:?}"),
    }
}

/// Opens a session with whoever is there and has it do a task.
pub(crate) async fn do_task(world: &World, url: &str, skill: &str) -> Result<String, String> {
    let client = world.client();
    let met = client.meet(&base(url)).await.map_err(|error| error.to_string())?;
    let session = client.session(&met, None);
    let mut errand = session.submit(task("t-1", skill)).await;
    let (_, end) = see_through(&mut errand).await;
    ending(&end)
}
