import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { wrongFiles } from './workspace-files.js';

const PATH = 'default/sessions/s/.agent/mcp/bgc_1.txt';
const NAMED = { path: PATH, name: 's.1', bytes: 8 };
const RIGHT = 's.1 done';

describe('the files of the workspaces', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'bgc-files-'));
    await mkdir(join(root, PATH, '..'), { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true }));

  async function wrongWith(files: Record<string, string>): Promise<string[]> {
    for (const [path, content] of Object.entries(files)) await writeFile(join(root, path), content);
    return wrongFiles(root, [NAMED]);
  }

  it('are right when they are those that are named', async () => {
    expect(await wrongWith({ [PATH]: RIGHT })).toEqual([]);
  });

  it.each([
    ['temporary file', `${PATH}.tmp`, { [PATH]: RIGHT, [`${PATH}.tmp`]: '' }],
    ['file that no call names', `${PATH}x`, { [PATH]: RIGHT, [`${PATH}x`]: RIGHT }],
    ['missing named file', PATH, {}],
    ['named file that holds something else', PATH, { [PATH]: 's.2 done' }],
    ['named file that holds something else', PATH, { [PATH]: `${RIGHT} and more` }],
  ])('are wrong: %s', async (what, path, files) => {
    expect(await wrongWith(files)).toContain(`${what} ${path}`);
  });
});
