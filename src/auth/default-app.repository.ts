import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';

// DO UPDATE instead of DO NOTHING, which would neither lock nor return the row of an app that exists.
const ENSURE = `
  INSERT INTO apps (id, name) VALUES ($1, $2)
  ON CONFLICT ON CONSTRAINT apps_name_unique DO UPDATE SET name = excluded.name
  RETURNING apps.id`;

/** The app to which the first keys belong. */
@Injectable()
export class DefaultAppRepository {
  /** Locks the app of that name, made with `id` where there is none, until `tx` ends; answers its id. */
  async ensureLocked(tx: Transaction, id: string, name: string): Promise<string> {
    const [row] = await tx.query<{ id: string }>(ENSURE, [id, name]);
    return row?.id ?? id;
  }
}
