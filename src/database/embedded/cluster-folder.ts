import * as fs from 'node:fs';
import * as path from 'node:path';
import { makeOpenFolder } from './embedded-binaries.js';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import { userCan, type ServerUser } from './server-user.js';

/** A cluster cannot be opened by another major version, so its folder is named after it. */
export const CLUSTER_NAME = 'postgres-18';

const LONGEST_NAME = 20;

/**
 * Where the cluster of this data folder lies, or will lie. Normally `<data>/postgres-18`; where the
 * server's user cannot go there (root's data in a closed home folder) that path is a link to a
 * folder in `systemDir`. A link, so that who deletes or copies the data folder sees what is missing.
 * @throws EmbeddedDatabaseError when an existing cluster cannot be reached.
 */
export function clusterFolder(
  dataDir: string,
  systemDir: string,
  user: ServerUser | undefined,
): string {
  const wanted = path.join(dataDir, CLUSTER_NAME);
  makeDataFolder(dataDir, user);
  const is = fs.lstatSync(wanted, { throwIfNoEntry: false });
  if (is !== undefined) return reachable(is.isSymbolicLink() ? linkTarget(wanted) : wanted, user);
  if (user === undefined || userCan('x', dataDir, user)) return wanted;
  return linkedFolder(wanted, systemDir, user);
}

export function isCluster(folder: string): boolean {
  return fs.existsSync(path.join(folder, 'PG_VERSION'));
}

function linkTarget(link: string): string {
  const target = fs.readlinkSync(link);
  if (fs.existsSync(link)) return target;
  throw new EmbeddedDatabaseError(
    `${link} leads to ${target}, which is gone: ` +
      'bring it back, or remove the link to begin with an empty database',
  );
}

function reachable(cluster: string, user: ServerUser | undefined): string {
  if (userCan('x', cluster, user)) return cluster;
  throw new EmbeddedDatabaseError(
    `the embedded database in ${cluster} cannot be entered by ${who(user)}, whom PostgreSQL runs ` +
      'as: run as its owner, open the folders above it, use another BGC_DATA_DIR, or set DATABASE_URL',
  );
}

function makeDataFolder(dataDir: string, user: ServerUser | undefined): void {
  try {
    if (user === undefined) fs.mkdirSync(dataDir, { recursive: true });
    else makeOpenFolder(dataDir);
    fs.accessSync(dataDir, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `the data folder ${dataDir} cannot be written: use another BGC_DATA_DIR, or set DATABASE_URL`,
      error,
    );
  }
}

function linkedFolder(wanted: string, systemDir: string, user: ServerUser): string {
  try {
    makeOpenFolder(systemDir);
    const owned = fs.mkdtempSync(path.join(systemDir, `${nameFor(path.dirname(wanted))}-`));
    fs.chownSync(owned, user.uid, user.gid);
    const folder = path.join(owned, CLUSTER_NAME);
    fs.mkdirSync(folder, { mode: 0o700 });
    fs.chownSync(folder, user.uid, user.gid);
    fs.symlinkSync(folder, wanted);
    return folder;
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `${who(user)}, whom PostgreSQL runs as, cannot enter ${path.dirname(wanted)}, and a folder in ` +
        `${systemDir} cannot be used either: set BGC_DATA_DIR or DATABASE_URL`,
      error,
    );
  }
}

/** The end of the path: readable, and short enough for a socket address below it. */
function nameFor(dataDir: string): string {
  const words = dataDir.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.join('-').slice(-LONGEST_NAME).replace(/^-/, '') || 'data';
}

function who(user: ServerUser | undefined): string {
  return user === undefined ? 'this user' : `uid ${user.uid}`;
}
