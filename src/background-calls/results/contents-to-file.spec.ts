import { describe, expect, it } from '@jest/globals';
import { endingOf } from '../call-ending.js';
import type { ToolResult } from '../call-outcome.js';
import { contentsToFile } from './contents-to-file.js';

const text = (value: string): object => ({ type: 'text', text: value });

function filed(result: ToolResult, limits = { inlineChars: 20, maxBytes: 1_000 }): unknown[] {
  const ended = endingOf({ kind: 'result', result }, limits).result;
  if (!ended) throw new Error('no result');
  return contentsToFile(ended).map(({ part, isText, read }) => [part, isText, read().extension]);
}

describe('what of a result becomes files', () => {
  it('is nothing of short text', () => {
    expect(filed({ content: [text('short'), text('too')] })).toEqual([]);
    expect(filed({ content: [] })).toEqual([]);
    expect(filed({})).toEqual([]);
  });

  it('is every part as soon as the preview leaves something out', () => {
    const content = [text('x'.repeat(21)), text('y')];
    expect(filed({ content, structuredContent: [] })).toEqual([
      [0, true, 'txt'],
      [1, true, 'txt'],
      [2, false, 'json'],
    ]);
  });

  it('is every part as soon as one is not text', () => {
    const image = { type: 'image', mimeType: 'image/png', data: '' };
    expect(filed({ content: [text('a'), image] })).toEqual([
      [0, true, 'txt'],
      [1, false, 'png'],
    ]);
    expect(filed({ content: [7] })).toEqual([[0, false, 'json']]);
  });

  it('is the structured content unless it is shown', () => {
    const structuredContent = { a: [1] };
    expect(filed({ structuredContent })).toEqual([]);
    expect(filed({ content: [text('')], structuredContent })).toEqual([]);
    expect(filed({ content: [text('{ "a": [1] }')], structuredContent })).toEqual([]);
    expect(filed({ content: [text('1 row')], structuredContent })).toHaveLength(2);
  });

  it('is what was kept of a result over the limit', () => {
    const content = [text('a'.repeat(700)), text('b'.repeat(700))];
    expect(filed({ content })).toEqual([
      [0, true, 'txt'],
      [1, true, 'txt'],
    ]);
  });
});
