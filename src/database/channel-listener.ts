import { Client } from 'pg';
import type { Logger } from '../common/logger.js';
import type { Queryable } from './database.js';

/** What replicas tell each other. A telling may be lost: whoever listens also looks again at `onReconnect`. */
export type Channel =
  | 'bgc_settings_changed'
  | 'bgc_keys_changed'
  | 'bgc_apps_changed'
  | 'bgc_servers_changed'
  | 'bgc_server_states_changed'
  | 'bgc_turn_interrupted'
  | 'bgc_cancel_requested'
  | 'bgc_call_queued'
  | 'bgc_call_ended'
  | 'bgc_input_required'
  | 'bgc_input_answered'
  | 'bgc_delivery_ready'
  | 'bgc_event_deliveries';

type Handler = (payload: string) => void;

const HEARTBEAT_MS = 5_000;
const ANSWER_MS = 5_000;
const RECONNECT_MS = 500;

/** Tells every replica, this one too, once the transaction of `db` commits. The payload is ≤ 7,999 bytes. */
export async function notifyChannel(db: Queryable, channel: Channel, payload = ''): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [channel, payload]);
}

/** LISTEN on a connection of its own, never a pooled one; heartbeat, reconnect. */
export class ChannelListener {
  private readonly handlers = new Map<Channel, Set<Handler>>();
  private readonly reconnectHandlers = new Set<() => void>();
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private connecting = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly databaseUrl: string,
    private readonly logger: Logger,
  ) {}

  /** Subscriptions made before `start` are listened to from the start. */
  on(channel: Channel, handler: Handler): void {
    const handlers = this.handlers.get(channel) ?? new Set();
    this.handlers.set(channel, handlers.add(handler));
    if (handlers.size === 1) void this.listen(channel);
  }

  /** Called after each connect: what was told meanwhile is lost, so look at the rows. */
  onReconnect(handler: () => void): void {
    this.reconnectHandlers.add(handler);
  }

  /** Resolves after the first try to connect; while the database is away it goes on trying. */
  start(): Promise<void> {
    this.connecting = this.connect();
    return this.connecting;
  }

  /** A client that is ended while it connects never answers: hence the wait, which the time limit bounds. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.connecting;
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.databaseUrl,
      application_name: 'background-calls listener',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client));
    client.on('notification', ({ channel, payload = '' }) => this.dispatch(channel, payload));
    this.client = client;
    try {
      await client.connect();
      for (const channel of this.handlers.keys()) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      this.lost(client, error);
      return;
    }
    if (this.stopped || client !== this.client) return;
    this.beatLater(client);
    for (const handler of this.reconnectHandlers) this.tell(handler);
  }

  private async listen(channel: Channel): Promise<void> {
    const client = this.client;
    if (client === undefined) return;
    await client.query(`LISTEN ${channel}`).catch((error: unknown) => this.lost(client, error));
  }

  private dispatch(channel: string, payload: string): void {
    for (const handler of this.handlers.get(channel as Channel) ?? [])
      this.tell(() => handler(payload));
  }

  /** One handler's mistake must not cost the others their news, nor the process its life. */
  private tell(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.logger.error('database.listener_handler_failed', {}, error);
    }
  }

  private beatLater(client: Client): void {
    this.timer = setTimeout(() => {
      client
        .query('SELECT 1')
        .then(() => {
          if (!this.stopped && client === this.client) this.beatLater(client);
        })
        .catch((error: unknown) => this.lost(client, error));
    }, HEARTBEAT_MS);
  }

  private lost(client: Client, error?: unknown): void {
    if (this.stopped || client !== this.client) return;
    this.client = undefined;
    clearTimeout(this.timer);
    this.logger.warn('database.listener_lost', {}, error);
    void client.end().catch(() => undefined);
    this.timer = setTimeout(() => void this.start(), RECONNECT_MS);
  }
}
