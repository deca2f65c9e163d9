import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { InFlightCalls } from './background-calls/in-flight/in-flight-calls.js';
import { QueueDispatcher } from './background-calls/queue/queue-dispatcher.js';
import { Drain } from './common/drain.js';
import { Logger } from './common/logger.js';
import { within } from './common/within.js';
import type { Configuration } from './config/environment.js';
import { createApp } from './configure-app.js';
import { EventWebhookRelay } from './delivery/event-webhook/event-webhook-relay.js';
import { WebhookRelay } from './delivery/webhook/webhook-relay.js';
import { InstanceLease } from './instances/instance-lease.js';
import { RecoveryService } from './recovery/recovery.service.js';
import { ForegroundCalls } from './tool-calls/foreground-calls.js';

/** After the drain time: how long writing the ends of calls may take, and closing everything. */
const WRITE_ENDS_MS = 5_000;
const CLOSE_MS = 5_000;
/** How long requests that are being answered may take while closing. */
const LAST_ANSWERS_MS = 1_000;
/**
 * Connections that may wait while this process is busy; the system may bound them further. Beyond that,
 * callers try again for seconds.
 */
const WAITING_CONNECTIONS = 4_096;

/** The running service: the order in which it comes up and goes down. */
export class Service {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly configuration: Configuration,
    readonly url: string,
  ) {}

  /** Resolves when requests are accepted. Port 0 takes a free port, which `url` names. */
  static async start(configuration: Configuration): Promise<Service> {
    const app = await createApp(AppModule.forRoot(configuration), configuration);
    try {
      await app.init();
      await app.get(InstanceLease).start();
      await app.get(RecoveryService).start();
      app.get(QueueDispatcher).start();
      app.get(WebhookRelay).start();
      app.get(EventWebhookRelay).start();
      const { port, host } = configuration;
      await app.listen({ port, host, backlog: WAITING_CONNECTIONS });
    } catch (error) {
      await app.close();
      throw error;
    }
    return new Service(app, configuration, await app.getUrl());
  }

  /** A part of the service, for the banner and for tests. */
  get<T>(token: abstract new (...args: never[]) => T): T {
    return this.app.get<T>(token);
  }

  /**
   * Leaves in order: no new work, foreground calls and webhooks end or are stopped after the drain time, what
   * nobody can resume is ended and told, the lease is given up and with it the other calls, everything
   * is closed.
   */
  async stop(): Promise<void> {
    const logger = this.app.get(Logger);
    logger.info('service.draining');
    this.app.get(Drain).begin();
    const drainMs = this.configuration.drainSec * 1_000;
    const steps: [string, number, () => Promise<void>][] = [
      ['foreground', drainMs + WRITE_ENDS_MS, () => this.finishRequests(drainMs)],
      ['recovery', WRITE_ENDS_MS, () => this.get(RecoveryService).stop()],
      ['queue', WRITE_ENDS_MS, () => this.get(QueueDispatcher).stop()],
      ['calls', WRITE_ENDS_MS, () => this.get(InFlightCalls).leaveAll()],
      ['lease', CLOSE_MS, () => this.get(InstanceLease).release()],
      ['close', CLOSE_MS, () => this.close()],
    ];
    for (const [step, limitMs, work] of steps) await this.leave(step, limitMs, work);
    logger.info('service.stopped');
  }

  /** What is under way on either side: what we are asked, and what we send. */
  private async finishRequests(drainMs: number): Promise<void> {
    await Promise.all([
      this.get(ForegroundCalls).whenNoneWaits(drainMs),
      this.get(WebhookRelay).stop(drainMs),
      this.get(EventWebhookRelay).stop(drainMs),
    ]);
  }

  /** Leaving has an end, whatever hangs; a step that fails must not keep the rest from being done. */
  private async leave(step: string, limitMs: number, work: () => Promise<void>): Promise<void> {
    const logger = this.app.get(Logger);
    try {
      if (!(await within(limitMs, work())))
        logger.warn('service.stop_step_cut_off', { step, limitMs });
    } catch (error) {
      logger.warn('service.stop_step_failed', { step }, error);
    }
  }

  /** Connections that clients keep open without a request would hold the close up. */
  private async close(): Promise<void> {
    const cut = setTimeout(() => this.app.getHttpServer().closeAllConnections(), LAST_ANSWERS_MS);
    await this.app.close();
    clearTimeout(cut);
  }
}
