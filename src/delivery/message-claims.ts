import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../database/database.js';
import { Settings } from '../settings/settings.js';
import { notifyDeliveryReady } from '../targets/delivery-ready.js';
import { TargetRepository } from '../targets/target.repository.js';
import { TurnService } from '../targets/turn.service.js';
import { type DeliverableTarget, DeliverableRepository } from './deliverable.repository.js';
import type { DeliveryScope } from './pull/delivery-scope.js';
import { MessageWriter } from './message-writer.js';
import { type HandedOutMessage, MessageRepository } from './message.repository.js';

/** At most so many messages are handed out at once, one a target. */
const MAX_CLAIMED = 100;

/** Hands messages out: under the target's lock, never while its turn runs, one at a time. */
@Injectable()
export class MessageClaims {
  constructor(
    private readonly database: Database,
    private readonly targets: TargetRepository,
    private readonly turns: TurnService,
    private readonly deliverable: DeliverableRepository,
    private readonly messages: MessageRepository,
    private readonly writer: MessageWriter,
    private readonly settings: Settings,
  ) {}

  /** Takes what can be handed out now and hides it for `delivery.visibilitySec`. */
  async claim(scope: DeliveryScope): Promise<HandedOutMessage[]> {
    return this.handOut(
      (tx) => this.deliverable.lock(tx, scope, MAX_CLAIMED),
      this.settings.current.delivery.visibilitySec,
    );
  }

  /** Takes what can be handed out now to sessions and bots of the app, at most `limit`, and hides it. */
  async claimOfApp(appId: string, limit: number, hiddenSec: number): Promise<HandedOutMessage[]> {
    return this.handOut((tx) => this.deliverable.lockDue(tx, appId, limit), hiddenSec);
  }

  /**
   * Makes a message whose receiver went away before it was sent available at once; the try stays counted.
   * Nothing happens when it was acknowledged or handed out again meanwhile.
   */
  async giveBack(message: HandedOutMessage): Promise<void> {
    await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, message.targetId);
      if (!(await this.messages.isOut(tx, message))) return;
      await this.deliverable.showAgain(tx, target.id);
      await notifyDeliveryReady(tx, target);
    });
  }

  private async handOut(
    lock: (tx: Transaction) => Promise<DeliverableTarget[]>,
    hiddenSec: number,
  ): Promise<HandedOutMessage[]> {
    return this.database.transaction(async (tx) => {
      const targets = await lock(tx);
      if (targets.length === 0) return [];
      for (const target of targets) await this.turns.settleExpired(tx, target);
      const messages = await this.take(tx, targets);
      await this.deliverable.hide(
        tx,
        messages.map(({ targetId }) => targetId),
        hiddenSec,
      );
      return messages;
    });
  }

  /** In the order of `targets`: the message that is out already, else a new one. */
  private async take(tx: Transaction, targets: DeliverableTarget[]): Promise<HandedOutMessage[]> {
    const again = await this.messages.countTry(
      tx,
      targets.map(({ id }) => id),
    );
    const isOut = new Set(again.map(({ targetId }) => targetId));
    const fresh = await this.writer.write(
      tx,
      targets.filter(({ id }) => !isOut.has(id)),
    );
    const byTarget = new Map([...again, ...fresh].map((message) => [message.targetId, message]));
    return targets.flatMap(({ id }) => byTarget.get(id) ?? []);
  }
}
