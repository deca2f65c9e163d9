import type { ServiceUnderTest } from './service-fixture.js';
import { eventually } from './eventually.js';

/** What the database says of the messages of one session. */
export class WebhookRows {
  constructor(
    private readonly service: Pick<ServiceUnderTest, 'sql'>,
    private readonly sessionId: string,
  ) {}

  /** The newest message, with the milliseconds until it is tried again as `waitMs`. */
  async message(): Promise<any> {
    const [row] = await this.service.sql<any>(
      `SELECT messages.*,
         (extract(epoch FROM messages.next_attempt_at - now()) * 1000)::int AS "waitMs"
       FROM messages JOIN targets ON targets.id = messages.target_id
       WHERE targets.session_id = $1 ORDER BY messages.created_at DESC LIMIT 1`,
      [this.sessionId],
    );
    return row;
  }

  async tries(): Promise<any[]> {
    return this.service.sql<any>(
      `SELECT message_attempts.* FROM message_attempts
       JOIN messages ON messages.id = message_attempts.message_id
       JOIN targets ON targets.id = messages.target_id
       WHERE targets.session_id = $1 ORDER BY message_attempts.number`,
      [this.sessionId],
    );
  }

  /** The types of what has happened to its messages and turns. */
  async events(): Promise<string[]> {
    const rows = await this.service.sql<{ type: string }>(
      `SELECT events.type FROM events JOIN targets ON targets.id = events.target_id
       WHERE targets.session_id = $1 AND events.type ~ '^(message|turn)' ORDER BY events.id`,
      [this.sessionId],
    );
    return rows.map(({ type }) => type);
  }

  /** Resolves when so many tries are settled and the message waits for the next one. */
  async waiting(tries: number): Promise<any> {
    return eventually(`it waits after ${tries} tries`, async () => {
      const row = await this.message();
      const isWaiting = row !== undefined && row.next_attempt_at !== null;
      return isWaiting && (await this.tries()).length === tries && row;
    });
  }

  async in(state: string): Promise<any> {
    return eventually(`the message is ${state}`, async () => {
      const row = await this.message();
      return row?.state === state && row;
    });
  }

  /** Ends what hides the session's message, on the database's clock. */
  async waitIsOver(): Promise<void> {
    await this.service.sql(
      `UPDATE targets SET hidden_until = now() - interval '1 ms' WHERE session_id = $1`,
      [this.sessionId],
    );
  }

  /** Makes the message as if it had been tried for so long. */
  async age(hours: number): Promise<void> {
    await this.service.sql(
      `UPDATE messages SET trying_since = now() - make_interval(secs => $2::float8 * 3600)
       FROM targets WHERE targets.id = messages.target_id AND targets.session_id = $1`,
      [this.sessionId, hours],
    );
  }
}
