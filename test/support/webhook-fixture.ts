import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { AppDirectory } from '../../src/apps/app.directory.js';
import { DEFAULT_SETTINGS } from '../../src/settings/settings-tree.js';
import type { Engine } from './engine.js';
import type { TestService } from './service.js';
import { useService } from './service-fixture.js';
import { changeDelivery, hurry } from './webhook-app.js';
import { WebhookReceiver } from './webhook-receiver.js';
import { WebhookRows } from './webhook-rows.js';

interface WebhookFixture {
  service: TestService;
  /** It forgets before each test what has come. */
  receiver: WebhookReceiver;
  /** Of a session that no other test knows. */
  engine: Engine;
  rows: WebhookRows;
  secret: string;
}

/** What another test has left is not sent. */
const FORGET = [
  `UPDATE messages SET state = 'discarded', next_attempt_at = NULL, held_back = false
   WHERE state = 'pending'`,
  `UPDATE targets SET undelivered_since = NULL, hidden_until = NULL`,
];

/** One service that sends to one receiver for all tests of a `describe`, given to `take` before each of them. */
export function useWebhooks(take: (fixture: WebhookFixture) => unknown): void {
  let service: TestService;
  let engine: Engine;
  let receiver: WebhookReceiver;
  useService((fresh) => ({ service, engine } = fresh));

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
  });

  beforeEach(async () => {
    for (const statement of FORGET) await service.sql(statement);
    receiver.reset();
    hurry(service);
    await service.settings(DEFAULT_SETTINGS);
    await changeDelivery(service.admin, { mode: 'webhook', url: receiver.url });
    const [app] = service.get(AppDirectory).all();
    const secret = app?.delivery.secrets.current ?? '';
    take({ service, receiver, engine, rows: new WebhookRows(service, engine.sessionId), secret });
  });

  afterAll(() => receiver.stop());
}
