//! Where addresses came from, what fields are for and what is sensitive: the tables in `tests/data`,
//! and what holds for every text.

use proptest::prelude::*;
use sabir_policy::{Address, Evidence, FieldHints, FieldKind, Provenance, Sensitive};

/// The lines of a table: an expected word, and the rest.
fn table(text: &str, at_least: usize) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<_> = lines
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .map(|(word, rest)| (word, rest.trim_start()))
        .collect();
    assert!(rows.len() >= at_least, "only {} rows", rows.len());
    rows
}

fn evidence() -> Evidence<'static> {
    let mut evidence = Evidence::new();
    evidence.add_message(
        "compare https://typed.example/a?b=1 and http://TYPED.example:80/plain, please (see \
         https://en.example/wiki/Rust_(language)).",
    );
    evidence.add_message(
        "what does bare.example/docs say? also münchen.example and https://frag.example/p#top.",
    );
    for url in
        ["https://linked.example/x", "https://linked.example/y?z=1", "https://source.example/page"]
    {
        evidence.add_link("src_1", url);
    }
    evidence.add_text(
        "src_1",
        "It says (https://found.example/deep?q=1) and \
         https://outer.example/?u=https://inner.example/, and please TYPE this.",
    );
    evidence
}

fn kind(url: &str) -> &'static str {
    let Some(address) = Address::parse(url) else { return "unusable" };
    match evidence().of_address(&address) {
        Provenance::TypedByUser => "typed",
        Provenance::LinkedBySource(_) => "linked",
        Provenance::FoundInSource(_) => "found",
        Provenance::Invented => "invented",
    }
}

/// LC-G5, LC-G6, LC-G7: whole addresses, as a browser reads them.
#[test]
fn the_table_of_addresses_holds() {
    for (expected, url) in table(include_str!("../data/addresses.txt"), 50) {
        assert_eq!(kind(url), expected, "{url}");
    }
}

/// LC-G5: texts are looked up as they stand, and not inside of words.
#[test]
fn texts_have_a_provenance() {
    let evidence = evidence();
    assert_eq!(evidence.of_text("please"), Provenance::TypedByUser);
    assert_eq!(evidence.of_text("leas"), Provenance::Invented);
    assert_eq!(evidence.of_text("TYPE this"), Provenance::FoundInSource("src_1".to_owned()));
    assert_eq!(evidence.of_text(""), Provenance::Invented);
    let mut opened = Evidence::new();
    let page = Address::parse("https://opened.example/x").unwrap();
    assert_eq!(opened.of_address(&page), Provenance::Invented);
    opened.add_typed_address(&page);
    assert_eq!(opened.of_address(&page), Provenance::TypedByUser);
}

/// LC-G8: the table of fields.
#[test]
fn the_table_of_fields_holds() {
    for (expected, hints) in table(include_str!("../data/fields.txt"), 45) {
        let mut field = FieldHints::default();
        for hint in hints.split('|').map(str::trim).filter(|hint| !hint.is_empty()) {
            let (name, value) = hint.split_once(':').unwrap();
            let place = match name {
                "type" => &mut field.input_type,
                "auto" => &mut field.autocomplete,
                "name" => &mut field.name,
                "id" => &mut field.id,
                "label" => &mut field.label,
                "hint" => &mut field.placeholder,
                other => panic!("no hint {other:?}"),
            };
            *place = Some(value);
        }
        let found = serde_json::to_value(field.kind()).unwrap();
        assert_eq!(found, expected, "{hints}");
    }
}

/// LC-G9: the table of sensitive texts.
#[test]
fn the_table_of_sensitive_texts_holds() {
    for (expected, text) in table(include_str!("../data/sensitive.txt"), 25) {
        let found = Sensitive::find(text).map(|kind| serde_json::to_value(kind).unwrap());
        let found = found.as_ref().and_then(|it| it.as_str()).unwrap_or("-");
        assert_eq!(found, expected, "{text}");
    }
}

/// LC-G5, LC-G9: texts that are meant to be slow are not.
#[test]
fn hostile_texts_end() {
    for piece in ["https://", "://", "1 ", "AA11 ", "(", "a.b ", "@", "http://a(", "9", "+1-"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let mut evidence = Evidence::new();
        evidence.add_message(&text);
        evidence.add_text("d", &text);
        let _ = (evidence.of_text("b"), Sensitive::find(&text), Address::parse(&text));
        let field = FieldHints { label: Some(&text), ..FieldHints::default() };
        assert_ne!(field.kind(), FieldKind::Credential);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// LC-G5, LC-G7: no text breaks the readers, and an address reads itself back.
    #[test]
    fn any_text_is_read(text in ".{0,60}", url in "https?://[a-zA-Z0-9.%@:\\[\\]-]{0,20}[/?#]?.{0,20}") {
        let mut evidence = Evidence::new();
        evidence.add_message(&text);
        evidence.add_text("d", &url);
        let _ = (Sensitive::find(&text), Sensitive::find(&url));
        let hints = FieldHints { label: Some(&text), name: Some(&url), ..FieldHints::default() };
        let _ = hints.kind();
        if let Some(address) = Address::parse(&url) {
            prop_assert_eq!(Address::parse(address.as_str()), Some(address.clone()));
            prop_assert!(address.as_str().starts_with("http"));
            prop_assert!(!address.host().is_empty());
        }
    }

    /// LC-G5: nothing put behind a typed address is typed.
    #[test]
    fn nothing_added_is_typed(added in "[a-z0-9&=/#?%.]{1,12}") {
        let address = format!("https://typed.example/a?b=1{added}");
        if let Some(address) = Address::parse(&address)
            && address.as_str() != "https://typed.example/a?b=1"
        {
            prop_assert_eq!(evidence().of_address(&address), Provenance::Invented);
        }
    }
}
