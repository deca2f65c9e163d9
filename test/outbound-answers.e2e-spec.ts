import { getEventListeners, getMaxListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fetch as undiciFetch } from 'undici';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import { OutboundPolicy } from '../src/outbound/outbound-policy.js';

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Longer than what waits for a reader, in chunks whose contents say where they belong. */
const LONG = Buffer.from(Array.from({ length: 200_000 }, (_, n) => `line ${n}\n`).join(''));

const COLLECTED_WITHIN_MS = 30_000;
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Not by its class: the test runner has another one. */
const TYPE_ERROR = { name: 'TypeError' };

let server: Server;
let answer: RequestListener;
let requests: { request: IncomingMessage; body: string }[];
let url: string;
let outbound: OutboundHttp;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ request, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  outbound = new OutboundHttp(new OutboundPolicy(['127.0.0.1']));
});
afterAll(async () => {
  await outbound.onApplicationShutdown();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  answer = (_, response) => response.end('fine');
});

/** What holds for `fetch` itself has to hold for ours. */
describe.each<[string, Fetch]>([
  ['fetch', (to, init) => undiciFetch(to, { redirect: 'manual', ...init } as object)],
  ['OutboundHttp', (to, init) => outbound.fetch(to, init)],
])('an answer that %s gives', (_name, send) => {
  it('has its status, its phrase, its headers and its body', async () => {
    answer = (_, response) => {
      response.writeHead(418, 'Short and stout', [
        ...['content-type', 'application/json', 'X-Name', 'caf\xe9'],
        ...['set-cookie', 'a=1', 'set-cookie', 'b=2', 'x-twice', '1', 'x-twice', '2'],
      ]);
      response.end('{"is":"tea"}');
    };
    const got = await send(url);
    expect([got.status, got.ok, got.statusText]).toEqual([418, false, 'Short and stout']);
    expect(got.headers.get('Content-Type')).toBe('application/json');
    expect(got.headers.get('x-name')).toBe('caf\xe9');
    expect(got.headers.get('x-twice')).toBe('1, 2');
    expect(got.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(got.headers.get('x-none')).toBeNull();
    expect(await got.json()).toEqual({ is: 'tea' });
    expect(got.bodyUsed).toBe(true);
    await expect(got.text()).rejects.toMatchObject(TYPE_ERROR);
  });

  it('comes whole, in order, however slowly it is read', async () => {
    answer = (_, response) => response.end(LONG);
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await send(url)).body!) {
      chunks.push(chunk);
      await new Promise(setImmediate);
    }
    expect(Buffer.concat(chunks).equals(LONG)).toBe(true);
    expect(Buffer.from(await (await send(url)).arrayBuffer()).equals(LONG)).toBe(true);
  });

  it.each([204, 205, 304])('has no body with the status %i', async (status) => {
    answer = (_, response) => response.writeHead(status).end();
    // Ours refuses what looks like a redirect.
    const got = await send(url).catch((error: Error) => error);
    if (got instanceof Error) expect(got).toMatchObject({ status: 304 });
    else expect([got.status, got.body]).toEqual([status, null]);
  });

  it('is not what an informational answer says', async () => {
    answer = (_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('final');
    };
    const got = await send(url);
    expect([got.status, await got.text()]).toEqual([200, 'final']);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['X-GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', (bytes) => brotliCompressSync(bytes, FAST)],
    ['deflate, gzip', (bytes) => gzipSync(deflateSync(bytes))],
    ['rot13', (bytes) => bytes],
    ['gzip, rot13', (bytes) => bytes],
  ])('is decompressed: %s', async (coding, compress) => {
    answer = (_, response) => {
      response.setHeader('content-encoding', coding).end(compress(LONG));
    };
    const got = Buffer.from(await (await send(url)).arrayBuffer());
    expect(got.equals(LONG)).toBe(true);
  });

  it('fails when it was compressed too often', async () => {
    answer = (_, response) => {
      response.setHeader('content-encoding', 'gzip,gzip,gzip,gzip,gzip,gzip').end('x');
    };
    await expect(send(url)).rejects.toMatchObject(TYPE_ERROR);
  });

  it('fails while it is read when it is not compressed as it says', async () => {
    answer = (_, response) => {
      response.setHeader('content-encoding', 'gzip').end('not at all');
    };
    const error = await (await send(url)).text().catch((thrown: Error) => thrown);
    expect((error as Error).cause ?? error).toMatchObject({ code: 'Z_DATA_ERROR' });
  });

  it('fails with the reason of the abort when none has come yet', async () => {
    const cut = new AbortController();
    answer = () => cut.abort(new Error('enough'));
    await expect(send(url, { signal: cut.signal })).rejects.toThrow('enough');
    await expect(send(url, { signal: cut.signal })).rejects.toThrow('enough');
    expect(requests).toHaveLength(1);
    await expect(send(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('breaks off with the abort while it streams, and its connection with it', async () => {
    const cut = new AbortController();
    let isClosed: Promise<unknown> | undefined;
    answer = (_, response) => {
      isClosed = once(response, 'close');
      response.write('begun');
    };
    const reader = (await send(url, { signal: cut.signal })).body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('begun');
    const next = expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
    cut.abort();
    await next;
    await isClosed;
  });

  it.each<[string, RequestListener]>([
    ['in chunks', (_, response) => response.write('begun', () => response.destroy())],
    [
      'compressed',
      (_, response) => {
        const begun = gzipSync(LONG).subarray(0, 1_000);
        response.setHeader('content-encoding', 'gzip').write(begun, () => response.destroy());
      },
    ],
    [
      'of a length',
      (_, response) =>
        response.setHeader('content-length', 10).write('begun', () => response.socket?.end()),
    ],
  ])('fails when the connection breaks before its end: %s', async (_how, breaking) => {
    answer = breaking;
    await expect((await send(url)).text()).rejects.toMatchObject({
      message: 'terminated',
      cause: expect.objectContaining({ code: expect.stringMatching(/^(UND_ERR|ECONN)/) }),
    });
  });

  it('fails when nothing has come and the connection breaks', async () => {
    answer = (_, response) => response.destroy();
    await expect(send(url)).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: expect.objectContaining({ code: 'UND_ERR_SOCKET' }),
    });
  });

  it('fails when nobody listens, and says so in the cause', async () => {
    await expect(send(await deadUrl())).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: expect.objectContaining({ code: 'ECONNREFUSED', syscall: 'connect' }),
    });
  });

  it('closes its connection when the rest of it is not wanted', async () => {
    let isClosed: Promise<unknown> | undefined;
    answer = (_, response) => {
      isClosed = once(response, 'close');
      response.write(LONG);
    };
    await (await send(url)).body!.cancel();
    await isClosed;
  });

  it('closes its connection when it is dropped without being read', async () => {
    let isClosed: Promise<unknown> | undefined;
    answer = (_, response) => {
      isClosed = once(response, 'close');
      response.write(LONG);
    };
    await (async () => void (await send(url)))();
    await collecting(isClosed!);
  });

  it('is not there for a request that can be no request', async () => {
    for (const header of [
      ['name', 'a\nb'],
      ['name', 'a\0'],
      ['name', '日'],
      ['na me', 'a'],
    ] satisfies [string, string][])
      await expect(send(url, { headers: [header] })).rejects.toMatchObject(TYPE_ERROR);
    const { host } = new URL(url);
    for (const to of [`http://user:pass@${host}/`, 'http://127.0.0.1:25/', 'ftp://127.0.0.1/', '/'])
      await expect(send(to)).rejects.toMatchObject(TYPE_ERROR);
    await expect(send(url, { method: 'GE T' })).rejects.toMatchObject(TYPE_ERROR);
    expect(requests).toEqual([]);
  });

  it('answers a request that was sent as it was said', async () => {
    const headers = new Headers({ 'x-mine': 'caf\xe9', 'Content-Type': 'text/plain' });
    await (await send(`${url}a b?c=d&e?#f`, { method: 'post', headers, body: '日本' })).text();
    await (await send(`${url}?`, { method: 'PUT', body: Buffer.from('ab').subarray(1) })).text();
    await (await send(url, { method: 'DELETE' })).text();
    expect(requests.map(({ request: { method, url }, body }) => [method, url, body])).toEqual([
      ['POST', '/a%20b?c=d&e?', '日本'],
      ['PUT', '/?', 'b'],
      ['DELETE', '/', ''],
    ]);
    expect(requests[0]?.request.headers).toMatchObject({
      'x-mine': 'caf\xe9',
      'content-type': 'text/plain',
      'content-length': '6',
      accept: '*/*',
      'accept-encoding': 'gzip, deflate',
    });
  });
});

describe('an answer that OutboundHttp gives', () => {
  it('fails when it ends in the middle of what was compressed', async () => {
    answer = (_, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync(LONG).subarray(0, -100));
    };
    await expect((await outbound.fetch(url)).text()).rejects.toThrow('unexpected end of file');
  });

  it.each<[string, Buffer]>([
    ['gzip', gzipSync('begun', { finishFlush: constants.Z_SYNC_FLUSH })],
    ['deflate', deflateSync('begun', { finishFlush: constants.Z_SYNC_FLUSH })],
    ['br', brotliCompressSync('begun', { finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ])('shows what has come of it although more is to come: %s', async (coding, begun) => {
    answer = (_, response) => response.setHeader('content-encoding', coding).write(begun);
    const reader = (await outbound.fetch(url)).body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('begun');
    await reader.cancel();
  });

  it('holds back the other side while nobody reads it', async () => {
    const listen = (how: { isSent: boolean }): void => {
      answer = (_, response) => {
        for (let n = 0; n < 20; n++) response.write(LONG);
        response.end(() => (how.isSent = true));
      };
    };
    const [unread, read] = [{ isSent: false }, { isSent: false }];
    listen(unread);
    const held = await outbound.fetch(url);
    listen(read);
    await (await outbound.fetch(url)).arrayBuffer();
    expect([unread.isSent, read.isSent]).toEqual([false, true]);
    await held.body!.cancel();
  });

  it('that was sent in thousands of pieces is read in few', async () => {
    answer = (_, response) => {
      response.cork();
      for (let n = 0; n < 5_000; n++) response.write(`piece ${n}\n`);
      response.end();
    };
    const read: Uint8Array[] = [];
    for await (const chunk of (await outbound.fetch(url)).body!) read.push(chunk);
    expect(Buffer.concat(read).toString().trim().split('\n').at(-1)).toBe('piece 4999');
    expect(Buffer.concat(read)).toHaveLength(53_890);
    expect(read.length).toBeLessThan(500);
  });

  it('and breaks off is read as far as it came', async () => {
    let isCut: () => void = () => undefined;
    const cut = new Promise<void>((resolve) => (isCut = resolve));
    answer = (_, response) => {
      response.on('close', isCut).write('all that was wanted', () => response.destroy());
    };
    const response = await outbound.fetch(url);
    await cut;
    answer = (_, other) => other.end();
    // What was cut before has been seen when this one is answered.
    await (await outbound.fetch(url)).text();
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('all that was wanted');
    await expect(reader.read()).rejects.toMatchObject({ ...TYPE_ERROR, message: 'terminated' });
  });

  it('is one of many that hang on one signal, which is nothing to warn of', async () => {
    const { signal } = new AbortController();
    await (await outbound.fetch(url, { signal })).text();
    expect(getMaxListeners(signal)).toBe(Infinity);
  });

  it('leaves nothing on the signal of its request', async () => {
    const { signal } = new AbortController();
    await (await outbound.fetch(url, { signal })).text();
    answer = (_, response) => response.write('begun');
    await (await outbound.fetch(url, { signal })).body!.cancel();
    await outbound.fetch(await deadUrl(), { signal }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leaves its connection to the next request, also when there was nothing to read', async () => {
    const fresh = new OutboundHttp(new OutboundPolicy(['127.0.0.1']));
    answer = (_, response) => response.writeHead(202).end();
    await (await fresh.fetch(url)).body?.cancel();
    answer = (_, response) => response.end('fine');
    await (await fresh.fetch(url)).text();
    await (await fresh.fetch(url)).text();
    expect(new Set(requests.map(({ request }) => request.socket)).size).toBe(1);
    await fresh.onApplicationShutdown();
  });

  it.each(['999', '600', '101', '000'])('is none when its status is %s', async (status) => {
    answer = (_, response) => {
      response.socket?.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 1\r\n\r\nx`);
    };
    await expect(outbound.fetch(url)).rejects.toMatchObject({
      ...{ name: 'TypeError', message: 'fetch failed' },
      cause: { message: `it answered with status ${Number(status)}, which is none of an answer` },
    });
  });

  it('takes a body of text or bytes only', async () => {
    const body = new ReadableStream();
    await expect(outbound.fetch(url, { method: 'POST', body })).rejects.toMatchObject(TYPE_ERROR);
    expect(requests).toEqual([]);
  });

  it.each([
    ['/elsewhere?token=secret', () => `another address of ${new URL(url).origin}`],
    ['https://u:secret@else.test:8443/secret?token=secret', () => 'https://else.test:8443'],
    ['data:text/plain,secret', () => 'an address of data:'],
    ['http://[secret', () => 'what is no address'],
  ])('is no redirect, and says no more of it than where it leads: %s', async (location, place) => {
    answer = (_, response) => response.writeHead(302, { location }).end('x');
    await expect(outbound.fetch(url)).rejects.toMatchObject({
      status: 302,
      message: `HTTP 302: a redirect to ${place()} is not followed`,
    });
    expect(requests).toHaveLength(1);
  });
});

/** Nobody listens there: it has just been closed. */
async function deadUrl(): Promise<string> {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  return `http://127.0.0.1:${port}/`;
}

/** Collects garbage until this happens, or it never will. */
async function collecting(event: Promise<unknown>): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let hasHappened = false;
  void event.then(() => (hasHappened = true));
  const deadline = performance.now() + COLLECTED_WITHIN_MS;
  while (!hasHappened && performance.now() < deadline) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(hasHappened).toBe(true);
}
