import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { NotFoundError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { KeyedWaiters } from '../common/keyed-waiters.js';
import type { PageRequest } from '../common/paging.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { TargetRepository } from '../targets/target.repository.js';
import type { TargetAddress } from '../targets/target-address.js';
import type { BackgroundCall, CallSummary } from './background-call.js';
import { NoResultError, NoSuchPartError } from './background-call.errors.js';
import { BackgroundCallRepository } from './background-call.repository.js';
import { type CallFilter, CallListRepository } from './call-list.repository.js';
import type { ToolResult } from './call-outcome.js';
import { isTerminal } from './call-status.js';
import {
  contentNamed,
  hasStructuredContent,
  type PartContent,
  partsOf,
} from './results/result-parts.js';

/** Reads calls for the API. `appId` undefined: an administrator, who sees every app. */
@Injectable()
export class CallReader implements OnApplicationShutdown {
  private readonly waiters = new KeyedWaiters();

  constructor(
    private readonly database: Database,
    private readonly calls: BackgroundCallRepository,
    private readonly lists: CallListRepository,
    private readonly targets: TargetRepository,
    private readonly drain: Drain,
    listener: ChannelListener,
  ) {
    listener.on('bgc_call_ended', (callId) => this.waiters.wake(callId));
    listener.onReconnect(() => this.waiters.wakeAll());
  }

  /** @throws NotFoundError also for another app's call. */
  async get(id: string, appId: string | undefined): Promise<BackgroundCall> {
    // Another app's row is not even read: its size would show in the time that takes.
    const call = await this.calls.find(this.database, id, appId);
    if (!call) throw new NotFoundError();
    return call;
  }

  /** Answers as soon as the call has ended, or with its state when `waitSec` are over. */
  async getWhenEnded(
    id: string,
    appId: string,
    waitSec: number,
    callerGone: AbortSignal,
  ): Promise<BackgroundCall> {
    let latest = await this.get(id, appId);
    if (waitSec === 0 || isTerminal(latest.status)) return latest;
    const stop = AbortSignal.any([callerGone, this.drain.signal]);
    await this.waiters.until(id, waitSec * 1_000, stop, async () => {
      latest = await this.get(id, appId);
      return isTerminal(latest.status) ? latest : undefined;
    });
    return latest;
  }

  /**
   * The whole CallToolResult as the bytes of its JSON.
   * @throws NoResultError when the call has not ended or ended without one.
   */
  async result(id: string, appId: string | undefined): Promise<Buffer> {
    const call = await this.get(id, appId);
    const body = await this.calls.findResult(this.database, id);
    if (!body) throw new NoResultError(isTerminal(call.status));
    return body;
  }

  /**
   * One content part by its number, or `structuredContent`.
   * @throws NoResultError, NoSuchPartError
   */
  async resultPart(id: string, appId: string | undefined, name: string): Promise<PartContent> {
    const whole = JSON.parse(String(await this.result(id, appId))) as ToolResult;
    const content = contentNamed(whole, name);
    if (!content) throw new NoSuchPartError(partsOf(whole).length, hasStructuredContent(whole));
    return content;
  }

  /** Up to `limit + 1` calls of a session or bot; none for an unknown one. */
  async listOfTarget(
    appId: string,
    address: TargetAddress,
    filter: CallFilter,
    page: PageRequest,
  ): Promise<CallSummary[]> {
    const target = await this.targets.find(this.database, appId, address);
    return target ? this.lists.list(this.database, { ...filter, targetId: target.id }, page) : [];
  }

  /** Up to `limit + 1` calls over all apps. */
  async listAll(filter: CallFilter, page: PageRequest): Promise<CallSummary[]> {
    return this.lists.list(this.database, filter, page);
  }

  onApplicationShutdown(): void {
    this.waiters.wakeAll();
  }
}
