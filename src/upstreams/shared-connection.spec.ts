import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SharedConnection } from './shared-connection.js';
import { UpstreamSession } from './upstream-session.js';

class FakeSession extends UpstreamSession {
  closed: { forget: boolean }[] = [];
  call = (): never => this.never();
  listTools = (): never => this.never();

  close(options: { forget: boolean }): Promise<void> {
    this.closed.push(options);
    return Promise.resolve();
  }

  private never(): never {
    throw new Error('not part of this test');
  }
}

describe('A shared connection', () => {
  let session: FakeSession;
  let left: number;
  let connection: SharedConnection;

  beforeEach(() => {
    jest.useFakeTimers();
    session = new FakeSession();
    left = 0;
    connection = new SharedConnection(
      Promise.resolve(session),
      () => 1_000,
      () => (left += 1),
    );
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('closes after the idle time, and leaves the pool before', async () => {
    await connection.borrow();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(999);
    expect(session.closed).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(session.closed).toEqual([{ forget: true }]);
    expect(left).toBeGreaterThan(0);
  });

  it('starts the idle time anew with each borrower', async () => {
    await connection.borrow();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(900);
    await connection.borrow();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(session.closed).toEqual([]);
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(session.closed).toHaveLength(1);
  });

  it('waits for the last borrower when it is retired', async () => {
    await connection.borrow();
    await connection.borrow();
    connection.retire();
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.closed).toEqual([]);
    connection.giveBack();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.closed).toEqual([{ forget: true }]);
  });

  it('closes at once when it must, keeps the session upstream, and starts no timer afterwards', async () => {
    await connection.borrow();
    await connection.close();
    expect(session.closed).toEqual([{ forget: false }]);
    connection.giveBack();
    expect(session.closed).toHaveLength(1);
  });

  it('passes on why it could not be made, to each borrower', async () => {
    const failing = new SharedConnection(Promise.reject(new Error('down')), () => 1, ignore);
    await expect(failing.borrow()).rejects.toThrow('down');
    await expect(failing.borrow()).rejects.toThrow('down');
    failing.retire();
    await failing.close();
  });
});

const ignore = (): void => undefined;
