import type { Pool } from 'pg';
import type {
  CallChange,
  CallRow,
  Evidence,
  InstanceChange,
  MessageChange,
  MessageRow,
  NotificationRow,
} from './evidence.js';

const CALLS = `
  SELECT background_calls.id, targets.session_id AS "sessionId", background_calls.status,
    background_calls.handover, background_calls.arguments::jsonb->>'name' AS name,
    background_calls.error_code AS "errorCode", background_calls.error_message AS "errorMessage",
    background_calls.outcome_unknown AS "outcomeUnknown",
    background_calls.result_preview AS "resultPreview", background_calls.ended_at AS "endedAt"
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id`;

const NOTIFICATIONS = `
  SELECT notifications.id, notifications.call_id AS "callId", targets.session_id AS "sessionId",
    notifications.sequence::int, notifications.message_id AS "messageId", notifications.suppressed,
    notifications.input_sequence IS NOT NULL AS "isQuestion"
  FROM notifications
  JOIN targets ON targets.id = notifications.target_id
  ORDER BY notifications.target_id, notifications.sequence`;

const MESSAGES = `
  SELECT messages.id, targets.session_id AS "sessionId", messages.state, messages.body
  FROM messages
  JOIN targets ON targets.id = messages.target_id`;

const CALL_CHANGES = `
  SELECT changes.at, changes.actor, changes.call_id AS "callId", changes.status, changes.owner,
    changes.status_before AS "statusBefore", changes.owner_before AS "ownerBefore",
    changes.owner_before_stands AS "ownerBeforeStands",
    changes.owner_before_gone_at AS "ownerBeforeGoneAt",
    changes.cancel_requested AS "cancelRequested", changes.deadline_passed AS "deadlinePassed",
    changes.was_ended AS "wasEnded", changes.running_of_target AS "runningOfTarget"
  FROM chaos_call_changes AS changes
  ORDER BY changes.id`;

const MESSAGE_CHANGES = `
  SELECT changes.message_id AS "messageId", changes.state_before AS "stateBefore", changes.state,
    changes.is_hand_out AS "isHandOut", changes.body_changed AS "bodyChanged",
    changes.turn_id AS "turnId"
  FROM chaos_message_changes AS changes
  ORDER BY changes.id`;

const INSTANCE_CHANGES = `
  SELECT changes.at, changes.actor, changes.instance_id AS "instanceId",
    changes.is_begin AS "isBegin", changes.lease_was_over AS "leaseWasOver"
  FROM chaos_instance_changes AS changes
  ORDER BY changes.id`;

/** What is still on its way: calls that have not ended, and notifications that nobody has received. */
const UNSETTLED = `
  SELECT (SELECT count(*)::int FROM background_calls WHERE background_calls.ended_at IS NULL) AS calls,
    (SELECT count(*)::int FROM notifications
      LEFT JOIN messages ON messages.id = notifications.message_id
      WHERE notifications.suppressed IS NULL
        AND coalesce(messages.state, 'pending') = 'pending') AS notifications`;

export type RecordedRows = Pick<
  Evidence,
  'calls' | 'notifications' | 'messages' | 'callChanges' | 'messageChanges' | 'instanceChanges'
>;

/** What the tables of the service, and the history beside them, hold. */
export async function readRows(database: Pool): Promise<RecordedRows> {
  const read = async <R extends object>(sql: string): Promise<R[]> =>
    (await database.query<R>(sql)).rows;
  return {
    calls: await read<CallRow>(CALLS),
    notifications: await read<NotificationRow>(NOTIFICATIONS),
    messages: await read<MessageRow>(MESSAGES),
    callChanges: await read<CallChange>(CALL_CHANGES),
    messageChanges: await read<MessageChange>(MESSAGE_CHANGES),
    instanceChanges: await read<InstanceChange>(INSTANCE_CHANGES),
  };
}

export async function countUnsettled(
  database: Pool,
): Promise<{ calls: number; notifications: number }> {
  const { rows } = await database.query<{ calls: number; notifications: number }>(UNSETTLED);
  return rows[0] ?? { calls: 0, notifications: 0 };
}
