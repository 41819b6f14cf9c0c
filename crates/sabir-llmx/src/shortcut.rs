//! The marks in front of a text that stand for a word: `+endpoint` is "add endpoint".
//!
//! Only who asks gets them: nothing that is stored or printed is rewritten, because `-v` may be a
//! flag and `@scope` a name.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shortcut {
    Add,
    Remove,
    Modify,
    Query,
    Force,
    All,
    Reference,
}

impl Shortcut {
    pub const ALL: [Shortcut; 7] = [
        Shortcut::Add,
        Shortcut::Remove,
        Shortcut::Modify,
        Shortcut::Query,
        Shortcut::Force,
        Shortcut::All,
        Shortcut::Reference,
    ];

    pub fn mark(self) -> char {
        match self {
            Self::Add => '+',
            Self::Remove => '-',
            Self::Modify => '~',
            Self::Query => '?',
            Self::Force => '!',
            Self::All => '*',
            Self::Reference => '@',
        }
    }

    /// What is said instead of the mark.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Modify => "change",
            Self::Query => "check",
            Self::Force => "important:",
            Self::All => "all",
            Self::Reference => "reference",
        }
    }

    pub fn from_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.mark() == mark)
    }

    /// The first mark and what follows it, which may have marks of its own.
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        let (marks, _) = shortcuts(text)?;
        Some((*marks.first()?, &text[1..]))
    }

    /// Of these a text has at most one: nobody adds and removes in one word.
    fn is_verb(self) -> bool {
        matches!(self, Self::Add | Self::Remove | Self::Modify | Self::Query)
    }
}

/// The marks in front of a text and the text behind them, or `None` when it is plain text.
///
/// Marks are followed by a letter, so that `-5`, `*.ts`, `~/x` and `- item` are plain; only `*` may
/// end the text. No mark stands twice, so that `--flag` and `**bold**` are plain.
pub fn shortcuts(text: &str) -> Option<(Vec<Shortcut>, &str)> {
    let mut marks: Vec<Shortcut> = Vec::new();
    let mut rest = text;
    while let Some(mark) = rest.chars().next().and_then(Shortcut::from_mark) {
        let twice = marks.contains(&mark);
        let contrary = mark.is_verb() && marks.iter().any(|it| it.is_verb());
        if twice || contrary {
            return None;
        }
        marks.push(mark);
        rest = &rest[1..];
    }
    let last = *marks.last()?;
    let applies = match rest.chars().next() {
        Some(first) => first.is_alphabetic() || first == '_',
        None => last == Shortcut::All,
    };
    applies.then_some((marks, rest))
}

/// The text in words: "important: add endpoint" for `!+endpoint`. Plain text is left as it is.
pub fn expand(text: &str) -> Cow<'_, str> {
    let Some((mut marks, rest)) = shortcuts(text) else { return Cow::Borrowed(text) };
    // It is said of the whole, wherever it stands.
    marks.sort_by_key(|&mark| mark != Shortcut::Force);
    let mut words: Vec<&str> = marks.into_iter().map(Shortcut::word).collect();
    words.extend((!rest.is_empty()).then_some(rest));
    Cow::Owned(words.join(" "))
}
