//! The command line's contract: exit codes, the shape of JSON, files.

use std::fs;
use std::io::Read;

use expect_test::expect;
use serde_json::Value;

use crate::process::{run, sabir, wait};

const VALID: &str = "[id:\"m1\",%%:1] INF(@a>@b): ok\n";
const INVALID: &str = "INF(@a>@b): ok\nINF(@ç->@b): x{a:1}\r\n";

/// What holds for every notation is tested with a text of each.
struct Texts {
    /// The command.
    notation: &'static str,
    /// One message without any finding, in its standard form.
    valid: &'static str,
    /// Two messages with syntax errors, some of which have fixes; more than one line, and
    /// characters of several bytes.
    invalid: &'static str,
    /// A code that is found in it.
    code: &'static str,
    /// The arguments of `fmt` that give `tidy` for `untidy`.
    style: &'static [&'static str],
    untidy: &'static str,
    tidy: &'static str,
    /// Beside check and fmt, the commands that read a file.
    readers: &'static [&'static [&'static str]],
}

const AXON: Texts = Texts {
    notation: "axon",
    valid: VALID,
    invalid: INVALID,
    code: "AX112",
    style: &["--style", "wire"],
    untidy: UNTIDY,
    tidy: WIRE,
    readers: &[&["ast"], &["repair"], &["json", "encode"], &["json", "decode"]],
};

const LLMX: Texts = Texts {
    notation: "llmx",
    valid: "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\"}\n",
    invalid: "HEADER:{f:a,t:b,s:1}\nREQ:{o:\"é\" pr:1}\r\nHEADER:{f:b,t:a,s:1}\nreq:{o:ç d,pr:1}\r\n",
    code: "LX107",
    style: &[],
    untidy: "HEADER: { \"f\" : a,t:\"b\",\r\n s:1 }RES:{o:ACK,x_Why:[ 1, Two ]}\r\n\r\nX_LOG:{ a: [1,2] }",
    tidy: "HEADER:{f:a,t:b,s:1}\nRES:{o:\"ACK\",x_Why:[ 1, Two ]}\nX_LOG:{ a: [1,2] }\n",
    readers: &[&["reply"], &["json", "encode"], &["json", "decode"]],
};

const BOTH: [Texts; 2] = [AXON, LLMX];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn check_says_valid_or_not_by_exit_code() {
    for Texts { notation, valid, invalid, .. } in BOTH {
        assert_eq!(run(&[notation, "check"], valid).code, 0);
        assert_eq!(run(&[notation, "check", "-"], valid).code, 0);
        assert_eq!(run(&[notation, "check", "--syntax"], valid).code, 0);
        assert_eq!(run(&[notation, "check"], "").code, 0);
        assert_eq!(run(&[notation, "check"], invalid).code, 1);
        assert_eq!(run(&[notation, "check", "--syntax"], invalid).code, 1);
        assert_eq!(run(&[notation, "check", "--json"], invalid).code, 1);
    }
}

#[test]
fn check_demands_metadata_only_with_a_tier() {
    let bare = "INF(@a>@b): ok\n";
    assert_eq!(run(&["axon", "check"], bare).code, 0);
    assert_eq!(run(&["axon", "check", "--tier", "1"], bare).code, 1);
    assert_eq!(run(&["axon", "check", "--tier", "1"], VALID).code, 0);
    assert_eq!(run(&["axon", "check", "--tier=3"], VALID).code, 1);
    // What is there must be well-formed, except for who looks at nothing but syntax.
    let malformed = "[id:\"\",^:9] INF(@a>@b): ok\n";
    assert_eq!(run(&["axon", "check"], malformed).code, 1);
    assert_eq!(run(&["axon", "check", "--syntax"], malformed).code, 0);
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let wrong: [&[&str]; 43] = [
        &[],
        &["nonsense"],
        &["axon"],
        &["axon", "nonsense"],
        &["axon", "check", "--nonsense"],
        &["axon", "check", "--tier"],
        &["axon", "check", "--tier", "0"],
        &["axon", "check", "--tier", "4"],
        &["axon", "check", "--tier", "one"],
        &["axon", "check", "-", "-"],
        &["axon", "ast", "a", "b"],
        &["axon", "fmt", "--style", "nice"],
        &["axon", "json"],
        &["axon", "json", "recode"],
        &["axon", "grammar"],
        &["axon", "grammar", "--format", "bnf"],
        &["axon", "grammar", "--format", "lark", "--performatives", "INFO"],
        &["axon", "grammar", "--format", "lark", "--agents", "@a b"],
        &["axon", "grammar", "--format", "lark", "--depth", "999"],
        &["llmx"],
        &["llmx", "nonsense"],
        &["llmx", "check", "--tier", "1"],
        &["llmx", "check", "-", "-"],
        &["llmx", "check", "--root"],
        &["llmx", "check", "--root", ".", "--syntax"],
        &["llmx", "reply", "--from", ""],
        &["llmx", "reply", "--seq", "1"],
        &["llmx", "reply", "--from", "b", "--seq", "-1"],
        &["llmx", "reply", "--from", "b", "--seq", "9007199254740992"],
        &["llmx", "reply", "a", "b"],
        &["llmx", "fmt", "--style", "wire"],
        &["llmx", "fmt", "-", "-"],
        &["llmx", "json"],
        &["llmx", "json", "recode"],
        &["llmx", "grammar"],
        &["llmx", "grammar", "--format", "bnf"],
        &["llmx", "grammar", "--format", "lark", "--blocks", "REQUEST"],
        &["llmx", "grammar", "--format", "lark", "--blocks", "HEADER"],
        &["llmx", "grammar", "--format", "lark", "--agents", "a,,b"],
        &["llmx", "grammar", "--format", "lark", "--depth", "999"],
        &["explain", "AX000"],
        &["explain", "LX000"],
        &["completions", "tcsh"],
    ];
    for args in wrong {
        let outcome = run(args, VALID);
        assert_eq!(outcome.code, 2, "sabir {args:?}");
        assert_eq!(outcome.stdout, "", "sabir {args:?}");
        assert_ne!(outcome.stderr, "", "sabir {args:?}");
    }
}

#[test]
fn unreadable_files_are_exit_code_two() {
    let dir = tempfile::tempdir().unwrap();
    let dir_name = dir.path().to_str().unwrap();
    let missing = dir.path().join("missing");
    let missing = missing.to_str().unwrap();
    let binary = dir.path().join("binary");
    fs::write(&binary, b"INF(@a>@b): \"\xff\"").unwrap();
    let binary = binary.to_str().unwrap();
    for Texts { notation, readers, .. } in BOTH {
        for file in [dir_name, missing, binary] {
            for verb in [&["check"][..], &["fmt"], &["fmt", "--check"]].iter().chain(readers) {
                let outcome = run(&[&[notation], *verb, &[file]].concat(), "");
                assert_eq!(outcome.code, 2, "{notation} {verb:?} {file}");
                assert_eq!(outcome.stdout, "", "{notation} {verb:?} {file}");
                assert!(outcome.stderr.contains(file), "{}", outcome.stderr);
            }
        }
        assert!(run(&[notation, "check", binary], "").stderr.contains("not UTF-8 (byte 13)"));
        assert!(run(&[notation, "check"], b"\xff").stderr.contains("<stdin>: not UTF-8 (byte 0)"));
    }
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    for texts in BOTH {
        let check = &[texts.notation, "check"];
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let (valid, invalid, missing) = (path("valid"), path("invalid"), path("missing"));
        fs::write(&valid, texts.valid).unwrap();
        fs::write(&invalid, texts.invalid).unwrap();
        let outcome = run(&[check, &["--json", &missing, &invalid, &valid][..]].concat(), "");
        assert_eq!(outcome.code, 2);
        let files: Vec<Value> = outcome.stdout.lines().map(json).collect();
        assert_eq!(files.len(), 2);
        assert_eq!(files[0]["file"], invalid.as_str());
        assert_eq!(files[1]["file"], valid.as_str());
        assert_eq!(files[1]["messages"], 1);
        let outcome = run(&[check, &[&*invalid, &valid][..]].concat(), "");
        assert_eq!(outcome.code, 1);
        assert!(outcome.stderr.contains("2 files, 3 messages: "), "{}", outcome.stderr);
    }
}

#[test]
fn check_json_has_the_documented_shape() {
    for Texts { notation, invalid, .. } in BOTH {
        let outcome = run(&[notation, "check", "--json"], invalid);
        let report = json(&outcome.stdout);
        assert_eq!(keys(&report), ["file", "messages", "diagnostics"]);
        assert_eq!(report["file"], "-");
        assert_eq!(report["messages"], 2);
        let diagnostics = report["diagnostics"].as_array().unwrap();
        assert!(diagnostics.len() >= 2);
        let fixes: usize = diagnostics.iter().map(|found| check_diagnostic(found, invalid)).sum();
        assert!(fixes > 0);
        assert_eq!(outcome.stderr, "", "machine output comes alone");
    }
}

/// How many edits the finding has, if it is as documented.
fn check_diagnostic(found: &Value, text: &str) -> usize {
    assert_eq!(
        keys(found),
        ["code", "severity", "message", "start", "end", "line", "column", "help", "fixes"]
    );
    assert!(["AX", "LX"].iter().any(|start| found["code"].as_str().unwrap().starts_with(start)));
    assert!(["error", "warning", "info"].contains(&found["severity"].as_str().unwrap()));
    assert!(found["help"].is_string() || found["help"].is_null());
    let start = found["start"].as_u64().unwrap() as usize;
    let end = found["end"].as_u64().unwrap() as usize;
    let before = &text[..start];
    assert!(text.get(start..end).is_some(), "bytes, on character boundaries");
    assert_eq!(found["line"], before.matches('\n').count() + 1);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    assert_eq!(found["column"], before[line_start..].chars().count() + 1);
    let fixes = found["fixes"].as_array().unwrap();
    for fix in fixes {
        assert_eq!(keys(fix), ["start", "end", "text"]);
    }
    fixes.len()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn people_see_at_most_fifty_findings() {
    let many = "INF(@a>@b): x{a:1}\n".repeat(80);
    let outcome = run(&["axon", "check"], &many);
    assert_eq!(outcome.stderr.matches("error[AX112]").count(), 50);
    assert!(outcome.stderr.contains("... and 30 more in <stdin>"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("1 file, 80 messages: 80 errors\n"));
    let report = json(&run(&["axon", "check", "--json"], &many).stdout);
    assert_eq!(report["diagnostics"].as_array().unwrap().len(), 80);
    let many = "req:{o:\"x\",pr:1}\n".repeat(80);
    let outcome = run(&["llmx", "check", "--syntax"], &many);
    assert!(outcome.stderr.contains("... and 31 more in <stdin>"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("1 file, 1 message: 81 errors\n"), "{}", outcome.stderr);
}

#[test]
fn findings_are_drawn_without_colour_in_a_pipe() {
    let outcome = run(&["axon", "check"], "INF(@a->@b): x\n");
    assert_eq!(outcome.stdout, "");
    expect![[r#"
        error[AX105]: routing is written with `>`
         --> <stdin>:1:7
          |
        1 | INF(@a->@b): x
          |       ^^
          |
        help: write `(@sender>@receiver)`
          |
        1 - INF(@a->@b): x
        1 + INF(@a>@b): x
          |

        1 file, 1 message: 1 error
    "#]]
    .assert_eq(&outcome.stderr);
    let outcome = run(&["llmx", "check"], "HEADER:{f:a,t:b,s:1}\nres:{o:\"ACK\",o:\"NACK\"}\n");
    assert_eq!(outcome.stdout, "");
    expect![[r#"
        error[LX104]: the type of a block is written in capitals: `RES`
         --> <stdin>:2:1
          |
        2 | res:{o:"ACK",o:"NACK"}
          | ^^^
          |
        help: write RES
          |
        2 - res:{o:"ACK",o:"NACK"}
        2 + RES:{o:"ACK",o:"NACK"}
          |

        error[LX115]: the key `o` stands twice
         --> <stdin>:2:14
          |
        2 | res:{o:"ACK",o:"NACK"}
          |      -       ^
          |      |
          |      first here
          |
          = help: keep one of them, or rename one

        1 file, 1 message: 2 errors
    "#]]
    .assert_eq(&outcome.stderr);
}

const UNTIDY: &str = "(* why *) INF( @a > @b ):f( 1,x:2 )\r\n\r\n\r\nQRY(@b>@a): y";
const WIRE: &str = "(* why *)INF(@a>@b): f(1,x:2)\nQRY(@b>@a): y\n";

#[test]
fn fmt_prints_standard_input() {
    for Texts { notation, invalid, code, style, untidy, tidy, .. } in BOTH {
        let fmt = &[&[notation, "fmt"][..], style].concat();
        let done = run(&[&fmt[..], &["-"]].concat(), untidy);
        assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (0, tidy, ""));
        assert_eq!(run(fmt, tidy).stdout, tidy);
        assert_eq!(run(fmt, "").stdout, "");
        let broken = run(fmt, invalid);
        assert_eq!((broken.code, broken.stdout.as_str()), (1, ""));
        assert!(broken.stderr.contains(code), "{}", broken.stderr);
        let check = |text| {
            let outcome = run(&[&fmt[..], &["--check"]].concat(), text);
            (outcome.code, outcome.stdout)
        };
        assert_eq!(check(tidy), (0, String::new()));
        assert_eq!(check(untidy), (1, "<stdin>\n".to_owned()));
    }
}

#[test]
fn pretty_is_the_style_of_axon_unless_told_otherwise() {
    let pretty = run(&["axon", "fmt"], UNTIDY);
    assert_eq!(pretty.code, 0);
    assert_ne!(pretty.stdout, WIRE);
    assert_eq!(run(&["axon", "fmt", "--style=pretty"], UNTIDY).stdout, pretty.stdout);
    assert_eq!(run(&["axon", "fmt"], &pretty.stdout).stdout, pretty.stdout);
}

#[test]
fn fmt_rewrites_files_in_place_and_whole() {
    for texts in BOTH {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let (untidy, broken, tidy) = (path("untidy"), path("broken"), path("tidy"));
        fs::write(&untidy, texts.untidy).unwrap();
        fs::write(&broken, texts.invalid).unwrap();
        fs::write(&tidy, texts.tidy).unwrap();
        let fmt =
            |args: &[&str]| run(&[&[texts.notation, "fmt"][..], texts.style, args].concat(), "");
        let check = fmt(&["--check", &untidy, &broken, &tidy]);
        assert_eq!((check.code, check.stdout.as_str()), (1, format!("{untidy}\n").as_str()));
        assert_eq!(fs::read_to_string(&untidy).unwrap(), texts.untidy, "--check writes nothing");
        let done = fmt(&[&untidy, &broken, &tidy]);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        assert_eq!(fs::read_to_string(&untidy).unwrap(), texts.tidy);
        let left = fs::read_to_string(&broken).unwrap();
        assert_eq!(left, texts.invalid, "a broken file is left alone");
        assert_eq!(fmt(&["--check", &untidy, &tidy]).code, 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "nothing is left behind");
    }
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_follows_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file.axon");
    let link = dir.path().join("link.axon");
    fs::write(&file, UNTIDY).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    assert_eq!(run(&["axon", "fmt", "--style", "wire", link.to_str().unwrap()], "").code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), WIRE);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    fs::write(&file, UNTIDY).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
    assert_eq!(run(&["axon", "fmt", file.to_str().unwrap()], "").code, 2, "read-only");
    assert_eq!(fs::read_to_string(&file).unwrap(), UNTIDY);
}

#[test]
fn json_goes_there_and_back() {
    let axon = "[id:\"m1\",%%:1] INF(@a>[@b,@c]): f(1.50s,k:#t{a:_}) <- ~x & 1..2\n";
    let llmx = "HEADER:{f:\"a b\",t:b,s:1}\nX_LOG:{ Cost: 1.50, w:[a,\"b\"] }\n";
    for (texts, text) in [(AXON, axon), (LLMX, llmx)] {
        let json_command = |verb: &[&str], input: &str| {
            let outcome = run(&[&[texts.notation, "json"], verb].concat(), input);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
            outcome.stdout
        };
        let encoded = json_command(&["encode"], text);
        assert_eq!(encoded.lines().count(), 1);
        assert!(encoded.contains("1.50"), "number lexemes are kept");
        // Extensions keep their words, but not their white space.
        let decoded = json_command(&["decode"], &encoded);
        assert_eq!(json_command(&["encode"], &decoded), encoded);
        let pretty = json_command(&["encode", "--pretty"], text);
        assert_eq!(json(&pretty), json(&encoded));
        assert!(pretty.lines().count() > 1);
        assert_eq!(json_command(&["decode"], &pretty), decoded);
        assert!(json(&json_command(&["schema"], "")).is_object());
        let formatted = run(&[&[texts.notation, "fmt"], texts.style].concat(), texts.valid);
        let encoded = json_command(&["encode"], texts.valid);
        assert_eq!(json_command(&["decode"], &encoded), formatted.stdout);
    }
}

/// Far more than any buffer or pipe holds, so that writing fails in the middle of the document.
#[cfg(target_os = "linux")]
#[test]
fn json_that_nobody_reads_is_no_error_and_json_that_cannot_be_written_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long");
    let chain = format!("INF(@a>@b): x{}", "->x".repeat(500_000));
    let list = format!("HEADER:{{f:a,t:b,s:1}}\nX_A:[x{}]", ",x".repeat(500_000));
    for (notation, text) in [("axon", chain), ("llmx", list)] {
        fs::write(&file, text).unwrap();
        for style in [None, Some("--pretty")] {
            let command = || {
                let mut command = sabir();
                command.args([notation, "json", "encode"]).args(style).arg(&file);
                command
            };
            let mut child = command().spawn().unwrap();
            let mut start = [0; 8];
            child.stdout.take().unwrap().read_exact(&mut start).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let output = command().stdout(full).output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "));
        }
    }
}

#[test]
fn json_errors_say_where() {
    for (Texts { notation, valid, invalid, code, .. }, right, wrong) in
        [(AXON, "\"INF\"", "5"), (LLMX, "\"header\"", "\"heading\"")]
    {
        let refused = run(&[notation, "json", "encode"], invalid);
        assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
        assert!(refused.stderr.contains(code));
        let encoded = run(&[notation, "json", "encode"], valid).stdout;
        let wrong = run(&[notation, "json", "decode"], encoded.replace(right, wrong));
        assert_eq!((wrong.code, wrong.stdout.as_str()), (1, ""));
        assert!(wrong.stderr.contains("/messages/0"), "{}", wrong.stderr);
        for text in ["", "{", "[1]", "null", "\"x\"", &"[".repeat(1_000_000)] {
            assert_eq!(run(&[notation, "json", "decode"], text).code, 1);
        }
    }
}

#[test]
fn a_tree_is_printed_even_when_there_are_errors() {
    let valid = run(&["axon", "ast", "--json"], VALID);
    assert_eq!(valid.code, 0);
    let tree = json(&valid.stdout);
    assert_eq!(tree["kind"], "document");
    assert_eq!(tree["children"][0]["kind"], "message");
    assert_eq!(tree["children"][0]["children"][0]["children"][0]["key"], "id");
    let invalid = run(&["axon", "ast"], INVALID);
    assert_eq!(invalid.code, 1);
    assert!(invalid.stdout.starts_with("document 0..37\n"), "{}", invalid.stdout);
    assert_ne!(invalid.stderr, "");
}

#[test]
fn a_long_chain_and_deep_brackets_have_a_tree() {
    let chain = format!("INF(@a>@b): {}x", "x & ".repeat(200_000));
    let tree = json(&run(&["axon", "ast", "--json"], chain).stdout);
    assert_eq!(tree["children"][0]["children"][3]["children"].as_array().unwrap().len(), 200_001);
    let deep = format!("INF(@a>@b): {}x{}", "~(a & ~[".repeat(64), "])".repeat(64));
    assert_eq!(run(&["axon", "ast", "--json"], deep).code, 0);
}

#[test]
fn repair_prints_the_text_and_says_what_it_changed() {
    let outcome = run(&["axon", "repair"], "INF(@a->@b): alert{level:3}\n");
    assert_eq!(outcome.code, 0);
    assert_eq!(outcome.stdout, "INF(@a>@b): #alert{level:3}\n");
    expect![[r#"
        1:7 AX105 routing is written with `>`: `->` -> `>`
        1:14 AX112 a record cannot be glued to this: nothing -> `#`
    "#]]
    .assert_eq(&outcome.stderr);
    let untouched = run(&["axon", "repair"], VALID);
    assert_eq!((untouched.stdout.as_str(), untouched.stderr.as_str()), (VALID, ""));
}

#[test]
fn repair_json_has_the_documented_shape() {
    let outcome = run(&["axon", "repair", "--json"], "\nINF(@a->@b): x");
    let report = json(&outcome.stdout);
    assert_eq!(keys(&report), ["text", "valid", "changes", "diagnostics"]);
    assert_eq!(report["text"], "\nINF(@a>@b): x");
    assert_eq!(report["valid"], true);
    let change = &report["changes"][0];
    assert_eq!(
        keys(change),
        ["code", "message", "start", "end", "line", "column", "before", "after"]
    );
    assert_eq!(
        (&change["start"], &change["line"], &change["column"]),
        (&7.into(), &2.into(), &7.into())
    );
    assert_eq!((&change["before"], &change["after"]), (&"->".into(), &">".into()));
    assert_eq!(outcome.stderr, "");
}

#[test]
fn replies_are_on_standard_output_and_nothing_else_is() {
    let reply = |args: &[&str], text: &str| {
        let outcome = run(&[&["llmx", "reply"], args].concat(), text);
        assert_eq!(outcome.stderr, "");
        (outcome.code, outcome.stdout)
    };
    let owned = |code, text: &str| (code, text.to_owned());
    assert_eq!(reply(&[], LLMX.valid), owned(0, "RES:{o:\"ACK\"}\n"));
    let unknown = "HEADER:{f:a,t:b,s:4}\nCUSTOM:{x:1}\n";
    let warning = "RES:{o:\"WARN\",msg:\"unknown message type: CUSTOM ignored\"}\n";
    assert_eq!(reply(&[], unknown), owned(0, warning));
    let broken = "HEADER:{f:a,t:b,s:5}\nREQ:{pr:1}\n";
    let refusal = "RES:{o:\"NACK\",msg:\"parse error: missing required field 'o' in REQ\"}\n";
    assert_eq!(reply(&["-"], broken), owned(1, refusal));
    let nothing = "RES:{o:\"NACK\",msg:\"parse error: missing HEADER\"}\n";
    assert_eq!(reply(&[], ""), owned(1, nothing));
    // Whole messages, which are valid themselves.
    let (code, messages) = reply(&["--from", "b c", "--seq", "7"], &[unknown, broken].concat());
    let headers = ["HEADER:{f:\"b c\",t:a,s:7,x_re:4}\n", "HEADER:{f:\"b c\",t:a,s:8,x_re:5}\n"];
    assert_eq!((code, &messages), (1, &[headers[0], warning, headers[1], refusal].concat()));
    assert_eq!(run(&["llmx", "check"], &messages).code, 0);
    assert_eq!(run(&["llmx", "fmt", "--check"], &messages).code, 0);
    assert_eq!(run(&["llmx", "reply", "--from", "b", "--seq", "18446744073709551615"], "").code, 2);
}

#[test]
fn reply_json_has_the_documented_shape() {
    let text = "\nHEADER:{f:a,t:b,s:1}\nCUSTOM:{}\nHEADER:{f:a,t:b,s:2}\nREQ:{pr:1}\n";
    let outcome = run(&["llmx", "reply", "--json", "--from", "b"], text);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (1, ""));
    let report = json(&outcome.stdout);
    assert_eq!(keys(&report), ["file", "accepted", "replies"]);
    assert_eq!((&report["file"], &report["accepted"]), (&"-".into(), &false.into()));
    let replies = report["replies"].as_array().unwrap();
    assert_eq!(replies.len(), 2);
    assert_eq!(keys(&replies[0]), ["line", "responses", "text"]);
    assert_eq!((&replies[0]["line"], &replies[1]["line"]), (&2.into(), &4.into()));
    let warning = &replies[0]["responses"][0];
    assert_eq!(keys(warning), ["o", "error", "unknown_type", "block"]);
    assert_eq!((&warning["o"], &warning["unknown_type"]), (&"WARN".into(), &"CUSTOM".into()));
    let refusal = &replies[1]["responses"][0];
    assert_eq!(refusal["error"], "missing required field 'o' in REQ");
    let block = refusal["block"].as_str().unwrap();
    assert_eq!(replies[1]["text"], format!("HEADER:{{f:b,t:a,s:2,x_re:2}}\n{block}\n"));
    let empty = json(&run(&["llmx", "reply", "--json"], "").stdout);
    assert_eq!(empty["replies"][0]["line"], Value::Null);
}

#[cfg(unix)]
#[test]
fn no_path_leaves_the_root_through_a_link() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("project/src")).unwrap();
    fs::write(path("secret"), "").unwrap();
    fs::write(path("project/src/a.rs"), "").unwrap();
    symlink("src", path("project/inside")).unwrap();
    symlink("..", path("project/out")).unwrap();
    symlink("loop", path("project/loop")).unwrap();
    symlink(path("project"), path("link-to-project")).unwrap();
    let codes = |target: &str, root: Option<&str>| -> Vec<String> {
        let text = format!("HEADER:{{f:a,t:b,s:1}}\nACT:{{op:read,tgt:\"{target}\"}}\n");
        let root = root.map(|root| path(root).to_str().unwrap().to_owned());
        let root: Vec<&str> = root.iter().flat_map(|root| ["--root", root]).collect();
        let outcome = run(&[&["llmx", "check", "--json"], &root[..]].concat(), &text);
        let report = json(&outcome.stdout);
        let found = report["diagnostics"].as_array().unwrap();
        assert_eq!(outcome.code, i32::from(!found.is_empty()), "{report}");
        found.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    };
    let none: [&str; 0] = [];
    for root in ["project", "link-to-project", "project/src/.."] {
        let root = Some(root);
        for fine in
            ["p:src/a.rs#L1-2", "inside/a.rs", "inside/../src", "not/there/yet", "src/a.rs/x"]
        {
            assert_eq!(codes(fine, root), none, "{fine}");
        }
        for leaving in ["out/secret", "p:out/secret#L1", "inside/../out", "loop/x"] {
            assert_eq!(codes(leaving, root).len(), 1, "{leaving}");
            assert_eq!(codes(leaving, None), none, "{leaving}: nobody asked about links");
        }
        assert_eq!(codes("../secret", root), codes("../secret", None), "said once");
        assert_eq!(codes(&"a/".repeat(1_000_000), root).len(), 1, "longer than any path");
    }
    for root in ["missing", "secret"] {
        let root = path(root).to_str().unwrap().to_owned();
        let outcome = run(&["llmx", "check", "--root", &root], LLMX.valid);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
        assert!(outcome.stderr.contains(&root), "{}", outcome.stderr);
    }
}

#[test]
fn grammars_are_exported() {
    for format in ["ebnf", "lark", "gbnf"] {
        let outcome = run(&["axon", "grammar", "--format", format], "");
        assert_eq!(outcome.code, 0);
        assert!(outcome.stdout.contains("INF"), "{format}");
        let args = [
            "axon",
            "grammar",
            "--format",
            format,
            "--performatives",
            "QRY,RPL",
            "--no-extensions",
            "--agents",
            "@planner,worker.one",
            "--tier",
            "1",
            "--depth",
            "3",
        ];
        let narrow = run(&args, "");
        assert_eq!(narrow.code, 0);
        assert_ne!(narrow.stdout, outcome.stdout, "{format}");
        assert!(narrow.stdout.contains("planner"), "{format}");
    }
}

#[test]
fn grammars_of_llmx_are_exported() {
    for format in ["ebnf", "lark", "gbnf"] {
        let whole = run(&["llmx", "grammar", "--format", format], "");
        assert_eq!((whole.code, whole.stderr.as_str()), (0, ""));
        assert!(whole.stdout.contains("REQ"), "{format}");
        let narrowed: [&[&str]; 5] = [
            &["--blocks", "OBS,BLK"],
            &["--no-extensions"],
            &["--agents", "Lead,Work er"],
            &["--single"],
            &["--depth", "3"],
        ];
        for args in narrowed {
            let narrow = run(&[&["llmx", "grammar", "--format", format], args].concat(), "");
            assert_eq!(narrow.code, 0, "{format} {args:?}");
            assert_ne!(narrow.stdout, whole.stdout, "{format} {args:?}");
        }
        let blocks = run(&["llmx", "grammar", "--format", format, "--blocks", "OBS,BLK"], "");
        assert!(blocks.stdout.contains("BLK") && !blocks.stdout.contains("REQ"), "{format}");
    }
}

#[test]
fn every_code_is_explained() {
    let list = run(&["explain"], "");
    assert_eq!(list.code, 0);
    assert!(
        ["AX", "LX"].iter().all(|start| {
            list.stdout.lines().filter(|line| line.starts_with(start)).count() > 30
        })
    );
    for line in list.stdout.lines() {
        let code = line.split_whitespace().next().unwrap();
        let page = run(&["explain", code], "");
        assert_eq!(page.code, 0, "{code}");
        assert!(page.stdout.contains(code), "{code}");
    }
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let outcome = run(&["completions", shell], "");
        assert_eq!(outcome.code, 0);
        assert!(outcome.stdout.contains("repair"), "{shell}");
    }
    assert!(run(&["man"], "").stdout.contains(".TH sabir 1"));
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man1");
    assert_eq!(run(&["man", pages.to_str().unwrap()], "").code, 0);
    assert!(pages.join("sabir-axon-check.1").exists());
    assert!(pages.join("sabir-llmx-check.1").exists());
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(run(&["man", file.to_str().unwrap()], "").code, 2);
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["axon", "check", "--help"],
        &["llmx", "fmt", "--help"],
        &["help", "axon"],
    ] {
        let outcome = run(args, "");
        assert_eq!(outcome.code, 0, "{args:?}");
        assert_ne!(outcome.stdout, "");
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let many = "INF(@a>@b): x{a:1}\n".repeat(20_000);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("many.axon");
    fs::write(&file, many).unwrap();
    let mut child = sabir().args(["axon", "ast", "--json"]).arg(&file).spawn().unwrap();
    drop(child.stdin.take());
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(wait(&mut child), Some(1), "the exit code still says what was found");
}
