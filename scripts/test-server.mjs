/** The PostgreSQL that the tests run on, with one migrated database that each test file clones. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parse } from 'yaml';
import { ROOT, say } from './prepare.mjs';

const CONTRACT = 'openapi.json';

/** Nothing of a test database need survive a crash. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '300',
};

/** On the server of `givenUrl`, or an embedded one in that folder with these settings. */
export async function startTestServer(givenUrl, folder, settings = SETTINGS) {
  const { migrate } = await import('../dist/src/database/migrate.js');
  const server = givenUrl
    ? { url: givenUrl, stop: async () => {} }
    : await startEmbedded(folder, settings);
  const template = `bgc_test_${randomBytes(4).toString('hex')}`;
  const stop = async () => {
    await withClient(server.url, (client) => dropAll(client, template)).catch((error) =>
      say(`Test databases may be left: ${error.message}`),
    );
    await server.stop();
  };
  try {
    await withClient(server.url, (client) =>
      client.query(`CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`),
    );
    await migrate(withDatabase(server.url, template));
    return { url: server.url, template, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** For all that a run writes. */
export function makeRunFolder() {
  // Root's server runs as another user, to whom root's own temporary folder may be closed.
  const base = process.getuid?.() === 0 ? '/tmp' : os.tmpdir();
  const made = fs.mkdtempSync(path.join(base, 'bgc-test-'));
  fs.mkdirSync(path.join(made, 'tmp'));
  for (const each of [made, path.join(made, 'tmp')]) fs.chmodSync(each, 0o755);
  const contract = parse(fs.readFileSync(path.join(ROOT, 'openapi.yaml'), 'utf8'));
  fs.writeFileSync(path.join(made, CONTRACT), JSON.stringify(contract));
  return made;
}

/** What a program is told of a run: its server, its folder, and `openapi.yaml` as JSON, which is read faster. */
export function environmentOf({ url, template, folder }) {
  return {
    TMPDIR: path.join(folder, 'tmp'),
    TEST_DATABASE_URL: url,
    TEST_DATABASE_TEMPLATE: template,
    TEST_CONTRACT: path.join(folder, CONTRACT),
  };
}

async function startEmbedded(folder, settings) {
  const { Logger } = await import('../dist/src/common/logger.js');
  const { EmbeddedPostgres } = await import('../dist/src/database/embedded/embedded-postgres.js');
  return EmbeddedPostgres.start({
    dataDir: folder,
    systemDir: folder,
    settings,
    logger: Logger.create('warn'),
    onLost: () => say('The test database is gone.'),
  });
}

async function dropAll(client, prefix) {
  const { rows } = await client.query(
    'SELECT d.datname AS name FROM pg_database d WHERE starts_with(d.datname, $1)',
    [prefix],
  );
  for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function withClient(url, work) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url, name) {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
