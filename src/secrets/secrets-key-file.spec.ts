import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readOrCreateSecretsKeys } from './secrets-key-file.js';

describe('the file of the keys for secrets', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    path = join(folder, 'data', 'secrets-keys');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (): ReturnType<typeof readOrCreateSecretsKeys> =>
    readOrCreateSecretsKeys(join(folder, 'data'));

  it('is made once, for its owner alone, and is what BGC_SECRETS_KEYS takes', async () => {
    const [first] = await read();
    expect(first?.key).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`generated:${first?.key.toString('base64')}\n`);
    expect(await read()).toEqual([first]);
  });

  it('has one key when two processes begin together', async () => {
    const [one, other] = await Promise.all([read(), read()]);
    expect(one).toEqual(other);
  });

  it('is not replaced when it is damaged', async () => {
    await read();
    writeFileSync(path, 'generated:');
    await expect(read()).rejects.toThrow(`${path} is damaged`);
    expect(readFileSync(path, 'utf8')).toBe('generated:');
  });
});
