import { type Bytes, startOf, textOf } from '../streams/byte-store.js';
import type { ServerEvent } from '../streams/event-reader.js';

/** Where the list of a batch begins; white space before it is rare. */
const BATCH = /^\s*\[/;
const LOOKED_AT_BYTES = 64;
const NOTHING = { name: 'message', id: undefined, retry: undefined };
const END = Buffer.from('\n\n');
const NEW_LINE = 0x0a;

/**
 * A batch (protocol 2025-03-26), which the SDK does not know in streams, becomes an event for each of its messages;
 * the id is that of the last.
 */
export function withoutBatch(event: ServerEvent): ServerEvent[] {
  const { name, data } = event;
  const isBatch =
    data !== undefined && name === 'message' && BATCH.test(startOf(data, LOOKED_AT_BYTES));
  const messages = isBatch ? messagesOf(textOf(data)) : undefined;
  if (messages === undefined) return [event];
  const events = messages.map((message) => ({ ...NOTHING, data: [Buffer.from(message)] }));
  const last = events.pop();
  return [...events, { ...event, data: last?.data ?? [] }];
}

/** An event for the SDK, as it stands in a stream. */
export function toEventText({ name, id, retry, data }: ServerEvent): Buffer[] {
  const said =
    (retry === undefined ? '' : `retry: ${retry}\n`) + (id === undefined ? '' : `id: ${id}\n`);
  if (data === undefined) return said === '' ? [] : [Buffer.from(`${said}\n`)];
  const event = name === 'message' ? '' : `event: ${name}\n`;
  return [Buffer.from(`${said}${event}data: `), ...inLines(data), END];
}

/** Undefined: it is no JSON, or none that could be written again. */
function messagesOf(batch: string): string[] | undefined {
  try {
    const messages = JSON.parse(batch) as unknown;
    return Array.isArray(messages) ? messages.map((one) => JSON.stringify(one)) : undefined;
  } catch {
    return undefined;
  }
}

/** Data of several lines is several lines of data. */
function inLines(data: Bytes): Bytes {
  if (!data.some((block) => block.includes(NEW_LINE))) return data;
  return [Buffer.from(textOf(data).replaceAll('\n', '\ndata: '))];
}
