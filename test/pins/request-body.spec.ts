import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IsIn, IsInt, IsObject, Max } from 'class-validator';
import { IfGiven } from '../../src/common/http/if-given.decorator.js';
import fc from 'fast-check';
import { Audience } from '../../src/auth/http/audience.decorator.js';
import { CurrentApp } from '../../src/auth/http/current-app.decorator.js';
import { IsEngineId } from '../../src/common/http/is-engine-id.decorator.js';
import { Nested } from '../../src/common/http/nested.decorator.js';
import { PageQuery } from '../../src/common/http/page.query.js';
import { RawJson } from '../../src/common/http/raw-json.decorator.js';
import { currentRequestContext } from '../../src/common/request-context.js';
import { asAgent, PROBE_APP_ID, type ProbeApp, startProbeApp } from '../support/probe-app.js';

class ProbeWish {
  @IfGiven()
  @IsInt()
  @Max(10)
  autoAfterSec?: number;
}

class ProbeBody {
  @RawJson()
  @IsObject()
  arguments!: Record<string, unknown>;

  @IfGiven()
  @IsEngineId()
  turnId?: string;

  @IfGiven()
  @Nested(() => ProbeWish)
  background?: ProbeWish;
}

class ProbeEnd {
  @IfGiven()
  @IsIn([true, false])
  interrupted?: boolean;
}

class ProbeQuery extends PageQuery {
  @IfGiven()
  @IsIn(['running'])
  status?: string;
}

@Controller('probe')
@Audience('agent')
class ProbeController {
  @Post()
  @HttpCode(200)
  async echo(@Body() body: ProbeBody, @CurrentApp() appId: string): Promise<object> {
    await new Promise(setImmediate);
    const context = currentRequestContext();
    return { json: JSON.stringify(body.arguments), appId, requestId: context?.requestId };
  }

  @Post('end')
  @HttpCode(200)
  end(@Body() body: ProbeEnd): object {
    return { interrupted: body.interrupted ?? false, isDto: body instanceof ProbeEnd };
  }

  @Get()
  list(@Query() query: ProbeQuery): object {
    return query.toPageRequest();
  }
}

const NESTED = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('request bodies and queries', () => {
  let probe: ProbeApp;
  beforeAll(async () => {
    probe = await startProbeApp([ProbeController], { BGC_MAX_ARGUMENT_BYTES: '1024' });
  });
  afterAll(() => probe.close());

  const post = (payload: string, url = '/probe', headers: object = {}) =>
    probe.send({
      method: 'POST',
      url,
      payload,
      headers: { ...asAgent, 'content-type': 'application/json', ...headers },
    });
  const errorsOf = async (payload: string): Promise<unknown> => {
    const response = await post(payload);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_request', status: 400 });
    return (response.body as { errors: unknown }).errors;
  };

  it('hands arguments over with keys such as constructor, __proto__ and toString', async () => {
    const json = '{"a":[{"constructor":1,"__proto__":{"a":1},"toString":2,"hasOwnProperty":null}]}';
    const response = await post(`{"arguments":${json}}`);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ json, appId: PROBE_APP_ID });
  });

  it('hands any JSON object over unchanged', async () => {
    const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(anyObject, async (value) => {
        const json = JSON.stringify(value);
        fc.pre(Buffer.byteLength(json) < 60_000);
        const response = await post(`{"arguments":${json}}`);
        expect(response.body).toMatchObject({ json: JSON.stringify(JSON.parse(json)) });
      }),
      { numRuns: 200 },
    );
  });

  it('keeps the request context for the handler, also behind a body that arrives late', async () => {
    const port = Number(new URL(probe.origin).port);
    const headers = { ...asAgent, 'content-type': 'application/json', 'x-request-id': 'mine-1' };
    const late = request({ port, method: 'POST', path: '/probe', headers });
    late.setHeader('expect', '100-continue');
    late.flushHeaders();
    await once(late, 'continue');
    late.write('{"arguments"');
    await new Promise(setImmediate);
    late.end(':{}}');
    const [response] = (await once(late, 'response')) as [IncomingMessage];
    expect(response.headers['x-request-id']).toBe('mine-1');
    expect(await json(response)).toMatchObject({ requestId: 'mine-1' });
  });

  it('makes a request id where the given one is not harmless', async () => {
    const response = await post('{"arguments":{}}', '/probe', { 'x-request-id': 'a b"c' });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('takes arguments of 64 levels and refuses 65 and 5,000 with a pointer', async () => {
    expect((await post(`{"arguments":{"a":${NESTED(63)}}}`)).status).toBe(200);
    for (const levels of [64, 4_999])
      expect(await errorsOf(`{"arguments":{"a":${NESTED(levels)}}}`)).toEqual([
        { pointer: '/arguments', detail: 'must not be nested deeper than 64 levels' },
      ]);
  });

  it.each([
    ['malformed JSON', '{"arguments":', '', 'must be JSON in UTF-8'],
    ['a list', '[]', '', 'must be an object'],
    ['null', 'null', '', 'must be an object'],
    ['a missing field', '{}', '/arguments', 'is missing'],
    ['a list of arguments', '{"arguments":[]}', '/arguments', 'must be an object'],
    ['an unknown field', '{"arguments":{},"a/b~c":1}', '/a~1b~0c', 'is not a known field'],
    [
      'the field __proto__',
      '{"arguments":{},"__proto__":{}}',
      '/__proto__',
      'is not a known field',
    ],
    [
      'the field constructor',
      '{"arguments":{},"constructor":1}',
      '/constructor',
      'is not a known field',
    ],
    ['a nested list', '{"arguments":{},"background":[]}', '/background', 'must be an object'],
    ['a nested number', '{"arguments":{},"background":5}', '/background', 'must be an object'],
    [
      'a turn id with a slash',
      '{"arguments":{},"turnId":"a/b"}',
      '/turnId',
      /^must be 1–128 characters/,
    ],
    [
      'a nested value',
      '{"arguments":{},"background":{"autoAfterSec":11}}',
      '/background/autoAfterSec',
      'must not be greater than 10',
    ],
    [
      'an unknown nested field',
      '{"arguments":{},"background":{"x":1}}',
      '/background/x',
      'is not a known field',
    ],
  ])('refuses %s and names the place', async (_what, payload, pointer, detail) => {
    const expected = typeof detail === 'string' ? detail : expect.stringMatching(detail);
    expect(await errorsOf(payload)).toEqual([{ pointer, detail: expected }]);
  });

  it('refuses bytes that are not UTF-8 instead of changing them', async () => {
    const payload = Buffer.from('{"arguments":{"a":"\xff"}}', 'latin1');
    const headers = { ...asAgent, 'content-type': 'application/json' };
    const response = await probe.send({ method: 'POST', url: '/probe', payload, headers });
    expect(response.status).toBe(400);
  });

  it.each([undefined, 'application/json', 'application/x-www-form-urlencoded'])(
    'takes an empty body of type %s where the body is optional',
    async (type) => {
      const headers = { ...asAgent, ...(type && { 'content-type': type }) };
      const response = await probe.send({ method: 'POST', url: '/probe/end', headers });
      expect(response.body).toEqual({ interrupted: false, isDto: true });
    },
  );

  it('answers 413 to a body over the limit', async () => {
    const response = await post(`{"arguments":{"a":"${'x'.repeat(70_000)}"}}`);
    expect(response.status).toBe(413);
    expect(response.body).toMatchObject({ code: 'payload_too_large', status: 413 });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense'])(
    'answers 415 to a body of type %s',
    async (type) => {
      const response = await post('{"arguments":{}}', '/probe', { 'content-type': type });
      expect(response.status).toBe(415);
      expect(response.body).toMatchObject({ code: 'unsupported_media_type' });
    },
  );

  it('reads a page query with its defaults', async () => {
    const response = await probe.send({ url: '/probe', headers: asAgent });
    expect(response.body).toEqual({ limit: 20, order: 'desc' });
  });

  it.each([
    ['limit=abc', '?limit'],
    ['limit=0', '?limit'],
    ['limit=101', '?limit'],
    ['limit=1.5', '?limit'],
    ['limit=', '?limit'],
    ['limit=1&limit=2', '?limit'],
    ['order=up', '?order'],
    ['after=abc', '?after'],
    [
      `after=${Buffer.from(`2026-02-30T00:00:00.000Z ${PROBE_APP_ID}`).toString('base64url')}`,
      '?after',
    ],
    ['status=gone', '?status'],
    ['statsu=running', '?statsu'],
    ['constructor=1', '?constructor'],
    ['__proto__=1', '?__proto__'],
  ])('refuses the query %s', async (query, pointer) => {
    const response = await probe.send({ url: `/probe?${query}`, headers: asAgent });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] });
  });
});
