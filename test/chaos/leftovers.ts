import { readdirSync, readFileSync } from 'node:fs';
import type { ChaosDatabase } from './chaos-database.js';
import { eventually } from '../support/eventually.js';
import { scrape } from '../support/metrics.js';
import type { ServiceProcess } from '../support/service-process.js';
import type { ChaosUpstreams } from './chaos-upstreams.js';
import { NAMED_FILES, type NamedFile, wrongFiles } from './workspace-files.js';

const GIVEN_BACK_WITHIN_MS = 15_000;

/** What is left once every call has ended, by name; it is given some time to go. */
export async function leftBy(
  processes: ServiceProcess[],
  upstreams: ChaosUpstreams,
  workspaces: string,
  database: ChaosDatabase,
): Promise<Record<string, number>> {
  let left: Record<string, number> = {};
  const isClean = async (): Promise<boolean> => {
    const files = wrongFiles(workspaces, await database.query<NamedFile>(NAMED_FILES));
    left = {
      'calls in memory': await sum(processes, callsIn),
      'child processes': await sum(processes, ({ pid }) => Promise.resolve(childrenOf(pid))),
      'calls open at the MCP servers': upstreams.openCalls,
      ...Object.fromEntries(files.map((file) => [file, 1])),
    };
    return Object.values(left).every((count) => count === 0);
  };
  await eventually('nothing is left', isClean, GIVEN_BACK_WITHIN_MS).catch(() => undefined);
  return left;
}

async function sum(
  processes: ServiceProcess[],
  count: (process: ServiceProcess) => Promise<number>,
): Promise<number> {
  const counts = await Promise.all(processes.map(count));
  return counts.reduce((all, one) => all + one, 0);
}

async function callsIn({ url }: ServiceProcess): Promise<number> {
  const running = (await scrape(url)).get('bgc_calls_running');
  if (running === undefined) throw new Error('there is no figure of running calls');
  return running;
}

function childrenOf(pid: number): number {
  const lists = readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'),
  );
  return lists.join(' ').split(' ').filter(Boolean).length;
}
