/** A few writers that take work in turn; each does one thing after the other. */
export class FileWriters {
  /** What each was given last. */
  private readonly latest: Promise<unknown>[];
  private next = 0;

  constructor(count: number) {
    this.latest = Array.from({ length: count }, async () => {});
  }

  /** Settles as the work does. */
  run(work: () => Promise<void>): Promise<void> {
    const writer = this.next++ % this.latest.length;
    const done = (this.latest[writer] as Promise<unknown>).then(work);
    // A failure is the caller's, and not that of what comes next.
    this.latest[writer] = done.catch(() => undefined);
    return done;
  }
}
