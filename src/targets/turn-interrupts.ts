import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import { ChannelListener, notifyChannel } from '../database/channel-listener.js';
import type { Transaction } from '../database/database.js';
import type { TurnKey } from './turn.repository.js';

export type InterruptListener = (turn: TurnKey) => void;

interface Telling extends TurnKey {
  /** The process that told, which has heard of it already. */
  origin: string;
}

/** Carries the news of an interrupted turn to whoever runs calls of it, on every replica. */
@Injectable()
export class TurnInterrupts implements OnModuleInit {
  private readonly origin: string;
  private readonly listeners = new Set<InterruptListener>();

  constructor(
    ids: Ids,
    private readonly channels: ChannelListener,
  ) {
    this.origin = ids.uuid();
  }

  onModuleInit(): void {
    this.channels.on('bgc_turn_interrupted', (payload) => {
      const { origin, ...turn } = JSON.parse(payload) as Telling;
      if (origin !== this.origin) this.tellHere(turn);
    });
  }

  /** The telling may be lost while the listener has no connection: look at the rows after a reconnect. */
  onInterrupted(listener: InterruptListener): void {
    this.listeners.add(listener);
  }

  /** Tells the other replicas once the transaction that recorded the interruption commits. */
  async tellOthers(tx: Transaction, turn: TurnKey): Promise<void> {
    const telling: Telling = { origin: this.origin, ...turn };
    await notifyChannel(tx, 'bgc_turn_interrupted', JSON.stringify(telling));
  }

  /** Tells this process; to be called right after that commit. */
  tellHere(turn: TurnKey): void {
    for (const listener of this.listeners) listener(turn);
  }
}
