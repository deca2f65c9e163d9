import { describe, expect, it } from '@jest/globals';
import { aNotice } from '../../test/support/a-notice.js';
import type { PlacedNotice } from './call-notice.js';
import { composeResultMessage, MAX_TEXT_BYTES } from './result-message.js';

const NOW = new Date('2026-01-31T12:00:30.000Z');

function compose(waiting: PlacedNotice[]): { told: number; text: string } {
  const address = { type: 'session', sessionId: 's' } as const;
  const id = '01935f2e-0000-7000-8000-0000000000bb';
  const draft = { id, address, locale: 'zh-CN', createdAt: NOW, waiting } as const;
  const { told, body } = composeResultMessage(draft);
  return { told: told.length, text: (JSON.parse(body) as { text: string }).text };
}

function waiting(count: number, preview: string): PlacedNotice[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `01935f2e-0000-7000-8000-${String(index).padStart(12, '0')}`,
    notice: aNotice({ tool: `tool_${index}`, preview }),
  }));
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
