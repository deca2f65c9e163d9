import { Injectable } from '@nestjs/common';
import { notifyChannel } from '../database/channel-listener.js';
import { Database, type Transaction } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { type LockedTarget, TargetRepository } from '../targets/target.repository.js';
import type { BackgroundCall, HandoverRequest, HandoverResult } from './background-call.js';
import {
  BackgroundCallRepository,
  type EndGuard,
  type InterruptGuard,
} from './background-call.repository.js';
import { type CallEnding, INTERRUPTED } from './call-ending.js';
import { CallEndRecorder } from './call-end.recorder.js';
import { CallJournal } from './call-journal.js';
import { HandoverGate } from './handover/handover-gate.js';

type OwnedCall = Pick<BackgroundCall, 'id' | 'targetId' | 'ownerId'>;

/**
 * The state machine of background calls. Every move is guarded by state and owner, and is written in
 * one transaction with what must be true together with it. Lock order: target, then call.
 */
@Injectable()
export class BackgroundCallRegistry {
  constructor(
    private readonly database: Database,
    private readonly calls: BackgroundCallRepository,
    private readonly gate: HandoverGate,
    private readonly targets: TargetRepository,
    private readonly ends: CallEndRecorder,
    private readonly journal: CallJournal,
    private readonly lease: InstanceLease,
  ) {}

  /**
   * Moves a call to the background. Repeatable with the same id: where an earlier attempt's COMMIT
   * had an unknown outcome, the target's lock waits for it and its row is found.
   * @throws CommitOutcomeUnknownError, DatabaseUnavailableError
   */
  async handOver(request: HandoverRequest): Promise<HandoverResult> {
    const result = await this.database.transaction(async (tx): Promise<HandoverResult> => {
      const target = await this.targets.lock(tx, request.appId, request.address);
      const earlier = await this.calls.find(tx, request.id);
      if (earlier) return { kind: 'moved', call: earlier };
      const refusal = await this.gate.refusal(tx, target.id, request);
      if (refusal) return refusal;
      const call = await this.calls.insert(tx, request, target.id, this.lease.instanceId);
      if (!call) return { kind: 'not_owner' };
      if (call.status === 'queued') await this.recordQueued(tx, call);
      else await this.journal.record(tx, call, 'background_call.running');
      return { kind: 'moved', call };
    });
    if (result.kind === 'moved') this.journal.handedOver(result.call);
    return result;
  }

  /** False: the upstream must not be asked any more. */
  async markDispatched(call: BackgroundCall): Promise<boolean> {
    return this.calls.markDispatched(this.database, call.id, call.ownerId ?? '');
  }

  /**
   * The terminal move with its event and its notification; undefined when somebody else ended the
   * call, or the guard does not hold.
   */
  async end(
    call: OwnedCall,
    ending: CallEnding,
    guard: EndGuard,
  ): Promise<BackgroundCall | undefined> {
    const ended = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      return this.endWithin(tx, target, call, ending, guard);
    });
    if (ended) this.journal.ended(ended);
    return ended;
  }

  /**
   * Its owner does not go on with it: the call waits in the queue again if the upstream surely was not
   * asked, and ends as interrupted otherwise. Undefined as for `end`.
   */
  async interrupt(call: OwnedCall, guard: InterruptGuard): Promise<BackgroundCall | undefined> {
    const moved = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      const queued = await this.calls.requeue(tx, call.id, guard, ownerIn(call, guard));
      if (!queued) return this.endWithin(tx, target, call, INTERRUPTED, guard);
      await this.recordQueued(tx, queued);
      return queued;
    });
    if (moved?.status === 'queued') this.journal.queued(moved);
    else if (moved) this.journal.ended(moved);
    return moved;
  }

  /** Phase one of a cancel: durable, then told to the owner. Undefined when the call has ended. */
  async requestCancel(id: string): Promise<BackgroundCall | undefined> {
    return this.database.transaction(async (tx) => {
      const call = await this.calls.requestCancel(tx, id);
      if (call) await notifyChannel(tx, 'bgc_cancel_requested', id);
      return call;
    });
  }

  private async endWithin(
    tx: Transaction,
    target: LockedTarget,
    call: OwnedCall,
    ending: CallEnding,
    guard: EndGuard,
  ): Promise<BackgroundCall | undefined> {
    const ended = await this.calls.end(tx, call.id, ending, guard, ownerIn(call, guard));
    if (!ended) return undefined;
    await this.ends.record(tx, target, ended, ending.status);
    return ended;
  }

  private async recordQueued(tx: Transaction, call: BackgroundCall): Promise<void> {
    await this.journal.record(tx, call, 'background_call.queued');
    await notifyChannel(tx, 'bgc_call_queued');
  }
}

/** The guard of the owner names it; every other right is anybody's. */
function ownerIn({ ownerId }: OwnedCall, guard: EndGuard): string | null {
  return guard === 'owner' ? ownerId : null;
}
