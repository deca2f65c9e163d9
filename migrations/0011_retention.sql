-- Up Migration

-- What is removed when it is old, and what points to it.
CREATE INDEX background_calls_ended ON background_calls (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX messages_created ON messages (created_at, id);
CREATE INDEX messages_target ON messages (target_id, created_at, id);
CREATE INDEX notifications_call ON notifications (call_id);

-- Down Migration

DROP INDEX background_calls_ended, messages_created, messages_target, notifications_call;
