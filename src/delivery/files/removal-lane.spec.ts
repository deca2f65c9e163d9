import { describe, expect, it } from '@jest/globals';
import { RemovalLane } from './removal-lane.js';
import { WorkspaceSilentError } from './workspace-silent.error.js';

const SOON_MS = 5;

/** A removal that is over when the test says so. */
class PlayedRemoval {
  signal: AbortSignal | undefined;
  end: () => void = () => undefined;
  private readonly ended = new Promise<void>((resolve) => (this.end = resolve));

  readonly run = (signal: AbortSignal): Promise<void> => {
    this.signal = signal;
    return this.ended;
  };
}

describe('removals of files', () => {
  it('are made one after the other, and a failure is the caller’s alone', async () => {
    const lane = new RemovalLane();
    const first = new PlayedRemoval();
    const order: string[] = [];
    const removals = [
      lane.run((signal) => first.run(signal).then(() => void order.push('first'))),
      lane.run(() => Promise.reject(new Error('refused'))),
      lane.run(() => Promise.resolve(void order.push('third'))),
    ];
    await aTurn();
    expect(order).toEqual([]);
    first.end();
    const outcomes = await Promise.allSettled(removals);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(order).toEqual(['first', 'third']);
  });

  it('are told when they take too long, and are not begun when they waited too long', async () => {
    const lane = new RemovalLane();
    const [stuck, waiting] = [new PlayedRemoval(), new PlayedRemoval()];
    const outcomes = await Promise.allSettled([
      lane.run(stuck.run, SOON_MS),
      lane.run(waiting.run, SOON_MS),
    ]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ reason: expect.any(WorkspaceSilentError) });
    expect(stuck.signal?.aborted).toBe(true);
    stuck.end();
    await aTurn();
    await lane.run(() => Promise.resolve());
    expect(waiting.signal).toBeUndefined();
  });

  it('fail at once while one that took too long has not come back', async () => {
    const lane = new RemovalLane();
    const [stuck, next] = [new PlayedRemoval(), new PlayedRemoval()];
    await expect(lane.run(stuck.run, SOON_MS)).rejects.toThrow(WorkspaceSilentError);
    // Else it would wait for as long as a test may take.
    await expect(lane.run(next.run, 600_000)).rejects.toThrow(WorkspaceSilentError);
    stuck.end();
    await aTurn();
    await lane.run(() => Promise.resolve());
    expect(next.signal).toBeUndefined();
  });
});

/** Whatever is due without a timer is done by then. */
async function aTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
