import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ResumePoint } from './resume-point.js';

const jsonrpc = '2.0';
const PROGRESS = { jsonrpc, method: 'notifications/progress' } as JSONRPCMessage;
const question = (id: number): JSONRPCMessage => ({ jsonrpc, id, method: 'elicitation/create' });
const takenBack = (requestId: number): JSONRPCMessage => ({
  jsonrpc,
  method: 'notifications/cancelled',
  params: { requestId },
});

describe('the point from which another process goes on', () => {
  let point: ResumePoint;
  beforeEach(() => {
    point = new ResumePoint();
  });

  /** An event with an id; one without a message only says how far the stream is. */
  function event(id: string, message?: JSONRPCMessage): void {
    point.cameTo(id);
    if (message) point.received(message);
  }

  it('knows the questions that wait for their answer', () => {
    point.received(question(0));
    point.received({ jsonrpc, id: 1, method: 'ping' });
    expect([0, 1, 2].map((id) => point.isQuestion(id))).toEqual([true, false, false]);
    point.answered(0);
    expect(point.isQuestion(0)).toBe(false);
  });

  it('is the last event that came', () => {
    expect(point.eventId).toBeUndefined();
    event('1');
    event('2', PROGRESS);
    expect(point.eventId).toBe('2');
  });

  it('stays before a question until that is answered, whatever comes', () => {
    event('1');
    event('2', question(0));
    event('3', PROGRESS);
    event('4', question(1));
    expect(point.eventId).toBe('1');
    point.answered(0);
    expect(point.eventId).toBe('3');
    point.answered(1);
    expect(point.eventId).toBe('4');
  });

  it.each<[string, JSONRPCMessage]>([
    ['a result', { jsonrpc, id: 2, result: {} }],
    ['an error', { jsonrpc, id: 2, error: { code: -32_603, message: 'No.' } }],
  ])('stays before the answer, whatever comes: %s', (_, answer) => {
    event('1');
    event('2', PROGRESS);
    event('3', answer);
    expect(point.eventId).toBe('2');
    event('4');
    event('5', PROGRESS);
    event('6', answer);
    expect(point.eventId).toBe('2');
  });

  it('is none where the first thing on the stream is the answer', () => {
    event('1', { jsonrpc, id: 2, result: {} });
    expect(point.eventId).toBeUndefined();
  });

  it('stays before the answer also when a question before it is answered later', () => {
    event('1', question(0));
    event('2', PROGRESS);
    event('3', { jsonrpc, id: 2, result: {} });
    point.answered(0);
    expect(point.eventId).toBe('2');
  });

  it('is past a question that was taken back', () => {
    event('1');
    event('2', question(0));
    event('3', takenBack(0));
    expect(point.eventId).toBe('3');
  });

  it('is none while the first thing on the stream is a question', () => {
    event('1', question(0));
    expect(point.eventId).toBeUndefined();
    point.answered(0);
    expect(point.eventId).toBe('1');
  });

  it('is the last event where the question has no id of its own', () => {
    event('1', PROGRESS);
    point.received(question(0));
    expect(point.eventId).toBe('1');
  });

  it('begins where the process before it came to', () => {
    point = new ResumePoint('7');
    event('8', question(0));
    expect(point.eventId).toBe('7');
  });
});
