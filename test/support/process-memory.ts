import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scrape } from './metrics.js';

const COLLECT_ON_SIGNAL = fileURLToPath(new URL('./collect-on-signal.mjs', import.meta.url));
const LOOKS = 3;
const LOOK_MS = 250;

/** For Node.js, where `neededBytes` shall be asked of the process. */
export const COLLECTABLE = ['--expose-gc', '--import', COLLECT_ON_SIGNAL];

/** The bytes of memory that a process occupies now. */
export function residentBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kilobytes) * 1_024;
}

/**
 * The bytes that a service of `COLLECTABLE` needs: garbage is left out, which lies about for as long as it
 * likes, and so is the free memory that the process keeps for itself.
 */
export async function neededBytes({ pid, url }: { pid: number; url: string }): Promise<number> {
  let fewest = Infinity;
  for (let look = 0; look < LOOKS; look++) {
    process.kill(pid, 'SIGUSR2');
    await sleep(LOOK_MS);
    const figures = await scrape(url);
    const of = (name: string): number => figures.get(`nodejs_${name}_bytes`) ?? NaN;
    fewest = Math.min(fewest, of('heap_size_used') + of('external_memory'));
  }
  return fewest;
}
