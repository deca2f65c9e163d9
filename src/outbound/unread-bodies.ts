import { Readable } from 'node:stream';

/**
 * Ends the body of a response that was dropped without being read: else it would hold its connection for as
 * long as the other side likes. As with `fetch`, who takes the body and drops the response has to read at once.
 */
const dropped = new FinalizationRegistry<ReadableStream>((body) => void endUnread(body));

export function endWhenDropped(response: Response): Response {
  if (response.body !== null) dropped.register(response, response.body as ReadableStream);
  return response;
}

/** Never rejects, nor touches a body that somebody has begun to read. */
export async function endUnread(body: ReadableStream): Promise<void> {
  if (body.locked || Readable.isDisturbed(body as never)) return;
  // One that has broken by now says so once more: there is nobody left to be told.
  await body.cancel().catch(() => undefined);
}
