-- Up Migration

-- Members of headers and env are sealed: name → {"key": id of the key, "sealed": base64}. One that is a string
-- is plain, of a row from before, and is sealed by the next start; none is written any more (NOT VALID: what
-- is there is not looked at).
ALTER TABLE mcp_servers
  ADD COLUMN sharing text NOT NULL DEFAULT 'shared',
  ADD CONSTRAINT mcp_servers_sharing_known CHECK (sharing IN ('shared', 'session', 'call')),
  ADD CONSTRAINT mcp_servers_secrets_sealed CHECK (
    NOT jsonb_path_exists(headers, 'strict $.* ? (@.type() == "string")')
    AND NOT jsonb_path_exists(env, 'strict $.* ? (@.type() == "string")')) NOT VALID;

-- Down Migration

ALTER TABLE mcp_servers
  DROP CONSTRAINT mcp_servers_secrets_sealed,
  DROP CONSTRAINT mcp_servers_sharing_known,
  DROP COLUMN sharing;
-- SQL can't open what is sealed: such servers have to be given their headers and variables again.
UPDATE mcp_servers SET headers = '{}', env = '{}';
