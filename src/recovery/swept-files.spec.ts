import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { AppDirectory } from '../apps/app.directory.js';
import { SystemClock } from '../common/clock.js';
import type { Ids } from '../common/ids.js';
import { Logger } from '../common/logger.js';
import type { Configuration } from '../config/environment.js';
import { ResultFiles } from '../delivery/files/result-files.js';
import type { SweptCall } from './sweep.repository.js';
import { SweptFiles } from './swept-files.js';

const APP = '01935f2e-0000-7000-8000-0000000000aa';

function aSweptCall(sessionId: string): SweptCall {
  return {
    id: '01935f2e-0000-7000-8000-0000000000ab',
    targetId: 1,
    appId: APP,
    address: { type: 'session', sessionId },
    ownerId: '01935f2e-0000-7000-8000-0000000000ac',
    isOwnerGone: true,
    isDispatched: true,
    isCancelRequested: false,
    maxHours: 1,
    spentMs: 0,
    reference: null,
  };
}

describe('files of swept calls that can’t be removed', () => {
  let folder: string;
  let lines: Record<string, unknown>[];
  let swept: SweptFiles;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bgc-swept-files-'));
    lines = [];
    const stream = { write: (line: string) => lines.push(JSON.parse(line) as never) };
    const logger = new Logger(pino({ base: null }, stream));
    const workspacesDir = join(folder, 'no-folder');
    await writeFile(workspacesDir, '');
    const apps = { byId: () => undefined } as unknown as AppDirectory;
    const configuration = { workspacesDir } as Configuration;
    const files = new ResultFiles(configuration, apps, {} as Ids, logger);
    swept = new SweptFiles(files, new SystemClock(), logger);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('are one line of the log in a sweep, whatever its parts', async () => {
    await swept.remove([aSweptCall('a'), aSweptCall('b'), aSweptCall('a')]);
    await swept.remove([aSweptCall('c')]);
    expect(lines).toEqual([]);
    swept.finish();
    expect(lines).toMatchObject([{ event: 'result_files.left_behind', calls: 4 }]);
    swept.finish();
    expect(lines).toHaveLength(1);
  });
});
