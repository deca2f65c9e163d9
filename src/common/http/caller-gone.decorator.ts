import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/**
 * An AbortSignal that aborts when the connection ends before the whole response was written, or has ended already.
 * It has aborted for HEAD, which every GET answers as well: what would be handed out reaches nobody.
 */
export const CallerGone = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const { raw, request } = context.switchToHttp().getResponse<FastifyReply>();
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  if (raw.destroyed || request.method === 'HEAD') gone.abort();
  return gone.signal;
});
