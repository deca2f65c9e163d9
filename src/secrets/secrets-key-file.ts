import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../common/system-error.js';
import { formatSecretsKeys, parseSecretsKeys, type SecretsKey } from '../config/secrets-keys.js';

const OWNER_ONLY = 0o600;
const FIRST_ID = 'generated';

/**
 * The keys in `secrets-keys` of the data folder, in the form of `BGC_SECRETS_KEYS`; a first one is
 * generated and is on the disk, readable by its owner alone, before this resolves.
 * @throws Error when the file is damaged: another key in its place would make what is sealed useless.
 */
export async function readOrCreateSecretsKeys(dataDir: string): Promise<SecretsKey[]> {
  const path = join(dataDir, 'secrets-keys');
  const text = (await readIfThere(path)) ?? (await create(dataDir, path));
  const keys = parseSecretsKeys(text.trim());
  if (keys === undefined)
    throw new Error(
      `${path} is damaged: put it back from a backup. Without it the headers and variables of MCP servers can't be read; remove it to begin with a new key, and set them again.`,
    );
  return keys;
}

/** Of two processes that begin together both take the key of the one that was first. */
async function create(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  await writeDurably(draft, formatSecretsKeys([{ id: FIRST_ID, key: randomBytes(32) }]));
  try {
    await link(draft, path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  return readFile(path, 'utf8');
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', OWNER_ONLY);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
