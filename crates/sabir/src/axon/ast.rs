//! `sabir axon ast`: the syntax tree, for people or as JSON.
//!
//! The tree is walked with a stack of its own, so that the depth of the input costs no stack of
//! ours.

use std::io::{self, Write};

use clap::Args;
use sabir_axon::{Children, Expr, Kind, Node};

use crate::cli::OneFile;
use crate::exit::Exit;
use crate::output::{Notes, Output};
use crate::render;

/// Print the syntax tree, as far as the text can be read
///
/// The tree is printed even when there are errors; they go to standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sabir axon ast message.axon
  echo 'QRY(@a>@b): status(#db)' | sabir axon ast --json

Each JSON node has kind, start, end (byte offsets) and children, and where they apply: name
(without its sigil), key, op, number, unit, times, text (as written) and value (of a string).

Exit codes:
  0  the text is valid
  1  the text has errors
  2  wrong usage, or the file cannot be read")]
pub(crate) struct AstArgs {
    /// Print the tree as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: OneFile,
}

impl AstArgs {
    pub(crate) fn run(self, output: &mut Output, notes: &mut Notes) -> anyhow::Result<Exit> {
        let source = self.input.read()?;
        let parsed = sabir_axon::parse(&source.text);
        let root = parsed.tree.root();
        if self.json {
            write_json(output, root)?
        } else {
            write_outline(output, root)?
        }
        render::print_all(notes, &source, &parsed.diagnostics);
        Ok(if parsed.has_errors() { Exit::Found } else { Exit::Done })
    }
}

/// One node a line, two spaces for each level.
fn write_outline(out: &mut impl Write, root: Node<'_>) -> io::Result<()> {
    /// Enough to recognise a value; the JSON form has it whole.
    const MAX_VALUE: usize = 60;
    let mut open: Vec<Children<'_>> = Vec::new();
    let mut next = Some(root);
    while let Some(node) = next {
        let span = node.span();
        write!(out, "{:1$}{2} {span:?}", "", open.len() * 2, kind_name(node.kind()))?;
        for (name, value) in attributes(node) {
            write!(out, " {name}=")?;
            match value {
                Attribute::Text(text) => write!(out, "{}", render::clip(text, MAX_VALUE))?,
                Attribute::Value(text) => {
                    let quoted = sabir_axon::quote(text.as_ref());
                    write!(out, "{}", render::clip(quoted.as_ref(), MAX_VALUE))?;
                }
                Attribute::Count(count) => write!(out, "{count}")?,
            }
        }
        writeln!(out)?;
        open.push(node.children());
        next = advance(&mut open, |_| Ok(()))?;
    }
    Ok(())
}

/// The next node in reading order; `closed` is told of every level that ends before it, and the
/// stack is empty when there is no more.
fn advance<'a>(
    open: &mut Vec<Children<'a>>,
    mut closed: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<Option<Node<'a>>> {
    while let Some(children) = open.last_mut() {
        if let Some(node) = children.next() {
            return Ok(Some(node));
        }
        open.pop();
        closed(open.len())?;
    }
    Ok(None)
}

fn write_json(out: &mut impl Write, root: Node<'_>) -> io::Result<()> {
    let mut open: Vec<Children<'_>> = Vec::new();
    let mut next = Some(root);
    let mut first = true;
    while let Some(node) = next {
        if !first {
            write!(out, ",")?;
        }
        let span = node.span();
        let kind = kind_name(node.kind());
        write!(out, r#"{{"kind":"{kind}","start":{},"end":{}"#, span.start, span.end)?;
        for (name, value) in attributes(node) {
            write!(out, r#","{name}":"#)?;
            match value {
                Attribute::Text(text) => serde_json::to_writer(&mut *out, text)?,
                Attribute::Value(text) => serde_json::to_writer(&mut *out, text.as_ref())?,
                Attribute::Count(count) => write!(out, "{count}")?,
            }
        }
        write!(out, r#","children":["#)?;
        open.push(node.children());
        let depth = open.len();
        next = advance(&mut open, |_| write!(out, "]}}"))?;
        // A node right below the one just opened is the first of its siblings.
        first = open.len() == depth;
    }
    writeln!(out)
}

enum Attribute<'a> {
    /// A piece of the source.
    Text(&'a str),
    /// What a string stands for.
    Value(std::borrow::Cow<'a, str>),
    Count(u32),
}

/// What a node says besides its kind, its place and its children.
fn attributes<'a>(node: Node<'a>) -> Vec<(&'static str, Attribute<'a>)> {
    use Attribute::{Count, Text, Value};
    let text = || ("text", Text(node.text()));
    let named = || ("name", Text(node.text().trim_start_matches(['@', '$'])));
    // `expr` looks through parentheses, which are nodes of their own here.
    if matches!(node.kind(), Kind::Paren | Kind::Message | Kind::Document | Kind::Meta) {
        return Vec::new();
    }
    match (node.kind(), node.expr()) {
        (Kind::Performative | Kind::Agent, _) => vec![named()],
        (Kind::Anyone | Kind::Error, _) => vec![text()],
        (Kind::Field, _) => match node.as_field() {
            Some(field) => vec![("key", Value(field.key()))],
            None => Vec::new(),
        },
        (_, Expr::Null | Expr::Bool(_)) => vec![text()],
        (_, Expr::String(string)) => vec![text(), ("value", Value(string.value()))],
        (_, Expr::Number(number)) => {
            let mut found = vec![text(), ("number", Text(number.lexeme))];
            found.extend(number.unit.map(|unit| ("unit", Text(unit.text()))));
            found
        }
        (_, Expr::Ref(_) | Expr::Var(_) | Expr::Name(_)) => vec![named()],
        (_, Expr::Tag { .. }) => vec![("name", Text(tag_name(node.text())))],
        (_, Expr::Call { name, .. }) => vec![("name", Text(name))],
        (_, Expr::Approx { times, .. }) => vec![("op", Text("~")), ("times", Count(times))],
        (_, Expr::Range { .. }) => vec![("op", Text(".."))],
        (_, Expr::Compare { op, .. }) => vec![("op", Text(op.symbol()))],
        (_, Expr::Chain { op, .. }) => vec![("op", Text(op.symbol()))],
        (_, Expr::List(_) | Expr::Record(_) | Expr::Message(_) | Expr::Error) => Vec::new(),
    }
}

/// A record glued to a name is read as a tag, whose `#` is then missing.
fn tag_name(text: &str) -> &str {
    let text = text.strip_prefix('#').unwrap_or(text);
    let end = text.find(|c: char| c == '{' || c.is_whitespace()).unwrap_or(text.len());
    &text[..end]
}

/// Part of the JSON's contract, so not derived from the names in the code.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "document",
        Kind::Message => "message",
        Kind::Meta => "meta",
        Kind::Performative => "performative",
        Kind::Agent => "agent",
        Kind::Anyone => "anyone",
        Kind::Agents => "agents",
        Kind::Null => "null",
        Kind::True => "true",
        Kind::False => "false",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Ref => "ref",
        Kind::Var => "var",
        Kind::Name => "name",
        Kind::Tag => "tag",
        Kind::Call => "call",
        Kind::List => "list",
        Kind::Record => "record",
        Kind::Field => "field",
        Kind::Paren => "paren",
        Kind::Approx => "approx",
        Kind::Range => "range",
        Kind::Compare => "compare",
        Kind::Any => "any",
        Kind::All => "all",
        Kind::Then => "then",
        Kind::Cause => "cause",
        Kind::Error => "error",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, outline: Expect) {
        let parsed = sabir_axon::parse(text);
        let mut out = Vec::new();
        write_outline(&mut out, parsed.tree.root()).unwrap();
        let out = String::from_utf8(out).unwrap();
        outline.assert_eq(&out);
        let mut json = Vec::new();
        write_json(&mut json, parsed.tree.root()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let mut count = 0;
        let mut todo = vec![&value];
        while let Some(node) = todo.pop() {
            count += 1;
            todo.extend(node["children"].as_array().unwrap());
        }
        assert_eq!(count, out.lines().count());
    }

    #[test]
    fn the_tree_of_a_message() {
        check(
            r#"[id:"m1",%%:1] INF(@a>[@b,@c]): (x.y & f($z,k:~~-1.50s)) -> #t{"a b":_} <- 1..2 < "q\n""#,
            expect![[r#"
                document 0..87
                  message 0..87
                    meta 0..14
                      field 1..8 key="id"
                        string 4..8 text="m1" value="m1"
                      field 9..13 key="%%"
                        number 12..13 text=1 number=1
                    performative 15..18 name=INF
                    agent 19..21 name=a
                    agents 22..29
                      agent 23..25 name=b
                      agent 26..28 name=c
                    cause 32..87 op=<-
                      then 32..71 op=->
                        paren 32..56
                          all 33..55 op=&
                            name 33..36 name=x.y
                            call 39..55 name=f
                              var 41..43 name=z
                              field 44..54 key="k"
                                approx 46..54 op=~ times=2
                                  number 48..54 text=-1.50s number=-1.50 unit=s
                        tag 60..71 name=t
                          record 62..71
                            field 63..70 key="a b"
                              null 69..70 text=_
                      compare 75..87 op=<
                        range 75..79 op=..
                          number 75..76 text=1 number=1
                          number 78..79 text=2 number=2
                        string 82..87 text="q\n" value="q\n"
            "#]],
        );
    }

    #[test]
    fn errors_are_nodes() {
        check(
            "INF(@a>@b): x{} & !\nwhat",
            expect![[r#"
                document 0..24
                  message 0..24
                    performative 0..3 name=INF
                    agent 4..6 name=a
                    agent 7..9 name=b
                    all 12..24 op=&
                      tag 12..15 name=x
                        record 13..15
                      error 18..24 text=!\nwhat
            "#]],
        );
    }
}
