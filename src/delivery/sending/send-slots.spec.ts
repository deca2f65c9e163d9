import { describe, expect, it } from '@jest/globals';
import { SendSlots } from './send-slots.js';

/** Takes all that an app gets; answers how many that were. */
function takeAll(slots: SendSlots, appId: string): number {
  const free = slots.freeFor(appId);
  for (let index = 0; index < free; index++) slots.take(appId);
  return free;
}

describe('slots', () => {
  it('of one app are limited, and free again when a send ends', () => {
    const slots = new SendSlots(64, 16);
    expect(takeAll(slots, 'slow')).toBe(16);
    expect(slots.freeFor('slow')).toBe(0);
    slots.release('slow');
    expect(slots.freeFor('slow')).toBe(1);
  });

  it('are left for others by each app', () => {
    const slots = new SendSlots(64, 16);
    const got = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((appId) => takeAll(slots, appId));
    expect(got).toEqual([16, 16, 16, 8, 4, 2, 1]);
  });

  it('are never more than there are', () => {
    const slots = new SendSlots(2, 16);
    const got = ['a', 'b', 'c'].map((appId) => takeAll(slots, appId));
    expect(got).toEqual([1, 1, 0]);
    slots.release('a');
    expect(slots.freeFor('c')).toBe(1);
  });
});
