//! The validator against folders of documents, against its own documentation, and against what
//! models wrote.
//!
//! `ok` must be silent but for remarks, `err` must speak; `.out` says what. The first line of a case
//! may choose a tier: `(* tier: 2 *)`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their data and may fail on it"
)]

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sabir_axon::{Rules, Tier, check, codes, parse, validate};
use sabir_base::{Diagnostic, LineIndex, Severity, apply_edits};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of a folder, by name. An empty folder fails: it would test nothing.
fn cases(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/validate").join(folder);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "axon"));
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn rules_of(text: &str) -> Rules {
    let first = text.lines().next().unwrap_or_default();
    let number = first.strip_prefix("(* tier: ").and_then(|rest| rest.strip_suffix(" *)"));
    Rules { tier: number.map(|number| Tier::from_number(number.parse().unwrap()).unwrap()) }
}

fn findings(text: &str) -> Vec<Diagnostic> {
    check(text, rules_of(text)).diagnostics
}

fn render(text: &str, diagnostics: &[Diagnostic]) -> String {
    let lines = LineIndex::new(text);
    let mut out = String::new();
    for found in diagnostics {
        let at = lines.line_col(text, found.span.start);
        let Diagnostic { code, message, .. } = found;
        let severity = found.severity.as_str();
        writeln!(out, "{}:{} {severity} {code} {message}", at.line, at.column).unwrap();
    }
    out
}

/// AX-R23, AX-R24, AX-R26.
#[test]
fn ok_cases_have_no_errors_and_no_warnings() {
    for (path, text) in cases("ok") {
        let mut found = findings(&text);
        found.retain(|found| found.severity != Severity::Info);
        assert!(found.is_empty(), "{}:\n{}", path.display(), render(&text, &found));
    }
}

/// AX-R23, AX-R24, AX-R25, AX-R27.
#[test]
fn err_cases_say_what_is_wrong() {
    for (path, text) in cases("err") {
        let found = findings(&text);
        assert!(!found.is_empty(), "{} is silent", path.display());
        expect_file![path.with_extension("out")].assert_eq(&render(&text, &found));
    }
}

#[test]
fn every_code_of_the_validator_is_produced_by_a_case() {
    let mut seen = HashSet::new();
    for (_, text) in cases("err") {
        seen.extend(findings(&text).into_iter().map(|found| found.code));
    }
    for info in codes::ALL.iter().filter(|info| info.code.as_str() >= "AX2") {
        assert!(seen.contains(&info.code), "no case in err/ produces {}", info.code);
    }
}

#[test]
fn findings_are_in_order_and_say_what_to_type() {
    for (path, text) in cases("err") {
        let found = findings(&text);
        assert!(found.is_sorted_by_key(|found| (found.span.start, found.span.end)));
        for found in found.iter().filter(|found| found.code.as_str() >= "AX2") {
            assert!(found.help.is_some(), "{}: {} has no help", path.display(), found.code);
            assert!(!found.message.ends_with('.'), "{}: {}", path.display(), found.message);
            assert!(text.get(found.span.range()).is_some(), "{}: {found:?}", path.display());
        }
    }
}

/// How often a document says this, wherever: an edit moves what stands behind it.
fn times(found: &Diagnostic, all: &[Diagnostic]) -> usize {
    all.iter().filter(|other| other.code == found.code && other.message == found.message).count()
}

#[test]
fn every_fix_mends_its_finding_and_breaks_nothing() {
    let mut fixed = 0;
    for (path, text) in cases("err") {
        let before = findings(&text);
        let errors = before.iter().filter(|found| found.is_error()).count();
        // What the parser proposes has tests of its own.
        let own = |found: &&Diagnostic| found.code.as_str() >= "AX2" && !found.fixes.is_empty();
        for found in before.iter().filter(own) {
            let mended = apply_edits(&text, &found.fixes);
            let after = check(&mended, rules_of(&text)).diagnostics;
            let name = path.display();
            assert!(
                times(found, &after) < times(found, &before),
                "{name}: {} is still there in\n{mended}",
                found.code
            );
            let left = after.iter().filter(|found| found.is_error()).count();
            assert!(left <= errors, "{name}: {} makes it worse:\n{mended}", found.code);
            fixed += 1;
        }
    }
    assert!(fixed > 20, "only {fixed} fixes were tried");
}

#[test]
fn a_document_cut_anywhere_is_checked_without_panic() {
    for (_, text) in cases("err").into_iter().chain(cases("ok")) {
        for (cut, _) in text.char_indices() {
            for rules in [Rules::default(), Rules { tier: Some(Tier::Three) }] {
                check(&text[..cut], rules);
                check(&text[cut..], rules);
            }
        }
    }
}

#[test]
fn many_findings_are_cut_off_and_the_document_stays_invalid() {
    let text = "[id:\"m\",^:9] INF(@a>@b): $x\n".repeat(5_000);
    let found = findings(&text);
    assert!(found.len() < 5_000, "{} findings", found.len());
    assert!(found.iter().any(Diagnostic::is_error));
    let remarks = "INF(@a>@b): $x\n".repeat(5_000);
    assert!(!findings(&remarks).iter().any(Diagnostic::is_error));
}

/// One chain around another: each is looked at for itself, however deep.
#[test]
fn a_use_before_the_binding_is_found_in_every_chain_around() {
    for depth in [1, 9, 100] {
        let content = format!("g($x)->f($x){}->$x=1{}", "->(a".repeat(depth), ")".repeat(depth));
        let text = format!("REQ(@a>@b): {content}");
        assert_eq!(
            render(&text, &findings(&text)),
            "1:15 warning AX306 `$x` is used in a step before it is bound\n"
        );
    }
    let text = "REQ(@a>@b): $x->[$x]->(f($x,$x)->(h()->($x=1->$x)))->$x=2";
    assert_eq!(
        render(text, &findings(text)),
        "1:13 warning AX306 `$x` is used in a step before it is bound\n\
         1:26 warning AX306 `$x` is used in a step before it is bound\n"
    );
    let text = "REQ(@a>@b): ($x=1->a)->(f($x)->$x=2)";
    assert_eq!(render(text, &findings(text)), "");
}

/// The fenced examples of a page, in order.
fn examples(page: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("```axon\n") {
        let (example, behind) = after.split_once("```").unwrap();
        out.push(example.to_owned());
        rest = behind;
    }
    out
}

#[test]
fn every_code_has_a_page_whose_examples_are_true() {
    // Nobody wants to read an example of these.
    let shapeless =
        [codes::BYTE_ORDER_MARK, codes::TOO_DEEP, codes::TOO_MANY_ERRORS, codes::TEXT_TOO_LARGE];
    let mut false_examples = String::new();
    for info in codes::ALL {
        let path = root().join(format!("docs/diagnostics/{}.md", info.code));
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        let title = format!("# {}: {}\n", info.code, info.name);
        assert!(page.starts_with(&title), "{} lacks the title {title}", path.display());
        let examples = examples(&page);
        if shapeless.contains(&info.code) {
            continue;
        }
        let [wrong, right] = examples.as_slice() else {
            panic!("{}: one wrong example and one right one", path.display());
        };
        let found = findings(wrong);
        if !found.iter().any(|found| found.code == info.code) {
            let said = render(wrong, &found);
            writeln!(false_examples, "{}, wrong: {wrong}{said}", info.code).unwrap();
        }
        let found = findings(right);
        if !found.is_empty() {
            let said = render(right, &found);
            writeln!(false_examples, "{}, right: {right}{said}", info.code).unwrap();
        }
    }
    assert!(false_examples.is_empty(), "{false_examples}");
    let pages = std::fs::read_dir(root().join("docs/diagnostics")).unwrap();
    for page in pages.map(|entry| entry.unwrap().path()) {
        let name = page.file_stem().unwrap().to_string_lossy().into_owned();
        let known = codes::ALL.iter().any(|info| info.code.as_str() == name);
        assert!(known || !name.starts_with("AX"), "{name} is a page without a code");
    }
}

#[test]
fn what_models_wrote_breaks_only_real_rules() {
    // The collection is not part of the repository.
    let path = root().join("../shared/data/axon-llm-written.jsonl");
    let Ok(lines) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let mut invalid = Vec::new();
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        if case["reference_accepts"] != true {
            continue;
        }
        let text = case["text"].as_str().unwrap();
        let mut found = validate(&parse(text).tree, Rules::default());
        found.retain(Diagnostic::is_error);
        if !found.is_empty() {
            invalid.push(format!("{text}\n{}", render(text, &found)));
        }
    }
    println!("{} messages break a rule:\n{}", invalid.len(), invalid.join("\n"));
    // Reviewed one by one: each of them breaks a rule of the specification.
    assert!(invalid.len() <= EXPECTED_INVALID, "{}", invalid.join("\n"));
}

/// `re:_`: section 7.1 wants a string, and the fix leaves the field out.
const EXPECTED_INVALID: usize = 1;
