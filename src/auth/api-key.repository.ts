import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { ApiKey, Audience } from './api-key.js';

export interface NewApiKey extends ApiKey {
  origin: 'environment' | 'generated';
  prefix: string;
}

const SELECT_LIVE = `
  SELECT api_keys.id, api_keys.audience, api_keys.app_id AS "appId", api_keys.hash
  FROM api_keys
  WHERE api_keys.revoked_at IS NULL`;

// A key that comes back, perhaps for another audience, is the same row again.
const UPSERT = `
  INSERT INTO api_keys (id, app_id, audience, origin, prefix, hash)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT ON CONSTRAINT api_keys_hash_unique DO UPDATE
  SET app_id = excluded.app_id, audience = excluded.audience, origin = excluded.origin, revoked_at = NULL`;

const REVOKE_OTHER_FIXED = `
  UPDATE api_keys
  SET revoked_at = now()
  WHERE api_keys.audience = $1 AND api_keys.origin = 'environment'
    AND api_keys.hash <> $2 AND api_keys.revoked_at IS NULL`;

/** Rows of `api_keys`: hashes, never keys. */
@Injectable()
export class ApiKeyRepository {
  /** All keys that were not revoked. */
  async live(db: Queryable): Promise<ApiKey[]> {
    return db.query<ApiKey>(SELECT_LIVE);
  }

  /** Makes a key live; one that was revoked before comes back. */
  async save(tx: Transaction, key: NewApiKey): Promise<void> {
    await tx.query(UPSERT, [key.id, key.appId, key.audience, key.origin, key.prefix, key.hash]);
  }

  /** Revokes the keys that the environment gave this audience before. */
  async revokeOtherFixed(tx: Transaction, audience: Audience, hash: Buffer): Promise<void> {
    await tx.query(REVOKE_OTHER_FIXED, [audience, hash]);
  }
}
