import { describe, expect, it } from '@jest/globals';
import { workspacePath } from './workspace-path.js';

const ID = '01935f2e-0000-7000-8000-0000000000aa';
const session = { type: 'session', sessionId: 's-1' } as const;

describe('the path of a workspace', () => {
  it('is that of the session, or of the team of a bot', () => {
    expect(workspacePath({ id: ID, name: 'default' }, session)).toEqual([
      'default',
      'sessions',
      's-1',
    ]);
    const bot = { type: 'bot', teamId: 't', botId: 'b' } as const;
    expect(workspacePath({ id: ID, name: 'default' }, bot)).toEqual(['default', 'teams', 't']);
  });

  it.each([
    undefined,
    '',
    '..',
    '../x',
    'A',
    'app_01jdfjw000e00800000000005a',
    'a/b',
    'a\0',
    '应用',
  ])('begins with the id of an app whose name %j is no safe folder', (name) => {
    expect(workspacePath({ id: ID, name }, session)[0]).toBe('app_01jdfjw000e00800000000005a');
  });

  it.each(['..', '.', 'a/b', '', 'a\0b'])('does not exist for a session %j', (sessionId) => {
    const address = { type: 'session', sessionId } as const;
    expect(() => workspacePath({ id: ID, name: 'default' }, address)).toThrow();
  });
});
