import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { SettingsPatch } from './settings-patch.js';

interface SettingsRow {
  overrides: SettingsPatch;
}

const SELECT = 'SELECT settings.overrides FROM settings';

// Also takes the row's lock when it exists, so that of two changes one waits and builds on the other.
const LOCK = `
  INSERT INTO settings (only_row) VALUES (true)
  ON CONFLICT ON CONSTRAINT settings_pk DO UPDATE SET only_row = true
  RETURNING settings.overrides`;

const SAVE = 'UPDATE settings SET overrides = $1::jsonb, updated_at = now()';

/** The one row of `settings`: what differs from the defaults. */
@Injectable()
export class SettingsRepository {
  async read(db: Queryable): Promise<SettingsPatch> {
    return (await db.query<SettingsRow>(SELECT))[0]?.overrides ?? {};
  }

  async lock(tx: Transaction): Promise<SettingsPatch> {
    return (await tx.query<SettingsRow>(LOCK))[0]?.overrides ?? {};
  }

  async save(tx: Transaction, overrides: SettingsPatch): Promise<void> {
    await tx.query(SAVE, [JSON.stringify(overrides)]);
  }
}
