-- Up Migration

ALTER TABLE messages
  -- what its body says
  ADD COLUMN kind text NOT NULL DEFAULT 'background_call.result',
  -- when an administrator last had it sent again
  ADD COLUMN redelivered_at timestamptz(3),
  -- sent again while another message of the target is out: it waits until that has ended
  ADD COLUMN held_back boolean NOT NULL DEFAULT false,
  -- a message that is sent again has been delivered before, and keeps when
  DROP CONSTRAINT messages_delivered_says_when,
  ADD CONSTRAINT messages_delivered_says_when CHECK (state <> 'delivered' OR delivered_at IS NOT NULL),
  ADD CONSTRAINT messages_only_pending_held_back CHECK (state = 'pending' OR NOT held_back);
-- not by a JSON function: those refuse the escape \u0000, which a body may have
UPDATE messages SET kind = substring(body FROM '^\{"id":"[^"]*","kind":"([^"]*)"')
WHERE body ~ '^\{"id":"[^"]*","kind":"[^"]*"';
ALTER TABLE messages
  ADD CONSTRAINT messages_kind_known CHECK (kind IN ('background_call.result', 'background_call.input_required'));

DROP INDEX messages_one_pending;
-- at most one message of a target is out at a time
CREATE UNIQUE INDEX messages_one_pending ON messages (target_id) WHERE state = 'pending' AND NOT held_back;
CREATE INDEX messages_held_back ON messages (target_id, created_at, id) WHERE held_back;
-- the filters of the list
CREATE INDEX messages_app ON messages (app_id, created_at, id);
CREATE INDEX messages_state ON messages (state, created_at, id);
CREATE INDEX messages_asking ON messages (created_at, id) WHERE kind = 'background_call.input_required';

-- Down Migration

DROP INDEX messages_held_back, messages_app, messages_state, messages_asking, messages_one_pending;
UPDATE messages SET state = 'dead', dead_reason = 'too_old' WHERE held_back;
UPDATE messages SET delivered_at = NULL WHERE state <> 'delivered';
ALTER TABLE messages
  DROP CONSTRAINT messages_delivered_says_when,
  ADD CONSTRAINT messages_delivered_says_when CHECK ((state = 'delivered') = (delivered_at IS NOT NULL)),
  DROP COLUMN kind,
  DROP COLUMN redelivered_at,
  DROP COLUMN held_back;
CREATE UNIQUE INDEX messages_one_pending ON messages (target_id) WHERE state = 'pending';
