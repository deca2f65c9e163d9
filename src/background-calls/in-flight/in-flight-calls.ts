import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import type { BackgroundCall, HandoverPolicy } from '../background-call.js';
import { CANCELLED } from '../call-ending.js';
import { CallMetrics } from '../call-metrics.js';
import type { CallWork } from '../call-work.js';
import { isTerminal } from '../call-status.js';
import { EndWriter } from './end-writer.js';
import { InFlightCall, type Verdict } from './in-flight-call.js';
import type { OwnCall } from './own-call.js';
import { ResultFiling } from '../results/result-filing.js';
import { WorkRecorder } from './work-recorder.js';

/** The background calls whose work runs in this process; sees each of them to its end. */
@Injectable()
export class InFlightCalls implements OnApplicationShutdown {
  private readonly entries = new Map<string, InFlightCall>();
  /** Calls that are about to move, with whether a cancel was already asked for. */
  private readonly announced = new Map<string, { isCancelRequested: boolean }>();
  private readonly endings = new Set<Promise<void>>();
  /** Calls that wait for another process to go on with them, when the lease of this one is given up. */
  private readonly left = new Set<string>();

  constructor(
    private readonly writer: EndWriter,
    private readonly recorder: WorkRecorder,
    private readonly filing: ResultFiling,
    private readonly logger: Logger,
    private readonly lease: InstanceLease,
    listener: ChannelListener,
    metrics: CallMetrics,
  ) {
    metrics.watchRunning(() => this.entries.size);
    lease.onFenced(() => this.dropAll());
    listener.on('bgc_cancel_requested', (callId) => this.cancel(callId));
    listener.on('bgc_call_ended', (callId) => this.dropEnded(callId));
  }

  /** Whether this process runs the call, or is about to, or has left it: its row is not a stray. */
  has(callId: string): boolean {
    return this.entries.has(callId) || this.announced.has(callId) || this.left.has(callId);
  }

  /** Whether this process is to run the call, by its row, and does not run it yet. */
  owns({ id, status, ownerId }: BackgroundCall): boolean {
    return !isTerminal(status) && ownerId === this.lease.instanceId && !this.entries.has(id);
  }

  ids(): string[] {
    return [...this.entries.keys()];
  }

  /** Before the row is written, so that it is never seen without its call. */
  announce(callId: string): void {
    this.announced.set(callId, { isCancelRequested: false });
  }

  /** The announced call did not move. */
  retract(callId: string): void {
    this.announced.delete(callId);
  }

  /**
   * Takes a handed-over call: from here on its end is recorded, whatever happens. `remainingMs` is the
   * time until its deadline, which begins now where nothing is given.
   */
  adopt(
    call: OwnCall,
    policy: HandoverPolicy,
    work: CallWork,
    remainingMs = policy.maxHours * 3_600_000,
  ): void {
    const isCancelRequested = this.announced.get(call.id)?.isCancelRequested ?? false;
    this.announced.delete(call.id);
    const entry = new InFlightCall(call, policy, work, this.logger, remainingMs);
    this.entries.set(call.id, entry);
    const isOurs = (): boolean => this.isOurs(entry);
    work.attach(this.recorder.listenerFor(entry, isOurs));
    const ending = outsideRequestContext(() =>
      entry.verdict.then((verdict) => this.record(entry, verdict)),
    );
    this.endings.add(ending);
    void ending.finally(() => this.endings.delete(ending));
    if (isCancelRequested) entry.cancel();
  }

  /** Phase two of a cancel, if the call runs here or is about to. */
  cancel(callId: string): void {
    this.entries.get(callId)?.cancel();
    const announced = this.announced.get(callId);
    if (announced) announced.isCancelRequested = true;
  }

  /** Somebody else has ended the call, or runs it: nothing is written. */
  dropEnded(callId: string): void {
    const entry = this.entries.get(callId);
    if (entry && !entry.hasVerdict) this.letGo(entry, () => entry.dropEnded());
  }

  /**
   * This process leaves: gives up what another one can go on with, ends the rest as interrupted, and
   * waits until that is written. What was given up is taken over once the lease is released.
   */
  async leaveAll(): Promise<void> {
    await Promise.all([...this.entries.values()].map((entry) => this.leave(entry)));
    await Promise.all(this.endings);
  }

  /** What could not be written by now is left to whoever sweeps next. */
  onApplicationShutdown(): void {
    this.dropAll();
  }

  private async record(entry: InFlightCall, verdict: Verdict | undefined): Promise<void> {
    const { call } = entry;
    if (!verdict) return;
    await this.recorder.settle(call);
    const filed = await this.filing.file(call, verdict);
    const isOurs = (): boolean => this.isOurs(entry);
    const ended = await this.writer.write(call, filed, isOurs);
    // Before the second write: of a call that has ended nobody looks for files that a dead process left.
    await this.filing.discardUnlessRecorded(call, filed);
    // A cancel that another replica wrote before our answer wins over the answer.
    if (!ended && (verdict === 'interrupt' || verdict.guard === 'owner'))
      await this.writer.write(call, { ending: CANCELLED, guard: 'cancel' }, isOurs);
    if (isOurs()) this.entries.delete(call.id);
    this.recorder.forget(call);
  }

  private isOurs(entry: InFlightCall): boolean {
    return this.entries.get(entry.call.id) === entry;
  }

  private async leave(entry: InFlightCall): Promise<void> {
    const isResumable = entry.mayBeLeft && (await this.recorder.isLeftResumable(entry.call));
    // It may have been cancelled, or have ended, in the meantime.
    if (!isResumable || !entry.mayBeLeft) return entry.interrupt();
    this.left.add(entry.call.id);
    this.letGo(entry);
  }

  /**
   * Work that another process can go on with is left alone: it does, or has, or whoever ended the call
   * has told the worker.
   */
  private letGo(entry: InFlightCall, drop = (): void => entry.drop()): void {
    const { call } = entry;
    if (this.recorder.isResumable(call)) entry.leave();
    else drop();
    this.entries.delete(call.id);
    this.recorder.forget(call);
  }

  private dropAll(): void {
    for (const entry of this.entries.values()) this.letGo(entry);
  }
}
