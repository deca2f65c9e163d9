import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Audience } from './api-key.js';

/** Keys as they are shown once and saved, by audience. */
export type PlainKeys = Partial<Record<Audience, string>>;

const OWNER_ONLY = 0o600;

/**
 * Adds keys to `keys.json` in the data folder, readable by its owner alone, and answers its path.
 * The file is replaced as a whole, so that a crash leaves the old one or the new one.
 */
export async function saveKeyFile(dataDir: string, keys: PlainKeys): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, 'keys.json');
  const draft = `${path}.${process.pid}.tmp`;
  const content = JSON.stringify({ ...(await readKeyFile(path)), ...keys }, null, 2);
  await writeFile(draft, `${content}\n`, { mode: OWNER_ONLY });
  await rename(draft, path);
  return path;
}

async function readKeyFile(path: string): Promise<PlainKeys> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as PlainKeys;
  } catch {
    // Missing or damaged: the keys that it held are in the database as hashes only.
    return {};
  }
}
