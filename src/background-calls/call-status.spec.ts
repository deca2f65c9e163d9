import { describe, expect, it } from '@jest/globals';
import { CALL_STATUSES, isTerminal, sourcesOf, TRANSITIONS } from './call-status.js';

describe('the states of a background call', () => {
  it('never leaves a terminal state', () => {
    expect(CALL_STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
    for (const status of CALL_STATUSES.filter(isTerminal)) expect(TRANSITIONS[status]).toEqual([]);
  });

  it('guards each move with exactly the states that the table allows', () => {
    for (const from of CALL_STATUSES)
      for (const to of CALL_STATUSES)
        expect(sourcesOf(to).includes(from)).toBe(TRANSITIONS[from].includes(to));
  });

  it('lets every state that is not terminal end as failed and as cancelled', () => {
    const open = CALL_STATUSES.filter((status) => !isTerminal(status));
    expect(sourcesOf('failed')).toEqual(open);
    expect(sourcesOf('cancelled')).toEqual(open);
  });

  it('has no way back to the state before the first', () => {
    expect(sourcesOf('queued')).toEqual(['running']);
    expect(sourcesOf('completed')).toEqual(['running', 'input_required']);
  });
});
