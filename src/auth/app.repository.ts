import { Injectable } from '@nestjs/common';
import type { Locale } from '../common/locale.js';
import type { Queryable, Transaction } from '../database/database.js';

/** One installation of an agent engine: the tenant. */
export interface App {
  id: string;
  name: string;
  /** Null: the locale of the settings. */
  locale: Locale | null;
}

const SELECT_ALL = 'SELECT apps.id, apps.name, apps.locale FROM apps';

// DO UPDATE instead of DO NOTHING, which would neither lock nor return the row of an app that exists.
const ENSURE = `
  INSERT INTO apps (id, name) VALUES ($1, $2)
  ON CONFLICT ON CONSTRAINT apps_name_unique DO UPDATE SET name = excluded.name
  RETURNING apps.id`;

/** Rows of `apps`. */
@Injectable()
export class AppRepository {
  async all(db: Queryable): Promise<App[]> {
    return db.query<App>(SELECT_ALL);
  }

  /** Locks the app of that name, made with `id` where there is none, until `tx` ends; answers its id. */
  async ensureLocked(tx: Transaction, id: string, name: string): Promise<string> {
    const [row] = await tx.query<{ id: string }>(ENSURE, [id, name]);
    return row?.id ?? id;
  }
}
