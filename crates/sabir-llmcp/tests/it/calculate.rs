//! What `app.calculate` answers: a table of expressions, and what holds for every text.

use expect_test::expect_file;
use proptest::prelude::*;
use sabir_llmcp::{CalculateProblem, calculate};
use sabir_testkit::cases;

/// LC-K40, LC-K41, LC-K42, LC-K43, LC-K44: one line per expression; `@2` behind it asks for two places.
#[test]
fn expressions_and_their_values() {
    let mut count = 0;
    for case in cases("tests/data/calculate") {
        let mut shown = String::new();
        for line in case.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (expression, precision) = match line.rsplit_once(" @") {
                Some((expression, places)) => (expression, Some(places.parse().unwrap())),
                None => (line, None),
            };
            let outcome = match calculate(expression, precision) {
                Ok(value) => format!("= {value}"),
                Err(error) => format!("! {error}"),
            };
            shown.push_str(&format!("{line}\n    {outcome}\n"));
            count += 1;
        }
        expect_file![std::path::absolute(case.out_path()).unwrap()].assert_eq(&shown);
    }
    assert!(count >= 60, "only {count} expressions");
}

/// LC-K45
#[test]
fn long_and_deep_expressions_are_refused_at_a_place() {
    let problem = |expression: &str| {
        let error = calculate(expression, None).unwrap_err();
        assert!(error.at <= expression.len());
        error.problem
    };
    assert_eq!(problem(&"1+".repeat(501)), CalculateProblem::TooLong);
    assert_eq!(problem(&"(".repeat(1000)), CalculateProblem::TooDeep);
    assert_eq!(problem(&"-".repeat(1000)), CalculateProblem::TooDeep);
    assert_eq!(problem(&"2^".repeat(500)), CalculateProblem::TooDeep);
    assert_eq!(problem(&"abs(".repeat(250)), CalculateProblem::TooDeep);
    let widest = format!("{}1", "1+".repeat(499));
    assert_eq!(calculate(&widest, None).unwrap(), "500");
    let deepest = format!("{}1{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(calculate(&deepest, None).unwrap(), "1");
}

proptest! {
    /// LC-K46
    #[test]
    fn every_text_has_an_answer(text in "[0-9.+*/%^(), a-z−×÷-]{0,60}", precision in 0..9_u32) {
        if let Err(error) = calculate(&text, Some(precision)) {
            prop_assert!(error.at <= text.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    /// LC-K46
    #[test]
    fn any_text_at_all(text in any::<String>()) {
        let _ = calculate(&text, None);
    }

    /// LC-K40: cents add up as whole numbers do.
    #[test]
    fn sums_of_cents_are_exact(cents in prop::collection::vec(-1_000_000_i64..1_000_000, 1..40)) {
        let terms: Vec<String> = cents
            .iter()
            .map(|c| format!("({}{}.{:02})", if *c < 0 { "-" } else { "" }, c.abs() / 100, c.abs() % 100))
            .collect();
        let sum: i64 = cents.iter().sum();
        let sign = if sum < 0 { "-" } else { "" };
        let wanted = format!("{sign}{}.{:02}", sum.abs() / 100, sum.abs() % 100);
        prop_assert_eq!(calculate(&terms.join("+"), Some(2)).unwrap(), wanted);
    }

    /// LC-K41: a number with three places rounds half away from zero.
    #[test]
    fn rounding_is_away_from_zero(thousandths in -10_000_000_i64..10_000_000) {
        let t = thousandths.abs();
        let sign = if thousandths < 0 { "-" } else { "" };
        let text = format!("{sign}{}.{:03}", t / 1000, t % 1000);
        let cents = (t + 5) / 10;
        let sign = if cents == 0 { "" } else { sign };
        let wanted = format!("{sign}{}.{:02}", cents / 100, cents % 100);
        prop_assert_eq!(calculate(&text, Some(2)).unwrap(), wanted);
    }
}
