import { describe, expect, it } from '@jest/globals';
import { DEFAULT_SETTINGS } from '../settings/settings-tree.js';
import { type PolicySources, resolvePolicy } from './call-policy.js';

const sources = (differing: Partial<PolicySources> = {}): PolicySources => ({
  settings: DEFAULT_SETTINGS,
  toolMode: undefined,
  wish: {},
  hasParentCall: false,
  ...differing,
});

describe('the policy of a call', () => {
  it('follows the settings where nobody says otherwise', () => {
    const policy = resolvePolicy(sources());
    expect(policy).toMatchObject({
      mode: 'auto',
      autoAfterSec: 180,
      maxHours: 24,
      onLimit: 'wait',
    });
    expect(new Set(Object.values(policy.origins))).toEqual(new Set(['settings']));
  });

  it('takes the mode of the tool before that of the settings', () => {
    const policy = resolvePolicy(sources({ toolMode: 'always' }));
    expect(policy).toMatchObject({ mode: 'always', origins: { mode: 'tool' } });
  });

  it('takes each wish of the request by itself', () => {
    const policy = resolvePolicy(sources({ toolMode: 'always', wish: { autoAfterSec: 3 } }));
    expect(policy).toMatchObject({ mode: 'always', autoAfterSec: 3, maxHours: 24 });
    expect(policy.origins).toMatchObject({ mode: 'tool', autoAfterSec: 'request' });
  });

  it('lets no wish opt in a tool that the administrator excluded', () => {
    const policy = resolvePolicy(sources({ toolMode: 'never', wish: { mode: 'always' } }));
    expect(policy).toMatchObject({ mode: 'never', origins: { mode: 'tool' } });
  });

  it('keeps a call that was made inside another call in the foreground', () => {
    const policy = resolvePolicy(sources({ hasParentCall: true, wish: { mode: 'always' } }));
    expect(policy).toMatchObject({ mode: 'never', origins: { mode: 'parent_call' } });
  });
});
