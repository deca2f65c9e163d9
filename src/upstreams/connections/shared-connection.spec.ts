import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SharedConnection } from './shared-connection.js';
import { UpstreamSession } from '../upstream-session.js';

class FakeSession extends UpstreamSession {
  readonly about = { name: 'fake', version: '1', protocolVersion: '1', instructions: undefined };
  end = (): void => undefined;
  readonly closed = new Promise<void>((resolve) => (this.end = resolve));
  readonly tasks = undefined;
  readonly place = undefined;
  closes: { forget: boolean }[] = [];
  call = (): never => this.never();
  resume = (): never => this.never();
  listTools = (): never => this.never();
  onToolsChanged = (): never => this.never();

  close(options: { forget: boolean }): Promise<void> {
    this.closes.push(options);
    return Promise.resolve();
  }

  private never(): never {
    throw new Error('not part of this test');
  }
}

describe('A shared connection', () => {
  let session: FakeSession;
  let left: number;
  let gone: number;
  let connection: SharedConnection;
  const sharing = (connecting: Promise<UpstreamSession>): SharedConnection =>
    new SharedConnection({
      connect: () => connecting,
      idleMs: () => 1_000,
      leavePool: () => (left += 1),
      onGone: () => (gone += 1),
    });

  beforeEach(() => {
    jest.useFakeTimers();
    session = new FakeSession();
    left = 0;
    gone = 0;
    connection = sharing(Promise.resolve(session));
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('closes after the idle time, and leaves the pool before', async () => {
    await connection.borrow();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(999);
    expect(session.closes).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(session.closes).toEqual([{ forget: true }]);
    expect(left).toBeGreaterThan(0);
  });

  it('starts the idle time anew with each borrower', async () => {
    await connection.borrow();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(900);
    await connection.borrow();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(session.closes).toEqual([]);
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(session.closes).toHaveLength(1);
  });

  it('waits for the last borrower when it is retired', async () => {
    await connection.borrow();
    await connection.borrow();
    connection.retire();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.closes).toEqual([]);
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.closes).toEqual([{ forget: true }]);
  });

  it('closes at once when it must, keeps the session upstream, and starts no timer afterwards', async () => {
    await connection.borrow();
    await connection.close();
    expect(session.closes).toEqual([{ forget: false }]);
    connection.giveBack();
    expect(session.closes).toHaveLength(1);
  });

  it('passes on why it could not be made, to each borrower', async () => {
    const failing = sharing(Promise.reject(new Error('down')));
    await expect(failing.borrow()).rejects.toThrow('down');
    await expect(failing.borrow()).rejects.toThrow('down');
    await failing.close();
    expect([left, gone]).toEqual([1, 1]);
  });

  it('leaves the pool when its session has ended by itself, and closes when it was given back', async () => {
    await connection.borrow();
    session.end();
    await jest.advanceTimersByTimeAsync(0);
    expect([left, session.closes]).toEqual([1, []]);
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(0);
    expect([session.closes, gone]).toEqual([[{ forget: true }], 1]);
  });

  it('gives up connecting when it must close', async () => {
    let signal: AbortSignal | undefined;
    const hanging = new SharedConnection({
      connect: (given) => {
        signal = given;
        return new Promise((_, reject) =>
          given.addEventListener('abort', () => reject(new Error('gave up'))),
        );
      },
      idleMs: () => 1,
      leavePool: () => undefined,
      onGone: () => (gone += 1),
    });
    const borrowed = hanging.borrow();
    await Promise.all([expect(borrowed).rejects.toThrow('gave up'), hanging.close()]);
    expect([signal?.aborted, gone]).toEqual([true, 1]);
  });
});
