//! Blocks as Rust types: what is in them.

use std::borrow::Cow;

use sabir_llmx::{
    Block, Content, Node, Operation, Outcome, Parsed, Receiver, StepId, StepStatus, check,
};

const HEADER: &str = "HEADER:{f:Claude,t:ALL,s:7,b:B1,x_v:\"1.0\"}\n";

fn with_header(block: &str) -> String {
    format!("{HEADER}{block}\n")
}

fn first_block<'a>(parsed: &'a Parsed<'_>) -> Block<'a> {
    parsed.tree.messages().next().unwrap().blocks().next().unwrap()
}

/// The keys and the values as written.
fn fields(object: Node<'_>) -> Vec<(&str, &str)> {
    object.fields().map(|field| (field.key(), field.value.text())).collect()
}

#[test]
fn headers() {
    let parsed = check(HEADER);
    let header = parsed.tree.messages().next().unwrap().typed().unwrap().header;
    assert_eq!(header.from, "Claude");
    assert_eq!(header.to, Receiver::All);
    assert_eq!(header.sequence, 7);
    assert_eq!(header.batch.as_deref(), Some("B1"));
    assert_eq!(header.extra.get("x_v").and_then(Node::as_text).as_deref(), Some("1.0"));
    assert_eq!(header.extra.iter().count(), 1);

    let text = "HEADER:{f:a,t:[b,\"c d\"],s:0}";
    let parsed = check(text);
    let header = parsed.tree.messages().next().unwrap().typed().unwrap().header;
    assert!(header.to.includes("c d") && !header.to.includes("e"));
    assert_eq!(header.to, Receiver::Several(vec![Cow::Borrowed("b"), Cow::Borrowed("c d")]));
    assert!(Receiver::All.includes("anyone"));
}

#[test]
fn tasks() {
    let text = with_header("CTX:{p:shop,f:[\"a.rs\",null,b],st:{Env:dev},issue:\"P-1\",own:1}");
    let parsed = check(&text);
    let Some(Content::Ctx(ctx)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!((&*ctx.project, ctx.issue.as_deref()), ("shop", Some("P-1")));
    assert_eq!(ctx.files, ["a.rs", "b"]);
    assert_eq!(ctx.state.map(fields), Some(vec![("Env", "dev")]));
    assert_eq!(ctx.extra.get("own").map(Node::text), Some("1"));

    let text = with_header("REQ:{O:\"say \\\"hi\\\"\",\"pr\":5,d:null}");
    let parsed = check(&text);
    let Some(Content::Req(req)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!((&*req.objective, req.priority.get()), ("say \"hi\"", 5));
    assert!(req.dependencies.is_empty() && req.experts.is_empty());

    let text = with_header("PLAN:[(i:1.10,t:\"a\",s:I,x_by:me),{i:\"1\",t:b,s:\"X\"}]");
    let parsed = check(&text);
    let Some(Content::Plan(plan)) = Content::read(first_block(&parsed)) else { panic!() };
    let [first, second] = &plan.steps[..] else { panic!() };
    assert_eq!((&first.id, first.status), (&StepId::Number("1.10"), StepStatus::InProgress));
    assert_eq!(first.extra.get("x_by").map(Node::text), Some("me"));
    assert_eq!((second.id.to_string(), second.status.as_str()), ("1".to_owned(), "X"));
    assert_eq!(second.task, "b");
}

#[test]
fn actions() {
    let text = with_header("ACT:{i:A1,op:edit,tgt:\"p:x.rs#L4\",args:{a:[1]}}");
    let parsed = check(&text);
    let Some(Content::Act(act)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!(act.id.as_deref(), Some("A1"));
    assert_eq!((&act.operation, &*act.target), (&Operation::Edit, "p:x.rs#L4"));
    assert_eq!(act.arguments.map(fields), Some(vec![("a", "[1]")]));
    for word in ["read", "write", "edit", "shell", "search", "spawn", "deploy"] {
        let operation = Operation::from_word(Cow::Borrowed(word));
        assert_eq!(operation.as_str(), word);
        assert_eq!(matches!(operation, Operation::Other(_)), word == "deploy");
    }
}

#[test]
fn outcomes() {
    let outcome = |block: &str| {
        let text = with_header(block);
        let parsed = check(&text);
        let Some(Content::Obs(obs)) = Content::read(first_block(&parsed)) else {
            panic!("{block}")
        };
        match obs.outcome {
            Outcome::Ok { content } => format!("ok {}", content.text()),
            Outcome::Err { error, content } => {
                format!("err {error:?} {:?}", content.map(Node::text))
            }
        }
    };
    assert_eq!(outcome("OBS:{s:OK,c:{a:1}}"), "ok {a:1}");
    assert_eq!(outcome("OBS:{s:ERR,e:\"x\"}"), "err Some(\"x\") None");
    assert_eq!(outcome("OBS:{s:ERR,c:{}}"), "err None None");
    assert_eq!(outcome("OBS:{s:ERR,c:{a:1}}"), "err None Some(\"{a:1}\")");
    assert_eq!(outcome("OBS:{s:ERR,x_c:{a:1}}"), "err None Some(\"{a:1}\")");
}

#[test]
fn dialogue() {
    let text = with_header("BLK:{w:\"no key\",a:[\"mock\"],esc:true}");
    let parsed = check(&text);
    let Some(Content::Blk(blk)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!((&*blk.why, blk.escalate), ("no key", Some(true)));
    assert_eq!(blk.alternatives, ["mock"]);

    let text = with_header("ASK:{q:\"which?\",o:[\"a\",\"b\"],def:\"a\"}");
    let parsed = check(&text);
    let Some(Content::Ask(ask)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!((&*ask.question, ask.default.as_deref()), ("which?", Some("a")));
    assert_eq!(ask.options, ["a", "b"]);

    let text = with_header("END:{n:\"review\",t:[\"x\"],r:[],del:[\"a.rs\"]}");
    let parsed = check(&text);
    let Some(Content::End(end)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!(end.next, "review");
    assert_eq!(
        (end.tests, end.risks, end.deliverables),
        (vec!["x".into()], vec![], vec!["a.rs".into()])
    );

    let text = with_header("RES:{o:ACK,msg:\"go\"}");
    let parsed = check(&text);
    let Some(Content::Res(res)) = Content::read(first_block(&parsed)) else { panic!() };
    assert_eq!((&*res.option, res.message.as_deref()), ("ACK", Some("go")));
}

#[test]
fn what_cannot_be_read_is_none() {
    for block in [
        "REQ:{o:\"x\"}",
        "REQ:{o:\"x\",pr:6}",
        "REQ:[]",
        "PLAN:{}",
        "PLAN:[1]",
        "PLAN:[(i:1,t:\"x\",s:done)]",
        "OBS:{s:OK}",
        "OBS:{s:ok,c:{}}",
        "ACT:{op:read,tgt:1}",
        "END:{n:\"x\",del:[1]}",
        "BLK:{w:\"x\",a:[],esc:1}",
    ] {
        let text = with_header(block);
        let parsed = check(&text);
        assert!(parsed.has_errors(), "{block}");
        assert!(Content::read(first_block(&parsed)).is_none(), "{block}");
        assert!(parsed.tree.messages().next().unwrap().typed().is_none(), "{block}");
    }
    for foreign in ["X_A:[1]", "CUSTOM:{}"] {
        let text = with_header(foreign);
        let parsed = check(&text);
        let content = Content::read(first_block(&parsed));
        assert!(matches!(content, Some(Content::Extension(_) | Content::Unknown(_))), "{foreign}");
    }
}
