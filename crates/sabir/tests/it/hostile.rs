//! Input that nobody meant to write: no panic, no hang, an exit code that says so.

use crate::process::run;

/// Each text with the exit code of `check`.
fn hostile() -> Vec<(&'static str, Vec<u8>, i32)> {
    let message = |content: &str| format!("INF(@a>@b): {content}").into_bytes();
    let mebi = 1 << 20;
    let mut all = vec![
        ("empty", Vec::new(), 0),
        ("white space", b" \t\r\n".to_vec(), 0),
        ("ten megabytes of (", vec![b'('; 10 * mebi], 1),
        ("a message of (", message(&"(".repeat(10 * mebi)), 1),
        ("a message of [", message(&"[".repeat(mebi)), 1),
        ("a message of ~(", message(&"~(".repeat(mebi)), 1),
        ("closers", vec![b')'; mebi], 1),
        ("open comments", b"(*".repeat(mebi), 1),
        ("quotes", message(&"\"".repeat(mebi / 16 + 1)), 1),
        ("backslashes", message(&format!("\"{}", "\\".repeat(mebi))), 1),
        ("NUL bytes", vec![0; mebi], 1),
        ("NUL in a message", message("\0x\0"), 1),
        ("NUL in a string", message("\"a\0b\""), 0),
        ("a byte order mark", [b"\xef\xbb\xbf", message("x").as_slice()].concat(), 0),
        ("CRLF", b"INF(@a>@b): x\r\nINF(@a>@b): y\r\n".to_vec(), 0),
        ("lone CR", b"INF(@a>@b): x\rINF(@a>@b): y\r".to_vec(), 0),
        ("escapes of a terminal", message("\u{1b}[2J\u{1b}]0;x\u{7}"), 1),
        ("right-to-left marks", message("\u{202e}x"), 1),
        ("not UTF-8", (0..=255).cycle().take(mebi).collect(), 2),
        ("half a character", b"INF(@a>@b): \"\xf0\x9d\x84".to_vec(), 2),
        ("a very long line of findings", message(&"x{a:1} & ".repeat(100_000)), 1),
        ("a very long name", message(&"a".repeat(mebi)), 0),
        ("a very long number", message(&"1".repeat(mebi)), 0),
        ("sigils", message(&"@#$".repeat(mebi / 64)), 1),
    ];
    let unterminated = [
        "",
        "\"",
        "\"a\\",
        "\"\\u{",
        "(*",
        "(* (* *)",
        "[",
        "{",
        "{a",
        "{a:",
        "f(",
        "f(a:",
        "#t{",
        "#",
        "@",
        "$",
        "~",
        "a ->",
        "a <-",
        "a &",
        "a |",
        "a..",
        "a <",
        "REQ(",
        "REQ(@a",
        "REQ(@a>",
        "REQ(@a>@b",
        "REQ(@a>@b)",
        "REQ(@a>@b):",
        "[@a",
        "1.",
        "-",
        "X.a.b(@a>@b):",
        "5 ",
    ];
    all.extend(unterminated.map(|text| ("unterminated content", message(text), -1)));
    let headers = [
        "[",
        "[id",
        "[id:",
        "[id:\"",
        "[id:\"m\"",
        "[id:\"m\"]",
        "I",
        "INF",
        "INF(",
        "INF(*",
        "INF(@a>[@b",
    ];
    all.extend(headers.map(|text| ("unterminated header", text.as_bytes().to_vec(), 1)));
    all
}

/// The same for LLMX.
fn hostile_llmx() -> Vec<(&'static str, Vec<u8>, i32)> {
    let message = |blocks: &str| format!("HEADER:{{f:a,t:b,s:1}}\n{blocks}").into_bytes();
    let request = |more: &str| message(&format!("REQ:{{o:\"x\",pr:1{more}"));
    let mebi = 1 << 20;
    let mut all = vec![
        ("empty", Vec::new(), 0),
        ("white space", b" \t\r\n".to_vec(), 0),
        ("ten megabytes of {", vec![b'{'; 10 * mebi], 1),
        ("deep brackets", request(&format!(",x_a:{}", "[".repeat(mebi))), 1),
        (
            "deep and closed",
            {
                let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
                request(&format!(",x_a:{open}{close}}}"))
            },
            1,
        ),
        (
            "as deep as allowed",
            {
                let (open, close) = ("[".repeat(100), "]".repeat(100));
                request(&format!(",x_a:{open}{close}}}"))
            },
            0,
        ),
        ("closers", vec![b'}'; mebi], 1),
        ("backslashes", request(&format!(",x_a:\"{}", "\\".repeat(mebi))), 1),
        ("NUL bytes", vec![0; mebi], 1),
        ("NUL in a string", request(",x_a:\"a\0b\"}"), 0),
        ("a byte order mark", [b"\xef\xbb\xbf", request("}").as_slice()].concat(), 0),
        ("CRLF", b"HEADER:{f:a,t:b,s:1}\r\nRES:{o:\"ACK\"}\r\n".to_vec(), 0),
        ("escapes of a terminal", request(",x_a:\u{1b}[2J\u{1b}]0;x\u{7}}"), 1),
        ("right-to-left marks", request(",x_a:\"\u{202e}x\"}"), 0),
        ("not UTF-8", (0..=255).cycle().take(mebi).collect(), 2),
        ("half a character", b"HEADER:{f:\"\xf0\x9d\x84".to_vec(), 2),
        ("a very long line of findings", request(&",a b".repeat(100_000)), 1),
        ("a very long name", request(&format!(",x_{}:1}}", "a".repeat(mebi))), 0),
        ("a very long number", request(&format!(",x_a:{}}}", "1".repeat(mebi))), 0),
        ("many headers", b"HEADER:{f:a,t:b,s:1}\n".repeat(50_000), -1),
        ("one key very often", request(&format!("{}}}", ",d:[]".repeat(200_000))), 1),
    ];
    // Five megabytes of each: whatever took more than linear time would not end within anybody's
    // patience.
    let pieces = [
        "{",
        "[",
        "(",
        "\"",
        "\\",
        "'",
        "“",
        ":",
        ",",
        "a:",
        "a:{",
        "A:[",
        "REQ:",
        "REQ:\n",
        "REQ:{\"",
        "\"\n",
        "a:b c ",
        "a?",
        "a:é",
        "a:-",
        "PLAN:[(",
        "HEADER:{",
        "ACT:{i:A1}",
        "OBS:{ai:A1}\n",
        "a: b\n",
        "a:|",
        "\u{feff}",
        "1 ",
    ];
    for (index, piece) in pieces.into_iter().enumerate() {
        let text = piece.repeat(5 * mebi / piece.len());
        // Every other one inside; the tests of the parser try both ways.
        all.push(match index % 2 {
            0 => ("a piece, again and again", text.into_bytes(), -1),
            _ => ("a piece in a block", request(&format!(",x_a:{{{text}")), -1),
        });
    }
    let unterminated = [
        "",
        "R",
        "REQ",
        "REQ:",
        "REQ:{",
        "REQ:{o",
        "REQ:{o:",
        "REQ:{o:\"",
        "REQ:{o:\"\\",
        "REQ:{o:\"\\u12",
        "REQ:{o:\"x\"",
        "REQ:{o:\"x\",",
        "PLAN:[",
        "PLAN:[(",
        "PLAN:[(i",
        "PLAN:[(i:1",
        "PLAN:[(i:1)",
        "X_",
        "X_A:",
        "X_A:{",
        "x:{",
        "REQ:}",
        "REQ:{]",
        "1",
        "-",
        "\"",
        "'",
        "```",
        "REQ:{o:tru",
        "REQ:{pr:1.",
    ];
    all.extend(unterminated.map(|text| ("unterminated", message(text), -1)));
    all
}

#[test]
fn no_command_falls_over() {
    for (name, text, code) in hostile() {
        for args in [
            &["axon", "check"][..],
            &["axon", "check", "--json"],
            &["axon", "check", "--syntax"],
            &["axon", "ast"],
            &["axon", "ast", "--json"],
        ] {
            survives(name, &text, code, args);
        }
    }
}

#[test]
fn no_command_falls_over_for_llmx() {
    for (name, text, code) in hostile_llmx() {
        for args in
            [&["llmx", "check"][..], &["llmx", "check", "--json"], &["llmx", "check", "--syntax"]]
        {
            survives(name, &text, code, args);
        }
        let valid = run(&["llmx", "check", "--syntax"], &text).code;
        let formatted = run(&["llmx", "fmt"], &text);
        assert_eq!(formatted.code, valid, "{name}");
        let again = run(&["llmx", "fmt"], &formatted.stdout);
        assert_eq!((again.code, again.stdout), (0, formatted.stdout), "{name}");
        encodes_if_valid("llmx", name, &text, valid);
    }
}

/// `valid` is the exit code of `check --syntax`. None of these texts is JSON.
fn encodes_if_valid(notation: &str, name: &str, text: &[u8], valid: i32) {
    let encoded = run(&[notation, "json", "encode"], text);
    assert_eq!(encoded.code, valid, "{name}");
    if valid == 0 {
        assert_eq!(run(&[notation, "json", "decode"], &encoded.stdout).code, 0, "{name}");
    }
    let decoded = run(&[notation, "json", "decode"], text);
    assert_eq!(decoded.code, if valid == 2 { 2 } else { 1 }, "{name}");
    assert!(decoded.stderr.len() < 2_000, "{name}");
}

/// `-1` is for a text of which no more is known than that it is read.
fn survives(name: &str, text: &[u8], code: i32, args: &[&str]) {
    let outcome = run(args, text);
    let start = String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned();
    match code {
        -1 => assert!([0, 1].contains(&outcome.code), "{name} {start:?} {args:?}"),
        _ => assert_eq!(outcome.code, code, "{name} {start:?} {args:?}"),
    }
    assert!(!outcome.stderr.contains(['\u{1b}', '\0']), "{name}: escapes reach a terminal");
    let lines = outcome.stdout.lines().count();
    if args.contains(&"--json") && code != 2 {
        assert_eq!(lines, 1, "{name}");
        read_json(&outcome.stdout).unwrap();
    }
    // A finding is shown in a window, however long its line.
    assert!(outcome.stderr.len() < 100_000, "{name}: {}", outcome.stderr.len());
}

#[test]
fn what_is_valid_is_formatted_and_encoded_and_what_is_not_is_refused() {
    for (name, text, _) in hostile() {
        let valid = run(&["axon", "check", "--syntax"], &text).code;
        for style in ["wire", "pretty"] {
            let outcome = run(&["axon", "fmt", "--style", style], &text);
            assert_eq!(outcome.code, valid, "{name} {style}");
            let again = run(&["axon", "fmt", "--style", style], &outcome.stdout);
            assert_eq!(again.stdout, outcome.stdout, "{name} {style}");
        }
        encodes_if_valid("axon", name, &text, valid);
    }
}

#[test]
fn repair_takes_anything() {
    for (name, text, code) in hostile() {
        let outcome = run(&["axon", "repair"], &text);
        match code {
            2 => assert_eq!(outcome.code, 2, "{name}"),
            _ => {
                assert!([0, 1].contains(&outcome.code), "{name}");
                // A text without any message is not mended, though as a comment it parses.
                let again = run(&["axon", "check", "--syntax"], &outcome.stdout);
                assert_eq!(again.code, 0, "{name}: {}", again.stderr);
            }
        }
    }
}

/// A tree may be deeper than a reader of JSON expects.
fn read_json(text: &str) -> serde_json::Result<serde_json::Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut reader)
}
