import { describe, expect, it } from '@jest/globals';
import { nextStep, type TriedMessage } from './next-step.js';

const HOUR_MS = 3_600_000;
const aTry = (changes: Partial<TriedMessage> = {}): TriedMessage => ({
  failures: 0,
  ageMs: 1_000,
  maxAgeHours: 24,
  isConfiguredAnew: false,
  ...changes,
});
const afterFailure = (changes: Partial<TriedMessage>): unknown =>
  nextStep({ kind: 'failed' }, aTry(changes), 0.5);

describe('after a try', () => {
  it('that was taken, the message is delivered, however old', () => {
    const taken = { kind: 'delivered', turnId: 't' } as const;
    expect(nextStep(taken, aTry({ ageMs: 99 * HOUR_MS }), 0.5)).toEqual(taken);
  });

  it('that met a busy receiver, the message waits and does not die of age', () => {
    const busy = { kind: 'busy', waitMs: 7_000 } as const;
    const step = nextStep(busy, aTry({ failures: 9, ageMs: 99 * HOUR_MS }), 0.5);
    expect(step).toEqual({ kind: 'wait', waitMs: 7_000, isBusy: true });
  });

  it('that met nobody, the message is dead at once', () => {
    const step = nextStep({ kind: 'gone' }, aTry(), 0.5);
    expect(step).toEqual({ kind: 'dead', reason: 'receiver_gone' });
  });

  it('that failed, the wait grows with the failures in a row', () => {
    expect(afterFailure({})).toEqual({ kind: 'wait', waitMs: 1_000, isBusy: false });
    expect(afterFailure({ failures: 4 })).toEqual({ kind: 'wait', waitMs: 16_000, isBusy: false });
  });

  it('that failed, a last one is made when the message is as old as it may be', () => {
    const ageMs = 24 * HOUR_MS - 300;
    expect(afterFailure({ failures: 20, ageMs })).toMatchObject({ waitMs: 300 });
    expect(afterFailure({ failures: 21, ageMs: 24 * HOUR_MS })).toEqual({
      kind: 'dead',
      reason: 'too_old',
    });
  });

  it.each([{ kind: 'failed' }, { kind: 'gone' }, { kind: 'busy', waitMs: 1 }] as const)(
    'at an address that is not the one any more, the message is due at once: $kind',
    (outcome) => {
      const message = aTry({ isConfiguredAnew: true, ageMs: 99 * HOUR_MS });
      expect(nextStep(outcome, message, 0.5)).toEqual({ kind: 'give_back' });
    },
  );

  it('that was broken off, the message is due at once', () => {
    expect(nextStep({ kind: 'aborted' }, aTry(), 0.5)).toEqual({ kind: 'give_back' });
  });
});
