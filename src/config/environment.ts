import { z } from 'zod';

const seconds = (fallback: number): z.ZodType<number> =>
  z.coerce.number().min(0.05).max(86_400).default(fallback);
const key = z
  .string()
  .min(24, 'must have at least 24 characters')
  .regex(/^[\x21-\x7e]{0,512}$/, 'must be at most 512 visible ASCII characters')
  .optional();

const schema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  BGC_DATA_DIR: z.string().default('./data'),
  BGC_ADMIN_KEY: key,
  BGC_AGENT_KEY: key,
  BGC_BOT_KEY: key,
  BGC_DEMO: z.enum(['true', 'false']).optional(),
  BGC_DRAIN_SEC: z.coerce.number().min(0).max(3_600).default(30),
  BGC_INSTANCE_HEARTBEAT_SEC: seconds(3),
  BGC_INSTANCE_LEASE_SEC: seconds(12),
  BGC_MAX_ARGUMENT_BYTES: z.coerce.number().int().min(1_024).max(16_777_216).default(262_144),
});

/** The configuration of this process; what may change while it runs is in `settings/`. */
export abstract class Configuration {
  abstract readonly host: string;
  abstract readonly port: number;
  /** Undefined: the embedded database in `dataDir` is used. */
  abstract readonly databaseUrl: string | undefined;
  abstract readonly logLevel: string;
  abstract readonly dataDir: string;
  /** Keys of the app `default` that the environment fixes. */
  abstract readonly fixedKeys: { admin?: string; agent?: string; bot?: string };
  /** Whether the demo MCP server is started and registered. */
  abstract readonly demo: boolean;
  abstract readonly drainSec: number;
  abstract readonly heartbeatSec: number;
  abstract readonly leaseSec: number;
  abstract readonly maxArgumentBytes: number;
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
  const mistakes = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  if (
    parsed.data &&
    parsed.data.BGC_INSTANCE_LEASE_SEC < 2 * parsed.data.BGC_INSTANCE_HEARTBEAT_SEC
  )
    mistakes.push('BGC_INSTANCE_LEASE_SEC: must be at least twice BGC_INSTANCE_HEARTBEAT_SEC');
  if (parsed.data && hasEqualKeys(parsed.data))
    mistakes.push('BGC_ADMIN_KEY, BGC_AGENT_KEY, BGC_BOT_KEY: must differ from one another');
  if (!parsed.data || mistakes.length > 0) throw new InvalidEnvironmentError(mistakes.join('\n'));
  return toConfiguration(parsed.data);
}

function hasEqualKeys(env: z.infer<typeof schema>): boolean {
  const keys = [env.BGC_ADMIN_KEY, env.BGC_AGENT_KEY, env.BGC_BOT_KEY].filter(Boolean);
  return new Set(keys).size < keys.length;
}

function toConfiguration(env: z.infer<typeof schema>): Configuration {
  return {
    host: env.HOST,
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    logLevel: env.LOG_LEVEL,
    dataDir: env.BGC_DATA_DIR,
    fixedKeys: { admin: env.BGC_ADMIN_KEY, agent: env.BGC_AGENT_KEY, bot: env.BGC_BOT_KEY },
    demo: env.BGC_DEMO === undefined ? env.DATABASE_URL === undefined : env.BGC_DEMO === 'true',
    drainSec: env.BGC_DRAIN_SEC,
    heartbeatSec: env.BGC_INSTANCE_HEARTBEAT_SEC,
    leaseSec: env.BGC_INSTANCE_LEASE_SEC,
    maxArgumentBytes: env.BGC_MAX_ARGUMENT_BYTES,
  };
}
