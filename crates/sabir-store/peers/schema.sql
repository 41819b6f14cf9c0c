-- What this node knows of others. Times are milliseconds since 1970. Any number of processes write it.
CREATE TABLE delegates (
    num INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE CHECK (url <> ''),
    -- As its card said when it was last read.
    delegate_id TEXT,
    card_json TEXT CHECK (json_valid(card_json)),
    added_at_ms INTEGER NOT NULL,
    probed_at_ms INTEGER,
    -- Why the last probe failed.
    error TEXT,
    CHECK ((delegate_id IS NULL) = (card_json IS NULL)),
    CHECK (error IS NULL OR probed_at_ms IS NOT NULL)
) STRICT;

CREATE INDEX delegates_by_id ON delegates (delegate_id) WHERE delegate_id IS NOT NULL;

-- The key that a delegate is known by. It is replaced only by somebody who says so.
CREATE TABLE pinned_keys (
    delegate_id TEXT PRIMARY KEY,
    public_key TEXT NOT NULL CHECK (length(public_key) = 64),
    origin TEXT NOT NULL,
    pinned_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER a_pinned_key_is_never_changed BEFORE UPDATE ON pinned_keys
BEGIN
    SELECT RAISE(ABORT, 'a pinned key is taken away first');
END;

CREATE TABLE trust_domains (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    domain_json TEXT NOT NULL CHECK (json_valid(domain_json))
) STRICT, WITHOUT ROWID;

CREATE TABLE tallies (
    delegate_id TEXT NOT NULL,
    skill TEXT NOT NULL,
    tally_json TEXT NOT NULL CHECK (json_valid(tally_json)),
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (delegate_id, skill)
) STRICT, WITHOUT ROWID;

CREATE INDEX tallies_by_age ON tallies (changed_at_ms);

CREATE TABLE breakers (
    delegate_id TEXT PRIMARY KEY,
    breaker_json TEXT NOT NULL CHECK (json_valid(breaker_json))
) STRICT, WITHOUT ROWID;

-- Tasks that this node gave to others, in the order in which it did.
CREATE TABLE delegations (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    at_ms INTEGER NOT NULL,
    delegate_id TEXT,
    url TEXT,
    skill TEXT,
    payload_mode TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'cancelled')),
    choice_json TEXT CHECK (json_valid(choice_json)),
    provenance_json TEXT CHECK (json_valid(provenance_json)),
    error_json TEXT CHECK (json_valid(error_json)),
    cost_usd REAL,
    ended_at_ms INTEGER
) STRICT;
