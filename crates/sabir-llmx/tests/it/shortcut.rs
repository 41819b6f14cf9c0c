//! Marks in front of texts: what they are, and what is plain text.

use sabir_llmx::{Shortcut, expand, shortcuts};

/// LX-S1, LX-S2, LX-S4.
#[test]
fn marks_are_said_in_words() {
    for (text, words) in [
        ("+endpoint", "add endpoint"),
        ("-legacy code", "remove legacy code"),
        ("~config", "change config"),
        ("?tests", "check tests"),
        ("!deadline", "important: deadline"),
        ("*tests", "all tests"),
        ("@docs/api.md", "reference docs/api.md"),
        ("!+x", "important: add x"),
        ("+!x", "important: add x"),
        ("-*logs", "remove all logs"),
        ("~@design", "change reference design"),
        ("*", "all"),
        ("!-*", "important: remove all"),
        ("+_x", "add _x"),
        ("+été", "add été"),
    ] {
        assert_eq!(expand(text), words, "{text}");
    }
}

/// LX-S3.
#[test]
fn what_only_looks_like_a_mark_is_plain() {
    for text in [
        "", "x", "a+b", "-", "+", "~", "?", "!", "@", "-5", "+1", "~10", "- item", "* item",
        "*.ts", "**/x", "--flag", "++i", "!!x", "@@x", "~/x", "*/5", "+-x", "-?x", "~+x", "!*.ts",
        "!@", "*!", "+\"x\"", "-.5", "?!?", "→x",
    ] {
        assert_eq!(shortcuts(text), None, "{text}");
        assert_eq!(Shortcut::parse(text), None, "{text}");
        assert_eq!(expand(text), text);
    }
}

/// LX-S1.
#[test]
fn marks_come_one_by_one_or_as_a_list() {
    assert_eq!(Shortcut::parse("!+x"), Some((Shortcut::Force, "+x")));
    assert_eq!(Shortcut::parse("+x"), Some((Shortcut::Add, "x")));
    assert_eq!(shortcuts("!+x"), Some((vec![Shortcut::Force, Shortcut::Add], "x")));
    for mark in Shortcut::ALL {
        assert_eq!(Shortcut::from_mark(mark.mark()), Some(mark));
        assert!(expand(&format!("{}x", mark.mark())).starts_with(mark.word()));
    }
}
