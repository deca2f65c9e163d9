import { Readable } from 'node:stream';

/**
 * Ends the body of a response that was dropped without being read: else it would hold its connection for as
 * long as the other side likes. As with `fetch`, who takes the body and drops the response has to read at once.
 */
const dropped = new FinalizationRegistry<ReadableStream>((body) => {
  if (!body.locked && !Readable.isDisturbed(body as never)) void body.cancel();
});

export function endWhenDropped(response: Response): Response {
  if (response.body !== null) dropped.register(response, response.body as ReadableStream);
  return response;
}
