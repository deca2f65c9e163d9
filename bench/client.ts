import { Agent, request } from 'undici';
import { KEYS } from '../test/support/keys.js';

export interface Reply {
  status: number;
  body: any;
}

/** A message as far as it is looked at here. */
export interface Told {
  id: string;
  notifications: { callId: string; preview: string }[];
}

/** What an agent engine sends, with as little of its own in what is measured as can be. */
export class Client {
  private readonly dispatcher = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 });

  constructor(private readonly url: string) {}

  /** Calls a tool of the server `bench`. */
  call(session: string, tool: string, args: object, mode: 'always' | 'never'): Promise<Reply> {
    const body = { server: 'bench', tool, arguments: args, background: { mode } };
    return this.send('POST', `/v1/sessions/${session}/tool-calls`, body);
  }

  /** Answers the id of the call. @throws Error when it was not handed over. */
  async callInBackground(session: string, tool: string, args: object = {}): Promise<string> {
    const { status, body } = await this.call(session, tool, args, 'always');
    if (status !== 202) throw new Error(`not handed over: ${status} ${JSON.stringify(body)}`);
    return body.call.id as string;
  }

  /** Waits for the end of a call. */
  ended(callId: string): Promise<Reply> {
    return this.send('GET', `/v1/background-calls/${callId}?wait=60`);
  }

  /** Long-polls the messages of a session, or of all. */
  async messages(session?: string, waitSec = 30): Promise<Told[]> {
    const of = session === undefined ? '' : `/sessions/${session}`;
    return (await this.send('GET', `/v1${of}/messages?wait=${waitSec}`)).body.data as Told[];
  }

  async acknowledge(messageId: string): Promise<void> {
    await this.send('POST', `/v1/messages/${messageId}/ack`, {});
  }

  async send(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> {
    const answer = await request(this.url + path, {
      method,
      dispatcher: this.dispatcher,
      headers: {
        authorization: `Bearer ${KEYS.BGC_AGENT_KEY}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: await answer.body.json() };
  }

  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}
