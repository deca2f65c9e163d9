import { connect } from 'node:net';
import { once } from 'node:events';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Public } from '../../src/auth/http/public.decorator.js';
import { DomainError } from '../../src/common/domain-error.js';
import type { ErrorCode } from '../../src/common/error-code.js';
import { EngineIdPipe } from '../../src/common/http/engine-id.pipe.js';
import { PROBLEM_KINDS } from '../../src/common/http/problem-status.js';
import { PublicIdPipe } from '../../src/common/http/public-id.pipe.js';
import { asAgent, type ProbeApp, startProbeApp } from '../support/probe-app.js';

class ProbeError extends DomainError {
  constructor(readonly code: ErrorCode) {
    super('Told.', {
      retryAfterSec: 1.2,
      errors: [{ pointer: '/a', detail: 'b' }],
      extensions: { outcomeUnknown: true, status: 'never wins' },
    });
  }
}

@Controller('probe')
class ProbeController {
  @Get('fail/:code')
  @Public()
  fail(@Param('code') code: ErrorCode): never {
    throw new ProbeError(code);
  }

  @Get('surprise')
  @Public()
  surprise(): never {
    throw new Error('password=secret in select * from api_keys');
  }

  @Get('strange/:what')
  @Public()
  strange(@Param('what') what: string): never {
    const thrown: unknown =
      what === 'undefined' ? undefined : { statusCode: 400, message: 'not ours' };
    throw thrown;
  }

  @Post('calls/:id')
  @Public()
  call(@Param('id', new PublicIdPipe('bgc')) id: string): object {
    return { id };
  }

  @Get('sessions/:id')
  @Public()
  session(@Param('id', EngineIdPipe) id: string): object {
    return { id };
  }
}

/** The whole contract: a change here is a change of the API. */
const TABLE: [ErrorCode, number][] = [
  ['invalid_request', 400],
  ['unauthorized', 401],
  ['forbidden', 403],
  ['command_not_allowed', 403],
  ['not_found', 404],
  ['server_not_found', 404],
  ['method_not_allowed', 405],
  ['request_timeout', 408],
  ['conflict', 409],
  ['delivery_by_webhook', 409],
  ['message_delivered', 409],
  ['message_discarded', 409],
  ['turn_interrupted', 409],
  ['call_cancelled', 409],
  ['no_result', 409],
  ['input_not_required', 409],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
  ['limit_reached', 429],
  ['headers_too_large', 431],
  ['internal_error', 500],
  ['upstream_error', 502],
  ['upstream_lost', 502],
  ['outbound_refused', 502],
  ['upstream_unreachable', 502],
  ['output_limit', 502],
  ['database_unavailable', 503],
  ['draining', 503],
  ['timeout', 504],
];

describe('problem answers', () => {
  let probe: ProbeApp;
  beforeAll(async () => {
    probe = await startProbeApp([ProbeController]);
  });
  afterAll(() => probe.close());

  it('are pinned, code by code', () => {
    const actual = Object.entries(PROBLEM_KINDS).map(([code, { status }]) => [code, status]);
    expect(actual).toEqual(TABLE);
  });

  it.each(TABLE)('carry %s with status %i in the RFC 9457 shape', async (code, status) => {
    const response = await probe.send({
      url: `/probe/fail/${code}?token=secret`,
      headers: { 'x-request-id': 'req-1' },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(response.headers.get('x-request-id')).toBe('req-1');
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(response.body).toEqual({
      type: `urn:background-calls:problem:${code}`,
      title: PROBLEM_KINDS[code].title,
      status,
      detail: 'Told.',
      instance: `/probe/fail/${code}`,
      code,
      requestId: 'req-1',
      errors: [{ pointer: '/a', detail: 'b' }],
      outcomeUnknown: true,
    });
  });

  it('tell nothing of an unexpected error, which is logged once', async () => {
    probe.logger.errors.length = 0;
    const response = await probe.send({ url: '/probe/surprise' });
    expect(response.status).toBe(500);
    expect(response.body).toMatchObject({ code: 'internal_error', errors: [] });
    expect(response.text).not.toMatch(/secret|select/);
    expect(probe.logger.errors).toEqual(['request.failed']);
  });

  it.each(['undefined', 'object'])('survive that something strange is thrown: %s', async (what) => {
    const response = await probe.send({ url: `/probe/strange/${what}` });
    expect(response.body).toMatchObject({ code: 'internal_error', status: 500 });
  });

  it('say the same for an unknown address, a malformed id and an over-long one', async () => {
    const urls = [
      '/nowhere',
      '/probe/calls/bgc_1',
      `/probe/calls/msg_${'0'.repeat(26)}`,
      `/probe/calls/${'x'.repeat(2_000)}`,
      '/probe/calls/%00',
    ];
    const answers = await Promise.all(urls.map((url) => probe.send({ method: 'POST', url })));
    for (const [index, { status, body }] of answers.entries()) {
      const { requestId, instance, ...rest } = body as Record<string, unknown>;
      expect({ status, requestId, instance }).toEqual({
        status: 404,
        requestId: expect.any(String),
        instance: urls[index],
      });
      expect(rest).toEqual({
        type: 'urn:background-calls:problem:not_found',
        title: 'Not found',
        status: 404,
        detail: 'There is nothing at this address, or this key may not see it.',
        code: 'not_found',
        errors: [],
      });
    }
  });

  it.each([
    ['s1', 200],
    ['a.b_c:d@e-f', 200],
    ['a%40b', 200],
    ['x'.repeat(128), 200],
    ['x'.repeat(129), 404],
    ['a%2Fb', 404],
    ['a%20b', 404],
    ['%E4%BD%A0', 404],
    ['...', 200],
    ['%2E%2E', 404],
  ])('of a session id %s: %i', async (id, status) => {
    expect((await probe.send({ url: `/probe/sessions/${id}` })).status).toBe(status);
  });

  it('a caller that breaks off while it sends the body is nothing to log', async () => {
    probe.logger.errors.length = 0;
    await breakOff(probe.origin);
    await probe.send({ url: '/probe/sessions/s1' });
    expect(probe.logger.errors).toEqual([]);
  });

  it('a method that an address does not have is a 404', async () => {
    const response = await probe.send({ method: 'PUT', url: '/probe/surprise', headers: asAgent });
    expect(response.body).toMatchObject({ code: 'not_found' });
  });

  it.each(['/probe/calls/%zz', '/%', '/probe/sessions/%c3'])(
    'malformed URL %s is a 400',
    async (url) => {
      const response = await raw(probe.origin, `GET ${url} HTTP/1.1\r\nhost: x\r\n`);
      expect(response).toMatch(/^HTTP\/1.1 400 /);
      expect(response).toMatch(/x-request-id: .+\r\n/i);
      expect(bodyOf(response)).toMatchObject({ code: 'invalid_request', status: 400 });
    },
  );

  it('what is not HTTP gets a problem too', async () => {
    const response = await raw(probe.origin, 'GET / HTTP/1.1\r\nbroken header\r\n');
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(bodyOf(response)).toMatchObject({ code: 'invalid_request', errors: [] });
  });

  it('headers over the limit of the server are a 431', async () => {
    const response = await raw(probe.origin, `GET / HTTP/1.1\r\nx-a: ${'x'.repeat(20_000)}\r\n`);
    expect(bodyOf(response)).toMatchObject({ code: 'headers_too_large', status: 431 });
  });
});

/** Sends half of a body and breaks off; resolves when the service has noticed. */
async function breakOff(origin: string): Promise<void> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  await once(socket, 'connect');
  const head = 'POST /probe/calls/x HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  socket.write(`${head}content-length: 100\r\n\r\n{"half":`);
  socket.end();
  socket.resume();
  await once(socket, 'close');
}

async function raw(origin: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(`${head}connection: close\r\n\r\n`);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

function bodyOf(response: string): unknown {
  return JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4));
}
