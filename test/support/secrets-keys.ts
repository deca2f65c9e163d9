/** For services on a database that is not the embedded one. */
export const SECRETS_KEYS = aSecretsKey('tests');

/** A key of `BGC_SECRETS_KEYS`, always the same for an id. */
export function aSecretsKey(id: string): string {
  return `${id}:${Buffer.alloc(32, id).toString('base64')}`;
}
