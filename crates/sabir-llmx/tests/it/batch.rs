//! Batches: which observation answers which action, and what is said when one does not.

use expect_test::{Expect, expect};
use sabir_llmx::{Batches, check_conversation, parse};

/// Every action with its answers, then what was found.
fn check(text: &str, expected: Expect) {
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let mut batches = Batches::new();
    parsed.tree.messages().for_each(|message| batches.feed(message));
    let report = batches.finish();
    let mut out = String::new();
    let groups = report
        .batches
        .iter()
        .map(|batch| (format!("{} of {}", batch.id, batch.from), &batch.actions));
    let loose = (!report.loose.is_empty()).then(|| ("no batch".to_owned(), &report.loose));
    for (name, actions) in groups.chain(loose) {
        out.push_str(&format!("{name}\n"));
        for action in actions {
            let id = action.id.as_deref().unwrap_or("_");
            let answers: Vec<String> = action
                .answers
                .iter()
                .map(|it| format!("{}{}", it.from, if it.failed { " failed" } else { "" }))
                .collect();
            let line = format!("  {id} -> {}: {}", action.to, answers.join(", "));
            out.push_str(line.trim_end_matches(": "));
            out.push('\n');
        }
    }
    for found in &report.diagnostics {
        let line = 1 + text[..found.span.start as usize].matches('\n').count();
        let labels: Vec<usize> = found
            .labels
            .iter()
            .map(|it| 1 + text[..it.span.start as usize].matches('\n').count())
            .collect();
        let severity = found.severity.as_str();
        out.push_str(&format!("{severity}[{}] {line} {labels:?}: {}\n", found.code, found.message));
    }
    expected.assert_eq(&out);
}

/// LX-B1, LX-B2.
#[test]
fn observations_come_in_any_order() {
    check(
        r#"HEADER:{f:Claude,t:ALL,s:1,b:B1}
ACT:{i:A1,op:read,tgt:"p:file1.ts"}
ACT:{i:A2,op:read,tgt:"p:file2.ts"}
ACT:{i:A3,op:search,tgt:"p:src/",args:{q:"TODO"}}
HEADER:{f:Gemini,t:Claude,s:2,b:B1}
OBS:{ai:A1,s:OK,c:{lines:100}}
OBS:{ai:A3,s:OK,c:{matches:5}}
OBS:{ai:A2,s:ERR,e:"gone"}
HEADER:{f:Llama,t:Claude,s:1,b:B1}
OBS:{ai:A2,s:OK,c:{lines:50}}
"#,
        expect![[r#"
            B1 of Claude
              A1 -> ALL: Gemini
              A2 -> ALL: Gemini failed, Llama
              A3 -> ALL: Gemini
        "#]],
    );
}

/// LX-B3, LX-B4, LX-B5, LX-B6.
#[test]
fn what_does_not_fit_is_said() {
    check(
        r#"HEADER:{f:Claude,t:Gemini,s:1,b:B1}
ACT:{i:A1,op:read,tgt:"a"}
ACT:{i:A2,op:read,tgt:"b"}
ACT:{i:A1,op:read,tgt:"c"}
ACT:{op:read,tgt:"d"}
ACT:{i:A4,op:read,tgt:"d"}
HEADER:{f:Gemini,t:Claude,s:1,b:B1}
OBS:{ai:A1,s:OK,c:{n:1}}
OBS:{ai:A1,s:OK,c:{n:2}}
OBS:{ai:A9,s:OK,c:{n:3}}
OBS:{s:OK,c:{n:4}}
OBS:{ai:A4,s:ERR,e:"x"}
"#,
        expect![[r#"
            B1 of Claude
              A1 -> Gemini: Gemini
              A2 -> Gemini
              A1 -> Gemini
              _ -> Gemini
              A4 -> Gemini: Gemini failed
            warning[LX408] 3 []: action `A2` of batch `B1` has no observation
            error[LX403] 4 [2]: batch `B1` has an action `A1` already
            warning[LX404] 5 []: an action in a batch of several has no id: batch `B1`
            error[LX406] 9 [8]: `Gemini` answers this action a second time
            error[LX405] 10 []: batch `B1` has no action `A9`
            warning[LX407] 11 []: this observation does not say which of 4 actions it answers
        "#]],
    );
}

/// LX-B6, LX-B7.
#[test]
fn a_document_may_show_a_part() {
    check(
        "HEADER:{f:a,t:b,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"x\"}\nACT:{i:A2,op:read,tgt:\"x\"}\n",
        expect![[r#"
            B1 of a
              A1 -> b
              A2 -> b
            info[LX408] 2 []: no action of batch `B1` has an observation yet
        "#]],
    );
    check(
        "HEADER:{f:b,t:a,s:1,b:B1}\nOBS:{ai:A1,s:ERR}\n",
        expect![[r#"
            info[LX405] 2 []: no action of batch `B1` in the document fits this
        "#]],
    );
    check(
        "HEADER:{f:b,t:a,s:1}\nOBS:{ai:A1,s:ERR}\nOBS:{s:ERR}\n",
        expect![[r#"
        info[LX405] 2 []: the action `A1` is not in the document
    "#]],
    );
}

/// LX-B8.
#[test]
fn a_batch_of_one_needs_no_ids() {
    check(
        "HEADER:{f:a,t:b,s:1,b:B1}\nACT:{op:read,tgt:\"x\"}\nHEADER:{f:b,t:a,s:1,b:B1}\nOBS:{s:ERR}\n",
        expect![[r#"
            B1 of a
              _ -> b: b failed
        "#]],
    );
    check(
        "HEADER:{f:a,t:b,s:1,b:B1}\nACT:{i:1,op:read,tgt:\"x\"}\nACT:{op:read,tgt:\"x\"}\n\
         HEADER:{f:b,t:a,s:1,b:B1}\nOBS:{ai:\"1\",s:ERR}\nOBS:{s:ERR}\nOBS:{s:ERR}\n",
        expect![[r#"
            B1 of a
              1 -> b: b failed
              _ -> b: b failed
            warning[LX404] 3 []: an action in a batch of several has no id: batch `B1`
        "#]],
    );
}

/// LX-B1, LX-B9.
#[test]
fn two_agents_may_use_one_name() {
    check(
        "HEADER:{f:a,t:w,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"x\"}\n\
         HEADER:{f:b,t:w,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"y\"}\n\
         HEADER:{f:w,t:b,s:1,b:B1}\nOBS:{ai:A1,s:ERR}\n\
         HEADER:{f:w,t:a,s:2,b:B1}\nOBS:{ai:A1,s:ERR}\n\
         HEADER:{f:w,t:ALL,s:3,b:B1}\nOBS:{ai:A1,s:ERR}\n",
        expect![[r#"
            B1 of a
              A1 -> w: w failed
            B1 of b
              A1 -> w: w failed
            info[LX405] 10 []: no action of batch `B1` in the document fits this
        "#]],
    );
}

/// LX-B10.
#[test]
fn outside_a_batch_the_latest_action_counts() {
    check(
        "HEADER:{f:a,t:b,s:1}\nACT:{i:A1,op:read,tgt:\"x\"}\nHEADER:{f:b,t:a,s:1}\nOBS:{ai:A1,s:ERR}\n\
         HEADER:{f:a,t:c,s:2}\nACT:{i:A1,op:read,tgt:\"z\"}\n\
         HEADER:{f:a,t:b,s:3}\nACT:{i:A1,op:read,tgt:\"y\"}\nHEADER:{f:b,t:a,s:2}\nOBS:{ai:A1,s:ERR}\n\
         HEADER:{f:b,t:a,s:3}\nOBS:{ai:A1,s:ERR}\nHEADER:{f:d,t:a,s:1}\nOBS:{ai:A1,s:ERR}\n\
         HEADER:{f:e,t:a,s:1}\nACT:{i:X,op:shell,tgt:\"ls\"}\nOBS:{ai:X,s:ERR}\n\
         HEADER:{f:a,t:ALL,s:4}\nACT:{i:A1,op:read,tgt:\"y\"}\nHEADER:{f:d,t:a,s:2}\nOBS:{ai:A1,s:ERR}\n",
        expect![[r#"
            no batch
              A1 -> b: b failed
              A1 -> c
              A1 -> b: b failed
              X -> a: e failed
              A1 -> ALL: d failed
            warning[LX406] 12 [10]: `b` answers this action a second time
            info[LX405] 14 []: the action `A1` is not in the document
        "#]],
    );
}

/// LX-B11.
#[test]
fn a_message_that_comes_twice_counts_once() {
    let act = "HEADER:{f:a,t:b,s:1,b:B1}\nACT:{i:A1,op:read,tgt:\"x\"}\n";
    let obs = "HEADER:{f:b,t:a,s:1,b:B1}\nOBS:{ai:A1,s:ERR}\n";
    check(
        &[act, obs, act, obs].concat(),
        expect![[r#"
        B1 of a
          A1 -> b: b failed
    "#]],
    );
}

/// Twice the text takes about twice the time, whatever is in it: these would take minutes if not.
#[test]
fn large_documents_are_checked() {
    let many = 20_000;
    let acts: String = (0..many).map(|i| format!("ACT:{{i:A{i},op:read,tgt:\"x\"}}\n")).collect();
    let observations: String = (0..many).map(|i| format!("OBS:{{ai:A{i},s:ERR}}\n")).collect();
    let bare = "OBS:{s:ERR}\n".repeat(many);
    let options: String = (0..many).map(|i| format!("\"o{i}\",")).collect();
    let answers: String =
        (0..many).map(|i| format!("HEADER:{{f:w{i},t:a,s:1}}\nRES:{{o:\"o{i}\"}}\nEND:{{n:x,del:[]}}\nPLAN:[(i:1,t:x,s:C)]\n")).collect();
    let questions = "ASK:{q:x,o:[a]}\n".repeat(many);
    let blockers = "BLK:{w:x,a:[],esc:true}\n".repeat(many);
    let requests = "REQ:{o:x,pr:1}\n".repeat(many);
    let names: String = (0..many).map(|i| format!("w{i},")).collect();
    for text in [
        format!(
            "HEADER:{{f:a,t:b,s:1,b:B}}\n{acts}HEADER:{{f:b,t:a,s:1,b:B}}\n{bare}{observations}{bare}"
        ),
        format!(
            "HEADER:{{f:a,t:b,s:1}}\n{acts}HEADER:{{f:b,t:a,s:1}}\n{observations}{observations}"
        ),
        format!(
            "HEADER:{{f:a,t:ALL,s:1}}\nASK:{{q:x,o:[{options}\"\"]}}\nREQ:{{o:\"{options}\",pr:1}}\n{answers}"
        ),
        format!("HEADER:{{f:a,t:ALL,s:1}}\n{questions}{blockers}{requests}{answers}"),
        format!("HEADER:{{f:a,t:ALL,s:1}}\n{blockers}{requests}{answers}"),
        format!("HEADER:{{f:a,t:[{names}z],s:1}}\n{blockers}{requests}{answers}"),
        format!(
            "HEADER:{{f:a,t:w1,s:1}}\n{questions}HEADER:{{f:w1,t:a,s:1}}\n{}",
            "RES:{o:a,x_re:1}\n".repeat(many)
        ),
    ] {
        check_conversation(&parse(&text).tree);
    }
}
