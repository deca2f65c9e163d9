import { describe, expect, it } from '@jest/globals';
import { OversizedAnswer } from './oversized-answer.js';

const ENVELOPE = '{"jsonrpc":"2.0","id":4,"result":';
/** Filled up with what is not read, so that all of `text` is. */
const kept = (text: string, envelope = ENVELOPE): unknown => {
  const read = Buffer.from(envelope + text);
  return new OversizedAnswer([read, Buffer.alloc(3 * read.length, '~')], 9).kept();
};
const content = (...parts: unknown[]): unknown => ({ content: parts, isError: false });
const TEXT = { type: 'text', text: 'whole' };
const WHOLE = JSON.stringify(TEXT);

describe('What is kept of an answer that is too long', () => {
  it.each([
    [
      'a text that was cut',
      `{"content":[${WHOLE},{"type":"text","text":"cu`,
      [TEXT, { type: 'text', text: 'cu' }],
    ],
    ['a text whose type comes later', '{"content":[{"text":"cu', [{ type: 'text', text: 'cu' }]],
    ['no image that was cut', `{"content":[${WHOLE},{"type":"image","data":"AAAA`, [TEXT]],
    ['no part whose kind was cut', `{"content":[${WHOLE},{"type":"te`, [TEXT]],
    ['no number', `{"content":[${WHOLE},12,3`, [TEXT]],
    [
      'all parts when what follows was cut',
      `{"content":[${WHOLE},{"type":"x"}],"_meta":{"a`,
      [TEXT, { type: 'x' }],
    ],
    ['nothing of a result without parts', '{"conte', []],
    ['nothing of an error', ',"error":{"message":"it fail', []],
    ['nothing of what is no JSON', '{"content":NaN,"x":[1', []],
  ])('is %s', (_, text, parts) => {
    expect(kept(text)).toEqual(content(...parts));
  });

  it('is a resource as far as its text came', () => {
    const part = { type: 'resource', resource: { uri: 'a://b', text: 'cu' } };
    const text = '{"content":[{"type":"resource","resource":{"uri":"a://b","text":"cu';
    expect(kept(text)).toEqual(content(part));
  });

  it('is the structured content as text where there is nothing else', () => {
    const text = '{"structuredContent":{"rows":[1,2,3';
    expect(kept(text)).toEqual(content({ type: 'text', text: '{"rows":[1,2]}' }));
  });

  it('is what the answer of a batch holds', () => {
    const batch = `[{"jsonrpc":"2.0","method":"x"},${ENVELOPE}`;
    expect(kept(`{"content":[${WHOLE},`, batch)).toEqual(content(TEXT));
  });

  it('says whether the tool had failed, where that came first', () => {
    expect(kept(`{"isError":true,"content":[${WHOLE}`)).toEqual({ content: [TEXT], isError: true });
  });

  it('is nothing of what is nested too deep to be written', () => {
    expect(kept(`{"content":[${WHOLE}],"a":${'['.repeat(2_000)}`)).toEqual(content());
  });

  it('is never written anywhere else', () => {
    const answer = new OversizedAnswer([Buffer.from('secret')], 9);
    expect(JSON.stringify({ answer })).toBe('{"answer":{"bytes":9}}');
  });
});
