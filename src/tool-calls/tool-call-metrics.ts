import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { MetricsRegistry } from '../metrics/metrics.registry.js';
import type { ToolCallAnswer } from './tool-call.js';

const FOREGROUND_SEC = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 180, 300, 600, 1_200];

/** The figures of tool calls as their callers see them: what they were answered, and how late. */
@Injectable()
export class ToolCallMetrics {
  private readonly answered;
  private readonly durations;

  constructor(
    registry: MetricsRegistry,
    private readonly clock: Clock,
  ) {
    this.answered = registry.counter({
      name: 'bgc_tool_calls_total',
      help: 'Tool calls that were answered: completed, background, or the code of the problem',
      labelNames: ['outcome'],
    });
    this.durations = registry.histogram({
      name: 'bgc_foreground_duration_seconds',
      help: 'How long the caller of a tool waited for its answer: completed, background or problem',
      labelNames: ['outcome'],
      buckets: FOREGROUND_SEC,
    });
  }

  /** Counts what comes of `work`, which is answered or thrown as it is. */
  async measure(work: () => Promise<ToolCallAnswer>): Promise<ToolCallAnswer> {
    const begunAtMs = this.clock.monotonicMs();
    try {
      const answer = await work();
      this.record(answer.outcome, answer.outcome, begunAtMs);
      return answer;
    } catch (error) {
      const code = error instanceof DomainError ? error.code : 'internal_error';
      this.record(code, 'problem', begunAtMs);
      throw error;
    }
  }

  private record(
    outcome: string,
    kind: ToolCallAnswer['outcome'] | 'problem',
    begunAtMs: number,
  ): void {
    this.answered.inc({ outcome });
    this.durations.observe({ outcome: kind }, (this.clock.monotonicMs() - begunAtMs) / 1_000);
  }
}
