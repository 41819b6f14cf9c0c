//! The one table of AXON's diagnostic codes. Each has a page in `docs/diagnostics`.
//!
//! `AX0` is about characters, `AX1` about syntax, `AX2` about metadata, `AX3` about types and
//! scope, `AX4` about conversations, `AX5` about profiles, `AX9` is advice.

sabir_base::codes! {
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

    "AX201" NOT_TEXT "metadata-not-text" "A metadata field that holds text holds something else.";
    "AX202" EMPTY_TEXT "metadata-empty" "A metadata field that holds text is empty.";
    "AX203" NOT_POSITIVE_INTEGER "metadata-not-positive-integer" "A version, a timestamp or a time to live is not a whole number above zero.";
    "AX204" UNIT_IN_METADATA "metadata-unit" "A number in the metadata carries a unit.";
    "AX205" BAD_PRIORITY "bad-priority" "A priority is not a whole number from 0 to 5.";
    "AX206" MISSING_METADATA "missing-metadata" "A message lacks metadata that its tier demands.";
    "AX207" MISSING_VERSION "missing-version" "A message lacks the protocol version, which every tier demands.";
    "AX208" UNSUPPORTED_VERSION "unsupported-version" "A message is written in a version of the protocol that is not supported.";
    "AX209" MISSPELT_KEY "misspelt-key" "A metadata key is almost a key of the protocol.";

    "AX301" INCOMPARABLE_UNITS "incomparable-units" "Numbers of different unit categories are compared.";
    "AX302" MIXED_UNITS "mixed-units" "A number with a unit meets one without.";
    "AX303" RANGE_TYPES "range-types" "The ends of a range have different types.";
    "AX304" RAW_OPERAND "raw-operand" "`&` or `|` joins a raw number or string.";
    "AX305" UNBOUND_VARIABLE "unbound-variable" "A variable is not bound in its message.";
    "AX306" USE_BEFORE_BINDING "use-before-binding" "A step of a sequence uses a variable that a later step binds.";

    "AX401" DUPLICATE_ID "duplicate-id" "Two messages have the same id.";
    "AX402" REPLY_TO_ITSELF "reply-to-itself" "A message answers itself.";
    "AX403" REPLY_TO_LATER "reply-to-later" "A message answers one that comes after it.";
    "AX404" WRONG_ANSWER "wrong-answer" "A performative answers a message that it cannot answer.";
    "AX405" STRANGERS_REPLY "strangers-reply" "Neither side of an answer took part in what it answers.";
    "AX406" REPLY_WITHOUT_RE "reply-without-re" "An answer does not say which message it answers.";
    "AX407" UNKNOWN_NAK_REASON "unknown-nak-reason" "A NAK gives a reason that the protocol does not know.";
    "AX408" MISSING_NAK_REASON "missing-nak-reason" "A NAK gives no reason.";

    "AX501" UNKNOWN_TRANSACTION_STATE "unknown-transaction-state" "A transaction state is not one of the four.";
    "AX502" TRANSACTION_INCOMPLETE "transaction-incomplete" "One of `txn_id` and `txn_state` stands without the other.";
    "AX503" TRANSACTION_ORDER "transaction-order" "A transaction takes a step that its state does not allow.";
    "AX504" TRANSACTION_PERFORMATIVE "transaction-performative" "A performative does not fit the transaction state that it tells.";
    "AX505" TRANSACTION_LEFT "transaction-left" "An answer leaves the transaction of the message it answers.";
    "AX511" BAD_THRESHOLD "bad-threshold" "The threshold of a vote is no number of votes that can be reached.";
    "AX512" UNASKED_VOTER "unasked-voter" "An agent votes that was not asked.";
    "AX513" SECOND_VOTE "second-vote" "An agent votes twice.";
    "AX514" WRONG_TALLY "wrong-tally" "A tally differs from the votes in the document.";
    "AX515" WRONG_OUTCOME "wrong-outcome" "The outcome of a vote contradicts its tally.";

    "AX901" MINUS_IN_NAME "minus-in-name" "A name looks like a subtraction.";
    "AX902" CAUSE_BY_NUMBER "cause-by-number" "`<-` is glued to a number, and means \"because\".";
    "AX903" MIXED_OPERATORS "mixed-operators" "`&` and `|` are mixed without parentheses.";
    "AX904" FOREIGN_LITERAL "foreign-literal" "`true`, `false` or `null` is written instead of `T`, `F` or `_`.";
    "AX905" LOWER_CASE_EXTENSION "lower-case-extension" "An extension performative is not written in capitals.";
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
