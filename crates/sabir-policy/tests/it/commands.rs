//! Commands and what they are: the tables in `tests/data/commands`, the limits, and what holds for
//! every input.

use proptest::prelude::*;
use sabir_policy::{Assessment, Place, Verdict};
use sabir_testkit::cases;

/// QP-A2, QP-A3, QP-A4, QP-A5, QP-A6, QP-A7, QP-A9, QP-A35, QP-A36: each line of the tables is a
/// verdict and a command.
#[test]
fn the_tables_hold() {
    let mut lines = 0;
    let mut wrong = Vec::new();
    for case in cases("tests/data/commands") {
        for (number, line) in case.text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (verdict, command) = line.split_once(' ').unwrap();
            let command = command.trim_start();
            let expected: &[Verdict] = match verdict {
                "safe" => &[Verdict::Safe],
                "ordinary" => &[Verdict::Ordinary],
                "unasked" => &[Verdict::Safe, Verdict::Ordinary],
                "dangerous" => &[Verdict::Dangerous],
                other => panic!("{}:{}: no verdict {other:?}", case.name, number + 1),
            };
            lines += 1;
            for argv in spellings(command) {
                let found = assess(&argv);
                if !expected.contains(&found.verdict()) {
                    wrong.push(format!("{}:{}: {line}\n    {found:?}", case.name, number + 1));
                }
            }
        }
    }
    assert!(lines >= 200, "only {lines} lines: have the tables changed their shape?");
    assert!(wrong.is_empty(), "{} of {lines} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A list is started as it stands. A script is run by a shell, and without one too where that is
/// the same.
fn spellings(command: &str) -> Vec<Vec<String>> {
    // `[ -f x ]` is a script as well.
    if let Ok(argv) = serde_json::from_str::<Vec<String>>(command) {
        return vec![argv];
    }
    let mut spellings = vec![script("bash", command)];
    if command.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:".contains(c)) {
        spellings.push(command.split_whitespace().map(str::to_owned).collect());
    }
    spellings
}

fn assess(argv: &[String]) -> Assessment {
    sabir_policy::assess(argv, Place::Session)
}

fn script(shell: &str, script: &str) -> Vec<String> {
    vec![shell.to_owned(), "-lc".to_owned(), script.to_owned()]
}

#[track_caller]
fn check(script_text: &str, expected: Verdict, why: &str) {
    let found = assess(&script("bash", script_text));
    assert_eq!(found.verdict(), expected, "{found:?}");
    assert!(found.why().contains(why), "{found:?}");
}

/// QP-A1: a person reads why.
#[test]
fn the_reason_is_in_words() {
    check("ls", Verdict::Safe, "it only reads");
    check("cargo test", Verdict::Ordinary, "`cargo` is not known to only read");
    check("ls > x", Verdict::Ordinary, "it redirects input or output");
    check("git log --output=x", Verdict::Ordinary, "`git log --output=x` may do more than read");
    check("sudo rm -rf x", Verdict::Dangerous, "`rm` with force or recursive removes files");
    check("git -C x reset", Verdict::Dangerous, "`git reset` moves the branch");
}

/// QP-A4: git believes the settings of its folder, and the session's is the only one that a person
/// chose.
#[test]
fn git_is_not_safe_elsewhere() {
    for command in ["git status", "ls && git log", "sh -c 'git diff'"] {
        let argv = script("bash", command);
        assert_eq!(assess(&argv), Assessment::Safe, "{command}");
        let elsewhere = sabir_policy::assess(&argv, Place::Elsewhere);
        assert_eq!(elsewhere.verdict(), Verdict::Ordinary, "{command}");
        assert!(elsewhere.why().contains("settings of its folder"), "{elsewhere:?}");
    }
    let readers = script("bash", "cd x && ls | wc");
    assert_eq!(sabir_policy::assess(&readers, Place::Elsewhere), Assessment::Safe);
    for (folder, session, expected) in [
        ("/w", "/w", Place::Session),
        ("/w/", "/w/./", Place::Session),
        ("/w/x", "/w", Place::Elsewhere),
        ("/w/x/..", "/w", Place::Elsewhere),
        ("w", "/w", Place::Elsewhere),
        ("w", "x", Place::Elsewhere),
    ] {
        assert_eq!(Place::of(folder, session), expected, "{folder}");
    }
}

/// QP-A7: what is too long to judge can be anything; a look over it finds a better reason.
#[test]
fn too_long_is_dangerous() {
    let long = "echo aaaaaaaaaaaaaaa; ".repeat(4_000);
    check(&long, Verdict::Dangerous, "too long to judge");
    check(&format!("{long} rm -rf x"), Verdict::Dangerous, "`rm`");
    check(&format!("{long} git -C y reset"), Verdict::Dangerous, "`git reset`");
    let short = "echo aaaaaaaaaaaaaaa; ".repeat(1_000);
    check(&short, Verdict::Safe, "");
}

/// QP-A7: nesting is bounded, in the grammar and in shells within shells.
#[test]
fn deep_nesting_is_dangerous() {
    for depth in [10, 1_000, 10_000] {
        let nested = format!("{}ls{}", "$(".repeat(depth), ")".repeat(depth));
        check(&nested, Verdict::Dangerous, "");
        let nested = format!("{}rm -rf x{}", "(".repeat(depth), ")".repeat(depth));
        check(&nested, Verdict::Dangerous, "`rm`");
        check(&"{ ".repeat(depth), Verdict::Dangerous, "");
    }
    let mut nested = "ls".to_owned();
    let mut dangerous = "rm -rf x".to_owned();
    for _ in 0..12 {
        nested = format!("eval {}", quoted(&nested));
        dangerous = format!("eval {}", quoted(&dangerous));
        if dangerous.len() > 30_000 {
            break;
        }
        assert_ne!(assess(&script("bash", &nested)).verdict(), Verdict::Safe);
        check(&dangerous, Verdict::Dangerous, "`rm`");
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// QP-A7: input that is meant to be slow ends, and is never safe.
#[test]
fn hostile_input_ends() {
    for piece in [
        "sudo ",
        "rm ",
        "xargs ",
        "git ",
        "$(",
        "`",
        "((",
        "<<A ",
        "<<",
        "{a,b}",
        "'",
        "\"",
        "${",
        "case x in ",
        "if ",
        "\\",
        "a=b ",
        "sh -c ",
        "eval ",
        "[[ ",
        "|",
        "é",
        "\u{1}",
        "<(",
        ")",
        "<",
        ">",
        ") x | < ",
        "fi ",
        "ls|",
    ] {
        let text = piece.repeat(60_000 / piece.len());
        assert_ne!(assess(&script("bash", &text)).verdict(), Verdict::Safe, "{piece}");
        let words: Vec<String> = vec![piece.trim().to_owned(); 10_000];
        assert_ne!(assess(&words).verdict(), Verdict::Safe, "{piece}");
        let wrapped: Vec<String> = ["sudo".to_owned()].into_iter().chain(vec![text; 1]).collect();
        assert_ne!(assess(&wrapped).verdict(), Verdict::Safe, "{piece}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// QP-A8: no input panics, and the same input gets the same answer.
    #[test]
    fn any_argv_is_judged(argv in prop::collection::vec(".{0,40}", 0..6)) {
        let found = assess(&argv);
        prop_assert_eq!(&found, &assess(&argv));
        // A reason is a line for a person's terminal.
        prop_assert!(found.why().len() < 1_000 && !found.why().contains(char::is_control));
    }

    /// QP-A8: the same for scripts made of pieces that mean something to a shell.
    #[test]
    fn any_script_is_judged(pieces in prop::collection::vec(piece(), 0..30)) {
        let text = pieces.concat();
        let found = assess(&script("sh", &text));
        prop_assert_eq!(&found, &assess(&script("sh", &text)));
        // Nothing hides behind what is in front of it.
        let behind = assess(&script("sh", &format!("{text}\nrm -rf x\n")));
        prop_assert_ne!(behind, Assessment::Safe);
    }

    /// QP-A5: a safe script is not safe any more when something is put into it that runs, writes
    /// or hides.
    #[test]
    fn a_safe_script_does_not_stay_safe(
        commands in prop::collection::vec(safe_command(), 1..4),
        operators in prop::collection::vec(prop::sample::select(vec![" && ", " || ", "; ", " | "]), 3),
        inserted in prop::sample::select(vec![
            "$( ", "$(x)", "`", "`x`", ">", "> x ", "<", "&", " & x", "\nx\n", "$x", "(", "*", "{", "\\\n",
        ]),
        place in any::<prop::sample::Index>(),
    ) {
        let mut text = commands[0].to_owned();
        for (command, operator) in commands[1..].iter().zip(&operators) {
            text = format!("{text}{operator}{command}");
        }
        prop_assert_eq!(assess(&script("bash", &text)), Assessment::Safe);
        text.insert_str(place.index(text.len() + 1), inserted);
        // `& &` and the like are no script at all; `&&` is an operator that a script may have.
        if !(inserted == "&" && assess(&script("bash", &text.replace("&&", ";"))) == Assessment::Safe) {
            prop_assert_ne!(assess(&script("bash", &text)), Assessment::Safe);
        }
    }

    /// QP-A6: what is destructive stays so behind anything that runs it.
    #[test]
    fn danger_is_found_behind_any_chain(
        runners in prop::collection::vec(prop::sample::select(vec![
            "sudo", "env", "env A=b", "nice -n 5", "nohup", "timeout 5", "command", "exec", "xargs",
            "busybox", "A=b env", "stdbuf -oL", "time",
        ]), 0..5),
        danger in prop::sample::select(vec![
            "rm -rf x", "rm -r -f x", "/bin/rm -fr x", "git reset", "git -C y clean -fd", "git -c a=b rm x",
            "bash -c 'rm -rf x'", "find . -delete", "shred x",
        ]),
        around in prop::sample::select(vec![
            "{}", "ls && {}", "{} | cat", "(ls; {})", "echo $({})", "if true; then {}; fi", "f() { {}; }",
            "for x in a; do {}; done",
        ]),
    ) {
        let command = runners.iter().rev().fold(danger.to_owned(), |it, runner| format!("{runner} {it}"));
        let text = around.replace("{}", &command);
        prop_assert_eq!(assess(&script("bash", &text)).verdict(), Verdict::Dangerous, "{}", text);
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "ls", " ", "rm", " -rf ", "x", "'", "\"", "$(", ")", "`", "${", "}", "{", "(", ";", "&",
        "&&", "|", "\n", "<<EOF\n", "EOF\n", "<<<", ">", "<", "=", "A=b ", "if ", "then ", "fi",
        "for ", "in ", "do ", "done", "case ", "esac", ";;", "$", "\\", "#", "*", "[[", "]]", "é",
        "$'", "((", "))", "sudo ", "sh -c ",
    ])
}

fn safe_command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "ls -la src",
        "git status",
        "git log --oneline",
        "cat a.txt b.txt",
        "rg -n foo",
        "pwd",
        "head -5 x",
        "sed -n 1,5p x",
        "find . -name foo",
        "echo hello",
    ])
}
