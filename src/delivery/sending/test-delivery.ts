import { Injectable } from '@nestjs/common';
import type { App } from '../../apps/app.js';
import { AppService } from '../../apps/app.service.js';
import { Clock } from '../../common/clock.js';
import { ConflictError } from '../../common/domain-error.js';
import { Ids, toPublicId } from '../../common/ids.js';
import type { SendResult } from './send-outcome.js';
import { SendTimes } from './send-times.js';
import { WebhookSender } from './webhook.sender.js';

const TEXT =
  'A test delivery: nothing happened, and no model is to be told. Any 2xx answer is right.';

/** Tries an app's webhook out: with a signed message that is no message of any target, and is not kept. */
@Injectable()
export class TestDelivery {
  constructor(
    private readonly apps: AppService,
    private readonly sender: WebhookSender,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly times: SendTimes,
  ) {}

  /**
   * Answers within 15 s, whatever becomes of it.
   * @throws NotFoundError
   * @throws ConflictError while the app gets its messages by pull.
   */
  async send(appId: string): Promise<SendResult> {
    const { delivery } = await this.apps.get(appId);
    if (delivery.mode !== 'webhook') throw notByWebhook(delivery.mode);
    const id = toPublicId('msg', this.ids.uuid());
    const createdAt = this.clock.now().toISOString();
    const body = JSON.stringify({ id, kind: 'test', text: TEXT, createdAt });
    const webhook = { id, body, traceparent: null };
    return this.sender.send(delivery, webhook, { limitMs: this.times.sendMs });
  }
}

function notByWebhook(mode: App['delivery']['mode']): ConflictError {
  return new ConflictError('The messages of this app do not go out by webhook.', [
    { pointer: '/delivery/mode', detail: `is ${mode}: change the app first` },
  ]);
}
