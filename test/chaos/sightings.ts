import { fromPublicId } from '../../src/common/ids.js';
import type { AcceptedCall, Receipt, TurnSpan } from './evidence.js';

export interface MessageBody {
  id: string;
  kind: string;
  target: { sessionId: string };
  text: string;
  notifications: {
    id: string;
    callId: string;
    status: string;
    error?: { code: string };
    preview: string | null;
  }[];
}

/** What callers and receivers have seen, as they saw it. */
export class Sightings {
  readonly accepted: AcceptedCall[] = [];
  readonly receipts: Receipt[] = [];
  readonly turns: TurnSpan[] = [];
  /** Turns that were asked for and whose end was not answered yet, with what ends them. */
  readonly openTurns = new Map<string, () => Promise<boolean>>();
  /** Answers that were not as documented, and failures that nobody may see. */
  readonly odd: string[] = [];
  private readonly counts = new Map<string, number>();

  /** Asks for its end: false, it was not answered and the turn stays among the open ones. */
  async endTurn(turnId: string): Promise<boolean> {
    const isEnded = (await this.openTurns.get(turnId)?.()) ?? true;
    if (isEnded) this.openTurns.delete(turnId);
    return isEnded;
  }

  /** One more of these. */
  count(what: string): void {
    this.counts.set(what, this.counted(what) + 1);
  }

  counted(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /** A 202: from here on the call must not be lost. */
  accept(publicId: string, sessionId: string, name: string): void {
    this.accepted.push({ id: uuidOf('bgc', publicId), sessionId, name });
  }

  /** `body`: the bytes of one message, as they came. */
  receive(body: string, askedAtMs: number): MessageBody {
    const message = JSON.parse(body) as MessageBody;
    this.receipts.push({
      messageId: uuidOf('msg', message.id),
      sessionId: message.target.sessionId,
      body,
      text: message.text,
      told: message.notifications.map(({ id, callId, status, error, preview }) => ({
        notificationId: uuidOf('ntf', id),
        callId: uuidOf('bgc', callId),
        publicCallId: callId,
        status,
        errorCode: error?.code,
        preview,
      })),
      askedAtMs,
      gotAtMs: performance.now(),
    });
    return message;
  }
}

/** Whether its messages begin turns; others begin theirs themselves, so that no turn replaces another. */
export function isWoken(sessionId: string): boolean {
  return sessionId.endsWith('-woken');
}

function uuidOf(prefix: Parameters<typeof fromPublicId>[0], publicId: string): string {
  const uuid = fromPublicId(prefix, publicId);
  if (uuid === undefined) throw new Error(`${publicId} is no id of ${prefix}`);
  return uuid;
}
