-- Tasks that ended are found by their names in stretches: names come in no order, and one index over
-- all of them would change a page for each. The last few tasks stand in stretches of 256, which are
-- numbered from 0; those before them in stretches of 16384, which are numbered from -1 downwards.
CREATE TABLE peer_task_names (
    stretch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    num INTEGER NOT NULL,
    PRIMARY KEY (stretch, owner, id, num)
) STRICT, WITHOUT ROWID;

INSERT INTO peer_task_names
SELECT iif(num <= (SELECT max(num) FROM peer_tasks) / 16384 * 16384,
           -1 - (num - 1) / 16384, (num - 1) / 256) AS stretch, owner, id, num
FROM peer_tasks ORDER BY stretch, owner, id;

CREATE TABLE peer_tasks_in_order (
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

INSERT INTO peer_tasks_in_order
SELECT num, owner, id, digest, authentication, place, ended_seq, before, shown FROM peer_tasks;

DROP TABLE peer_tasks;

ALTER TABLE peer_tasks_in_order RENAME TO peer_tasks;
