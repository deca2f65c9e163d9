import { Injectable } from '@nestjs/common';
import type { Locale } from '../common/locale.js';
import type { PageCursor, PageRequest } from '../common/paging.js';
import type { Queryable, Transaction } from '../database/database.js';
import type { EventType } from '../events/event-type.js';
import type { SealedText } from '../secrets/secret-box.js';
import type { App, AppEvents } from './app.js';
import type { DeliveryMode } from './delivery-mode.js';
import { type SealedWebhookSecrets, WebhookSecretBox } from './webhook-secrets.js';

type AppColumns = SealedWebhookSecrets &
  Omit<App, 'delivery' | 'events'> & {
    mode: DeliveryMode;
    url: string | null;
    eventsUrl: string | null;
    types: EventType[] | null;
    tools: string[] | null;
    agents: string[] | null;
  };

/** What an administrator may say of an app. */
export interface AppFields {
  locale: Locale | null;
  mode: DeliveryMode;
  url: string | null;
  events: AppEvents | null;
}

const SELECT = `
  SELECT apps.id, apps.name, apps.locale, apps.delivery_mode AS mode, apps.webhook_url AS url,
    apps.webhook_secret AS secret, apps.webhook_old_secret AS "oldSecret",
    apps.webhook_old_secret_until AS "oldSecretUntil", apps.events_url AS "eventsUrl",
    apps.events_types AS types, apps.events_tools AS tools, apps.events_agents AS agents,
    apps.created_at AS "createdAt"
  FROM apps`;

const ONE = `${SELECT} WHERE apps.id = $1`;
// Not FOR UPDATE: that would hold up every call and message that is being written for the app.
const ONE_LOCKED = `${ONE} FOR NO KEY UPDATE`;
// In one order, so that two replicas that start together do not wait for each other in a circle.
const ALL_LOCKED = `${SELECT} ORDER BY apps.id FOR NO KEY UPDATE`;

const page = (order: 'asc' | 'desc'): string => `
  ${SELECT}
  WHERE $1::timestamptz IS NULL
     OR (apps.created_at, apps.id) ${order === 'asc' ? '>' : '<'} ($1, $2::uuid)
  ORDER BY apps.created_at ${order}, apps.id ${order}
  LIMIT $3`;
const PAGES = { asc: page('asc'), desc: page('desc') };

const UPDATE = `
  UPDATE apps
  SET locale = $2, delivery_mode = $3, webhook_url = $4,
    events_url = $5, events_types = $6, events_tools = $7, events_agents = $8,
    events_changed_at = CASE WHEN apps.events_url IS DISTINCT FROM $5 THEN clock_timestamp()
      ELSE apps.events_changed_at END,
    events_begun_at = CASE WHEN apps.events_url IS NULL AND $5 IS NOT NULL THEN clock_timestamp()
      ELSE apps.events_begun_at END
  WHERE apps.id = $1`;

const ROTATE = `
  UPDATE apps
  SET webhook_secret = $2, webhook_old_secret = apps.webhook_secret,
    webhook_old_secret_until =
      CASE WHEN apps.webhook_secret IS NOT NULL THEN now() + make_interval(hours => $3) END
  WHERE apps.id = $1`;

const RESEAL = `
  UPDATE apps
  SET webhook_secret = coalesce($2, apps.webhook_secret),
    webhook_old_secret = coalesce($3, apps.webhook_old_secret)
  WHERE apps.id = $1`;

/** Rows of `apps`. */
@Injectable()
export class AppRepository {
  constructor(private readonly secrets: WebhookSecretBox) {}

  async all(db: Queryable): Promise<App[]> {
    return this.select(db, SELECT, []);
  }

  async find(db: Queryable, id: string): Promise<App | undefined> {
    return (await this.select(db, ONE, [id]))[0];
  }

  /** Locks the row, so that two changes of different fields both hold. */
  async lock(tx: Transaction, id: string): Promise<App | undefined> {
    return (await this.select(tx, ONE_LOCKED, [id]))[0];
  }

  /** Up to `limit + 1` rows. */
  async page(db: Queryable, { limit, after, order }: PageRequest): Promise<App[]> {
    return this.select(db, PAGES[order], [after?.createdAt, after?.id, limit + 1]);
  }

  async update(
    tx: Transaction,
    id: string,
    { locale, mode, url, events }: AppFields,
  ): Promise<void> {
    const filters = [events?.types, events?.tools, events?.agents];
    await tx.query(UPDATE, [id, locale, mode, url, events?.url, ...filters]);
  }

  /** Puts a secret in place of the one there is, which stays valid beside it for `oldHours`. */
  async rotate(tx: Transaction, id: string, secret: string, oldHours: number): Promise<void> {
    await tx.query(ROTATE, [id, JSON.stringify(this.secrets.seal(id, secret)), oldHours]);
  }

  /** Seals anew what another key than the first has sealed; answers in how many rows. */
  async resealAll(tx: Transaction): Promise<number> {
    let resealed = 0;
    for (const { id, secret, oldSecret } of await tx.query<AppColumns>(ALL_LOCKED)) {
      const fresh = [secret, oldSecret].map((sealed) => this.secrets.reseal(id, sealed));
      if (fresh.every((sealed) => sealed === undefined)) continue;
      await tx.query(RESEAL, [id, ...fresh.map(toJson)]);
      resealed += 1;
    }
    return resealed;
  }

  private async select(db: Queryable, sql: string, values: unknown[]): Promise<App[]> {
    const rows = await db.query<AppColumns>(sql, values);
    return rows.map((row) => this.toApp(row));
  }

  private toApp(row: AppColumns): App {
    const { mode, url, secret, oldSecret, oldSecretUntil, ...others } = row;
    const { eventsUrl, types, tools, agents, ...rest } = others;
    const secrets = this.secrets.open(row.id, { secret, oldSecret, oldSecretUntil });
    const events = eventsUrl === null ? null : { url: eventsUrl, types, tools, agents };
    return { ...rest, delivery: { mode, url, secrets }, events };
  }
}

/** The place of a row in the list. */
export function cursorOf({ createdAt, id }: App): PageCursor {
  return { createdAt: createdAt.toISOString(), id };
}

function toJson(sealed: SealedText | undefined): string | undefined {
  return sealed && JSON.stringify(sealed);
}
