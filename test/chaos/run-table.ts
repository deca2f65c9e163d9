import type { Evidence } from './evidence.js';
import type { Sightings } from './sightings.js';

const COUNTED = [
  ...['calls', 'answered', 'refused', 'unanswered', 'cancels', 'turns', 'receipts', 'webhooks'],
  ...['kills', 'leaves', 'pauses', 'cuts', 'silences', 'terminations', 'restarts'],
  'failed starts',
];

/** What happened in a run, in figures. */
export function runFigures(sightings: Sightings, evidence: Evidence): Record<string, number> {
  const { accepted, calls, callChanges, messages, messageChanges, notifications } = evidence;
  const ofStatus = (status: string): number =>
    calls.filter((call) => call.status === status).length;
  const code = (errorCode: string): number =>
    calls.filter((call) => call.errorCode === errorCode).length;
  return {
    ...Object.fromEntries(COUNTED.map((what) => [what, sightings.counted(what)])),
    accepted: accepted.length,
    'background calls': calls.length,
    completed: ofStatus('completed'),
    failed: ofStatus('failed'),
    interrupted: code('interrupted'),
    cancelled: ofStatus('cancelled'),
    'taken over': callChanges.filter(
      ({ ownerBefore, owner }) => ownerBefore !== null && owner !== null && ownerBefore !== owner,
    ).length,
    notifications: notifications.length,
    suppressed: notifications.filter(({ suppressed }) => suppressed !== null).length,
    messages: messages.length,
    'hand-outs': messageChanges.filter(({ isHandOut }) => isHandOut).length,
  };
}

/** Names and numbers below one another. */
export function asTable(title: string, figures: Record<string, number>): string {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  const lines = Object.entries(figures).map(
    ([name, count]) => `  ${name.padEnd(width)} ${String(count).padStart(7)}`,
  );
  return `${title}\n${lines.join('\n')}\n`;
}
