import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Ids } from '../common/ids.js';
import { Logger } from '../common/logger.js';
import { Configuration } from '../config/environment.js';
import { Database } from '../database/database.js';
import { InstanceRepository } from './instance.repository.js';

/**
 * This process among the replicas: its id, new at each start, and its lease, renewed at each
 * heartbeat. A process that finds itself fenced drops what it had and goes on under a new id.
 */
@Injectable()
export class InstanceLease {
  private id: string;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private heldSinceMs: number | undefined;
  private renewedAtMs = 0;
  private readonly fencedListeners: (() => void)[] = [];
  private readonly beatListeners: (() => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly instances: InstanceRepository,
    private readonly configuration: Configuration,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.id = ids.uuid();
  }

  /** The owner that this process writes into the calls it runs. */
  get instanceId(): string {
    return this.id;
  }

  /**
   * Whether this process has held the database for one whole lease, and still does. Otherwise it may
   * not judge others: after an outage of the database every lease looks run out, and an outage in
   * which statements hang and then go through is seen by the time between two renewals alone.
   */
  get mayJudgeOthers(): boolean {
    const { heldSinceMs } = this;
    if (heldSinceMs === undefined || this.hasLapsed()) return false;
    return this.clock.monotonicMs() - heldSinceMs >= this.leaseMs;
  }

  /** Called when another replica took this process's calls away; they must be dropped unwritten. */
  onFenced(listener: () => void): void {
    this.fencedListeners.push(listener);
  }

  /** Called after each heartbeat that renewed the lease. */
  onBeat(listener: () => void): void {
    this.beatListeners.push(listener);
  }

  async start(): Promise<void> {
    await this.register(this.id);
    this.beatLater();
  }

  /** Ends the heartbeat; the row stays, so that this process may still write about its calls. */
  stopBeating(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Gives the lease up: what this process still owns can be taken over at once. */
  async release(): Promise<void> {
    this.stopBeating();
    await this.instances.release(this.database, this.id);
  }

  private async register(id: string): Promise<void> {
    await this.instances.register(
      this.database,
      id,
      hostname(),
      process.pid,
      this.configuration.leaseSec,
    );
    this.heldSinceMs = this.renewedAtMs = this.clock.monotonicMs();
  }

  private get leaseMs(): number {
    return this.configuration.leaseSec * 1_000;
  }

  private hasLapsed(): boolean {
    return this.clock.monotonicMs() - this.renewedAtMs > this.leaseMs;
  }

  private renewed(): void {
    if (this.hasLapsed()) this.heldSinceMs = undefined;
    this.renewedAtMs = this.clock.monotonicMs();
    this.heldSinceMs ??= this.renewedAtMs;
    for (const listener of this.beatListeners) listener();
  }

  private beatLater(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.beat(), this.configuration.heartbeatSec * 1_000);
  }

  private async beat(): Promise<void> {
    try {
      if (await this.instances.renew(this.database, this.id, this.configuration.leaseSec)) {
        this.renewed();
      } else if (!this.stopped) {
        await this.startOver();
      }
    } catch (error) {
      this.heldSinceMs = undefined;
      this.logger.warn('instance.heartbeat_failed', {}, error);
    }
    this.beatLater();
  }

  private async startOver(): Promise<void> {
    this.logger.warn('instance.fenced', { instanceId: this.id });
    const id = this.ids.uuid();
    await this.register(id);
    this.id = id;
    for (const listener of this.fencedListeners) listener();
  }
}
