//! Input that means harm: it costs time and memory in proportion to its size, and never a panic.

use sabir_axon::{MAX_DEPTH, Node, Rules, check, parse, repair, tokens, validate};

const SIZE: usize = 1 << 20;

/// Between one bracket and the next there is at most one node of each operator's level, a field and
/// the parts of a message.
const DEEPEST: usize = (MAX_DEPTH as usize + 2) * 12;

/// How deep a tree is, found without recursion.
fn depth(root: Node<'_>) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(root, 1)];
    while let Some((node, depth)) = todo.pop() {
        deepest = deepest.max(depth);
        todo.extend(node.children().map(|child| (child, depth + 1)));
    }
    deepest
}

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
    "a<b<",
    "a==b==",
    "1..",
    "a..b<",
    "x y ",
    "x -1",
    "$ ",
    "{1,",
    "[id:_]",
    "INF",
    "INF(",
    "INF(*",
    "INF(*)",
    "INF (*",
    "X.a.b(*",
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

/// AX-R1, AX-R6.
#[test]
fn a_megabyte_of_anything_parses() {
    for piece in PIECES {
        for head in ["", "INF(@a>@b): ", "INF(@a>@b): {k:[", "INF(@a>@b): \""] {
            let text = format!("{head}{}", piece.repeat(SIZE / piece.len()));
            let parsed = parse(&text);
            // Nodes are never more than bytes, so memory is bounded by the input.
            assert!(parsed.tree.node_count() <= text.len() + 8, "{piece:?} behind {head:?}");
            assert!(parsed.diagnostics.len() <= 1_001, "{piece:?} behind {head:?}");
            assert!(depth(parsed.tree.root()) <= DEEPEST, "{piece:?} behind {head:?}");
            // The validator walks the tree by recursion, so this would end the process.
            check(&text, Rules::default());
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

/// A message with many variables, alone and in front of many messages with a few, with the findings
/// that it must have.
#[test]
fn a_hundred_thousand_variables_are_checked() {
    const MANY: usize = 100_000;
    let join = |with: &str, part: &dyn Fn(usize) -> String| {
        (0..MANY).map(part).collect::<Vec<_>>().join(with)
    };
    let binds = join("->", &|at| format!("$a{at}={at}"));
    let uses = join("->", &|at| format!("$a{at}"));
    let depth = usize::from(MAX_DEPTH);
    let deep = format!("{}y->{binds}{}", "x->(".repeat(depth), ")".repeat(depth));
    let early = format!("{}{uses}->{binds}{}", "x->(".repeat(depth), ")".repeat(depth));
    let many = format!("{binds}\n{}", "INF(@a>@b): $x=1->f($x)\n".repeat(MANY));
    // A thousand are listed, and one says that there are more.
    for (content, count) in [(&binds, 0), (&uses, 1_001), (&deep, 0), (&early, 1_001), (&many, 0)] {
        let text = format!("INF(@a>@b): {content}");
        let parsed = parse(&text);
        assert!(!parsed.has_errors());
        assert_eq!(validate(&parsed.tree, Rules::default()).len(), count, "{}", &text[..40]);
    }
}
