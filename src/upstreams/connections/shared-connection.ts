import type { UpstreamSession } from '../upstream-session.js';

const MAX_TIMER_MS = 2 ** 31 - 1;

export interface SharedConnectionParts {
  /** Gives up when the signal is aborted. */
  connect: (signal: AbortSignal) => Promise<UpstreamSession>;
  /** Milliseconds that an unborrowed connection stays open. */
  idleMs: () => number;
  /** Takes it out of the pool: nobody may borrow it from then on. */
  leavePool: (connection: SharedConnection) => void;
  /** Nothing of it is left. */
  onGone: (connection: SharedConnection) => void;
}

/** A session that many calls share. It is closed when nobody has borrowed it, never before. */
export class SharedConnection {
  private readonly session: Promise<UpstreamSession>;
  private readonly connecting = new AbortController();
  private borrowers = 0;
  private isRetired = false;
  private isKept = false;
  private closing: Promise<void> | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly parts: SharedConnectionParts) {
    this.session = parts.connect(this.connecting.signal);
    this.session.then(
      (session) => void session.closed.then(() => this.retire()),
      () => void this.close(),
    );
  }

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

  /** Whether nobody has borrowed it. */
  get isIdle(): boolean {
    return this.borrowers === 0;
  }

  giveBack(): void {
    this.borrowers -= 1;
    if (this.borrowers > 0 || this.closing !== undefined) return;
    if (this.isRetired) void this.close();
    else this.idle = setTimeout(() => this.retire(), Math.min(this.parts.idleMs(), MAX_TIMER_MS));
  }

  /** Its session is not ended upstream when it closes. */
  keepSession(): void {
    this.isKept = true;
  }

  /** Takes no new borrowers and closes when the last one has given it back. */
  retire(): void {
    if (this.isRetired) return;
    this.isRetired = true;
    clearTimeout(this.idle);
    this.parts.leavePool(this);
    if (this.borrowers === 0) void this.close();
  }

  /**
   * Closes at once; calls in flight fail as lost. Only a session that nobody uses, here or elsewhere, is
   * ended upstream too. Resolves when nothing of it is left.
   */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    clearTimeout(this.idle);
    this.parts.leavePool(this);
    this.connecting.abort();
    const session = await this.session.catch(() => undefined);
    await session?.close({ forget: this.borrowers === 0 && !this.isKept });
    this.parts.onGone(this);
  }
}
