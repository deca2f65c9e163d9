-- Up Migration

-- What an upstream wanted to know in mid-call. Its deadline is the call's.
CREATE TABLE input_requests (
  call_id uuid NOT NULL CONSTRAINT input_requests_call_fk REFERENCES background_calls ON DELETE CASCADE,
  -- from 1, in the order in which the questions were asked
  sequence integer NOT NULL CONSTRAINT input_requests_sequence_positive CHECK (sequence > 0),
  message text NOT NULL,
  -- JSON as text; what is larger or deeper is not kept
  schema text NOT NULL CONSTRAINT input_requests_schema_bounded CHECK (octet_length(schema) <= 16384),
  -- what the upstream was told, as JSON text
  answer text,
  asked_at timestamptz(3) NOT NULL DEFAULT now(),
  closed_at timestamptz(3),
  close_reason text CONSTRAINT input_requests_close_reason_known
    CHECK (close_reason IN ('answered', 'withdrawn', 'call_ended', 'owner_gone')),
  CONSTRAINT input_requests_pk PRIMARY KEY (call_id, sequence),
  CONSTRAINT input_requests_closed_says_why CHECK ((closed_at IS NULL) = (close_reason IS NULL)),
  CONSTRAINT input_requests_answer_kept
    CHECK ((answer IS NOT NULL) = (close_reason IS NOT DISTINCT FROM 'answered'))
);
-- questions of a call are answered one after another
CREATE UNIQUE INDEX input_requests_one_open ON input_requests (call_id) WHERE closed_at IS NULL;

ALTER TABLE background_calls
  -- how many questions were asked
  ADD COLUMN questions integer NOT NULL DEFAULT 0,
  DROP CONSTRAINT background_calls_handover_known,
  ADD CONSTRAINT background_calls_handover_known
    CHECK (handover IN ('auto', 'always', 'client_timeout', 'queued', 'input_required'));

ALTER TABLE notifications
  -- the question that it tells of; NULL: it tells of the end of the call
  ADD COLUMN input_sequence integer,
  -- why it will never be told
  ADD COLUMN suppressed text,
  DROP CONSTRAINT notifications_one_per_call,
  ADD CONSTRAINT notifications_question_fk
    FOREIGN KEY (call_id, input_sequence) REFERENCES input_requests ON DELETE CASCADE,
  ADD CONSTRAINT notifications_told_or_suppressed CHECK (message_id IS NULL OR suppressed IS NULL);
CREATE UNIQUE INDEX notifications_one_per_call ON notifications (call_id) WHERE input_sequence IS NULL;
CREATE UNIQUE INDEX notifications_one_per_question ON notifications (call_id, input_sequence)
  WHERE input_sequence IS NOT NULL;
DROP INDEX notifications_waiting;
CREATE INDEX notifications_waiting ON notifications (target_id, sequence)
  WHERE message_id IS NULL AND suppressed IS NULL;

-- Down Migration

DELETE FROM notifications WHERE input_sequence IS NOT NULL;
DROP INDEX notifications_waiting, notifications_one_per_question, notifications_one_per_call;
CREATE INDEX notifications_waiting ON notifications (target_id, sequence) WHERE message_id IS NULL;
ALTER TABLE notifications
  DROP COLUMN input_sequence,
  DROP COLUMN suppressed,
  ADD CONSTRAINT notifications_one_per_call UNIQUE (call_id);
UPDATE background_calls SET handover = 'auto' WHERE handover = 'input_required';
ALTER TABLE background_calls
  DROP COLUMN questions,
  DROP CONSTRAINT background_calls_handover_known,
  ADD CONSTRAINT background_calls_handover_known
    CHECK (handover IN ('auto', 'always', 'client_timeout', 'queued'));
DROP TABLE input_requests;
