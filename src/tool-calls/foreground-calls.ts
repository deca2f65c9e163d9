import { Injectable } from '@nestjs/common';
import { Drain } from '../common/drain.js';
import { Logger } from '../common/logger.js';
import { ChannelListener } from '../database/channel-listener.js';
import type { TurnKey } from '../targets/turn.repository.js';
import { TurnService } from '../targets/turn.service.js';
import { ForegroundCall } from './foreground-call.js';

/** The calls of this process whose callers wait: found by their turn when it is interrupted. */
@Injectable()
export class ForegroundCalls {
  private readonly calls = new Set<ForegroundCall>();
  private whenEmpty: (() => void) | undefined;

  constructor(
    private readonly turns: TurnService,
    private readonly drain: Drain,
    private readonly logger: Logger,
    listener: ChannelListener,
  ) {
    turns.onInterrupted((key) => this.stopTurn(key));
    listener.onReconnect(() => void this.recheckTurns());
  }

  get size(): number {
    return this.calls.size;
  }

  /** @throws DrainingError when this process takes no new work. */
  add(call: ForegroundCall): void {
    this.drain.assertAcceptsWork();
    this.calls.add(call);
  }

  /** The call has its answer, or has moved. */
  remove(call: ForegroundCall): void {
    call.race.close();
    this.calls.delete(call);
    if (this.calls.size === 0) this.whenEmpty?.();
  }

  /** Resolves when no caller waits any more; those that still do after `limitMs` are stopped. */
  async whenNoneWaits(limitMs: number): Promise<void> {
    if (this.calls.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.whenEmpty = resolve));
    const stopAll = setTimeout(() => {
      for (const call of this.calls) call.stop('draining');
    }, limitMs);
    await empty;
    clearTimeout(stopAll);
  }

  private stopTurn({ appId, address, turnId }: TurnKey): void {
    for (const call of this.calls) {
      const { request } = call.toolCall;
      const isOfTurn =
        request.turnId === turnId &&
        request.appId === appId &&
        JSON.stringify(request.address) === JSON.stringify(address);
      if (isOfTurn) call.stop('turn_interrupted');
    }
  }

  /** While the listener was away an interrupt may have been told to nobody: look at the rows. */
  private async recheckTurns(): Promise<void> {
    const keys = [...this.calls].flatMap(({ toolCall: { request } }): TurnKey[] =>
      request.turnId === undefined
        ? []
        : [{ appId: request.appId, address: request.address, turnId: request.turnId }],
    );
    if (keys.length === 0) return;
    try {
      for (const key of await this.turns.findInterrupted(keys)) this.stopTurn(key);
    } catch (error) {
      this.logger.warn('foreground.recheck_failed', {}, error);
    }
  }
}
