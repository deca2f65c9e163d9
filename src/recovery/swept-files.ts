import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { grouped } from '../common/grouped.js';
import { Logger } from '../common/logger.js';
import { type LeftCall, ResultFiles } from '../delivery/files/result-files.js';
import {
  WORKSPACE_LIMIT_MS,
  WorkspaceSilentError,
} from '../delivery/files/workspace-silent.error.js';
import type { SweptCall } from './sweep.repository.js';

/**
 * Removes what the owners of swept calls have written for an end that they can't record any more. Before
 * the move, so that it is done again should this process die meanwhile; however late it comes it removes
 * nothing else, as whoever has the call by then writes under other names.
 */
@Injectable()
export class SweptFiles {
  private spentMs = 0;
  private left = 0;
  private failure: unknown;

  constructor(
    private readonly files: ResultFiles,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * All that one sweep removes takes 4 s at most. Never rejects: what stays goes with its call, when the
   * retention is over.
   */
  async remove(calls: SweptCall[]): Promise<void> {
    for (const ofOne of grouped(calls.flatMap(leftOf), workspaceOf)) await this.removeOf(ofOne);
  }

  /** The sweep is over: says in one line what stayed. */
  finish(): void {
    if (this.left > 0)
      this.logger.warn('result_files.left_behind', { calls: this.left }, this.failure);
    [this.spentMs, this.left, this.failure] = [0, 0, undefined];
  }

  private async removeOf(calls: [LeftCall, ...LeftCall[]]): Promise<void> {
    const begunMs = this.clock.monotonicMs();
    const limitMs = WORKSPACE_LIMIT_MS - this.spentMs;
    try {
      if (limitMs <= 0) throw new WorkspaceSilentError();
      await this.files.removeLeft(calls[0], calls, limitMs);
    } catch (error) {
      this.left += calls.length;
      this.failure ??= error;
    }
    this.spentMs += this.clock.monotonicMs() - begunMs;
  }
}

/** A call whose upstream was not asked has no files, and its next owner is a first one. */
function leftOf({ id, appId, address, ownerId, ...call }: SweptCall): LeftCall[] {
  const isLeft = call.isDispatched && (call.isOwnerGone || call.isCancelRequested);
  return isLeft && ownerId !== null ? [{ id, appId, address, ownerId }] : [];
}

function workspaceOf({ appId, address }: LeftCall): string {
  const owner = address.type === 'session' ? address.sessionId : address.teamId;
  return [appId, address.type, owner].join('/');
}
