import type { Api, ApiRequest, ApiResponse } from './api.js';

/** What an agent engine does for one session, in the words of the tests. */
export class Engine {
  constructor(
    private readonly api: Api,
    readonly sessionId: string,
  ) {}

  /** Calls a tool of the server `test`, or of another one. */
  call(
    tool: string,
    args: object = {},
    more: Record<string, unknown> = {},
    request: ApiRequest = {},
  ): Promise<ApiResponse> {
    const body = { server: 'test', tool, arguments: args, ...more };
    return this.api.post(`/v1/sessions/${this.sessionId}/tool-calls`, body, request);
  }

  /** Calls a tool that is handed over, and answers its background call. */
  async callInBackground(
    tool: string,
    args: object = {},
    more: Record<string, unknown> = {},
  ): Promise<{ id: string; status: string }> {
    const answer = await this.call(tool, args, { background: { mode: 'always' }, ...more });
    if (answer.status !== 202) throw new Error(`not handed over: ${answer.status} ${answer.text}`);
    return answer.body.call as { id: string; status: string };
  }

  startTurn(turnId: string): Promise<ApiResponse> {
    return this.api.post(`/v1/sessions/${this.sessionId}/turns`, { turnId });
  }

  touchTurn(turnId: string): Promise<ApiResponse> {
    return this.api.post(`/v1/sessions/${this.sessionId}/turns/${turnId}/touch`);
  }

  endTurn(turnId: string, body: object = {}): Promise<ApiResponse> {
    return this.api.post(`/v1/sessions/${this.sessionId}/turns/${turnId}/end`, body);
  }

  async messages(waitSec = 0): Promise<any[]> {
    const answer = await this.api.get(`/v1/sessions/${this.sessionId}/messages?wait=${waitSec}`);
    if (answer.status !== 200) throw new Error(`no messages: ${answer.status} ${answer.text}`);
    return answer.body.data as unknown[];
  }

  ack(messageId: string, body: object = {}): Promise<ApiResponse> {
    return this.api.post(`/v1/messages/${messageId}/ack`, body);
  }

  async get(callId: string, waitSec = 0): Promise<any> {
    const answer = await this.api.get(`/v1/background-calls/${callId}?wait=${waitSec}`);
    if (answer.status !== 200) throw new Error(`no call: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async list(): Promise<any[]> {
    const answer = await this.api.get(`/v1/sessions/${this.sessionId}/background-calls?limit=100`);
    return answer.body.data as unknown[];
  }

  cancel(callId: string): Promise<ApiResponse> {
    return this.api.post(`/v1/background-calls/${callId}/cancel`);
  }

  markRead(callId: string): Promise<ApiResponse> {
    return this.api.post(`/v1/background-calls/${callId}/mark-read`);
  }

  /** Answers what a call asks. */
  answer(callId: string, body: unknown): Promise<ApiResponse> {
    return this.api.post(`/v1/background-calls/${callId}/input`, body);
  }

  /** Receives and acknowledges messages until each of the calls was told; answers the messages. */
  async receive(callIds: string[]): Promise<any[]> {
    const received: { id: string; notifications: { callId: string }[] }[] = [];
    const told = (): string[] =>
      received.flatMap(({ notifications }) => notifications.map(({ callId }) => callId));
    while (callIds.some((callId) => !told().includes(callId))) {
      const messages = (await this.messages(15)) as typeof received;
      if (messages.length === 0) throw new Error(`not told: ${callIds.join()}`);
      for (const message of messages) {
        received.push(message);
        await this.ack(message.id);
      }
    }
    return received;
  }
}
