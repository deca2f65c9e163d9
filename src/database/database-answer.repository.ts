import { Injectable } from '@nestjs/common';
import type { Queryable } from './database.js';

const ANSWER = 'SELECT 1';

/** Whether the database answers at all. */
@Injectable()
export class DatabaseAnswerRepository {
  /** @throws DatabaseUnavailableError */
  async touch(db: Queryable): Promise<true> {
    await db.query(ANSWER);
    return true;
  }
}
