import { Injectable } from '@nestjs/common';
import { MetricsRegistry } from '../metrics/metrics.registry.js';
import type { BackgroundCall } from './background-call.js';
import { durationMsOf } from './call-duration.js';

const MINUTE = 60;
const HOUR = 3_600;
const DURATIONS_SEC = [
  ...[1, 5, 15, 30],
  ...[1, 3, 5, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12, 24].map((hours) => hours * HOUR),
];

/** The figures of background calls. Of all replicas together each end is counted once. */
@Injectable()
export class CallMetrics {
  private readonly handovers;
  private readonly ended;
  private readonly durations;

  constructor(private readonly registry: MetricsRegistry) {
    this.handovers = registry.counter({
      name: 'bgc_handovers_total',
      help: 'Calls that moved to the background, by reason',
      labelNames: ['reason'],
    });
    this.ended = registry.counter({
      name: 'bgc_calls_ended_total',
      help: 'Background calls that this process has ended, by status and error code',
      labelNames: ['status', 'code'],
    });
    this.durations = registry.histogram({
      name: 'bgc_call_duration_seconds',
      help: 'From the start of a background call to its end',
      labelNames: ['status'],
      buckets: DURATIONS_SEC,
    });
  }

  /** `count` says how many calls run in this process at the moment. */
  watchRunning(count: () => number): void {
    this.registry.gauge({
      name: 'bgc_calls_running',
      help: 'Background calls whose work runs in this process',
      collect() {
        this.set(count());
      },
    });
  }

  handedOver({ handover }: BackgroundCall): void {
    this.handovers.inc({ reason: handover });
  }

  /** A call without an error has the code `none`. */
  callEnded(call: BackgroundCall): void {
    const { status, error } = call;
    this.ended.inc({ status, code: error?.code ?? 'none' });
    this.durations.observe({ status }, durationMsOf(call) / 1_000);
  }
}
