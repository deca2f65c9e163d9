import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { after, beginning, ByteStore, endOf, startOf, textOf } from './byte-store.js';

const KILOBYTE = 1_024;

describe('Bytes that arrive in parts', () => {
  it('are taken as they came, whatever the sizes of the parts, and only once', () => {
    const sizes = fc.array(fc.oneof(fc.nat(40), fc.nat(20 * KILOBYTE)), { maxLength: 40 });
    fc.assert(
      fc.property(sizes, (parts) => {
        const store = new ByteStore();
        const added = parts.map((size, at) => Buffer.alloc(size, at + 1));
        for (const part of added) store.add(part);
        const whole = Buffer.concat(added);
        expect(store.length).toBe(whole.length);
        expect(Buffer.concat(store.take()).equals(whole)).toBe(true);
        expect([store.length, store.take()]).toEqual([0, []]);
      }),
    );
  });

  it.each([1, 100, 3_000, 16_383])(
    'are few blocks, of twice their size at most, in parts of %i',
    (size) => {
      const store = new ByteStore();
      for (let bytes = 0; bytes < KILOBYTE ** 2; bytes += size) store.add(Buffer.alloc(size));
      store.add(Buffer.alloc(64 * KILOBYTE));
      const blocks = store.take();
      expect(blocks.length).toBeLessThan(140);
      const held = blocks.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
      expect(held).toBeLessThan(2.1 * KILOBYTE ** 2);
    },
  );

  it('can be looked at from both ends', () => {
    const bytes = ['ab', 'c', 'de'].map((text) => Buffer.from(text));
    expect([0, 1, 3, 9].map((count) => startOf(bytes, count))).toEqual(['', 'a', 'abc', 'abcde']);
    expect([1, 3, 9].map((count) => String(endOf(bytes, count)))).toEqual(['e', 'cde', 'abcde']);
    expect([0, 2, 4, 9].map((count) => textOf(after(bytes, count)))).toEqual([
      ...['abcde', 'cde', 'e', ''],
    ]);
    expect([0, 1, 3, 9].map((count) => textOf(beginning(bytes, count)))).toEqual([
      ...['', 'a', 'abc', 'abcde'],
    ]);
  });
});
