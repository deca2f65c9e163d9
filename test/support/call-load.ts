import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiResponse } from './api.js';

const PAUSE_MS = 20;
/** The service gives up on the database after some seconds; nothing may take much longer than that. */
const LONGEST_ANSWER_MS = 45_000;

interface Told {
  messageId: string;
  status: string;
}

/**
 * Engines that hand calls over as fast as they can, and one receiver that acknowledges what it is told.
 * The tool `echo` of the server `test` is given a name of its own with each call.
 */
export class CallLoad {
  /** Handed-over calls: the name that was given, by id. */
  readonly accepted = new Map<string, string>();
  /** Statuses of answers that were neither a result nor a handover. */
  readonly refused = new Map<number, number>();
  /** What was told of each call, once for each different message. */
  readonly told = new Map<string, Told[]>();
  longestAnswerMs = 0;
  private count = 0;
  private isOn = true;
  private isReceiving = true;
  private readonly working: Promise<void>[] = [];

  constructor(
    private readonly agent: Api,
    engines: number,
  ) {
    for (let engine = 0; engine < engines; engine++) this.working.push(this.call(`load-${engine}`));
    this.working.push(this.receive());
  }

  /** No more calls; resolves when every accepted one was told, or the time is over. */
  async settle(withinMs: number): Promise<void> {
    this.isOn = false;
    const deadline = performance.now() + withinMs;
    while (this.untold.length > 0 && performance.now() < deadline) await sleep(PAUSE_MS);
    this.isReceiving = false;
    await Promise.all(this.working);
  }

  /** Ids of calls that were handed over and not told of. */
  get untold(): string[] {
    return [...this.accepted.keys()].filter((id) => !this.told.has(id));
  }

  /** Ids of calls of which more than one message told. */
  get toldTwice(): string[] {
    return [...this.told].filter(([, messages]) => messages.length > 1).map(([id]) => id);
  }

  private async call(sessionId: string): Promise<void> {
    while (this.isOn) {
      const name = `call-${this.count++}`;
      const answer = await this.ask(sessionId, name);
      if (answer?.status === 202) this.accepted.set(answer.body.call.id as string, name);
      else this.refused.set(answer?.status ?? 0, (this.refused.get(answer?.status ?? 0) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  }

  /** Undefined: no answer came, because the process is gone. */
  private async ask(sessionId: string, name: string): Promise<ApiResponse | undefined> {
    const begun = performance.now();
    const body = {
      ...{ server: 'test', tool: 'echo', arguments: { name } },
      background: { mode: 'always' },
    };
    const request = { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) };
    try {
      return await this.agent.post(`/v1/sessions/${sessionId}/tool-calls`, body, request);
    } catch {
      return undefined;
    } finally {
      this.longestAnswerMs = Math.max(this.longestAnswerMs, performance.now() - begun);
    }
  }

  private async receive(): Promise<void> {
    while (this.isReceiving) {
      const answer = await this.agent.get('/v1/messages?wait=1').catch(() => undefined);
      if (answer?.status !== 200) await sleep(PAUSE_MS);
      for (const message of (answer?.status === 200 ? answer.body.data : []) as ReceivedMessage[]) {
        this.note(message);
        await this.agent.post(`/v1/messages/${message.id}/ack`).catch(() => undefined);
      }
    }
  }

  private note({ id: messageId, notifications }: ReceivedMessage): void {
    for (const { callId, status } of notifications) {
      const told = this.told.get(callId) ?? [];
      if (told.some((earlier) => earlier.messageId === messageId)) continue;
      this.told.set(callId, [...told, { messageId, status }]);
    }
  }
}

interface ReceivedMessage {
  id: string;
  notifications: { callId: string; status: string }[];
}
