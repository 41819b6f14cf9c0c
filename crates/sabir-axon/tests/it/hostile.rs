//! Input that means harm: it costs time and memory in proportion to its size, and never a panic.

use sabir_axon::{parse, repair, tokens};

const SIZE: usize = 1 << 20;

/// Each piece fills a megabyte on its own.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "{",
    "{a:",
    "#t{a:",
    "f(",
    "(*",
    "*)",
    "\"",
    "\\\"",
    "\\",
    "~",
    "~ ",
    "!",
    "-",
    "->",
    "<",
    "@",
    "$",
    "#",
    "^",
    "%",
    "=",
    "..",
    ",",
    ":",
    ";",
    "1:",
    "1-",
    "x ",
    "x{",
    "x[",
    "x.",
    "$x(",
    "+x",
    "INF",
    "INF(",
    "INF([@a,",
    "INF(@a>",
    "INF(@a>@b): ",
    "INF(@a>@b): x\n",
    "[id:",
    "[id:\"m\"]",
    "{id:",
    "X.a.b(",
    "`",
    "\'",
    "“",
    "é",
    "\u{a0}",
    "\0",
    "\u{feff}",
    "a:b ",
    "{a:1,a:1}",
    "SAY(@a>@b): ",
    "INF: ",
    "\n",
    "\r\n",
];

#[test]
fn a_megabyte_of_anything_parses() {
    for piece in PIECES {
        for head in ["", "INF(@a>@b): ", "INF(@a>@b): {k:[", "INF(@a>@b): \""] {
            let text = format!("{head}{}", piece.repeat(SIZE / piece.len()));
            let parsed = parse(&text);
            // Nodes are never more than bytes, so memory is bounded by the input.
            assert!(parsed.tree.node_count() <= text.len() + 8, "{piece:?} behind {head:?}");
            assert!(parsed.diagnostics.len() <= 1_001, "{piece:?} behind {head:?}");
            assert_eq!(
                tokens(&text).map(|token| token.span().len() as usize).sum::<usize>(),
                text.len()
            );
        }
    }
}

#[test]
fn a_hundred_kilobytes_of_anything_is_repaired() {
    for piece in PIECES {
        for head in ["", "INF(@a>@b): "] {
            let text = format!("{head}{}", piece.repeat((SIZE / 16) / piece.len()));
            let repaired = repair(&text);
            assert!(!parse(&repaired.text).has_errors(), "{piece:?} behind {head:?}");
        }
    }
}
