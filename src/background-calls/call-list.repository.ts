import { Injectable } from '@nestjs/common';
import type { PageRequest } from '../common/paging.js';
import { Database } from '../database/database.js';
import type { CallSummary } from './background-call.js';
import { type CallSummaryRow, SUMMARY_COLUMNS, toCallSummary } from './background-call.row.js';
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
}

const CONDITIONS: [keyof CallFilter, (parameter: string) => string][] = [
  ['appId', (parameter) => `c.app_id = ${parameter}`],
  ['targetId', (parameter) => `c.target_id = ${parameter}`],
  ['statuses', (parameter) => `c.status = ANY(${parameter})`],
  ['servers', (parameter) => `c.server_name = ANY(${parameter})`],
  ['tools', (parameter) => `c.tool = ANY(${parameter})`],
  ['turnIds', (parameter) => `c.turn_id = ANY(${parameter})`],
];

/** Keyset pages of calls: never an OFFSET, never a count. */
@Injectable()
export class CallListRepository {
  constructor(private readonly database: Database) {}

  /** Up to `limit + 1` calls: the extra one says that there are more. */
  async list(filter: CallFilter, page: PageRequest): Promise<CallSummary[]> {
    const values: unknown[] = [];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const conditions = CONDITIONS.filter(([field]) => filter[field] !== undefined).map(
      ([field, condition]) => condition(parameter(filter[field])),
    );
    if (page.after) {
      const comparison = page.order === 'desc' ? '<' : '>';
      const createdAt = parameter(page.after.createdAt);
      const key = `(${createdAt}::timestamptz, ${parameter(page.after.id)}::uuid)`;
      conditions.push(`(c.created_at, c.id) ${comparison} ${key}`);
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const rows = await this.database.query<CallSummaryRow>(
      `SELECT ${SUMMARY_COLUMNS} FROM background_calls AS c JOIN targets AS t ON t.id = c.target_id
       ${where} ORDER BY c.created_at ${page.order}, c.id ${page.order}
       LIMIT ${parameter(page.limit + 1)}`,
      values,
    );
    return rows.map(toCallSummary);
  }
}
