/**
 * How many webhooks may be under way at once, in all and for one app. An app gets no more than half of
 * what is free, so that a few slow receivers leave room for the others.
 */
export class SendSlots {
  private readonly taken = new Map<string, number>();
  private takenInAll = 0;

  constructor(
    private readonly inAll: number,
    private readonly perApp: number,
  ) {}

  /** How many more may be sent for the app now. */
  freeFor(appId: string): number {
    const free = this.inAll - this.takenInAll;
    const share = Math.min(free, Math.max(1, Math.floor(free / 2)));
    return Math.min(share, this.perApp - (this.taken.get(appId) ?? 0));
  }

  take(appId: string): void {
    this.takenInAll += 1;
    this.taken.set(appId, (this.taken.get(appId) ?? 0) + 1);
  }

  release(appId: string): void {
    const left = (this.taken.get(appId) ?? 0) - 1;
    this.takenInAll -= 1;
    if (left > 0) this.taken.set(appId, left);
    else this.taken.delete(appId);
  }
}
