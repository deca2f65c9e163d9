/** Durations in milliseconds, and how they are spread. */
export class Sample {
  private readonly sorted: number[];

  constructor(tookMs: readonly number[]) {
    this.sorted = [...tookMs].sort((a, b) => a - b);
  }

  get p50(): number {
    return this.percentile(0.5);
  }

  get p95(): number {
    return this.percentile(0.95);
  }

  get p99(): number {
    return this.percentile(0.99);
  }

  /** The value that this share of all does not exceed. */
  percentile(share: number): number {
    return this.sorted[Math.ceil(share * this.sorted.length) - 1] ?? NaN;
  }

  /** For a table: "p50 1.2 ms, p95 3.4 ms". */
  toString(): string {
    return `p50 ${ms(this.p50)}, p95 ${ms(this.p95)}`;
  }

  /** How many times the other one, for a table. */
  over(other: Sample): string {
    return `p50 × ${(this.p50 / other.p50).toFixed(1)}, p95 × ${(this.p95 / other.p95).toFixed(1)}`;
  }
}

export function ms(value: number): string {
  return `${value < 100 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

/** Runs `work` and adds to `tookMs` how long it took. */
export async function timed<T>(tookMs: number[], work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const done = await work();
  tookMs.push(performance.now() - begun);
  return done;
}

/** Runs `work` for 0 … count - 1, so many at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

/** Milliseconds on a clock that all processes of this machine share. */
export function machineMs(): number {
  return performance.timeOrigin + performance.now();
}
