import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.js';

/** Connections that are kept for a burst are closed a second later. */
const QUIET_MS = 1_500;

/** Counts by name. */
export type Held = Record<string, number>;

/** What this process holds; descriptors and children are 0 where the system does not show them. */
export function heldByProcess(): Held {
  const resources = process.getActiveResourcesInfo();
  const count = (kind: string): number => resources.filter((one) => one === kind).length;
  return {
    timers: count('Timeout'),
    descriptors: filesIn('/proc/self/fd').length,
    children: childrenOf(process.pid),
    processes: count('ProcessWrap'),
    pipes: count('PipeWrap'),
    sockets: count('TCPSocketWrap'),
  };
}

/**
 * Waits until what is held has not changed for a while, and answers it. Of timers the fewest count:
 * the test runner has one that comes and goes.
 */
export async function heldWhenQuiet(held: () => Held): Promise<Held> {
  let quietest = held();
  let sinceMs = performance.now();
  return eventually('quiet', () => {
    const now = held();
    const isSame = Object.keys(now).every(
      (name) => name === 'timers' || now[name] === quietest[name],
    );
    const isCalmer = (now.timers ?? 0) < (quietest.timers ?? 0);
    if (!isSame || isCalmer) [quietest, sinceMs] = [now, performance.now()];
    return performance.now() - sinceMs > QUIET_MS && quietest;
  });
}

/** Waits until no more is held than before. @throws Error that names both */
export async function untilGivenBack(held: () => Held, before: Held): Promise<void> {
  const isGivenBack = (): boolean =>
    Object.entries(held()).every(([name, count]) => count <= (before[name] ?? 0));
  await eventually('all given back', isGivenBack, 10_000).catch(() => {
    throw new Error(`held before: ${JSON.stringify(before)}, now: ${JSON.stringify(held())}`);
  });
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function childrenOf(pid: number): number {
  const tasks = filesIn(`/proc/${pid}/task`);
  const lists = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'));
  return lists.join(' ').split(' ').filter(Boolean).length;
}
