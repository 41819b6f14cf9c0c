//! The one table of AXON's diagnostic codes. Each has a page in `docs/diagnostics`.
//!
//! `AX0` is about characters, `AX1` about syntax, `AX2` about metadata, `AX3` about types and
//! scope, `AX4` about conversations, `AX5` about profiles, `AX9` is advice.

use sabir_base::Code;

/// One row of the table: the code, its name in words, what it says in one line.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    pub code: Code,
    pub name: &'static str,
    pub summary: &'static str,
}

macro_rules! codes {
    ($($text:literal $constant:ident $name:literal $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $constant: Code = Code::new($text);
        )*

        /// Every code, in order.
        pub const ALL: &[CodeInfo] =
            &[$(CodeInfo { code: $constant, name: $name, summary: $summary }),*];
    };
}

codes! {
    "AX001" UNTERMINATED_STRING "unterminated-string" "A string has no closing quote.";
    "AX002" UNTERMINATED_COMMENT "unterminated-comment" "A comment has no closing `*)`.";
    "AX003" UNKNOWN_ESCAPE "unknown-escape" "A backslash in a string is followed by something that is not an escape.";
    "AX004" RAW_CONTROL "raw-control-character" "A string holds a raw newline, tab or other control character.";
    "AX005" BYTE_ORDER_MARK "byte-order-mark" "The text starts with a byte order mark.";
    "AX006" UNKNOWN_CHARACTER "unknown-character" "A character has no meaning in AXON outside strings and comments.";
    "AX007" MALFORMED_NUMBER "malformed-number" "A number runs into something that is not a unit, such as a date, a time or an unknown unit.";
    "AX008" INVALID_UNICODE_ESCAPE "invalid-unicode-escape" "A `\\u{...}` escape does not name a character.";
    "AX009" NON_ASCII_NAME "non-ascii-name" "A name holds letters outside ASCII.";
    "AX010" LONE_SIGIL "lone-sigil" "`@`, `#` or `$` is not directly followed by a name.";
    "AX011" WRONG_QUOTES "wrong-quotes" "A string is written with other quotes than `\"`.";

    "AX101" TEXT_OUTSIDE_MESSAGE "text-outside-message" "Text stands where a message should start.";
    "AX102" UNKNOWN_PERFORMATIVE "unknown-performative" "A message starts with a word that is not a performative.";
    "AX103" MISSING_ROUTING "missing-routing" "A message lacks `(@sender>@receiver)` or a part of it.";
    "AX104" BAD_ENDPOINT "bad-endpoint" "A sender or receiver is not an agent, `*` or a list of agents.";
    "AX105" ROUTING_ARROW "routing-arrow" "Routing is written with an arrow instead of `>`.";
    "AX106" UNBRACKETED_AGENTS "unbracketed-agents" "Several agents stand in routing without brackets.";
    "AX107" MISSING_COLON "missing-colon" "A `:` is missing.";
    "AX108" EXPECTED_EXPRESSION "expected-expression" "An expression is missing.";
    "AX109" UNCLOSED_BRACKET "unclosed-bracket" "A bracket is opened and never closed.";
    "AX110" UNMATCHED_BRACKET "unmatched-bracket" "A closing bracket fits no open one.";
    "AX111" UNEXPECTED_TOKEN "unexpected-token" "Something stands where only a comma, a closing bracket or an operator can.";
    "AX112" GLUED_RECORD "glued-record" "A record is glued to something that cannot carry one.";
    "AX113" MISSING_OPERATOR "missing-operator" "Two expressions follow each other with no operator between them.";
    "AX114" KEYLESS_FIELD "keyless-field" "A value in a record has no key.";
    "AX115" BAD_KEY "bad-key" "A key is not an identifier.";
    "AX116" DUPLICATE_KEY "duplicate-key" "A key stands twice in one record, argument list or metadata block.";
    "AX117" CHAINED_COMPARISON "chained-comparison" "Comparisons or ranges are chained without parentheses.";
    "AX118" RESERVED_OPERATOR "reserved-operator" "An operator is reserved for the future (section 14).";
    "AX119" UNKNOWN_OPERATOR "unknown-operator" "An operator does not exist in AXON.";
    "AX120" PREFIX_OPERATOR "prefix-operator" "An operator that needs a left side stands at the front.";
    "AX121" NEGATION "negation" "AXON has no `!x`.";
    "AX122" POSTFIX "postfix" "AXON has no indexing, no member access on a value and no call of a value.";
    "AX123" EXTRA_COMMA "extra-comma" "A comma has nothing before or after it.";
    "AX124" EMPTY_BRACKETS "empty-brackets" "Metadata or a list of agents is empty.";
    "AX125" MESSAGES_NOT_SEPARATED "messages-not-separated" "Two messages touch each other.";
    "AX126" TOO_DEEP "too-deep" "Brackets and nested messages go deeper than the limit.";
    "AX127" TOO_MANY_ERRORS "too-many-errors" "There are more errors than are worth listing.";
    "AX128" TUPLE "tuple" "Parentheses hold several values.";
    "AX129" TEXT_TOO_LARGE "text-too-large" "The text is four gigabytes or more.";
    "AX130" SPACE_INSIDE_NAME "space-inside-name" "White space splits a name, or a number from its unit.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_sorted() {
        assert!(ALL.is_sorted_by(|a, b| a.code < b.code));
        let mut names: Vec<_> = ALL.iter().map(|info| info.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
