-- How far the tables of peers follow the journal: the number of the last entry that they know of. Those
-- after it are few, and are looked at where they stand.
CREATE TABLE peer_mark (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
) STRICT;

INSERT INTO peer_mark (one, seq) SELECT 1, coalesce(max(seq), 0) FROM journal;
