-- Up Migration

ALTER TABLE apps
  -- when the URL of its events last became another one: what was on its way before begins anew. This and the next
  -- one to the microsecond, since rows of the same millisecond are told apart
  ADD COLUMN events_changed_at timestamptz,
  -- when it last got a URL after it had none: what was on its way before is forgotten
  ADD COLUMN events_begun_at timestamptz;

-- from when its age counts: when it was written, its receiver was busy, or its URL was changed
ALTER TABLE event_deliveries ADD COLUMN trying_since timestamptz NOT NULL DEFAULT now();
CREATE INDEX event_deliveries_trying ON event_deliveries (app_id, trying_since);

-- Down Migration

DROP INDEX event_deliveries_trying;
ALTER TABLE event_deliveries DROP COLUMN trying_since;
ALTER TABLE apps
  DROP COLUMN events_changed_at,
  DROP COLUMN events_begun_at;
