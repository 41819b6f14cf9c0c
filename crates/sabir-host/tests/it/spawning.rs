//! What LLMX's `spawn` hands to whoever takes work.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{Action, ActionSetup, Actions, Order, Providers, SpawnRequest, Spawned, Spawner};
use sabir_ldp::TaskId;
use sabir_policy::{ApprovalPolicy, Bounds, SandboxPolicy};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Knows one agent, and remembers what it was given.
#[derive(Debug, Default)]
struct Router(Mutex<Vec<SpawnRequest>>);

impl Spawner for Router {
    fn knows<'a>(&'a self, name: &'a str) -> BoxFuture<'a, bool> {
        std::future::ready(name == "linguist").boxed()
    }

    fn takes(&self, _: &SpawnRequest) -> bool {
        true
    }

    fn handed_on_by(&self, _: &TaskId) -> Option<TaskId> {
        None
    }

    fn spawn(
        &self,
        request: SpawnRequest,
        _: mpsc::Sender<String>,
        _: CancellationToken,
    ) -> BoxFuture<'static, Spawned> {
        let answer = match request.task.as_str() {
            "fail" => Err("it came to nothing".to_owned()),
            task => Ok(format!("did {task}")),
        };
        self.0.lock().unwrap().push(request);
        std::future::ready(Spawned { answer, tokens: None }).boxed()
    }
}

#[tokio::test]
async fn a_known_agent_or_a_skill_is_for_the_router_and_other_names_are_not() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let router = Arc::new(Router::default());
    let actions = Actions::open(ActionSetup {
        root: root.path().canonicalize().unwrap(),
        home: home.path().to_owned(),
        runner: Runner::new("/nonexistent", LayerChoice::None),
        providers: Providers::none(),
        approval_policy: ApprovalPolicy::OnRequest,
        sandbox_policy: SandboxPolicy::default(),
        agents: None,
        spawner: Some(Arc::clone(&router) as Arc<dyn Spawner>),
    })
    .unwrap();
    let text = "HEADER:{f:a,t:b,s:1} \
        ACT:{op:spawn,tgt:linguist,args:{task:\"check\",budget_tokens:7,deadline_secs:9}} \
        ACT:{op:spawn,tgt:anyone,args:{task:\"translate\",skill:tongues}} \
        ACT:{op:spawn,tgt:linguist,args:{task:\"fail\"}} \
        ACT:{op:spawn,tgt:helper,args:{task:\"help\"}}";
    let parsed = sabir_llmx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let message = parsed.tree.messages().next().unwrap();
    let acts: Vec<Action> = message
        .blocks()
        .filter_map(|block| Some(Action::new(&sabir_llmx::Act::read(block)?)))
        .collect();
    assert_eq!(acts.len(), 4);
    let (tell, mut told) = mpsc::channel(8);
    let stop = CancellationToken::new();
    let run = async {
        let observed = actions.run(&acts, Order::InTurn, &tell, &stop).await;
        drop(tell);
        observed
    };
    let listen = async { while told.recv().await.is_some() {} };
    let (observed, ()) = tokio::join!(run, listen);
    let said: Vec<Result<String, String>> = observed
        .iter()
        .map(|it| match &it.outcome {
            Ok(content) => Ok(content["text"].as_str().unwrap().to_owned()),
            Err(failure) => Err(failure.message.clone()),
        })
        .collect();
    assert_eq!(said[..2], [Ok("did check".to_owned()), Ok("did translate".to_owned())]);
    assert_eq!(said[2], Err("it came to nothing".to_owned()));
    assert!(said[3].as_ref().unwrap_err().contains("no model is configured"), "{said:?}");
    let given: Vec<_> = router
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|it| (it.to.clone(), it.skill.clone(), it.budget_tokens, it.deadline_secs))
        .collect();
    // Whoever does it may do no more than the one that asks.
    let place = root.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let own = Bounds::new(ApprovalPolicy::OnRequest, SandboxPolicy::default(), place);
    assert!(router.0.lock().unwrap().iter().all(|it| it.within == own));
    let linguist = Some("linguist".to_owned());
    assert_eq!(
        given,
        [
            (linguist.clone(), None, Some(7), Some(9)),
            (None, Some("tongues".to_owned()), None, None),
            (linguist, None, None, None),
        ]
    );
}
