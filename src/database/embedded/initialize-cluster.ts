import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { isCluster } from './cluster-folder.js';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import { SERVER_ENVIRONMENT } from './server-process.js';
import type { ServerUser } from './server-user.js';

/** The one role of the embedded database; only the owner of the socket's folder can use it. */
export const ROLE = 'bgc';

const OPTIONS = ['-U', ROLE, '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-instructions'];

/**
 * Makes an empty cluster in that folder, unless there is one. It is made beside and renamed, so
 * that a half-made one is never used and of two processes one wins.
 * @throws EmbeddedDatabaseError
 */
export function initializeCluster(
  binaries: string,
  cluster: string,
  user: ServerUser | undefined,
  isDurable: boolean,
): void {
  if (isCluster(cluster)) return;
  const draft = fs.mkdtempSync(`${cluster}.new-`);
  try {
    if (user) fs.chownSync(draft, user.uid, user.gid);
    runInitdb(path.join(binaries, 'bin', 'initdb'), draft, user, isDurable);
    fs.renameSync(draft, cluster);
  } catch (error) {
    if (!isCluster(cluster)) throw error;
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function runInitdb(
  program: string,
  folder: string,
  user: ServerUser | undefined,
  isDurable: boolean,
): void {
  const options = isDurable ? OPTIONS : [...OPTIONS, '--no-sync'];
  const run = spawnSync(program, ['-D', folder, ...options], {
    ...user,
    env: SERVER_ENVIRONMENT,
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (run.status === 0) return;
  // The program is there, so what is missing is the loader that it names.
  const hasOtherLibc =
    run.error !== undefined && 'code' in run.error && run.error.code === 'ENOENT';
  throw new EmbeddedDatabaseError(
    hasOtherLibc
      ? 'the embedded PostgreSQL needs glibc, which this system (Alpine, for example) does not have: set DATABASE_URL'
      : `the embedded database could not be made in ${folder}: ${run.stderr || String(run.error)}`,
    run.error,
  );
}
