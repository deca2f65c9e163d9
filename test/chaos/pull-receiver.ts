import { setTimeout as sleep } from 'node:timers/promises';
import type { CarefulApi } from './careful-api.js';
import type { Chance } from './chance.js';
import { isWoken, type Sightings } from './sightings.js';

const AFTER_TROUBLE_MS = 50;

/** How often something goes wrong at a receiver, from 0 to 1. */
export interface ReceiverFaults {
  losesAnswers: number;
  losesAcknowledgements: number;
}

/** Takes the messages of all sessions, loses some of them, and answers what is asked. */
export class PullReceiver {
  constructor(
    private readonly api: CarefulApi,
    private readonly sightings: Sightings,
    private readonly chance: Chance,
    private readonly faults: ReceiverFaults,
  ) {}

  async live(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const askedAtMs = performance.now();
      const answer = await this.api.get('/v1/messages?wait=1', stop);
      if (answer?.status !== 200) {
        await sleep(AFTER_TROUBLE_MS);
        continue;
      }
      if (this.chance.happens(this.faults.losesAnswers)) continue;
      const { data } = answer.body as { data: object[] };
      for (const message of data) await this.take(JSON.stringify(message), askedAtMs);
    }
  }

  private async take(body: string, askedAtMs: number): Promise<void> {
    const message = this.sightings.receive(body, askedAtMs);
    const { id, target } = message;
    this.sightings.count('receipts');
    // It comes again.
    if (!(await this.api.answerQuestions(message))) return;
    if (this.chance.happens(this.faults.losesAcknowledgements)) return;
    // Such a session begins a turn in the step of the acknowledgement.
    if (isWoken(target.sessionId)) return this.wake(id, target.sessionId);
    await this.api.post(`/v1/messages/${id}/ack`);
  }

  private async wake(messageId: string, sessionId: string): Promise<void> {
    const turnId = `wake-${messageId}`;
    this.sightings.openTurns.set(turnId, () => this.api.endTurn(sessionId, turnId));
    await this.api.post(`/v1/messages/${messageId}/ack`, { turnId });
    await sleep(this.chance.between(0, 50));
    await this.sightings.endTurn(turnId);
  }
}
