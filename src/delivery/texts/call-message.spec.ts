import { describe, expect, it } from '@jest/globals';
import { anInputNotice, aNotice } from '../../../test/support/a-notice.js';
import type { PlacedNotice } from '../call-notice.js';
import { composeMessage, MAX_TEXT_BYTES } from './call-message.js';

const NOW = new Date('2026-01-31T12:00:30.000Z');

function compose(waiting: PlacedNotice[]): { told: number; text: string; kind: string } {
  const address = { type: 'session', sessionId: 's' } as const;
  const id = '01935f2e-0000-7000-8000-0000000000bb';
  const draft = { id, address, locale: 'zh-CN', createdAt: NOW, waiting } as const;
  const { told, body } = composeMessage(draft);
  return { ...(JSON.parse(body) as { text: string; kind: string }), told: told.length };
}

function waiting(count: number, preview: string): PlacedNotice[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `01935f2e-0000-7000-8000-${String(index).padStart(12, '0')}`,
    notice: aNotice({ tool: `tool_${index}`, preview }),
  }));
}

function never(): never {
  throw new Error('there is one');
}

describe('a message', () => {
  it('tells of all that waits, oldest first, and says once that it is a system message', () => {
    const { told, text } = compose(waiting(3, 'ok'));
    expect(told).toBe(3);
    expect([...text.matchAll(/^【后台调用完成】.* · (\S+)（/gm)].map(([, tool]) => tool)).toEqual([
      'tool_0',
      'tool_1',
      'tool_2',
    ]);
    expect(text.match(/这是系统消息/g)).toHaveLength(1);
  });

  it('is of one kind: it ends before that which is of another', () => {
    const [ended = never(), other = never()] = waiting(2, 'ok');
    const asks = (id: string): PlacedNotice => ({ id, notice: anInputNotice() });
    const answers = [
      compose([ended, other, asks(ended.id), ended]),
      compose([asks(ended.id), asks(other.id), ended]),
    ];
    expect(answers.map(({ told, kind }) => [told, kind])).toEqual([
      [2, 'background_call.result'],
      [2, 'background_call.input_required'],
    ]);
  });

  it('has at most 20 notifications', () => {
    expect(compose(waiting(25, 'ok')).told).toBe(20);
  });

  it('has at most 64 KB of text', () => {
    const { told, text } = compose(waiting(10, '字'.repeat(7_000)));
    expect(told).toBe(3);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
  });

  it('has at least one notification, however long it is', () => {
    expect(compose(waiting(2, 'x'.repeat(100_000))).told).toBe(1);
  });
});
