-- What a person collects, asks and makes. Times are milliseconds since 1970. A row is numbered (`num`)
-- for joins, paging and the search index, and has an id for everyone outside. Bodies of sources stand
-- in `source_versions` and nowhere else.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE collections (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'col_?*'),
    title TEXT NOT NULL,
    -- The title as it is looked for: without regard to case and white space.
    title_key TEXT NOT NULL UNIQUE CHECK (title_key <> ''),
    tags_json TEXT NOT NULL CHECK (json_valid(tags_json)),
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
) STRICT;

-- `address` may be shown; `fetch_address` is where it is fetched from, when the two differ.
CREATE TABLE sources (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'src_?*'),
    collection INTEGER NOT NULL REFERENCES collections (num) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('url', 'file', 'note')),
    -- Where it is fetched from, and the same in the form by which duplicates are found.
    address TEXT,
    address_key TEXT,
    given_title TEXT,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'captured', 'failed')),
    current INTEGER REFERENCES source_versions (num) DEFERRABLE INITIALLY DEFERRED,
    -- Why the last attempt failed. A source that was captured once stays captured.
    error_code TEXT,
    error_text TEXT,
    -- What the server wants to hear when it is asked again.
    etag TEXT,
    last_modified TEXT,
    added_at_ms INTEGER NOT NULL,
    checked_at_ms INTEGER, fetch_address TEXT,
    CHECK ((kind = 'note') = (address IS NULL)),
    CHECK ((address IS NULL) = (address_key IS NULL)),
    CHECK ((status = 'captured') = (current IS NOT NULL)),
    CHECK ((error_code IS NULL) = (error_text IS NULL))
) STRICT;

CREATE UNIQUE INDEX one_source_for_an_address ON sources (collection, address_key)
WHERE address_key IS NOT NULL;

CREATE INDEX sources_of_a_collection ON sources (collection, num);

CREATE INDEX source_shows_version ON sources (current) WHERE current IS NOT NULL;

CREATE TABLE source_versions (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'ver_?*'),
    source INTEGER NOT NULL REFERENCES sources (num) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number > 0),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    title TEXT NOT NULL,
    byline TEXT,
    media_type TEXT NOT NULL,
    final_address TEXT,
    chars INTEGER NOT NULL,
    words INTEGER NOT NULL,
    links_json TEXT NOT NULL CHECK (json_valid(links_json)),
    signals_json TEXT NOT NULL CHECK (json_valid(signals_json)),
    captured_at_ms INTEGER NOT NULL,
    -- Last, so that what stands before it is read without it.
    markdown TEXT NOT NULL,
    UNIQUE (source, number)
) STRICT;

CREATE TRIGGER a_version_is_never_changed BEFORE UPDATE ON source_versions
BEGIN
    SELECT RAISE(ABORT, 'a version of a source is never changed');
END;

CREATE TABLE capture_jobs (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'job_?*'),
    source INTEGER NOT NULL REFERENCES sources (num) ON DELETE CASCADE,
    options_json TEXT NOT NULL CHECK (json_valid(options_json)),
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    attempts INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND max_attempts),
    max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
    not_before_ms INTEGER NOT NULL,
    -- The worker that has it or had it last.
    worker TEXT,
    -- What came of it.
    version INTEGER REFERENCES source_versions (num) ON DELETE SET NULL,
    found TEXT CHECK (found IN ('new', 'unchanged')),
    error_code TEXT,
    error_text TEXT,
    created_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    CHECK (status <> 'running' OR worker IS NOT NULL),
    CHECK ((status = 'succeeded') = (found IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX one_job_at_a_time_for_a_source ON capture_jobs (source)
WHERE status IN ('queued', 'running');

CREATE INDEX jobs_in_line ON capture_jobs (not_before_ms, num) WHERE status = 'queued';

CREATE INDEX jobs_at_work ON capture_jobs (worker) WHERE status = 'running';

CREATE INDEX jobs_of_a_source ON capture_jobs (source, num);

CREATE INDEX jobs_that_made_a_version ON capture_jobs (version) WHERE version IS NOT NULL;

CREATE TABLE chat_events (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'chat_?*'),
    collection INTEGER NOT NULL REFERENCES collections (num) ON DELETE CASCADE,
    turn INTEGER NOT NULL CHECK (turn > 0),
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    markdown TEXT NOT NULL,
    tool_calls_json TEXT CHECK (json_valid(tool_calls_json)),
    tool_results_json TEXT CHECK (json_valid(tool_results_json)),
    model_json TEXT CHECK (json_valid(model_json)),
    created_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX chat_of_a_collection ON chat_events (collection, num);

CREATE INDEX turns_of_a_collection ON chat_events (collection, turn);

-- What was made of a collection outlives it.
CREATE TABLE artifacts (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'art_?*'),
    collection INTEGER REFERENCES collections (num) ON DELETE SET NULL,
    type TEXT NOT NULL CHECK (type <> ''),
    title TEXT NOT NULL,
    tags_json TEXT NOT NULL CHECK (json_valid(tags_json)),
    status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
    worker TEXT,
    dedupe_key TEXT,
    source_ids_json TEXT NOT NULL CHECK (json_valid(source_ids_json)),
    config_json TEXT NOT NULL CHECK (json_valid(config_json)),
    error_code TEXT,
    error_text TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    markdown TEXT NOT NULL,
    CHECK (status <> 'running' OR worker IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX one_of_a_kind_at_work ON artifacts (dedupe_key)
WHERE status = 'running' AND dedupe_key IS NOT NULL;

CREATE INDEX artifacts_at_work ON artifacts (worker) WHERE status = 'running';

CREATE INDEX artifacts_of_a_collection ON artifacts (collection, num);

CREATE TABLE citations (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'cit_?*'),
    chat_event INTEGER REFERENCES chat_events (num) ON DELETE CASCADE,
    artifact INTEGER REFERENCES artifacts (num) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position > 0),
    -- As it was named, which may be a source that there never was.
    source_id TEXT NOT NULL,
    version INTEGER REFERENCES source_versions (num) ON DELETE SET NULL,
    status TEXT NOT NULL
        CHECK (status IN ('verified', 'repaired', 'ambiguous', 'unverified', 'unknown_source')),
    how TEXT,
    quote TEXT NOT NULL,
    start_byte INTEGER,
    end_byte INTEGER,
    text_fragment TEXT,
    CHECK ((chat_event IS NULL) <> (artifact IS NULL)),
    CHECK ((start_byte IS NULL) = (end_byte IS NULL)),
    CHECK (start_byte BETWEEN 0 AND end_byte)
) STRICT;

CREATE UNIQUE INDEX citations_of_a_chat_event ON citations (chat_event, position)
WHERE chat_event IS NOT NULL;

CREATE UNIQUE INDEX citations_of_an_artifact ON citations (artifact, position)
WHERE artifact IS NOT NULL;

CREATE INDEX citations_of_a_version ON citations (version) WHERE version IS NOT NULL;

CREATE TABLE llm_runs (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'run_?*'),
    kind TEXT NOT NULL CHECK (kind <> ''),
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    collection INTEGER REFERENCES collections (num) ON DELETE SET NULL,
    source INTEGER REFERENCES sources (num) ON DELETE SET NULL,
    chat_event INTEGER REFERENCES chat_events (num) ON DELETE SET NULL,
    artifact INTEGER REFERENCES artifacts (num) ON DELETE SET NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd_micros INTEGER,
    started_at_ms INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    error_code TEXT,
    error_text TEXT,
    request_redacted TEXT NOT NULL,
    response_redacted TEXT
) STRICT;

CREATE INDEX runs_of_a_collection ON llm_runs (collection, num);

CREATE INDEX runs_of_a_source ON llm_runs (source) WHERE source IS NOT NULL;

CREATE INDEX runs_of_a_chat_event ON llm_runs (chat_event) WHERE chat_event IS NOT NULL;

CREATE INDEX runs_of_an_artifact ON llm_runs (artifact) WHERE artifact IS NOT NULL;

CREATE TABLE approvals (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'apr_?*'),
    -- What was asked, and nothing else, may be done with it.
    binding BLOB NOT NULL CHECK (length(binding) = 32),
    subject TEXT NOT NULL,
    question TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('asked', 'approved', 'denied', 'used', 'expired')),
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    decided_by TEXT,
    decided_at_ms INTEGER,
    used_at_ms INTEGER
) STRICT;

CREATE INDEX approvals_that_wait ON approvals (expires_at_ms) WHERE state IN ('asked', 'approved');

CREATE TABLE policy_audit (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id GLOB 'aud_?*'),
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    call_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('allow', 'ask', 'deny')),
    reason TEXT NOT NULL,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX audit_of_a_call ON policy_audit (call_id, seq);

CREATE TRIGGER the_audit_is_never_changed BEFORE UPDATE ON policy_audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

CREATE TRIGGER the_audit_is_never_shortened BEFORE DELETE ON policy_audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- What can be found: the current version of each source, under the title of the source.
CREATE VIEW search_texts AS
SELECT s.num AS num, s.title AS title, v.markdown AS body
FROM sources AS s JOIN source_versions AS v ON v.num = s.current;

-- The texts themselves are not copied: they stand in the view. `prefix` makes `hot*` as quick as a
-- whole word.
CREATE VIRTUAL TABLE search_index USING fts5 (
    title,
    body,
    content = 'search_texts',
    content_rowid = 'num',
    tokenize = 'unicode61 remove_diacritics 2',
    prefix = '2 3'
);

-- The index has to be told the very words that it shall forget, so it is told before they change.
CREATE TRIGGER search_forgets_what_changes BEFORE UPDATE OF current, title ON sources
WHEN OLD.current IS NOT NULL AND (OLD.current IS NOT NEW.current OR OLD.title <> NEW.title)
BEGIN
    INSERT INTO search_index (search_index, rowid, title, body)
    SELECT 'delete', OLD.num, OLD.title, markdown FROM source_versions WHERE num = OLD.current;
END;

CREATE TRIGGER search_learns_what_changed AFTER UPDATE OF current, title ON sources
WHEN NEW.current IS NOT NULL AND (OLD.current IS NOT NEW.current OR OLD.title <> NEW.title)
BEGIN
    INSERT INTO search_index (rowid, title, body)
    SELECT NEW.num, NEW.title, markdown FROM source_versions WHERE num = NEW.current;
END;

CREATE TRIGGER search_forgets_what_goes BEFORE DELETE ON sources
WHEN OLD.current IS NOT NULL
BEGIN
    INSERT INTO search_index (search_index, rowid, title, body)
    SELECT 'delete', OLD.num, OLD.title, markdown FROM source_versions WHERE num = OLD.current;
END;
