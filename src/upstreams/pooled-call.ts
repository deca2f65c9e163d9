import type { ToolResult, UpstreamCall, UpstreamOutcome } from './upstream-call.js';
import {
  CallCancelled,
  CallNotSent,
  RequestFailed,
  RequestRefused,
  SessionForgotten,
  UpstreamFailure,
} from './upstream-failure.js';
import type { SessionCall, UpstreamSession } from './upstream-session.js';

const LEFT = 'Another process goes on with the call.';

/** A session in the hands of one call, until it is given back. */
export interface BorrowedSession {
  session: UpstreamSession;
  giveBack(): void;
  /** The upstream must not be told to drop this session: somebody else goes on with a call of it. */
  keepSession(): void;
  /** Nobody shall borrow this session again. */
  retire(): void;
  /** It did not carry a request: nobody shall borrow it again, and whether the server is there is open. */
  doubt(): void;
  /** It lost a request: nobody shall borrow it again, and whether the server is there is open. */
  lost(): void;
}

/** A call on a pooled session: waits for the connection, and asks once more when the session was forgotten. */
export class PooledCall implements UpstreamCall {
  readonly outcome: Promise<UpstreamOutcome>;
  private call: SessionCall | undefined;
  private borrowed: BorrowedSession | undefined;
  private cancelled: CallCancelled | undefined;
  private readonly whenCancelled: Promise<never>;
  private stopWaiting: (cancelled: CallCancelled) => void = () => undefined;

  constructor(
    private readonly borrow: () => Promise<BorrowedSession>,
    /** Decides how to ask; what it resolves with asks. */
    private readonly prepare: (session: UpstreamSession) => Promise<() => SessionCall>,
    /** Whether it may be asked, just before it is. */
    private readonly mayAsk: () => Promise<boolean> = () => Promise.resolve(true),
  ) {
    this.whenCancelled = new Promise((_, reject) => (this.stopWaiting = reject));
    this.whenCancelled.catch(() => undefined);
    this.outcome = this.run();
  }

  async cancel(reason: string): Promise<void> {
    this.cancelled ??= new CallCancelled(reason, false);
    this.stopWaiting(this.cancelled);
    await this.call?.cancel(reason);
    await this.outcome;
  }

  detach(): void {
    this.cancelled ??= new CallCancelled(LEFT, false);
    this.stopWaiting(this.cancelled);
    this.borrowed?.keepSession();
    this.call?.abandon(LEFT);
  }

  private async run(): Promise<UpstreamOutcome> {
    try {
      return { kind: 'result', result: await this.askTwice() };
    } catch (error) {
      return error instanceof UpstreamFailure
        ? error.toOutcome()
        : new UpstreamFailure('upstream_lost', `Unexpected: ${String(error)}`).toOutcome();
    }
  }

  /** A forgotten session means that the request did not run: it may be sent again, on a new session. */
  private async askTwice(): Promise<ToolResult> {
    try {
      return await this.ask();
    } catch (error) {
      if (error instanceof SessionForgotten) return this.ask();
      throw error;
    }
  }

  private async ask(): Promise<ToolResult> {
    const lease = await this.lease();
    this.borrowed = lease;
    try {
      const start = await Promise.race([this.prepare(lease.session), this.whenCancelled]);
      await this.assertMayAsk();
      this.call = start();
      return await this.call.answer;
    } catch (error) {
      if (error instanceof SessionForgotten) lease.retire();
      else if (isNotDelivered(error)) lease.doubt();
      else if (this.isLost(error)) lease.lost();
      throw error;
    } finally {
      this.call = this.borrowed = undefined;
      lease.giveBack();
    }
  }

  private isLost(error: unknown): boolean {
    if (this.cancelled !== undefined || error instanceof RequestFailed) return false;
    return error instanceof UpstreamFailure && error.code === 'upstream_lost';
  }

  private async assertMayAsk(): Promise<void> {
    const isAllowed = this.cancelled !== undefined || (await this.mayAsk());
    if (this.cancelled !== undefined) throw this.cancelled;
    if (!isAllowed) throw new CallNotSent();
  }

  /** The connection goes on for others when this call no longer waits for it. */
  private async lease(): Promise<BorrowedSession> {
    const borrowing = this.borrow();
    try {
      return await Promise.race([borrowing, this.whenCancelled]);
    } catch (error) {
      void borrowing.then(
        (lease) => lease.giveBack(),
        () => undefined,
      );
      throw error;
    }
  }
}

/** A request that the upstream refused got there; one that we refused was not even tried. */
function isNotDelivered(error: unknown): boolean {
  if (error instanceof RequestRefused || error instanceof CallNotSent) return false;
  return error instanceof UpstreamFailure && error.code === 'upstream_unreachable';
}
