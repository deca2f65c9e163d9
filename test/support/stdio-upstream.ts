import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StdioMcpServer } from '../../src/upstreams/mcp-server.js';
import { eventually } from './eventually.js';

const SCRIPT = fileURLToPath(new URL('./stdio-server.mjs', import.meta.url));

interface Message {
  id?: number;
  method: string;
  params?: Record<string, any>;
}

type Entry =
  | { event: 'start'; pid: number; more: string[] }
  | { event: 'message'; message: Message }
  | { event: 'aborted'; id: number }
  | { event: 'SIGTERM' };

/** The program `stdio-server.mjs` as a registered server, and what its journal says. */
export class StdioUpstream {
  readonly folder = mkdtempSync(join(tmpdir(), 'stdio-'));
  private readonly journal = join(this.folder, 'journal');

  /** `start` as in the program. */
  server(start = 'well', fields: Partial<StdioMcpServer> = {}): StdioMcpServer {
    return aProgram({ args: [SCRIPT, this.journal, start], ...fields });
  }

  get starts(): { pid: number; more: string[] }[] {
    return this.entries().filter((entry) => entry.event === 'start');
  }

  get lastPid(): number {
    return this.starts.at(-1)?.pid ?? -1;
  }

  received(method: string): Message[] {
    return this.entries().flatMap((entry) =>
      entry.event === 'message' && entry.message.method === method ? [entry.message] : [],
    );
  }

  /** The ids of the requests whose handlers saw their signal abort. */
  get aborted(): number[] {
    return this.entries().flatMap((entry) => (entry.event === 'aborted' ? [entry.id] : []));
  }

  async untilReceived(method: string, times: number): Promise<void> {
    await eventually(`${method}`, () => this.received(method).length >= times);
  }

  async untilGone(): Promise<void> {
    await eventually('programs gone', () => !this.starts.some(({ pid }) => isAlive(pid)), 6_000);
  }

  /** Kills those that still run; a number that another process has by now is left alone. */
  kill(): void {
    for (const { pid } of this.starts)
      if (commandLine(pid).includes(this.journal)) process.kill(pid, 'SIGKILL');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  entries(): Entry[] {
    try {
      const lines = readFileSync(this.journal, 'utf8').split('\n');
      return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
    } catch {
      return [];
    }
  }
}

/** A registered program as it is in memory; Node.js itself by default. */
export function aProgram(fields: Partial<StdioMcpServer>): StdioMcpServer {
  return {
    id: '01890a5d-ac96-774b-bcce-b302099a8058',
    name: 'test',
    title: 'Test',
    transport: 'stdio',
    command: process.execPath,
    args: [],
    env: {},
    enabled: true,
    sharing: 'shared',
    ...fields,
  };
}

/** A process that has ended and waits to be looked after by its parent counts as gone. */
export function isAlive(pid: number): boolean {
  const state = existsSync('/proc/self/stat') ? processFile(pid, 'stat') : undefined;
  if (state !== undefined) return state !== '' && !/^\d+ \(.*\) [ZX]/.test(state);
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Empty when there is no such process. */
export function commandLine(pid: number): string {
  return processFile(pid, 'cmdline');
}

/** Empty when there is no such process. */
function processFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
