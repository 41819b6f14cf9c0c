//! The one table of diagnostic codes for packets. Each has a page in `docs/diagnostics`.
//!
//! `LC0` is about the text, `LC1` about the shape of values, `LC2` about the envelope, `LC3` about
//! requests and their documents, `LC4` about a response beside its request, `LC5` about what the
//! assistant says, `LC6` about tool calls.

sabir_base::codes! {
    "LC001" NOT_JSON "not-json" "The text is not JSON.";
    "LC002" DUPLICATE_KEY "repeated-key" "A key stands twice in one object.";
    "LC003" TOO_DEEP "nested-too-deep" "Arrays and objects nest deeper than the limit.";
    "LC004" TOO_LARGE "too-large" "The packet is larger than the limit.";
    "LC005" BAD_ESCAPE "bad-escape" "An escape in a string names no character.";
    "LC006" TOO_MANY_PROBLEMS "too-many-problems" "There are more problems than are worth listing.";

    "LC101" WRONG_TYPE "wrong-type" "A value has another type than its place asks for.";
    "LC102" MISSING_KEY "absent-key" "An object lacks a key that it cannot do without.";
    "LC103" UNKNOWN_KEY "unknown-key" "An object has a key that does not belong there.";
    "LC104" UNKNOWN_CHOICE "unknown-choice" "A value is none of those that its place allows.";
    "LC105" OUT_OF_RANGE "out-of-range" "A number, or the length of a list, is outside of its limits.";
    "LC106" BLANK_TEXT "blank-text" "A text that must say something is empty or white space.";
    "LC107" LONG_TEXT "long-text" "A text is longer than its place allows.";
    "LC108" BAD_TIME "bad-time" "A time is not written as RFC 3339 in UTC.";
    "LC109" BAD_URL "bad-url" "A URL cannot be read, or has a scheme that is not allowed.";

    "LC201" WRONG_PROTOCOL "wrong-protocol" "The protocol is not `laika.llmcp`.";
    "LC202" WRONG_VERSION "wrong-version" "The version of the protocol is not 1.";
    "LC203" WRONG_PACKET_TYPE "wrong-packet-type" "The packet is of another type than was asked for.";
    "LC204" WRONG_SENDER "wrong-sender" "A packet of this type does not come from this role.";

    "LC301" TRUST_TOO_HIGH "trust-too-high" "A document is called trusted although others wrote it.";
    "LC302" KIND_MISMATCH "kind-mismatch" "The kind of a document differs from its content's `doc_type`.";
    "LC303" DUPLICATE_DOCUMENT "duplicate-document" "Two documents have the same `doc_id`.";
    "LC304" CHUNK_ORDER "chunk-order" "Chunks are not numbered from one upwards within their count, or their counts differ.";
    "LC305" MISSING_TASK_ARGUMENT "missing-task-argument" "A task lacks the argument that says what is wanted.";
    "LC306" BAD_TASK_ARGUMENT "bad-task-argument" "The argument that says what is wanted is nothing that can be used.";

    "LC401" WRONG_REPLY "wrong-reply" "A response answers another request.";
    "LC402" OTHER_CONVERSATION "other-conversation" "A response belongs to another conversation than its request.";
    "LC403" OTHER_TURN "other-turn" "A response belongs to another turn than its request.";

    "LC501" BAD_DOCUMENT "bad-document" "The render document is not well-formed.";
    "LC502" MARKDOWN_ONLY "markdown-only" "The answer has Markdown instead of a document; it is shown and nothing of it runs.";
    "LC503" UNASKED_DATA "unasked-data" "The answer has data although the task asks for none.";
    "LC504" BAD_DATA "bad-data" "The data does not fit the schema in the task's arguments.";
    "LC505" UNCHECKABLE_CITATION "uncheckable-citation" "A citation lacks the source or the quote that it could be checked with.";
    "LC506" DANGLING_MARK "dangling-mark" "A citation mark points at no citation.";

    "LC601" UNKNOWN_TOOL "unknown-tool" "A call names a tool that does not exist.";
    "LC602" DUPLICATE_CALL "duplicate-call" "Two tool calls have the same id.";
    "LC603" CALLS_NOT_ALLOWED "calls-not-allowed" "A response has tool calls where none are allowed.";
}
