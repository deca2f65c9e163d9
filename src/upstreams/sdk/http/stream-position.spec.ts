import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StreamPosition } from './stream-position.js';

const NEXT_MS = 500;

describe('The position in a stream', () => {
  let told: unknown[];
  let position: StreamPosition;

  beforeEach(() => {
    jest.useFakeTimers();
    told = [];
    position = new StreamPosition(undefined, (place) => told.push(place));
  });
  afterEach(() => {
    position.end();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const comeTo = async (eventId: string): Promise<void> => {
    position.cameTo(eventId);
    await jest.advanceTimersByTimeAsync(0);
  };

  it('is told with the id of the call, which is the first that was sent, twice a second at most', async () => {
    for (const id of [undefined, 7, 8]) position.sent(id);
    for (const eventId of ['a', 'b', 'c']) await comeTo(eventId);
    expect(told).toEqual([{ requestId: 7, lastEventId: 'a' }]);
    await jest.advanceTimersByTimeAsync(NEXT_MS);
    expect(told.slice(1)).toEqual([{ requestId: 7, lastEventId: 'c' }]);
  });

  it('is not told before the call has an id', async () => {
    await comeTo('a');
    expect(told).toEqual([]);
  });

  it('is told again when a request of the upstream is answered', async () => {
    position.sent(7);
    await comeTo('a');
    position.cameTo('b');
    position.received({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} });
    await jest.advanceTimersByTimeAsync(NEXT_MS);
    expect(told.at(-1)).toEqual({ requestId: 7, lastEventId: 'a' });
    expect(position.isQuestion(1)).toBe(true);
    position.answered(1);
    await jest.advanceTimersByTimeAsync(NEXT_MS);
    expect(told.at(-1)).toEqual({ requestId: 7, lastEventId: 'b' });
  });

  it('is not told after the end', async () => {
    position.sent(7);
    position.cameTo('a');
    position.end();
    await jest.advanceTimersByTimeAsync(NEXT_MS);
    expect(told).toEqual([]);
  });

  it('is one to go on from with an event id alone', async () => {
    expect(new StreamPosition('a', () => undefined).isResumable).toBe(false);
    expect(position.isResumable).toBe(false);
    await comeTo('a');
    expect(position.isResumable).toBe(true);
  });
});
