import { UUID } from './ids.js';

/** A keyset cursor: the sort key of the last row that was shown. */
export interface PageCursor {
  createdAt: string;
  id: string;
}

export interface PageRequest {
  /** 1–100. */
  limit: number;
  after?: PageCursor;
  order: 'asc' | 'desc';
}

export interface Page<T> {
  data: T[];
  hasMore: boolean;
  nextCursor: string | null;
}

const INSTANT = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function encodeCursor(cursor: PageCursor): string {
  return Buffer.from(`${cursor.createdAt} ${cursor.id}`).toString('base64url');
}

/** Undefined when the text is not a cursor that `encodeCursor` made. */
export function decodeCursor(text: string): PageCursor | undefined {
  const [createdAt = '', id = '', ...rest] = Buffer.from(text, 'base64url').toString().split(' ');
  const isValid = rest.length === 0 && isInstant(createdAt) && UUID.test(id);
  return isValid ? { createdAt, id } : undefined;
}

/** Also refuses days that no month has, which Date would move to the next month. */
function isInstant(text: string): boolean {
  return INSTANT.test(text) && new Date(text).toJSON() === text;
}

/** Makes a page of `limit + 1` rows: the extra row only says whether there is more. */
export function toPage<Row, T>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => PageCursor,
  present: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(present),
    hasMore,
    nextCursor: hasMore && last !== undefined ? encodeCursor(cursorOf(last)) : null,
  };
}
