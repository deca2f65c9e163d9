import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../database/database.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import { TargetRepository } from '../../targets/target.repository.js';
import type { BackgroundCall, HandoverRequest } from '../background-call.js';
import { CallJournal } from '../call-journal.js';
import { HandoverGate } from '../handover/handover-gate.js';
import { QueuedCallRepository } from './queued-call.repository.js';

/** Whose slots a call would take. */
type Initiator = Pick<HandoverRequest, 'appId' | 'address' | 'agentId'>;

/** What became of the attempt to start a waiting call of one target. */
export type QueueStart =
  | { kind: 'started'; call: BackgroundCall }
  /** No call of this target may start now. */
  | { kind: 'target_waits' }
  /** No call at all may start now. */
  | { kind: 'all_wait' };

/**
 * The durable queue: the rows in state `queued`. Targets take turns, and within one the oldest call
 * comes first; whichever replica starts a call owns it. Lock order: target, then call.
 */
@Injectable()
export class CallQueue {
  constructor(
    private readonly database: Database,
    private readonly queued: QueuedCallRepository,
    private readonly gate: HandoverGate,
    private readonly targets: TargetRepository,
    private readonly journal: CallJournal,
    private readonly lease: InstanceLease,
  ) {}

  /** Whether one more call could move now; the handover itself decides anew. */
  async hasFreeSlot(initiator: Initiator): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const target = await this.targets.find(tx, initiator.appId, initiator.address);
      return this.isSlotFree(tx, target?.id, initiator);
    });
  }

  /** Whether a call that comes now has to wait: no slot is free, or others of its target wait already. */
  async mustWait(initiator: Initiator): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const target = await this.targets.find(tx, initiator.appId, initiator.address);
      if (target && (await this.queued.hasWaiting(tx, target.id))) return true;
      return !(await this.isSlotFree(tx, target?.id, initiator));
    });
  }

  /** The target whose turn it is; undefined when none but those in `passedOver` has a waiting call. */
  async nextTarget(passedOver: number[]): Promise<number | undefined> {
    return this.queued.nextTarget(this.database, passedOver);
  }

  /**
   * Starts the oldest call of the target that its limits allow. `announce` is told the id before the
   * row is written.
   */
  async startNextOf(targetId: number, announce: (callId: string) => void): Promise<QueueStart> {
    const start = await this.database.transaction(async (tx): Promise<QueueStart> => {
      await this.targets.lockById(tx, targetId);
      for (const head of await this.queued.heads(tx, targetId)) {
        const obstacle = await this.gate.obstacle(tx, targetId, head);
        if (obstacle === 'all') return { kind: 'all_wait' };
        if (obstacle === 'target') break;
        if (obstacle === 'agent') continue;
        announce(head.id);
        const call = await this.queued.start(tx, head.id, this.lease.instanceId);
        if (!call) continue;
        await this.queued.markServed(tx, targetId);
        await this.journal.record(tx, call, 'background_call.running');
        return { kind: 'started', call };
      }
      return { kind: 'target_waits' };
    });
    if (start.kind === 'started') this.journal.started(start.call);
    return start;
  }

  private async isSlotFree(
    tx: Transaction,
    targetId: number | undefined,
    initiator: Initiator,
  ): Promise<boolean> {
    return (await this.gate.obstacle(tx, targetId, initiator)) === undefined;
  }
}
