import { pino, type Logger as PinoLogger } from 'pino';
import { type IdPrefix, toPublicId, UUID } from './ids.js';
import { currentRequestContext } from './request-context.js';

type Fields = Record<string, string | number | boolean | null | undefined>;

const ID_FIELDS: Readonly<Record<string, IdPrefix>> = {
  appId: 'app',
  callId: 'bgc',
  messageId: 'msg',
  instanceId: 'ins',
  serverId: 'msv',
};

/**
 * JSON log lines: an event name and fields, never arguments or results; ids as the API shows them.
 * ERROR means that a person must act.
 */
export class Logger {
  constructor(private readonly pinoLogger: PinoLogger) {}

  static create(level: string): Logger {
    return new Logger(
      pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }),
    );
  }

  info(event: string, fields: Fields = {}): void {
    this.pinoLogger.info({ event, ...this.request(), ...withPublicIds(fields) });
  }

  warn(event: string, fields: Fields = {}, error?: unknown): void {
    this.pinoLogger.warn({
      event,
      ...this.request(),
      ...withPublicIds(fields),
      ...describe(error),
    });
  }

  error(event: string, fields: Fields = {}, error?: unknown): void {
    this.pinoLogger.error({
      event,
      ...this.request(),
      ...withPublicIds(fields),
      ...describe(error),
    });
  }

  private request(): Fields {
    const context = currentRequestContext();
    return context ? { requestId: context.requestId } : {};
  }
}

function withPublicIds(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const prefix = ID_FIELDS[name];
      const isStoredId = prefix !== undefined && typeof value === 'string' && UUID.test(value);
      return [name, isStoredId ? toPublicId(prefix, value) : value];
    }),
  );
}

/**
 * Only what is known to be ours. A database error, for one, brings whole rows in its `detail`, and
 * with them arguments.
 */
function describe(error: unknown): Record<string, unknown> {
  if (error === undefined) return {};
  const err = pino.stdSerializers.err(error as Error) as Partial<Record<string, unknown>>;
  if (typeof err !== 'object' || err === null) return { err };
  const { type, message, stack, code, constraint } = err;
  return { err: { type, message, stack, code, constraint } };
}
