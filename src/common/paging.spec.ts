import { describe, expect, it } from '@jest/globals';
import { decodeCursor, encodeCursor } from './paging.js';

const ID = '01935f2e-0000-7000-8000-000000000001';
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

describe('a page cursor', () => {
  it('is read as it was written', () => {
    const cursor = { createdAt: '2026-11-30T21:58:08.123Z', id: ID };
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  it.each([
    '',
    'abc',
    encoded(`2026-02-30T00:00:00.000Z ${ID}`),
    encoded(`0000-01-01T00:00:00.000Z ${ID}`),
    encoded(`2026-11-30T24:00:00.000Z ${ID}`),
    encoded(`2026-11-30T21:58:08.123Z ${ID} x`),
    encoded('2026-11-30T21:58:08.123Z not-a-uuid'),
  ])('is refused where the database could not take it: %s', (text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});
