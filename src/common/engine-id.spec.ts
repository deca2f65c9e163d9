import { describe, expect, it } from '@jest/globals';
import { isEngineId } from './engine-id.js';

describe('an id of the engine', () => {
  it.each(['s', '...', '.a', 'team:1@eu_west-2.x', 'x'.repeat(128)])('may be %s', (id) => {
    expect(isEngineId(id)).toBe(true);
  });

  it.each(['', '.', '..', 'a b', 'a/b', 'é', 'a\n', 'x'.repeat(129), 5, null, ['a']])(
    'is not %j',
    (id) => {
      expect(isEngineId(id)).toBe(false);
    },
  );
});
