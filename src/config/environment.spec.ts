import { describe, expect, it } from '@jest/globals';
import { InvalidEnvironmentError, readEnvironment } from './environment.js';
import { formatSecretsKeys, SECRETS_KEYS_FORM, type SecretsKey } from './secrets-keys.js';

const KEY = 'a-key-that-is-long-enough-1';

const aKey = (id: string, byte: number): SecretsKey => ({ id, key: Buffer.alloc(32, byte) });

const BGC_SECRETS_KEYS = formatSecretsKeys([aKey('a', 1)]);

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
        BGC_SECRETS_KEYS: 'a:c2hvcnQ=',
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
          `BGC_SECRETS_KEYS: ${SECRETS_KEYS_FORM}`,
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
    const external = { DATABASE_URL: 'postgres://x', BGC_SECRETS_KEYS };
    expect(readEnvironment({}).outboundAllow).toContain('127.0.0.0/8');
    expect(readEnvironment({ ...external, BGC_DEMO: 'true' }).outboundAllow).toContain('::1');
    expect(readEnvironment(external).outboundAllow).toEqual([]);
    const BGC_OUTBOUND_ALLOW = '10.0.0.0/8, internal.example';
    expect(readEnvironment({ BGC_OUTBOUND_ALLOW }).outboundAllow).toEqual([
      '10.0.0.0/8',
      'internal.example',
    ]);
  });

  it('needs keys for secrets with an external database only, and says what they look like', () => {
    expect(readEnvironment({}).secretsKeys).toBeUndefined();
    const external = { DATABASE_URL: 'postgres://db/x' };
    expect(() => readEnvironment(external)).toThrow(/^BGC_SECRETS_KEYS: is needed .*id:base64/);
    const keys = [aKey('new', 1), aKey('old', 2)];
    const given = { ...external, BGC_SECRETS_KEYS: formatSecretsKeys(keys) };
    expect(readEnvironment(given).secretsKeys).toEqual(keys);
  });

  it.each([
    ['no id', formatSecretsKeys([aKey('', 1)])],
    ['31 bytes', `a:${Buffer.alloc(31, 7).toString('base64')}`],
    ['one id twice', formatSecretsKeys([aKey('a', 1), aKey('a', 2)])],
    ['an empty part', `${formatSecretsKeys([aKey('a', 1)])},`],
  ])('is refused when the keys for secrets have %s, without repeating them', (_what, given) => {
    const message = `BGC_SECRETS_KEYS: ${SECRETS_KEYS_FORM}`;
    expect(() => readEnvironment({ BGC_SECRETS_KEYS: given })).toThrow(
      new InvalidEnvironmentError(message),
    );
  });

  it.each([
    ['PORT', ' '],
    ['PORT', '0x1f90'],
    ['BGC_DRAIN_SEC', ' '],
    ['BGC_OUTBOUND_ALLOW', '192.168/16'],
    ['BGC_OUTBOUND_ALLOW', '10.0.0.0/8,0/0'],
    ['BGC_STDIO_COMMANDS', '*'],
    ['BGC_STDIO_COMMANDS', 'npx -y server'],
    ['BGC_STDIO_COMMANDS', 'npx;rm'],
    ['BGC_STDIO_COMMANDS', '/'],
  ])('is refused when %s is "%s", which would not mean what it seems to', (name, value) => {
    expect(() => readEnvironment({ [name]: value })).toThrow(name);
  });

  it.each([
    ['too short', { BGC_AGENT_KEY: 'short' }, /BGC_AGENT_KEY: must have at least 24/],
    ['not sendable in a header', { BGC_AGENT_KEY: `${KEY} with spaces` }, /BGC_AGENT_KEY: .*ASCII/],
    ['the same for two audiences', { BGC_AGENT_KEY: KEY, BGC_BOT_KEY: KEY }, /must differ/],
  ])('is refused when a key is %s', (_what, environment, message) => {
    expect(() => readEnvironment(environment)).toThrow(message);
  });
});
