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

-- Sessions that ended, in the order in which they did.
CREATE TABLE peer_past_sessions (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    how TEXT NOT NULL CHECK (how IN ('closed', 'expired')),
    ended_at_ms INTEGER NOT NULL,
    ended_seq INTEGER NOT NULL
) STRICT;

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

-- Tasks that ended, in the order in which they did.
CREATE TABLE peer_tasks (
    num INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    authentication INTEGER NOT NULL,
    place INTEGER,
    ended_seq INTEGER NOT NULL,
    -- The task of the same session that ended before it.
    before INTEGER,
    UNIQUE (owner, id)
) STRICT;

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
