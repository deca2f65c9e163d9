import { Agent, request } from 'undici';
import { KEYS } from '../support/keys.js';

/** An engine that waits for an answer as long as it takes; `fetch` gives up after 300 s. */
export class PatientClient {
  private readonly dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

  constructor(private readonly url: string) {}

  async call(server: string, tool: string, args: object, mode: 'always' | 'never'): Promise<any> {
    const answer = await request(`${this.url}/v1/sessions/${server}-${mode}/tool-calls`, {
      method: 'POST',
      dispatcher: this.dispatcher,
      headers: {
        authorization: `Bearer ${KEYS.BGC_AGENT_KEY}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ server, tool, arguments: args, background: { mode } }),
    });
    return { status: answer.statusCode, body: await answer.body.json() };
  }

  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}
