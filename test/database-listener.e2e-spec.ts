import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { Logger } from '../src/common/logger.js';
import { ChannelListener, notifyChannel } from '../src/database/channel-listener.js';
import { Database } from '../src/database/database.js';
import { createPool } from '../src/database/pool.js';
import { eventually } from './support/eventually.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const LISTENERS = `SELECT a.pid FROM pg_stat_activity a
  WHERE a.application_name = 'background-calls listener' AND a.datname = current_database()`;

describe('ChannelListener', () => {
  let testDatabase: TestDatabase;
  let pool: Pool;
  let database: Database;
  let listener: ChannelListener;
  let heard: string[];
  let connects: number;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pool = createPool(testDatabase.url, Logger.create('silent'));
    database = new Database(pool);
  });

  beforeEach(() => useListener(testDatabase.url));
  afterEach(() => listener.stop());

  afterAll(async () => {
    await pool.end();
    await testDatabase.drop();
  });

  function useListener(url: string): void {
    heard = [];
    connects = 0;
    listener = new ChannelListener(url, Logger.create('silent'));
    listener.on('bgc_call_ended', (payload) => heard.push(payload));
    listener.onReconnect(() => (connects += 1));
  }

  it('hears what is told before and after the start', async () => {
    await listener.start();
    const late: string[] = [];
    listener.on('bgc_keys_changed', (payload) => late.push(payload));
    await eventually('the late channel is heard', async () => {
      await notifyChannel(database, 'bgc_keys_changed', 'late');
      return late.length > 0;
    });
    await notifyChannel(database, 'bgc_call_ended', 'one');
    await eventually('the call is heard', () => heard.length > 0);
    expect(heard).toEqual(['one']);
  });

  it('hears of a transaction when it commits, and of none that is rolled back', async () => {
    await listener.start();
    const failing = database.transaction(async (tx) => {
      await notifyChannel(tx, 'bgc_call_ended', 'rolled back');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await database.transaction(async (tx) => {
      await notifyChannel(tx, 'bgc_call_ended', 'committed');
    });
    await eventually('the commit is heard', () => heard.length > 0);
    expect(heard).toEqual(['committed']);
  });

  it('connects again after its connection was ended, says so, and hears again', async () => {
    await listener.start();
    expect(connects).toBe(1);
    const [{ pid } = {}] = await database.query(LISTENERS);
    await database.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
    await eventually('it has connected again', () => connects === 2);
    await notifyChannel(database, 'bgc_call_ended', 'after');
    await eventually('it hears again', () => heard.includes('after'));
  });

  it('goes on trying while the database is away', async () => {
    const proxy = await PostgresProxy.start(testDatabase.url);
    useListener(proxy.url);
    proxy.cut();
    await listener.start();
    expect(connects).toBe(0);
    proxy.restore();
    await eventually('it has connected', () => connects === 1);
    await listener.stop();
    await proxy.stop();
  });

  it('is not disturbed by a handler that throws', async () => {
    listener.on('bgc_delivery_ready', () => {
      throw new Error('a mistake');
    });
    listener.on('bgc_delivery_ready', (payload) => heard.push(payload));
    await listener.start();
    await notifyChannel(database, 'bgc_delivery_ready', 'told');
    await eventually('the other handler hears', () => heard.includes('told'));
  });

  it('leaves no connection when it is stopped while it connects', async () => {
    const starting = listener.start();
    await listener.stop();
    await starting;
    await eventually('no listener is left', async () => {
      return (await database.query(LISTENERS)).length === 0;
    });
    expect(connects).toBe(0);
  });
});
