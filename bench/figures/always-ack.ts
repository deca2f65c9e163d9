import { randomUUID } from 'node:crypto';
import { Client as Postgres } from 'pg';
import type { Figure } from '../figure.js';
import { Sample, timed } from '../sample.js';

const WARM = 100;
const CALLS = 400;

const TABLE =
  'CREATE TABLE bench (id uuid PRIMARY KEY, body jsonb NOT NULL, at timestamptz NOT NULL)';
const INSERT = 'INSERT INTO bench (id, body, at) VALUES ($1, $2, now())';

/** A call has ended before the next one is asked, so that its end is in nobody's way. */
export const alwaysAck: Figure = {
  name: 'always-ack',
  about: 'until a call of the mode `always` is answered with 202, beside one INSERT',
  async measure(ground) {
    const { client } = await ground.service();
    const postgres = new Postgres({ connectionString: ground.databaseUrl });
    await postgres.connect();
    await postgres.query(TABLE);
    const tookMs = { ack: [] as number[], insert: [] as number[] };
    for (let n = 0; n < WARM + CALLS; n++) {
      const args = { n, name: 'always' };
      const id = await timed(tookMs.ack, () => client.callInBackground('s', 'echo', args));
      await client.ended(id);
      await timed(tookMs.insert, () => postgres.query(INSERT, [randomUUID(), args]));
    }
    await postgres.end();

    const [ack, insert] = [tookMs.ack, tookMs.insert].map((one) => new Sample(one.slice(WARM)));
    return [
      { what: '202', value: String(ack) },
      { what: 'one INSERT', value: String(insert) },
      { what: 'ratio', value: ack!.over(insert!), goal: '≤ × 2' },
    ];
  },
};
