import type { Clock } from './common/clock.js';

/**
 * Under npm a signal to the whole process group (Ctrl-C, a supervisor) comes twice, since npm passes
 * its own on as well: what follows the first this closely is the same wish.
 */
const SAME_SIGNAL_MS = 300;

/** The first SIGTERM or SIGINT calls `leave`; one more calls `leaveAtOnce`. */
export function leaveOnSignals(clock: Clock, leave: () => void, leaveAtOnce: () => void): void {
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    const nowMs = clock.monotonicMs();
    if (firstAtMs === undefined) {
      firstAtMs = nowMs;
      leave();
    } else if (nowMs - firstAtMs >= SAME_SIGNAL_MS) {
      leaveAtOnce();
    }
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
