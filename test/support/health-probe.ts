import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const PROGRAM = new URL('./ask-health.mjs', import.meta.url);

/** Watches how long `/healthz` of a service takes, undisturbed by what this thread does. */
export class HealthProbe {
  private constructor(private readonly worker: Worker) {}

  static start(url: string): HealthProbe {
    return new HealthProbe(new Worker(PROGRAM, { workerData: { url } }));
  }

  /** Answers the milliseconds of each answer, the shortest first; infinite where it was not 200. */
  async stop(): Promise<number[]> {
    const told = once(this.worker, 'message');
    this.worker.postMessage('stop');
    const [tookMs] = (await told) as [number[]];
    await this.worker.terminate();
    return tookMs.sort((a, b) => a - b);
  }
}

/** The value that this share of the sorted values does not exceed. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
}
