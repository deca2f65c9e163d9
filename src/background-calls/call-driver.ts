import type { BackgroundCall } from './background-call.js';
import type { CallWork } from './call-work.js';

/** The port to whoever does the work of calls that this process takes from the queue or from another process. */
export abstract class CallDriver {
  /**
   * Begins the work; the upstream is asked only once the call is marked as dispatched. Never throws:
   * work that can't begin is work that has ended with an error.
   */
  abstract start(call: BackgroundCall): CallWork;

  /**
   * Goes on with work that another process began, by the last reference that it told. Never throws:
   * work that nobody can go on with has ended as interrupted.
   */
  abstract resume(call: BackgroundCall, reference: object): CallWork;
}
