import { Injectable } from '@nestjs/common';
import { CANCELLED, timedOut } from '../background-calls/call-ending.js';
import { Logger } from '../common/logger.js';
import { Database } from '../database/database.js';
import { DeadOwners } from './dead-owners.js';
import { SWEEP_BATCH, SweepRepository, type SweptCall } from './sweep.repository.js';
import { SweptCallMover } from './swept-call.mover.js';
import { SweptFiles } from './swept-files.js';

/** By one sweep: what is left over comes with the next one, here or at another replica. */
const TAKE_OVERS = 50;
const MOST_STUCK = 1_000;

/** One reason to move calls of others. */
interface Part {
  find(passedOver: string[]): Promise<SweptCall[]>;
  /** Answers whether it was moved. */
  move(call: SweptCall): Promise<boolean>;
  /** Calls that could not be moved: passed over until all others had their turn. */
  stuck: Set<string>;
}

/**
 * Goes on with calls of dead owners where that can be done, and ends what nobody else will: the others,
 * calls past their deadline, and cancels that their owner did not carry out. The guards of the moves
 * decide who wins, and nobody's live call is touched.
 */
@Injectable()
export class CallSweeper {
  private readonly cancels: Part = {
    find: (passedOver) => this.sweeps.overdueCancels(this.database, passedOver),
    move: (call) => this.mover.end(call, CANCELLED, 'cancel'),
    stuck: new Set(),
  };
  private readonly deadlines: Part = {
    find: (passedOver) => this.sweeps.pastDeadline(this.database, passedOver),
    move: (call) => this.mover.end(call, timedOut(call.maxHours, call.spentMs), 'deadline'),
    stuck: new Set(),
  };
  private readonly owners: Part = {
    find: (passedOver) => this.deadOwners.calls(passedOver),
    move: (call) => (goesOn(call) ? this.mover.takeOver(call) : this.mover.endAbandoned(call)),
    stuck: new Set(),
  };

  constructor(
    private readonly database: Database,
    private readonly sweeps: SweepRepository,
    private readonly deadOwners: DeadOwners,
    private readonly mover: SweptCallMover,
    private readonly files: SweptFiles,
    private readonly logger: Logger,
  ) {}

  /** Each part for itself: one that fails is tried again with the next sweep. */
  async sweep(): Promise<void> {
    await this.attempt('cancels', () => this.work(this.cancels));
    await this.attempt('deadlines', () => this.work(this.deadlines));
    await this.attempt('owners', () => this.work(this.owners, TAKE_OVERS));
    this.files.finish();
  }

  /**
   * Files go before the moves, but neither those of a call that its owner has ended after all nor those of one
   * that is not taken over this time.
   */
  private async work(part: Part, takeOvers = SWEEP_BATCH): Promise<void> {
    const found = await part.find([...part.stuck]);
    const ends = found.filter((call) => !goesOn(call));
    const chosen = [...ends, ...found.filter(goesOn).slice(0, takeOvers)];
    const abandoned = new Set(await this.deadOwners.withoutLateEnds(chosen));
    await this.files.remove([...abandoned]);
    for (const call of chosen)
      if (!abandoned.has(call) || !(await part.move(call))) part.stuck.add(call.id);
    const isRoundOver = found.length < SWEEP_BATCH && chosen.length === found.length;
    if (isRoundOver || part.stuck.size > MOST_STUCK) part.stuck.clear();
  }

  private async attempt(part: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('recovery.sweep_failed', { part }, error);
    }
  }
}

/** Whether another process could go on with it. */
function goesOn(call: SweptCall): boolean {
  return call.reference !== null && !call.isCancelRequested;
}
