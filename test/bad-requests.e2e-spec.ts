import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { ApiResponse } from './support/api.js';
import { McpTestServer } from './support/mcp-server.js';
import { type FuzzedRequest, type OpenApi, RequestFuzzer } from './support/request-fuzzer.js';
import { KEYS } from './support/keys.js';
import { TestService } from './support/service.js';

/** Another seed makes other requests: FUZZ_SEED=7 npm test -- bad-requests */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const ROUNDS = Number(process.env['FUZZ_ROUNDS'] ?? 15);
const AT_ONCE = 10;
const ANSWERS_WITHIN_MS = 30_000;
/** What says that an upstream or the database failed, not the service. */
const ALLOWED = [502, 503, 504];

describe(`bad requests (seed ${SEED})`, () => {
  const openApi = parse(readFileSync('openapi.yaml', 'utf8')) as OpenApi;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let upstream: McpTestServer;
  let service: TestService;

  beforeAll(async () => {
    ajv.addSchema(openApi, 'openapi');
    upstream = await McpTestServer.start();
    service = await TestService.start();
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
  });

  it('are answered as openapi.yaml says, whatever is wrong with them', async () => {
    const fuzzer = new RequestFuzzer(openApi, SEED, await knownValues());
    const requests = Array.from({ length: ROUNDS }, () =>
      Object.entries(openApi.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          ...{ path, method, operation },
          request: fuzzer.request(method, path, operation),
        })),
      ),
    ).flat();
    const wrong: string[] = [];
    const next = requests[Symbol.iterator]();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const { path, method, request } of next) {
          const complaint = await send(request).then(
            (answer) => complaintAbout(answer, path, method),
            (error: unknown) => `no answer: ${String(error)}`,
          );
          if (complaint !== undefined) wrong.push(`${complaint} to ${JSON.stringify(request)}`);
        }
      }),
    );
    expect(wrong.map((line) => line.slice(0, 1_000))).toEqual([]);
    expect((await service.agent.get('/v1/messages')).status).toBe(200);
  }, 60_000);

  it.each(['HEAD', 'OPTIONS', 'PUT', 'TRACE', 'PROPFIND', 'POST', 'DELETE'])(
    'by the method %s never fail inside the service',
    async (method) => {
      for (const path of Object.keys(openApi.paths)) {
        if (openApi.paths[path]?.[method.toLowerCase()]) continue;
        const answer = await raw(`${method} ${path.replace(/[{}]/g, '')} HTTP/1.1`);
        expect([path, answer.slice(0, 10)]).toEqual([
          path,
          expect.stringMatching(/^HTTP\/1.1 [24]/),
        ]);
      }
    },
  );

  it.each([
    ['no HTTP', 'hello'],
    ['an unknown version', 'GET /v1/messages HTTP/9.9'],
    ['a target that is none', 'GET :// HTTP/1.1'],
    ['bytes that are no UTF-8', 'GET /v1/sessions/\xff\xfe/messages HTTP/1.1'],
    ['a length that is none', 'POST /v1/messages HTTP/1.1\r\ncontent-length: -1'],
    ['two lengths', 'POST /v1/messages HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2'],
    ['an odd chunk', 'POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz'],
    ['a header without a name', 'GET /v1/messages HTTP/1.1\r\n: x'],
    ['a header of 100 kB', `GET /v1/messages HTTP/1.1\r\nx: ${'x'.repeat(100_000)}`],
    ['a query of 10 kB', `GET /v1/messages?wait=${'9'.repeat(10_000)} HTTP/1.1`],
    ['10,000 parameters', `GET /v1/messages?${'wait=1&'.repeat(2_000)} HTTP/1.1`],
  ])('with %s are refused', async (_, start) => {
    expect((await raw(start)).slice(0, 10)).toMatch(/^HTTP\/1.1 4/);
  });

  async function knownValues(): Promise<Record<string, unknown[]>> {
    const engine = service.session('session-1');
    const running = await engine.callInBackground('gate', { name: 'known' });
    const ended = await engine.callInBackground('echo');
    await engine.get(ended.id, 10);
    const [message] = await engine.messages(10);
    const spare = await service.register('spare', 'http://127.0.0.1:9/mcp');
    return {
      sessionId: ['session-1', 'session-2'],
      callId: [running.id, ended.id],
      messageId: [message.id],
      serverId: [spare],
      turnId: ['turn-1', 'turn-2'],
      server: ['test'],
      tool: ['echo', 'fail'],
      arguments: [{ a: 1 }, { __proto__: null }],
      // Nobody shall wait for long here.
      wait: [0, 0.01, -1, 61, '', 'x', 1e308, '0x1'],
      timeoutSec: [1],
      maxWithProgressSec: [2],
    };
  }

  async function send({ method, path, headers, body }: FuzzedRequest): Promise<ApiResponse> {
    const key = path.startsWith('/admin') ? KEYS.BGC_ADMIN_KEY : KEYS.BGC_AGENT_KEY;
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      ...{ status: response.status, headers: response.headers, text, bytes: Buffer.from(text) },
      body: isJson ? JSON.parse(text) : text,
    };
  }

  /** Undefined: the answer is one of those that the operation may have. */
  function complaintAbout(answer: ApiResponse, path: string, method: string): string | undefined {
    const { status, body, text } = answer;
    // The target line and the headers are too long to be read: nobody knows which operation is meant.
    if (status === 431) return undefined;
    if (status >= 500 && !ALLOWED.includes(status)) return `${status} ${text}`;
    const place = `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`;
    const response = openApi.paths[path]?.[method]?.responses[status];
    if (!response) return `${status} is not in openapi.yaml: ${text}`;
    const shared = response.$ref?.slice(1);
    const { content } = shared
      ? (openApi.components.responses[shared.split('/').at(-1) ?? ''] ?? {})
      : response;
    const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
    if (!content) return text === '' ? undefined : `${status} has no body: ${text}`;
    if (!content[type]) return `${status} of type ${type}`;
    const schema = `openapi#${shared ?? place}/content/${type.replaceAll('/', '~1')}/schema`;
    const validate = ajv.getSchema(schema) ?? ajv.compile({ $ref: schema });
    return validate(body) ? undefined : `${status} ${ajv.errorsText(validate.errors)}: ${text}`;
  }

  /** Sends the beginning of a request, byte by byte as it is, and reads what comes back. */
  function raw(start: string): Promise<string> {
    const { port, hostname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.setTimeout(ANSWERS_WITHIN_MS, () => socket.destroy(new Error('no answer')));
    const end = `authorization: Bearer ${KEYS.BGC_AGENT_KEY}\r\nhost: x\r\nconnection: close`;
    socket.write(Buffer.from(`${start}\r\n${end}\r\n\r\n`, 'latin1'));
    return new Promise((resolve, reject) => {
      let received = '';
      socket.on('data', (data) => (received += data.toString('latin1')));
      socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)));
      socket.on('close', () => resolve(received));
    });
  }
});
