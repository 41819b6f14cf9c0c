//! Texts that want to hurt: every one is read in time that grows with its length, into a tree that
//! a walker can walk.

use sabir_llmx::{MAX_DEPTH, Node, parse, print, same};

fn depth(node: Node<'_>) -> usize {
    1 + node.children().map(depth).max().unwrap_or(0)
}

#[test]
fn repeated_pieces_are_read_and_written() {
    let pieces = [
        "{",
        "[",
        "(",
        "}",
        "]",
        ")",
        "\"",
        "\\",
        "\"\\",
        ":",
        ",",
        "\n",
        " ",
        "A",
        "a:",
        "a:{",
        "a:[",
        "A:{",
        "A:[",
        "HEADER:{",
        "HEADER:{a:[",
        "X_A:{x_:",
        "REQ:",
        "REQ:\n",
        "\"\n",
        "REQ:{\"",
        "REQ:{a",
        "REQ:{a b",
        "REQ:{a:b c ",
        "REQ:{a?",
        "'",
        "REQ:{a:'",
        "“",
        "é",
        "REQ:{a:é",
        "REQ:[é",
        "0",
        "-",
        "REQ:{a:-",
        "REQ:[1 ",
        "REQ:[(",
        "PLAN:[(",
        "\u{feff}",
        "\0",
        "REQ:{\0",
        "REQ:{a:\0",
        "a: b\n",
        "REQ:{a:1,a:1,",
        "?",
        "|",
        "REQ:{a:|",
    ];
    for piece in pieces {
        for prefix in ["", "REQ:{", "REQ:[", "PLAN:[", "X_Y:{a:"] {
            let text = format!("{prefix}{}", piece.repeat(3_000));
            let parsed = parse(&text);
            assert!(depth(parsed.tree.root()) < 2 * usize::from(MAX_DEPTH) + 8, "{piece:?}");
            let printed = print(&parsed.tree);
            if !parsed.has_errors() {
                let again = parse(&printed);
                assert!(same(&parsed.tree, &again.tree), "{piece:?}");
            }
        }
    }
}
