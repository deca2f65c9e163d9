import type { UpstreamSession } from './upstream-session.js';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** A session that many calls share. It is closed when nobody has borrowed it, never before. */
export class SharedConnection {
  private borrowers = 0;
  private isRetired = false;
  private isClosed = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: Promise<UpstreamSession>,
    /** Milliseconds that an unborrowed connection stays open. */
    private readonly idleMs: () => number,
    /** Takes it out of the pool: nobody may borrow it from then on. */
    private readonly leavePool: (connection: SharedConnection) => void,
  ) {}

  /** Waits for the connection to stand. @throws UpstreamFailure when it does not come to stand. */
  async borrow(): Promise<UpstreamSession> {
    this.borrowers += 1;
    clearTimeout(this.idle);
    try {
      return await this.session;
    } catch (error) {
      this.borrowers -= 1;
      throw error;
    }
  }

  giveBack(): void {
    this.borrowers -= 1;
    if (this.borrowers > 0 || this.isClosed) return;
    if (this.isRetired) void this.close();
    else this.idle = setTimeout(() => this.retire(), Math.min(this.idleMs(), MAX_TIMER_MS));
  }

  /** Takes no new borrowers and closes when the last one has given it back. */
  retire(): void {
    if (this.isRetired) return;
    this.isRetired = true;
    clearTimeout(this.idle);
    this.leavePool(this);
    if (this.borrowers === 0) void this.close();
  }

  /** Closes at once; calls in flight fail as lost. Only a session that nobody uses is ended upstream too. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.idle);
    this.leavePool(this);
    const session = await this.session.catch(() => undefined);
    await session?.close({ forget: this.borrowers === 0 });
  }
}
