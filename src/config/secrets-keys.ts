/** A key that seals secrets at rest. */
export interface SecretsKey {
  /** Stands beside what it has sealed. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** What is allowed, for messages to operators. */
export const SECRETS_KEYS_FORM =
  'must be id:base64,… with distinct ids of A-Z a-z 0-9 _ - and 32 bytes each ("a:" and the output of openssl rand -base64 32)';

const ONE = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** Reads `id:base64,…`; undefined when it is not of that form. */
export function parseSecretsKeys(text: string): SecretsKey[] | undefined {
  const keys: SecretsKey[] = [];
  for (const part of text.split(',')) {
    const [, id, base64] = ONE.exec(part.trim()) ?? [];
    if (id === undefined || base64 === undefined) return undefined;
    keys.push({ id, key: Buffer.from(base64, 'base64') });
  }
  const isDistinct = new Set(keys.map(({ id }) => id)).size === keys.length;
  return isDistinct ? keys : undefined;
}

/** The inverse of `parseSecretsKeys`. */
export function formatSecretsKeys(keys: readonly SecretsKey[]): string {
  return keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
}
