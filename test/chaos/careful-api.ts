import { Api, type ApiResponse } from '../support/api.js';
import type { MessageBody, Sightings } from './sightings.js';

/** What a client may be answered when something is in trouble: that it is, and nothing else. */
const IN_TROUBLE = [409, 429, 502, 503, 504];
const LONGEST_MS = 15_000;

/** Asks a service that may die at any moment: what comes is looked at, what does not come is counted. */
export class CarefulApi {
  private readonly api: Api;

  constructor(
    url: () => string,
    key: string,
    private readonly sightings: Sightings,
  ) {
    this.api = new Api(url, key);
  }

  /** Undefined: no answer. */
  get(path: string, signal?: AbortSignal): Promise<ApiResponse | undefined> {
    return this.guard(`GET ${path}`, (request) => this.api.get(path, request), signal);
  }

  /** Undefined: no answer. */
  post(path: string, body?: unknown, signal?: AbortSignal): Promise<ApiResponse | undefined> {
    return this.guard(`POST ${path}`, (request) => this.api.post(path, body, request), signal);
  }

  /** Whether that was answered. */
  async endTurn(sessionId: string, turnId: string, interrupted = false): Promise<boolean> {
    const path = `/v1/sessions/${sessionId}/turns/${turnId}/end`;
    return (await this.post(path, { interrupted }))?.status === 200;
  }

  /** Whether all that the message asks is answered, now or before. */
  async answerQuestions({ kind, notifications }: MessageBody): Promise<boolean> {
    if (kind !== 'background_call.input_required') return true;
    const accepted = { action: 'accept', content: {} };
    const answers = await Promise.all(
      notifications.map(({ callId }) =>
        this.post(`/v1/background-calls/${callId}/input`, accepted),
      ),
    );
    return answers.every((answer) => answer !== undefined && answer.status < 500);
  }

  private async guard(
    what: string,
    ask: (request: { signal: AbortSignal }) => Promise<ApiResponse>,
    signal?: AbortSignal,
  ): Promise<ApiResponse | undefined> {
    const limit = AbortSignal.timeout(LONGEST_MS);
    try {
      const answer = await ask({ signal: signal ? AbortSignal.any([signal, limit]) : limit });
      const { status, text } = answer;
      if (status >= 300 && !IN_TROUBLE.includes(status))
        this.sightings.odd.push(`${what}: ${status} ${text}`);
      return answer;
    } catch (error) {
      if (!isUnanswered(error)) this.sightings.odd.push(`${what}: ${String(error)}`);
      this.sightings.count('unanswered');
      return undefined;
    }
  }
}

/** As `fetch` says it, whose errors are those of another realm: the connection broke, or we gave up. */
function isUnanswered(error: unknown): boolean {
  const { name, message } = error as Error;
  if (name === 'AbortError' || name === 'TimeoutError') return true;
  return name === 'TypeError' && ['fetch failed', 'terminated'].includes(message);
}
