import { Injectable } from '@nestjs/common';
import type { AppDelivery } from '../../apps/app.js';
import type { WebhookSecrets } from '../../apps/webhook-secrets.js';
import { Clock } from '../../common/clock.js';
import { cutText, toStorableText } from '../../common/storable-text.js';
import { systemReason } from '../../common/system-error.js';
import { RedirectRefusedError } from '../../outbound/outbound-errors.js';
import { OutboundHttp } from '../../outbound/outbound-http.js';
import type { SendResult } from './send-outcome.js';
import { readWebhookAnswer, type WebhookAnswer } from './webhook-answer.js';
import { webhookSignature } from './webhook-signature.js';

const MAX_ERROR_CHARS = 300;

/** What is posted. */
export interface Webhook {
  /** As the API shows it: by this the receiver knows that it has the message already. */
  id: string;
  /** JSON. */
  body: string;
  traceparent: string | null;
}

/** How long a try may take, and what breaks it off before. */
interface SendLimits {
  limitMs: number;
  leaving?: AbortSignal;
}

/** Posts one webhook, signed as Standard Webhooks says, and tells what became of it. */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly http: OutboundHttp,
    private readonly clock: Clock,
  ) {}

  /** Answer and body have to arrive within `limitMs`. Whatever goes wrong is told, not thrown. */
  async send(to: AppDelivery, webhook: Webhook, limits: SendLimits): Promise<SendResult> {
    const startedAt = this.clock.now();
    const startedMs = this.clock.monotonicMs();
    const answer = await this.tryToPost(to, webhook, limits);
    const durationMs = Math.round(this.clock.monotonicMs() - startedMs);
    return { ...answer, startedAt, durationMs };
  }

  private async tryToPost(
    to: AppDelivery,
    webhook: Webhook,
    { limitMs, leaving }: SendLimits,
  ): Promise<WebhookAnswer> {
    if (limitMs <= 0) return aborted('It was not sent: this process was held up for too long.');
    const cut = new AbortController();
    const leave = (): void => cut.abort();
    const timer = setTimeout(() => cut.abort(), limitMs);
    leaving?.addEventListener('abort', leave);
    try {
      if (leaving?.aborted) leave();
      return await this.post(to, webhook, cut.signal);
    } catch (error) {
      if (leaving?.aborted) return aborted('It was broken off: this process was leaving.');
      return toFailure(error, cut.signal.aborted ? limitMs : undefined);
    } finally {
      clearTimeout(timer);
      leaving?.removeEventListener('abort', leave);
    }
  }

  private async post(
    { url, secrets }: AppDelivery,
    { id, body, traceparent }: Webhook,
    signal: AbortSignal,
  ): Promise<WebhookAnswer> {
    if (url === null) throw new Error('The app has no URL.');
    const timestamp = Math.floor(this.clock.now().getTime() / 1_000);
    const keys = this.signingKeys(secrets);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': webhookSignature(keys, { id, timestamp, body }),
      ...(traceparent !== null && { traceparent }),
    };
    const response = await this.http.fetch(url, { method: 'POST', headers, body, signal });
    return readWebhookAnswer(response, this.clock.now());
  }

  private signingKeys({ current, old, oldUntil, unopened }: WebhookSecrets): string[] {
    if (current === undefined)
      throw new Error(`The webhook can't be signed: ${unopened ?? 'the app has no secret'}.`);
    const isOldValid = old !== undefined && oldUntil !== null && oldUntil > this.clock.now();
    return isOldValid ? [current, old] : [current];
  }
}

function aborted(error: string): WebhookAnswer {
  return { outcome: { kind: 'aborted' }, status: null, error };
}

function toFailure(error: unknown, limitMs: number | undefined): WebhookAnswer {
  const status = error instanceof RedirectRefusedError ? error.status : null;
  const text =
    limitMs === undefined
      ? systemReason(error)
      : `No answer within ${Math.ceil(limitMs / 1_000)} s`;
  return {
    outcome: { kind: 'failed' },
    status,
    error: cutText(toStorableText(text), MAX_ERROR_CHARS),
  };
}
