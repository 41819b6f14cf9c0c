-- The journal is the truth. Every other table but `meta` is a projection: it can be made again from
-- the journal, holds no body, and is written in the same transaction.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    tag TEXT NOT NULL,
    key TEXT NOT NULL,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TRIGGER journal_is_never_changed BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TRIGGER journal_is_never_shortened BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

-- A session is numbered by its first entry, so that making the tables again gives the same numbers.
CREATE TABLE sessions (
    first_seq INTEGER PRIMARY KEY REFERENCES journal (seq),
    last_seq INTEGER NOT NULL REFERENCES journal (seq),
    id TEXT NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    cwd TEXT NOT NULL,
    model TEXT NOT NULL,
    title TEXT,
    first_input TEXT,
    parent_session TEXT,
    parent_response TEXT,
    turns INTEGER NOT NULL,
    items INTEGER NOT NULL,
    last_response_id TEXT
) STRICT;

CREATE TABLE session_facts (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE submissions (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    sub_id TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE items (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    response_id TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    call_id TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
    session INTEGER NOT NULL REFERENCES sessions (first_seq),
    seq INTEGER NOT NULL REFERENCES journal (seq),
    kind TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Resuming and forking start from a response id, without knowing the session.
CREATE INDEX turns_by_response ON turns (response_id);
