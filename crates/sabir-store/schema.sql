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

-- What this node does for peers. Entries of peers belong to no session above. Numbers of entries are
-- not foreign keys here: the path of a task is short, and verification holds them against the journal.

-- Open and suspended sessions.
CREATE TABLE peer_sessions (
    id TEXT PRIMARY KEY,
    opened_seq INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'suspended')),
    used_at_ms INTEGER NOT NULL,
    -- The task of it that ended last, from which those before it are found.
    last_task INTEGER,
    spent_tokens INTEGER,
    spent_usd REAL
) STRICT, WITHOUT ROWID;

-- Sessions that ended, in the order in which they did. `shown` marks a token or certificate that
-- anybody may hold, if that was all that it was opened with.
CREATE TABLE peer_past_sessions (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    how TEXT NOT NULL CHECK (how IN ('closed', 'expired')),
    ended_at_ms INTEGER NOT NULL,
    ended_seq INTEGER NOT NULL
, shown BLOB) STRICT;

-- Keys of sessions: the one thing that is not in the journal, and goes when its session ends.
CREATE TABLE peer_keys (
    session TEXT PRIMARY KEY,
    keys TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tasks that run. `place` is the number of the entry that started it times 65536, plus the place in it.
CREATE TABLE peer_running (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    place INTEGER NOT NULL,
    updated_seq INTEGER,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

-- Tasks that ended, in the order in which they did. `shown` is as above.
CREATE TABLE "peer_tasks" (
    num INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    authentication INTEGER NOT NULL,
    place INTEGER,
    ended_seq INTEGER NOT NULL,
    -- The task of the same session that ended before it.
    before INTEGER,
    shown BLOB
) STRICT;

-- The same by their names, in stretches: names come in no order, and one index over all of them would
-- change a page for each. The last few tasks stand in stretches of 256, which are numbered from 0;
-- those before them in stretches of 16384, which are numbered from -1 downwards.
CREATE TABLE peer_task_names (
    stretch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    num INTEGER NOT NULL,
    PRIMARY KEY (stretch, owner, id, num)
) STRICT, WITHOUT ROWID;

CREATE TABLE peer_updates (
    place INTEGER NOT NULL,
    n INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (place, n)
) STRICT, WITHOUT ROWID;

-- Which stretches of the journal hold ids of messages that must not pass again before `forget_at_ms`.
CREATE TABLE peer_seen (
    first_seq INTEGER PRIMARY KEY,
    since_ms INTEGER NOT NULL,
    -- The latest time at which a message was let in, here or before.
    last_ms INTEGER NOT NULL,
    forget_at_ms INTEGER NOT NULL,
    -- The greatest `forget_at_ms` of the stretches that are not kept any more.
    forgotten_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE peer_refusals (
    seq INTEGER PRIMARY KEY
) STRICT;

-- How far the tables of peers follow the journal: the number of the last entry that they know of. Those
-- after it are few, and are looked at where they stand.
CREATE TABLE peer_mark (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
) STRICT;
