import { describe, expect, it } from '@jest/globals';
import { KeyRing } from './key-ring.js';
import { type SealedText, SecretBox, SecretNotOpenedError } from './secret-box.js';

const PLACE = { table: 'servers', rowId: '1', field: 'headers.authorization' };
const KEYS = { old: Buffer.alloc(32, 1), new: Buffer.alloc(32, 2) };

function aBox(...ids: (keyof typeof KEYS)[]): SecretBox {
  return new SecretBox(new KeyRing(ids.map((id) => ({ id, key: KEYS[id] }))));
}

describe('a secret box', () => {
  const box = aBox('old');
  const sealed = box.seal('Bearer 秘密', PLACE);

  it('opens what it has sealed, which shows nothing of it and is never the same twice', () => {
    expect(box.open(sealed, PLACE)).toBe('Bearer 秘密');
    expect(Buffer.from(sealed.sealed, 'base64').toString()).not.toContain('Bearer');
    expect(box.seal('Bearer 秘密', PLACE).sealed).not.toBe(sealed.sealed);
    expect(box.open(box.seal('', PLACE), PLACE)).toBe('');
  });

  it('seals with the first key and opens with every one', () => {
    const rotated = aBox('new', 'old');
    expect(rotated.open(sealed, PLACE)).toBe('Bearer 秘密');
    expect([rotated.isSealedByFirst(sealed), box.isSealedByFirst(sealed)]).toEqual([false, true]);
    expect(rotated.seal('x', PLACE).key).toBe('new');
  });

  it.each([
    ['of another table', { ...PLACE, table: 'apps' }],
    ['of another row', { ...PLACE, rowId: '2' }],
    ['of another field', { ...PLACE, field: 'headers.cookie' }],
  ])('opens nothing %s', (_what, place) => {
    expect(() => box.open(sealed, place)).toThrow(SecretNotOpenedError);
  });

  it.each([
    ['no byte', ''],
    ['a shorter tag', Buffer.from(sealed.sealed, 'base64').subarray(0, 20).toString('base64')],
    ['another bit', flipped(sealed)],
  ])('opens nothing that has %s', (_what, text) => {
    expect(() => box.open({ ...sealed, sealed: text }, PLACE)).toThrow(SecretNotOpenedError);
  });

  it('names the key that is missing', () => {
    expect(() => aBox('new').open(sealed, PLACE)).toThrow('its key "old" is not among');
  });
});

function flipped({ sealed }: SealedText): string {
  const bytes = Buffer.from(sealed, 'base64');
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  return bytes.toString('base64');
}
