//! The blocks of the notation and their fields, as one table.
//!
//! The validator, the printer, the JSON schema, the grammar and the editor all read it, so that a
//! field is described once.

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum BlockKind {
    Header,
    Ctx,
    Req,
    Plan,
    Act,
    Obs,
    Blk,
    Ask,
    End,
    Res,
    /// `X_...`: not ours to understand, kept as it is.
    Extension,
    /// Any other word. Kept, with a warning.
    Unknown,
}

/// What a reader wants to know about a type of block, in our words.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    pub kind: BlockKind,
    pub word: &'static str,
    pub name: &'static str,
    pub summary: &'static str,
    pub shape: Shape,
    /// Of the block, or of each step of a `PLAN`; in the order in which they are described.
    pub fields: &'static [FieldInfo],
}

/// What stands after the colon of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{...}`
    Object,
    /// `[(...),...]`
    Steps,
}

#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    pub key: &'static str,
    pub name: &'static str,
    pub summary: &'static str,
    pub kind: FieldKind,
    pub presence: Presence,
}

/// What the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A name or an id: text that is written as a bare word if it is one.
    Name,
    /// A receiver: a `Name`, or leniently a list of them.
    Receiver,
    /// The id of a step: a number or a `Name`.
    StepId,
    /// Text in quotes.
    Text,
    /// Text in quotes that names a file or another target.
    Target,
    /// A list of texts.
    Texts,
    /// A list of texts that name files.
    Paths,
    /// A whole number from `min` to `max`.
    Integer {
        min: i64,
        max: i64,
    },
    Bool,
    Object,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these words, or leniently another.
    Operation(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
    /// Required when the status of the observation is `OK`.
    RequiredIfOk,
}

impl BlockKind {
    /// The ten types of the notation, `HEADER` first.
    pub const STANDARD: [BlockKind; 10] = [
        BlockKind::Header,
        BlockKind::Ctx,
        BlockKind::Req,
        BlockKind::Plan,
        BlockKind::Act,
        BlockKind::Obs,
        BlockKind::Blk,
        BlockKind::Ask,
        BlockKind::End,
        BlockKind::Res,
    ];

    pub fn from_word(word: &str) -> Self {
        Self::from_bytes(word.as_bytes())
    }

    #[inline]
    pub(crate) fn from_bytes(word: &[u8]) -> Self {
        match word {
            b"HEADER" => Self::Header,
            b"CTX" => Self::Ctx,
            b"REQ" => Self::Req,
            b"PLAN" => Self::Plan,
            b"ACT" => Self::Act,
            b"OBS" => Self::Obs,
            b"BLK" => Self::Blk,
            b"ASK" => Self::Ask,
            b"END" => Self::End,
            b"RES" => Self::Res,
            [b'X', b'_', _, ..] => Self::Extension,
            _ => Self::Unknown,
        }
    }

    /// As `from_bytes`, but a type in lower case is read as well.
    #[cold]
    pub(crate) fn of_any_case(word: &[u8]) -> Self {
        if let [b'x' | b'X', b'_', _, ..] = word {
            return Self::Extension;
        }
        let row = TABLE.iter().find(|row| word.eq_ignore_ascii_case(row.word.as_bytes()));
        row.map_or(Self::Unknown, |row| row.kind)
    }

    pub(crate) fn from_index(index: u8) -> Self {
        let standard = Self::STANDARD.get(usize::from(index)).copied();
        standard.unwrap_or(if index == Self::Extension as u8 {
            Self::Extension
        } else {
            Self::Unknown
        })
    }

    /// The row of a standard type; `None` for extensions and unknown words.
    pub fn info(self) -> Option<&'static BlockInfo> {
        TABLE.get(self as usize)
    }
}

impl BlockInfo {
    #[inline]
    pub fn field(&self, key: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|field| field.key.eq_ignore_ascii_case(key))
    }
}

impl FieldKind {
    /// Whether text in this field is written without quotes where it is a plain word.
    pub fn is_bare(self) -> bool {
        match self {
            Self::Name | Self::Receiver | Self::StepId | Self::OneOf(_) | Self::Operation(_) => {
                true
            }
            Self::Text
            | Self::Target
            | Self::Texts
            | Self::Paths
            | Self::Integer { .. }
            | Self::Bool
            | Self::Object => false,
        }
    }
}

const fn field(
    key: &'static str,
    name: &'static str,
    kind: FieldKind,
    presence: Presence,
    summary: &'static str,
) -> FieldInfo {
    FieldInfo { key, name, summary, kind, presence }
}

/// A sequence number fits every reader's integers when it fits JavaScript's.
pub const MAX_SEQUENCE: u64 = (1 << 53) - 1;

use FieldKind as Is;
use Presence::{Optional, Required, RequiredIfOk};

/// In the order of `BlockKind`.
static TABLE: [BlockInfo; 10] = [
    BlockInfo {
        kind: BlockKind::Header,
        word: "HEADER",
        name: "header",
        summary: "starts a message: who speaks to whom, and in which order",
        shape: Shape::Object,
        fields: &[
            field("f", "from", Is::Name, Required, "who sends the message"),
            field("t", "to", Is::Receiver, Required, "who is to read it, or `ALL`"),
            field(
                "s",
                "sequence",
                Is::Integer { min: 0, max: MAX_SEQUENCE as i64 },
                Required,
                "counts the sender's messages upwards",
            ),
            field(
                "b",
                "batch",
                Is::Name,
                Optional,
                "the batch that actions and their results share",
            ),
        ],
    },
    BlockInfo {
        kind: BlockKind::Ctx,
        word: "CTX",
        name: "context",
        summary: "sets the scene: project, files, state",
        shape: Shape::Object,
        fields: &[
            field("p", "project", Is::Name, Required, "the project that this is about"),
            field("f", "files", Is::Paths, Optional, "the files that matter here"),
            field("st", "state", Is::Object, Optional, "what is known, as keys and values"),
            field("issue", "issue", Is::Text, Optional, "the ticket that this belongs to"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Req,
        word: "REQ",
        name: "request",
        summary: "asks the receiver to reach an objective",
        shape: Shape::Object,
        fields: &[
            field("o", "objective", Is::Text, Required, "what is to be reached"),
            field(
                "pr",
                "priority",
                Is::Integer { min: 1, max: 5 },
                Required,
                "from 1 (critical) to 5 (low)",
            ),
            field("d", "dependencies", Is::Texts, Optional, "what has to be done before"),
            field("exp", "experts", Is::Texts, Optional, "who has to review it"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Plan,
        word: "PLAN",
        name: "plan",
        summary: "lists steps and how far each of them is",
        shape: Shape::Steps,
        fields: &[
            field("i", "id", Is::StepId, Required, "names the step"),
            field("t", "task", Is::Text, Required, "what the step does"),
            field(
                "s",
                "status",
                Is::OneOf(&["P", "I", "C", "X"]),
                Required,
                "P pending, I in progress, C completed, X cancelled or failed",
            ),
        ],
    },
    BlockInfo {
        kind: BlockKind::Act,
        word: "ACT",
        name: "action",
        summary: "declares an action that is to be carried out",
        shape: Shape::Object,
        fields: &[
            field("i", "id", Is::Name, Optional, "names the action, so that an OBS can answer it"),
            field(
                "op",
                "operation",
                Is::Operation(&["read", "write", "edit", "shell", "search", "spawn"]),
                Required,
                "what is done",
            ),
            field(
                "tgt",
                "target",
                Is::Target,
                Required,
                "the file, command or agent it is done to",
            ),
            field("args", "arguments", Is::Object, Optional, "what the operation needs to know"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Obs,
        word: "OBS",
        name: "observation",
        summary: "reports how an action went",
        shape: Shape::Object,
        fields: &[
            field("ai", "action", Is::Name, Optional, "the id of the action that this answers"),
            field("s", "status", Is::OneOf(&["OK", "ERR"]), Required, "OK or ERR"),
            field("c", "content", Is::Object, RequiredIfOk, "what came out; for OK only"),
            field("e", "error", Is::Text, Optional, "what went wrong"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Blk,
        word: "BLK",
        name: "blocker",
        summary: "says that work cannot go on, and what could be done instead",
        shape: Shape::Object,
        fields: &[
            field("w", "why", Is::Text, Required, "what stands in the way"),
            field("a", "alternatives", Is::Texts, Required, "what could be done instead"),
            field("esc", "escalate", Is::Bool, Optional, "whether a person has to decide"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Ask,
        word: "ASK",
        name: "question",
        summary: "asks for a decision among options",
        shape: Shape::Object,
        fields: &[
            field("q", "question", Is::Text, Required, "what is to be decided"),
            field("o", "options", Is::Texts, Required, "what may be answered"),
            field("def", "default", Is::Text, Optional, "what is taken if nobody answers"),
        ],
    },
    BlockInfo {
        kind: BlockKind::End,
        word: "END",
        name: "handoff",
        summary: "ends a piece of work and hands it over",
        shape: Shape::Object,
        fields: &[
            field("n", "next", Is::Text, Required, "what is to be done next"),
            field("t", "tests", Is::Texts, Optional, "the tests to run"),
            field("r", "risks", Is::Texts, Optional, "what to look out for"),
            field("del", "deliverables", Is::Paths, Required, "the files that are handed over"),
        ],
    },
    BlockInfo {
        kind: BlockKind::Res,
        word: "RES",
        name: "response",
        summary: "answers a question or acknowledges a message",
        shape: Shape::Object,
        fields: &[
            field("o", "option", Is::Text, Required, "the option chosen, or ACK, NACK, WARN"),
            field("msg", "message", Is::Text, Optional, "a word about it"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        for kind in BlockKind::STANDARD {
            let info = kind.info().unwrap();
            assert_eq!(info.kind, kind);
            assert_eq!(BlockKind::from_word(info.word), kind);
            assert_eq!(BlockKind::from_index(kind as u8), kind);
        }
        assert_eq!(BlockKind::of_any_case(b"Header"), BlockKind::Header);
        assert_eq!(BlockKind::of_any_case(b"x_a"), BlockKind::Extension);
        assert_eq!(BlockKind::from_word("X_A"), BlockKind::Extension);
        assert_eq!(BlockKind::from_word("X_"), BlockKind::Unknown);
        assert_eq!(BlockKind::from_index(BlockKind::Extension as u8), BlockKind::Extension);
        assert!(BlockKind::Extension.info().is_none());
    }
}
