import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { eventually } from '../support/eventually.js';
import { KEEP_ALIVE_TIMER, timersOfSocketsTo } from '../support/tcp-timers.js';
import { FarNetwork } from './far-network.js';
import { PatientClient } from './patient-client.js';

const UPSTREAMS = ['--import', './scripts/typescript.mjs', 'test/long/upstreams-program.ts'];
const MAX_MS = 60_000;
/** An answer of the other side, such as that the port is closed, would come at once. */
const MIN_MS = 5_000;
const LOST = { code: 'upstream_lost', outcomeUnknown: true };

describe('a connection on which every packet is lost', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let client: PatientClient;
  let network: FarNetwork | undefined;
  let count = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_OUTBOUND_ALLOW: '198.18.0.0/15',
    });
    client = new PatientClient(service.url);
  });

  afterEach(() => network?.remove());

  afterAll(async () => {
    await client.close();
    await service.end('SIGKILL');
    await database.drop();
  });

  it.each<[string, (lost: FarNetwork) => void]>([
    ['the cable is pulled', (lost) => lost.pull()],
    ['answers are swallowed on their way', (lost) => lost.swallowAnswers()],
  ])(
    'ends its calls as upstream_lost within 60 s, and the next one as upstream_unreachable: %s',
    async (how, lose) => {
      network = FarNetwork.create(++count);
      const lines = network.run(...UPSTREAMS);
      const ports = await read<Record<string, number>>(lines);
      const names = await register(network, ports);
      const calls = names.map((name) => client.call(name, 'gate', { name: 'x' }, 'never'));
      const moved = await Promise.all(
        names.map((name) => client.call(name, 'gate', { name: 'y' }, 'always')),
      );
      while ((await read<number>(lines)) < calls.length + moved.length);
      await eventually('nothing is under way', () => Object.values(ports).every(isQuiet));
      lose(network);
      const lostAt = performance.now();

      const answers = await Promise.all(calls);
      const tookMs = performance.now() - lostAt;
      for (const answer of answers) expect(answer).toMatchObject({ status: 502, body: LOST });
      for (const { body } of moved) {
        const { status, error, outcomeUnknown } = await service
          .session('any')
          .get(body.call.id as string, 60);
        expect({ status, code: error.code, outcomeUnknown }).toEqual({ status: 'failed', ...LOST });
      }
      expect(tookMs).toBeGreaterThan(MIN_MS);
      expect(performance.now() - lostAt).toBeLessThan(MAX_MS);
      process.stderr.write(`${how}: lost after ${(tookMs / 1_000).toFixed(1)} s\n`);

      const next = await client.call(names[0]!, 'echo', {}, 'never');
      expect(next).toMatchObject({ status: 502, body: { code: 'upstream_unreachable' } });
    },
  );

  /** Registers one server of each kind; answers their names. */
  async function register(
    { address }: FarNetwork,
    ports: Record<string, number>,
  ): Promise<string[]> {
    return Promise.all(
      Object.entries(ports).map(async ([kind, port]) => {
        const name = `${kind}-${count}`;
        const [path, transport] = kind === 'sse' ? ['sse', 'sse'] : ['mcp', 'http'];
        const url = `http://${address}:${port}/${path}`;
        const body = { name, title: name, url, transport };
        expect((await service.admin.post('/admin/v1/mcp-servers', body)).status).toBe(201);
        return name;
      }),
    );
  }
});

async function read<T>(lines: AsyncIterator<string>): Promise<T> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the upstreams have ended');
  return JSON.parse(value) as T;
}

/** Whatever was sent there has been received: it is TCP that waits now, with its keep-alive. */
function isQuiet(port: number): boolean {
  const timers = timersOfSocketsTo(port);
  return timers.length > 0 && timers.every(({ kind }) => kind === KEEP_ALIVE_TIMER);
}
