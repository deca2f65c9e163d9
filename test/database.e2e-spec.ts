import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { DatabaseUnavailableError } from '../src/common/domain-error.js';
import { Logger } from '../src/common/logger.js';
import { runInRequestContext } from '../src/common/request-context.js';
import { CommitOutcomeUnknownError, Database, type Transaction } from '../src/database/database.js';
import { createPool, DATABASE_LIMITS_MS } from '../src/database/pool.js';
import { eventually } from './support/eventually.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const LIMITS_MS = { ...DATABASE_LIMITS_MS, lock: 100 };
const GATE = 4711;
const INSERT = 'INSERT INTO things (name) VALUES ($1)';
const MY_PID = 'SELECT pg_backend_pid() AS pid';
/** Ends the backend and waits until it has. */
const KILL = 'SELECT pg_terminate_backend($1, 5000)';

describe('Database', () => {
  let testDatabase: TestDatabase;
  let pool: Pool;
  let database: Database;
  /** A second client, not the one under test. */
  let other: Database;
  let otherPool: Pool;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    otherPool = createPool(testDatabase.url, Logger.create('silent'));
    other = new Database(otherPool);
    await other.query(`
      CREATE TABLE things (name text PRIMARY KEY);
      CREATE TABLE gated (name text);
      CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON gated
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
      CREATE TABLE pairs (name text, CONSTRAINT pairs_unique UNIQUE (name) DEFERRABLE INITIALLY DEFERRED);
    `);
  });

  beforeEach(() => {
    pool = createPool(testDatabase.url, Logger.create('silent'), LIMITS_MS);
    database = new Database(pool);
  });

  afterEach(async () => {
    await pool.end();
    await other.query('TRUNCATE things, gated, pairs');
  });

  afterAll(async () => {
    await otherPool.end();
    await testDatabase.drop();
  });

  const names = async (): Promise<unknown[]> =>
    (await other.query('SELECT t.name FROM things t ORDER BY t.name')).map(({ name }) => name);

  it('commits what the work did, and rolls it back when the work throws', async () => {
    await database.transaction((tx) => tx.query(INSERT, ['kept']));
    const failing = database.transaction(async (tx) => {
      await tx.query(INSERT, ['dropped']);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await names()).toEqual(['kept']);
  });

  it('keeps the connection after a refused statement', async () => {
    const [before] = await database.query(MY_PID);
    await database.query(INSERT, ['one']);
    await expect(database.query(INSERT, ['one'])).rejects.toBeInstanceOf(DatabaseError);
    expect(await database.query(MY_PID)).toEqual([before]);
  });

  it('survives a connection that breaks between two statements of a transaction', async () => {
    const ended = new Promise((resolve) =>
      pool.once('acquire', (client: PoolClient) => client.once('end', resolve)),
    );
    const broken = database.transaction(async (tx) => {
      await tx.query(INSERT, ['lost']);
      await killFromOutside(tx);
      await ended;
      await tx.query(INSERT, ['never']);
    });
    await expect(broken).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await database.query(INSERT, ['next']);
    expect(await names()).toEqual(['next']);
  });

  it('survives a connection that breaks in mid-statement', async () => {
    const [{ pid } = {}] = await database.query(MY_PID);
    const sleeping = database.query('SELECT pg_sleep(30)');
    sleeping.catch(() => undefined);
    await eventually('the statement runs', () => isActive(pid));
    await other.query(KILL, [pid]);
    await expect(sleeping).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('says that the outcome is unknown when the connection breaks during COMMIT', async () => {
    await other.transaction(async (gatekeeper) => {
      await gatekeeper.query('SELECT pg_advisory_xact_lock($1)', [GATE]);
      let pid: unknown;
      const committing = database.transaction(async (tx) => {
        [{ pid }] = (await tx.query(MY_PID)) as [{ pid: unknown }];
        await tx.query('SET LOCAL lock_timeout = 0');
        await tx.query("INSERT INTO gated (name) VALUES ('x')");
      });
      committing.catch(() => undefined);
      await eventually('the COMMIT waits at the gate', () => waitsForLock(pid));
      await other.query(KILL, [pid]);
      await expect(committing).rejects.toBeInstanceOf(CommitOutcomeUnknownError);
    });
  });

  it('says that the outcome is unknown when the answer to a COMMIT that happened is lost', async () => {
    const proxy = await PostgresProxy.start(testDatabase.url);
    const proxiedPool = createPool(proxy.url, Logger.create('silent'));
    void proxy.breakNext('COMMIT', 'after');
    const committing = new Database(proxiedPool).transaction((tx) => tx.query(INSERT, ['done']));
    await expect(committing).rejects.toBeInstanceOf(CommitOutcomeUnknownError);
    expect(await names()).toEqual(['done']);
    await proxiedPool.end();
    await proxy.stop();
  });

  it('passes the refusal on when COMMIT itself is refused', async () => {
    const refused = database.transaction(async (tx) => {
      await tx.query("INSERT INTO pairs (name) VALUES ('a'), ('a')");
    });
    await expect(refused).rejects.toMatchObject({ code: '23505' });
  });

  it('fails a transaction whose work swallowed a failed statement', async () => {
    const swallowing = database.transaction(async (tx) => {
      await tx.query(INSERT, ['a']);
      await tx.query(INSERT, ['a']).catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow(/swallowed/);
    expect(await names()).toEqual([]);
  });

  it('runs the victim of a deadlock again', async () => {
    await other.query("INSERT INTO things (name) VALUES ('a'), ('b')");
    const held = [barrier(), barrier()] as const;
    let runs = 0;
    const lockBoth = (mine: 0 | 1, order: [string, string]): Promise<void> =>
      database.transaction(async (tx) => {
        runs += 1;
        await tx.query('SET LOCAL lock_timeout = 0');
        await lockThing(tx, order[0]);
        held[mine].open();
        await held[1 - mine]?.opened;
        await lockThing(tx, order[1]);
      });
    await Promise.all([lockBoth(0, ['a', 'b']), lockBoth(1, ['b', 'a'])]);
    expect(runs).toBe(3);
  });

  it('answers as unavailable when a lock is not given in time', async () => {
    await other.query(INSERT, ['locked']);
    await other.transaction(async (holder) => {
      await lockThing(holder, 'locked');
      const waiting = database.transaction((tx) => lockThing(tx, 'locked'));
      await expect(waiting).rejects.toBeInstanceOf(DatabaseUnavailableError);
    });
  });

  it('answers as unavailable when the server falls silent, and does not wait for a ROLLBACK', async () => {
    const proxy = await PostgresProxy.start(testDatabase.url);
    const limits = { ...DATABASE_LIMITS_MS, answer: 1_000 };
    const silentPool = createPool(proxy.url, Logger.create('silent'), limits);
    const startedAt = performance.now();
    const silenced = new Database(silentPool).transaction(async (tx) => {
      proxy.fallSilent();
      await tx.query('SELECT 1');
    });
    await expect(silenced).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(performance.now() - startedAt).toBeLessThan(2 * limits.answer);
    expect(silentPool.totalCount).toBe(0);
    await silentPool.end();
    await proxy.stop();
  });

  it('answers as unavailable while the server refuses connections, then works again', async () => {
    const proxy = await PostgresProxy.start(testDatabase.url);
    const cutPool = createPool(proxy.url, Logger.create('silent'));
    const cutDatabase = new Database(cutPool);
    proxy.cut();
    await expect(cutDatabase.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    proxy.restore();
    expect(await cutDatabase.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await cutPool.end();
    await proxy.stop();
  });

  it('survives a connection that the server ends just when it has greeted', async () => {
    const proxy = await PostgresProxy.start(testDatabase.url);
    const endedPool = createPool(proxy.url, Logger.create('silent'));
    const endedDatabase = new Database(endedPool);
    proxy.endNextAtItsStart();
    await expect(endedDatabase.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await endedDatabase.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await endedPool.end();
    await proxy.stop();
  });

  it('does not take what PostgreSQL does not offer for an absent database', async () => {
    const count = database.query('SELECT count(things.name) FROM things FOR UPDATE');
    await expect(count).rejects.toMatchObject({ code: '0A000' });
  });

  it('does not take a mistake in a statement for an absent database', async () => {
    const mistaken = database.query('SELECT $1::text, $2::text', ['only one']);
    await expect(mistaken).rejects.not.toBeInstanceOf(DatabaseUnavailableError);
  });

  it('plans a statement anew when a newer version has changed what it reads', async () => {
    const read = (): Promise<object[]> =>
      database.query('SELECT things.* FROM things WHERE things.name = $1', ['kept']);
    await other.query(INSERT, ['kept']);
    expect(await read()).toEqual([{ name: 'kept' }]);
    await other.query('ALTER TABLE things ADD COLUMN size int');
    try {
      await expect(read()).rejects.toThrow(DatabaseUnavailableError);
      expect(await read()).toEqual([{ name: 'kept', size: null }]);
    } finally {
      await other.query('ALTER TABLE things DROP COLUMN size');
    }
  });

  it('reads by its index also a table that is known to be small: it may grow, and the plan is kept', async () => {
    await other.query(INSERT, ['the only one']);
    await other.query('ANALYZE things');
    const rows = await database.query<{ 'QUERY PLAN': string }>(
      "EXPLAIN SELECT FROM things WHERE things.name = 'x'",
    );
    expect(rows.map((row) => row['QUERY PLAN']).join()).toContain('Index');
  });

  it('refuses a statement of a transaction that has ended', async () => {
    const tx = await database.transaction((ended) => Promise.resolve(ended));
    await expect(tx.query('SELECT 1')).rejects.toThrow(/already ended/);
  });

  it('counts the statements of the request that causes them', async () => {
    const context = { requestId: 'r', statements: 0 };
    await runInRequestContext(context, async () => {
      await database.query('SELECT 1');
      await database.transaction((tx) => tx.query('SELECT 1'));
    });
    await database.query('SELECT 1');
    expect(context.statements).toBe(4);
  });

  async function killFromOutside(tx: Transaction): Promise<void> {
    const [{ pid } = {}] = await tx.query(MY_PID);
    await other.query(KILL, [pid]);
  }

  async function isActive(pid: unknown): Promise<boolean> {
    const sql = "SELECT 1 FROM pg_stat_activity a WHERE a.pid = $1 AND a.state = 'active'";
    return (await other.query(sql, [pid])).length > 0;
  }

  async function waitsForLock(pid: unknown): Promise<boolean> {
    const sql = 'SELECT 1 FROM pg_locks l WHERE l.pid = $1 AND NOT l.granted';
    return pid !== undefined && (await other.query(sql, [pid])).length > 0;
  }
});

async function lockThing(tx: Transaction, name: string): Promise<void> {
  await tx.query('SELECT t.name FROM things t WHERE t.name = $1 FOR UPDATE', [name]);
}

function barrier(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
