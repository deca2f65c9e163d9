import { Injectable } from '@nestjs/common';
import { InvalidRequestError, NotFoundError } from '../common/domain-error.js';
import type { Locale } from '../common/locale.js';
import { type Page, type PageRequest, toPage } from '../common/paging.js';
import { notifyChannel } from '../database/channel-listener.js';
import { Database, type Transaction } from '../database/database.js';
import type { App, AppEvents } from './app.js';
import { AppDirectory } from './app.directory.js';
import { type AppFields, AppRepository, cursorOf } from './app.repository.js';
import type { DeliveryMode } from './delivery-mode.js';
import { WebhookSecretBox } from './webhook-secrets.js';

/** How long the secret before signs beside a new one. */
const OLD_SECRET_HOURS = 24;

/** What to change; what is undefined stays. */
export interface AppPatch {
  locale?: Locale | null | undefined;
  mode?: DeliveryMode | undefined;
  url?: string | null | undefined;
  events?: AppEvents | null | undefined;
}

/** An app after a change. */
export interface ChangedApp {
  app: App;
  /** Shown this once, when the change has made one. */
  newSecret: string | undefined;
}

type DeliveryListener = (tx: Transaction, appId: string) => Promise<void>;

/** What administrators do with apps. */
@Injectable()
export class AppService {
  private readonly deliveryListeners: DeliveryListener[] = [];

  constructor(
    private readonly database: Database,
    private readonly repository: AppRepository,
    private readonly directory: AppDirectory,
    private readonly secrets: WebhookSecretBox,
  ) {}

  /** Called in the transaction that changes the mode or the URL of an app's delivery. */
  onDeliveryChange(listener: DeliveryListener): void {
    this.deliveryListeners.push(listener);
  }

  async list(request: PageRequest): Promise<Page<App>> {
    const rows = await this.repository.page(this.database, request);
    return toPage(rows, request.limit, cursorOf, (row) => row);
  }

  /** @throws NotFoundError */
  async get(id: string): Promise<App> {
    return existing(await this.repository.find(this.database, id));
  }

  /**
   * A webhook, of messages or of events, that has no secret yet gets one.
   * @throws NotFoundError
   * @throws InvalidRequestError when a webhook would have no URL.
   */
  update(id: string, patch: AppPatch): Promise<ChangedApp> {
    return this.change(id, async (tx, before) => {
      const fields = applyPatch(before, patch);
      const { mode, url, secrets } = before.delivery;
      const isSigned = fields.mode === 'webhook' || fields.events !== null;
      const needsSecret = isSigned && !hasSecret(secrets);
      const newSecret = needsSecret ? await this.rotate(tx, id) : undefined;
      await this.repository.update(tx, id, fields);
      if (fields.mode !== mode || fields.url !== url)
        for (const listener of this.deliveryListeners) await listener(tx, id);
      return newSecret;
    });
  }

  /**
   * The secret that there was signs beside the new one for a day; one before that does not any more.
   * @throws NotFoundError
   */
  rotateSecret(id: string): Promise<ChangedApp> {
    return this.change(id, (tx) => this.rotate(tx, id));
  }

  private async rotate(tx: Transaction, id: string): Promise<string> {
    const secret = this.secrets.make();
    await this.repository.rotate(tx, id, secret, OLD_SECRET_HOURS);
    return secret;
  }

  /** In force on this replica when it resolves, on others within a second. */
  private async change(
    id: string,
    work: (tx: Transaction, before: App) => Promise<string | undefined>,
  ): Promise<ChangedApp> {
    const changed = await this.database.transaction(async (tx) => {
      const newSecret = await work(tx, existing(await this.repository.lock(tx, id)));
      await notifyChannel(tx, 'bgc_apps_changed');
      return { app: existing(await this.repository.find(tx, id)), newSecret };
    });
    await this.directory.refresh();
    return changed;
  }
}

function applyPatch({ locale, delivery, events }: App, patch: AppPatch): AppFields {
  const fields = {
    locale: patch.locale === undefined ? locale : patch.locale,
    mode: patch.mode ?? delivery.mode,
    url: patch.url === undefined ? delivery.url : patch.url,
    events: patch.events === undefined ? events : patch.events,
  };
  if (fields.mode === 'webhook' && fields.url === null)
    throw new InvalidRequestError([
      { pointer: '/delivery/url', detail: 'is missing: the mode webhook needs it' },
    ]);
  return fields;
}

function hasSecret({ current, unopened }: App['delivery']['secrets']): boolean {
  return current !== undefined || unopened !== undefined;
}

function existing(app: App | undefined): App {
  if (app === undefined) throw new NotFoundError();
  return app;
}
