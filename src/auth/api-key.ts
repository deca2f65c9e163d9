import { createHash, randomBytes } from 'node:crypto';

/** What a key may be used for: the agent API, the bot API, the admin API. */
export type Audience = 'agent' | 'bot' | 'admin';
export const AUDIENCES: readonly Audience[] = ['agent', 'bot', 'admin'];

/** A live key, without the key itself. */
export interface ApiKey {
  id: string;
  audience: Audience;
  /** Null for an admin key, which is bound to no app. */
  appId: string | null;
  /** SHA-256 of the key. */
  hash: Buffer;
}

const SECRET_BYTES = 32;
const READABLE_OF_GENERATED = 18;
const READABLE_OF_FIXED = 4;

/** A new key with a readable prefix, for example `bgc_agent_…`. */
export function generateKey(audience: Audience): string {
  return `bgc_${audience}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Keys carry 32 random bytes (or are the operator's own), so one round without salt is enough. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The start of a key, by which people recognise it; of a key that somebody made up only little is shown. */
export function readablePrefix(key: string): string {
  const isOurs = AUDIENCES.some((audience) => key.startsWith(`bgc_${audience}_`));
  return key.slice(0, isOurs ? READABLE_OF_GENERATED : READABLE_OF_FIXED);
}
