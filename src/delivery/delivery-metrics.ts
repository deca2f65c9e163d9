import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Database } from '../database/database.js';
import { DatabaseLook } from '../metrics/database-look.js';
import { MetricsRegistry } from '../metrics/metrics.registry.js';
import { type Backlog, BacklogRepository } from './backlog.repository.js';
import type { DeadReason } from './message-state.js';

const LAGS_SEC = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 6 * 3_600, 24 * 3_600];

/** The figures of delivery: how late ends are told, and what waits to be told. */
@Injectable()
export class DeliveryMetrics {
  private readonly lag;
  private readonly dead;

  constructor(
    private readonly registry: MetricsRegistry,
    database: Database,
    backlog: BacklogRepository,
    clock: Clock,
  ) {
    this.lag = registry.histogram({
      name: 'bgc_delivery_lag_seconds',
      help: 'From the end of a call to its first hand-out, and to its acknowledgement',
      labelNames: ['until'],
      buckets: LAGS_SEC,
    });
    this.dead = registry.counter({
      name: 'bgc_messages_dead_total',
      help: 'Messages that became dead letters',
      labelNames: ['reason'],
    });
    const look = new DatabaseLook(clock, () => backlog.count(database));
    this.watch(
      look,
      'bgc_messages_pending',
      'Messages that wait for their acknowledgement',
      (now) => now.pendingMessages,
    );
    this.watch(
      look,
      'bgc_targets_undelivered',
      'Sessions and bots that have something to be told',
      (now) => now.undeliveredTargets,
    );
    this.watch(
      look,
      'bgc_undelivered_oldest_seconds',
      'How long the one that waits longest has waited',
      (now) => now.oldestSec,
    );
  }

  observe(until: 'handed_out' | 'acknowledged', sinceEndMs: number): void {
    this.lag.observe({ until }, Math.max(0, sinceEndMs) / 1_000);
  }

  countDead(reason: DeadReason): void {
    this.dead.inc({ reason });
  }

  /** A figure that is read from the database: it is missing while that is away. */
  private watch(
    look: DatabaseLook<Backlog>,
    name: string,
    help: string,
    figure: (backlog: Backlog) => number,
  ): void {
    this.registry.gauge({
      name,
      help: `${help}; read every 5 s at most, and no further than to 10000`,
      async collect() {
        const backlog = await look.value();
        if (backlog === undefined) this.remove();
        else this.set(figure(backlog));
      },
    });
  }
}
