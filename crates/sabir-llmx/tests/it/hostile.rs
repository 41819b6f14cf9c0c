//! Texts that want to hurt: every one is read in time that grows with its length, into a tree that
//! a walker can walk.

use sabir_llmx::{
    MAX_DEPTH, Node, check_conversation, check_messages, codes, parse, print, replies, same,
};

fn depth(node: Node<'_>) -> usize {
    1 + node.children().map(depth).max().unwrap_or(0)
}

/// LX-R1, LX-R6, LX-R7.
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
            replies(&check_messages(&text));
            if !parsed.has_errors() {
                let again = parse(&printed);
                assert!(same(&parsed.tree, &again.tree), "{piece:?}");
            }
        }
    }
}

/// LX-R6.
#[test]
fn depth_has_a_limit() {
    // The block's own braces are one level.
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!("HEADER:{{f:a,t:b,s:1}}\nX_A:{{a:{open}{close}}}\n")
    };
    let limit = usize::from(MAX_DEPTH);
    assert!(check_messages(&nested(limit)).diagnostics.is_empty());
    let found = check_messages(&nested(limit + 1)).diagnostics;
    assert!(found.iter().any(|found| found.code == codes::TOO_DEEP && found.is_error()));
}

/// LX-R7. A step that looks at the whole block for each of its fields would not end here.
#[test]
fn large_blocks_are_checked_in_time() {
    let many = |piece: &str| piece.repeat(100_000);
    for block in [
        format!("REQ:{{{}}}", many("priority:2,o:\"\",")),
        format!("REQ:{{{}}}", many("d:1,")),
        format!("REQ:{{o:\"x\",pr:1,d:[{}]}}", many("1,")),
        format!("OBS:{{s:ERR,{}}}", many("c:{a:1},")),
        format!("OBS:{{s:ERR,{}}}", many("x_c:{a:1},c:{b:1},")),
        format!("OBS:{{{}}}", many("s:OK,s:ERR,")),
        format!("ASK:{{q:\"x\",def:c,o:[{}]}}", many("\"a\\u0062\",")),
        format!("PLAN:[{}]", many("(i:1,t:x,s:P),")),
        format!("PLAN:[{}]", many("(),")),
        format!("PLAN:[{}]", many("1,")),
        many("RES:[{o:1}]\n"),
        many("CUSTOM:{}\n"),
        many("HEADER:{f:a,t:[b,c],s:1}\n"),
        many("REQ:{o:\"x\n"),
        many("REQ:\n"),
        many("RES:{,}\n"),
        format!("RES:{{{}}}", many(",\n")),
    ] {
        let text = format!("HEADER:{{f:a,t:b,s:1}}\n{block}\n");
        let parsed = check_messages(&text);
        assert!(parsed.diagnostics.len() <= 4_004, "{}", parsed.diagnostics.len());
        print(&parsed.tree);
        replies(&parsed);
        parsed.tree.messages().for_each(|message| drop(message.typed()));
    }
}

/// LX-R10. Every message gives cause for a finding of its own.
#[test]
fn conversations_have_a_bound_on_findings_too() {
    let message = |number: usize| match number % 3 {
        0 => format!("HEADER:{{f:a,t:b,s:{}}}\nREQ:{{o:\"x\",pr:1}}\n", 9_000 - number),
        1 => format!("HEADER:{{f:b,t:c{number},s:{number}}}\nASK:{{q:\"x\",o:[]}}\n"),
        _ => format!("HEADER:{{f:d,t:e,s:{number},b:\"q\"}}\nACT:{{op:read,tgt:\"a\"}}\n"),
    };
    let text: String = (0..9_000).map(message).collect();
    let found = check_conversation(&parse(&text).tree);
    assert!(found.iter().any(|found| found.code == codes::TOO_MANY_ERRORS));
    assert!(found.len() <= 3 * 1_001, "{}", found.len());
    assert!(found.is_sorted_by_key(|found| found.span.start));
}
