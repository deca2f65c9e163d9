/** Passes values on, at most one per interval: the first at once, of those that come meanwhile the last. */
export class LatestAtIntervals<T> {
  private timer: NodeJS.Timeout | undefined;
  private waiting: { value: T } | undefined;

  constructor(
    private readonly intervalMs: number,
    private readonly listener: (value: T) => void,
  ) {}

  tell(value: T): void {
    if (this.timer !== undefined) {
      this.waiting = { value };
      return;
    }
    this.timer = setTimeout(() => this.next(), this.intervalMs);
    this.listener(value);
  }

  /** What waits is not told any more. */
  end(): void {
    clearTimeout(this.timer);
    this.waiting = undefined;
  }

  private next(): void {
    const { waiting } = this;
    this.timer = this.waiting = undefined;
    if (waiting !== undefined) this.tell(waiting.value);
  }
}
