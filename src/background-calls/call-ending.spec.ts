import { describe, expect, it } from '@jest/globals';
import { endingOf, timedOut } from './call-ending.js';
import type { ToolResult } from './call-outcome.js';

const LIMITS = { inlineChars: 8_000, maxBytes: 100_000 };
const text = (value: string, more: ToolResult = {}): ToolResult => ({
  content: [{ type: 'text', text: value }],
  ...more,
});
const ended = (result: ToolResult, limits = LIMITS): ReturnType<typeof endingOf> =>
  endingOf({ kind: 'result', result }, limits);

describe('the ending of a call', () => {
  it('completes with the whole result as bytes', () => {
    const result = text('done', { _meta: { a: 1 }, unknown: [1] });
    const ending = ended(result);
    expect(ending).toMatchObject({ status: 'completed', error: null, outcomeUnknown: false });
    expect(JSON.parse(String(ending.result?.body))).toEqual(result);
    expect(ending.result).toMatchObject({ preview: 'done', isError: false, truncated: false });
  });

  it('fails as tool_error and keeps the content when the tool says isError', () => {
    const ending = ended(text('no such file', { isError: true }));
    expect(ending).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
    expect(ending.result).toMatchObject({ preview: 'no such file', isError: true });
  });

  it('keeps NUL, lone surrogates and emoji in the bytes and a storable preview', () => {
    const result = text('a\0b\ud800c😀');
    const ending = ended(result);
    expect(JSON.parse(String(ending.result?.body))).toEqual(result);
    expect(ending.result?.preview).toBe('a\ufffdb\ufffdc😀');
  });

  it('cuts the preview between characters, never inside one', () => {
    const ending = ended(text('ab😀cd'), { ...LIMITS, inlineChars: 3 });
    expect(ending.result).toMatchObject({ preview: 'ab', truncated: true });
  });

  it('describes what is not text and survives content that is no content', () => {
    const parts = [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }, null, 7, { type: 1 }];
    const { result } = ended({ content: parts });
    expect(result?.preview).toBe('[image, image/png, 4 base64 characters]\n\n[unknown]');
    expect(ended({ content: 'x' }).result?.preview).toBe('');
    expect(ended({ structuredContent: { rows: 3 } }).result?.preview).toBe('{"rows":3}');
  });

  it('fails as output_limit with what was kept', () => {
    const parts = ['a', 'b'].map((letter) => ({ type: 'text', text: letter.repeat(700) }));
    const ending = ended({ content: parts }, { ...LIMITS, maxBytes: 1_000 });
    expect(ending).toMatchObject({ status: 'failed', error: { code: 'output_limit' } });
    const kept = JSON.parse(String(ending.result?.body)) as { content: { text: string }[] };
    expect(kept.content[0]?.text).toHaveLength(700);
    expect(kept.content[1]?.text.length).toBeGreaterThan(0);
    expect(ending.result).toMatchObject({ truncated: true, bytes: expect.any(Number) });
  });

  it('fails as output_limit with the beginning that came of a result that was not received whole', () => {
    const kept = { content: [{ type: 'text', text: 'a'.repeat(500) }], isError: false };
    const message = 'It is larger.';
    const oversized = { kind: 'oversized' as const, kept: () => kept, bytes: 9_000, message };
    const ending = endingOf(oversized, { ...LIMITS, maxBytes: 1_000 });
    expect(ending).toMatchObject({
      status: 'failed',
      error: { code: 'output_limit', message: 'It is larger.' },
      outcomeUnknown: false,
      result: { preview: 'a'.repeat(500), bytes: 9_000, truncated: true, whole: kept },
    });
    expect(JSON.parse(String(ending.result?.body))).toEqual(kept);
    const written = endingOf(oversized, { ...LIMITS, maxBytes: 300 });
    expect(written.result?.body.byteLength).toBeLessThanOrEqual(300);
  });

  it('says the limit and the time that was spent', () => {
    expect(timedOut(24, 90_000_000).error?.message).toContain('limit of 24 h; it ran for 90000 s');
    expect(timedOut(0.0005, 2_000).error?.message).toContain('limit of 1.8 s; it ran for 2 s');
  });
});
