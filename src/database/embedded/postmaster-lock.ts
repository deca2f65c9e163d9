import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { socketPath } from './socket-folder.js';

const FILE = 'postmaster.pid';
/** Lines of the file: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h */
const LINE = { pid: 0, socketDir: 4, status: 7 };

/** `free`: a server may start here · `stopping`: soon · `held`: another server runs on this cluster. */
type LockState = 'free' | 'stopping' | 'held';

/**
 * Who holds this cluster. PostgreSQL's own check believes in any living process that has the number
 * in postmaster.pid, and in none of another container, so that after a kill it refuses to start and
 * on a shared volume it starts twice. Asked here instead: does the socket answer, and is the process
 * a server of this cluster? A file that nobody stands behind is removed.
 */
export async function lockState(cluster: string): Promise<LockState> {
  const file = path.join(cluster, FILE);
  const text = readIfThere(file);
  if (text === undefined) return 'free';
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[LINE.pid]);
  const answers = await accepts(socketPath(lines[LINE.socketDir] || cluster));
  if (answers || isServerOf(pid, cluster))
    return lines[LINE.status] === 'stopping' ? 'stopping' : 'held';
  // Unchanged since it was read, else another process has started a server meanwhile.
  if (readIfThere(file) === text) fs.rmSync(file, { force: true });
  return 'free';
}

function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = net.connect(socket);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    // EAGAIN: somebody listens, but has no time at the moment.
    connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EAGAIN'));
  });
}

function isServerOf(pid: number, cluster: string): boolean {
  const command = commandLine(pid);
  return command !== undefined && command.includes('/postgres') && command.includes(cluster);
}

/** Undefined: there is no such process. */
function commandLine(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (fs.existsSync('/proc/self/cmdline')) return readIfThere(`/proc/${pid}/cmdline`);
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return undefined;
  }
}
