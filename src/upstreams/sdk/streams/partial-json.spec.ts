import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readPartialJson } from './partial-json.js';

const read = (text: string): unknown => readPartialJson([Buffer.from(text)]);
const inParts = (bytes: Buffer, size: number): Buffer[] => {
  const parts = Math.ceil(bytes.length / size);
  return Array.from({ length: parts }, (_, part) => bytes.subarray(part * size, (part + 1) * size));
};

describe('The beginning of JSON', () => {
  it.each([
    ['{"a":1,"b":2', { a: 1 }],
    ['{"a":1,"b":2,', { a: 1, b: 2 }],
    ['{"a":1,"b":2 ', { a: 1, b: 2 }],
    ['{"a":[1,{"b":tr', { a: [1, {}] }],
    ['{"a":[1,true', { a: [1] }],
    ['{"a":[],"ke', { a: [] }],
    ['{"a":[],"key"', { a: [] }],
    ['{"a":[],"key":', { a: [] }],
    ['{"a":[],"key":"', { a: [], key: '' }],
    ['{"a":[],"key":"te\\"xt', { a: [], key: 'te"xt' }],
    ['[{"a":"b"}, ["c"', [{ a: 'b' }, ['c']]],
    ['{"a":{"b":"c"}}', { a: { b: 'c' } }],
    [' { "a" : "b', { a: 'b' }],
  ])('is read as far as it goes: %s', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each([
    ['a backslash', '"x\\', 'x'],
    ['an escaped backslash', '"x\\\\', 'x\\'],
    ['an escaped backslash before a u', '"x\\\\u12', 'x\\u12'],
    ['a part of an escape', '"x\\u56f', 'x'],
    ['a whole escape', '"x\\u56fe', 'x图'],
    ['half a pair', '"x\\ud83d', 'x'],
    ['half a pair and a backslash', '"x\\ud83d\\', 'x'],
    ['half a pair and a part of the other half', '"x\\uD83D\\ude0', 'x'],
    ['a pair', '"x\\ud83d\\ude00', 'x😀'],
    ['half a pair and another character', '"x\\ud83dy', 'x\ud83dy'],
    ['half a pair, text, and a part of an escape', '"\\ud83dab\\u12', '\ud83dab'],
  ])('is cut between characters, after %s', (_, text, cut) => {
    expect(read(`{"t":${text}`)).toEqual({ t: cut });
  });

  it('is cut between the bytes of one character and the next', () => {
    const bytes = Buffer.from('{"t":"é图😀');
    const texts = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map((end) => bytes.subarray(0, end));
    expect(texts.slice(1).map((one) => (readPartialJson([one]) as { t: string }).t)).toEqual([
      ...['', '', 'é', 'é', 'é', 'é图', 'é图', 'é图', 'é图', 'é图😀'],
    ]);
  });

  it.each(['', 'x', '12', '}', '{]', '{"a":x,"b', '\u0000'])(
    'that is none, or has nothing to tell, is nothing: %j',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it('is read wherever it was cut and however it came, and never holds what is not in the whole', () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary', maxDepth: 4 }),
        fc.boolean(),
        fc.nat(),
        fc.integer({ min: 1, max: 7 }),
        (json, isAscii, seed, size) => {
          const text = `{"v":${isAscii ? escaped(json) : json}}`;
          const bytes = Buffer.from(text);
          const beginning = bytes.subarray(0, 1 + (seed % bytes.length));
          const value = readPartialJson(inParts(beginning, size));
          expect(isBeginningOf(value, JSON.parse(text))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});

function escaped(json: string): string {
  return json.replace(
    /[^\0-\x7f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isBeginningOf(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string')
    return (whole as string).toWellFormed().startsWith(part.toWellFormed());
  if (Array.isArray(part))
    return part.every((one, at) => isBeginningOf(one, (whole as unknown[])[at]));
  if (typeof part !== 'object' || part === null) return part === whole;
  return Object.entries(part).every(([key, one]) =>
    isBeginningOf(
      one,
      (whole as Record<string, unknown>)[key.toWellFormed()] ??
        (whole as Record<string, unknown>)[key],
    ),
  );
}
