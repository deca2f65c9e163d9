import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../../common/domain-error.js';
import type { PageRequest } from '../../common/paging.js';
import { Database } from '../../database/database.js';
import { MessageAttemptRepository } from '../webhook/message-attempt.repository.js';
import { type MessageFilter, MessageListRepository } from './message-list.repository.js';
import type { MessageDetails, MessageSummary } from './message-summary.js';

/** Reads messages of all apps. */
@Injectable()
export class MessageReader {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageListRepository,
    private readonly attempts: MessageAttemptRepository,
  ) {}

  /** Up to `limit + 1` messages. */
  async list(filter: MessageFilter, page: PageRequest): Promise<MessageSummary[]> {
    return this.messages.list(this.database, filter, page);
  }

  /** @throws NotFoundError */
  async get(id: string): Promise<MessageDetails> {
    const found = await this.messages.find(this.database, id);
    if (found === undefined) throw new NotFoundError();
    return { ...found, deliveries: await this.attempts.list(this.database, id) };
  }
}
