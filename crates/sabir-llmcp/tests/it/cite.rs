//! The verifier, rule by rule, on short sources.

use expect_test::{Expect, expect};
use sabir_llmcp::{CitableSource, SourceText, Verdict, verify_citation, verify_quote};

/// The verdict on one line: status, how, why, and the words to show.
fn line(verdict: &Verdict) -> String {
    let how = verdict.how.map_or("-", |how| how.word());
    let reason = verdict.reason.map_or("-", |reason| reason.code());
    format!("{} {how} {reason}: {}", verdict.status.word(), verdict.quote)
}

/// Each quote on a line of its own, judged against the Markdown.
fn check(markdown: &str, quotes: &[&str], expected: Expect) {
    let source = SourceText::new(markdown);
    let mut lines = String::new();
    for quote in quotes {
        let verdict = verify_quote(quote, &source);
        assert!(markdown.get(verdict.start..verdict.end).is_some(), "{quote}");
        lines += &format!("{}\n", line(&verdict));
    }
    expected.assert_eq(&lines);
}

/// LC-V1.
#[test]
fn a_place_is_given_in_bytes_of_the_stored_markdown() {
    let markdown = "# Über\n\nThe **launch** is [expected](https://a.b) in Q2, it says.";
    let source = SourceText::new(markdown);
    let given =
        CitableSource { id: "s1", hash: "sha256:1", url: Some("https://x.y/p"), text: &source };
    let verdict = verify_citation("The launch is expected in Q2.", "s1", &[given]);
    assert_eq!(
        &markdown[verdict.start..verdict.end],
        "The **launch** is [expected](https://a.b) in Q2"
    );
    assert_eq!(verdict.quote, "The launch is expected in Q2");
    assert_eq!(verdict.source_hash.as_deref(), Some("sha256:1"));
    assert_eq!(verdict.url.as_deref(), Some("https://x.y/p"));
    assert_eq!(verdict.section.as_deref(), Some("Über"));
}

/// LC-V2, LC-V3.
#[test]
fn typography_is_verified_and_punctuation_repaired() {
    check(
        "He said: “The café’s price—€5, not 6—is *fair*.” Is 10⁶ safe? Half is ½.",
        &[
            "The café’s price—€5, not 6—is fair",
            "the CAFE\u{301}'s price - €5, not 6 - is fair.",
            "The\u{a0}café's\nprice–€5, not 6–is fair",
            "The café's price, €5, not 6, is fair",
            "Is 10⁶ safe?",
            "Is 10⁶ safe.",
            "Is 106 safe?",
            "Half is 1⁄2",
        ],
        expect![[r#"
            verified exact -: The café’s price—€5, not 6—is fair.
            verified normalised -: The café’s price—€5, not 6—is fair.
            verified normalised -: The café’s price—€5, not 6—is fair.
            repaired punctuation punctuation: The café’s price—€5, not 6—is fair.
            verified exact -: Is 10⁶ safe?
            repaired punctuation punctuation: Is 10⁶ safe?
            unverified - not_found: Is 106 safe?
            unverified - not_found: Half is 1⁄2
        "#]],
    );
}

/// LC-V4.
#[test]
fn slips_are_repaired_and_other_words_are_not() {
    check(
        "Doctors in Iran observed hypertension in the morning, and Johnson described the colour of the skin as normal.",
        &[
            "Doctors in Iran obseved hypertension in the morning",
            "Johnson described the color of the skin as normal",
            "Doctors in Iraq observed hypertension in the morning",
            "Doctors in Iran observed hypotension in the morning",
            "Johnston described the colour of the skin as normal",
            "Doctors in Iran treated hypertension in the morning",
            "in tthe mroning",
        ],
        expect![[r#"
            repaired edited edited: Doctors in Iran observed hypertension in the morning
            repaired edited edited: Johnson described the colour of the skin as normal.
            unverified - not_found: Doctors in Iraq observed hypertension in the morning
            unverified - not_found: Doctors in Iran observed hypotension in the morning
            unverified - not_found: Johnston described the colour of the skin as normal
            unverified - not_found: Doctors in Iran treated hypertension in the morning
            unverified - not_found: in tthe mroning
        "#]],
    );
}

/// LC-V5.
#[test]
fn a_quote_may_carry_marks_of_markdown() {
    check(
        "1. Heat the **oven** to [220 °C](https://a.b).\n2. Bake for `15` minutes.\n\n| A | B |\n|---|---|\n| five | 6 |",
        &[
            "Heat the **oven** to [220 °C](https://a.b)",
            "1. Heat the **oven** to [220 °C](https://a.b).",
            "3. Heat the **oven** to [220 °C](https://a.b).",
            "- Bake for `15` minutes",
            "| five | 6 |",
        ],
        expect![[r#"
            verified normalised -: Heat the oven to 220 °C.
            verified normalised -: Heat the oven to 220 °C.
            unverified - not_found: 3. Heat the **oven** to [220 °C](https://a.b).
            verified normalised -: Bake for 15 minutes.
            verified normalised -: five	6
        "#]],
    );
}

/// LC-V6.
#[test]
fn numbers_are_the_same() {
    check(
        "Sales rose 12.5% to $3,400 in three years, and costs fell by -2 points over 40 km.",
        &[
            "Sales rose 12.5% to $3,400 in three years",
            "Sales rose 125% to $3,400 in three years",
            "Sales rose 12,5% to $3,400 in three years",
            "Sales rose 12.5 to $3,400 in three years",
            "Sales rose 12.5% to €3,400 in three years",
            "Sales rose 12.5% to $3400 in three years",
            "Sales rose 12.5% to $3,400 in four years",
            "Sales rose 12.5% to $3,400 in 3 years",
            "and costs fell by 2 points over 40 km",
            "and costs fell by -2 points over 40 miles",
        ],
        expect![[r#"
            verified exact -: Sales rose 12.5% to $3,400 in three years
            unverified - not_found: Sales rose 125% to $3,400 in three years
            unverified - not_found: Sales rose 12,5% to $3,400 in three years
            unverified - not_found: Sales rose 12.5 to $3,400 in three years
            unverified - not_found: Sales rose 12.5% to €3,400 in three years
            unverified - not_found: Sales rose 12.5% to $3400 in three years
            unverified - not_found: Sales rose 12.5% to $3,400 in four years
            unverified - not_found: Sales rose 12.5% to $3,400 in 3 years
            unverified - not_found: and costs fell by 2 points over 40 km
            unverified - not_found: and costs fell by -2 points over 40 miles
        "#]],
    );
}

/// LC-V6, LC-V10: each source, and a quote of it that would be another number.
#[test]
fn numbers_keep_what_belongs_to_them() {
    for (source, quote) in [
        ("rates fell .5 percent in May", "5 percent in May"),
        ("a loss of -.5 points", "5 points"),
        ("a loss of -.5 points", ".5 points"),
        ("a result of -$5 million", "$5 million"),
        ("a result of −€5 million", "€5 million"),
        ("a result of –5 million", "5 million"),
        ("a result of $-5 million", "5 million"),
        ("a result of (5) million", "a result of 5"),
        ("a result of (5.2)", "5.2"),
        ("a result of ($5.2), after tax", "a result of $5.2, after tax"),
        ("it costs US$5 in all", "$5 in all"),
        ("it costs 5$CA in all", "it costs 5$"),
        ("it costs 5 million euros", "it costs 5"),
        ("it costs 5 million euros", "million euros"),
        ("it costs 5% more", "it costs 5"),
        ("it costs 1.5 euros", "5 euros"),
        ("it costs 1.5 euros", "it costs 1"),
        ("it costs 3-5 euros", "5 euros"),
        ("it costs 3–5 euros", "it costs 3"),
        ("it costs 3 - 5 euros", "5 euros"),
        ("it costs 3 to 5 euros", "5 euros"),
        ("it costs 3 to 5 euros", "it costs 3"),
        ("es kostet 3 bis 5 Euro", "5 Euro"),
        ("it takes two and a half years", "half years"),
        ("it takes two and a half years", "it takes two"),
        ("one hundred and five people came", "five people came"),
        ("it is ±5 degrees", "5 degrees"),
        ("it is <5 degrees", "5 degrees"),
        ("it is > 5 degrees", "5 degrees"),
        ("it is ~5 degrees", "5 degrees"),
        ("it is ~$5 each", "$5 each"),
        ("it is ≈5 degrees", "5 degrees"),
        ("it is at 5 °C today", "it is at 5 °"),
        ("it is minus 5 degrees", "5 degrees"),
        ("it is less than 5 degrees", "5 degrees"),
        ("it is at most 5 degrees", "5 degrees"),
        ("it is under 5 degrees", "5 degrees"),
        ("there is up to 50% off", "50% off"),
        ("as (a)-5 points", "5 points"),
        ("he knows C++ well", "he knows C"),
    ] {
        let verdict = verify_quote(quote, &SourceText::new(source));
        let status = verdict.status.word();
        assert_eq!(status, "unverified", "{quote:?} of {source:?}: {}", line(&verdict));
    }
    for (source, quote) in [
        ("rates fell .5 percent in May", "fell .5 percent"),
        ("a result of -$5 million", "-$5 million"),
        ("a result of (5) million", "a result of (5)"),
        ("Smith (2019) found it", "Smith 2019 found it"),
        ("so it was ...5 people left", "5 people left"),
        ("it took 12 (15) days", "it took 12"),
        ("in 2019 and 2020 it rained", "2020 it rained"),
        ("it costs US$5 in all", "US$5 in all"),
        ("it is at 5 °C today", "it is at 5 °C"),
        ("it rose by 5. Then 6 came", "it rose by 5"),
    ] {
        let verdict = verify_quote(quote, &SourceText::new(source));
        let status = verdict.status.word();
        assert!(matches!(status, "verified" | "repaired"), "{quote:?}: {}", line(&verdict));
    }
}

/// LC-V7.
#[test]
fn negations_stay() {
    check(
        "The drug did not reduce pain, and it isn't sold without advice. Das Mittel hilft nicht gegen Fieber.",
        &[
            "The drug did reduce pain, and it isn't sold without advice",
            "The drug did not reduce pain, and it is sold without advice",
            "The drug did not reduce pain, and it isn't sold with advice",
            "The drug did never reduce pain, and it isn't sold without advice",
            "Das Mittel hilft gegen Fieber",
        ],
        expect![[r#"
            unverified - not_found: The drug did reduce pain, and it isn't sold without advice
            unverified - not_found: The drug did not reduce pain, and it is sold without advice
            unverified - not_found: The drug did not reduce pain, and it isn't sold with advice
            unverified - not_found: The drug did never reduce pain, and it isn't sold without advice
            unverified - not_found: Das Mittel hilft gegen Fieber
        "#]],
    );
}

/// LC-V8.
#[test]
fn an_ellipsis_swallows_nothing_that_matters() {
    check(
        "The vaccine, which was made in Leiden by a small team, protects children well. It does not protect adults. \
         After 14 days the effect is full, but only with a second dose. Trials continue in Ghana.",
        &[
            "The vaccine ... protects children well",
            "The vaccine, which was made [...] protects children well.",
            "The vaccine … protects adults",
            "It does … protect adults",
            "protects children well ... After 14 days",
            "After ... the effect is full",
            "After 14 days … with a second dose",
            "protects children well … The vaccine, which",
            "… protects children well …",
        ],
        expect![[r#"
            repaired elided elided: The vaccine, which was made in Leiden by a small team, protects children well.
            repaired elided elided: The vaccine, which was made in Leiden by a small team, protects children well.
            unverified - not_found: The vaccine … protects adults
            unverified - ellipsis_swallows_negation: It does … protect adults
            unverified - ellipsis_swallows_negation: protects children well ... After 14 days
            unverified - ellipsis_too_wide: After ... the effect is full
            unverified - ellipsis_swallows_negation: After 14 days … with a second dose
            unverified - ellipsis_out_of_order: protects children well … The vaccine, which
            verified exact -: protects children well.
        "#]],
    );
}

/// LC-V9.
#[test]
fn the_words_are_one_run() {
    check(
        "The council approved the bridge in May. The mayor rejected the tunnel in June.",
        &[
            "The council rejected the tunnel in June",
            "The mayor approved the bridge in May",
            "The council approved the bridge. The mayor rejected the tunnel",
            "The bridge approved the council in May",
            "in May. The mayor rejected the tunnel",
        ],
        expect![[r#"
            unverified - not_found: The council rejected the tunnel in June
            unverified - not_found: The mayor approved the bridge in May
            unverified - not_found: The council approved the bridge. The mayor rejected the tunnel
            unverified - not_found: The bridge approved the council in May
            verified exact -: in May. The mayor rejected the tunnel
        "#]],
    );
}

/// LC-V10.
#[test]
fn a_quote_is_not_cut_out_of_what_governs_it() {
    check(
        "The non-profit group was unable to pay 2 million dollars. There is no evidence that coffee causes cancer. \
         It is not safe for children. Profits fell to -5 percent. Das Gerät funktioniert leider nicht im Regen.",
        &[
            "profit group was unable to pay",
            "able to pay 2 million dollars",
            "group was unable to pay 2",
            "million dollars",
            "coffee causes cancer",
            "safe for children",
            "fell to -5",
            "5 percent",
            "Das Gerät funktioniert",
            "There is no evidence that coffee causes cancer",
        ],
        expect![[r#"
            unverified - cuts_word: profit group was unable to pay
            unverified - not_found: able to pay 2 million dollars
            unverified - cuts_number: group was unable to pay 2
            unverified - cuts_number: million dollars
            unverified - cuts_negation: coffee causes cancer
            unverified - cuts_negation: safe for children
            unverified - cuts_number: fell to -5
            unverified - cuts_number: 5 percent
            unverified - cuts_negation: Das Gerät funktioniert
            verified exact -: There is no evidence that coffee causes cancer.
        "#]],
    );
}

/// LC-V10: each source, and a quote of it that would say the opposite.
#[test]
fn a_quote_is_not_cut_away_from_its_negation() {
    for (source, quote) in [
        ("it is no longer profitable for its investors", "profitable for its investors"),
        ("it did not significantly improve outcomes for patients", "improve outcomes for patients"),
        ("it didn't very much improve outcomes", "improve outcomes"),
        ("it is not always safe for children", "safe for children"),
        ("it is not quite so safe for children", "safe for children"),
        ("it is not at all safe for children", "safe for children"),
        ("it has never been fully safe for children", "safe for children"),
        ("it can hardly ever improve outcomes", "improve outcomes"),
        ("it barely improved outcomes", "improved outcomes"),
        ("it rarely improved outcomes", "improved outcomes"),
        ("it came without any great success", "great success"),
        ("it failed to improve outcomes", "improve outcomes"),
        ("it failed to improve outcomes", "to improve outcomes"),
        ("it was unable to really improve outcomes", "improve outcomes"),
        ("it is unlikely to improve outcomes", "improve outcomes"),
        ("the firm denies that it sold arms", "it sold arms"),
        ("the firm denied having sold arms", "sold arms"),
        ("it is false that coffee causes cancer", "coffee causes cancer"),
        ("it is a myth that coffee causes cancer", "coffee causes cancer"),
        ("the claim that coffee causes cancer is false", "coffee causes cancer"),
        ("the idea that coffee causes cancer has been refuted", "coffee causes cancer"),
        ("there is no clear evidence that coffee causes cancer", "coffee causes cancer"),
        ("they asked whether coffee causes cancer", "coffee causes cancer"),
        ("he falsely said it", "said it"),
        ("the drug is safe unless taken with wine", "the drug is safe"),
        ("the shop opens daily except in May", "the shop opens daily"),
        ("it is neither safe nor effective for adults", "effective for adults"),
        ("it is neither safe nor effective for adults", "safe"),
        ("no company paid any tax in May", "paid any tax in May"),
        ("none of the members approved the plan", "approved the plan"),
        ("a lack of clean water was found", "clean water was found"),
        ("es gibt keinen Beweis, dass Kaffee krank macht", "Kaffee krank macht"),
        ("das Mittel hilft leider gar nicht", "das Mittel hilft"),
        ("il n'est pas toujours facile de nager", "facile de nager"),
        ("no es muy fácil nadar aquí", "fácil nadar aquí"),
    ] {
        let verdict = verify_quote(quote, &SourceText::new(source));
        assert_eq!(line(&verdict), format!("unverified - cuts_negation: {quote}"), "{source}");
    }
    for (source, quote) in [
        ("it is not only safe but cheap", "safe but cheap"),
        ("there is no doubt that it improves outcomes", "it improves outcomes"),
        ("it did not fail to improve outcomes", "improve outcomes"),
        ("the bridge is not open in May", "the bridge"),
        ("it did not rain, so the match went on", "the match went on"),
        ("those who do not smoke are healthy people", "healthy people"),
        ("the pump failed the second time it ran", "time it ran"),
        ("he did not pay dividends in May", "dividends in May"),
    ] {
        let verdict = verify_quote(quote, &SourceText::new(source));
        assert_eq!(verdict.status.word(), "verified", "{quote:?}: {}", line(&verdict));
    }
}

/// LC-V15.
#[test]
fn a_quote_does_not_join_blocks() {
    check(
        "- Revenue rose\n- 5 percent of staff left\n- Nobody was hurt\n\n| Revenue | Cost |\n|---|---|\n| 5 | 7 |\n\n# Prices\n\nBread became dearer here.",
        &[
            "Revenue rose 5 percent",
            "Revenue rose\n5 percent of staff left",
            "- Revenue rose\n- 5 percent of staff left",
            "of staff left nobody was hurt",
            "Cost 5",
            "Revenue Cost",
            "5 | 7",
            "Prices Bread became dearer",
            "Prices\n\nBread became dearer here.",
            "Revenue rose ... was hurt Revenue Cost 5",
            "Revenue rosee 5 percent of staff left",
        ],
        expect![[r#"
            unverified - joins_blocks: Revenue rose 5 percent
            verified exact -: Revenue rose
            5 percent of staff left
            repaired punctuation punctuation: Revenue rose
            5 percent of staff left
            unverified - joins_blocks: of staff left nobody was hurt
            unverified - joins_blocks: Cost 5
            verified normalised -: Revenue	Cost
            verified normalised -: 5	7
            repaired punctuation punctuation: Prices

            Bread became dearer
            verified exact -: Prices

            Bread became dearer here.
            unverified - joins_blocks: Revenue rose ... was hurt Revenue Cost 5
            unverified - not_found: Revenue rosee 5 percent of staff left
        "#]],
    );
}

/// LC-V11.
#[test]
fn a_quote_belongs_to_the_source_that_it_names() {
    let (a, b) = (
        SourceText::new("Alpha is the first letter."),
        SourceText::new("Beta is the second letter."),
    );
    let sources = [
        CitableSource { id: "a", hash: "1", url: None, text: &a },
        CitableSource { id: "b", hash: "2", url: None, text: &b },
    ];
    let judge = |quote: &str, id: &str| {
        let verdict = verify_citation(quote, id, &sources);
        format!("{} found in {:?}", line(&verdict), verdict.found_in)
    };
    let lines = [
        judge("Beta is the second letter", "b"),
        judge("Beta is the second letter", "a"),
        judge("Beta is the second letter", "c"),
        judge("Gamma is the third letter", "a"),
        judge(" … ", "a"),
    ];
    expect![[r#"
        verified exact -: Beta is the second letter. found in None
        unverified - other_source: Beta is the second letter found in Some("b")
        unknown_source - unknown_source: Beta is the second letter found in None
        unverified - not_found: Gamma is the third letter found in None
        unverified - empty_quote: … found in None"#]]
    .assert_eq(&lines.join("\n"));
}

/// LC-V12.
#[test]
fn several_places_are_ambiguous_unless_it_matters_little() {
    check(
        "# Basic\n\nThe price is $100. Support is by mail.\n\n# Plus\n\nThe price is $100. We answer within a day, and we answer within a day. See above. See above.",
        &[
            "The price is $100",
            "Support is by mail",
            "we answer within a day",
            "See above",
            "Support",
        ],
        expect![[r#"
            ambiguous exact several_places: The price is $100.
            verified exact -: Support is by mail.
            verified exact -: we answer within a day.
            ambiguous exact several_places: See above.
            verified exact -: Support
        "#]],
    );
}

/// LC-V13.
#[test]
fn a_text_fragment_is_made_of_the_sources_words() {
    let long = "word ".repeat(80) + "end";
    let markdown = format!(
        "First, a well-known fact & more. One fact here. Another fact here too.\n\n- item one is here\n- item two is there\n\n{long}."
    );
    let source = SourceText::new(&markdown);
    let fragment = |quote: &str| {
        let given =
            CitableSource { id: "s", hash: "h", url: Some("https://x.y/p#top"), text: &source };
        verify_citation(quote, "s", &[given]).link.unwrap_or_default()
    };
    let lines = [
        fragment("a WELL-known fact & more"),
        fragment("One fact"),
        fragment("item one is here item two is there"),
        fragment(&long),
        fragment("not there at all"),
    ];
    expect![[r#"
        https://x.y/p#top:~:text=a%20well%2Dknown%20fact%20%26%20more.
        https://x.y/p#top:~:text=a%20well%2Dknown%20fact%20%26%20more.-,One%20fact,-here.%20Another%20fact%20here%20too.
        https://x.y/p#top:~:text=item%20one%20is%20here,item%20two%20is%20there
        https://x.y/p#top:~:text=word%20word%20word%20word%20word,word%20word%20word%20word%20end.
    "#]].assert_eq(&lines.join("\n"));
}
