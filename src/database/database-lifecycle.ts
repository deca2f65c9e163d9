import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Pool } from 'pg';
import { within } from '../common/within.js';
import { ChannelListener } from './channel-listener.js';
import { DatabaseServer } from './database-server.js';

/** A server that has vanished from the network does not answer the goodbye either. */
const CLOSE_MS = 5_000;

/** Opens the listener when everybody has subscribed; closes all last, as what leaves still writes. */
@Injectable()
export class DatabaseLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly listener: ChannelListener,
    private readonly pool: Pool,
    private readonly server: DatabaseServer,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.listener.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await within(CLOSE_MS, Promise.all([this.listener.stop(), this.pool.end()]));
    await this.server.stop();
  }
}
