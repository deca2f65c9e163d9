-- Up Migration

ALTER TABLE mcp_servers
  ALTER COLUMN url DROP NOT NULL,
  ADD COLUMN command text,
  -- an array of strings
  ADD COLUMN args jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN env jsonb NOT NULL DEFAULT '{}',
  -- counts the changes of what a connection is made from: what was seen before one says nothing after it
  ADD COLUMN revision integer NOT NULL DEFAULT 1,
  DROP CONSTRAINT mcp_servers_transport_known,
  ADD CONSTRAINT mcp_servers_transport_known CHECK (transport IN ('http', 'sse', 'stdio')),
  ADD CONSTRAINT mcp_servers_fields_fit CHECK (
    CASE transport
      WHEN 'stdio' THEN command IS NOT NULL AND url IS NULL AND headers = '{}'
      ELSE url IS NOT NULL AND command IS NULL AND args = '[]' AND env = '{}'
    END);

-- What the replica that tried last saw of a server; no row: nobody has tried. Apart from mcp_servers, so
-- that seeing something neither waits for an administrator's change nor reloads the registrations.
CREATE TABLE mcp_server_states (
  server_id uuid CONSTRAINT mcp_server_states_pk PRIMARY KEY
    CONSTRAINT mcp_server_states_server_fk REFERENCES mcp_servers ON DELETE CASCADE,
  -- the revision of the server that was tried; a row of another one counts as none
  revision integer NOT NULL,
  reachable boolean NOT NULL,
  error_code text,
  error_message text,
  checked_at timestamptz(3) NOT NULL DEFAULT now(),
  -- NULL: nobody will try again by itself
  next_try_at timestamptz(3),
  CONSTRAINT mcp_server_states_unreachable_says_why
    CHECK (reachable = (error_code IS NULL) AND reachable = (error_message IS NULL)),
  CONSTRAINT mcp_server_states_reachable_waits_for_nothing CHECK (NOT reachable OR next_try_at IS NULL)
);

-- Down Migration

DROP TABLE mcp_server_states;
DELETE FROM mcp_servers WHERE transport <> 'http';
ALTER TABLE mcp_servers
  DROP CONSTRAINT mcp_servers_fields_fit,
  DROP CONSTRAINT mcp_servers_transport_known,
  ADD CONSTRAINT mcp_servers_transport_known CHECK (transport IN ('http')),
  DROP COLUMN command,
  DROP COLUMN args,
  DROP COLUMN env,
  DROP COLUMN revision,
  ALTER COLUMN url SET NOT NULL;
