import type { EventType } from '../events/event-type.js';
import type { Locale } from '../common/locale.js';
import type { DeliveryMode } from './delivery-mode.js';
import type { WebhookSecrets } from './webhook-secrets.js';

/** One installation of an agent engine: the tenant. */
export interface App {
  /** UUID. */
  id: string;
  name: string;
  /** Null: the locale of the settings. */
  locale: Locale | null;
  delivery: AppDelivery;
  /** Where its events go besides; null: nowhere. */
  events: AppEvents | null;
  createdAt: Date;
}

/** Which events of an app are sent to a URL; null in a filter: all. */
export interface AppEvents {
  url: string;
  types: EventType[] | null;
  /** `<server>/<tool>`; events that belong to no call pass no filter. */
  tools: string[] | null;
  agents: string[] | null;
}

/** How the messages of an app go out; what counts is what holds when one is handed out. */
export interface AppDelivery {
  mode: DeliveryMode;
  /** Where webhooks go, kept while the mode is pull; null: it was never said. */
  url: string | null;
  secrets: WebhookSecrets;
}
