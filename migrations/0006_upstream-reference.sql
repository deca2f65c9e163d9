-- Up Migration

ALTER TABLE background_calls
  -- what another process needs to go on with the work, as its driver told it; NULL: nobody else can.
  -- JSON as text, like the arguments: an upstream may choose any characters for its ids
  ADD COLUMN upstream_reference text
    CONSTRAINT background_calls_reference_bounded CHECK (octet_length(upstream_reference) <= 16384),
  ADD COLUMN driver text NOT NULL DEFAULT 'plain'
    CONSTRAINT background_calls_driver_known CHECK (driver IN ('plain', 'task')),
  ADD CONSTRAINT background_calls_reference_of_work
    CHECK (upstream_reference IS NULL OR (dispatched_at IS NOT NULL AND ended_at IS NULL));

-- Down Migration

ALTER TABLE background_calls
  DROP COLUMN upstream_reference,
  DROP COLUMN driver;
