//! Expressions and messages, level by level when the depth is bounded.
//!
//! The rules follow what may come next rather than what binds how tightly: precedence shapes the
//! tree and not the set of texts, except that comparisons and ranges do not chain. Read this way
//! the choice between rules falls at the next token, which matters twice. A nested message takes
//! everything to its right, so nothing may follow it; and llama.cpp keeps one stack per reading,
//! so readings that stay open inside brackets would multiply with every level.

use sabir_grammar::{Depth, Expr, Table, choice, lit, many, one_of, opt, rule, seq};

use super::punctuation::{comma, comma_separated, followed_by_more, ws};

/// One level of depth is one bracket, call or nested message.
pub(super) fn add(table: &mut Table, depth: Depth) {
    for depth in depth.levels() {
        Level { table, depth }.add();
    }
    add_operators(table);
    table.phrase("primary_dashed", choice([rule("reference_dashed"), rule("plain_dashed")]));
    table.phrase(
        "plain_dashed",
        choice([
            seq([lit("$"), rule("name_dashed")]),
            seq([lit("#"), rule("name_dashed")]),
            rule("path_dashed"),
        ]),
    );
    table.phrase("reference", seq([lit("@"), rule("name")]));
    table.phrase("reference_solid", seq([lit("@"), rule("name_solid")]));
    table.phrase("reference_dashed", seq([lit("@"), rule("name_dashed")]));
    table.phrase(
        "reference_list",
        seq([lit("["), ws(), comma_separated(rule("reference")), ws(), lit("]")]),
    );
    table.phrase("key", choice([rule("segment"), rule("string")]));
}

fn add_operators(table: &mut Table) {
    table.phrase("approx", seq([lit("~"), many(seq([rule("space"), lit("~")])), ws()]));
    table.because("~~ is reserved, so two of them are kept apart.");
    table.phrase("connective", choice([lit("<-"), lit("->"), lit("&"), lit("|")]));
    table.because("From the loosest to the tightest. Comparisons and ranges bind tighter still.");
}

/// Who stands to the left of an operator.
#[derive(Clone, Copy)]
enum Left {
    /// Ends in a character that no operator starts with.
    Solid,
    /// A name that ends in a dash: `>` must not touch it.
    Dashed,
}

/// Which comparisons may follow.
#[derive(Clone, Copy)]
enum Allowed {
    Any,
    /// Not `>`: behind the word of a performative, `(@a>` opens routing and nothing else.
    NoRouting,
}

struct Level<'t> {
    table: &'t mut Table,
    depth: Depth,
}

impl Level<'_> {
    fn add(&mut self) {
        self.add_message();
        self.add_operands();
        if let Some(inner) = self.depth.deeper() {
            self.add_brackets(inner);
            self.add_call(inner);
        }
        self.add_primary();
    }

    /// The rule `base` at this depth.
    fn at(&self, base: &str) -> Expr {
        rule(self.depth.name(base))
    }

    fn phrase(&mut self, base: &str, body: Expr) {
        let name = self.depth.name(base);
        self.table.phrase(name, body);
    }

    fn add_message(&mut self) {
        let content = self.at("expression");
        let colon = [ws(), lit(":"), ws()];
        let [before, colon, after] = colon;
        let header = seq([rule("performative"), ws(), rule("routing")]);
        self.phrase("message", seq([header, before, colon, after, content]));
    }

    /// An operand, then whatever `solid` and `dashed` allow behind it. A nested message ends the
    /// expression, because it has taken everything.
    fn operand_then(&self, solid: Expr, dashed: Expr) -> Expr {
        let mut parts = vec![
            seq([self.at("primary_solid"), opt(solid)]),
            seq([rule("primary_dashed"), opt(dashed)]),
        ];
        parts.extend(self.nested_message());
        one_of(parts)
    }

    fn nested_message(&self) -> Option<Expr> {
        self.depth.deeper().map(|inner| rule(inner.name("message")))
    }

    fn add_operands(&mut self) {
        self.phrase("expression", seq([opt(rule("approx")), self.at("operand")]));
        self.phrase("operand", self.operand_then(self.at("more"), self.at("more_dashed")));
        self.phrase("more", self.more(Left::Solid, Allowed::Any));
        self.phrase("more_dashed", self.more(Left::Dashed, Allowed::Any));

        let after_range = self.operand_then(self.at("after_range"), self.at("after_range_dashed"));
        self.phrase("range_end", seq([opt(rule("approx")), after_range]));
        self.phrase(
            "after_range",
            one_of(vec![self.comparison(Left::Solid, Allowed::Any), self.connection()]),
        );
        self.phrase(
            "after_range_dashed",
            one_of(vec![self.comparison(Left::Dashed, Allowed::Any), self.connection()]),
        );

        self.add_comparand();
        let last = seq([ws(), lit(".."), ws(), self.at("last")]);
        self.phrase("after_comparand", choice([last, self.connection()]));
        let last = self.operand_then(self.connection(), self.connection());
        self.phrase("last", seq([opt(rule("approx")), last]));
    }

    /// A comparison from its operator on.
    fn add_comparand(&mut self) {
        let equal = choice([lit("<="), lit("!="), lit("=")]);
        let below =
            choice([self.at("comparand_unsigned"), seq([rule("space"), self.at("comparand")])]);
        self.phrase(
            "compared",
            choice([seq([lit("<"), below]), seq([equal, ws(), self.at("comparand")])]),
        );
        self.table.because("x<-5 says that 5 is the cause of x: a space makes it a comparison.");
        let greater = choice([lit(">"), lit(">=")]);
        self.phrase("greater", seq([greater, ws(), self.at("comparand")]));

        let after = || self.at("after_comparand");
        let any = || self.operand_then(after(), after());
        let mut unsigned = vec![
            seq([rule("approx"), any()]),
            seq([self.at("primary_unsigned"), opt(after())]),
            seq([rule("primary_dashed"), opt(after())]),
        ];
        unsigned.extend(self.nested_message());
        self.phrase("comparand", seq([opt(rule("approx")), any()]));
        self.phrase("comparand_unsigned", one_of(unsigned));
    }

    /// What may follow the first operand of an expression.
    fn more(&self, left: Left, allowed: Allowed) -> Expr {
        let range = seq([ws(), lit(".."), ws(), self.at("range_end")]);
        one_of(vec![range, self.comparison(left, allowed), self.connection()])
    }

    fn comparison(&self, left: Left, allowed: Allowed) -> Expr {
        let greater = match allowed {
            Allowed::Any => self.at("greater"),
            Allowed::NoRouting => seq([lit(">="), ws(), self.at("comparand")]),
        };
        match left {
            Left::Solid => seq([ws(), choice([self.at("compared"), greater])]),
            Left::Dashed => {
                choice([seq([ws(), self.at("compared")]), seq([rule("space"), greater])])
            }
        }
    }

    fn connection(&self) -> Expr {
        seq([ws(), rule("connective"), ws(), self.at("expression")])
    }

    fn add_primary(&mut self) {
        let mut unsigned = vec![rule("reference_solid"), self.at("plain_unsigned")];
        let mut plain = vec![
            rule("string"),
            rule("number"),
            lit("_"),
            rule("path_solid"),
            seq([lit("$"), rule("name_solid")]),
            seq([lit("#"), rule("name_solid")]),
        ];
        if let Some(inner) = self.depth.deeper() {
            unsigned.push(self.at("list"));
            let group = rule(inner.name("expression"));
            plain.extend([
                seq([lit("#"), rule("name"), ws(), self.at("record")]),
                self.at("call"),
                self.at("record"),
                seq([lit("("), ws(), group, ws(), lit(")")]),
            ]);
        }
        self.phrase("primary_solid", choice([self.at("primary_unsigned"), rule("negative")]));
        self.phrase("primary_unsigned", one_of(unsigned));
        self.phrase("plain_solid", choice([self.at("plain_unsigned"), rule("negative")]));
        self.phrase("plain_unsigned", one_of(plain));
        self.table.because(
            "T and F are paths here; standing alone they mean true and false. A record glued to \
             anything but a tag is not part of the language.",
        );
    }

    fn add_brackets(&mut self, inner: Depth) {
        let item = || rule(inner.name("expression"));
        let field = rule(self.depth.name("field"));
        self.phrase(
            "list",
            seq([lit("["), ws(), opt(seq([comma_separated(item()), ws()])), lit("]")]),
        );
        self.phrase(
            "record",
            seq([lit("{"), ws(), opt(seq([comma_separated(field), ws()])), lit("}")]),
        );
        self.phrase("field", seq([rule("key"), ws(), lit(":"), ws(), item()]));
    }

    /// The word of a performative is a name like any other, except directly before `(` endpoint
    /// `>`. So a call by such a name has a first argument that cannot be mistaken for routing.
    fn add_call(&mut self, inner: Depth) {
        let argument = || rule(inner.name("argument"));
        let first = rule(inner.name("argument_unrouted"));
        let parens =
            |arguments: Expr| seq([ws(), lit("("), ws(), opt(seq([arguments, ws()])), lit(")")]);
        self.phrase(
            "call",
            choice([
                seq([rule("callee"), parens(comma_separated(argument()))]),
                seq([rule("performative_word"), parens(followed_by_more(first, argument()))]),
            ]),
        );
        Level { table: self.table, depth: inner }.add_arguments();
    }

    /// The arguments whose expressions are at this depth.
    fn add_arguments(&mut self) {
        let named = seq([rule("segment"), ws(), lit(":"), ws(), self.at("expression")]);
        self.phrase("argument", choice([self.at("expression"), named.clone()]));

        let mut unrouted = vec![
            named,
            seq([rule("approx"), self.at("operand")]),
            seq([self.at("plain_solid"), opt(self.at("more"))]),
            seq([rule("plain_dashed"), opt(self.at("more_dashed"))]),
            seq([rule("reference_solid"), opt(self.at("more_unrouted"))]),
            seq([rule("reference_dashed"), opt(self.at("more_unrouted_dashed"))]),
        ];
        unrouted.extend(self.nested_message());
        if let Some(inner) = self.depth.deeper() {
            unrouted.push(seq([rule("reference_list"), opt(self.at("more_unrouted"))]));
            unrouted.push(seq([self.at("list_mixed"), opt(self.at("more"))]));
            self.add_mixed_list(inner);
        }
        self.phrase("argument_unrouted", one_of(unrouted));
        self.table.because(
            "The first argument of a call by the word of a performative: no endpoint and >.",
        );
        self.phrase("more_unrouted", self.more(Left::Solid, Allowed::NoRouting));
        self.phrase("more_unrouted_dashed", self.more(Left::Dashed, Allowed::NoRouting));
    }

    /// A list that is no list of agents: empty, or with an item that is more than a reference.
    fn add_mixed_list(&mut self, inner: Depth) {
        let references = many(seq([rule("reference"), comma()]));
        let item = rule(inner.name("expression"));
        let items = followed_by_more(rule(inner.name("item_mixed")), item);
        self.phrase(
            "list_mixed",
            seq([lit("["), ws(), opt(seq([references, items, ws()])), lit("]")]),
        );
        Level { table: self.table, depth: inner }.add_mixed_item();
    }

    fn add_mixed_item(&mut self) {
        let mut parts = vec![
            seq([rule("approx"), self.at("operand")]),
            seq([self.at("plain_solid"), opt(self.at("more"))]),
            seq([rule("plain_dashed"), opt(self.at("more_dashed"))]),
            seq([rule("reference_solid"), self.at("more")]),
            seq([rule("reference_dashed"), self.at("more_dashed")]),
        ];
        parts.extend(self.nested_message());
        if self.depth.deeper().is_some() {
            parts.push(seq([self.at("list"), opt(self.at("more"))]));
        }
        self.phrase("item_mixed", one_of(parts));
    }
}
