import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contentNamed, contentOf, describePart, partsOf } from './result-parts.js';

describe('a part of a result', () => {
  it.each(['AAEC', 'AAE=', 'AAE', 'AA\nEC\r\n', ''])('is decoded from base64: %j', (data) => {
    const { body } = contentOf({ type: 'image', data });
    expect(body).toEqual(Buffer.from(data, 'base64'));
  });

  it.each(['A', 'AAECA', 'A*==', '=AAA', 'AA-_', 'A=A='])(
    'is its JSON when %j is no base64',
    (data) => {
      const part = { type: 'audio', mimeType: 'audio/mpeg', data };
      expect(contentOf(part)).toEqual({ mimeType: 'application/json', body: JSON.stringify(part) });
    },
  );

  it('is never more than a description where only text can be shown', () => {
    const resource = { uri: 'a://b', mimeType: 'text/html', text: '<b>' };
    expect(describePart({ type: 'resource', resource })).toBe('[resource, text/html, a://b]');
    const blob = { uri: 'a://b', blob: 'AAEC' };
    expect(describePart({ type: 'resource', resource: blob })).toBe(
      '[resource, a://b, 4 base64 characters]',
    );
  });

  it('has a content whatever the MCP server made of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (part) => {
        expect(contentOf(part).body).toEqual(JSON.stringify(part));
        for (const type of ['text', 'image', 'audio', 'resource', 'resource_link'])
          expect(() => contentOf({ type, text: part, data: part, resource: part })).not.toThrow();
        expect(partsOf({ content: part })).toEqual(Array.isArray(part) ? part : []);
        expect(contentNamed({ content: part }, 'structuredContent')).toBeUndefined();
      }),
    );
  });
});
