import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Logger } from '../../../common/logger.js';
import { ProgramStarter } from './program-starter.js';

const CAT = { command: 'cat', args: ['-'], env: {} };

function refuseSignals(): void {
  jest.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
}

describe('A program', () => {
  const logged: object[] = [];
  const logger = { error: (event: string, fields: object) => logged.push({ event, ...fields }) };
  const programs = new ProgramStarter(logger as unknown as Logger);

  afterEach(() => {
    jest.restoreAllMocks();
    logged.length = 0;
  });

  it('that may not be told to end is no program that has ended: it is logged', async () => {
    const group = await programs.start(CAT);
    refuseSignals();
    await group.end();
    const { id: groupId } = group;
    expect(logged).toEqual([{ event: 'upstream_program.not_ended', command: 'cat', groupId }]);
  });

  it('that ends is not logged, and leaves nothing to be done when this process ends', async () => {
    const before = process.listenerCount('exit');
    const groups = [await programs.start(CAT), await programs.start(CAT)];
    expect(process.listenerCount('exit')).toBe(before + 1);
    await Promise.all(groups.map((group) => group.end()));
    expect(logged).toEqual([]);
    expect(process.listenerCount('exit')).toBe(before);
  });
});
