//! What is answered to a document.

use sabir_llmx::{Response, check_messages, replies};

/// The answers to a document, as text.
fn answers(text: &str) -> String {
    let parsed = check_messages(text);
    replies(&parsed).iter().map(ToString::to_string).collect()
}

/// LX-R47.
#[test]
fn a_clean_message_is_acknowledged() {
    assert_eq!(answers("HEADER:{f:a,t:b,s:1}\nREQ:{o:\"x\",pr:1}\n"), "RES:{o:\"ACK\"}\n");
    // A warning is no reason to refuse.
    assert_eq!(answers("HEADER:{f:a,t:b,s:1}\n"), "RES:{o:\"ACK\"}\n");
    assert_eq!(answers("HEADER:{f:a,t:b,s:1}\nX_A:{b:1}\n"), "RES:{o:\"ACK\"}\n");
}

/// LX-R45, LX-R48.
#[test]
fn a_malformed_message_is_refused_with_its_first_error() {
    assert_eq!(
        answers("HEADER:{f:a,t:b,s:1}\nREQ:{pr:1}\nREQ:{o:\"x\"}\n"),
        "RES:{o:\"NACK\",msg:\"parse error: missing required field 'o' in REQ\"}\n"
    );
    assert_eq!(answers("REQ:{pr:1}"), "RES:{o:\"NACK\",msg:\"parse error: missing HEADER\"}\n");
    // One mistake is not called two: the string took the priority with it.
    assert_eq!(
        answers("HEADER:{f:a,t:b,s:1}\nREQ:{o:\"fix it,pr:1}\n"),
        "RES:{o:\"NACK\",msg:\"parse error: this string is never closed in REQ\"}\n"
    );
    for empty in ["", " \n", "\u{feff}", "nothing to see here"] {
        assert_eq!(
            answers(empty),
            "RES:{o:\"NACK\",msg:\"parse error: missing HEADER\"}\n",
            "{empty:?}"
        );
    }
}

/// LX-R46.
#[test]
fn unknown_types_are_named_once_each() {
    assert_eq!(
        answers("HEADER:{f:a,t:b,s:1}\nCUSTOM:{a:1}\nOTHER:[1]\nCUSTOM:{}\n"),
        "RES:{o:\"WARN\",msg:\"unknown message type: CUSTOM ignored\"}\n\
         RES:{o:\"WARN\",msg:\"unknown message type: OTHER ignored\"}\n"
    );
    assert_eq!(
        answers("HEADER:{f:a,t:b,s:1}\nCUSTOM:{a:1}\nRES:{}\n"),
        "RES:{o:\"NACK\",msg:\"parse error: missing required field 'o' in RES\"}\n"
    );
}

/// LX-R49.
#[test]
fn every_message_has_its_own_answer() {
    let text = "Hi!\nHEADER:{f:a,t:b,s:1}\nRES:{o:\"x\"}\n\
                HEADER:{f:a,t:b,s:2}\nRES:{o:\"x\"}\n\
                HEADER:{f:a,t:b,s:3}\nRES:{o:\"x\"}\n}\n\
                HEADER:{f:a,t:b,s:4}\nFOO:{}\n";
    assert_eq!(
        answers(text),
        "RES:{o:\"NACK\",msg:\"parse error: this is not part of a block: `Hi!`\"}\n\
         RES:{o:\"ACK\"}\n\
         RES:{o:\"NACK\",msg:\"parse error: this bracket closes nothing\"}\n\
         RES:{o:\"WARN\",msg:\"unknown message type: FOO ignored\"}\n"
    );
}

/// LX-R10.
#[test]
fn errors_that_are_not_listed_are_still_refused() {
    let bad = "HEADER:{f:a,t:b,s:1}\nRES:{}\n".repeat(2_000);
    let parsed = check_messages(&bad);
    let all = replies(&parsed);
    assert_eq!(all.len(), 2_000);
    for reply in all {
        assert!(matches!(reply.responses[..], [Response::Nack { .. }]), "{reply}");
    }
    // But for warnings nobody is refused.
    let odd = "HEADER:{f:a,t:b,s:1,b:null}\nRES:{o:\"x\"}\n".repeat(2_000);
    assert!(!check_messages(&odd).has_errors());
    assert_eq!(answers(&odd), "RES:{o:\"ACK\"}\n".repeat(2_000));
}

/// LX-R50.
#[test]
fn a_whole_message_goes_to_the_sender() {
    let whole = |text: &str| replies(&check_messages(text))[0].message("Sabir", 7).unwrap();
    assert_eq!(
        whole("HEADER:{f:Claude,t:b,s:12}\nRES:{o:\"x\"}"),
        "HEADER:{f:Sabir,t:Claude,s:7,x_re:12}\nRES:{o:\"ACK\"}\n"
    );
    assert_eq!(
        whole("HEADER:{f:\"two words\",t:b,s:1.5}\nRES:{o:\"x\"}"),
        "HEADER:{f:Sabir,t:\"two words\",s:7}\n\
         RES:{o:\"NACK\",msg:\"parse error: HEADER.s is 1.5, and has to be a whole number from 0 \
         to 9007199254740991\"}\n"
    );
    for nobody in ["", "RES:{o:\"x\"}", "HEADER:{f:\"\",t:b}", "HEADER:{f:[a],t:b}"] {
        assert!(whole(nobody).starts_with("HEADER:{f:Sabir,t:ALL,s:7}\nRES:{o:\"NACK\""));
    }
    let parsed = check_messages("");
    let reply = &replies(&parsed)[0];
    assert_eq!(reply.message("", 7), None);
    assert_eq!(reply.message("a", 1 << 53), None);
    assert!(reply.message("a\n\"b", 1).unwrap().starts_with("HEADER:{f:\"a\\n\\\"b\",t:ALL,s:1}"));
}

/// LX-R51.
#[test]
fn an_answer_is_short_and_clean_whatever_was_sent() {
    let long = "Q\u{1}\"\\".repeat(1_000_000);
    let word = "Q".repeat(1_000_000);
    for text in [
        format!("HEADER:{{f:a,t:b,s:1}}\n{word}:{{}}\n"),
        format!("HEADER:{{f:a,t:b,s:1}}\nOBS:{{s:\"{word}\"}}\n"),
        format!("HEADER:{{f:a,t:b,s:{}}}\n", "9".repeat(1_000_000)),
        format!("HEADER:{{{word}:1,{word}:1}}\n"),
        format!("{word}:"),
        format!("HEADER:{{a{long}:1,b:2}}"),
        (0..5_000).map(|i| format!("HEADER:{{f:a,t:b,s:1}}\nQ{i}:{{}}\n")).collect(),
        format!(
            "HEADER:{{f:a,t:b,s:1}}\n{}",
            (0..50_000).map(|i| format!("Q{i}:{{}}\n")).collect::<String>()
        ),
    ] {
        let parsed = check_messages(&text);
        for reply in replies(&parsed) {
            let message = reply.message("Sabir", 1).unwrap();
            assert!(message.len() < 8_000, "{} bytes", message.len());
            let again = check_messages(&message);
            assert!(again.diagnostics.is_empty(), "{message}{:?}", again.diagnostics);
            assert_eq!(sabir_llmx::print(&again.tree), message);
        }
    }
}

/// LX-R48: however many errors there are, each message is refused for its own first one.
#[test]
fn thousands_of_errors_have_their_own_answers() {
    let mut text = String::new();
    for number in 0..1500 {
        text.push_str(&format!("HEADER:{{f:a,t:b,s:{number}}}\nREQ:{{pr:1}}\n"));
    }
    text.push_str("HEADER:{f:a,t:b,s:1500}\nREQ:{o:\"x\",pr:9}\n");
    text.push_str("HEADER:{f:a,t:b,s:1501}\nREQ:{o:\"x\",pr:1}\n");
    let answers = answers(&text);
    let lines: Vec<&str> = answers.lines().collect();
    let missing = "RES:{o:\"NACK\",msg:\"parse error: missing required field 'o' in REQ\"}";
    assert!(lines[..1500].iter().all(|line| *line == missing));
    assert!(lines[1500].contains("REQ.pr"), "{}", lines[1500]);
    assert_eq!(lines[1501..], ["RES:{o:\"ACK\"}"]);
}
