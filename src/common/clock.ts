/** Time as this process sees it. Leases and deadlines use the database's `now()` instead. */
export abstract class Clock {
  /** Wall time. */
  abstract now(): Date;
  /** Milliseconds of a clock that never jumps: for durations only. */
  abstract monotonicMs(): number;
}

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }

  monotonicMs(): number {
    return performance.now();
  }
}
