import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import type { ServerUser } from './server-user.js';

/** Names the socket `.s.PGSQL.<port>`; no TCP port is opened. */
export const SOCKET_PORT = 5432;

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the closing zero included. */
const LONGEST_SOCKET_PATH = 103;

/**
 * The folder for the unix socket: the cluster's own, which only its user may enter. Where that
 * path is too long for a socket, a folder of the same kind in /tmp; the same one at each start,
 * so that those of killed processes do not pile up.
 * @throws EmbeddedDatabaseError when somebody else holds that place in /tmp.
 */
export function socketFolder(cluster: string, user: ServerUser | undefined): string {
  if (Buffer.byteLength(socketPath(cluster)) <= LONGEST_SOCKET_PATH) return cluster;
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  const folder = `/tmp/background-calls-${hash}`;
  const uid = user?.uid ?? process.getuid?.();
  if (!fs.existsSync(folder)) {
    fs.mkdirSync(folder, { mode: 0o700 });
    if (user) fs.chownSync(folder, user.uid, user.gid);
  }
  const is = fs.lstatSync(folder);
  if (!is.isDirectory() || is.uid !== uid || (is.mode & 0o077) !== 0)
    throw new EmbeddedDatabaseError(
      `${folder} is not a private folder of uid ${uid}: remove it, or use a shorter BGC_DATA_DIR`,
    );
  return folder;
}

/** A folder in /tmp goes when the server has stopped. */
export function removeSocketFolder(folder: string, cluster: string): void {
  if (folder !== cluster) fs.rmSync(folder, { recursive: true, force: true });
}

export function socketPath(folder: string): string {
  return path.join(folder, `.s.PGSQL.${SOCKET_PORT}`);
}
