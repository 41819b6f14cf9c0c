-- Where the audit ends, beside the rows: who takes the last of them away has to change this, too.
INSERT INTO meta (key, value)
SELECT 'audit_head', coalesce(
    (SELECT seq || ' ' || lower(hex(hash)) FROM policy_audit ORDER BY seq DESC LIMIT 1), '0');
