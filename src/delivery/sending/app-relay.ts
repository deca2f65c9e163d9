import { setMaxListeners } from 'node:events';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import type { Drain } from '../../common/drain.js';
import type { Logger } from '../../common/logger.js';
import { RepeatedWork } from '../../common/repeated-work.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { within } from '../../common/within.js';
import type { Channel, ChannelListener } from '../../database/channel-listener.js';
import { SendSlots } from './send-slots.js';
import type { SendTimes } from './send-times.js';
import type { SendWindow } from './send-window.js';

const AT_ONCE = 64;
const AT_ONCE_PER_APP = 16;

/** Something of an app that this process has claimed to send. */
export interface Claimed {
  app: App;
  window: SendWindow;
}

/**
 * Sends what apps have to be sent, side by side with the other replicas. It is woken when a replica
 * tells that something is ready; one tick for all apps finds what time alone made ready.
 */
export abstract class AppRelay<T extends Claimed> implements OnModuleInit, OnApplicationShutdown {
  /** Who tells that something is ready. */
  protected abstract readonly channel: Channel;
  /** What the log calls it. */
  protected abstract readonly logName: 'webhook' | 'event_webhook';
  private readonly slots = new SendSlots(AT_ONCE, AT_ONCE_PER_APP);
  private readonly sends = new Set<Promise<void>>();
  private readonly leaving = new AbortController();
  /** Apps of which something is to be claimed, the longest waiting first. */
  private readonly appIdsToServe = new Set<string>();
  private ticks: RepeatedWork | undefined;
  private currentPass: Promise<void> | undefined;
  private isAnotherPassWanted = false;
  private isStopped = true;

  protected constructor(
    private readonly apps: AppDirectory,
    private readonly channels: ChannelListener,
    private readonly drain: Drain,
    private readonly logger: Logger,
    private readonly times: SendTimes,
  ) {}

  protected abstract appOf(payload: string): string;

  /** Whether the app is sent anything now. */
  protected abstract sendsTo(app: App): boolean;

  /** Those of the apps that have something to be sent now. */
  protected abstract dueApps(appIds: string[]): Promise<string[]>;

  /** Takes up to `limit`; nobody else does until their time is over. */
  protected abstract claim(app: App, limit: number): Promise<T[]>;

  /** Sends it and writes down what became of it; throws only by a defect. `leaving` breaks it off. */
  protected abstract deliver(claimed: T, leaving: AbortSignal): Promise<void>;

  /** What is told before the start is found by its first tick. */
  onModuleInit(): void {
    this.channels.on(this.channel, (payload) => {
      if (!this.isStopped) this.schedule([this.appOf(payload)]);
    });
  }

  start(): void {
    // Each send listens, and there are never more of them than slots.
    setMaxListeners(AT_ONCE, this.leaving.signal);
    this.isStopped = false;
    this.ticks = new RepeatedWork(this.times.tickMs, () => this.tick());
    this.ticks.start(0);
  }

  /**
   * Sends nothing more. What is under way may end within `waitMs`; the rest is broken off and given
   * back, for another replica or the next start to send at once.
   */
  async stop(waitMs = 0): Promise<void> {
    this.isStopped = true;
    await this.ticks?.stop();
    await this.currentPass;
    if (this.sends.size > 0 && waitMs > 0) await within(waitMs, Promise.all(this.sends));
    this.leaving.abort();
    await Promise.all(this.sends);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private async tick(): Promise<void> {
    const recipients = this.apps.all().filter((app) => this.sendsTo(app));
    try {
      this.schedule(await this.dueApps(recipients.map(({ id }) => id)));
    } catch (error) {
      this.logger.warn(`${this.logName}.tick_failed`, { apps: recipients.length }, error);
    }
  }

  /** One pass at a time; what is told during a pass leads to another one. */
  private schedule(appIds: string[]): void {
    for (const appId of appIds) if (this.recipient(appId)) this.appIdsToServe.add(appId);
    if (this.appIdsToServe.size === 0 || !this.takesWork) return;
    this.isAnotherPassWanted = true;
    this.currentPass ??= outsideRequestContext(() => this.runPasses()).finally(() => {
      this.currentPass = undefined;
      if (this.isAnotherPassWanted) this.schedule([]);
    });
  }

  private get takesWork(): boolean {
    return !this.isStopped && !this.drain.isDraining;
  }

  private async runPasses(): Promise<void> {
    while (this.isAnotherPassWanted) {
      this.isAnotherPassWanted = false;
      for (const appId of [...this.appIdsToServe]) if (this.takesWork) await this.sendOf(appId);
    }
  }

  private async sendOf(appId: string): Promise<void> {
    const app = this.recipient(appId);
    const free = this.slots.freeFor(appId);
    // Without a free slot it stays in the set: the end of each send leads to another pass.
    if (app && free <= 0) return;
    this.appIdsToServe.delete(appId);
    if (!app) return;
    try {
      const claimed = await this.claim(app, free);
      for (const each of claimed) this.send(each);
      if (claimed.length === free) this.schedule([appId]);
    } catch (error) {
      // The next tick finds it again.
      this.logger.warn(`${this.logName}.claim_failed`, { appId }, error);
    }
  }

  private send(claimed: T): void {
    const { app } = claimed;
    this.slots.take(app.id);
    const done = this.deliverOrLog(claimed).finally(() => {
      this.slots.release(app.id);
      this.sends.delete(done);
      this.schedule([]);
    });
    this.sends.add(done);
  }

  /** A rejection that nobody awaits would end the process. */
  private async deliverOrLog(claimed: T): Promise<void> {
    try {
      await this.deliver(claimed, this.leaving.signal);
    } catch (error) {
      // It comes again when its time is over.
      const fields = { relay: this.logName, appId: claimed.app.id };
      this.logger.error('relay.delivery_failed', fields, error);
    }
  }

  /** Undefined: the app is not sent anything now. */
  private recipient(appId: string): App | undefined {
    const app = this.apps.byId(appId);
    return app && this.sendsTo(app) ? app : undefined;
  }
}
