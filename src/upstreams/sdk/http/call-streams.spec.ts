import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallStreams } from './call-streams.js';
import type { BodyEnd } from './watched-body.js';

describe('The streams of a call', () => {
  let streams: CallStreams;
  let ends: BodyEnd[];
  let isOver: boolean;

  beforeEach(() => {
    jest.useFakeTimers();
    streams = new CallStreams();
    ends = [];
    isOver = false;
    void streams.over.then(() => (isOver = true));
  });
  afterEach(() => {
    streams.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const open = (body: string | ReadableStream): Response =>
    streams.open(new Response(body), 1_000, (end) => ends.push(end));

  it('are over with the call when none is open', async () => {
    await open('{}').text();
    expect(ends).toEqual([{ hadContent: true, error: undefined }]);
    expect(streams.signal.aborted).toBe(false);
    streams.end();
    await jest.advanceTimersByTimeAsync(0);
    expect([isOver, streams.signal.aborted]).toEqual([true, true]);
  });

  it('are over when the last one has ended after the call', async () => {
    const [first, last] = [open('{}'), open('{}')];
    streams.end();
    await first.text();
    expect(isOver).toBe(false);
    await last.text();
    expect([isOver, ends.length]).toEqual([true, 2]);
  });

  it('are closed a second after the call where the upstream leaves them open', async () => {
    open(new ReadableStream());
    streams.end();
    await jest.advanceTimersByTimeAsync(999);
    expect([isOver, streams.signal.aborted]).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(1);
    expect([isOver, streams.signal.aborted]).toEqual([true, true]);
  });
});
