import { Injectable } from '@nestjs/common';
import type { PageRequest } from '../common/paging.js';
import type { Queryable } from '../database/database.js';
import type { CallSummary } from './background-call.js';
import { type CallSummaryRow, SUMMARY_COLUMNS, toCallSummary } from './background-call.row.js';
import type { CallDeliveryState } from '../delivery/call-delivery-state.js';
import type { CallStatus } from './call-status.js';

/** What a list is narrowed to; absent fields do not narrow. */
export interface CallFilter {
  appId?: string;
  /** A target by its row; an unknown target has an empty list and is not asked for. */
  targetId?: number;
  statuses?: CallStatus[];
  servers?: string[];
  tools?: string[];
  turnIds?: string[];
  deliveries?: CallDeliveryState[];
}

// Each in a part of its own, so that the few that wait or are dead are found by their index.
const DELIVERED_SO_FAR = (states: string): string => `background_calls.id IN (
      SELECT notifications.call_id FROM notifications
      WHERE 'waiting' = ANY(${states}) AND notifications.input_sequence IS NULL
        AND notifications.message_id IS NULL AND notifications.suppressed IS NULL
      UNION ALL
      SELECT notifications.call_id FROM notifications
      WHERE 'suppressed' = ANY(${states}) AND notifications.input_sequence IS NULL
        AND notifications.suppressed IS NOT NULL
      UNION ALL
      SELECT notifications.call_id FROM notifications
      JOIN messages ON messages.id = notifications.message_id
      WHERE messages.state = ANY(${states}) AND notifications.input_sequence IS NULL)`;

const CONDITIONS: [keyof CallFilter, (parameter: string) => string][] = [
  ['appId', (parameter) => `background_calls.app_id = ${parameter}`],
  ['targetId', (parameter) => `background_calls.target_id = ${parameter}`],
  ['statuses', (parameter) => `background_calls.status = ANY(${parameter})`],
  ['servers', (parameter) => `background_calls.server_name = ANY(${parameter})`],
  ['tools', (parameter) => `background_calls.tool = ANY(${parameter})`],
  ['turnIds', (parameter) => `background_calls.turn_id = ANY(${parameter})`],
  ['deliveries', (parameter) => DELIVERED_SO_FAR(`${parameter}::text[]`)],
];

/** Keyset pages of calls: never an OFFSET, never a count. */
@Injectable()
export class CallListRepository {
  /** Up to `limit + 1` calls: the extra one says that there are more. */
  async list(db: Queryable, filter: CallFilter, page: PageRequest): Promise<CallSummary[]> {
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const conditions = CONDITIONS.filter(([field]) => filter[field] !== undefined).map(
      ([field, condition]) => condition(parameter(filter[field])),
    );
    if (page.after) {
      const comparison = page.order === 'desc' ? '<' : '>';
      const createdAt = parameter(page.after.createdAt);
      const key = `(${createdAt}::timestamptz, ${parameter(page.after.id)}::uuid)`;
      conditions.push(`(background_calls.created_at, background_calls.id) ${comparison} ${key}`);
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const rows = await db.query<CallSummaryRow>(
      `
  SELECT ${SUMMARY_COLUMNS}
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id
  ${where}
  ORDER BY background_calls.created_at ${page.order}, background_calls.id ${page.order}
  LIMIT ${parameter(page.limit + 1)}`,
      values,
    );
    return rows.map(toCallSummary);
  }
}
