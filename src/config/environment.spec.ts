import { describe, expect, it } from '@jest/globals';
import { InvalidEnvironmentError, readEnvironment } from './environment.js';

const KEY = 'a-key-that-is-long-enough-1';

describe('the environment', () => {
  it('needs nothing, and an empty variable counts as not set', () => {
    const configuration = readEnvironment({ PORT: '', BGC_ADMIN_KEY: '' });
    expect(configuration).toMatchObject({ host: '127.0.0.1', port: 8080, demo: true });
    expect(configuration.fixedKeys).toEqual({});
  });

  it('is refused with one list of all mistakes', () => {
    const environment = { PORT: 'x', BGC_DRAIN_SEC: '-1', DATABASE_URL: 'mysql://x' };
    expect(() => readEnvironment(environment)).toThrow(InvalidEnvironmentError);
    expect(() => readEnvironment(environment)).toThrow(/PORT[^]*DATABASE_URL[^]*BGC_DRAIN_SEC/);
  });

  it.each([
    ['too short', { BGC_AGENT_KEY: 'short' }, /BGC_AGENT_KEY: must have at least 24/],
    ['not sendable in a header', { BGC_AGENT_KEY: `${KEY} with spaces` }, /BGC_AGENT_KEY: .*ASCII/],
    ['the same for two audiences', { BGC_AGENT_KEY: KEY, BGC_BOT_KEY: KEY }, /must differ/],
  ])('is refused when a key is %s', (_what, environment, message) => {
    expect(() => readEnvironment(environment)).toThrow(message);
  });
});
