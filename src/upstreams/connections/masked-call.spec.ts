import { describe, expect, it } from '@jest/globals';
import { maskedListener } from './masked-call.js';
import type { UpstreamQuestion } from '../upstream-call.js';

describe('a listener for which secrets are masked', () => {
  it('is told a question whole, without the secret, and when it is withdrawn', async () => {
    const asked: UpstreamQuestion[] = [];
    const listener = maskedListener(
      {
        onProgress: () => undefined,
        onReference: () => undefined,
        onQuestion: (question) => {
          asked.push(question);
          return Promise.resolve({ action: 'decline' });
        },
      },
      (text) => text.replaceAll('s3cret', '***'),
    );
    const { signal: withdrawn } = new AbortController();
    const question = { message: 'Is it s3cret?', schema: { type: 'object' }, withdrawn };
    expect(await listener.onQuestion(question)).toEqual({ action: 'decline' });
    expect(asked).toEqual([{ ...question, message: 'Is it ***?' }]);
  });
});
