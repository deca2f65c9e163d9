import { Injectable } from '@nestjs/common';

/** How long sending a message or an event takes, in milliseconds; tests make them shorter. */
@Injectable()
export class SendTimes {
  /** From the claim until the whole answer has to be there. */
  sendMs = 15_000;
  /** After that, until another process takes the sender for dead and sends again. */
  marginMs = 10_000;
  /** How late something may be noticed that becomes due by time alone, or whose telling was lost. */
  tickMs = 500;

  /** How long what was claimed is nobody else's. */
  get claimMs(): number {
    return this.sendMs + this.marginMs;
  }
}
