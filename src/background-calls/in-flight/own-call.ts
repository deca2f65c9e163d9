import type { BackgroundCall } from '../background-call.js';

/** A call that this process sees to its end. */
export interface OwnCall extends BackgroundCall {
  /** This process, if it took the call over from another one: its files have names of their own. */
  takenBy?: string;
}
