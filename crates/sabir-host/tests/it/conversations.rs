//! Conversations that a person has from a page: they are held here, and told by the journal.

use std::path::Path;
use std::time::Duration;

use sabir_engine::{ConfigureSession, ProviderSettings, WireApi};
use sabir_host::process::Runner;
use sabir_host::sandbox::LayerChoice;
use sabir_host::{
    Asker, ConversationError, ConversationState, Conversations, Decision, Defaults, Engine, Inbox,
    MatterKind, McpConfig, Providers, Setup,
};
use sabir_policy::ApprovalPolicy;
use sabir_store::{Line, Scope, SessionId};
use sabir_testkit::fake_model::{FakeModel, Gate, Reply, responses};
use serde_json::json;

fn engine(home: &Path, model: &FakeModel) -> Engine {
    let provider = ProviderSettings {
        base_url: Some(model.base_url()),
        wire_api: Some(WireApi::Responses),
        ..ProviderSettings::default()
    };
    let defaults = Defaults {
        model: Some("m".to_owned()),
        provider,
        approval_policy: Some(ApprovalPolicy::Untrusted),
        cwd: home.to_owned(),
        ..Defaults::default()
    };
    Engine::open(Setup {
        home: home.to_owned(),
        runner: Runner::new("/nonexistent", LayerChoice::None),
        providers: Providers::none(),
        key_files: Vec::new(),
        mcp: McpConfig::default(),
        defaults,
    })
    .unwrap()
}

fn says(text: &str, response: &str) -> Reply {
    Reply::sse([responses::message(text), responses::completed(response)])
}

fn calls_shell(response: &str) -> Reply {
    let arguments = json!({ "command": ["touch", "mark"] });
    Reply::sse([responses::call("c-1", "shell", &arguments), responses::completed(response)])
}

/// Until there is, or is not, such a conversation. Only for states that last.
async fn until(conversations: &Conversations, id: &str, state: Option<ConversationState>) {
    let mut watch = conversations.watch();
    while conversations.get(id).map(|it| it.state) != state {
        watch.changed().await.unwrap();
    }
}

/// Until so many rows of a kind are there, and the agent is idle.
async fn settled(conversations: &Conversations, engine: &Engine, id: &str, rows: (&str, usize)) {
    let (tag, count) = rows;
    let mut watch = conversations.watch();
    loop {
        let is_idle = conversations.get(id).is_some_and(|it| it.state == ConversationState::Idle);
        if is_idle && lines(engine, id, tag).len() == count {
            return;
        }
        watch.changed().await.unwrap();
    }
}

fn lines(engine: &Engine, id: &str, tag: &str) -> Vec<Line> {
    let reader = engine.store().reader().unwrap();
    let mut lines = reader.journal(Scope::Session(&SessionId::new(id)), 0, 10_000).unwrap();
    lines.retain(|line| line.tag == tag);
    lines
}

/// What the agent said, as the journal has it.
fn told(engine: &Engine, id: &str) -> Vec<String> {
    let said = lines(engine, id, "agent_message");
    let words = |line: &Line| {
        let event: serde_json::Value = serde_json::from_str(&line.body).unwrap();
        event["msg"]["message"].as_str().unwrap().to_owned()
    };
    said.iter().map(words).collect()
}

#[tokio::test]
async fn a_conversation_goes_on_also_in_the_next_process() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::start([says("one", "r-1"), says("two", "r-2"), says("three", "r-3")]);
    let engine = engine(home.path(), &model);
    let conversations = Conversations::new(engine.clone(), Inbox::default());
    let id = conversations.start(ConfigureSession::default(), "hello").await.unwrap();
    settled(&conversations, &engine, &id, ("task_complete", 1)).await;
    conversations.input(&id, "and then?").await.unwrap();
    settled(&conversations, &engine, &id, ("task_complete", 2)).await;
    assert_eq!(told(&engine, &id), ["one", "two"]);
    assert_eq!(conversations.list().len(), 1);
    conversations.shutdown().await;
    assert!(conversations.list().is_empty());
    assert_eq!(conversations.interrupt(&id).await, Err(ConversationError::NotOpen));

    let conversations = Conversations::new(engine.clone(), Inbox::default());
    conversations.input(&id, "again").await.unwrap();
    settled(&conversations, &engine, &id, ("task_complete", 3)).await;
    assert_eq!(told(&engine, &id), ["one", "two", "three"]);
    let input = model.requests()[2].body["input"].to_string();
    assert!(input.contains("hello") && input.contains("again"), "{input}");
    conversations.shutdown().await;
}

/// One that made room for another is opened anew when somebody speaks in it, and stays open.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_made_room_comes_back_whole() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::answering(|_, number| Some(says("yes", &format!("r-{number}"))));
    let engine = engine(home.path(), &model);
    let hour = Duration::from_secs(3600);
    let conversations = Conversations::with_room(engine.clone(), Inbox::default(), hour, 1);
    let mut ids = Vec::new();
    for word in ["one", "two"] {
        let id = conversations.start(ConfigureSession::default(), word).await.unwrap();
        settled(&conversations, &engine, &id, ("task_complete", 1)).await;
        ids.push(id);
    }
    for count in 2..12 {
        for id in &ids {
            conversations.input(id, "and then?").await.unwrap();
            settled(&conversations, &engine, id, ("task_complete", count)).await;
            assert_eq!(conversations.list().len(), 1);
        }
    }
    conversations.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_said_or_opened_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let engine = engine(home.path(), &FakeModel::start([]));
    let conversations = Conversations::new(engine, Inbox::default());
    let configure = ConfigureSession::default();
    let empty = conversations.start(configure.clone(), " \n").await;
    assert_eq!(empty, Err(ConversationError::Empty));
    let unknown = conversations.input("nobody", "hello").await.unwrap_err();
    assert!(unknown.to_string().contains("no session nobody is stored here"), "{unknown}");
    let configure = ConfigureSession { cwd: Some("relative".to_owned()), ..configure };
    let refused = conversations.start(configure, "hello").await.unwrap_err();
    assert!(refused.to_string().contains("cwd must be absolute"), "{refused}");
    assert!(conversations.list().is_empty());
    conversations.shutdown().await;
}

#[tokio::test]
async fn what_needs_an_answer_is_in_the_inbox_until_it_has_one() {
    let home = tempfile::tempdir().unwrap();
    let model = FakeModel::start([calls_shell("r-1"), says("then not", "r-2")]);
    let engine = engine(home.path(), &model);
    let inbox = Inbox::default();
    let conversations = Conversations::new(engine.clone(), inbox.clone());
    let id = conversations.start(ConfigureSession::default(), "touch it").await.unwrap();
    until(&conversations, &id, Some(ConversationState::Waiting)).await;
    let [matter] = <[_; 1]>::try_from(inbox.list()).unwrap();
    assert_eq!(matter.asker, Asker::Session { id: id.clone() });
    assert_eq!(matter.kind, MatterKind::Approval);
    assert!(matter.what.contains("touch mark"), "{}", matter.what);
    assert!(matter.choices.contains(&Decision::ApproveForSession));
    inbox.decide(matter.id, Decision::Deny).unwrap();
    settled(&conversations, &engine, &id, ("task_complete", 1)).await;
    assert_eq!(told(&engine, &id), ["then not"]);
    assert!(!home.path().join("mark").exists());

    // An interrupt takes the question back.
    model.push(calls_shell("r-3"));
    conversations.input(&id, "once more").await.unwrap();
    until(&conversations, &id, Some(ConversationState::Waiting)).await;
    conversations.interrupt(&id).await.unwrap();
    until(&conversations, &id, Some(ConversationState::Idle)).await;
    let mut changes = inbox.watch();
    while !inbox.list().is_empty() {
        changes.changed().await.unwrap();
    }
    conversations.shutdown().await;
}

#[tokio::test]
async fn one_whose_model_fails_is_idle_again() {
    let home = tempfile::tempdir().unwrap();
    let failing = Reply::error(400, "bad_request", "no such thing");
    let model = FakeModel::start([failing, says("now it works", "r-1")]);
    let engine = engine(home.path(), &model);
    let conversations = Conversations::new(engine.clone(), Inbox::default());
    let id = conversations.start(ConfigureSession::default(), "hello").await.unwrap();
    settled(&conversations, &engine, &id, ("error", 1)).await;
    conversations.input(&id, "and now?").await.unwrap();
    settled(&conversations, &engine, &id, ("task_complete", 1)).await;
    assert_eq!(told(&engine, &id), ["now it works"]);
    conversations.shutdown().await;
}

#[tokio::test]
async fn one_in_which_nothing_happens_is_closed_and_opens_when_somebody_speaks() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::new();
    let slow =
        Reply::sse([responses::message("one")]).then_wait(&gate).then(responses::completed("r-1"));
    let model = FakeModel::start([slow, says("two", "r-2")]);
    let engine = engine(home.path(), &model);
    let patience = Duration::from_millis(1);
    let conversations = Conversations::with_patience(engine.clone(), Inbox::default(), patience);
    let id = conversations.start(ConfigureSession::default(), "hello").await.unwrap();
    // It stays for as long as the agent works.
    until(&conversations, &id, Some(ConversationState::Working)).await;
    tokio::task::yield_now().await;
    assert_eq!(conversations.list().len(), 1);
    gate.open();
    until(&conversations, &id, None).await;
    conversations.input(&id, "and then?").await.unwrap();
    until(&conversations, &id, None).await;
    conversations.shutdown().await;
    assert_eq!(told(&engine, &id), ["one", "two"]);
}
