import { setTimeout as sleep } from 'node:timers/promises';
import { loseAnswer, status, WebhookReceiver } from '../support/webhook-receiver.js';
import type { CarefulApi } from './careful-api.js';
import type { Chance } from './chance.js';
import { isWoken, type Sightings } from './sightings.js';

/** How often something goes wrong at a receiver of webhooks, from 0 to 1. */
export interface HookFaults {
  /** It answers with an error, or that it is busy, and keeps nothing. */
  errs: number;
  /** It keeps the message and its answer does not arrive. */
  losesAnswers: number;
}

const NO_FAULTS: HookFaults = { errs: 0, losesAnswers: 0 };
/** Is sent to before it was asked whether its turn runs. */
const NOT_ASKED = -Infinity;

/** Takes webhooks in, or does not. */
export class HookReceiver {
  private receiver: WebhookReceiver | undefined;

  constructor(
    private readonly api: CarefulApi,
    private readonly sightings: Sightings,
    private readonly chance: Chance,
    private faults: HookFaults,
  ) {}

  /** Answers its URL. */
  async open(): Promise<string> {
    this.receiver = await WebhookReceiver.start();
    this.receiver.answerAlways(async (response, webhook) => {
      this.sightings.count('webhooks');
      if (this.chance.happens(this.faults.errs)) return this.refuse()(response, webhook);
      const message = this.sightings.receive(webhook.raw.toString(), NOT_ASKED);
      const { id, target } = message;
      if (!(await this.api.answerQuestions(message))) return this.refuse()(response, webhook);
      if (this.chance.happens(this.faults.losesAnswers)) return loseAnswer(response, webhook);
      if (!isWoken(target.sessionId)) return status(204)(response, webhook);
      return this.wake(`wake-${id}`, target.sessionId)(response, webhook);
    });
    return this.receiver.url;
  }

  /** Errs no more. Answers its new URL. */
  mend(): string {
    this.faults = NO_FAULTS;
    return `${this.receiver?.url}?mended`;
  }

  async close(): Promise<void> {
    await this.receiver?.stop();
  }

  private refuse(): ReturnType<typeof status> {
    const busy = status(503, { 'retry-after': '1' });
    return this.chance.oneOf([status(500), busy]);
  }

  /** Begins a turn with its answer, and ends it soon. */
  private wake(turnId: string, sessionId: string): ReturnType<typeof status> {
    this.sightings.openTurns.set(turnId, () => this.api.endTurn(sessionId, turnId));
    return (response, webhook) => {
      response.once('close', () => void this.endSoon(turnId));
      return status(200, {}, { turnId })(response, webhook);
    };
  }

  private async endSoon(turnId: string): Promise<void> {
    await sleep(this.chance.between(0, 200));
    await this.sightings.endTurn(turnId);
  }
}
