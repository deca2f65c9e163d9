import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Line, LineSplitter } from './line-splitter.js';

const MAX_BYTES = 1_000;

describe('A stream of lines', () => {
  let lines: Line[];
  let splitter: LineSplitter;
  beforeEach(() => {
    lines = [];
    splitter = new LineSplitter(MAX_BYTES, (line) => lines.push(line));
  });

  it('comes out as it was, however it was cut on its way', () => {
    const line = fc
      .string({ unit: 'binary', maxLength: 200 })
      .map((text) => text.replace(/[\r\n]/g, ''));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.array(fc.nat(50)),
        fc.constantFrom('\n', '\r\n'),
        (texts, cuts, end) => {
          lines = [];
          let rest = Buffer.from(texts.map((text) => text + end).join(''));
          for (const cut of cuts) {
            splitter.add(rest.subarray(0, cut));
            rest = rest.subarray(cut);
          }
          splitter.add(rest);
          const isWhole = true;
          expect(lines).toEqual(texts.map((text) => ({ isWhole, text: text.toWellFormed() })));
        },
      ),
    );
  });

  it('does not give out a line that has no end yet', () => {
    splitter.add(Buffer.from('one\ntwo'));
    expect(lines).toEqual([{ isWhole: true, text: 'one' }]);
  });

  it.each([1, 7, 100, 5_000])(
    'loses the middle of a line that is too long (in parts of %i)',
    (size) => {
      const long = Buffer.from(`${'a'.repeat(600)}${'b'.repeat(3_000)}${'c'.repeat(600)}\nnext\n`);
      for (let from = 0; from < long.length; from += size)
        splitter.add(long.subarray(from, from + size));
      expect(lines).toEqual([
        { isWhole: false, head: 'a'.repeat(512), tail: 'c'.repeat(512) },
        { isWhole: true, text: 'next' },
      ]);
    },
  );

  it('keeps a line of just the allowed length', () => {
    splitter.add(Buffer.from(`${'x'.repeat(MAX_BYTES)}\n${'y'.repeat(MAX_BYTES + 1)}\n`));
    expect(lines.map(({ isWhole }) => isWhole)).toEqual([true, false]);
  });
});
