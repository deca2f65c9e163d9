import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { CallDriver } from '../call-driver.js';
import { CallQueue, type QueueStart } from './call-queue.js';
import { InFlightCalls } from '../in-flight/in-flight-calls.js';

/** Looks without being told, for what was told to nobody and for limits that were raised. */
const POLL_MS = 1_000;

/** Starts waiting calls in this process as slots become free. */
@Injectable()
export class QueueDispatcher implements OnApplicationShutdown {
  private driver: CallDriver | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isToRunAgain = false;
  /** Whether calls were left waiting: only then is a slot that becomes free worth a look. */
  private hasWaiting = false;

  constructor(
    private readonly queue: CallQueue,
    private readonly inFlight: InFlightCalls,
    private readonly drain: Drain,
    private readonly logger: Logger,
    private readonly listener: ChannelListener,
  ) {}

  /** Who begins the work of the calls that this process starts. */
  useDriver(driver: CallDriver): void {
    this.driver = driver;
  }

  start(): void {
    this.listener.on('bgc_call_queued', () => this.look());
    // Both free a slot.
    for (const channel of ['bgc_call_ended', 'bgc_input_required'] as const)
      this.listener.on(channel, () => {
        if (this.hasWaiting) this.look();
      });
    this.listener.onReconnect(() => this.look());
    this.look();
  }

  /** Starts nothing any more; resolves when what was being started is adopted. */
  async stop(): Promise<void> {
    this.driver = undefined;
    clearTimeout(this.timer);
    await this.running;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** One pass at a time; what is told during a pass leads to another one. */
  private look(): void {
    if (this.running) {
      this.isToRunAgain = true;
      return;
    }
    clearTimeout(this.timer);
    this.running = outsideRequestContext(() => this.passes()).finally(() => {
      this.running = undefined;
      if (this.driver) this.timer = setTimeout(() => this.look(), POLL_MS);
    });
  }

  private async passes(): Promise<void> {
    do {
      this.isToRunAgain = false;
      try {
        await this.pass();
      } catch (error) {
        this.logger.warn('queue.pass_failed', {}, error);
      }
    } while (this.isToRunAgain && this.driver);
  }

  private async pass(): Promise<void> {
    const passedOver: number[] = [];
    while (this.driver && !this.drain.isDraining) {
      const targetId = await this.queue.nextTarget(passedOver);
      this.hasWaiting = targetId !== undefined || passedOver.length > 0;
      if (targetId === undefined) return;
      const { kind } = await this.startOne(targetId, this.driver);
      if (kind === 'all_wait') return;
      if (kind === 'target_waits') passedOver.push(targetId);
    }
  }

  private async startOne(targetId: number, driver: CallDriver): Promise<QueueStart> {
    const announced: string[] = [];
    try {
      const start = await this.queue.startNextOf(targetId, (callId) => {
        announced.push(callId);
        this.inFlight.announce(callId);
      });
      if (start.kind === 'started')
        this.inFlight.adopt(start.call, start.call.policy, driver.start(start.call));
      return start;
    } finally {
      // Whether or not the row was written: what is not adopted by now is found by the reconciliation.
      for (const callId of announced) this.inFlight.retract(callId);
    }
  }
}
