//! `sabir convert` and `sabir tokens`, from outside.

use std::fs;

use serde_json::Value;

use crate::process::run;

const AXON: &str =
    "[id:\"m1\",%%:1] REQ(@ceo>@vp): \"close the books\"\nINF(@vp>*): #done{at:5s}\n";

#[test]
fn every_tongue_leads_to_every_other_and_back() {
    let tongues = ["axon", "llmx", "json", "frame"];
    for by in tongues {
        let there = run(&["convert", "--from", "axon", "--to", by], AXON);
        assert_eq!((there.code, &*there.stderr), (0, ""), "{by}");
        for on in tongues {
            // The JSON of LLMX is LLMX, so it says its own source.
            let further = run(&["convert", "--from", by, "--to", on, "-"], &there.stdout);
            assert_eq!(further.code, 0, "{by} {on}: {}", further.stderr);
            let back = run(&["convert", "--from", on, "--to", "axon"], &further.stdout);
            let wire = run(&["axon", "fmt", "--style", "wire", "-"], AXON);
            assert_eq!(back.stdout, wire.stdout, "{by} {on}");
        }
    }
}

#[test]
fn routing_is_native() {
    let llmx = run(&["convert", "--from", "axon", "--to", "llmx"], AXON).stdout;
    assert!(llmx.starts_with("HEADER:{f:ceo,t:vp,s:1,"), "{llmx}");
    let axon = run(
        &["convert", "--from", "llmx", "--to", "axon"],
        "HEADER:{f:Claude,t:Gemini,s:7}\nREQ:{o:\"x\",pr:2}\n",
    );
    assert!(axon.stdout.contains("REQ(@Claude>@Gemini): "), "{}", axon.stdout);
}

#[test]
fn the_tongue_of_a_file_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("a.axon", AXON),
        ("b.llmx", "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n"),
        ("c.json", "{\"performative\":\"ACK\",\"from\":\"@a\",\"to\":\"@b\",\"content\":null}"),
        ("d.json", "{\"llmx\":1,\"messages\":[]}"),
        ("e.json", "{\"task_type\":\"x\",\"instruction\":\"y\"}"),
        ("f.txt", "ACK(@a>@b): _"),
        ("g.txt", "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n"),
    ];
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let outcome = run(&["convert", "--to", "axon", path.to_str().unwrap()], "");
        assert_eq!(outcome.code, 0, "{name}: {}", outcome.stderr);
    }
    let path = dir.path().join("h.txt");
    fs::write(&path, "Dear Sir or Madam").unwrap();
    let outcome = run(&["convert", "--to", "axon", path.to_str().unwrap()], "");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("say --from axon|llmx|json|frame"), "{}", outcome.stderr);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let refused = |from: &str, text: &str, what: &str| {
        let outcome = run(&["convert", "--from", from, "--to", "llmx"], text);
        assert_eq!((outcome.code, &*outcome.stdout), (1, ""), "{from} {text}");
        assert!(outcome.stderr.contains(what), "{what}: {}", outcome.stderr);
    };
    refused("axon", "INF(@a>@b): x{a:1}", "error[AX112]");
    refused("llmx", "REQ:{o:", "error[LX102]");
    refused("json", "{\"axon\":1,\"messages\":[{}]}", "/messages/0");
    refused("json", "{\"llmx\":1,\"messages\":[{}]}", "/messages/0");
    refused("json", "{", "not JSON");
    refused("frame", "{\"task_type\":\"x\"}", "instruction");
    refused("frame", "{\"task_type\":\"x\",\"instruction\":\"\\ud800\"}", "escape");
    assert_eq!(run(&["convert", "--from", "axon"], AXON).code, 2);
    assert_eq!(run(&["convert", "--to", "latin"], AXON).code, 2);
}

#[test]
fn tokens_of_files_and_messages() {
    let dir = tempfile::tempdir().unwrap();
    let axon = dir.path().join("a.axon");
    fs::write(&axon, AXON).unwrap();
    let plain = dir.path().join("b.txt");
    fs::write(&plain, "hello world").unwrap();
    let files = [axon.to_str().unwrap(), plain.to_str().unwrap()];
    let outcome = run(&["tokens", "--json", files[0], files[1]], "");
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
    let lines: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [axon, plain] = lines.as_slice() else { panic!("one object for each file") };
    for tokenizer in ["o200k", "cl100k", "llama3", "qwen", "mistral", "deepseek"] {
        assert_eq!(plain["counts"][tokenizer], 2, "{tokenizer}");
        let whole = axon["counts"][tokenizer].as_u64().unwrap();
        let messages = axon["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2);
        let parts: u64 = messages.iter().map(|it| it["counts"][tokenizer].as_u64().unwrap()).sum();
        assert!(parts <= whole && whole <= parts + 2, "{tokenizer}: {parts} {whole}");
    }
    assert_eq!(axon["messages"][1]["line"], 2);
    let others: Vec<_> = axon["same_content"].as_array().unwrap().iter().collect();
    assert_eq!(others.len(), 4);
    assert_eq!((&plain["tongue"], plain["messages"].as_array().unwrap().len()), (&Value::Null, 0));

    let table = run(&["tokens", "--tokenizer", "o200k", files[1]], "");
    assert!(table.stdout.contains("o200k") && !table.stdout.contains("qwen"), "{}", table.stdout);
    let stdin = run(&["tokens", "--json", "--tokenizer", "cl100k,o200k"], "hello world");
    assert!(stdin.stdout.contains(r#""counts":{"o200k":2,"cl100k":2}"#), "{}", stdin.stdout);
    assert_eq!(run(&["tokens", "--tokenizer", "abacus"], "").code, 2);
    assert_eq!(run(&["tokens", "/nowhere"], "").code, 2);
}

/// Errors do not keep a text from being counted: what a model got wrong was paid for.
#[test]
fn broken_texts_are_counted() {
    let outcome = run(&["tokens", "--from", "llmx", "--json", "--tokenizer", "o200k"], "REQ:{o:");
    assert_eq!(outcome.code, 0);
    let counted: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert!(counted["counts"]["o200k"].as_u64().unwrap() > 0);
    assert_eq!(counted["same_content"], Value::Array(Vec::new()));
}
