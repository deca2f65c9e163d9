import type { BackgroundCall } from './background-call.js';
import type { CallWork } from './call-outcome.js';

/** The port to whoever begins the work of a call that waited in the queue. */
export abstract class CallDriver {
  /**
   * Begins the work; the upstream is asked only once the call is marked as dispatched. Never throws:
   * work that can't begin is work that has ended with an error.
   */
  abstract start(call: BackgroundCall): CallWork;
}
