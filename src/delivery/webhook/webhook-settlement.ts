import { Injectable } from '@nestjs/common';
import { drawChance } from '../../common/backoff.js';
import { DatabaseRetry, type GiveUpTerms } from '../../database/database-retry.js';
import { Database, type Transaction } from '../../database/database.js';
import { notifyDeliveryReady } from '../../targets/delivery-ready.js';
import { type LockedTarget, TargetRepository } from '../../targets/target.repository.js';
import { DeliverableRepository } from '../deliverable.repository.js';
import { MessageEndings } from '../message-endings.js';
import type { EndedMessage, HandedOutMessage } from '../message.repository.js';
import { MessageAttemptRepository } from './message-attempt.repository.js';
import { type NextStep, nextStep, type TriedMessage } from '../sending/next-step.js';
import type { SendResult } from '../sending/send-outcome.js';
import { TriedMessageRepository } from './tried-message.repository.js';

/** What is to be done with a message after its try, and the message when that has ended it. */
export interface Settled {
  step: NextStep;
  ended: EndedMessage | undefined;
}

type Circumstances = Pick<TriedMessage, 'maxAgeHours' | 'isConfiguredAnew'>;

/** Writes down what became of a try and does with the message what follows from it. */
@Injectable()
export class WebhookSettlement {
  constructor(
    private readonly database: Database,
    private readonly retry: DatabaseRetry,
    private readonly targets: TargetRepository,
    private readonly tried: TriedMessageRepository,
    private readonly attempts: MessageAttemptRepository,
    private readonly deliverable: DeliverableRepository,
    private readonly endings: MessageEndings,
  ) {}

  /**
   * In one transaction, under the lock of the target. Overtaken, and nothing happens, when the message has
   * ended, was handed out again meanwhile (this process was held up), or the try is settled already.
   * Undefined when it could not be written down: the message is sent again.
   */
  async settle(
    message: HandedOutMessage,
    result: SendResult,
    now: Circumstances,
    terms: GiveUpTerms,
  ): Promise<Settled | 'overtaken' | undefined> {
    return this.retry.orGiveUp(() => this.settleOnce(message, result, now), terms);
  }

  private async settleOnce(
    message: HandedOutMessage,
    result: SendResult,
    now: Circumstances,
  ): Promise<Settled | 'overtaken'> {
    return this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, message.targetId);
      const found = await this.tried.find(tx, message);
      if (found === undefined) return 'overtaken';
      await this.attempts.record(tx, message, result);
      const step = nextStep(result.outcome, { ...found, ...now }, drawChance());
      return { step, ended: await this.take(tx, target, message.id, step) };
    });
  }

  private async take(
    tx: Transaction,
    target: LockedTarget,
    messageId: string,
    step: NextStep,
  ): Promise<EndedMessage | undefined> {
    switch (step.kind) {
      case 'delivered':
        return this.endings.end(tx, target, messageId, {
          state: 'delivered',
          turnId: step.turnId,
        });
      case 'dead':
        return this.endings.end(tx, target, messageId, { state: 'dead', reason: step.reason });
      case 'wait': {
        const waitSec = step.waitMs / 1_000;
        await this.tried.wait(tx, messageId, waitSec, step.isBusy);
        await this.deliverable.hide(tx, [target.id], waitSec);
        return undefined;
      }
      case 'give_back':
        await this.deliverable.showAgain(tx, target.id);
        await notifyDeliveryReady(tx, target);
        return undefined;
    }
  }
}
