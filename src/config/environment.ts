import { join } from 'node:path';
import { z } from 'zod';
import {
  addresses,
  commands,
  key,
  number,
  oneOf,
  secretsKeys,
  wholeNumber,
} from './environment-variable.js';
import { SECRETS_KEYS_FORM, type SecretsKey } from './secrets-keys.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

const LOOPBACK = ['127.0.0.0/8', '::1', 'localhost'];

const schema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(8080),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional(),
  LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  BGC_DATA_DIR: z.string().default('./data'),
  BGC_WORKSPACES_DIR: z.string().optional(),
  BGC_ADMIN_KEY: key,
  BGC_AGENT_KEY: key,
  BGC_BOT_KEY: key,
  BGC_DEMO: oneOf(['true', 'false']).optional(),
  BGC_DRAIN_SEC: number(0, 3_600).default(30),
  BGC_INSTANCE_HEARTBEAT_SEC: number(0.05, 86_400).default(3),
  BGC_INSTANCE_LEASE_SEC: number(0.05, 86_400).default(12),
  BGC_MAX_ARGUMENT_BYTES: wholeNumber(1_024, 16_777_216).default(262_144),
  BGC_OUTBOUND_ALLOW: addresses,
  BGC_STDIO_COMMANDS: commands,
  BGC_SECRETS_KEYS: secretsKeys,
});

/** What a program that is started here needs to find itself at home; none of it is a secret of ours. */
const INHERITED =
  /^(HOME|LANG|LANGUAGE|LC_[A-Z]+|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/;

/** The configuration of this process; what may change while it runs is in `settings/`. */
export abstract class Configuration {
  abstract readonly host: string;
  abstract readonly port: number;
  /** Undefined: the embedded database in `dataDir` is used. */
  abstract readonly databaseUrl: string | undefined;
  abstract readonly logLevel: string;
  abstract readonly dataDir: string;
  /** Root of the workspaces in which long results become files. */
  abstract readonly workspacesDir: string;
  /** Keys of the app `default` that the environment fixes. */
  abstract readonly fixedKeys: { admin?: string; agent?: string; bot?: string };
  /** Whether the demo MCP server is started and registered. */
  abstract readonly demo: boolean;
  abstract readonly drainSec: number;
  abstract readonly heartbeatSec: number;
  abstract readonly leaseSec: number;
  abstract readonly maxArgumentBytes: number;
  /** Addresses, networks and host names besides public ones to which requests may go. */
  abstract readonly outboundAllow: readonly string[];
  /** What programs that are started here get of our environment: places and language, no secrets. */
  abstract readonly inheritedEnvironment: Record<string, string>;
  /** The programs that may be started as MCP servers, exactly so. */
  abstract readonly stdioCommands: readonly string[];
  /** Seal secrets at rest, the first of them; undefined: one is generated into `dataDir`. */
  abstract readonly secretsKeys: readonly SecretsKey[] | undefined;
}

/** The environment has mistakes; the message lists all of them, one a line. */
export class InvalidEnvironmentError extends Error {}

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws InvalidEnvironmentError with every mistake in one list.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv = process.env): Configuration {
  const given = Object.entries(environment).filter(([, value]) => value !== '');
  const parsed = schema.safeParse(Object.fromEntries(given));
  const issues = parsed.error?.issues ?? [];
  const mistakes = [
    ...issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...mistakesTogether(Object.fromEntries(given)),
  ];
  if (!parsed.data || mistakes.length > 0) throw new InvalidEnvironmentError(mistakes.join('\n'));
  return { ...toConfiguration(parsed.data), inheritedEnvironment: inherited(given) };
}

/** What is wrong between variables, whatever else is wrong with each of them. */
function mistakesTogether(env: NodeJS.ProcessEnv): string[] {
  const { BGC_INSTANCE_HEARTBEAT_SEC, BGC_INSTANCE_LEASE_SEC } = schema.shape;
  const heartbeat = BGC_INSTANCE_HEARTBEAT_SEC.safeParse(env.BGC_INSTANCE_HEARTBEAT_SEC).data;
  const lease = BGC_INSTANCE_LEASE_SEC.safeParse(env.BGC_INSTANCE_LEASE_SEC).data;
  const keys = [env.BGC_ADMIN_KEY, env.BGC_AGENT_KEY, env.BGC_BOT_KEY].filter(Boolean);
  return [
    ...(heartbeat && lease && lease < 2 * heartbeat
      ? ['BGC_INSTANCE_LEASE_SEC: must be at least twice BGC_INSTANCE_HEARTBEAT_SEC']
      : []),
    ...(new Set(keys).size < keys.length
      ? ['BGC_ADMIN_KEY, BGC_AGENT_KEY, BGC_BOT_KEY: must differ from one another']
      : []),
    ...(env.DATABASE_URL && !env.BGC_SECRETS_KEYS
      ? [
          `BGC_SECRETS_KEYS: is needed with DATABASE_URL, the same for every replica: ${SECRETS_KEYS_FORM}`,
        ]
      : []),
  ];
}

function inherited(given: [string, string | undefined][]): Record<string, string> {
  const entries = given.filter(([name]) => INHERITED.test(name));
  return Object.fromEntries(entries) as Record<string, string>;
}

function toConfiguration(env: z.infer<typeof schema>): Omit<Configuration, 'inheritedEnvironment'> {
  const demo =
    env.BGC_DEMO === undefined ? env.DATABASE_URL === undefined : env.BGC_DEMO === 'true';
  return {
    host: env.HOST,
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    logLevel: env.LOG_LEVEL,
    dataDir: env.BGC_DATA_DIR,
    workspacesDir: env.BGC_WORKSPACES_DIR ?? join(env.BGC_DATA_DIR, 'workspaces'),
    fixedKeys: { admin: env.BGC_ADMIN_KEY, agent: env.BGC_AGENT_KEY, bot: env.BGC_BOT_KEY },
    demo,
    drainSec: env.BGC_DRAIN_SEC,
    heartbeatSec: env.BGC_INSTANCE_HEARTBEAT_SEC,
    leaseSec: env.BGC_INSTANCE_LEASE_SEC,
    maxArgumentBytes: env.BGC_MAX_ARGUMENT_BYTES,
    outboundAllow:
      env.BGC_OUTBOUND_ALLOW ?? (env.DATABASE_URL === undefined || demo ? LOOPBACK : []),
    stdioCommands: env.BGC_STDIO_COMMANDS,
    secretsKeys: env.BGC_SECRETS_KEYS,
  };
}
