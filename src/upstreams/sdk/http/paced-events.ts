import { setImmediate as nextTurn } from 'node:timers/promises';
import { oneByOne, textOf } from '../streams/byte-store.js';
import type { ServerEvent } from '../streams/event-reader.js';
import { MESSAGES_PER_TURN } from '../streams/message-pace.js';
import { overtakenProgress } from '../streams/overtaken-progress.js';
import { toEventText, withoutBatch } from './event-text.js';

interface Said {
  id?: string | undefined;
  retry?: string | undefined;
}

/** As in a comment, which keeps a connection alive: it is no answer either. */
const NO_MESSAGE = { method: '' };
/** More than progress has; what is longer is not looked into. */
const LOOKED_INTO_BYTES = 16 * 1_024;
/** As much is handed on in one piece: each piece costs more than its bytes. */
const PIECE_BYTES = 16 * 1_024;

/**
 * Events that came together, as text for the SDK: without progress that others of them overtake, and with
 * turns for everything else in between.
 */
export async function* pacedEvents(came: ServerEvent[]): AsyncGenerator<Buffer, void, undefined> {
  const events = withoutOvertaken(came.flatMap(withoutBatch));
  came.length = 0;
  while (events.length > 0) {
    yield* oneByOne(joined(events.splice(0, MESSAGES_PER_TURN).flatMap(toEventText)));
    if (events.length > 0) await nextTurn();
  }
}

/** What an event says about the stream stays, though its message goes. */
function withoutOvertaken(events: ServerEvent[]): ServerEvent[] {
  if (events.length < 2) return events;
  const overtaken = overtakenProgress(events.map(messageOf));
  const kept: ServerEvent[] = [];
  let said: Said = {};
  for (const [n, event] of events.entries()) {
    const { id = said.id, retry = said.retry } = event;
    said = { id, retry };
    if (overtaken.has(n)) continue;
    if (event.id === undefined && id !== undefined)
      kept.push({ name: 'message', id, retry: undefined, data: [] });
    kept.push({ ...event, retry });
    said = {};
  }
  return kept;
}

function messageOf({ name, data }: ServerEvent): unknown {
  if (name !== 'message' || data === undefined) return NO_MESSAGE;
  const bytes = data.reduce((sum, block) => sum + block.length, 0);
  if (bytes > LOOKED_INTO_BYTES) return undefined;
  try {
    return JSON.parse(textOf(data));
  } catch {
    return undefined;
  }
}

function joined(blocks: Buffer[]): Buffer[] {
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return bytes > PIECE_BYTES || bytes === 0 ? blocks : [Buffer.concat(blocks)];
}
