//! The agent, asked by our own client and by hand.

use sabir_ldp::{DelegateId, SignaturePolicy, SigningKey, Trust, TrustDomain};
use sabir_net::{
    Address, Client, ClientSettings, Delegation, DelegationRequest, HttpSettings, LocalGround,
    Pace, PlainHttp, TaskInput,
};
use sabir_store::peers::Peers;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Front, Plan, message};
use crate::wire::Wire;

fn rpc(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
}

const VERSION: &str = "a2a-version: 1.0\r\ncontent-type: application/json\r\n";

async fn call(wire: &mut Wire, method: &str, params: Value) -> Value {
    wire.post("/a2a", VERSION, &rpc(method, params)).await.json()
}

/// BR-A1: what our client makes of our card, and of what the agent does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_client_delegates_to_the_agent() {
    let front = Front::open().await;
    let home = tempfile::tempdir().unwrap();
    let client = Client::new(ClientSettings {
        delegate_id: DelegateId::new("ldp:delegate:caller").unwrap(),
        key: SigningKey::from_seed(&[3; 32]),
        trust: Trust::new(TrustDomain::closed("default"), SignaturePolicy::WhereKnown),
        peers: Peers::open(home.path()).unwrap(),
        http: HttpSettings::default(),
        pace: Pace::default(),
    });
    let ground = LocalGround {
        environment: Vec::new(),
        directory: home.path().to_owned(),
        helper: "/nonexistent".into(),
    };
    let delegation = Delegation::new(client.unwrap(), ground);
    let address = format!("a2a://{}", front.world.address);
    let address = Address::parse(&address, PlainHttp::LoopbackOnly).unwrap();
    let (card, _) = delegation.look(&address).await.unwrap();
    let skills: Vec<&str> = card.capabilities.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(skills, ["echo", "steps"]);
    front.worker.steps.send_replace(3);
    for (skill, task, words) in [
        ("echo", TaskInput::Text("say hi".to_owned()), "say hi"),
        ("steps", TaskInput::Json(json!({ "steps": 3 })), "3"),
    ] {
        let mut request = DelegationRequest::new(task);
        request.skill = Some(skill.parse_skill());
        request.to = vec![address.clone()];
        let (events, mut told) = mpsc::channel(64);
        let stop = CancellationToken::new();
        let run = async {
            let report = delegation.run(&request, &events, &stop).await.unwrap();
            drop(events);
            report
        };
        let drain = async { while told.recv().await.is_some() {} };
        let (report, ()) = tokio::join!(run, drain);
        assert!(report.is_done(), "{:?}", report.error);
        assert!(report.output.unwrap().to_string().contains(words));
    }
    front.end().await;
}

trait ParseSkill {
    fn parse_skill(&self) -> sabir_ldp::SkillName;
}

impl ParseSkill for &str {
    fn parse_skill(&self) -> sabir_ldp::SkillName {
        sabir_ldp::SkillName::new(*self).unwrap()
    }
}

/// BR-A3, BR-A13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_none_are_refused_in_their_own_form() {
    let mut plan = Plan::default();
    plan.limits.body_bytes = 1000;
    let front = Front::with(plan).await;
    let mut wire = front.world.wire().await;
    let get = rpc("GetTask", json!({ "id": "x" }));
    let old = wire.post("/a2a", "content-type: application/json\r\n", &get).await.json();
    assert_eq!(old["error"]["code"], -32009, "{old}");
    for (body, code) in [
        ("{".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":7,"params":[12345678901234567890123456]}"#.to_owned(), -32700),
        (json!({ "jsonrpc": "1.0", "id": 7, "method": "GetTask" }).to_string(), -32600),
        (json!({ "jsonrpc": "2.0", "id": 7 }).to_string(), -32600),
        (rpc("message/send", json!({})), -32601),
        (rpc("SendMessage", json!({ "message": 1 })), -32602),
        (rpc("SendMessage", json!({})), -32602),
        (get, -32001),
        (rpc("GetExtendedAgentCard", json!({})), -32004),
    ] {
        let answer = wire.post("/a2a", VERSION, &body).await.json();
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        let info = answer["error"]["data"].as_array().unwrap().last().unwrap();
        assert_eq!(info["domain"], "a2a-protocol.org", "{answer}");
    }
    let long = rpc("GetTask", json!({ "id": "x".repeat(1000) }));
    let reply = wire.post("/a2a", VERSION, &long).await;
    assert_eq!(reply.status, 413);
    let mut wire = front.world.wire().await;
    for (path, status, reason) in [
        ("/a2a/tasks/x", 404, "TASK_NOT_FOUND"),
        ("/a2a/tasks?pageSize=many", 400, "INVALID_PARAMS"),
        ("/a2a/tasks?status=SLEEPING", 400, "INVALID_PARAMS"),
        ("/a2a/nowhere", 404, "METHOD_NOT_FOUND"),
        ("/a2a/message:send", 405, "METHOD_NOT_FOUND"),
        ("/a2a/extendedAgentCard", 400, "UNSUPPORTED_OPERATION"),
    ] {
        let reply = wire.get(path, VERSION).await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
        let error = &reply.json()["error"];
        assert_eq!(error["details"][0]["reason"], reason, "{path}: {error}");
        assert_eq!(error["code"], status, "{path}: {error}");
    }
    let reply = wire.get("/a2a/tasks", "").await;
    assert_eq!(reply.json()["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
    front.end().await;
}

/// BR-A14, BR-G1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_forbids_messages_is_kept() {
    let plan = Plan {
        policy: "[[deny]]\ntool = \"serve.message\"\nreason = \"closed today\"\n",
        ..Plan::default()
    };
    let front = Front::with(plan).await;
    let mut wire = front.world.wire().await;
    let sent = json!({ "message": message("m", "echo", json!([{ "text": "x" }])) });
    let answer = call(&mut wire, "SendMessage", sent).await;
    assert_eq!(answer["error"]["code"], -32004, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("closed today"), "{answer}");
    assert!(front.orders.list(None, 10).await.unwrap().is_empty());
    front.end().await;
}

/// BR-A16: whatever was taken can be shown, alone and in a list, and what could not be shown is not
/// taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_can_be_shown_however_deep_it_is() {
    let front = Front::open().await;
    let mut wire = front.world.wire().await;
    let mut taken = 0;
    for depth in 40..60 {
        let data = (0..depth).fold(json!("x"), |inner, _| json!([inner]));
        let parts = json!([{ "text": "say" }, { "data": data }]);
        let sent = json!({ "message": message(&format!("m-{depth}"), "echo", parts) });
        let reply = call(&mut wire, "SendMessage", sent).await;
        if let Some(error) = reply.get("error") {
            assert_eq!(error["code"], -32602, "{depth}: {error}");
            continue;
        }
        taken += 1;
        let part = &reply["result"]["task"]["artifacts"][0]["parts"][0];
        let output = match &part["text"] {
            Value::Null => part["data"].clone(),
            text => serde_json::from_str(text.as_str().unwrap()).unwrap(),
        };
        assert_eq!(part["mediaType"], "application/json");
        assert_eq!(output["data"], data, "{depth}: {part}");
    }
    assert!((5..20).contains(&taken), "{taken}");
    let all = json!({ "includeArtifacts": true, "historyLength": 1, "pageSize": 100 });
    let listed = call(&mut wire, "ListTasks", all).await;
    assert_eq!(listed["result"]["tasks"].as_array().map(Vec::len), Some(taken), "{listed}");
    let parts = r#"[{"text":"say"},{"data":{"n":[9007199254740993]}}]"#;
    let sent = json!({
        "message": message("m-n", "echo", serde_json::from_str(parts).unwrap()),
    });
    let reply = call(&mut wire, "SendMessage", sent).await;
    let said = reply["error"]["message"].as_str().unwrap();
    assert!(said.contains("9007199254740993") && said.contains("as a string"), "{said}");
    front.end().await;
}
