import { describe, expect, it } from '@jest/globals';
import { OutputTail } from './output-tail.js';

const lastLineOf = (...parts: string[]): string | undefined => {
  const tail = new OutputTail();
  for (const part of parts) tail.add(part);
  return tail.lastLine;
};

describe('What a program said last', () => {
  it('is its last line', () => {
    expect(lastLineOf('starting\n', 'no li', 'cence\n\n')).toBe('no licence');
  });

  it('is nothing when it said nothing', () => {
    expect(lastLineOf()).toBeUndefined();
    expect(lastLineOf('\n \n---\n')).toBeUndefined();
  });

  it('is the error, not the stack trace or what Node.js says after it', () => {
    const trace = '/x.js:1\nthrow e\n^\n\nTypeError: x is not a function\n    at y (/x.js:1:1) {\n';
    expect(lastLineOf(`${trace}  code: 'X'\n}\n\nNode.js v20.19.0\n`)).toBe(
      'TypeError: x is not a function',
    );
    expect(lastLineOf('Traceback (most recent call last):\n  File "x"\nKeyError: \'k\'\n')).toBe(
      "KeyError: 'k'",
    );
  });

  it('has no colours and no control characters, and is not long', () => {
    expect(lastLineOf('\u001b[31mred\u001b[0m\u0000 \u0007dead\r\n')).toBe('red   dead');
    expect(lastLineOf('x'.repeat(100_000))).toHaveLength(500);
  });

  it('may be indented when nothing else was said', () => {
    expect(lastLineOf('  only this\n')).toBe('only this');
  });
});
