import { Injectable } from '@nestjs/common';
import { notifyChannel } from '../../database/channel-listener.js';
import { Database, type Transaction } from '../../database/database.js';
import { NotificationOutbox } from '../../delivery/notification-outbox.js';
import type { Suppression } from '../../delivery/suppression.js';
import { type LockedTarget, TargetRepository } from '../../targets/target.repository.js';
import type { BackgroundCall } from '../background-call.js';
import { CallJournal } from '../call-journal.js';
import type { WorkQuestion } from '../call-work.js';
import { toInputNotice } from './input-notice.js';
import { type StorableQuestion, toStorableQuestion } from './input-question.js';
import type { CloseReason, InputAnswer } from './input-request.js';
import { InputRequestRepository } from './input-request.repository.js';

type AskingCall = Pick<BackgroundCall, 'id' | 'targetId' | 'ownerId'>;

const SUPPRESSIONS: Readonly<Record<CloseReason, Suppression>> = {
  answered: 'already_answered',
  withdrawn: 'question_withdrawn',
  owner_gone: 'question_withdrawn',
  call_ended: 'call_ended',
};

/**
 * The moves between `running` and `input_required`, each in one transaction with the question, its event
 * and its notification. Lock order: target, then call.
 */
@Injectable()
export class InputRequestRegistry {
  constructor(
    private readonly database: Database,
    private readonly requests: InputRequestRepository,
    private readonly targets: TargetRepository,
    private readonly outbox: NotificationOutbox,
    private readonly journal: CallJournal,
  ) {}

  /**
   * The call needs input: its slot is free from then on. False when somebody else ended the call, asked for its
   * cancel or took it over. Repeatable with the same number where the outcome of an earlier attempt's COMMIT is
   * unknown: the number is given by who asks, and above those of the call's earlier questions.
   */
  async ask(call: AskingCall, sequence: number, question: WorkQuestion): Promise<boolean> {
    const storable = toStorableQuestion(question);
    const ownerId = call.ownerId ?? '';
    const asked = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      const moved = await this.requests.ask(tx, call.id, ownerId, sequence, storable);
      if (!moved) return this.requests.isAsked(tx, call.id, ownerId, sequence);
      await this.recordAsked(tx, target, moved, storable);
      return moved.call;
    });
    if (typeof asked !== 'boolean') this.journal.inputRequired(asked);
    return asked !== false;
  }

  /**
   * What became of an attempt to ask whose COMMIT is in doubt. It may still be under way on a connection that
   * is lost to us; then it holds the target's lock, which it got before it could commit: so it is waited for.
   */
  async isAsked(call: AskingCall, sequence: number): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await this.targets.lockById(tx, call.targetId);
      return this.requests.isAsked(tx, call.id, call.ownerId ?? '', sequence);
    });
  }

  /** The answer is durable and the call runs again, or undefined: this question is not open any more. */
  async answer(
    call: AskingCall,
    sequence: number,
    answer: InputAnswer,
  ): Promise<BackgroundCall | undefined> {
    return this.resume(call, sequence, 'answered', answer);
  }

  /** The upstream does not want to know any more; undefined as for `answer`. */
  async withdraw(call: AskingCall, sequence: number): Promise<BackgroundCall | undefined> {
    return this.resume(call, sequence, 'withdrawn');
  }

  /** Closes what the call still asks, in the transaction of the move that makes it pointless. */
  async closeWithin(
    tx: Transaction,
    target: LockedTarget,
    callId: string,
    reason: CloseReason,
    answer?: InputAnswer,
  ): Promise<void> {
    if (await this.requests.close(tx, callId, reason, answer))
      await this.outbox.suppressQuestion(tx, target, callId, SUPPRESSIONS[reason]);
  }

  private async recordAsked(
    tx: Transaction,
    target: LockedTarget,
    { call, askedAt }: { call: BackgroundCall; askedAt: Date },
    question: StorableQuestion,
  ): Promise<void> {
    const data = { sequence: call.questions };
    await this.journal.record(tx, call, 'background_call.input_required', data);
    await this.outbox.record(tx, target, toInputNotice(call, question, askedAt));
    await notifyChannel(tx, 'bgc_input_required', call.id);
  }

  private async resume(
    call: AskingCall,
    sequence: number,
    reason: CloseReason,
    answer?: InputAnswer,
  ): Promise<BackgroundCall | undefined> {
    const resumed = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      const moved = await this.requests.resume(tx, call.id, sequence);
      if (!moved) return undefined;
      await this.closeWithin(tx, target, call.id, reason, answer);
      await this.journal.record(tx, moved, 'background_call.resumed', { sequence });
      await notifyChannel(tx, 'bgc_input_answered', call.id);
      return moved;
    });
    if (resumed) this.journal.resumed(resumed, reason);
    return resumed;
  }
}
