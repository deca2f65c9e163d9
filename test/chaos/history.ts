import type { Pool } from 'pg';

/**
 * What the database itself notes of each move, in the transaction of the move: the product can neither
 * leave it out nor colour it. `chaos.actor` is set by the address under which a process connects.
 */
const INSTALL = `
  CREATE TABLE chaos_instance_changes (
    id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text, instance_id uuid NOT NULL, is_begin boolean NOT NULL, lease_was_over boolean NOT NULL);
  CREATE INDEX ON chaos_instance_changes (instance_id);

  CREATE FUNCTION chaos_note_instance() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO chaos_instance_changes (actor, instance_id, is_begin, lease_was_over)
    VALUES (current_setting('chaos.actor', true), coalesce(NEW.id, OLD.id), TG_OP = 'INSERT',
      TG_OP = 'DELETE' AND OLD.lease_until < clock_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_note_instance AFTER INSERT OR DELETE ON instances
    FOR EACH ROW EXECUTE FUNCTION chaos_note_instance();

  CREATE TABLE chaos_call_changes (
    id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT statement_timestamp(),
    actor text, call_id uuid NOT NULL, status_before text, status text NOT NULL, owner_before uuid,
    owner uuid, owner_before_stands boolean NOT NULL, owner_before_gone_at timestamptz,
    cancel_requested boolean NOT NULL, deadline_passed boolean NOT NULL, was_ended boolean NOT NULL,
    running_of_target integer NOT NULL);

  CREATE FUNCTION chaos_note_call() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL
      AND (NEW.status, NEW.owner_id) IS NOT DISTINCT FROM (OLD.status, OLD.owner_id) THEN RETURN NULL;
    END IF;
    INSERT INTO chaos_call_changes (actor, call_id, status_before, status, owner_before, owner,
      owner_before_stands, owner_before_gone_at, cancel_requested, deadline_passed, was_ended,
      running_of_target)
    SELECT current_setting('chaos.actor', true), NEW.id, OLD.status, NEW.status, OLD.owner_id,
      NEW.owner_id, EXISTS (SELECT FROM instances WHERE instances.id = OLD.owner_id),
      (SELECT max(gone.at) FROM chaos_instance_changes AS gone
        WHERE gone.instance_id = OLD.owner_id AND NOT gone.is_begin),
      NEW.cancel_requested_at IS NOT NULL, coalesce(NEW.deadline_at <= now(), false),
      OLD.ended_at IS NOT NULL,
      (SELECT count(*) FROM background_calls
        WHERE background_calls.target_id = NEW.target_id AND background_calls.status = 'running');
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_note_call AFTER INSERT OR UPDATE ON background_calls
    FOR EACH ROW EXECUTE FUNCTION chaos_note_call();

  CREATE TABLE chaos_message_changes (
    id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text, message_id uuid NOT NULL, state_before text, state text NOT NULL,
    is_hand_out boolean NOT NULL, body_changed boolean NOT NULL, turn_id text);

  CREATE FUNCTION chaos_note_message() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO chaos_message_changes (actor, message_id, state_before, state, is_hand_out,
      body_changed, turn_id)
    SELECT current_setting('chaos.actor', true), NEW.id, OLD.state, NEW.state,
      TG_OP = 'INSERT' OR NEW.attempts > OLD.attempts OR NEW.hand_outs > OLD.hand_outs,
      TG_OP = 'UPDATE' AND NEW.body <> OLD.body,
      (SELECT targets.turn_id FROM targets
        WHERE targets.id = NEW.target_id AND targets.turn_expires_at > now());
    RETURN NULL;
  END $$;
  CREATE TRIGGER chaos_note_message AFTER INSERT OR UPDATE ON messages
    FOR EACH ROW EXECUTE FUNCTION chaos_note_message();`;

/** Lets the database write down what happens in it from now on. */
export async function installHistory(database: Pool): Promise<void> {
  await database.query(INSTALL);
}

/** The address of the database under which what a process does is noted as its. */
export function addressFor(actor: string, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c chaos.actor=${actor}`);
  return url.href;
}
