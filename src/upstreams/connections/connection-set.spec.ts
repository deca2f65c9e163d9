import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ConnectionScope } from './connection-scope.js';
import { ConnectionSet } from './connection-set.js';
import type { SharedConnection } from './shared-connection.js';
import { UpstreamSession } from '../upstream-session.js';

class FakeSession extends UpstreamSession {
  readonly about = { name: 'fake', version: '1', protocolVersion: '1', instructions: undefined };
  readonly closed = new Promise<void>(() => undefined);
  readonly tasks = undefined;
  readonly place = undefined;
  isOpen = true;
  call = (): never => this.never();
  resume = (): never => this.never();
  listTools = (): never => this.never();
  onToolsChanged = (): void => undefined;

  close(): Promise<void> {
    this.isOpen = false;
    return Promise.resolve();
  }

  private never(): never {
    throw new Error('not part of this test');
  }
}

const scope = (key: string, serverKey = 'a'): ConnectionScope => ({
  use: 'session',
  serverKey,
  key,
});

describe('the connections of a process', () => {
  let set: ConnectionSet;
  let sessions: Map<string, FakeSession>;

  beforeEach(() => {
    set = new ConnectionSet();
    sessions = new Map();
  });

  afterEach(() => set.closeAll());

  const borrow = async (key: string, serverKey?: string): Promise<SharedConnection> => {
    const found = set.find(scope(key));
    const session = new FakeSession();
    const parts = { connect: () => Promise.resolve(session), idleMs: () => 60_000 };
    const connection = found ?? set.add(scope(key, serverKey), 2, parts);
    if (found === undefined) sessions.set(key, session);
    await connection.borrow();
    return connection;
  };
  const open = (): string[] => [...sessions].flatMap(([key, one]) => (one.isOpen ? [key] : []));

  it('are so many of a server and no more: the one that was longest not borrowed makes room', async () => {
    (await borrow('1')).giveBack();
    (await borrow('2')).giveBack();
    (await borrow('1')).giveBack();
    (await borrow('3')).giveBack();
    await nextTurn();
    expect(open()).toEqual(['1', '3']);
  });

  it('make no room while they are in use, and are counted for each server', async () => {
    const first = await borrow('1');
    await borrow('2');
    await expect(borrow('3')).rejects.toMatchObject({ code: 'upstream_unreachable' });
    await borrow('4', 'b');
    first.giveBack();
    await borrow('5');
    await nextTurn();
    expect(open()).toEqual(['2', '4', '5']);
  });

  it('of a server that is gone close when they are given back', async () => {
    const used = await borrow('1');
    (await borrow('2')).giveBack();
    await borrow('3', 'b');
    set.keepOnly(new Set(['b']));
    await nextTurn();
    expect([open(), set.find(scope('1'))]).toEqual([['1', '3'], undefined]);
    used.giveBack();
    await nextTurn();
    expect(open()).toEqual(['3']);
  });
});
