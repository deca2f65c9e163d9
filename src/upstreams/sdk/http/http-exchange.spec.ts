import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import { HttpExchange, MAX_RESUMES } from './http-exchange.js';

const POST = { method: 'POST' };
const GET = { method: 'GET' };

describe('The exchange of a call', () => {
  let answers: (Response | Error)[];
  let signals: AbortSignal[];
  let failures: UpstreamFailure[];
  let exchange: HttpExchange;

  beforeEach(() => {
    jest.useFakeTimers();
    answers = [];
    signals = [];
    failures = [];
    exchange = new HttpExchange(
      {
        http: new FakeHttp(answers, signals) as never,
        hasSession: true,
        traceparent: undefined,
        maxAnswerBytes: 1_000,
      },
      (failure) => failures.push(failure),
      () => undefined,
    );
  });
  afterEach(() => {
    exchange.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const send = async (init: RequestInit, answer: Response | Error): Promise<Response> => {
    answers.push(answer);
    return exchange.fetch('http://upstream/', init);
  };
  const readAll = async (init: RequestInit, answer: Response): Promise<void> => {
    await (await send(init, answer)).text();
    await jest.advanceTimersByTimeAsync(1_000);
  };

  it('is lost when its stream ends without an answer', async () => {
    await readAll(POST, new Response('event: ping\n\n'));
    expect(failures).toEqual([
      expect.objectContaining({ code: 'upstream_lost', outcomeUnknown: true }),
    ]);
  });

  it('is not lost when its stream can be resumed', async () => {
    const response = await send(POST, new Response('id: 1\n\n'));
    exchange.sendOptions.onresumptiontoken('1');
    await response.text();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(failures).toEqual([]);
  });

  it('is lost at the first resumption that is refused', async () => {
    await send(GET, new Response('who?', { status: 404 }));
    expect(failures).toHaveLength(1);
  });

  it('is lost after resumptions in a row that bring nothing, not before', async () => {
    for (let n = 1; n < MAX_RESUMES; n++) await readAll(GET, new Response(''));
    await readAll(GET, new Response('id: 2\n\n'));
    for (let n = 1; n < MAX_RESUMES; n++)
      await expect(send(GET, new TypeError('fetch failed'))).rejects.toThrow();
    expect(failures).toEqual([]);
    await send(GET, new Response('', { status: 503 }));
    expect(failures).toHaveLength(1);
  });

  it('says why when what came could not be read', async () => {
    const response = await send(POST, new Response('data: {\n\n'));
    exchange.failed(new SyntaxError('Unexpected end'));
    await response.text();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(failures).toEqual([
      expect.objectContaining({
        code: 'upstream_error',
        message: expect.stringContaining('Unexpected end'),
        outcomeUnknown: true,
      }),
    ]);
  });

  it('is lost like any other when something came after what could not be read', async () => {
    const response = await send(POST, new Response('data: {\n\n'));
    exchange.failed(new SyntaxError('Unexpected end'));
    exchange.received({ jsonrpc: '2.0', method: 'notifications/message' });
    await response.text();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(failures).toEqual([expect.objectContaining({ code: 'upstream_lost' })]);
  });

  it('is lost like any other when its stream breaks after what could not be read', async () => {
    let breakOff: (error: Error) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => (breakOff = (error) => controller.error(error)),
    });
    const headers = { 'content-type': 'text/event-stream' };
    const reading = (await send(POST, new Response(body, { headers }))).text();
    exchange.failed(new SyntaxError('Unexpected end'));
    breakOff(new TypeError('terminated'));
    await expect(reading).rejects.toThrow('terminated');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(failures).toEqual([expect.objectContaining({ code: 'upstream_lost' })]);
  });

  it('resumes nothing after its end', async () => {
    await readAll(POST, new Response('data: {}\n\n'));
    exchange.end();
    expect((await exchange.fetch('http://upstream/', GET)).status).toBe(405);
    expect(signals).toHaveLength(1);
  });

  it('closes a stream that the upstream leaves open, a second after the end', async () => {
    await send(POST, new Response(new ReadableStream()));
    exchange.end();
    await jest.advanceTimersByTimeAsync(999);
    expect(signals[0]?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(failures).toEqual([]);
  });
});

/** Answers what the test has put there. */
class FakeHttp implements Pick<OutboundHttp, 'fetch'> {
  constructor(
    private readonly answers: (Response | Error)[],
    private readonly signals: AbortSignal[],
  ) {}

  fetch(_url: string | URL, { signal }: RequestInit = {}): Promise<Response> {
    this.signals.push(signal as AbortSignal);
    const answer = this.answers.shift() ?? new Error('unexpected request');
    return answer instanceof Response ? Promise.resolve(answer) : Promise.reject(answer);
  }
}
