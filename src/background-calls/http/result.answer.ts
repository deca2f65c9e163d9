import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { toPublicId } from '../../common/ids.js';
import type { CallReader } from '../call-reader.js';
import { servedType } from '../results/media-type.js';
import { fileExtensionOf } from '../results/result-parts.js';
import type { ResultQuery } from './result.query.js';

export const RESULT_DESCRIPTION =
  'The CallToolResult of the MCP server, complete; of a call that failed with `output_limit` its ' +
  'beginning. With `part` one part of it, decoded and under its own content type: text as UTF-8 (NUL stays, a lone surrogate becomes U+FFFD), images and audio as ' +
  'bytes, an embedded resource as its text or bytes; everything else, what is not valid base64 and ' +
  'the `structuredContent` as JSON. Types that browsers run, such as HTML and SVG, and types that are ' +
  'not known come as `application/octet-stream`; a part is always an attachment. An unknown part is a ' +
  '404 that says how many there are. Of a call that runs, or ended without a result: 409 `no_result`.';

/** MCP servers are not trusted: nothing of theirs may run as a page of this service. */
const GUARDS = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' };

/** The answers of the operations that `sendResult` serves. */
export function ApiResult(): MethodDecorator {
  const binary = { schema: { type: 'string' as const, format: 'binary' } };
  return applyDecorators(
    ApiOkResponse({
      description: 'The CallToolResult, or a part of it',
      headers: {
        'Content-Disposition': {
          description: 'Of a part: `attachment`, with the name of a file',
          schema: { type: 'string' },
        },
      },
      content: {
        'application/json': { schema: {} },
        'text/plain': { schema: { type: 'string' } },
        'application/octet-stream': binary,
        'image/*': binary,
        'audio/*': binary,
      },
    }),
  );
}

/** Answers the whole result of a call or the part that was asked for. */
export async function sendResult(
  reader: CallReader,
  call: { id: string; appId: string | undefined },
  { part }: ResultQuery,
  reply: FastifyReply,
): Promise<Buffer> {
  void reply.headers(GUARDS);
  if (part === undefined) {
    void reply.type('application/json; charset=utf-8');
    return reader.result(call.id, call.appId);
  }
  const content = await reader.resultPart(call.id, call.appId, part);
  const name = `${toPublicId('bgc', call.id)}-${part}.${fileExtensionOf(content)}`;
  void reply.header('content-disposition', `attachment; filename="${name}"`);
  void reply.header('content-type', servedType(content.mimeType));
  const { body } = content;
  return typeof body === 'string' ? Buffer.from(body) : body;
}
