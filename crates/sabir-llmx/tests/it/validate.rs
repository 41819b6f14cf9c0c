//! The folders of cases, and the pages of the codes.
//!
//! `ok` is silent, and its `.out` is the strict form. `err` speaks; its `.out` says what, and what
//! is answered.

#![expect(clippy::disallowed_methods, reason = "the pages are files")]

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sabir_base::{Diagnostic, LineIndex, apply_edits};
use sabir_llmx::{check, check_messages, codes, parse, print, replies, same, validate};
use sabir_testkit::{Case, cases};

fn folder(name: &str) -> Vec<Case> {
    cases(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One line for each finding, and one for its help.
fn render(text: &str, diagnostics: &[Diagnostic]) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for found in diagnostics {
        let at = lines.line_col(text, found.span.start);
        let Diagnostic { code, message, .. } = found;
        let severity = found.severity.as_str();
        writeln!(out, "{}:{} {severity} {code} {message}", at.line, at.column).unwrap();
        if let Some(help) = &found.help {
            writeln!(out, "    {help}").unwrap();
        }
    }
    out
}

fn answers(text: &str) -> String {
    replies(&check_messages(text)).iter().map(ToString::to_string).collect()
}

#[test]
fn ok_cases_are_silent_and_have_this_strict_form() {
    for case in folder("ok") {
        let parsed = check_messages(&case.text);
        assert_eq!(render(&case.text, &parsed.diagnostics), "", "{} speaks", case.name);
        let printed = print(&parsed.tree);
        expect_file![case.out_path()].assert_eq(&printed);
        let again = check_messages(&printed);
        assert!(again.diagnostics.is_empty(), "{}: {:?}", case.name, again.diagnostics);
        assert!(same(&parsed.tree, &again.tree), "{}", case.name);
        assert_eq!(print(&again.tree), printed, "{}", case.name);
        assert!(parsed.tree.messages().all(|message| message.typed().is_some()), "{}", case.name);
    }
}

/// LX-R8, LX-R30, LX-R36, LX-R37.
#[test]
fn err_cases_say_what_is_wrong_and_what_is_answered() {
    for case in folder("err") {
        let found = check_messages(&case.text).diagnostics;
        assert!(!found.is_empty(), "{} is silent", case.name);
        let findings = render(&case.text, &found);
        let out = format!("{findings}--- answered\n{}", answers(&case.text));
        expect_file![case.out_path()].assert_eq(&out);
    }
}

#[test]
fn every_code_is_produced_by_a_case() {
    let mut seen = HashSet::new();
    for case in folder("err") {
        seen.extend(check_messages(&case.text).diagnostics.into_iter().map(|found| found.code));
    }
    for info in codes::ALL.iter().filter(|info| info.code.as_str() < "LX3") {
        let is_huge =
            [codes::TOO_DEEP, codes::TOO_MANY_ERRORS, codes::TEXT_TOO_LARGE].contains(&info.code);
        assert!(is_huge || seen.contains(&info.code), "no case in err/ produces {}", info.code);
    }
}

#[test]
fn findings_are_in_order_and_say_what_to_type() {
    for case in folder("err") {
        let found = check_messages(&case.text).diagnostics;
        assert!(found.is_sorted_by_key(|found| found.span.start), "{}", case.name);
        assert!(validate(&parse(&case.text).tree).is_sorted_by_key(|found| found.span.start));
        for found in found {
            assert!(!found.message.ends_with('.'), "{}: {}", case.name, found.message);
            assert!(case.text.get(found.span.range()).is_some(), "{}: {found:?}", case.name);
            let is_own = found.code.as_str() >= "LX2";
            assert!(!is_own || found.help.is_some(), "{}: {found:?}", case.name);
        }
    }
}

#[test]
fn every_fix_mends_its_finding_and_breaks_nothing() {
    let times = |found: &Diagnostic, all: &[Diagnostic]| {
        all.iter()
            .filter(|other| other.code == found.code && other.message == found.message)
            .count()
    };
    let errors = |all: &[Diagnostic]| all.iter().filter(|found| found.is_error()).count();
    let (mut tried, mut wrong) = (0, String::new());
    for case in folder("err") {
        let before = check_messages(&case.text).diagnostics;
        for found in before.iter().filter(|found| !found.fixes.is_empty()) {
            tried += 1;
            let mended = apply_edits(&case.text, &found.fixes);
            let after = check_messages(&mended).diagnostics;
            let is_gone = times(found, &after) < times(found, &before);
            if !is_gone || errors(&after) > errors(&before) {
                let findings = render(&mended, &after);
                writeln!(wrong, "{}: {found:?} gives\n{mended}\n{findings}", case.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tried > 50, "only {tried} fixes were tried");
}

#[test]
fn a_document_cut_anywhere_is_checked_and_answered() {
    for case in folder("err").into_iter().chain(folder("ok")) {
        for (cut, _) in case.text.char_indices() {
            for part in [&case.text[..cut], &case.text[cut..]] {
                let parsed = check_messages(part);
                print(&parsed.tree);
                for reply in replies(&parsed) {
                    let message = reply.message("Sabir", 1).unwrap();
                    assert!(check_messages(&message).diagnostics.is_empty(), "{message}");
                }
            }
        }
    }
}

/// LX-R10.
#[test]
fn many_findings_are_cut_off_and_the_document_stays_invalid() {
    let text = "HEADER:{f:a,t:b,s:1}\nREQ:{pr:9}\n".repeat(5_000);
    let found = check_messages(&text).diagnostics;
    assert!(found.len() < 2_000, "{} findings", found.len());
    assert!(found.iter().any(Diagnostic::is_error));
    let odd = format!("HEADER:{{f:a,t:b,s:1}}\n{}", "CUSTOM:{}\n".repeat(5_000));
    let found = check_messages(&odd).diagnostics;
    assert!(found.len() < 2_000 && !found.iter().any(Diagnostic::is_error));
}

/// The fenced examples of a page, in order.
fn examples(page: &str) -> Vec<&str> {
    let fences = page.split("```llmx\n").skip(1);
    fences.map(|after| after.split_once("```").unwrap().0).collect()
}

#[test]
fn every_code_has_a_page_whose_examples_are_true() {
    // Nobody wants to read an example of these.
    let shapeless =
        [codes::BYTE_ORDER_MARK, codes::TOO_DEEP, codes::TOO_MANY_ERRORS, codes::TEXT_TOO_LARGE];
    let mut wrong = String::new();
    for info in codes::ALL {
        let path = root().join(format!("docs/diagnostics/{}.md", info.code));
        let page = fs::read_to_string(&path).unwrap_or_default();
        let start = format!("# {}: {}\n\n{}\n", info.code, info.name, info.summary);
        if !page.starts_with(&start) {
            writeln!(wrong, "{} does not start with\n{start}", path.display()).unwrap();
            continue;
        }
        if shapeless.contains(&info.code) {
            continue;
        }
        let [bad, good] = examples(&page)[..] else {
            writeln!(wrong, "{}: one wrong example and one right one", path.display()).unwrap();
            continue;
        };
        let found = check(bad).diagnostics;
        // A text does not show its links.
        let shows = info.code != codes::LINK_OUT_OF_ROOT;
        if shows && !found.iter().any(|found| found.code == info.code) {
            writeln!(wrong, "{}, wrong: {bad}{}", info.code, render(bad, &found)).unwrap();
        }
        let found = check(good).diagnostics;
        if !found.is_empty() {
            writeln!(wrong, "{}, right: {good}{}", info.code, render(good, &found)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for page in fs::read_dir(root().join("docs/diagnostics")).unwrap() {
        let name = page.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let known = codes::ALL.iter().any(|info| info.code.as_str() == name);
        assert!(known || !name.starts_with("LX"), "{name} is a page without a code");
    }
}
