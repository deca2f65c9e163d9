import { printBanner } from './banner.js';
import { SystemClock } from './common/clock.js';
import { Logger } from './common/logger.js';
import { InvalidEnvironmentError, readEnvironment } from './config/environment.js';
import { leaveOnSignals } from './leave-on-signals.js';
import { Service } from './service.js';

/** Starts the service and ties it to the signals of its process. */
async function main(): Promise<void> {
  const configuration = readEnvironment();
  const logger = Logger.create(configuration.logLevel);
  const starting = Service.start(configuration);
  const leave = async (): Promise<void> => {
    try {
      const service = await starting;
      await service.stop();
      process.exit(); // 0, unless the database was lost
    } catch (error) {
      logger.error('service.stop_failed', {}, error);
      process.exit(1);
    }
  };
  leaveOnSignals(
    new SystemClock(),
    () => void leave(),
    () => process.exit(1),
  );
  const service = await starting;
  printBanner(service, configuration);
  logger.info('service.ready', { url: service.url });
}

main().catch((error: unknown) => {
  process.stderr.write(`${startFailure(error)}\n`);
  process.exit(1);
});

/** For the person who starts the service: what is wrong and, where that is known, what to do. */
function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof InvalidEnvironmentError)
    return `The environment has mistakes:\n${error.message}`;
  const { code, address, port } = error as { code?: string; address?: string; port?: number };
  return code === 'EADDRINUSE'
    ? `${address}:${port} is in use by another process: stop that one, or set another PORT (0 takes a free one)`
    : error.message;
}
