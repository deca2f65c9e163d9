import { ERROR_BODY_MS, MAX_OTHER_BYTES } from '../answer-limits.js';
import { type Bytes, bufferOf, ByteStore, oneByOne } from '../streams/byte-store.js';
import { EventReader, type ServerEvent } from '../streams/event-reader.js';
import { LineSplitter } from '../streams/line-splitter.js';
import { OversizedAnswer } from '../streams/oversized-answer.js';
import { pacedEvents } from './paced-events.js';
import { type BodyReading, watchBody } from './watched-body.js';

/** Of an answer that says what went wrong; what comes later than that is not waited for. */
const MAX_ERROR_BYTES = 64 * 1_024;

/**
 * How the body of this response is read, so that nobody holds more of one message than it may have. The
 * SDK gets events when they are whole, and a single body when that is.
 */
export function readingOf(response: Response, maxBytes: number): BodyReading {
  if (!response.ok) return (chunks) => firstBytes(chunks, MAX_ERROR_BYTES);
  const isStream = response.headers
    .get('content-type')
    ?.toLowerCase()
    .startsWith('text/event-stream');
  return isStream === true
    ? (chunks) => wholeEvents(chunks, maxBytes)
    : (chunks) => wholeBody(chunks, maxBytes);
}

/** The response, which breaks off when it is longer than what is no result may be. */
export function limited(response: Response): Response {
  return watchBody(response, readingOf(response, MAX_OTHER_BYTES), () => undefined);
}

type Chunks = AsyncIterable<Uint8Array>;
type Read = AsyncGenerator<Uint8Array, void, undefined>;

/** @throws OversizedAnswer at an event of more than `maxBytes` */
async function* wholeEvents(chunks: Chunks, maxBytes: number): Read {
  const limit = (): number => maxBytes;
  let whole: ServerEvent[] = [];
  const events = new EventReader(limit, {
    onEvent: (event) => void whole.push(event),
    onLongLine: refuse,
    onLongLineEnd: () => undefined,
    onEndlessLine: (bytes) => refuse([], bytes),
  });
  const lines = new LineSplitter({ maxBytes: limit, endsAtReturn: true }, events);
  for await (const chunk of chunks) {
    lines.add(bufferOf(chunk));
    const came = whole;
    whole = [];
    yield* pacedEvents(came);
  }
}

/** @throws OversizedAnswer when it has more than `maxBytes` */
async function* wholeBody(chunks: Chunks, maxBytes: number): Read {
  const store = new ByteStore();
  for await (const chunk of chunks) {
    const bytes = store.length + chunk.length;
    store.add(bufferOf(chunk).subarray(0, maxBytes - store.length));
    if (bytes > maxBytes) refuse(store.take(), bytes);
  }
  yield* oneByOne(store.take());
}

async function* firstBytes(chunks: Chunks, maxBytes: number): Read {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ERROR_BODY_MS).unref();
  });
  try {
    const iterator = chunks[Symbol.asyncIterator]();
    for (let left = maxBytes; left > 0;) {
      const next = await Promise.race([iterator.next(), late]);
      if (next === undefined || next.done === true) return;
      yield next.value.subarray(0, left);
      left -= next.value.length;
    }
  } finally {
    clearTimeout(timer);
  }
}

function refuse(head: Bytes, bytes: number): never {
  throw new OversizedAnswer(head, bytes);
}
