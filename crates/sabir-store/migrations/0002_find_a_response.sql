-- Resuming and forking start from a response id, without knowing the session.
CREATE INDEX turns_by_response ON turns (response_id);
