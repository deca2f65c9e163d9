import { Injectable } from '@nestjs/common';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { within } from '../common/within.js';
import { DatabaseAnswerRepository } from '../database/database-answer.repository.js';
import { Database } from '../database/database.js';

/** A probe gives up after a second or two, so it is told before that. */
const ANSWER_MS = 900;

/** Whether this process can do what a request may ask of it. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    private readonly database: Database,
    private readonly answer: DatabaseAnswerRepository,
  ) {}

  /** @throws DrainingError, or DatabaseUnavailableError when the database does not answer in time. */
  async assertReady(): Promise<void> {
    this.drain.assertAcceptsWork();
    const isInTime = await within(ANSWER_MS, this.answer.touch(this.database));
    if (!isInTime) throw new DatabaseUnavailableError();
  }
}
