import { setImmediate as nextTurn } from 'node:timers/promises';
import { ignore } from '../../../common/ignore.js';

/** After the end of a body the SDK still has to read what came last. */
export const READ_REST_MS = 250;

/** How a response body came to its end. */
export interface BodyEnd {
  /** Whether anything at all came. */
  hadContent: boolean;
  /** Why it did not come whole; undefined at a regular end. */
  error: unknown;
}

/** What is read of a body as it comes; throws when it does not want any more of it. */
export type BodyReading = (
  chunks: AsyncIterable<Uint8Array>,
) => AsyncGenerator<Uint8Array, void, undefined>;

/**
 * The response with what `reading` makes of its body; `onEnd` is told once when that is over, however it
 * comes about. What is not wanted is not received either: the connection is closed.
 */
export function watchBody(
  response: Response,
  reading: BodyReading,
  onEnd: (end: BodyEnd) => void,
): Response {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) {
    onEnd({ hadContent: false, error: undefined });
    return response;
  }
  let hadContent = false;
  let isOver = false;
  const end = (error: unknown): void => {
    if (!isOver) onEnd({ hadContent, error });
    isOver = true;
  };
  async function* received(from: NonNullable<typeof reader>): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { value, done } = await from.read();
      if (done) return;
      hadContent = true;
      yield value;
    }
  }
  const chunks = reading(received(reader));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        if (!done) return controller.enqueue(value);
        controller.close();
        end(undefined);
      } catch (error) {
        // In pipes an error overtakes what came before it.
        await nextTurn();
        end(error);
        controller.error(error);
      }
      await reader.cancel().catch(ignore);
    },
    async cancel(reason) {
      end(undefined);
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
