//! The one table of LLMX's diagnostic codes. Each has a page in `docs/diagnostics`.
//!
//! `LX0` is about characters, `LX1` about syntax, `LX2` about blocks and fields, `LX3` about paths,
//! `LX4` about batches and conversations.

sabir_base::codes! {
    "LX001" UNTERMINATED_STRING "llmx-unterminated-string" "A string has no closing quote.";
    "LX002" UNKNOWN_ESCAPE "llmx-unknown-escape" "A backslash in a string is followed by something that is not an escape.";
    "LX003" RAW_CONTROL "llmx-raw-control-character" "A string holds a raw newline, tab or other control character.";
    "LX004" INVALID_UNICODE_ESCAPE "llmx-invalid-unicode-escape" "A `\\u` escape does not name a character.";
    "LX005" BYTE_ORDER_MARK "llmx-byte-order-mark" "The text starts with a byte order mark.";
    "LX006" MALFORMED_NUMBER "llmx-malformed-number" "A number is not written as in JSON.";
    "LX007" UNQUOTED_TEXT "llmx-unquoted-text" "A value that is no plain word stands without quotes.";
    "LX008" SCHEMA_NOTATION "schema-notation" "`|` or `?` is copied from a description of the notation into a message.";
    "LX009" WRONG_QUOTES "llmx-wrong-quotes" "A string is written with other quotes than `\"`.";

    "LX101" TEXT_OUTSIDE_BLOCK "text-outside-block" "Text stands where a block should start.";
    "LX102" MISSING_HEADER "missing-header" "A message does not start with a HEADER.";
    "LX103" BLOCK_SHAPE "block-shape" "A block holds braces where it needs brackets, or the other way round, or neither.";
    "LX104" LOWER_CASE_TYPE "lower-case-type" "A block's type is not written in capitals.";
    "LX105" UNCLOSED_BRACKET "llmx-unclosed-bracket" "A bracket is opened and never closed.";
    "LX106" UNMATCHED_BRACKET "llmx-unmatched-bracket" "A closing bracket fits no open one.";
    "LX107" MISSING_COMMA "missing-comma" "A comma is missing between two fields or two items.";
    "LX108" EXTRA_COMMA "llmx-extra-comma" "A comma has nothing before or after it.";
    "LX109" MISSING_COLON "llmx-missing-colon" "A `:` is missing between a key and its value.";
    "LX110" MISSING_VALUE "missing-value" "A value is missing.";
    "LX111" MISSING_KEY "missing-key" "A value in braces or parentheses has no key.";
    "LX112" BAD_KEY "llmx-bad-key" "A key holds something else than letters, digits and `_`.";
    "LX113" QUOTED_KEY "quoted-key" "A key stands in quotes.";
    "LX114" KEY_CASE "key-case" "A key is not a letter followed by lower-case letters, digits and `_`.";
    "LX115" DUPLICATE_KEY "llmx-duplicate-key" "A key stands twice in one block or object.";
    "LX116" TUPLE_OUTSIDE_PLAN "tuple-outside-plan" "Parentheses stand outside a PLAN.";
    "LX117" NULL_VALUE "null-value" "A value is `null`, which the notation does not have.";
    "LX118" TOO_DEEP "llmx-too-deep" "Brackets go deeper than the limit.";
    "LX119" TOO_MANY_ERRORS "llmx-too-many-errors" "There are more findings than are worth listing.";
    "LX120" TEXT_TOO_LARGE "llmx-text-too-large" "The text is four gigabytes or more.";
    "LX121" NO_BLOCKS "no-blocks" "A message is a HEADER and nothing else.";
    "LX122" UNEXPECTED_TEXT "unexpected-text" "Something stands where only a comma or a closing bracket can.";
    "LX123" TYPE_FORM "type-form" "The type of a block stands in quotes, or no colon follows it.";

    "LX201" MISSING_FIELD "missing-field" "A block or a step lacks a field that it must have.";
    "LX202" FIELD_TYPE "field-type" "A field holds another type of value than it should.";
    "LX203" NOT_AN_INTEGER "not-an-integer" "A number is not whole, or is out of its range.";
    "LX204" UNKNOWN_STATUS "unknown-status" "A status is none of the words that there are.";
    "LX205" UNKNOWN_OPERATION "unknown-operation" "The operation of an ACT is none of those that are known.";
    "LX206" UNKNOWN_FIELD "unknown-field" "A block has a field that is neither known nor an extension.";
    "LX207" UNKNOWN_TYPE "unknown-type" "A block's type is neither known nor an extension.";
    "LX208" EMPTY_LIST "empty-list" "A list that should hold something is empty.";
    "LX209" EMPTY_TEXT "empty-text" "A name or a text that should say something is empty.";
    "LX210" SEVERAL_RECEIVERS "several-receivers" "A HEADER names its receivers in a list.";
    "LX211" ITEM_TYPE "item-type" "An item of a list of texts is no text.";
    "LX212" MISSING_ERROR "missing-error" "An observation failed and does not say why.";
    "LX213" ERROR_ON_SUCCESS "error-on-success" "An observation succeeded and gives an error.";
    "LX214" CONTENT_ON_FAILURE "content-on-failure" "An observation failed and has content.";
    "LX215" DEFAULT_NOT_OFFERED "default-not-offered" "The default of a question is none of its options.";
    "LX216" DUPLICATE_STEP "duplicate-step" "Two steps of a plan have the same id.";
    "LX217" NOT_A_STEP "not-a-step" "An item of a PLAN is no step.";

    "LX301" ESCAPING_PATH "escaping-path" "A path may leave the root.";
    "LX302" MALFORMED_PATH "malformed-path" "A path is empty, or its lines are no lines.";
    "LX303" LINK_OUT_OF_ROOT "link-out-of-root" "A link on the way of a path leads out of the root.";

    "LX401" SEQUENCE_ORDER "sequence-order" "The sequence numbers of a sender do not go up.";
    "LX402" RETRANSMISSION "retransmission" "A message was sent before, word for word.";
    "LX403" DUPLICATE_ACTION "duplicate-action" "Two actions of a batch have the same id.";
    "LX404" ACTION_WITHOUT_ID "action-without-id" "An action in a batch of several has no id.";
    "LX405" UNKNOWN_ACTION "unknown-action" "An observation answers an action that is not there.";
    "LX406" DUPLICATE_OBSERVATION "duplicate-observation" "An agent answers an action twice.";
    "LX407" OBSERVATION_WITHOUT_ID "observation-without-id" "An observation does not say which of several actions it answers.";
    "LX408" UNANSWERED_ACTION "unanswered-action" "An action of a batch has no observation.";
    "LX409" ANSWERS_NOTHING "answers-nothing" "A response answers nothing that is open.";
    "LX410" UNKNOWN_OPTION "unknown-option" "A response chooses what is none of the options.";
    "LX411" END_WHILE_BLOCKED "end-while-blocked" "Work ends while a blocker is open.";
    "LX412" PLAN_BACKWARDS "plan-backwards" "A step of a plan goes back.";
    "LX413" STILL_OPEN "still-open" "A request, a question or a blocker is open at the end.";
}
