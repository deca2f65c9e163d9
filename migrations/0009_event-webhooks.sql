-- Up Migration

-- Where the events of an app go besides, and which of them; NULL in a filter: all.
ALTER TABLE apps
  ADD COLUMN events_url text,
  ADD COLUMN events_types text[],
  -- <server>/<tool>
  ADD COLUMN events_tools text[],
  ADD COLUMN events_agents text[],
  ADD CONSTRAINT apps_events_whole CHECK (events_url IS NULL OR webhook_secret IS NOT NULL),
  ADD CONSTRAINT apps_events_filter_needs_url
    CHECK (events_url IS NOT NULL
      OR (events_types IS NULL AND events_tools IS NULL AND events_agents IS NULL));

-- Events on their way to the URL of their app: written with the event, removed when it has arrived.
CREATE TABLE event_deliveries (
  event_id bigint CONSTRAINT event_deliveries_pk PRIMARY KEY
    CONSTRAINT event_deliveries_event_fk REFERENCES events ON DELETE CASCADE,
  app_id uuid NOT NULL CONSTRAINT event_deliveries_app_fk REFERENCES apps,
  -- in a row
  failures integer NOT NULL DEFAULT 0,
  -- counts every try, so that whoever has been overtaken can tell
  hand_outs integer NOT NULL DEFAULT 0,
  -- from when on it is due; while it is being sent: from when on its sender is taken for dead
  due_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX event_deliveries_due ON event_deliveries (app_id, due_at, event_id);

-- Down Migration

DROP TABLE event_deliveries;
ALTER TABLE apps
  DROP CONSTRAINT apps_events_whole,
  DROP CONSTRAINT apps_events_filter_needs_url,
  DROP COLUMN events_url,
  DROP COLUMN events_types,
  DROP COLUMN events_tools,
  DROP COLUMN events_agents;
