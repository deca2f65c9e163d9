import { readFileSync } from 'node:fs';

/** The state in which `/proc/net/tcp` shows a socket whose keep-alive timer runs: nothing is under way. */
export const KEEP_ALIVE_TIMER = '02';
const ESTABLISHED = '01';

/** What the kernel waits for on our connections to a port. */
export function timersOfSocketsTo(port: number): { kind: string; inSeconds: number }[] {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[2]?.endsWith(remote) && fields[3] === ESTABLISHED)
    .map((fields) => (fields[5] ?? '').split(':'))
    .map(([kind = '', when = '']) => ({ kind, inSeconds: parseInt(when, 16) / 100 }));
}
