import { describe, expect, it } from '@jest/globals';
import { overtakenProgress } from './overtaken-progress.js';

const progress = (progressToken: unknown, done: unknown, more: object = {}): object => ({
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  ...{ params: { progressToken, progress: done }, ...more },
});
const question = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} };
const notice = { jsonrpc: '2.0', method: 'notifications/message', params: {} };
const answer = { jsonrpc: '2.0', id: 1, result: {} };
const overtaken = (...messages: unknown[]): number[] => [...overtakenProgress(messages)].sort();

describe('Progress', () => {
  it('is overtaken by later progress of the same request, whatever else comes in between', () => {
    expect(overtaken(progress(1, 1), notice, progress(1, 2), question, progress(1, 3))).toEqual([
      0, 2,
    ]);
  });

  it('is not overtaken by that of another request', () => {
    expect(overtaken(progress(1, 1), progress(2, 1), progress(1, 2), progress(3, 1))).toEqual([0]);
  });

  it('is known by its token as a number or as its digits', () => {
    expect(overtaken(progress(1, 1), progress('1', 2))).toEqual([0]);
  });

  it.each([
    ['an answer', answer],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }],
    ['what could not be read', undefined],
    ['what is no message', 7],
  ])('is not overtaken by what comes after %s: its request may be over by then', (_, between) => {
    expect(overtaken(progress(1, 1), progress(1, 2), between, progress(1, 3))).toEqual([0]);
  });

  it.each([
    ['no number', progress(1, 'all')],
    ['no token', { ...progress(1, 1), params: { progress: 2 } }],
    ['an id', progress(1, 2, { id: 7 })],
    ['fields that no message has', progress(1, 2, { more: 1 })],
    ['no version', { ...progress(1, 2), jsonrpc: '1.0' }],
    ['no parameters', { jsonrpc: '2.0', method: 'notifications/progress' }],
  ])('is not overtaken by what the SDK would not take: %s', (_, other) => {
    expect(overtaken(progress(1, 1), other)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no text can be made of', JSON.parse('{"toString":1,"valueOf":1}')],
    ['is nested without end', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
    ['looks like one when written', [1]],
  ])('is not overtaken where its token is none, and %s', (_, token) => {
    expect(overtaken(progress(token, 1), progress(1, 2), progress(token, 3))).toEqual([]);
  });

  it('that is a request is not overtaken either', () => {
    expect(overtaken(progress(1, 1, { id: 7 }), progress(1, 2))).toEqual([]);
  });

  it('alone is overtaken', () => {
    expect(overtaken(notice, notice, question, question, answer, answer, null, {})).toEqual([]);
  });
});
