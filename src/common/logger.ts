import { pino, type Logger as PinoLogger } from 'pino';
import { currentRequestContext } from './request-context.js';

type Fields = Record<string, string | number | boolean | null | undefined>;

/**
 * JSON log lines: an event name and fields, never arguments or results.
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
    this.pinoLogger.info({ event, ...this.request(), ...fields });
  }

  warn(event: string, fields: Fields = {}, error?: unknown): void {
    this.pinoLogger.warn({ event, ...this.request(), ...fields, ...describe(error) });
  }

  error(event: string, fields: Fields = {}, error?: unknown): void {
    this.pinoLogger.error({ event, ...this.request(), ...fields, ...describe(error) });
  }

  private request(): Fields {
    const context = currentRequestContext();
    return context ? { requestId: context.requestId } : {};
  }
}

function describe(error: unknown): Record<string, unknown> {
  return error === undefined ? {} : { err: pino.stdSerializers.err(error as Error) };
}
