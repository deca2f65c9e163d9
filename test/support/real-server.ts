import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpTee } from './http-tee.js';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const script = (name: string): string => {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
};
export const EVERYTHING = script('@modelcontextprotocol/server-everything');
export const FILESYSTEM = script('@modelcontextprotocol/server-filesystem');

/** A server of the reference repository behind a tee. */
export interface RealServer {
  /** What it is registered with. */
  registration: Record<string, unknown>;
  /** `tools/call` requests that went to it, in order. */
  toolCalls(): string[];
  /** Ends the server process of the moment as a crash does. */
  kill(): void;
  stop(): Promise<void>;
}

/** `server-everything` over HTTP. */
export async function httpServer(transport: 'http' | 'sse'): Promise<RealServer> {
  const mode = transport === 'http' ? 'streamableHttp' : 'sse';
  const child = fork(EVERYTHING, [mode], {
    execArgv: ['--import', here('./loopback-only.mjs')],
    stdio: 'ignore',
    serialization: 'json',
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const tee = await HttpTee.start(`http://127.0.0.1:${port}`);
  const path = transport === 'http' ? '/mcp' : '/sse';
  return {
    registration: { transport, url: `${tee.url}${path}` },
    toolCalls: () => toolsOf(tee.bodies),
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      await ended(child);
      await tee.stop();
    },
  };
}

/** A server over stdio, started by the service. */
export function stdioServer(serverScript: string, ...args: string[]): RealServer {
  const folder = mkdtempSync(join(tmpdir(), 'tee-'));
  const file = join(folder, 'told');
  return {
    registration: {
      transport: 'stdio',
      command: process.execPath,
      args: [here('./stdio-tee.mjs'), file, serverScript, ...args],
    },
    toolCalls: () => toolsOf(linesOf(file)),
    kill: () => {
      const pids = linesOf(file).flatMap(
        (line) => (JSON.parse(line) as { pid?: number }).pid ?? [],
      );
      process.kill(pids.at(-1)!, 'SIGKILL');
    },
    stop: () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

function toolsOf(bodies: readonly string[]): string[] {
  return bodies.filter(Boolean).flatMap((body) => {
    const { method, params } = JSON.parse(body) as { method: string; params: { name: string } };
    return method === 'tools/call' ? [params.name] : [];
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
