import { Injectable } from '@nestjs/common';
import type { PageRequest } from '../../common/paging.js';
import type { Queryable } from '../../database/database.js';
import type { MessageKind } from '../message-kind.js';
import type { MessageState } from '../message-state.js';
import type { MessageSummary } from './message-summary.js';

/** A session, a bot, or all bots of a team: in each of the apps, since ids are unique within one. */
export interface TargetFilter {
  /** UUIDs. */
  appIds: string[];
  sessionId?: string;
  teamId?: string;
  botId?: string;
}

/** What a list is narrowed to; absent fields do not narrow. */
export interface MessageFilter {
  /** UUIDs. */
  appIds?: string[];
  target?: TargetFilter;
  states?: MessageState[];
  kinds?: MessageKind[];
  /** UUID. */
  callId?: string;
  /** Made then or later. */
  since?: Date;
  /** Made before. */
  until?: Date;
}

/** A row of `messages` with the address of its target. */
interface MessageSummaryRow extends Omit<MessageSummary, 'address'> {
  sessionId: string | null;
  teamId: string | null;
  botId: string | null;
}

const MESSAGE_COLUMNS = `
    messages.id, messages.app_id AS "appId", messages.target_id AS "targetId",
    targets.session_id AS "sessionId", targets.team_id AS "teamId", targets.bot_id AS "botId",
    messages.kind, messages.state, messages.dead_reason AS "deadReason", messages.attempts,
    messages.failures, messages.next_attempt_at AS "nextAttemptAt", messages.held_back AS "heldBack",
    messages.redelivered_at AS "redeliveredAt", messages.created_at AS "createdAt",
    messages.delivered_at AS "deliveredAt", ARRAY(
      SELECT notifications.call_id FROM notifications
      WHERE notifications.message_id = messages.id ORDER BY notifications.sequence) AS "callIds"`;

const STATE = 'messages.state';
const APP = 'messages.app_id';

type Parameter = (value: unknown) => string;

const OF_CALL = (callId: string): string => `messages.id IN (
      SELECT notifications.message_id FROM notifications
      WHERE notifications.call_id = ${callId} AND notifications.message_id IS NOT NULL)`;

type PlainFilter = Omit<MessageFilter, 'target' | 'states' | 'appIds'>;

const CONDITIONS: [keyof PlainFilter, (parameter: string) => string][] = [
  ['kinds', (parameter) => `messages.kind = ANY(${parameter}::text[])`],
  ['callId', OF_CALL],
  ['since', (parameter) => `messages.created_at >= ${parameter}`],
  ['until', (parameter) => `messages.created_at < ${parameter}`],
];

const TARGET_CONDITIONS: [keyof TargetFilter, (parameter: string) => string][] = [
  ['appIds', (parameter) => `targets.app_id = ANY(${parameter}::uuid[])`],
  ['sessionId', (parameter) => `targets.session_id = ${parameter}`],
  ['teamId', (parameter) => `targets.team_id = ${parameter}`],
  ['botId', (parameter) => `targets.bot_id = ${parameter}`],
];

const FIND = `
  SELECT ${MESSAGE_COLUMNS}, messages.body
  FROM messages
  JOIN targets ON targets.id = messages.target_id
  WHERE messages.id = $1`;

/** Messages as administrators see them: keyset pages, never an OFFSET, never a count. */
@Injectable()
export class MessageListRepository {
  /** Up to `limit + 1` messages: the extra one says that there are more. */
  async list(db: Queryable, filter: MessageFilter, page: PageRequest): Promise<MessageSummary[]> {
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const rows = await db.query<MessageSummaryRow>(
      `
  SELECT ${MESSAGE_COLUMNS}
  FROM (${idsOfPage(filter, page, parameter)}) AS page
  JOIN messages ON messages.id = page.id
  JOIN targets ON targets.id = messages.target_id
  ORDER BY messages.created_at ${page.order}, messages.id ${page.order}
  LIMIT ${parameter(page.limit + 1)}`,
      values,
    );
    return rows.map(toMessageSummary);
  }

  async find(
    db: Queryable,
    id: string,
  ): Promise<{ summary: MessageSummary; body: string } | undefined> {
    const [row] = await db.query<MessageSummaryRow & { body: string }>(FIND, [id]);
    if (row === undefined) return undefined;
    const { body, ...summary } = row;
    return { summary: toMessageSummary(summary), body };
  }
}

/**
 * What a page may be made of. Each session or bot, each state, each app gives the first of its own, in the
 * order of its index: a few dead letters are not looked for among all that was ever delivered.
 */
function idsOfPage(filter: MessageFilter, page: PageRequest, parameter: Parameter): string {
  const { target, states, appIds, ...rest } = filter;
  const conditions = conditionsOf(CONDITIONS, rest, parameter);
  if (page.after) {
    const comparison = page.order === 'desc' ? '<' : '>';
    const key = `${parameter(page.after.createdAt)}::timestamptz, ${parameter(page.after.id)}::uuid`;
    conditions.push(`(messages.created_at, messages.id) ${comparison} (${key})`);
  }
  const limit = parameter(page.limit + 1);
  const few = (...more: string[]): string => `
    SELECT messages.id FROM messages
    ${where([...more, ...conditions])}
    ORDER BY messages.created_at ${page.order}, messages.id ${page.order}
    LIMIT ${limit}`;
  const among = (column: string, values: string[] | undefined, type: string): string[] =>
    values ? [`${column} = ANY(${parameter(values)}::${type}[])`] : [];

  if (target) {
    const ofTarget = few('messages.target_id = targets.id', ...among(STATE, states, 'text'));
    return `SELECT few.id FROM targets CROSS JOIN LATERAL (${ofTarget}) AS few
    ${where(conditionsOf(TARGET_CONDITIONS, target, parameter))}`;
  }
  const ofApp = among(APP, states && appIds, 'uuid');
  const ofEach = (column: string) => (value: string) =>
    `(${few(`${column} = ${parameter(value)}`, ...ofApp)})`;
  if (states) return states.map(ofEach(STATE)).join(' UNION ALL ');
  if (appIds?.length) return appIds.map(ofEach(APP)).join(' UNION ALL ');
  return few(...among(APP, appIds, 'uuid'));
}

function conditionsOf<Filter extends object>(
  conditions: [keyof Filter, (parameter: string) => string][],
  filter: Filter,
  parameter: Parameter,
): string[] {
  return conditions
    .filter(([field]) => filter[field] !== undefined)
    .map(([field, condition]) => condition(parameter(filter[field])));
}

function where(conditions: string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

function toMessageSummary(row: MessageSummaryRow): MessageSummary {
  const { sessionId, teamId, botId, ...rest } = row;
  const address =
    sessionId === null
      ? { type: 'bot' as const, teamId: teamId ?? '', botId: botId ?? '' }
      : { type: 'session' as const, sessionId };
  return { ...rest, address };
}
