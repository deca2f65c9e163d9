import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { EmbeddedDatabaseError } from './embedded-database.error.js';

/** Whom PostgreSQL runs as: PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ['postgres', 'nobody'];

/**
 * Undefined: the server runs as this process does. As root: whoever owns the database already,
 * else the first unprivileged user that there is.
 * @throws EmbeddedDatabaseError when this is root and there is no such user.
 */
export function serverUser(cluster: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of CANDIDATES) {
    const user = lookUp(name);
    if (user) return user;
  }
  throw new EmbeddedDatabaseError(
    `PostgreSQL does not run as root, and this system has no user ${CANDIDATES.join(' or ')}: ` +
      'run as another user or set DATABASE_URL',
  );
}

/**
 * Whether that user passes `test -x` (enter or run) or `test -r` (read). Asked of the system
 * rather than worked out from the mode bits, so that groups, ACLs and mounts count too.
 */
export function userCan(action: 'x' | 'r', path: string, user: ServerUser | undefined): boolean {
  const test = spawnSync('/bin/sh', ['-c', `test -${action} "$1"`, 'sh', path], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  if (!test.error) return test.status === 0;
  throw new EmbeddedDatabaseError(
    `PostgreSQL does not run as root, and this process may not start programs as uid ${user?.uid}: ` +
      'run as another user or set DATABASE_URL',
    test.error,
  );
}

function lookUp(name: string): ServerUser | undefined {
  try {
    return { uid: idOf('-u', name), gid: idOf('-g', name) };
  } catch {
    return undefined;
  }
}

function idOf(flag: '-u' | '-g', name: string): number {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio }));
}
