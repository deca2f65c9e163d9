import { isEngineId } from '../../common/engine-id.js';
import { retryAfterMs } from './retry-after.js';
import type { SendOutcome, SendResult } from './send-outcome.js';

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 65_536;
const BUSY = new Set([409, 423, 425, 429, 503]);
const GONE = new Set([404, 410]);

/** What a receiver answered. */
export type WebhookAnswer = Pick<SendResult, 'outcome' | 'status' | 'error'>;

/**
 * Reads what a receiver answers; of what it says only the `turnId` beside a 2xx.
 * @throws what reading the answer throws: then it has not arrived.
 */
export async function readWebhookAnswer(response: Response, now: Date): Promise<WebhookAnswer> {
  const { status } = response;
  if (response.ok) return { status, ...toDelivered(await readJson(response)) };
  await response.body?.cancel();
  return { status, ...toRefused(response, now) };
}

function toDelivered(body: unknown): Omit<WebhookAnswer, 'status'> {
  const turnId = (body as { turnId?: unknown } | null | undefined)?.turnId ?? undefined;
  if (turnId === undefined || isEngineId(turnId))
    return { outcome: { kind: 'delivered', turnId }, error: null };
  const error = 'The turnId of the answer is no id: no turn was opened.';
  return { outcome: { kind: 'delivered', turnId: undefined }, error };
}

function toRefused({ status, headers }: Response, now: Date): Omit<WebhookAnswer, 'status'> {
  const outcome: SendOutcome = BUSY.has(status)
    ? { kind: 'busy', waitMs: retryAfterMs(headers.get('retry-after'), now) }
    : { kind: GONE.has(status) ? 'gone' : 'failed' };
  return { outcome, error: `HTTP ${status}` };
}

/** Undefined when there is no JSON, or too much of it. */
async function readJson(response: Response): Promise<unknown> {
  const bytes = await readAtMost(response, MAX_ANSWER_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    return undefined;
  }
}

async function readAtMost({ body }: Response, limit: number): Promise<Buffer | undefined> {
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  const chunks: Uint8Array[] = [];
  for (let size = 0; reader !== undefined;) {
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      return undefined;
    }
  }
  return Buffer.concat(chunks);
}
