-- Up Migration

ALTER TABLE background_calls
  DROP CONSTRAINT background_calls_handover_known,
  ADD CONSTRAINT background_calls_handover_known
    CHECK (handover IN ('auto', 'always', 'client_timeout', 'queued')),
  -- nobody owns or has asked for what waits: any replica may start it
  ADD CONSTRAINT background_calls_queued_is_free
    CHECK (status <> 'queued'
      OR (owner_id IS NULL AND dispatched_at IS NULL AND started_at IS NULL AND deadline_at IS NULL));

CREATE INDEX background_calls_queued ON background_calls (target_id, created_at, id)
  WHERE status = 'queued' AND cancel_requested_at IS NULL;

-- when a queued call of this target was last started: the longest unserved comes first; to the microsecond,
-- since several are served within a millisecond
ALTER TABLE targets ADD COLUMN queue_served_at timestamptz;

-- Down Migration

ALTER TABLE targets DROP COLUMN queue_served_at;
DROP INDEX background_calls_queued;
ALTER TABLE background_calls
  DROP CONSTRAINT background_calls_queued_is_free,
  DROP CONSTRAINT background_calls_handover_known,
  ADD CONSTRAINT background_calls_handover_known
    CHECK (handover IN ('auto', 'always', 'client_timeout'));
