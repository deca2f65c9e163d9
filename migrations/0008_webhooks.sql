-- Up Migration

ALTER TABLE apps
  ADD COLUMN delivery_mode text NOT NULL DEFAULT 'pull'
    CONSTRAINT apps_delivery_mode_known CHECK (delivery_mode IN ('pull', 'webhook')),
  ADD COLUMN webhook_url text,
  -- sealed: {"key": id of the key, "sealed": base64}
  ADD COLUMN webhook_secret jsonb,
  -- the one before it, which signs beside it until then
  ADD COLUMN webhook_old_secret jsonb,
  ADD COLUMN webhook_old_secret_until timestamptz(3),
  ADD CONSTRAINT apps_webhook_whole
    CHECK (delivery_mode <> 'webhook' OR (webhook_url IS NOT NULL AND webhook_secret IS NOT NULL)),
  ADD CONSTRAINT apps_webhook_old_secret_ends
    CHECK ((webhook_old_secret IS NULL) = (webhook_old_secret_until IS NULL)),
  ADD CONSTRAINT apps_webhook_secrets_sealed
    CHECK (webhook_secret ? 'sealed' AND (webhook_old_secret IS NULL OR webhook_old_secret ? 'sealed'));
CREATE INDEX apps_created ON apps (created_at, id);

ALTER TABLE messages
  -- counts every hand-out, so that whoever has been overtaken can tell; attempts leaves out busy answers
  ADD COLUMN hand_outs integer NOT NULL DEFAULT 1,
  -- webhook tries that failed, one after another
  ADD COLUMN failures integer NOT NULL DEFAULT 0,
  -- from when its age counts: when it was made, its receiver was busy, or its delivery was set up anew
  ADD COLUMN trying_since timestamptz(3) NOT NULL DEFAULT now(),
  -- while it waits for the next try of its webhook; NULL: it is out, or ended
  ADD COLUMN next_attempt_at timestamptz(3),
  ADD COLUMN dead_reason text CONSTRAINT messages_dead_reason_known CHECK (dead_reason IN ('receiver_gone', 'too_old')),
  ADD CONSTRAINT messages_dead_says_why CHECK ((state = 'dead') = (dead_reason IS NOT NULL)),
  ADD CONSTRAINT messages_only_pending_waits CHECK (state = 'pending' OR next_attempt_at IS NULL);
UPDATE messages SET hand_outs = attempts, trying_since = created_at;

-- What became of each try of a webhook, the latest of a message.
CREATE TABLE message_attempts (
  message_id uuid NOT NULL CONSTRAINT message_attempts_message_fk REFERENCES messages ON DELETE CASCADE,
  -- which hand-out of the message it was
  number integer NOT NULL,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  outcome text NOT NULL CONSTRAINT message_attempts_outcome_known
    CHECK (outcome IN ('delivered', 'busy', 'gone', 'failed', 'aborted')),
  -- NULL: there was no answer
  http_status integer,
  error text CONSTRAINT message_attempts_error_bounded CHECK (length(error) <= 500),
  CONSTRAINT message_attempts_pk PRIMARY KEY (message_id, number)
);

-- What is due next of an app, in this order; what is hidden until later lies behind it and is not read.
CREATE INDEX targets_due ON targets (app_id, greatest(undelivered_since, hidden_until), id)
  WHERE undelivered_since IS NOT NULL;

-- Down Migration

DROP INDEX targets_due, apps_created;
DROP TABLE message_attempts;
ALTER TABLE messages
  DROP CONSTRAINT messages_dead_says_why,
  DROP CONSTRAINT messages_only_pending_waits,
  DROP COLUMN hand_outs,
  DROP COLUMN failures,
  DROP COLUMN trying_since,
  DROP COLUMN next_attempt_at,
  DROP COLUMN dead_reason;
ALTER TABLE apps
  DROP CONSTRAINT apps_webhook_whole,
  DROP CONSTRAINT apps_webhook_old_secret_ends,
  DROP CONSTRAINT apps_webhook_secrets_sealed,
  DROP COLUMN delivery_mode,
  DROP COLUMN webhook_url,
  DROP COLUMN webhook_secret,
  DROP COLUMN webhook_old_secret,
  DROP COLUMN webhook_old_secret_until;
