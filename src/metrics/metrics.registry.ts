import { Injectable } from '@nestjs/common';
import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';
import { processMetrics } from './process-metrics.js';

/**
 * The figures of this service. Each folder makes its own here, once. Names begin with `bgc_` and end
 * with a base unit (`_seconds`, `_total`); labels have few values that the service itself names:
 * no ids, and no text of callers or upstreams.
 */
@Injectable()
export class MetricsRegistry {
  private readonly registry = new Registry();

  counter<L extends string = never>(
    config: Omit<CounterConfiguration<L>, 'registers'>,
  ): Counter<L> {
    return new Counter({ ...config, registers: [this.registry] });
  }

  gauge<L extends string = never>(config: Omit<GaugeConfiguration<L>, 'registers'>): Gauge<L> {
    return new Gauge({ ...config, registers: [this.registry] });
  }

  histogram<L extends string = never>(
    config: Omit<HistogramConfiguration<L>, 'registers'>,
  ): Histogram<L> {
    return new Histogram({ ...config, registers: [this.registry] });
  }

  /** All figures in the text format of Prometheus, those of the process included. */
  async render(): Promise<string> {
    const parts = await Promise.all([this.registry.metrics(), processMetrics().metrics()]);
    return parts.join('');
  }
}
