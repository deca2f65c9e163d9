import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InvalidRequestError } from '../../common/domain-error.js';
import { Database } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { InputNotRequiredError } from '../background-call.errors.js';
import { CallReader } from '../call-reader.js';
import type { InputAnswer, StoredInputRequest } from './input-request.js';
import { InputRequestRegistry } from './input-request.registry.js';
import { InputRequestRepository } from './input-request.repository.js';
import { contentErrors } from './input-schema.js';

/** The verb that answers what an upstream asked, on whichever replica. */
@Injectable()
export class InputAnswerer {
  constructor(
    private readonly database: Database,
    private readonly reader: CallReader,
    private readonly registry: InputRequestRegistry,
    private readonly requests: InputRequestRepository,
  ) {}

  /**
   * Answers the open question of the call, or the one of that number. The same answer given again changes
   * nothing: the call is answered as it is.
   * @throws NotFoundError, InputNotRequiredError, InvalidRequestError when the content breaks the schema
   */
  async answer(
    id: string,
    appId: string,
    given: InputAnswer,
    sequence: number | undefined,
  ): Promise<BackgroundCall> {
    const call = await this.reader.get(id, appId);
    const asked = await this.requests.find(this.database, id, sequence);
    if (asked?.closeReason === null) {
      if (given.action === 'accept') assertContent(asked, given.content);
      const resumed = await this.registry.answer(call, asked.sequence, given);
      if (resumed) return resumed;
    }
    // Somebody else, or an earlier try of the same caller, may have answered meanwhile.
    const settled = await this.requests.find(this.database, id, asked?.sequence);
    if (settled && isSame(settled, given)) return this.reader.get(id, appId);
    throw new InputNotRequiredError();
  }
}

function assertContent({ schema }: StoredInputRequest, content: Record<string, unknown>): void {
  const errors = contentErrors(schema, content);
  if (errors.length > 0) throw new InvalidRequestError(errors);
}

function isSame({ answer }: StoredInputRequest, given: InputAnswer): boolean {
  // Through JSON, as the stored one: undefined and -0 are not told apart by it.
  return (
    answer !== null && isDeepStrictEqual(JSON.parse(answer), JSON.parse(JSON.stringify(given)))
  );
}
