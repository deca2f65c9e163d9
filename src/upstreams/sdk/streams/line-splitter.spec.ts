import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { textOf } from './byte-store.js';
import { LineSplitter } from './line-splitter.js';

const MAX_BYTES = 1_000;

describe('A stream of lines', () => {
  let told: unknown[];
  let limit: number;
  let isSettled: boolean;

  beforeEach(() => {
    told = [];
    limit = MAX_BYTES;
    isSettled = false;
  });

  const splitter = (endsAtReturn = false): LineSplitter =>
    new LineSplitter(
      { maxBytes: () => limit, endsAtReturn },
      {
        onLine: (line) => void told.push(textOf(line)),
        onLongLine: (head, bytes) => {
          told.push(['long', textOf(head), bytes]);
          return isSettled;
        },
        onLongLineEnd: (head, tail, bytes) =>
          void told.push(['end', textOf(head).length, tail.toString(), bytes]),
        onEndlessLine: () => void told.push('endless'),
      },
    );

  const addInParts = (to: LineSplitter, bytes: Buffer, size: number): void => {
    for (let from = 0; from < bytes.length; from += size) to.add(bytes.subarray(from, from + size));
  };

  it.each([
    ['line feeds', ['\n', '\r\n'], false],
    ['what ends the lines of an event stream', ['\n', '\r\n', '\r'], true],
  ])('at %s comes out as it was, however it was cut on its way', (_, ends, endsAtReturn) => {
    const line = fc
      .string({ unit: 'binary', maxLength: 200 })
      .map((text) => text.replace(/[\r\n]/g, ''));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.array(fc.nat(50)),
        fc.constantFrom(...ends),
        (texts, cuts, end) => {
          told = [];
          const lines = splitter(endsAtReturn);
          let rest = Buffer.from(texts.map((text) => text + end).join(''));
          for (const cut of cuts) {
            lines.add(rest.subarray(0, cut));
            rest = rest.subarray(cut);
          }
          lines.add(rest);
          expect(told).toEqual(texts.map((text) => text.toWellFormed()));
        },
      ),
    );
  });

  it('does not give out a line that has no end yet', () => {
    splitter().add(Buffer.from('one\ntwo'));
    expect(told).toEqual(['one']);
  });

  it.each([1, 7, 100, 5_000])(
    'tells the beginning of a line that is too long at once, its end later (in parts of %i)',
    (size) => {
      const lines = splitter();
      addInParts(lines, Buffer.from(`${'a'.repeat(999)}${'b'.repeat(3_000)}`), size);
      expect(told).toEqual([['long', `${'a'.repeat(999)}b`, expect.any(Number)]]);
      addInParts(lines, Buffer.from(`${'c'.repeat(600)}\nnext\n`), size);
      expect(told.slice(1)).toEqual([['end', 1_000, 'c'.repeat(512), 4_599], 'next']);
    },
  );

  it('tells nothing more of a long line that is settled', () => {
    isSettled = true;
    addInParts(splitter(), Buffer.from(`${'a'.repeat(3_000)}\nnext\n`), 100);
    expect(told).toEqual([['long', 'a'.repeat(1_000), 1_100], 'next']);
  });

  it('keeps a line of just the allowed length', () => {
    splitter().add(Buffer.from(`${'x'.repeat(MAX_BYTES)}\n${'y'.repeat(MAX_BYTES + 1)}\n`));
    expect(told.map((one) => typeof one)).toEqual(['string', 'object', 'object']);
  });

  it('follows a limit that changes, also within a line', () => {
    const lines = splitter();
    lines.add(Buffer.alloc(900, 'a'));
    limit = 500;
    lines.add(Buffer.from('b'));
    expect(told).toEqual([['long', 'a'.repeat(900), 901]]);
  });

  it('tells of a line of more than a gibibyte that it does not end', () => {
    const lines = splitter();
    const megabyte = Buffer.alloc(1_024 ** 2, 'a');
    for (let count = 0; count < 1_024; count++) lines.add(megabyte);
    expect(told).toHaveLength(1);
    lines.add(megabyte);
    expect(told).toEqual([expect.anything(), 'endless']);
  });
});
