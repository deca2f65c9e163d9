import { describe, expect, it } from '@jest/globals';
import type { WorkAnswer } from '../background-calls/call-work.js';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream-call.js';
import { UpstreamWork } from './upstream-work.js';

const REFERENCE = {
  kind: 'task',
  url: 'http://upstream/',
  sessionId: null,
  protocolVersion: '2025-11-25',
  taskId: 'task-1',
  ttlMs: null,
} as const;

describe('the work behind a call', () => {
  it('tells whoever attaches what was told last, and from then on nobody else', () => {
    const { work, upstream } = begin();
    upstream.onReference(REFERENCE);
    upstream.onProgress({ progress: 1 });
    upstream.onProgress({ progress: 2 });
    const [first, second] = [hearer(), hearer()];
    work.attach(first.listener);
    work.attach(second.listener);
    upstream.onProgress({ progress: 3 });
    expect(first.heard).toEqual([REFERENCE, { progress: 2 }]);
    expect(second.heard).toEqual([REFERENCE, { progress: 2 }, { progress: 3 }]);
  });

  it('puts an open question to whoever attaches, and hears that one alone', async () => {
    const { work, upstream } = begin();
    const answers: ((answer: WorkAnswer) => void)[] = [];
    const slow = (): Promise<WorkAnswer> => new Promise((resolve) => answers.push(resolve));
    work.attach({ ...hearer().listener, onQuestion: slow });
    const answered = upstream.onQuestion({ message: 'Which one?', schema: {} });
    work.attach({ ...hearer().listener, onQuestion: slow });
    const [first, second] = answers;
    first?.({ action: 'cancel' });
    await new Promise(setImmediate);
    second?.({ action: 'accept', content: { one: 0 } });
    expect(await answered).toEqual({ action: 'accept', content: { one: 0 } });
    work.attach({ ...hearer().listener, onQuestion: slow });
    expect(answers).toHaveLength(2);
  });

  it('gives up what is asked while nobody listens', async () => {
    const question = { message: 'Which one?', schema: {} };
    expect(await begin().upstream.onQuestion(question)).toEqual({ action: 'cancel' });
  });
});

function begin(): { work: UpstreamWork; upstream: UpstreamListener } {
  let upstream: UpstreamListener | undefined;
  const work = new UpstreamWork((listener) => {
    upstream = listener;
    return { outcome: new Promise(() => undefined) } as unknown as UpstreamCall;
  });
  return { work, upstream: upstream! };
}

function hearer(): { heard: unknown[]; listener: Parameters<UpstreamWork['attach']>[0] } {
  const heard: unknown[] = [];
  const hear = (told: unknown): void => void heard.push(told);
  const onQuestion = (): Promise<{ action: 'decline' }> => Promise.resolve({ action: 'decline' });
  return { heard, listener: { onProgress: hear, onReference: hear, onQuestion } };
}
