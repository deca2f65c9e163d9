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
    const environment = {
      ...{
        PORT: 'x',
        DATABASE_URL: 'mysql://x',
        LOG_LEVEL: 'loud',
        BGC_MAX_ARGUMENT_BYTES: '1e99',
        BGC_OUTBOUND_ALLOW: '10.0.0.0/8,http://x',
        BGC_STDIO_COMMANDS: 'node,./server',
      },
      ...{ BGC_INSTANCE_LEASE_SEC: '1', BGC_ADMIN_KEY: KEY, BGC_BOT_KEY: KEY },
    };
    expect(() => readEnvironment(environment)).toThrow(
      new InvalidEnvironmentError(
        [
          'PORT: must be a whole number from 0 to 65535',
          'DATABASE_URL: must begin with postgres:// or postgresql://',
          'LOG_LEVEL: must be one of: fatal, error, warn, info, debug, silent',
          'BGC_MAX_ARGUMENT_BYTES: must be a whole number from 1024 to 16777216',
          'BGC_OUTBOUND_ALLOW: must be addresses, networks such as 10.0.0.0/8, or host names, separated by commas',
          'BGC_STDIO_COMMANDS: must be names of commands or absolute paths, separated by commas',
          'BGC_INSTANCE_LEASE_SEC: must be at least twice BGC_INSTANCE_HEARTBEAT_SEC',
          'BGC_ADMIN_KEY, BGC_AGENT_KEY, BGC_BOT_KEY: must differ from one another',
        ].join('\n'),
      ),
    );
  });

  it('lists the commands that may be started, none by default', () => {
    expect(readEnvironment({}).stdioCommands).toEqual([]);
    const { stdioCommands } = readEnvironment({ BGC_STDIO_COMMANDS: 'npx, /opt/my server' });
    expect(stdioCommands).toEqual(['npx', '/opt/my server']);
    expect(() => readEnvironment({ BGC_STDIO_COMMANDS: 'npx,' })).toThrow(/BGC_STDIO_COMMANDS/);
  });

  it('allows requests to loopback by itself only where everything is on one machine', () => {
    const DATABASE_URL = 'postgres://x';
    expect(readEnvironment({}).outboundAllow).toContain('127.0.0.0/8');
    expect(readEnvironment({ DATABASE_URL, BGC_DEMO: 'true' }).outboundAllow).toContain('::1');
    expect(readEnvironment({ DATABASE_URL }).outboundAllow).toEqual([]);
    const BGC_OUTBOUND_ALLOW = '10.0.0.0/8, internal.example';
    expect(readEnvironment({ BGC_OUTBOUND_ALLOW }).outboundAllow).toEqual([
      '10.0.0.0/8',
      'internal.example',
    ]);
  });

  it.each([
    ['too short', { BGC_AGENT_KEY: 'short' }, /BGC_AGENT_KEY: must have at least 24/],
    ['not sendable in a header', { BGC_AGENT_KEY: `${KEY} with spaces` }, /BGC_AGENT_KEY: .*ASCII/],
    ['the same for two audiences', { BGC_AGENT_KEY: KEY, BGC_BOT_KEY: KEY }, /must differ/],
  ])('is refused when a key is %s', (_what, environment, message) => {
    expect(() => readEnvironment(environment)).toThrow(message);
  });
});
