import { describe, expect, it } from '@jest/globals';
import { walkToolList } from './tool-list.js';
import type { ToolPage } from './upstream-session.js';

const page = (name: string, nextCursor?: string): ToolPage => ({ tools: [{ name }], nextCursor });

describe('The walk through a tool list', () => {
  it('asks for each page by the cursor of the one before', async () => {
    const asked: (string | undefined)[] = [];
    const tools = await walkToolList((cursor) => {
      asked.push(cursor);
      const next = new Map([
        [undefined, ''],
        ['', 'x'],
      ]).get(cursor);
      return Promise.resolve(page(`after ${cursor}`, next));
    });
    expect(asked).toEqual([undefined, '', 'x']);
    expect(tools.map(({ name }) => name)).toEqual(['after undefined', 'after ', 'after x']);
  });

  it('ends with an error at a cursor that comes twice', async () => {
    let pages = 0;
    const circle = walkToolList(() => Promise.resolve(page('x', String(pages++ % 3))));
    await expect(circle).rejects.toMatchObject({ code: 'upstream_error' });
    expect(pages).toBe(4);
  });

  it('ends with an error after 100 pages', async () => {
    let pages = 0;
    const endless = walkToolList(() => Promise.resolve(page('x', String(pages++))));
    await expect(endless).rejects.toMatchObject({ code: 'upstream_error' });
    expect(pages).toBe(100);
  });
});
