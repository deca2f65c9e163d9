import { describe, expect, it } from '@jest/globals';
import { walkToolList } from './tool-list.js';
import type { ToolPage } from '../upstream-session.js';

const aTool = (name: unknown): object => ({ name, inputSchema: { type: 'object' } });
const page = (name: string, nextCursor?: string): ToolPage => ({
  tools: [aTool(name)],
  nextCursor,
});

describe('The walk through a tool list', () => {
  it('asks for each page by the cursor of the one before', async () => {
    const asked: (string | undefined)[] = [];
    const { tools } = await walkToolList((cursor) => {
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

  it('leaves out what can not be offered, alone and with the reason', async () => {
    const good = { ...aTool('good'), unheard: { of: 1 } };
    const told = [
      good,
      'text',
      { inputSchema: { type: 'object' } },
      aTool(''),
      aTool('x'.repeat(257)),
      aTool('a\u0000b'),
      { name: 'no schema' },
      { name: 'a list', inputSchema: [] },
      { name: 'a string', inputSchema: { type: 'string' } },
      aTool('good'),
      aTool('工具'),
    ];
    const { tools, leftOut } = await walkToolList(() =>
      Promise.resolve({ tools: told, nextCursor: undefined }),
    );
    expect(tools).toEqual([good, aTool('工具')]);
    expect(leftOut).toEqual([
      { name: null, reason: 'it is not an object' },
      { name: null, reason: 'it has no name' },
      { name: '', reason: 'it has no name' },
      { name: 'x'.repeat(257), reason: 'its name is longer than 256 characters' },
      { name: expect.any(String), reason: 'its name has control characters' },
      { name: 'no schema', reason: 'its inputSchema is not an object' },
      { name: 'a list', reason: 'its inputSchema is not an object' },
      { name: 'a string', reason: 'the type of its inputSchema is not "object"' },
      { name: 'good', reason: 'its name came before' },
    ]);
  });
});
