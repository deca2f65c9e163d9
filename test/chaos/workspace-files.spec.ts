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
    const counts = Object.entries(wrongFiles(root, [NAMED]));
    return counts.filter(([, count]) => count > 0).map(([what]) => what);
  }

  it('are right when they are those that are named', async () => {
    expect(await wrongWith({ [PATH]: RIGHT })).toEqual([]);
  });

  it.each([
    ['temporary files', { [PATH]: RIGHT, [`${PATH}.tmp`]: '' }],
    ['files that no call names', { [PATH]: RIGHT, [`${PATH}x`]: RIGHT }],
    ['named files that are not there', {}],
    ['named files that hold something else', { [PATH]: 's.2 done' }],
    ['named files that hold something else', { [PATH]: `${RIGHT} and more` }],
  ])('are wrong: %s', async (what, files) => {
    expect(await wrongWith(files)).toContain(what);
  });
});
