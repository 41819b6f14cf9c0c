-- Whose a task or a session was that came with a token or certificate that anybody may hold: the mark
-- of what was shown.
ALTER TABLE peer_past_sessions ADD COLUMN shown BLOB;
ALTER TABLE peer_tasks ADD COLUMN shown BLOB;
