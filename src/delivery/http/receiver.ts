import type { FastifyReply } from 'fastify';

/** Aborted when the connection closes before the whole answer was written to it. */
export function receiverGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  if (reply.raw.destroyed) gone.abort();
  return gone.signal;
}

/** Calls `handler` when the receiver goes away, at once when it has gone already. */
export function whenGone(gone: AbortSignal, handler: () => void): void {
  if (gone.aborted) handler();
  else gone.addEventListener('abort', handler, { once: true });
}
