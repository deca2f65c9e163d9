-- Up Migration

CREATE TABLE apps (
  id uuid CONSTRAINT apps_pk PRIMARY KEY,
  name text NOT NULL CONSTRAINT apps_name_unique UNIQUE,
  -- NULL: the locale of the settings
  locale text CONSTRAINT apps_locale_known CHECK (locale IN ('zh-CN', 'en')),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id uuid CONSTRAINT api_keys_pk PRIMARY KEY,
  -- NULL: an admin key, which is bound to no app
  app_id uuid CONSTRAINT api_keys_app_fk REFERENCES apps,
  audience text NOT NULL CONSTRAINT api_keys_audience_known CHECK (audience IN ('agent', 'bot', 'admin')),
  origin text NOT NULL CONSTRAINT api_keys_origin_known CHECK (origin IN ('environment', 'generated')),
  prefix text NOT NULL,
  hash bytea NOT NULL CONSTRAINT api_keys_hash_unique UNIQUE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  revoked_at timestamptz(3),
  CONSTRAINT api_keys_admin_without_app CHECK ((audience = 'admin') = (app_id IS NULL))
);

CREATE TABLE settings (
  only_row boolean CONSTRAINT settings_pk PRIMARY KEY DEFAULT true,
  -- what differs from the defaults, as a tree
  overrides jsonb NOT NULL DEFAULT '{}',
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT settings_one_row CHECK (only_row)
);

CREATE TABLE instances (
  id uuid CONSTRAINT instances_pk PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  lease_until timestamptz(3) NOT NULL
);
CREATE INDEX instances_lease ON instances (lease_until);

CREATE TABLE mcp_servers (
  id uuid CONSTRAINT mcp_servers_pk PRIMARY KEY,
  name text NOT NULL CONSTRAINT mcp_servers_name_unique UNIQUE,
  title text NOT NULL,
  transport text NOT NULL CONSTRAINT mcp_servers_transport_known CHECK (transport IN ('http')),
  url text NOT NULL,
  headers jsonb NOT NULL DEFAULT '{}',
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX mcp_servers_created ON mcp_servers (created_at, id);

-- What the administrator says about a tool; it may be said before the tool was ever seen.
CREATE TABLE tools (
  server_id uuid NOT NULL CONSTRAINT tools_server_fk REFERENCES mcp_servers ON DELETE CASCADE,
  name text NOT NULL,
  background text NOT NULL CONSTRAINT tools_background_known CHECK (background IN ('auto', 'always', 'never')),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT tools_pk PRIMARY KEY (server_id, name)
);

-- One row per session or bot: its turn, the lock that orders its notifications, what is out for delivery.
CREATE TABLE targets (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT targets_pk PRIMARY KEY,
  app_id uuid NOT NULL CONSTRAINT targets_app_fk REFERENCES apps,
  kind text NOT NULL CONSTRAINT targets_kind_known CHECK (kind IN ('session', 'bot')),
  session_id text,
  team_id text,
  bot_id text,
  turn_id text,
  -- without a sign of life until then the turn is taken as ended
  turn_expires_at timestamptz(3),
  next_sequence bigint NOT NULL DEFAULT 1,
  -- since when there is something to hand out; NULL: nothing
  undelivered_since timestamptz(3),
  -- the message that is out, hidden until it is acknowledged or this passes
  hidden_until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT targets_session_unique UNIQUE (app_id, session_id),
  CONSTRAINT targets_bot_unique UNIQUE (app_id, team_id, bot_id),
  CONSTRAINT targets_kind_fits CHECK (
    CASE kind WHEN 'session' THEN session_id IS NOT NULL AND team_id IS NULL AND bot_id IS NULL
              ELSE session_id IS NULL AND team_id IS NOT NULL AND bot_id IS NOT NULL END),
  CONSTRAINT targets_turn_whole CHECK ((turn_id IS NULL) = (turn_expires_at IS NULL))
);
CREATE INDEX targets_undelivered ON targets (app_id, undelivered_since, id) WHERE undelivered_since IS NOT NULL;

CREATE TABLE ended_turns (
  target_id bigint NOT NULL CONSTRAINT ended_turns_target_fk REFERENCES targets ON DELETE CASCADE,
  turn_id text NOT NULL,
  interrupted boolean NOT NULL,
  ended_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT ended_turns_pk PRIMARY KEY (target_id, turn_id)
);
CREATE INDEX ended_turns_age ON ended_turns (target_id, ended_at);

CREATE TABLE background_calls (
  id uuid CONSTRAINT background_calls_pk PRIMARY KEY,
  app_id uuid NOT NULL CONSTRAINT background_calls_app_fk REFERENCES apps,
  target_id bigint NOT NULL CONSTRAINT background_calls_target_fk REFERENCES targets,
  status text NOT NULL CONSTRAINT background_calls_status_known
    CHECK (status IN ('queued', 'running', 'input_required', 'completed', 'failed', 'cancelled')),
  handover text NOT NULL CONSTRAINT background_calls_handover_known
    CHECK (handover IN ('auto', 'always', 'client_timeout')),
  owner_id uuid,
  agent_id text,
  turn_id text,
  tool_call_id text,
  -- not a reference to mcp_servers: the call outlives the registration
  server_id uuid NOT NULL,
  server_name text NOT NULL,
  server_title text NOT NULL,
  tool text NOT NULL,
  -- JSON as text, not jsonb: jsonb takes neither \u0000 nor lone surrogates
  arguments text NOT NULL,
  policy jsonb NOT NULL,
  progress text,
  error_code text,
  error_message text,
  outcome_unknown boolean NOT NULL DEFAULT false,
  result_preview text,
  result_is_error boolean,
  result_bytes bigint,
  result_truncated boolean,
  traceparent text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  backgrounded_at timestamptz(3) NOT NULL DEFAULT now(),
  -- written before the upstream is asked: NULL means that it surely was not
  dispatched_at timestamptz(3),
  deadline_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  ended_at timestamptz(3),
  CONSTRAINT background_calls_ended_when_terminal
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
  CONSTRAINT background_calls_failed_says_why CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CONSTRAINT background_calls_running_is_owned
    CHECK (status NOT IN ('running', 'input_required') OR owner_id IS NOT NULL),
  CONSTRAINT background_calls_cancelled_was_asked
    CHECK (status <> 'cancelled' OR cancel_requested_at IS NOT NULL)
);
CREATE INDEX background_calls_target ON background_calls (target_id, created_at DESC, id DESC);
CREATE INDEX background_calls_created ON background_calls (created_at DESC, id DESC);
CREATE INDEX background_calls_running_target ON background_calls (target_id) WHERE ended_at IS NULL;
CREATE INDEX background_calls_running_owner ON background_calls (owner_id) WHERE ended_at IS NULL;
CREATE INDEX background_calls_running_deadline ON background_calls (deadline_at) WHERE ended_at IS NULL;
CREATE INDEX background_calls_running_cancel ON background_calls (cancel_requested_at)
  WHERE ended_at IS NULL AND cancel_requested_at IS NOT NULL;

-- The whole CallToolResult as the bytes of its JSON, apart from the row so that lists stay light.
CREATE TABLE call_results (
  call_id uuid CONSTRAINT call_results_pk PRIMARY KEY
    CONSTRAINT call_results_call_fk REFERENCES background_calls ON DELETE CASCADE,
  body bytea NOT NULL
);

CREATE TABLE messages (
  id uuid CONSTRAINT messages_pk PRIMARY KEY,
  app_id uuid NOT NULL CONSTRAINT messages_app_fk REFERENCES apps,
  target_id bigint NOT NULL CONSTRAINT messages_target_fk REFERENCES targets,
  state text NOT NULL CONSTRAINT messages_state_known CHECK (state IN ('pending', 'delivered', 'dead', 'discarded')),
  -- the JSON that is handed out: frozen when the row is made, the same at every try
  body text NOT NULL,
  attempts integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  delivered_at timestamptz(3),
  CONSTRAINT messages_delivered_says_when CHECK ((state = 'delivered') = (delivered_at IS NOT NULL))
);
-- at most one message of a target is out at a time
CREATE UNIQUE INDEX messages_one_pending ON messages (target_id) WHERE state = 'pending';

CREATE TABLE notifications (
  id uuid CONSTRAINT notifications_pk PRIMARY KEY,
  call_id uuid NOT NULL CONSTRAINT notifications_one_per_call UNIQUE
    CONSTRAINT notifications_call_fk REFERENCES background_calls ON DELETE CASCADE,
  target_id bigint NOT NULL CONSTRAINT notifications_target_fk REFERENCES targets,
  -- the place within the target, given under its lock: the order in which calls ended
  sequence bigint NOT NULL,
  -- what there is to tell, as JSON, taken at the moment the call ended
  content text NOT NULL,
  message_id uuid CONSTRAINT notifications_message_fk REFERENCES messages,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT notifications_place_unique UNIQUE (target_id, sequence)
);
CREATE INDEX notifications_waiting ON notifications (target_id, sequence) WHERE message_id IS NULL;
CREATE INDEX notifications_message ON notifications (message_id, sequence) WHERE message_id IS NOT NULL;

-- Append-only: what happened, written in the transaction in which it happened.
CREATE TABLE events (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT events_pk PRIMARY KEY,
  app_id uuid NOT NULL CONSTRAINT events_app_fk REFERENCES apps,
  target_id bigint NOT NULL CONSTRAINT events_target_fk REFERENCES targets,
  call_id uuid,
  type text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX events_target ON events (target_id, id);
CREATE INDEX events_call ON events (call_id, id) WHERE call_id IS NOT NULL;

-- Down Migration

DROP TABLE events, notifications, messages, call_results, background_calls, ended_turns, targets,
  tools, mcp_servers, instances, settings, api_keys, apps;
